# What typing has since Python 3.12 and 3.13.
import typing


class _NoDefault:
    def __repr__(self):
        return "typing.NoDefault"


NoDefault = _NoDefault()


class TypeAliasType:
    def __init__(self, name, value, *, type_params=()):
        self.__name__, self._value, self.__type_params__ = name, lambda: value, type_params
        self.__parameters__ = type_params

    @property
    def __value__(self):
        return self._value()

    def __getitem__(self, parameters):
        if not self.__type_params__:
            raise TypeError("Only generic type aliases are subscriptable")
        return self

    def __or__(self, other):
        return typing.Union[self, other]

    def __ror__(self, other):
        return typing.Union[other, self]

    def __call__(self, *args, **kwargs):
        raise TypeError("'typing.TypeAliasType' object is not callable")

    def __repr__(self):
        return self.__name__


def is_protocol(tp, /):
    return isinstance(tp, type) and getattr(tp, "_is_protocol", False) and tp is not typing.Protocol


def get_protocol_members(tp, /):
    if not is_protocol(tp):
        raise TypeError(f"{tp!r} is not a Protocol")
    names = {
        name
        for c in tp.__mro__[:-1]
        if is_protocol(c)
        for name in [*c.__dict__, *c.__dict__.get("__annotations__", ())]
    }
    return frozenset(n for n in names if not n.startswith("_abc_") and n not in _NOT_MEMBERS)


_NOT_MEMBERS = {
    "__module__", "__dict__", "__weakref__", "__doc__", "__init__", "__annotations__", "__parameters__",
    "__orig_bases__", "__subclasshook__", "__qualname__", "__slots__", "_is_protocol", "_is_runtime_protocol",
}  # fmt: skip


class _Lazy:
    """What a type parameter computes when it is asked for. It is a descriptor of a class of that
    parameter's own."""

    def __init__(self, value):
        self._value = value

    def __get__(self, obj, cls=None):
        return self._value()


def type_param(kind, name, bound, constraints, default):
    """One of `[T: bound = default, *Ts, **P]`: `bound` and `default` are functions or None."""
    base = getattr(typing, kind)
    own = {}
    if bound is not None:
        own["__constraints__" if constraints else "__bound__"] = _Lazy(bound)
    if default is not None:
        own["__default__"] = _Lazy(default)
    variable = base.__new__(type(kind, (base,), own) if own else base)
    variable.__dict__.update(
        __name__=name, __constraints__=(), __bound__=None, __covariant__=False, __contravariant__=False,
        __default__=NoDefault, __infer_variance__=True, _plain=True,
    )  # fmt: skip
    for key in own:
        del variable.__dict__[key]
    return variable


def type_alias(name, value, type_params):
    alias = TypeAliasType(name, None, type_params=type_params)
    alias._value = value
    return alias
