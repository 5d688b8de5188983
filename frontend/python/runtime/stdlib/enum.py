class _Auto:
    def __init__(self):
        self.value = None

    def __or__(self, other):
        return _AutoExpression(lambda v: v(self) | v(other))

    def __ror__(self, other):
        return _AutoExpression(lambda v: v(other) | v(self))


class _AutoExpression:
    def __init__(self, f):
        self.f = f

    def __or__(self, other):
        return _AutoExpression(lambda v: v(self) | v(other))


auto = _Auto


class nonmember:
    def __init__(self, value):
        self.value = value


class member:
    def __init__(self, value):
        self.value = value


class property(property):
    pass


class DynamicClassAttribute(property):
    pass


def _is_descriptor(obj):
    if isinstance(obj, type):
        return False
    return hasattr(obj, "__get__") or hasattr(obj, "__set__") or hasattr(obj, "__delete__")


def _is_dunder(name):
    return len(name) > 4 and name[:2] == name[-2:] == "__" and name[2] != "_" and name[-3] != "_"


def _is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1] != "_" and name[-2] != "_"


def _is_private(cls_name, name):
    return name.startswith(f'_{cls_name.lstrip("_")}__') and not name.endswith("__")


Flag = ()  # until its class statement below: no class derives from it yet


ReprEnum = None


class EnumMeta(type):
    def __new__(metacls, cls_name, bases, classdict, *, boundary=None, _simple=False, **kwds):
        if boundary is not None:
            classdict = {**classdict, "_boundary_": boundary}
        if not bases or metacls is EnumMeta and cls_name == "Enum":
            return type.__new__(metacls, cls_name, bases, classdict, **kwds)
        for base in bases:
            if isinstance(base, EnumMeta) and base.__dict__.get("_member_names_"):
                raise TypeError(f"<enum {cls_name!r}> cannot extend <enum {base.__name__!r}>")
        ignore = classdict.get("_ignore_", [])
        if isinstance(ignore, str):
            ignore = ignore.replace(",", " ").split()
        members, rest = {}, {}
        for key, value in classdict.items():
            if key in ignore or key == "_ignore_":
                continue
            if isinstance(value, nonmember):
                rest[key] = value.value
            elif isinstance(value, member):
                members[key] = value.value
            elif _is_dunder(key) or _is_sunder(key) or _is_private(cls_name, key) or _is_descriptor(value):
                rest[key] = value
            else:
                members[key] = value
        if "mro" in members:
            raise ValueError("invalid enum member name(s) 'mro'")
        data_type = object
        for base in bases:
            for c in base.__mro__:
                if c is not object and not isinstance(c, EnumMeta) and data_type is object:
                    if (
                        issubclass(c, (int, str, float, bytes, tuple, list, dict))
                        or "__new__" in c.__dict__
                        or "__dataclass_fields__" in c.__dict__
                    ):
                        data_type = c
        cls = type.__new__(metacls, cls_name, bases, rest, **kwds)
        first_enum = bases[-1]
        if ReprEnum is not None and ReprEnum in bases:
            if "__format__" not in rest:
                cls.__format__ = data_type.__format__
                rest["__format__"] = cls.__format__
            if "__str__" not in rest:
                method = data_type.__str__
                cls.__str__ = data_type.__repr__ if method is object.__str__ else method
                rest["__str__"] = cls.__str__
        for name in ("__repr__", "__str__", "__format__", "__reduce_ex__"):
            if name not in rest:
                found = getattr(cls, name)
                if found is getattr(data_type, name) or found is getattr(object, name):
                    setattr(cls, name, getattr(first_enum, name))
        cls._member_names_ = []
        cls._member_map_ = {}
        cls._value2member_map_ = {}
        cls._unhashable_values_ = []
        cls._member_type_ = data_type
        if "__new__" in rest:
            cls._new_member_ = cls.__dict__["__new__"]
        cls.__new__ = Enum.__new__
        use_new = None
        for c in cls.__mro__:
            if "_new_member_" in c.__dict__:
                use_new = c.__dict__["_new_member_"]
                break
        last_values = []
        for name, value in members.items():
            value = _resolve_auto(cls, name, value, last_values)
            args = value if isinstance(value, tuple) else (value,)
            if use_new is not None:
                obj = use_new(cls, *args)
                if not hasattr(obj, "_value_"):
                    obj._value_ = value if data_type is object else data_type(*args)
            elif data_type is object:
                obj = object.__new__(cls)
                obj._value_ = value
            else:
                args = args if data_type is not tuple else (args,)
                obj = data_type.__new__(cls, *args) if data_type.__new__ is not object.__new__ else object.__new__(cls)
                if not hasattr(obj, "_value_"):
                    obj._value_ = value if data_type.__new__ is object.__new__ else data_type(*args)
            value = obj._value_
            obj._name_ = name
            obj.__objclass__ = cls
            obj._sort_order_ = len(cls._member_names_)
            init = cls.__init__
            if init is not object.__init__ and init is not Enum.__dict__.get("__init__"):
                if (
                    data_type is object
                    or "__init__" in rest
                    or data_type.__dict__.get("__dataclass_fields__") is not None
                    or any("__init__" in c.__dict__ for c in cls.__mro__ if isinstance(c, EnumMeta) and c is not Enum)
                ):
                    init(obj, *args)
            last_values.append(value)
            alias = None
            for other in cls._member_map_.values():
                if other._value_ == value:
                    alias = other
                    break
            if alias is not None:
                obj = alias
            elif not issubclass(cls, Flag) or _single_bit(value):
                cls._member_names_.append(name)
            cls._member_map_[name] = obj
            type.__setattr__(cls, name, obj)
            try:
                cls._value2member_map_.setdefault(value, obj)
            except TypeError:
                cls._unhashable_values_.append((value, obj))
        return cls

    def __init__(cls, *args, **kwds):
        pass

    def __call__(cls, value, names=None, *, module=None, qualname=None, type=None, start=1, boundary=None):
        if names is None:
            return cls.__new__(cls, value)
        if isinstance(names, str):
            names = names.replace(",", " ").split()
        if isinstance(names, (tuple, list)) and names and isinstance(names[0], str):
            names = [(n, i + start) for i, n in enumerate(names)]
        if isinstance(names, dict):
            names = list(names.items())
        namespace = {}
        for name, member_value in names:
            namespace[name] = member_value
        bases = (cls,) if type is None else (type, cls)
        return cls.__class__.__new__(cls.__class__, value, bases, namespace)

    def __contains__(cls, obj):
        if not isinstance(obj, Enum):
            raise TypeError(
                f"unsupported operand type(s) for 'in': {obj.__class__.__qualname__!r} and {cls.__class__.__qualname__!r}"
            )
        return isinstance(obj, cls) and obj._name_ in cls._member_map_

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __getattr__(cls, name):
        raise AttributeError(name) from None

    def __iter__(cls):
        return (cls._member_map_[name] for name in cls._member_names_)

    def __reversed__(cls):
        return (cls._member_map_[name] for name in reversed(cls._member_names_))

    def __len__(cls):
        return len(cls._member_names_)

    def __bool__(cls):
        return True

    def __repr__(cls):
        return (
            f'<{"flag" if issubclass(cls, Flag) else "enum"} {cls.__name__!r}>'
            if cls.__name__ != "Enum"
            else "<enum 'Enum'>"
        )

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_member_map_", {}):
            raise AttributeError(f"cannot reassign member {name!r}")
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        if name in cls.__dict__.get("_member_map_", {}):
            raise AttributeError(f"{cls.__name__!r} cannot delete member {name!r}.")
        super().__delattr__(name)

    def __dir__(cls):
        found = {
            "__class__",
            "__contains__",
            "__doc__",
            "__getitem__",
            "__init_subclass__",
            "__iter__",
            "__len__",
            "__members__",
            "__module__",
            "__name__",
            "__qualname__",
            *cls.__dict__.get("_member_names_", ()),
        }
        if "_new_member_" in cls.__dict__:
            found.add("__new__")
        data_type = cls.__dict__.get("_member_type_", object)
        return sorted(found if data_type is object else found | set(dir(data_type)))

    @property
    def __members__(cls):
        return dict(cls._member_map_)


EnumType = EnumMeta


def _resolve_auto(cls, name, value, last_values):
    def resolve(v):
        if isinstance(v, _Auto):
            if v.value is None:
                v.value = cls._generate_next_value_(name, 1, len(last_values), last_values[:])
            return v.value
        if isinstance(v, _AutoExpression):
            return v.f(resolve)
        return v

    if isinstance(value, tuple) and any(isinstance(v, _Auto) for v in value):
        return tuple(resolve(v) for v in value)
    return resolve(value)


def _single_bit(value):
    return not isinstance(value, int) or (value > 0 and value & (value - 1) == 0)


class Enum(metaclass=EnumMeta):
    def __new__(cls, value):
        if type(value) is cls:
            return value
        try:
            if value in cls._value2member_map_:
                return cls._value2member_map_[value]
        except TypeError:
            pass
        for known, found in cls._unhashable_values_:
            if known == value:
                return found
        result = cls._missing_(value)
        if isinstance(result, cls):
            return result
        if result is None:
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        raise TypeError(f"error in {cls.__name__}._missing_: returned {result!r} instead of None or a valid member")

    def __init__(self, *args, **kwds):
        pass

    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start
        try:
            return sorted(last_values)[-1] + 1
        except TypeError:
            for v in reversed(last_values):
                try:
                    return v + 1
                except TypeError:
                    pass
            return start

    @classmethod
    def _missing_(cls, value):
        return None

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __repr__(self):
        shown = self._value_
        return f"<{self.__class__.__name__}.{self._name_}: {shown!r}>"

    def __str__(self):
        return f"{self.__class__.__name__}.{self._name_}"

    def __format__(self, spec):
        return str.__format__(str(self), spec)

    def __hash__(self):
        return hash(self._name_)

    def __dir__(self):
        cls = self.__class__
        found = set() if cls._member_type_ is object else set(object.__dir__(self))
        found.update(name for name in self.__dict__ if name[0] != "_")
        for c in cls.__mro__:
            found.update(name for name in c.__dict__ if name[0] != "_")
        return sorted({"__class__", "__doc__", "__eq__", "__hash__", "__module__"} | found | set(cls._member_map_))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, proto):
        return self.__class__, (self._value_,)


class ReprEnum(Enum):
    pass


class IntEnum(int, ReprEnum):
    def __str__(self):
        return int.__repr__(self)

    def __format__(self, spec):
        return int.__format__(self, spec)


class StrEnum(str, ReprEnum):
    def __new__(cls, *values):
        for v in values:
            if not isinstance(v, str):
                raise TypeError(f"{v!r} is not a string")
        value = str(*values)
        obj = str.__new__(cls, value)
        obj._value_ = value
        return obj

    def __str__(self):
        return str.__str__(self)

    def __format__(self, spec):
        return str.__format__(self, spec)

    def _generate_next_value_(name, start, count, last_values):
        return name.lower()


class FlagBoundary(StrEnum):
    STRICT = auto()
    CONFORM = auto()
    EJECT = auto()
    KEEP = auto()


STRICT, CONFORM, EJECT, KEEP = FlagBoundary.STRICT, FlagBoundary.CONFORM, FlagBoundary.EJECT, FlagBoundary.KEEP


class Flag(Enum):
    _boundary_ = CONFORM

    def _generate_next_value_(name, start, count, last_values):
        if not last_values:
            return start if start is not None else 1
        return 2 ** max(last_values).bit_length() if max(last_values) > 0 else 1

    @classmethod
    def _all_bits(cls):
        bits = 0
        for m in cls._member_map_.values():
            bits |= m._value_
        return bits

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            raise ValueError(f"{value!r} is not a valid {cls.__qualname__}")
        mask = cls._all_bits()
        bits = (1 << mask.bit_length()) - 1
        boundary = cls._boundary_
        if not ~bits <= value <= bits or value & (bits ^ mask):
            if boundary is STRICT:
                width = max(value.bit_length(), bits.bit_length())
                raise ValueError(
                    f"{cls!r} invalid value {value!r}\n    given {value:#0{width + 2}b}\n  allowed {mask:#0{width + 2}b}"
                )
            if boundary is EJECT:
                return value
            if boundary is CONFORM:
                value &= mask
            elif value < 0:
                value = max(bits + 1, 1 << value.bit_length()) + value
        if value < 0:
            value += bits + 1
        if value in cls._value2member_map_:
            return cls._value2member_map_[value]
        obj = int.__new__(cls, value) if issubclass(cls, int) else object.__new__(cls)
        obj._value_ = value
        names = [m._name_ for m in cls if m._value_ & value == m._value_ and m._value_]
        obj._name_ = "|".join(names) if names else None
        cls._value2member_map_[value] = obj
        return obj

    def _raw(self, other):
        if isinstance(other, self.__class__):
            return other._value_
        if isinstance(self, int) and isinstance(other, int):
            return int(other)
        return None

    def __or__(self, other):
        v = self._raw(other)
        return NotImplemented if v is None else self.__class__(self._value_ | v)

    def __and__(self, other):
        v = self._raw(other)
        return NotImplemented if v is None else self.__class__(self._value_ & v)

    def __xor__(self, other):
        v = self._raw(other)
        return NotImplemented if v is None else self.__class__(self._value_ ^ v)

    def __invert__(self):
        if self._boundary_ is KEEP:
            return self.__class__(-self._value_ - 1)
        return self.__class__(self._all_bits() & ~self._value_)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def __contains__(self, other):
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        return (m for m in self.__class__ if m._value_ & self._value_ == m._value_ and m._value_)

    def __len__(self):
        return bin(self._value_).count("1")

    def __bool__(self):
        return bool(self._value_)

    def __repr__(self):
        if self._name_ is None:
            return f"<{self.__class__.__name__}: {self._value_!r}>"
        return f"<{self.__class__.__name__}.{self._name_}: {self._value_!r}>"

    def __str__(self):
        if self._name_ is None:
            return f"{self.__class__.__name__}({self._value_!r})"
        return f"{self.__class__.__name__}.{self._name_}"


class IntFlag(int, ReprEnum, Flag):
    _boundary_ = KEEP
    __or__ = __ror__ = Flag.__or__
    __and__ = __rand__ = Flag.__and__
    __xor__ = __rxor__ = Flag.__xor__
    __invert__ = Flag.__invert__

    def __str__(self):
        return int.__repr__(self)

    def __format__(self, spec):
        return int.__format__(self, spec)


def unique(enumeration):
    duplicates = [f"{name} -> {m.name}" for name, m in enumeration.__members__.items() if name != m.name]
    if duplicates:
        raise ValueError(f'duplicate values found in {enumeration!r}: {", ".join(duplicates)}')
    return enumeration


class EnumCheck(StrEnum):
    CONTINUOUS = "no skipped integer values"
    NAMED_FLAGS = "multi-flag aliases may not contain unnamed flags"
    UNIQUE = "one name per value"


CONTINUOUS, NAMED_FLAGS, UNIQUE = EnumCheck.CONTINUOUS, EnumCheck.NAMED_FLAGS, EnumCheck.UNIQUE


def verify(*checks):
    def check(enumeration):
        if UNIQUE in checks:
            unique(enumeration)
        if CONTINUOUS in checks:
            values = sorted(m.value for m in enumeration)
            if values:
                wanted = range(values[0], values[-1] + 1)
                if issubclass(enumeration, Flag):
                    wanted = [1 << i for i in range(values[0].bit_length() - 1, values[-1].bit_length())]
                missing = [v for v in wanted if v not in values]
                if missing:
                    kind = "flag" if issubclass(enumeration, Flag) else "enum"
                    raise ValueError(
                        f'invalid {kind} {enumeration.__name__!r}: missing values {", ".join(str(m) for m in missing)}'
                    )
        return enumeration

    return check


def show_flag_values(value):
    value = int(value)
    return [1 << i for i in range(value.bit_length()) if value >> i & 1]


def global_str(self):
    return self._name_ if self._name_ is not None else f"{self.__class__.__name__}({self._value_!r})"


def global_enum(cls, update_str=False):
    return cls
