# torch.jit: compiling changes no network
import typing

Final = typing.Final


def is_scripting():
    return False


def is_tracing():
    return False


def _same(fn=None, *args, **kwargs):
    # ignore, unused, export, script ...: with or without arguments
    if fn is None or isinstance(fn, (bool, str)):
        return lambda function: function
    return fn


ignore = unused = export = script = _overload = _overload_method = script_if_tracing = _script_if_tracing = script_method = interface = _same
freeze = optimize_for_inference = trace = trace_module = _same
_drop = _same


def annotate(the_type, the_value):
    return the_value


def isinstance_(obj, the_type):
    return isinstance(obj, the_type)


class Attribute:
    def __init__(self, value, type):
        self.value = value
        self.type = type


class _NoContext:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


optimized_execution = fuser = strict_fusion = _NoContext


def __getattr__(name):
    if name == 'ScriptModule':
        from torch.nn import Module
        return Module
    if name == 'ScriptFunction':
        return type('ScriptFunction', (), {})
    raise AttributeError("module 'torch.jit' has no attribute '%s'" % name)
