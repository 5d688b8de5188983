# What typing has since Python 3.12 and 3.13.
import typing


class _NoDefault:
    def __repr__(self):
        return "typing.NoDefault"


NoDefault = _NoDefault()


class TypeAliasType:
    def __init__(self, name, value, *, type_params=()):
        self.__name__, self.__value__, self.__type_params__ = name, value, type_params
        self.__parameters__ = type_params

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
