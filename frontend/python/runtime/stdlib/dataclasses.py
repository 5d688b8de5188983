import copy
import functools
import types


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    def __repr__(self):
        return "<dataclasses.MISSING>"


MISSING = _Missing()


class _HasDefaultFactory:
    def __repr__(self):
        return "<factory>"


_HAS_DEFAULT_FACTORY = _HasDefaultFactory()


class KW_ONLY:
    pass


class InitVar:
    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, type):
        return InitVar(type)

    def __repr__(self):
        name = self.type.__name__ if hasattr(self.type, "__name__") else repr(self.type)
        return f"dataclasses.InitVar[{name}]"


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = types.MappingProxyType({} if metadata is None else metadata)
        self.kw_only = kw_only
        self._field_type = None

    def __repr__(self):
        return (
            f"Field(name={self.name!r},type={self.type!r},default={self.default!r},default_factory={self.default_factory!r},"
            f"init={self.init!r},repr={self.repr!r},hash={self.hash!r},compare={self.compare!r},metadata={self.metadata!r},"
            f"kw_only={self.kw_only!r},_field_type={self._field_type!r})"
        )


_FIELD, _FIELD_CLASSVAR, _FIELD_INITVAR = "_FIELD", "_FIELD_CLASSVAR", "_FIELD_INITVAR"


def field(
    *,
    default=MISSING,
    default_factory=MISSING,
    init=True,
    repr=True,
    hash=None,
    compare=True,
    metadata=None,
    kw_only=MISSING,
):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _is_kind(annotation, name):
    if isinstance(annotation, str):
        head = annotation.split("[")[0].strip()
        return head == name or head.endswith("." + name)
    if name == "ClassVar":
        import typing

        return annotation is typing.ClassVar or getattr(annotation, "__origin__", None) is typing.ClassVar
    if name == "InitVar":
        return annotation is InitVar or isinstance(annotation, InitVar)
    return annotation is KW_ONLY


def _collect(cls, kw_only):
    fields = {}
    for base in cls.__mro__[-1:0:-1]:
        for f in base.__dict__.get("__dataclass_fields__", {}).values():
            fields[f.name] = f
    seen_kw_only = False
    for name, annotation in cls.__dict__.get("__annotations__", {}).items():
        if _is_kind(annotation, "KW_ONLY"):
            if seen_kw_only:
                raise TypeError(f"{name!r} is KW_ONLY, but KW_ONLY has already been specified")
            seen_kw_only = True
            kw_only = True
            continue
        default = cls.__dict__.get(name, MISSING)
        if isinstance(default, types.MemberDescriptorType):
            default = MISSING
        f = default if isinstance(default, Field) else field(default=default)
        f.name = name
        f.type = annotation
        f._field_type = _FIELD
        if _is_kind(annotation, "ClassVar"):
            f._field_type = _FIELD_CLASSVAR
        elif _is_kind(annotation, "InitVar"):
            f._field_type = _FIELD_INITVAR
        if f._field_type in (_FIELD_CLASSVAR, _FIELD_INITVAR) and f.default_factory is not MISSING:
            raise TypeError(f"field {f.name} cannot have a default factory")
        if f.kw_only is MISSING:
            f.kw_only = kw_only
        if f._field_type is _FIELD and f.default.__class__.__hash__ is None:
            raise ValueError(
                f"mutable default {type(f.default)} for field {f.name} is not allowed: use default_factory"
            )
        fields[name] = f
        if isinstance(default, Field):
            if f.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
    for name, value in cls.__dict__.items():
        if isinstance(value, Field) and name not in cls.__dict__.get("__annotations__", {}):
            raise TypeError(f"{name!r} is a field but has no type annotation")
    return fields


def _make_init(cls, fields, frozen, slots):
    name = f"{cls.__qualname__}.__init__"
    fields = [f for f in fields if f._field_type is not _FIELD_CLASSVAR]
    positional = [f for f in fields if f.init and not f.kw_only]
    keyword = [f for f in fields if f.init and f.kw_only]
    seen_default = False
    for f in positional:
        if f.default is not MISSING or f.default_factory is not MISSING:
            seen_default = True
        elif seen_default:
            raise TypeError(f"non-default argument {f.name!r} follows default argument")
    has_post_init = hasattr(cls, "__post_init__")
    by_name = {f.name: f for f in positional + keyword}
    plain = [f for f in fields if not f.init and f._field_type is _FIELD and f.default_factory is not MISSING]
    names = [f.name for f in positional]
    all_init = positional + keyword
    init_vars = [f.name for f in fields if f._field_type is _FIELD_INITVAR]
    ordered = [f for f in fields if f._field_type is not _FIELD_CLASSVAR]

    def __init__(self, /, *args, **kwargs):
        if len(args) > len(names):
            n = len(names) + 1
            least = 1 + len([f for f in positional if f.default is MISSING and f.default_factory is MISSING])
            takes = f"from {least} to {n}" if least != n else str(n)
            raise TypeError(
                f'{name}() takes {takes} positional argument{"s" if n != 1 else ""} but {len(args) + 1} were given'
            )
        values = dict(zip(names, args))
        for key, value in kwargs.items():
            if key in values:
                raise TypeError(f"{name}() got multiple values for argument '{key}'")
            if key not in by_name:
                raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            values[key] = value
        missing = [
            f.name for f in all_init if f.name not in values and f.default is MISSING and f.default_factory is MISSING
        ]
        if missing:
            quoted = [repr(m) for m in missing]
            text = (
                quoted[0]
                if len(quoted) == 1
                else (" and ".join(quoted) if len(quoted) == 2 else ", ".join(quoted[:-1]) + ", and " + quoted[-1])
            )
            kind = "keyword-only" if by_name[missing[0]].kw_only else "positional"
            raise TypeError(
                f'{name}() missing {len(missing)} required {kind} argument{"s" if len(missing) != 1 else ""}: {text}'
            )
        set_attr = object.__setattr__ if frozen else setattr
        for f in ordered:
            key = f.name
            if key in values:
                value = values[key]
            elif not f.init and f.default_factory is MISSING and (not slots or f.default is MISSING):
                continue
            elif f.default_factory is not MISSING:
                value = f.default_factory()
            else:
                value = f.default
            if f._field_type is _FIELD:
                set_attr(self, key, value)
            else:
                values[key] = value
        if has_post_init:
            self.__post_init__(*[values[v] for v in init_vars])

    __init__.__qualname__ = name
    __init__.__module__ = cls.__module__
    __init__.__annotations__ = {f.name: f.type for f in all_init}
    __init__.__annotations__["return"] = None
    __init__._dataclass_parameters = [
        (
            f.name,
            3 if f.kw_only else 1,
            f.default if f.default is not MISSING or f.default_factory is MISSING else _HAS_DEFAULT_FACTORY,
            f.type,
        )
        for f in all_init
    ]
    return __init__


def _set_new(cls, name, value):
    if name in cls.__dict__:
        return True
    if hasattr(value, "__qualname__"):
        value.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(cls, name, value)
    return False


class _DataclassParams:
    def __init__(self, init, repr_, eq, order, unsafe_hash, frozen):
        self.init, self.repr, self.eq = init, repr_, eq
        self.order, self.unsafe_hash, self.frozen = order, unsafe_hash, frozen

    def __repr__(self):
        return (
            f"_DataclassParams(init={self.init!r},repr={self.repr!r},eq={self.eq!r},order={self.order!r},"
            f"unsafe_hash={self.unsafe_hash!r},frozen={self.frozen!r})"
        )


def _process(cls, init, repr_, eq, order, unsafe_hash, frozen, match_args, kw_only, slots):
    any_frozen = has_dataclass_base = False
    for base in cls.__mro__[1:]:
        params = base.__dict__.get("__dataclass_params__")
        if params is not None:
            has_dataclass_base = True
            any_frozen = any_frozen or params.frozen
    if has_dataclass_base:
        if any_frozen and not frozen:
            raise TypeError("cannot inherit non-frozen dataclass from a frozen one")
        if not any_frozen and frozen:
            raise TypeError("cannot inherit frozen dataclass from a non-frozen one")
    explicit_hash = cls.__dict__.get("__hash__", MISSING)
    has_explicit_hash = not (explicit_hash is MISSING or (explicit_hash is None and "__eq__" in cls.__dict__))
    if order and not eq:
        raise ValueError("eq must be true if order is true")
    fields_ = _collect(cls, kw_only)
    cls.__dataclass_fields__ = fields_
    cls.__dataclass_params__ = _DataclassParams(init, repr_, eq, order, unsafe_hash, frozen)
    all_fields = list(fields_.values())
    real = [f for f in all_fields if f._field_type is _FIELD]
    if init and "__init__" not in cls.__dict__:
        cls.__init__ = _make_init(cls, all_fields, frozen, slots)
    if repr_:
        shown = [f.name for f in real if f.repr]
        running = set()

        def __repr__(self):
            if id(self) in running:
                return "..."
            running.add(id(self))
            try:
                return self.__class__.__qualname__ + "(" + ", ".join([f"{n}={getattr(self, n)!r}" for n in shown]) + ")"
            finally:
                running.discard(id(self))

        _set_new(cls, "__repr__", __repr__)
    compared = [f.name for f in real if f.compare]

    def key(self):
        return tuple([getattr(self, n) for n in compared])

    if eq:

        def __eq__(self, other):
            if other.__class__ is self.__class__:
                return key(self) == key(other)
            return NotImplemented

        _set_new(cls, "__eq__", __eq__)
    if order:

        def __lt__(self, other):
            return key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented

        def __le__(self, other):
            return key(self) <= key(other) if other.__class__ is self.__class__ else NotImplemented

        def __gt__(self, other):
            return key(self) > key(other) if other.__class__ is self.__class__ else NotImplemented

        def __ge__(self, other):
            return key(self) >= key(other) if other.__class__ is self.__class__ else NotImplemented

        for name, method in (("__lt__", __lt__), ("__le__", __le__), ("__gt__", __gt__), ("__ge__", __ge__)):
            if _set_new(cls, name, method):
                raise TypeError(
                    f"Cannot overwrite attribute {name} in class {cls.__name__}. Consider using functools.total_ordering"
                )
    if frozen:
        names = set(f.name for f in real)

        def __setattr__(self, name, value):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):
            if type(self) is cls or name in names:
                raise FrozenInstanceError(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        for name, method in (("__setattr__", __setattr__), ("__delattr__", __delattr__)):
            if _set_new(cls, name, method):
                raise TypeError(f"Cannot overwrite attribute {name} in class {cls.__name__}")
    if unsafe_hash or (eq and frozen):
        if not has_explicit_hash or unsafe_hash:
            hashed = [f.name for f in real if (f.compare if f.hash is None else f.hash)]
            cls.__hash__ = lambda self: hash(tuple([getattr(self, n) for n in hashed]))
    elif eq and not has_explicit_hash:
        cls.__hash__ = None
    if match_args and "__match_args__" not in cls.__dict__:
        cls.__match_args__ = tuple(
            f.name for f in all_fields if f.init and not f.kw_only and f._field_type is not _FIELD_CLASSVAR
        )
    if not cls.__dict__.get("__doc__"):
        cls.__doc__ = cls.__name__
    return _with_slots(cls, real) if slots else cls


def _with_slots(cls, real):
    if "__slots__" in cls.__dict__:
        raise TypeError(f"{cls.__name__} already specifies __slots__")
    inherited = set()
    for base in cls.__mro__[1:-1]:
        slots = base.__dict__.get("__slots__", ())
        inherited.update([slots] if isinstance(slots, str) else slots)
    namespace = dict(cls.__dict__)
    namespace["__slots__"] = tuple([f.name for f in real if f.name not in inherited])
    for f in real:
        namespace.pop(f.name, None)
    namespace.pop("__dict__", None)
    namespace["__module__"] = cls.__module__
    made = type(cls)(cls.__name__, cls.__bases__, namespace)
    made.__qualname__ = cls.__qualname__
    return made


def dataclass(
    cls=None,
    /,
    *,
    init=True,
    repr=True,
    eq=True,
    order=False,
    unsafe_hash=False,
    frozen=False,
    match_args=True,
    kw_only=False,
    slots=False,
    weakref_slot=False,
):
    def wrap(cls):
        return _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only, slots)

    return wrap if cls is None else wrap(cls)


def fields(class_or_instance):
    try:
        fields_ = getattr(class_or_instance, "__dataclass_fields__")
    except AttributeError:
        raise TypeError("must be called with a dataclass type or instance") from None
    return tuple(f for f in fields_.values() if f._field_type is _FIELD)


def is_dataclass(obj):
    return hasattr(obj if isinstance(obj, type) else type(obj), "__dataclass_fields__")


def _is_instance(obj):
    return hasattr(type(obj), "__dataclass_fields__")


def _inner(obj, dict_factory, as_tuple):
    if _is_instance(obj):
        items = [(f.name, _inner(getattr(obj, f.name), dict_factory, as_tuple)) for f in fields(obj)]
        return dict_factory([v for k, v in items]) if as_tuple else dict_factory(items)
    if isinstance(obj, tuple) and hasattr(obj, "_fields"):
        return type(obj)(*[_inner(v, dict_factory, as_tuple) for v in obj])
    if isinstance(obj, (list, tuple)):
        return type(obj)([_inner(v, dict_factory, as_tuple) for v in obj])
    if isinstance(obj, dict):
        return type(obj)((_inner(k, dict_factory, as_tuple), _inner(v, dict_factory, as_tuple)) for k, v in obj.items())
    return copy.deepcopy(obj)


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return _inner(obj, dict_factory, False)


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return _inner(obj, tuple_factory, True)


def replace(obj, /, **changes):
    if not _is_instance(obj):
        raise TypeError("replace() should be called on dataclass instances")
    for f in getattr(obj, "__dataclass_fields__").values():
        if f._field_type is _FIELD_CLASSVAR:
            continue
        if not f.init:
            if f.name in changes:
                raise ValueError(f"field {f.name} is declared with init=False, it cannot be specified with replace()")
            continue
        if f.name not in changes:
            if f._field_type is _FIELD_INITVAR and f.default is MISSING:
                raise ValueError(f"InitVar {f.name!r} must be specified with replace()")
            changes[f.name] = getattr(obj, f.name)
    return obj.__class__(**changes)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **kwargs):
    namespace = dict(namespace or {})
    annotations = {}
    for item in fields:
        if isinstance(item, str):
            name, type_ = item, "typing.Any"
        elif len(item) == 2:
            name, type_ = item
        else:
            name, type_, namespace[item[0]] = item
        annotations[name] = type_
    namespace["__annotations__"] = annotations
    return dataclass(type(cls_name, bases, namespace), **kwargs)
