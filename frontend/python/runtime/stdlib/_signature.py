# The part of inspect about signatures.
import functools
import types
from collections import OrderedDict

import _cobra


class _void:
    pass


class _empty:
    pass


_empty.__module__ = "inspect"


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
_POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD, _VAR_POSITIONAL, _KEYWORD_ONLY, _VAR_KEYWORD = _kinds


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


class Parameter:
    __slots__ = ("_name", "_kind", "_default", "_annotation")
    POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = _kinds
    empty = _empty

    def __init__(self, name, kind, *, default=_empty, annotation=_empty):
        if not (isinstance(kind, int) and 0 <= kind < 5):
            raise ValueError(f"value {kind!r} is not a valid Parameter.kind")
        kind = _kinds[int(kind)]
        if default is not _empty and kind in (_VAR_POSITIONAL, _VAR_KEYWORD):
            raise ValueError(f"{kind.description} parameters cannot have default values")
        if name is _empty:
            raise ValueError("name is a required attribute for Parameter")
        if not isinstance(name, str):
            raise TypeError(f"name must be a str, not a {type(name).__name__}")
        if name[:1] == "." and name[1:].isdigit():
            kind, name = _POSITIONAL_ONLY, "implicit" + name[1:]
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid parameter name")
        self._name, self._kind, self._default, self._annotation = name, kind, default, annotation

    name = property(lambda self: self._name)
    kind = property(lambda self: self._kind)
    default = property(lambda self: self._default)
    annotation = property(lambda self: self._annotation)

    def replace(self, *, name=_void, kind=_void, annotation=_void, default=_void):
        return type(self)(
            self._name if name is _void else name,
            self._kind if kind is _void else kind,
            default=self._default if default is _void else default,
            annotation=self._annotation if annotation is _void else annotation,
        )

    def __str__(self):
        text = {2: "*", 4: "**"}.get(int(self._kind), "") + self._name
        if self._annotation is not _empty:
            text += ": " + formatannotation(self._annotation)
        if self._default is not _empty:
            text += (" = " if self._annotation is not _empty else "=") + repr(self._default)
        return text

    def __repr__(self):
        return f'<{self.__class__.__name__} "{self}">'

    def _parts(self):
        return self._name, self._kind, self._annotation, self._default

    def __eq__(self, other):
        if self is other:
            return True
        return self._parts() == other._parts() if isinstance(other, Parameter) else NotImplemented

    def __hash__(self):
        return hash(self._parts())


class BoundArguments:
    __slots__ = ("arguments", "_signature", "__weakref__")

    def __init__(self, signature, arguments):
        self._signature, self.arguments = signature, arguments

    signature = property(lambda self: self._signature)

    def apply_defaults(self):
        full = {}
        for name, p in self._signature.parameters.items():
            if name in self.arguments:
                full[name] = self.arguments[name]
            elif p.default is not _empty:
                full[name] = p.default
            elif p.kind == _VAR_POSITIONAL:
                full[name] = ()
            elif p.kind == _VAR_KEYWORD:
                full[name] = {}
        self.arguments = full

    def __repr__(self):
        shown = ", ".join([f"{k}={v!r}" for k, v in self.arguments.items()])
        return f"<{self.__class__.__name__} ({shown})>"

    def __eq__(self, other):
        if not isinstance(other, BoundArguments):
            return NotImplemented
        return self.signature == other.signature and self.arguments == other.arguments

    __hash__ = None

    @property
    def args(self):
        out = []
        for name, p in self._signature.parameters.items():
            if p.kind in (_KEYWORD_ONLY, _VAR_KEYWORD) or name not in self.arguments:
                break
            if p.kind == _VAR_POSITIONAL:
                out.extend(self.arguments[name])
            else:
                out.append(self.arguments[name])
        return tuple(out)

    @property
    def kwargs(self):
        out = {}
        started = False
        for name, p in self._signature.parameters.items():
            if not started:
                if p.kind in (_KEYWORD_ONLY, _VAR_KEYWORD):
                    started = True
                elif name not in self.arguments:
                    started = True
                    continue
            if not started or name not in self.arguments:
                continue
            if p.kind == _VAR_KEYWORD:
                out.update(self.arguments[name])
            else:
                out[name] = self.arguments[name]
        return out


def _checked(parameters):
    made, last, has_default = OrderedDict(), 0, False
    for p in parameters:
        if p.kind < last:
            raise ValueError(
                f"wrong parameter order: {_kinds[last].description} parameter before {p.kind.description} parameter"
            )
        last = p.kind
        if p.kind in (_POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD):
            if has_default and p.default is _empty:
                raise ValueError("non-default argument follows default argument")
            has_default = p.default is not _empty
        if p.name in made:
            raise ValueError(f"duplicate parameter name: {p.name!r}")
        made[p.name] = p
    return made


class Signature:
    __slots__ = ("_return_annotation", "_parameters")
    empty = _empty

    def __init__(self, parameters=None, *, return_annotation=_empty, __validate_parameters__=True):
        self._parameters = types.MappingProxyType(_checked(parameters or ()))
        self._return_annotation = return_annotation

    parameters = property(lambda self: self._parameters)
    return_annotation = property(lambda self: self._return_annotation)

    @classmethod
    def from_callable(cls, obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False):
        found = _of(obj, follow_wrapped, True, (globals, locals, eval_str))
        if cls is Signature or type(found) is cls:
            return found
        return cls(found.parameters.values(), return_annotation=found.return_annotation)

    def replace(self, *, parameters=_void, return_annotation=_void):
        return type(self)(
            self._parameters.values() if parameters is _void else parameters,
            return_annotation=self._return_annotation if return_annotation is _void else return_annotation,
        )

    def _bind(self, args, kwargs, partial=False):
        arguments, kwargs, args = {}, dict(kwargs), list(args)
        var_keyword = None
        for name, p in self._parameters.items():
            if p.kind == _VAR_POSITIONAL:
                if args:
                    arguments[name], args = tuple(args), []
            elif p.kind == _VAR_KEYWORD:
                var_keyword = name
            elif p.kind in (_POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD) and args:
                if name in kwargs and p.kind == _POSITIONAL_OR_KEYWORD:
                    raise TypeError(f"multiple values for argument {name!r}")
                arguments[name] = args.pop(0)
            elif p.kind == _POSITIONAL_ONLY and name in kwargs and p.default is _empty:
                raise TypeError(f"{name!r} parameter is positional only, but was passed as a keyword")
            elif name in kwargs and p.kind != _POSITIONAL_ONLY:
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
        return self._bind(args, kwargs)

    def bind_partial(self, /, *args, **kwargs):
        return self._bind(args, kwargs, True)

    def __str__(self):
        parts = []
        params = list(self._parameters.values())
        seen_star = False
        for i, p in enumerate(params):
            if p.kind == _KEYWORD_ONLY and not seen_star:
                parts.append("*")
                seen_star = True
            seen_star = seen_star or p.kind == _VAR_POSITIONAL
            parts.append(str(p))
            if p.kind == _POSITIONAL_ONLY and (i + 1 == len(params) or params[i + 1].kind != _POSITIONAL_ONLY):
                parts.append("/")
        text = "(" + ", ".join(parts) + ")"
        if self._return_annotation is not _empty:
            text += " -> " + formatannotation(self._return_annotation)
        return text

    def __repr__(self):
        return f"<{self.__class__.__name__} {self}>"

    def _parts(self):  # keyword-only parameters have no order
        params = self._parameters.values()
        named = {p.name: p for p in params if p.kind == _KEYWORD_ONLY}
        return tuple(p for p in params if p.kind != _KEYWORD_ONLY), named, self._return_annotation

    def __eq__(self, other):
        if self is other:
            return True
        return self._parts() == other._parts() if isinstance(other, Signature) else NotImplemented

    def __hash__(self):
        params, named, returned = self._parts()
        return hash((params, frozenset(named.values()), returned))


for _class in (Parameter, BoundArguments, Signature):
    _class.__module__ = "inspect"


def get_annotations(obj, *, globals=None, locals=None, eval_str=False):
    if isinstance(obj, type):
        found = obj.__dict__.get("__annotations__")
    elif isinstance(obj, types.ModuleType) or callable(obj):
        found = getattr(obj, "__annotations__", None)
    else:
        raise TypeError(f"{obj!r} is not a module, class, or callable.")
    if not found:
        return {}
    if not isinstance(found, dict):
        raise ValueError(f"{obj!r}.__annotations__ is neither a dict nor None")
    if not eval_str:
        return dict(found)
    import sys

    if isinstance(obj, type):
        scope, names = getattr(sys.modules.get(obj.__module__), "__dict__", None), dict(vars(obj))
    elif isinstance(obj, types.ModuleType):
        scope, names = obj.__dict__, None
    else:
        while hasattr(obj, "__wrapped__") or isinstance(obj, functools.partial):
            obj = obj.__wrapped__ if hasattr(obj, "__wrapped__") else obj.func
        scope, names = getattr(obj, "__globals__", None), None
    scope, names = scope if globals is None else globals, names if locals is None else locals
    return {k: eval(v, scope, names) if isinstance(v, str) else v for k, v in found.items()}


def unwrap(func, *, stop=None):
    first, seen = func, {id(func)}
    while hasattr(func, "__wrapped__") and not (stop is not None and stop(func)):
        func = func.__wrapped__
        if id(func) in seen:
            raise ValueError("wrapper loop when unwrapping {!r}".format(first))
        seen.add(id(func))
    return func


def _of_function(f, evaluation):
    globals, locals, eval_str = evaluation
    own = f.__dict__.get("_dataclass_parameters")
    if own is not None:
        import dataclasses

        params = [Parameter("self", 1)]
        for name, kind, default, annotation in own:
            default = _empty if default is dataclasses.MISSING else default
            params.append(Parameter(name, kind, default=default, annotation=annotation))
        return Signature(params, return_annotation=None)
    annotations = get_annotations(f, globals=globals, locals=locals, eval_str=eval_str)
    params = []
    for entry in f._parameters:
        name, default = entry[0], entry[2] if len(entry) > 2 else _empty
        params.append(Parameter(name, entry[1], default=default, annotation=annotations.get(name, _empty)))
    return Signature(params, return_annotation=annotations.get("return", _empty))


def _of_text(text):
    made = {}
    exec(f"def f{text}: pass", made)
    return _of_function(made["f"], (None, None, False))


def _of_builtin(obj):
    """Of what has no Python text; None: CPython has no signature of it either."""
    import _text_signatures

    found = _text_signatures.of(obj)
    return found if found is None else _of_text(found)


def _without_first(sig):
    params = list(sig.parameters.values())
    if not params or params[0].kind in (_KEYWORD_ONLY, _VAR_KEYWORD):
        raise ValueError("invalid method signature")
    return sig if params[0].kind == _VAR_POSITIONAL else sig.replace(parameters=params[1:])


def _of_partial(wrapped, partial, first=()):
    keywords = partial.keywords or {}
    try:
        bound = wrapped.bind_partial(*first, *partial.args, **keywords).arguments
    except TypeError as error:
        raise ValueError(f"partial object {partial!r} has incorrect arguments") from error
    params, named = [], []  # after a parameter that is given by name, all are by name
    for name, p in wrapped.parameters.items():
        if name in bound and p.kind in (_POSITIONAL_ONLY, _POSITIONAL_OR_KEYWORD):
            if p.kind == _POSITIONAL_ONLY or name not in keywords:
                continue
            named.append(p.replace(kind=_KEYWORD_ONLY, default=bound[name]))
            continue
        if name in bound and p.kind == _KEYWORD_ONLY:
            p = p.replace(default=bound[name])
        if not named:
            params.append(p)
        elif p.kind != _VAR_POSITIONAL:
            named.append(p.replace(kind=_KEYWORD_ONLY) if p.kind == _POSITIONAL_OR_KEYWORD else p)
    return wrapped.replace(parameters=params + named)


_BUILT_IN = (_cobra.builtin_function, _cobra.method_descriptor)


def _is_built_in(obj):
    return isinstance(obj, _BUILT_IN) or isinstance(obj, types.MethodType) and isinstance(obj.__func__, _BUILT_IN)


def _users(cls, name):
    """The class's method if it has Python text."""
    method = getattr(cls, name, None)
    return None if method is None or _is_built_in(method) else method


def _of_class(cls, of, bound):
    call = _users(type(cls), "__call__")
    if call is not None:
        return bound(of(call))
    new, init = _users(cls, "__new__"), _users(cls, "__init__")
    for base in cls.__mro__:
        if new is not None and "__new__" in base.__dict__:
            return bound(of(new))
        if init is not None and "__init__" in base.__dict__:
            return bound(of(init))
    native = [base for base in cls.__mro__ if base is not object and _cobra.is_native_class(base)]
    for base in native:
        found = _of_builtin(base)
        if found is not None:
            return found
    if native:
        raise ValueError(f"no signature found for builtin type {cls!r}")
    return Signature()


def _of(obj, follow_wrapped, skip_first, evaluation):
    def of(inner):
        return _of(inner, follow_wrapped, skip_first, evaluation)

    if not callable(obj):
        raise TypeError(f"{obj!r} is not a callable object")
    if _cobra.is_opaque(obj):
        if _cobra.under_try():
            raise ValueError(f"no signature found for {obj!r}")
        obj()  # says what is missing; while a module is imported it may stay unknown
        return _of_text("(*args, **kwargs)")
    bound = _without_first if skip_first else lambda sig: sig
    if isinstance(obj, types.MethodType):
        # The text of a built-in class method has no parameter for the class.
        whole = _is_built_in(obj) and isinstance(obj.__self__, type) and not obj.__qualname__.startswith("type.")
        return of(obj.__func__) if whole else bound(of(obj.__func__))
    if follow_wrapped:
        obj = unwrap(obj, stop=lambda f: hasattr(f, "__signature__") or isinstance(f, types.MethodType))
        if isinstance(obj, types.MethodType):
            return of(obj)
    own = getattr(obj, "__signature__", None)
    if own is not None:
        if not isinstance(own, Signature):
            raise TypeError(f"unexpected object {own!r} in __signature__ attribute")
        return own
    method = getattr(obj, "_partialmethod", None)
    if isinstance(method, functools.partialmethod):
        wrapped = of(method.func)
        sig = _of_partial(wrapped, method, (None,))
        first = next(iter(wrapped.parameters.values()))
        if first.kind == _VAR_POSITIONAL:
            return sig
        return sig.replace(parameters=(first,) + tuple(sig.parameters.values()))
    if isinstance(obj, types.FunctionType):
        return _of_function(obj, evaluation)
    if isinstance(obj, _BUILT_IN):
        sig = _of_builtin(obj)
        if sig is None:
            raise ValueError(f"no signature found for builtin {obj!r}")
        return sig
    if isinstance(obj, functools.partial):
        return _of_partial(of(obj.func), obj)
    if isinstance(obj, type):
        return _of_class(obj, of, bound)
    call = _users(type(obj), "__call__")
    if call is not None:
        return bound(of(call))
    sig = _of_builtin(type(obj).__call__)
    if sig is None:
        raise ValueError(f"no signature found for {obj!r}")
    return _without_first(sig)


def signature(obj, *, follow_wrapped=True, globals=None, locals=None, eval_str=False):
    return Signature.from_callable(
        obj, follow_wrapped=follow_wrapped, globals=globals, locals=locals, eval_str=eval_str
    )
