import _cobra
import collections
import collections.abc
import contextlib

from _typing_forms import (
    Annotated,
    Any,
    Callable,
    ForwardRef,
    Generic,
    Literal,
    Optional,
    ParamSpec,
    ParamSpecArgs,
    ParamSpecKwargs,
    Protocol,
    TypeVar,
    TypeVarTuple,
    Union,
    _Alias,
    _AnnotatedAlias,
    _Final,
    _ProtocolMeta,
    _Special,
    _type_repr,
)

TYPE_CHECKING = False


NoReturn = _Special("NoReturn")
Never = _Special("Never")
ClassVar = _Special("ClassVar")
Final = _Special("Final")
TypeAlias = _Special("TypeAlias")
Concatenate = _Special("Concatenate")
TypeGuard = _Special("TypeGuard")
TypeIs, ReadOnly = _Special("TypeIs"), _Special("ReadOnly")  # since Python 3.13
Unpack = _Special("Unpack")
Required = _Special("Required")
NotRequired = _Special("NotRequired")
Self = _Special("Self")
LiteralString = _Special("LiteralString")

List = _Special("List", list)
Dict = _Special("Dict", dict)
Set = _Special("Set", set)
FrozenSet = _Special("FrozenSet", frozenset)
Tuple = _Special("Tuple", tuple)
Type = _Special("Type", type)
Deque = _Special("Deque", collections.deque)
DefaultDict = _Special("DefaultDict", collections.defaultdict)
OrderedDict = _Special("OrderedDict", collections.OrderedDict)
Counter = _Special("Counter", collections.Counter)
ChainMap = _Special("ChainMap", collections.ChainMap)
Hashable = _Special("Hashable", collections.abc.Hashable)
Sized = _Special("Sized", collections.abc.Sized)
Iterable = _Special("Iterable", collections.abc.Iterable)
Iterator = _Special("Iterator", collections.abc.Iterator)
Reversible = _Special("Reversible", collections.abc.Reversible)
Container = _Special("Container", collections.abc.Container)
Collection = _Special("Collection", collections.abc.Collection)
Sequence = _Special("Sequence", collections.abc.Sequence)
MutableSequence = _Special("MutableSequence", collections.abc.MutableSequence)
Mapping = _Special("Mapping", collections.abc.Mapping)
MutableMapping = _Special("MutableMapping", collections.abc.MutableMapping)
AbstractSet = _Special("AbstractSet", collections.abc.Set)
MutableSet = _Special("MutableSet", collections.abc.MutableSet)
MappingView = _Special("MappingView", collections.abc.MappingView)
KeysView = _Special("KeysView", collections.abc.KeysView)
ValuesView = _Special("ValuesView", collections.abc.ValuesView)
ItemsView = _Special("ItemsView", collections.abc.ItemsView)
Generator = _Special("Generator", collections.abc.Generator)
Awaitable = _Special("Awaitable", collections.abc.Awaitable)
Coroutine = _Special("Coroutine", collections.abc.Coroutine)
AsyncIterable = _Special("AsyncIterable", collections.abc.AsyncIterable)
AsyncIterator = _Special("AsyncIterator", collections.abc.AsyncIterator)
AsyncGenerator = _Special("AsyncGenerator", collections.abc.AsyncGenerator)
ContextManager = _Special("ContextManager", contextlib.AbstractContextManager)
AsyncContextManager = _Special("AsyncContextManager", contextlib.AbstractContextManager)
ByteString = _Special("ByteString", bytes)
Pattern = _Special("Pattern")
Match = _Special("Match")
Text = str


AnyStr = TypeVar("AnyStr", bytes, str)


class _IOMeta(type):
    def __getitem__(cls, params):
        return _Alias(cls, (params,), "IO")

    def __or__(cls, other):
        return Union[cls, other]


class IO(metaclass=_IOMeta):
    pass


class TextIO(IO):
    pass


class BinaryIO(IO):
    pass


def runtime_checkable(cls):
    if not isinstance(cls, _ProtocolMeta) or not cls.__dict__.get("_is_protocol", False):
        raise TypeError(f"@runtime_checkable can be only applied to protocol classes, got {cls!r}")
    cls._is_runtime_protocol = True
    return cls


runtime = runtime_checkable


def cast(typ, val):
    return val


def assert_type(val, typ, /):
    return val


def reveal_type(obj, /):
    return obj


def assert_never(arg, /):
    raise AssertionError("Expected code to be unreachable")


def overload(func):
    return func


def get_overloads(func):
    return []


def final(f):
    try:
        f.__final__ = True
    except (AttributeError, TypeError):
        pass
    return f


def no_type_check(arg):
    try:
        arg.__no_type_check__ = True
    except (AttributeError, TypeError):
        pass
    return arg


def no_type_check_decorator(decorator):
    return decorator


def clear_overloads():
    pass


def dataclass_transform(**kwargs):
    return lambda cls_or_fn: cls_or_fn


def override(f):
    return f


class NewType:
    def __init__(self, name, tp):
        self.__name__ = self.__qualname__ = name
        self.__supertype__ = tp

    def __call__(self, x):
        return x

    def __repr__(self):
        return self.__name__

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]


def get_origin(tp):
    if isinstance(tp, _AnnotatedAlias):
        return Annotated
    if isinstance(tp, (_Alias, _Special)):
        return tp.__origin__
    if isinstance(tp, _cobra.generic_alias):
        return tp.__origin__
    if isinstance(tp, _cobra.union_type):
        return _cobra.union_type
    if tp is Generic:
        return Generic
    return None


def get_args(tp):
    if isinstance(tp, _AnnotatedAlias):
        return (tp.__origin__,) + tp.__metadata__
    if isinstance(tp, _Alias):
        if tp._name == "Callable" and tp.__args__ and tp.__args__[0] is not ...:
            return (list(tp.__args__[:-1]), tp.__args__[-1])
        return tp.__args__
    if isinstance(tp, (_cobra.generic_alias, _cobra.union_type)):
        return tp.__args__
    return ()


def _evaluate(t, globalns, localns):
    if isinstance(t, ForwardRef):
        t = t.__forward_arg__
    if isinstance(t, str):
        if callable(globalns):
            globalns = globalns()
        if localns is not None and not isinstance(localns, dict):
            localns = {name: localns[name] for name in localns}
        return _evaluate(eval(t, globalns, localns), globalns, localns)
    if t is None:
        return type(None)
    if isinstance(t, _AnnotatedAlias):
        return _AnnotatedAlias(_evaluate(t.__origin__, globalns, localns), t.__metadata__)
    if isinstance(t, _Alias) and t.__origin__ is not Literal:
        args = tuple([a if isinstance(a, (list, type(...))) else _evaluate(a, globalns, localns) for a in t.__args__])
        if args == t.__args__:
            return t
        return Union[args] if t.__origin__ is Union else _Alias(t.__origin__, args, t._name)
    if isinstance(t, _cobra.generic_alias):
        args = tuple(
            [
                _evaluate(a, globalns, localns) if isinstance(a, (str, ForwardRef, _Alias, _cobra.generic_alias)) else a
                for a in t.__args__
            ]
        )
        return t if args == t.__args__ else t.__origin__[args]
    return t


def _strip_extras(t):
    if isinstance(t, _AnnotatedAlias):
        return _strip_extras(t.__origin__)
    if isinstance(t, _Alias) and t.__origin__ in (Required, NotRequired):
        return _strip_extras(t.__args__[0])
    if isinstance(t, _Alias) and t.__origin__ is not Literal:
        args = tuple([a if isinstance(a, list) else _strip_extras(a) for a in t.__args__])
        return t if args == t.__args__ else _Alias(t.__origin__, args, t._name)
    return t


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    import sys

    hints = {}
    if isinstance(obj, type):
        for base in reversed(obj.__mro__):
            module = sys.modules.get(base.__module__)
            # All names of a module are needed for a text only: they would load all that the module
            # imports.
            scope = globalns if globalns is not None else lambda module=module: getattr(module, "__dict__", {})
            names = dict(vars(base)) if localns is None else localns
            if base is obj and localns is None:
                names.setdefault(obj.__name__, obj)
            for name, value in base.__dict__.get("__annotations__", {}).items():
                hints[name] = _evaluate(value, scope, names)
    else:
        found = getattr(obj, "__annotations__", None)
        if found is None:
            if isinstance(obj, _cobra.builtin_function):
                return {}
            raise TypeError(f"{obj!r} is not a module, class, method, or function.")
        scope = globalns
        if scope is None:
            inner = obj
            while hasattr(inner, "__wrapped__"):
                inner = inner.__wrapped__
            scope = lambda: getattr(inner, "__globals__", None) or getattr(obj, "__dict__", {})  # noqa: E731
        for name, value in found.items():
            hints[name] = _evaluate(value, scope, localns)
    return hints if include_extras else {name: _strip_extras(t) for name, t in hints.items()}


def _eval_type(t, globalns, localns, *more, **options):
    return _evaluate(t, globalns, localns)


def is_typeddict(tp):
    return isinstance(tp, type) and hasattr(tp, "__total__")


class _NamedTupleMeta(type):
    def __new__(cls, typename, bases, ns):
        types = ns.get("__annotations__", {})
        defaults = []
        for name in types:
            if name in ns:
                defaults.append(ns[name])
            elif defaults:
                raise TypeError(f"non-default namedtuple field {name} cannot follow default field")
        made = collections.namedtuple(typename, list(types), defaults=defaults, module=ns.get("__module__"))
        made.__annotations__ = dict(types)
        for key, value in ns.items():
            if key in (
                "__new__",
                "__init__",
                "__slots__",
                "__getnewargs__",
                "_fields",
                "_field_defaults",
                "_make",
                "_replace",
                "_asdict",
            ):
                raise AttributeError("Cannot overwrite NamedTuple attribute " + key)
            if key not in types and key not in ("__annotations__", "__module__", "__qualname__", "__classcell__"):
                setattr(made, key, value)
        made.__qualname__ = ns.get("__qualname__", typename)
        return made


class _NamedTuple:
    __name__ = __qualname__ = "NamedTuple"

    def __call__(self, typename, fields=None, /, **kwargs):
        fields = list(kwargs.items()) if fields is None else list(fields)
        made = collections.namedtuple(typename, [n for n, t in fields], module=_cobra.caller_module())
        made.__annotations__ = dict(fields)
        return made

    def __mro_entries__(self, bases):
        return (_NamedTupleBase,)


_NamedTupleBase = type.__new__(_NamedTupleMeta, "_NamedTupleBase", (), {})
NamedTuple = _NamedTuple()


class _TypedDictMeta(type):
    # closed, extra_items: of typing_extensions
    def __new__(cls, name, bases, ns, total=True, closed=None, extra_items=None):
        made = type.__new__(_TypedDictMeta, name, (dict,), ns)
        annotations = {}
        for base in bases:
            annotations.update(base.__dict__.get("__annotations__", {}))
        annotations.update(ns.get("__annotations__", {}))
        made.__annotations__ = annotations
        made.__total__ = total
        return made

    def __call__(cls, *args, **kwargs):
        return dict(*args, **kwargs)


class _TypedDict:
    __name__ = __qualname__ = "TypedDict"

    def __call__(self, typename, fields=None, /, *, total=True, closed=None, extra_items=None, **kwargs):
        return _TypedDictMeta(typename, (), {"__annotations__": dict(fields or kwargs)}, total=total)

    def __mro_entries__(self, bases):
        return (_TypedDictBase,)


_TypedDictBase = type.__new__(_TypedDictMeta, "_TypedDictBase", (dict,), {})
TypedDict = _TypedDict()


@runtime_checkable
class SupportsInt(Protocol):
    def __int__(self):
        ...


@runtime_checkable
class SupportsFloat(Protocol):
    def __float__(self):
        ...


@runtime_checkable
class SupportsIndex(Protocol):
    def __index__(self):
        ...


@runtime_checkable
class SupportsAbs(Protocol):
    def __abs__(self):
        ...


@runtime_checkable
class SupportsRound(Protocol):
    def __round__(self):
        ...


@runtime_checkable
class SupportsBytes(Protocol):
    def __bytes__(self):
        ...


@runtime_checkable
class SupportsComplex(Protocol):
    def __complex__(self):
        ...


_GenericAlias = _Alias
_SpecialForm = _Special


from _later_typing import NoDefault, TypeAliasType, get_protocol_members, is_protocol
from _later_typing import type_alias as _type_alias, type_param as _type_param
