import torch


def has_torch_function(*args):
    return False


has_torch_function_unary = has_torch_function_variadic = has_torch_function


def handle_torch_function(*args, **kwargs):
    raise RuntimeError("handle_torch_function")


class TorchFunctionMode:
    # May be derived from and made; entering one would change what every function does.
    inner = None

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        torch._unsupported("entering a torch.overrides.TorchFunctionMode")

    def __exit__(self, exc_type, exc_val, exc_tb):
        pass

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
