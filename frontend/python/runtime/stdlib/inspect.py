import _cobra
import builtins
import functools
import sys
import types
from _frames import *
from _signature import BoundArguments, Parameter, Signature, formatannotation, get_annotations, signature, unwrap
from _signature import _ParameterKind, _empty, _of, _void
from collections import OrderedDict, namedtuple


FullArgSpec = namedtuple("FullArgSpec", "args, varargs, varkw, defaults, kwonlyargs, kwonlydefaults, annotations")


def getfullargspec(func):
    try:
        sig = _of(func, False, False, (None, None, False))
    except Exception as error:
        raise TypeError("unsupported callable") from error
    args, kwonly, defaults, kwdefaults, varargs, varkw = [], [], [], {}, None, None
    for p in sig.parameters.values():
        if p.kind in (0, 1):
            args.append(p.name)
            if p.default is not _empty:
                defaults.append(p.default)
        elif p.kind == 2:
            varargs = p.name
        elif p.kind == 3:
            kwonly.append(p.name)
            if p.default is not _empty:
                kwdefaults[p.name] = p.default
        else:
            varkw = p.name
    annotations = {}
    if sig.return_annotation is not _empty:
        annotations["return"] = sig.return_annotation
    annotations.update({p.name: p.annotation for p in sig.parameters.values() if p.annotation is not _empty})
    return FullArgSpec(args, varargs, varkw, tuple(defaults) or None, kwonly, kwdefaults or None, annotations)


def isclass(obj):
    return isinstance(obj, type)


def isfunction(obj):
    return isinstance(obj, types.FunctionType)


def ismethod(obj):
    return isinstance(obj, types.MethodType)


def ismodule(obj):
    return isinstance(obj, types.ModuleType)


def isbuiltin(obj):
    return isinstance(obj, _cobra.builtin_function)


def isroutine(obj):
    return isfunction(obj) or ismethod(obj) or isbuiltin(obj) or isinstance(obj, _cobra.method_descriptor)


def isgenerator(obj):
    return isinstance(obj, types.GeneratorType)


def _has_flag(obj, flag):
    import functools

    while isinstance(obj, (types.MethodType, functools.partial)):
        obj = obj.__func__ if isinstance(obj, types.MethodType) else obj.func
    return isinstance(obj, types.FunctionType) and bool(obj.__code__.co_flags & flag)


def isgeneratorfunction(obj):
    return _has_flag(obj, 32)


def iscoroutinefunction(obj):
    return _has_flag(obj, 128)


def isasyncgenfunction(obj):
    return _has_flag(obj, 512)


def iscoroutine(obj):
    return isinstance(obj, types.CoroutineType)


def isasyncgen(obj):
    return isinstance(obj, types.AsyncGeneratorType)


def isawaitable(obj):
    return isinstance(obj, types.CoroutineType) or hasattr(type(obj), "__await__")


def iscode(obj):
    return isinstance(obj, types.CodeType)


def istraceback(obj):
    return False


def isframe(obj):
    return isinstance(obj, _Frame)


def isgetsetdescriptor(obj):
    return False


def ismemberdescriptor(obj):
    return isinstance(obj, types.MemberDescriptorType)


def getcallargs(func, /, *args, **kwargs):
    if isinstance(func, types.MethodType) and func.__self__ is not None:
        args, func = (func.__self__, *args), func.__func__
    sig = signature(func)
    full = sig.bind(*args, **kwargs)
    given = list(full.arguments)
    full.apply_defaults()
    spread = [name for kind in (2, 4) for name, p in sig.parameters.items() if p.kind == kind]
    positional = [name for name, p in sig.parameters.items() if p.kind in (0, 1)][: len(args)]
    order = [*positional, *spread, *kwargs, *given, *sig.parameters]
    return {name: full.arguments[name] for name in dict.fromkeys(order) if name in full.arguments}


ClosureVars = namedtuple("ClosureVars", "nonlocals globals builtins unbound")


def getclosurevars(func):
    if isinstance(func, types.MethodType):
        func = func.__func__
    if not isinstance(func, types.FunctionType):
        raise TypeError("{!r} is not a Python function".format(func))
    free = zip(func.__code__.co_freevars, func.__closure__ or ())
    found = {}, {}
    for name in _cobra.global_names(func):
        for names, values in zip(found, (func.__globals__, builtins.__dict__)):
            if name in values:
                names[name] = values[name]
                break
    # CPython counts the names of attributes among these.
    unbound = _cobra.inert("inspect.ClosureVars.unbound")
    return ClosureVars({name: cell.cell_contents for name, cell in free}, *found, unbound)


def getmodulename(path):
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.endswith(".py") else None


def classify_class_attrs(cls):
    _cobra.unsupported("inspect.classify_class_attrs()")


def isabstract(obj):
    return isinstance(obj, type) and bool(getattr(obj, "__abstractmethods__", ()))


def isdatadescriptor(obj):
    return not isclass(obj) and not isfunction(obj) and hasattr(type(obj), "__set__")


def ismethoddescriptor(obj):
    return (
        not isclass(obj) and not isfunction(obj) and hasattr(type(obj), "__get__") and not hasattr(type(obj), "__set__")
    )


def getmembers(obj, predicate=None):
    results = []
    names = dir(obj)
    if isinstance(obj, type):
        names = sorted(set(names) | {name for base in obj.__mro__ if base is not object for name in base.__dict__})
    for name in names:
        try:
            value = getattr(obj, name)
        except AttributeError:
            continue
        if predicate is None or predicate(value):
            results.append((name, value))
    return results


def getmro(cls):
    return cls.__mro__


def getmodule(obj):
    import sys

    if isframe(obj):
        return sys.modules.get(obj.f_globals.get("__name__"))
    name = obj.__name__ if isinstance(obj, types.ModuleType) else getattr(obj, "__module__", None)
    return sys.modules.get(name)


def getdoc(obj):
    doc = getattr(obj, "__doc__", None)
    return cleandoc(doc) if isinstance(doc, str) else None


def cleandoc(doc):
    lines = doc.expandtabs().split("\n")
    margin = min([len(line) - len(line.lstrip()) for line in lines[1:] if line.lstrip()], default=None)
    if lines:
        lines[0] = lines[0].lstrip()
    if margin is not None:
        lines[1:] = [line[margin:] for line in lines[1:]]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines)


def getattr_static(obj, attr, default=_empty):
    own = None if isinstance(obj, type) else getattr(obj, "__dict__", None)
    if own is not None and attr in own:
        return own[attr]
    for c in obj.__mro__ if isinstance(obj, type) else type(obj).__mro__:
        if attr in c.__dict__:
            return c.__dict__[attr]
    if default is _empty:
        raise AttributeError(attr)
    return default


class _Frame(types.FrameType):
    """A frame as it was when it was asked for: who calls whom, from which module. Changing its
    locals has no effect."""

    f_trace, f_trace_lines, f_trace_opcodes = None, True, False
    f_builtins = property(lambda self: vars(builtins))

    def __init__(self, entry, back):
        self.f_globals, self.f_locals, self.f_code, self.f_lineno = entry
        self.f_back = back


def currentframe():
    frame = None
    for entry in reversed(_cobra.frames()):
        frame = _Frame(entry, frame)
    return frame


FrameInfo = namedtuple("FrameInfo", "frame filename lineno function code_context index")
Traceback = namedtuple("Traceback", "filename lineno function code_context index")


def getouterframes(frame, context=1):
    out = []
    while frame is not None:
        out.append(FrameInfo(frame, frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None, None))
        frame = frame.f_back
    return out


def getframeinfo(frame, context=1):
    return Traceback(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, None, None)


def stack(context=1):
    return getouterframes(currentframe(), context)


def _source(obj):
    obj = unwrap(getattr(obj, "__func__", obj))
    found = _cobra.source_of(obj)
    if found is None:
        _cobra.unsupported("the source text of %r" % obj)
    return found


def getsource(obj):
    return _source(obj)[0]


def getsourcelines(obj):
    text, first = _source(obj)
    return text.splitlines(True), first


def getfile(obj):
    if isinstance(obj, types.ModuleType):
        found = getattr(obj, "__file__", None)
    else:
        obj = getattr(obj, "__func__", obj)
        found = getattr(sys.modules.get(getattr(obj, "__module__", None)), "__file__", None)
    if found is None:
        raise TypeError(f"{obj!r} is a built-in module, class or function")
    return found


getsourcefile = getfile
