from typing import *
from typing import (
    Annotated,
    AbstractSet,
    Any,
    AnyStr,
    Callable,
    ChainMap,
    ClassVar,
    Concatenate,
    ContextManager,
    Final,
    ForwardRef,
    Generic,
    Literal,
    LiteralString,
    NamedTuple,
    Never,
    NewType,
    NoReturn,
    NotRequired,
    Optional,
    ParamSpec,
    Protocol,
    Required,
    Self,
    Text,
    Type,
    TypeAlias,
    TypedDict,
    TypeGuard,
    TypeVar,
    TypeVarTuple,
    TYPE_CHECKING,
    Union,
    Unpack,
    assert_never,
    assert_type,
    cast,
    dataclass_transform,
    final,
    get_args,
    get_origin,
    get_overloads,
    get_type_hints,
    overload,
    override,
    reveal_type,
    runtime,
    runtime_checkable,
)


from typing import NoDefault, ReadOnly, TypeAliasType, TypeIs, get_protocol_members, is_protocol
from types import get_original_bases
from collections.abc import Buffer
from warnings import deprecated


class Sentinel:
    def __init__(self, name, repr=None):
        self._name = name
        self._repr = f"<{name}>" if repr is None else repr

    def __repr__(self):
        return self._repr


class Doc:
    def __init__(self, documentation, /):
        self.documentation = documentation

    def __repr__(self):
        return f"Doc({self.documentation!r})"

    def __eq__(self, other):
        return self.documentation == other.documentation if isinstance(other, Doc) else NotImplemented

    def __hash__(self):
        return hash(self.documentation)


def type_repr(value):
    return value.__qualname__ if isinstance(value, type) and value.__module__ == "builtins" else repr(value)


def evaluate_forward_ref(forward_ref, **kwargs):
    import _cobra

    _cobra.unsupported("typing_extensions.evaluate_forward_ref()")


def get_annotations(obj, *, globals=None, locals=None, eval_str=False, format=1):
    import inspect

    return inspect.get_annotations(obj, globals=globals, locals=locals, eval_str=eval_str)


def disjoint_base(cls):
    cls.__disjoint_base__ = True
    return cls


class Format:
    VALUE, VALUE_WITH_FAKE_GLOBALS, FORWARDREF, STRING = 1, 2, 3, 4


def IntVar(name):
    return TypeVar(name)


class Reader(Protocol):
    def read(self, size=..., /):
        ...


class Writer(Protocol):
    def write(self, data, /):
        ...


sentinel = Sentinel
NoExtraItems = Sentinel("NoExtraItems", "typing_extensions.NoExtraItems")
TypeForm = Any
CapsuleType = type("CapsuleType", (), {})
