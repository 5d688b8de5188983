# Compiling changes no network: every decorator and wrapper returns what it was given.
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


ignore = (
    unused
) = (
    export
) = script = _overload = _overload_method = script_if_tracing = _script_if_tracing = script_method = interface = _same
freeze = optimize_for_inference = trace = trace_module = _same
_drop = _same


def annotate(the_type, the_value):
    return the_value


def _is_of(obj, the_type):
    # isinstance() that looks into List[int], Optional[...], Dict[str, Tensor]
    origin, arguments = typing.get_origin(the_type), typing.get_args(the_type)
    if the_type is None or the_type is typing.Any:
        return the_type is typing.Any or obj is None
    if isinstance(the_type, tuple):
        return any(_is_of(obj, t) for t in the_type)
    if origin is None:
        return isinstance(obj, the_type)
    if origin is typing.Union:
        return any(_is_of(obj, t) for t in arguments)
    if not isinstance(obj, origin):
        return False
    if origin is tuple:
        return len(obj) == len(arguments) and all(_is_of(v, t) for v, t in zip(obj, arguments))
    if origin is dict:
        return all(_is_of(k, arguments[0]) and _is_of(v, arguments[1]) for k, v in obj.items())
    return all(_is_of(v, arguments[0]) for v in obj) if arguments else True


class Attribute:
    def __init__(self, value, type):
        self.value = value
        self.type = type


class Future:
    def __init__(self, value):
        self._value = value

    def __class_getitem__(cls, item):
        return cls

    def wait(self):
        return self._value


def fork(func, *args, **kwargs):
    return Future(func(*args, **kwargs))


def wait(future):
    return future.wait()


def _nothing(*args, **kwargs):
    return None


set_fusion_strategy = (
    _set_fusion_strategy
) = enable_onednn_fusion = save = set_module = run_frozen_optimizations = _nothing


def onednn_fusion_enabled():
    return False


def load(*args, **kwargs):
    raise RuntimeError("torch.jit.load: a scripted file has no source to read: give the model that it was made from")


class Error(RuntimeError):
    pass


class TracingCheckError(Exception):
    pass


class TracerWarning(Warning):
    pass


class ScriptWarning(Warning):
    pass


class _NoContext:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass


optimized_execution = fuser = strict_fusion = _IgnoreContextManager = _NoContext


def __getattr__(name):
    if name in ("ScriptModule", "RecursiveScriptModule", "TopLevelTracedModule", "TracedModule"):
        from torch.nn import Module

        return Module
    if name in ("isinstance", "_isinstance"):  # here isinstance() is Python's
        return _is_of
    if name == "ScriptFunction":
        return type("ScriptFunction", (), {})
    return _unknown_name(name)
