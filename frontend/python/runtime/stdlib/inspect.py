# Long because inspect is one module, most of it signatures.
import _cobra
import sys
import types
from _frames import *
from collections import OrderedDict, namedtuple


class _empty:
    pass


class _ParameterKind(int):
    def __repr__(self):
        return self.name

    def __str__(self):
        return self.name

    @property
    def name(self):
        return ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD", "VAR_POSITIONAL", "KEYWORD_ONLY", "VAR_KEYWORD")[int(self)]

    @property
    def description(self):
        return ("positional-only", "positional or keyword", "variadic positional", "keyword-only", "variadic keyword")[
            int(self)
        ]


_kinds = [_ParameterKind(i) for i in range(5)]
for _kind in _kinds:
    setattr(_ParameterKind, _kind.name, _kind)


class Parameter:
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = _kinds
    empty = _empty

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        self.name = name
        self.kind = _kinds[int(kind)]
        self.default = default
        self.annotation = annotation

    def replace(self, **changes):
        values = {
            "name": self.name,
            "kind": self.kind,
            "default": self.default,
            "annotation": self.annotation,
            **changes,
        }
        return Parameter(values.pop("name"), values.pop("kind"), **values)

    def __str__(self):
        text = {2: "*", 4: "**"}.get(int(self.kind), "") + self.name
        if self.annotation is not _empty:
            text += ": " + formatannotation(self.annotation)
        if self.default is not _empty:
            text += (" = " if self.annotation is not _empty else "=") + repr(self.default)
        return text

    def __repr__(self):
        return f'<Parameter "{self}">'

    def __eq__(self, other):
        return (
            isinstance(other, Parameter)
            and self.name == other.name
            and self.kind == other.kind
            and self.default == other.default
            and self.annotation == other.annotation
        )

    def __hash__(self):
        return hash((self.name, int(self.kind)))


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature = signature
        self.arguments = arguments

    def apply_defaults(self):
        full = {}
        for name, p in self.signature.parameters.items():
            if name in self.arguments:
                full[name] = self.arguments[name]
            elif p.default is not _empty:
                full[name] = p.default
            elif p.kind == 2:
                full[name] = ()
            elif p.kind == 4:
                full[name] = {}
        self.arguments = full

    def __repr__(self):
        return "<BoundArguments (" + ", ".join([f"{k}={v!r}" for k, v in self.arguments.items()]) + ")>"

    def __eq__(self, other):
        return (
            isinstance(other, BoundArguments)
            and self.signature == other.signature
            and self.arguments == other.arguments
        )

    __hash__ = None

    @property
    def args(self):
        out = []
        for name, p in self.signature.parameters.items():
            if p.kind in (3, 4):
                break
            if name not in self.arguments:
                break
            if p.kind == 2:
                out.extend(self.arguments[name])
            else:
                out.append(self.arguments[name])
        return tuple(out)

    @property
    def kwargs(self):
        out = {}
        started = False
        for name, p in self.signature.parameters.items():
            if not started:
                if p.kind in (3, 4):
                    started = True
                elif name not in self.arguments:
                    started = True
                    continue
            if not started or name not in self.arguments:
                continue
            if p.kind == 4:
                out.update(self.arguments[name])
            else:
                out[name] = self.arguments[name]
        return out


def formatannotation(annotation, base_module=None):
    if getattr(annotation, "__module__", None) == "typing":
        return repr(annotation).replace("typing.", "")
    if isinstance(annotation, types.GenericAlias):
        return str(annotation)
    if isinstance(annotation, type):
        if annotation.__module__ in ("builtins", base_module):
            return annotation.__qualname__
        return annotation.__module__ + "." + annotation.__qualname__
    return repr(annotation)


class Signature:
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty):
        parameters = list(parameters or ())
        last, has_default = -1, False
        for p in parameters:
            if p.kind < last:
                raise ValueError(
                    f"wrong parameter order: {_kinds[last].description} parameter before {p.kind.description} parameter"
                )
            last = p.kind
            if p.kind in (0, 1):
                if has_default and p.default is _empty:
                    raise ValueError("non-default argument follows default argument")
                has_default = p.default is not _empty
        self.parameters = OrderedDict((p.name, p) for p in parameters)
        if len(self.parameters) != len(parameters):
            names = [p.name for p in parameters]
            raise ValueError(f"duplicate parameter name: {[n for n in names if names.count(n) > 1][0]!r}")
        self.return_annotation = return_annotation

    @classmethod
    def from_callable(cls, obj, **kwargs):
        return signature(obj)

    def replace(self, *, parameters=None, return_annotation=None):
        return Signature(
            list(self.parameters.values()) if parameters is None else parameters,
            return_annotation=self.return_annotation if return_annotation is None else return_annotation,
        )

    def _bind(self, args, kwargs, partial):
        arguments = {}
        kwargs = dict(kwargs)
        args = list(args)
        var_keyword = None
        for name, p in self.parameters.items():
            if p.kind == 2:
                if args:
                    arguments[name] = tuple(args)
                    args = []
            elif p.kind == 4:
                var_keyword = name
            elif p.kind in (0, 1) and args:
                if name in kwargs and p.kind == 1:
                    raise TypeError(f"multiple values for argument {name!r}")
                arguments[name] = args.pop(0)
            elif name in kwargs and p.kind != 0:
                arguments[name] = kwargs.pop(name)
            elif p.default is _empty and not partial:
                raise TypeError(f"missing a required argument: {name!r}")
        if args:
            raise TypeError("too many positional arguments")
        if kwargs:
            if var_keyword is None:
                raise TypeError(f"got an unexpected keyword argument {next(iter(kwargs))!r}")
            arguments[var_keyword] = kwargs
        return BoundArguments(self, arguments)

    def bind(self, /, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, /, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def __str__(self):
        parts = []
        params = list(self.parameters.values())
        seen_star = False
        for i, p in enumerate(params):
            if p.kind == 3 and not seen_star:
                parts.append("*")
                seen_star = True
            if p.kind == 2:
                seen_star = True
            parts.append(str(p))
            if p.kind == 0 and (i + 1 == len(params) or params[i + 1].kind != 0):
                parts.append("/")
        text = "(" + ", ".join(parts) + ")"
        if self.return_annotation is not _empty:
            text += " -> " + formatannotation(self.return_annotation)
        return text

    def __repr__(self):
        return f"<Signature {self}>"

    def __eq__(self, other):
        return (
            isinstance(other, Signature)
            and list(self.parameters.values()) == list(other.parameters.values())
            and self.return_annotation == other.return_annotation
        )

    __hash__ = None


def _of_function(f):
    annotations = f.__annotations__
    own = f.__dict__.get("_dataclass_parameters")
    if own is not None:
        import dataclasses

        params = [Parameter("self", 1)]
        for name, kind, default, annotation in own:
            params.append(
                Parameter(
                    name, kind, default=_empty if default is dataclasses.MISSING else default, annotation=annotation
                )
            )
        return Signature(params, return_annotation=None)
    params = []
    for entry in f._parameters:
        name, kind = entry[0], entry[1]
        params.append(
            Parameter(
                name, kind, default=entry[2] if len(entry) > 2 else _empty, annotation=annotations.get(name, _empty)
            )
        )
    return Signature(params, return_annotation=annotations.get("return", _empty))


def _without_first(sig):
    params = list(sig.parameters.values())
    if params and params[0].kind in (0, 1):
        params = params[1:]
    return sig.replace(parameters=params)


def signature(obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False):
    if not callable(obj):
        raise TypeError(f"{obj!r} is not a callable object")
    if isinstance(obj, types.MethodType):
        return _without_first(signature(obj.__func__))
    if follow_wrapped:
        while hasattr(obj, "__wrapped__") and not isinstance(obj, type):
            obj = obj.__wrapped__
    own = getattr(obj, "__signature__", None)
    if own is not None:
        return own
    if isinstance(obj, types.FunctionType):
        return _of_function(obj)
    import functools

    if isinstance(obj, functools.partial):
        inner = signature(obj.func)
        try:
            inner.bind_partial(*obj.args, **obj.keywords)
        except TypeError:
            raise ValueError(f"partial object {obj!r} has incorrect arguments") from None
        params = []
        left = list(obj.args)
        for p in inner.parameters.values():
            if left and p.kind in (0, 1):
                left.pop(0)
                continue
            if p.name in obj.keywords:
                params.append(p.replace(default=obj.keywords[p.name], kind=3))
            elif any(q.kind == 3 for q in params) and p.kind == 1:
                params.append(p.replace(kind=3))
            else:
                params.append(p)
        return inner.replace(parameters=params)
    if isinstance(obj, type):
        meta_call = getattr(type(obj), "__call__", None)
        if isinstance(meta_call, types.FunctionType):
            return _without_first(signature(meta_call))
        new = obj.__new__
        init = obj.__init__
        for c in obj.__mro__:
            if "__new__" in c.__dict__ and isinstance(new, types.FunctionType):
                return _without_first(signature(new))
            if "__init__" in c.__dict__ and isinstance(init, types.FunctionType):
                return _without_first(signature(init))
        return Signature([Parameter("args", 2), Parameter("kwargs", 4)])
    if isinstance(obj, (_cobra.builtin_function, _cobra.method_descriptor)):
        return Signature([Parameter("args", 2), Parameter("kwargs", 4)])
    call = type(obj).__call__
    return _without_first(signature(call))


FullArgSpec = namedtuple("FullArgSpec", "args, varargs, varkw, defaults, kwonlyargs, kwonlydefaults, annotations")


def getfullargspec(func):
    if isinstance(func, types.MethodType):
        sig = signature(func.__func__, follow_wrapped=False)
    elif isinstance(func, type):
        sig = signature(func.__init__, follow_wrapped=False)
    else:
        try:
            sig = signature(func, follow_wrapped=False)
        except (TypeError, ValueError):
            raise TypeError("unsupported callable") from None
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


def get_annotations(obj, *, globals=None, locals=None, eval_str=False):
    found = obj.__dict__.get("__annotations__", {}) if isinstance(obj, type) else getattr(obj, "__annotations__", {})
    if not eval_str:
        return dict(found)
    import sys

    scope = globals if globals is not None else getattr(obj, "__globals__", None) or vars(sys.modules[obj.__module__])
    return {k: eval(v, scope, locals) if isinstance(v, str) else v for k, v in found.items()}


def getcallargs(func, /, *args, **kwargs):
    bound = signature(func).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def getclosurevars(func):
    _cobra.unsupported("inspect.getclosurevars()")


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


def unwrap(func, *, stop=None):
    while hasattr(func, "__wrapped__") and not (stop is not None and stop(func)):
        func = func.__wrapped__
    return func


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


def _code(name, filename, line, parameters):
    code = object.__new__(types.CodeType)
    code.co_name = code.co_qualname = name
    code.co_filename, code.co_firstlineno, code._parameters = filename, line, parameters
    return code


class _Frame(types.FrameType):
    """A frame as it was when it was asked for: who calls whom, from which module. Changing its locals has no effect."""

    def __init__(self, entry, back):
        self.f_globals, self.f_locals, name, filename, self.f_lineno, self._parameters = entry
        self.f_code, self.f_back = _code(name, filename, self.f_lineno, self._parameters), back


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
