# Operators of a program's own: calling one runs its Python function.
class CustomOpDef:
    def __init__(self, namespace, name, fn):
        self._namespace, self._name, self._init_fn = namespace, name, fn
        self._qualname = f"{namespace}::{name}"

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


def impl(qualname, types=None, func=None, *, lib=None):
    return _kept(func)


class Library:
    def __init__(self, ns, kind, dispatch_key=""):
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        return schema.partition("(")[0]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        pass
