from collections import OrderedDict, namedtuple

from torch import Tensor, _at_least
from torch.nn.parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    pass


class RemovableHandle:
    next_id = 0

    def __init__(self, *hooks):
        self.hooks = hooks
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self):
        for hooks in self.hooks:
            hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.remove()


# Hooks of every module: register_module_forward_pre_hook() and register_module_forward_hook().
_global_forward_pre_hooks = {}
_global_forward_hooks = {}
_global_backward_hooks = {}


def _add_hook(hooks, hook, prepend=False, *more):
    handle = RemovableHandle(hooks, *more)
    if prepend:
        later = list(hooks.items())
        hooks.clear()
        hooks[handle.id] = hook
        hooks.update(later)
    else:
        hooks[handle.id] = hook
    for flags in more:
        flags[handle.id] = True
    return handle


def _addindent(text, spaces):
    return text.replace("\n", "\n" + " " * spaces)


class Module(_ModuleBase):
    dump_patches = False
    _version = 1
    call_super_init = False

    def forward(self, *input):
        raise NotImplementedError('Module [%s] is missing the required "forward" function' % type(self).__name__)

    # ---- registration (of tensors: frontend/python/torch/layers/module.cc)
    @_body("add_module")
    def add_module(self, name, module):
        ...

    def register_module(self, name, module):
        self.add_module(name, module)

    # ---- access by path
    def get_submodule(self, target):
        module = self
        if target == "":
            return self
        for item in target.split("."):
            if not hasattr(module, item):
                raise AttributeError(module._get_name() + " has no attribute `" + item + "`")
            module = getattr(module, item)
            if not isinstance(module, Module):
                raise AttributeError("`" + item + "` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def _member(self, target, members, kind):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(module._get_name() + " has no attribute `" + name + "`")
        value = getattr(module, name)
        if name not in getattr(module, members):
            raise AttributeError("`" + name + "` is not " + kind)
        return value

    def get_parameter(self, target):
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target):
        return self._member(target, "_buffers", "a buffer")

    # ---- iteration
    def _named_members(self, get_members, prefix="", recurse=True, remove_duplicate=True):
        seen = set()
        for module_prefix, module in (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        ):
            for name, value in get_members(module):
                if value is None or id(value) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(value))
                yield module_prefix + ("." if module_prefix else "") + name, value

    # The lists are made at once (frontend/python/torch/layers/module.cc): what a program changes
    # while it iterates over one has no effect on it.
    def parameters(self, recurse=True):
        return iter(_members(self, "_parameters", "", recurse, True, False))

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(_members(self, "_parameters", prefix, recurse, remove_duplicate, True))

    def buffers(self, recurse=True):
        return iter(_members(self, "_buffers", "", recurse, True, False))

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(_members(self, "_buffers", prefix, recurse, remove_duplicate, True))

    def children(self):
        return iter(_children(self, False))

    def named_children(self):
        return iter(_children(self, True))

    def modules(self):
        return _walk(self, None, "", True, False)

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        return _walk(self, memo, prefix, remove_duplicate, True)

    def apply(self, fn):
        for module in _children(self, False):
            module.apply(fn)
        fn(self)
        return self

    # ---- modes, devices, dtypes
    @_body("train", "train", "training")
    def train(self, mode=True):
        ...

    def eval(self):
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        pass

    def _apply(self, fn, recurse=True):
        for module in _children(self, False):
            module._apply(fn)
        for tensors in (self._parameters, self._buffers):
            for name, tensor in tensors.items():
                if tensor is None:
                    continue
                changed = fn(tensor)
                if changed is not tensor:
                    if tensors is self._parameters:
                        tensor.data = changed
                    else:
                        tensors[name] = changed
        return self

    def to(self, *args, **kwargs):
        dtype = kwargs.get("dtype")
        for arg in args:
            if type(arg).__name__ == "dtype":
                dtype = arg
            elif isinstance(arg, Tensor):
                dtype = arg.dtype
        if dtype is None:
            return self
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}".format(dtype)
            )
        return self._apply(lambda t: t.to(dtype) if t.is_floating_point() or t.is_complex() else t)

    def to_empty(self, *, device, recurse=True):
        return self

    def type(self, dst_type):
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self):
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self):
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self):
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def cuda(self, device=None):
        return self

    def cpu(self):
        return self

    def ipu(self, device=None):
        return self

    def xpu(self, device=None):
        return self

    def mtia(self, device=None):
        return self

    def share_memory(self):
        return self

    def compile(self, *args, **kwargs):
        return self

    # ---- hooks; gradients never flow, so those of backward are kept and not called
    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        return _add_hook(
            self._forward_hooks,
            hook,
            prepend,
            *([self.__dict__.setdefault("_forward_hooks_with_kwargs", {})] if with_kwargs else []),
        )

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return _add_hook(
            self._forward_pre_hooks,
            hook,
            prepend,
            *([self.__dict__.setdefault("_forward_pre_hooks_with_kwargs", {})] if with_kwargs else []),
        )

    def register_full_backward_hook(self, hook, prepend=False):
        return _add_hook(self._backward_hooks, hook)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        return _add_hook(self._backward_hooks, hook)

    def register_backward_hook(self, hook):
        return _add_hook(self._backward_hooks, hook)

    def _register_state_dict_hook(self, hook):
        return _add_hook(self._state_dict_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        return _add_hook(self._state_dict_hooks, hook)

    def register_state_dict_pre_hook(self, hook):
        return _add_hook(self.__dict__.setdefault("_state_dict_pre_hooks", {}), hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return _add_hook(self._load_state_dict_pre_hooks, (lambda *args: hook(self, *args)) if with_module else hook)

    def register_load_state_dict_pre_hook(self, hook):
        return self._register_load_state_dict_pre_hook(hook, True)

    def register_load_state_dict_post_hook(self, hook):
        return _add_hook(self.__dict__.setdefault("_load_state_dict_post_hooks", {}), hook)

    # ---- state: weights change no graph, but programs read the keys, rename them and copy small
    # tensors with them
    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in self._parameters.items():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._buffers.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        if args:
            destination, prefix, keep_vars = (
                (list(args) + [prefix, keep_vars])[:3] if len(args) == 1 else (list(args) + [keep_vars])[:3]
            )
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in list(self.__dict__.get("_state_dict_pre_hooks", {}).values()):
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
        for hook in list(self._state_dict_hooks.values()):
            changed = hook(self, destination, prefix, local_metadata)
            if changed is not None:
                destination = changed
        return destination

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        for hook in list(self._load_state_dict_pre_hooks.values()):
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        local = {
            name: value
            for name, value in [*self._parameters.items(), *self._buffers.items()]
            if value is not None and name not in self._non_persistent_buffers_set
        }
        for name, value in local.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if not isinstance(given, Tensor):
                error_msgs.append(
                    'While copying the parameter named "{}", expected torch.Tensor or Tensor-like object from checkpoint but received {}'.format(
                        key, type(given)
                    )
                )
                continue
            if len(value.shape) == 0 and tuple(given.shape) == (1,):
                given = given[0]
            if given.shape != value.shape:
                error_msgs.append(
                    "size mismatch for {}: copying a param with shape {} from checkpoint, the shape in current model is {}.".format(
                        key, given.shape, value.shape
                    )
                )
                continue
            value.data.copy_(given)
        extra = prefix + "_extra_state"
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        if strict:
            for key in state_dict.keys():
                if key.startswith(prefix) and key != extra:
                    name, dot, _ = key[len(prefix) :].partition(".")
                    if not (dot and name in self._modules) and name not in local:
                        unexpected_keys.append(key)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        # What came from a checkpoint file is not read (torch.load): nothing to compare with.
        if type(state_dict).__name__ == "_Unread":
            return _IncompatibleKeys([], [])
        if not hasattr(state_dict, "keys"):
            raise TypeError("Expected state_dict to be dict-like, got {}.".format(type(state_dict)))
        missing_keys, unexpected_keys, error_msgs = [], [], []
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)

        def load(module, prefix):
            local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
            module._load_from_state_dict(
                state_dict, prefix, local_metadata, True, missing_keys, unexpected_keys, error_msgs
            )
            for name, child in module._modules.items():
                if child is not None:
                    load(child, prefix + name + ".")
            keys = _IncompatibleKeys(missing_keys, unexpected_keys)
            for hook in list(module.__dict__.get("_load_state_dict_post_hooks", {}).values()):
                hook(module, keys)

        load(self, "")
        if strict and unexpected_keys:
            error_msgs.insert(
                0, "Unexpected key(s) in state_dict: {}. ".format(", ".join('"{}"'.format(k) for k in unexpected_keys))
            )
        if strict and missing_keys:
            error_msgs.insert(
                0, "Missing key(s) in state_dict: {}. ".format(", ".join('"{}"'.format(k) for k in missing_keys))
            )
        if error_msgs:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(self._get_name(), "\n\t".join(error_msgs))
            )
        return _IncompatibleKeys(missing_keys, unexpected_keys)

    def get_extra_state(self):
        raise RuntimeError("Reached a code path in Module.get_extra_state() that should never be called.")

    def set_extra_state(self, state):
        raise RuntimeError("Reached a code path in Module.set_extra_state() that should never be called.")

    # ---- text
    def _get_name(self):
        return type(self).__name__

    # Of the layers here: what extra_repr() shows.
    _format = ""
    _format_inplace = False

    def extra_repr(self):
        text = self._format.format(**self.__dict__)
        if self._format_inplace and self.inplace:
            text += (", " if text else "") + "inplace=True"
        return text

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        children = ["(%s): %s" % (name, _addindent(repr(module), 2)) for name, module in self._modules.items()]
        if not children and len(extra_lines) <= 1:
            return self._get_name() + "(" + extra + ")"
        return self._get_name() + "(\n  " + "\n  ".join(extra_lines + children) + "\n)"

    def __dir__(self):
        names = (
            set(dir(type(self))) | set(self.__dict__) | set(self._parameters) | set(self._buffers) | set(self._modules)
        )
        return sorted(name for name in names if not name[0].isdigit())


_set_module_class(Module, _global_forward_pre_hooks, _global_forward_hooks)


def register_module_forward_hook(hook, *, always_call=False):
    return _add_hook(_global_forward_hooks, hook)


def register_module_forward_pre_hook(hook):
    return _add_hook(_global_forward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    return _add_hook(_global_backward_hooks, hook)


register_module_backward_hook = register_module_full_backward_pre_hook = register_module_full_backward_hook

# Methods of later versions.
for _name, _version in {
    "call_super_init": (2, 0),
    "compile": (2, 0),
    "mtia": (2, 4),
    "register_full_backward_pre_hook": (2, 0),
    "register_load_state_dict_pre_hook": (2, 5),
    "register_state_dict_post_hook": (2, 5),
    "register_state_dict_pre_hook": (2, 0),
    "set_submodule": (2, 5),
}.items():
    if not _at_least(*_version):
        delattr(Module, _name)
