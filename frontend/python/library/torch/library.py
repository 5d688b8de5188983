# Operators of a program's own: calling one runs its Python function.
from torch.ops import _own


def _define(qualname, fn, keys=None):
    # For one dispatch key or several: those under which a CPU finds its kernel.
    keys = [keys] if isinstance(keys, str) or keys is None else keys
    if fn is not None and any(key is None or key.lower() == "cpu" or key.startswith("Composite") for key in keys):
        namespace, _, name = qualname.partition("::")
        _own[namespace, name.partition(".")[0]] = fn
    return fn


class CustomOpDef:
    def __init__(self, namespace, name, fn):
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._qualname = f"{namespace}::{name}"
        _define(self._qualname, fn)

    def __call__(self, *args, **kwargs):
        return self._init_fn(*args, **kwargs)

    def _registering(self, *args, **kwargs):
        return _kept(args[0] if args and callable(args[0]) else None)

    register_fake = register_kernel = register_vmap = register_torch_dispatch = register_autocast = _registering

    def register_autograd(self, backward, /, *, setup_context=None):
        pass


def custom_op(name, fn=None, /, *, mutates_args=(), device_types=None, schema=None, tags=None):
    def define(fn):
        namespace, _, own = name.partition("::")
        return CustomOpDef(namespace, own, fn)

    return define if fn is None else define(fn)


def triton_op(name, fn=None, /, *, mutates_args=(), schema=None):
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(kernel, /):
    return kernel


# What a registration gives back: the function, or a decorator that does.
def _kept(fn):
    return fn if fn is not None else _kept


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    return _kept(func)


impl_abstract = register_fake


def register_kernel(op, device_types=None, func=None, /, *, lib=None):
    return _kept(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    pass


def define(qualname, schema=None, *, lib=None, tags=()):
    pass


def impl(qualname, types, func=None, *, lib=None):
    if func is None:
        return lambda func: _define(qualname, func, types)
    return _define(qualname, func, types)


class Library:
    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        return schema.partition("(")[0]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        name = op_name if isinstance(op_name, str) else op_name._name
        name = name if "::" in name else f"{self.ns}::{name}"
        _define(name, fn, dispatch_key or self.dispatch_key or None)
