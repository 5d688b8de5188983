import _cobra

FunctionType = LambdaType = type(lambda: 0)
BuiltinFunctionType = BuiltinMethodType = _cobra.builtin_function
MethodDescriptorType = _cobra.method_descriptor
GeneratorType = _cobra.generator
ModuleType = _cobra.module
GenericAlias = _cobra.generic_alias
UnionType = _cobra.union_type
CodeType = _cobra.code
CellType = _cobra.cell
NoneType = type(None)
EllipsisType = type(Ellipsis)
NotImplementedType = type(NotImplemented)


class _C:
    def _m(self):
        pass


MethodType = type(_C()._m)


# The built-in types have names of their own.
def _named(name):
    def rename(cls):
        cls.__name__ = cls.__qualname__ = name
        cls.__module__ = "builtins"
        return cls

    return rename


class _OfMethods(type):
    # Methods of built-in classes are all of one type here.
    def __instancecheck__(cls, instance):
        return isinstance(instance, MethodDescriptorType)


@_named("wrapper_descriptor")
class WrapperDescriptorType(metaclass=_OfMethods):
    def __get__(self, instance, owner=None):
        return self


@_named("method-wrapper")
class MethodWrapperType(metaclass=_OfMethods):
    pass


@_named("traceback")
class TracebackType:
    pass


@_named("frame")
class FrameType:
    pass


CoroutineType = _cobra.coroutine
AsyncGeneratorType = _cobra.async_generator
MemberDescriptorType = _cobra.member_descriptor


@_named("getset_descriptor")
class GetSetDescriptorType:
    pass


@_named("classmethod_descriptor")
class ClassMethodDescriptorType:
    def __get__(self, instance, owner=None):
        return self


class SimpleNamespace:
    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        name = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return name + "(" + ", ".join(f"{k}={v!r}" for k, v in self.__dict__.items()) + ")"

    def __eq__(self, other):
        if isinstance(self, SimpleNamespace) and isinstance(other, SimpleNamespace):
            return self.__dict__ == other.__dict__
        return NotImplemented

    __hash__ = None


@_named("mappingproxy")
class mappingproxy:
    def __init__(self, mapping):
        self._mapping = mapping

    def __getitem__(self, key):
        return self._mapping[key]

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)

    def __len__(self):
        return len(self._mapping)

    def get(self, key, default=None):
        return self._mapping.get(key, default)

    def keys(self):
        return self._mapping.keys()

    def values(self):
        return self._mapping.values()

    def items(self):
        return self._mapping.items()

    def copy(self):
        return self._mapping.copy()

    def __str__(self):
        return str(self._mapping)

    def __or__(self, other):
        return self._mapping | (other._mapping if isinstance(other, mappingproxy) else other)

    def __reversed__(self):
        return reversed(self._mapping)

    def __repr__(self):
        return f"mappingproxy({self._mapping!r})"

    def __eq__(self, other):
        return self._mapping == (other._mapping if isinstance(other, mappingproxy) else other)

    __hash__ = None


MappingProxyType = mappingproxy


class DynamicClassAttribute(property):
    pass


def new_class(name, bases=(), kwds=None, exec_body=None):
    namespace = {}
    if exec_body is not None:
        exec_body(namespace)
    kwds = dict(kwds or {})
    meta = kwds.pop("metaclass", type)
    return meta(name, bases, namespace, **kwds)


def coroutine(func):
    return func


def resolve_bases(bases):
    out = []
    for base in bases:
        entries = None if isinstance(base, type) else getattr(base, "__mro_entries__", None)
        if entries is None:
            out.append(base)
        else:
            out += entries(bases)
    return tuple(bases) if len(out) == len(bases) and all(a is b for a, b in zip(out, bases)) else tuple(out)


def prepare_class(name, bases=(), kwds=None):
    kwds = dict(kwds or {})
    meta = kwds.pop("metaclass", None) or (type(bases[0]) if bases else type)
    for base in bases if isinstance(meta, type) else ():
        if not issubclass(meta, type(base)):
            meta = type(base)
    prepare = getattr(meta, "__prepare__", None)
    return meta, {} if prepare is None else prepare(name, bases, **kwds), kwds


# Since Python 3.12.
def get_original_bases(cls, /):
    return cls.__dict__.get("__orig_bases__", cls.__bases__)
