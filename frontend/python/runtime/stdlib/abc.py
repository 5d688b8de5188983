def abstractmethod(funcobj):
    try:
        funcobj.__isabstractmethod__ = True
    except AttributeError:
        pass
    return funcobj


class abstractproperty(property):
    __isabstractmethod__ = True


class abstractclassmethod(classmethod):
    __isabstractmethod__ = True


class abstractstaticmethod(staticmethod):
    __isabstractmethod__ = True


def _is_abstract(value):
    if getattr(value, "__isabstractmethod__", False):
        return True
    if isinstance(value, property):
        return any(getattr(f, "__isabstractmethod__", False) for f in (value.fget, value.fset, value.fdel))
    if isinstance(value, (classmethod, staticmethod)):
        return getattr(value.__func__, "__isabstractmethod__", False)
    return False


_registrations = [0]


class ABCMeta(type):
    def __new__(mcls, name, bases, namespace, /, **kwargs):
        cls = super().__new__(mcls, name, bases, namespace, **kwargs)
        abstracts = {key for key, value in namespace.items() if _is_abstract(value)}
        for base in bases:
            for key in getattr(base, "__abstractmethods__", ()):
                value = getattr(cls, key, None)
                if getattr(value, "__isabstractmethod__", False) or _is_abstract(_raw(cls, key)):
                    abstracts.add(key)
        cls.__abstractmethods__ = frozenset(abstracts)
        cls._abc_registry = []
        cls._abc_cache = {}
        return cls

    def register(cls, subclass):
        cls._abc_registry.append(subclass)
        _registrations[0] += 1
        return subclass

    def __instancecheck__(cls, instance):
        return cls.__subclasscheck__(type(instance))

    def __subclasscheck__(cls, subclass):
        # As in CPython, an answer holds until somebody registers a class.
        cached = cls._abc_cache.get(subclass)
        if cached is None or cached[1] != _registrations[0]:
            cached = cls._abc_cache[subclass] = (cls._check_subclass(subclass), _registrations[0])
        return cached[0]

    def _check_subclass(cls, subclass):
        if cls in subclass.__mro__:
            return True
        hook = cls.__subclasshook__(subclass)
        if hook is not NotImplemented:
            return hook
        for c in cls.__dict__.get("_abc_registry", ()):
            if issubclass(subclass, c):
                return True
        for c in cls.__subclasses__():
            if issubclass(subclass, c):
                return True
        return False


def _raw(cls, key):
    for c in cls.__mro__:
        if key in c.__dict__:
            return c.__dict__[key]
    return None


class ABC(metaclass=ABCMeta):
    __slots__ = ()


def get_cache_token():
    return 0


def update_abstractmethods(cls):
    return cls
