# The forms of typing: types with arguments, type variables, generic classes and protocols.
import _cobra
import abc
import collections.abc

__name__ = "typing"  # what a program sees as the module of these classes


def _type_repr(t):
    if isinstance(t, type):
        return t.__qualname__ if t.__module__ == "builtins" else f"{t.__module__}.{t.__qualname__}"
    if t is ...:
        return "..."
    if isinstance(t, list):
        return "[" + ", ".join(_type_repr(x) for x in t) + "]"
    return repr(t)


def _convert(arg):
    if arg is None:
        return type(None)
    if isinstance(arg, str):
        return ForwardRef(arg)
    return arg


class _Final:
    pass


class ForwardRef(_Final):
    def __init__(self, arg, is_argument=True, module=None, *, is_class=False):
        self.__forward_arg__ = arg

    def __repr__(self):
        return f"ForwardRef({self.__forward_arg__!r})"

    def __eq__(self, other):
        return isinstance(other, ForwardRef) and self.__forward_arg__ == other.__forward_arg__

    def __hash__(self):
        return hash(self.__forward_arg__)

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]


class _Alias(_Final):
    """X[args] of a special form or generic class."""

    def __init__(self, origin, args, name=None):
        self.__origin__ = origin
        self.__args__ = args
        self._name = name

    @property
    def __parameters__(self):
        found = []
        for a in self.__args__:
            if isinstance(a, TypeVar):
                if a not in found:
                    found.append(a)
            else:
                for p in getattr(a, "__parameters__", ()):
                    if p not in found:
                        found.append(p)
        return tuple(found)

    def __repr__(self):
        args = ", ".join(_type_repr(a) for a in self.__args__)
        if self.__origin__ is Union and len(self.__args__) == 2 and type(None) in self.__args__:
            other = self.__args__[0] if self.__args__[1] is type(None) else self.__args__[1]
            return f"typing.Optional[{_type_repr(other)}]"
        name = self._name if self._name is not None else None
        prefix = f"typing.{name}" if name is not None else _type_repr(self.__origin__)
        if name == "Callable" and len(self.__args__) > 1 and self.__args__[0] is not ...:
            return (
                f'{prefix}[[{", ".join(_type_repr(a) for a in self.__args__[:-1])}], {_type_repr(self.__args__[-1])}]'
            )
        return f"{prefix}[{args}]"

    def __eq__(self, other):
        if isinstance(other, _cobra.union_type):
            return self.__origin__ is Union and set(self.__args__) == set(other.__args__)
        if not isinstance(other, _Alias) or self.__origin__ is not other.__origin__:
            return NotImplemented if not isinstance(other, _Alias) else False
        if self.__origin__ is Union:
            return set(self.__args__) == set(other.__args__)
        return self.__args__ == other.__args__

    def __hash__(self):
        if self.__origin__ is Union:
            return hash(frozenset(self.__args__))
        return hash((id(self.__origin__), self.__args__))

    def __getitem__(self, params):
        if not isinstance(params, tuple):
            params = (params,)
        table = dict(zip(self.__parameters__, params))
        return _Alias(
            self.__origin__, tuple(table.get(a, a) if isinstance(a, TypeVar) else a for a in self.__args__), self._name
        )

    def __call__(self, *args, **kwargs):
        if not isinstance(self.__origin__, type):
            raise TypeError(f"Type {self!r} cannot be instantiated")
        if self._name is not None and self.__origin__.__module__ == "builtins":
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        return self.__origin__(*args, **kwargs)

    def __mro_entries__(self, bases):
        if self.__origin__ is Generic or not isinstance(self.__origin__, type):
            return (Generic,) if Generic not in bases else ()
        if Generic in bases or any(isinstance(b, _Alias) and b.__origin__ is Generic for b in bases):
            return (self.__origin__,)
        return (self.__origin__,)

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return getattr(self.__origin__, name)

    def __instancecheck__(self, obj):
        if self.__origin__ is Union:
            return any(isinstance(obj, a) for a in self.__args__)
        raise TypeError("Subscripted generics cannot be used with class and instance checks")

    def __subclasscheck__(self, cls):
        if self.__origin__ is Union:
            return any(issubclass(cls, a) for a in self.__args__)
        raise TypeError("Subscripted generics cannot be used with class and instance checks")

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self


class _Special(_Final):
    """typing.List, typing.Union, ...: something with [] that isinstance may ask."""

    def __init__(self, name, origin=None):
        self._name = name
        self.__origin__ = origin

    @property
    def __name__(self):
        return self._name

    def __repr__(self):
        return f"typing.{self._name}"

    def __getitem__(self, params):
        if not isinstance(params, tuple):
            params = (params,)
        return _Alias(
            self.__origin__ if self.__origin__ is not None else self, tuple(_convert(p) for p in params), self._name
        )

    def __call__(self, *args, **kwargs):
        if not isinstance(self.__origin__, type):
            raise TypeError(f"Cannot instantiate {self!r}")
        if self.__origin__.__module__ == "builtins":
            raise TypeError(f"Type {self._name} cannot be instantiated; use {self.__origin__.__name__}() instead")
        return self.__origin__(*args, **kwargs)

    def __mro_entries__(self, bases):
        if isinstance(self.__origin__, type):
            return (self.__origin__,)
        return ()

    def __instancecheck__(self, obj):
        if self.__origin__ is None:
            raise TypeError(f"{self!r} cannot be used with isinstance()")
        return isinstance(obj, self.__origin__)

    def __subclasscheck__(self, cls):
        if self.__origin__ is None:
            raise TypeError(f"{self!r} cannot be used with issubclass()")
        return issubclass(cls, self.__origin__)

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __deepcopy__(self, memo):
        return self

    def __copy__(self):
        return self


class _AnyMeta(type):
    def __instancecheck__(self, obj):
        if self is Any:
            raise TypeError("typing.Any cannot be used with isinstance()")
        return super().__instancecheck__(obj)

    def __repr__(self):
        return "typing.Any" if self is Any else super().__repr__()


class Any(metaclass=_AnyMeta):
    def __new__(cls, *args, **kwargs):
        if cls is Any:
            raise TypeError("Any cannot be instantiated")
        return super().__new__(cls)


class _Union(_Special):
    def __getitem__(self, params):
        if params == ():
            raise TypeError("Cannot take a Union of no types.")
        if not isinstance(params, tuple):
            params = (params,)
        flat = []
        for p in params:
            p = _convert(p)
            if isinstance(p, _Alias) and p.__origin__ is Union:
                parts = p.__args__
            elif isinstance(p, _cobra.union_type):
                parts = p.__args__
            else:
                parts = (p,)
            for part in parts:
                if part not in flat:
                    flat.append(part)
        if len(flat) == 1:
            return flat[0]
        return _Alias(Union, tuple(flat), "Union")


Union = _Union("Union")


class _Optional(_Special):
    def __getitem__(self, param):
        if isinstance(param, tuple):
            raise TypeError(f"typing.Optional requires a single type. Got {param!r}.")
        return Union[param, type(None)]


Optional = _Optional("Optional")


class _Literal(_Special):
    def __getitem__(self, params):
        if not isinstance(params, tuple):
            params = (params,)
        return _Alias(Literal, params, "Literal")


Literal = _Literal("Literal")


class _Callable(_Special):
    def __getitem__(self, params):
        args, result = params
        if isinstance(args, list):
            return _Alias(collections.abc.Callable, tuple(_convert(a) for a in args) + (_convert(result),), "Callable")
        return _Alias(collections.abc.Callable, (args, _convert(result)), "Callable")


Callable = _Callable("Callable", collections.abc.Callable)


class _Annotated(_Special):
    def __getitem__(self, params):
        if not isinstance(params, tuple) or len(params) < 2:
            raise TypeError("Annotated[...] should be used with at least two arguments (a type and an annotation).")
        return _AnnotatedAlias(_convert(params[0]), tuple(params[1:]))


class _AnnotatedAlias(_Alias):
    def __init__(self, origin, metadata):
        if isinstance(origin, _AnnotatedAlias):
            origin, metadata = origin.__origin__, origin.__metadata__ + metadata
        super().__init__(origin, (origin,), "Annotated")
        self.__metadata__ = metadata

    def __repr__(self):
        return f'typing.Annotated[{_type_repr(self.__origin__)}, {", ".join([repr(m) for m in self.__metadata__])}]'

    def __eq__(self, other):
        return (
            isinstance(other, _AnnotatedAlias)
            and self.__origin__ == other.__origin__
            and self.__metadata__ == other.__metadata__
        )

    def __hash__(self):
        return hash((self.__origin__, self.__metadata__))


Annotated = _Annotated("Annotated")


class TypeVar(_Final):
    # default: since Python 3.13, and in typing_extensions
    def __init__(
        self, name, *constraints, bound=None, covariant=False, contravariant=False, infer_variance=False, default=None
    ):
        if len(constraints) == 1:
            raise TypeError("A single constraint is not allowed")
        if constraints and bound is not None:
            raise TypeError("Constraints cannot be combined with bound=...")
        self.__name__ = name
        self.__constraints__ = constraints
        self.__bound__ = bound
        self.__covariant__ = covariant
        self.__contravariant__ = contravariant
        self.__default__ = default

    def __repr__(self):
        if getattr(self, "_plain", False):  # of a list of type parameters, whose variance is inferred
            return self.__name__
        return ("+" if self.__covariant__ else "-" if self.__contravariant__ else "~") + self.__name__

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __deepcopy__(self, memo):
        return self


class ParamSpec(TypeVar):
    @property
    def args(self):
        return self

    @property
    def kwargs(self):
        return self


ParamSpecArgs = ParamSpecKwargs = ParamSpec


class TypeVarTuple(TypeVar):
    def __iter__(self):
        yield self


class Generic:
    def __class_getitem__(cls, params):
        if not isinstance(params, tuple):
            params = (params,)
        known = None if cls is Protocol else cls.__dict__.get("__parameters__")
        if (
            known is not None
            and len(known) != len(params)
            and not any(isinstance(p, (ParamSpec, TypeVarTuple)) for p in known)
        ):
            if not known:
                raise TypeError(f"{cls} is not a generic class")
            raise TypeError(
                f"Too {'many' if len(params) > len(known) else 'few'} arguments for {cls}; actual {len(params)}, expected {len(known)}"
            )
        return _Alias(cls, tuple(_convert(p) for p in params))

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        params = []
        for base in cls.__dict__.get("__orig_bases__", ()):
            for p in getattr(base, "__parameters__", ()):
                if p not in params:
                    params.append(p)
        cls.__parameters__ = tuple(params)


class _ProtocolMeta(abc.ABCMeta):
    def __call__(cls, *args, **kwargs):
        if cls.__dict__.get("_is_protocol", False):
            raise TypeError("Protocols cannot be instantiated")
        return super().__call__(*args, **kwargs)

    def __instancecheck__(cls, instance):
        if (
            cls.__dict__.get("_is_protocol", False)
            and cls is not Protocol
            and not cls.__dict__.get("_is_runtime_protocol", False)
        ):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        return cls.__subclasscheck__(type(instance)) or (
            cls.__dict__.get("_is_protocol", False) and all(hasattr(instance, a) for a in _protocol_attrs(cls))
        )

    def __subclasscheck__(cls, subclass):
        if cls in subclass.__mro__:
            return True
        if not cls.__dict__.get("_is_protocol", False):
            return False
        if not cls.__dict__.get("_is_runtime_protocol", False):
            raise TypeError("Instance and class checks can only be used with @runtime_checkable protocols")
        return all(hasattr(subclass, a) for a in _protocol_attrs(cls))


def _protocol_attrs(cls):
    attrs = set()
    for base in cls.__mro__[:-1]:
        if base.__name__ in ("Protocol", "Generic"):
            continue
        for name in [*base.__dict__, *base.__dict__.get("__annotations__", {})]:
            if not name.startswith("_abc_") and name not in (
                "__abstractmethods__",
                "__annotations__",
                "__dict__",
                "__doc__",
                "__init__",
                "__module__",
                "__new__",
                "__slots__",
                "__subclasshook__",
                "__weakref__",
                "__class_getitem__",
                "__match_args__",
                "_is_protocol",
                "__parameters__",
                "__orig_bases__",
                "_is_runtime_protocol",
                "__init_subclass__",
                "__hash__",
            ):
                attrs.add(name)
    return attrs


class Protocol(Generic, metaclass=_ProtocolMeta):
    _is_protocol = True

    def __init_subclass__(cls, *args, **kwargs):
        super().__init_subclass__(*args, **kwargs)
        cls._is_protocol = any(b is Protocol for b in cls.__bases__)
