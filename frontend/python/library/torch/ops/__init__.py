import torch
import torch.ops.torchvision as torchvision


def load_library(path):
    pass


class _Operator:
    # torch.ops.aten.add, and .add.Tensor: a call of the function that PyTorch's public modules have
    # under the name.
    def __init__(self, name, function):
        self._name, self._function = name, function
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def overloads(self):
        return ["default"]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self


# Operators that programs define with torch.library: (namespace, name) -> function.
_own = {}


class _Namespace:
    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if (self._name, name) in _own:
            return _Operator(name, _own[self._name, name])
        if self._name == "aten":
            for home in (torch, torch.nn.functional):
                if name in vars(home) and callable(vars(home)[name]):
                    return _Operator(name, vars(home)[name])
            if name in vars(torch.Tensor):
                return _Operator(name, lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs))
        torch._unsupported(
            "torch.ops.%s.%s" % (self._name, name), "write what this compiled operator does with torch functions"
        )


aten, prims, image, video_reader = (
    _Namespace("aten"),
    _Namespace("prims"),
    _Namespace("image"),
    _Namespace("video_reader"),
)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Namespace(name)
