import _cobra

WRAPPER_ASSIGNMENTS = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")
WRAPPER_UPDATES = ("__dict__",)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    for attr in assigned:
        try:
            value = getattr(wrapped, attr)
        except AttributeError:
            pass
        else:
            setattr(wrapper, attr, value)
    for attr in updated:
        getattr(wrapper, attr).update(getattr(wrapped, attr, {}))
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped, assigned, updated)

    return decorate


class partial:
    def __new__(cls, func, /, *args, **keywords):
        if not callable(func):
            raise TypeError("the first argument must be callable")
        if isinstance(func, partial):
            args = func.args + args
            keywords = {**func.keywords, **keywords}
            func = func.func
        self = object.__new__(cls)
        self.func = func
        self.args = args
        self.keywords = keywords
        return self

    def __init__(self, /, *args, **keywords):
        pass

    __call__ = _cobra.call_partial

    def __repr__(self):
        parts = [repr(self.func)]
        parts.extend(repr(x) for x in self.args)
        parts.extend(f"{k}={v!r}" for k, v in self.keywords.items())
        return "functools.partial(" + ", ".join(parts) + ")"

    def __deepcopy__(self, memo):
        import copy

        result = type(self)(self.func, *copy.deepcopy(self.args, memo), **copy.deepcopy(self.keywords, memo))
        memo[id(self)] = result
        return result


class partialmethod:
    def __init__(self, func, /, *args, **keywords):
        if not callable(func) and not hasattr(func, "__get__"):
            raise TypeError(f"{func!r} is not callable or a descriptor")
        if isinstance(func, partialmethod):
            func, args, keywords = func.func, func.args + args, {**func.keywords, **keywords}
        self.func = func
        self.args = args
        self.keywords = keywords

    def __repr__(self):
        args = ", ".join(map(repr, self.args))
        keywords = ", ".join(f"{k}={v!r}" for k, v in self.keywords.items())
        return f"functools.partialmethod({self.func}, {args}, {keywords})"

    def _make_unbound_method(self):
        def _method(cls_or_self, /, *args, **keywords):
            return self.func(cls_or_self, *self.args, *args, **{**self.keywords, **keywords})

        _method.__isabstractmethod__ = self.__isabstractmethod__
        _method._partialmethod = self
        return _method

    def __get__(self, obj, cls=None):
        if hasattr(self.func, "__get__") and not isinstance(self.func, partial):
            func = self.func.__get__(obj, cls)
            if func is not self.func:
                result = partial(func, *self.args, **self.keywords)
                try:
                    result.__self__ = func.__self__
                except AttributeError:
                    pass
                return result
        return self._make_unbound_method().__get__(obj, cls)

    __isabstractmethod__ = property(lambda self: getattr(self.func, "__isabstractmethod__", False))
    __class_getitem__ = classmethod(_cobra.generic_alias)


_missing = object()


def reduce(function, sequence, initial=_missing, /):
    it = iter(sequence)
    if initial is _missing:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for element in it:
        value = function(value, element)
    return value


class _CacheInfo(tuple):
    def __new__(cls, hits, misses, maxsize, currsize):
        return tuple.__new__(cls, (hits, misses, maxsize, currsize))

    hits = property(lambda self: self[0])
    misses = property(lambda self: self[1])
    maxsize = property(lambda self: self[2])
    currsize = property(lambda self: self[3])

    def __repr__(self):
        return "CacheInfo(hits=%r, misses=%r, maxsize=%r, currsize=%r)" % tuple(self)


def _cached(function, maxsize, typed):
    cache = {}
    hits = misses = 0

    def wrapper(*args, **kwargs):
        nonlocal hits, misses
        key = (args, tuple(kwargs.items())) if kwargs else args
        if typed:
            key = (key, tuple(type(a) for a in args))
        if key in cache:
            hits += 1
            value = cache[key]
            if maxsize is not None:
                del cache[key]
                cache[key] = value
            return value
        misses += 1
        value = function(*args, **kwargs)
        if maxsize is None or maxsize > 0:
            if maxsize is not None and len(cache) >= maxsize:
                del cache[next(iter(cache))]
            cache[key] = value
        return value

    def cache_clear():
        nonlocal hits, misses
        hits = misses = 0
        cache.clear()

    update_wrapper(wrapper, function)
    wrapper.cache_clear = cache_clear
    wrapper.cache_info = lambda: _CacheInfo(hits, misses, maxsize, len(cache))
    wrapper.cache_parameters = lambda: {"maxsize": maxsize, "typed": typed}
    return wrapper


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize) and isinstance(typed, bool):
        return _cached(maxsize, 128, typed)
    return lambda function: _cached(function, maxsize, typed)


def cache(function, /):
    return _cached(function, None, False)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname in instance.__dict__:
            return instance.__dict__[self.attrname]
        value = self.func(instance)
        instance.__dict__[self.attrname] = value
        return value


def cmp_to_key(mycmp):
    class K:
        __hash__ = None

        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return mycmp(self.obj, other.obj) < 0

        def __gt__(self, other):
            return mycmp(self.obj, other.obj) > 0

        def __eq__(self, other):
            return mycmp(self.obj, other.obj) == 0

        def __le__(self, other):
            return mycmp(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return mycmp(self.obj, other.obj) >= 0

    return K


def total_ordering(cls):
    roots = {
        op for op in ("__lt__", "__le__", "__gt__", "__ge__") if getattr(cls, op, None) is not getattr(object, op, None)
    }
    if not roots:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    root = max(roots)
    base = getattr(cls, root)

    def negated(self, other):
        r = base(self, other)
        return r if r is NotImplemented else not r

    def or_equal(self, other):
        r = base(self, other)
        return r if r is NotImplemented else r or self == other

    def and_not_equal(self, other):
        r = base(self, other)
        return r if r is NotImplemented else r and self != other

    def not_and_not_equal(self, other):
        r = base(self, other)
        return r if r is NotImplemented else not r and self != other

    def not_or_equal(self, other):
        r = base(self, other)
        return r if r is NotImplemented else not r or self == other

    derived = {
        "__lt__": {"__gt__": not_and_not_equal, "__le__": or_equal, "__ge__": negated},
        "__le__": {"__ge__": not_or_equal, "__lt__": and_not_equal, "__gt__": negated},
        "__gt__": {"__lt__": not_and_not_equal, "__ge__": or_equal, "__le__": negated},
        "__ge__": {"__le__": not_or_equal, "__gt__": and_not_equal, "__lt__": negated},
    }[root]
    for name, function in derived.items():
        if name not in roots:
            setattr(cls, name, function)
    return cls


def singledispatch(func):
    registry = {object: func}

    def dispatch(cls):
        for c in cls.__mro__[:-1]:
            if c in registry:
                return registry[c]
        # An abstract base class that the class counts as: the most derived one.
        found = None
        for c in registry:
            if c is not object and issubclass(cls, c) and (found is None or issubclass(c, found)):
                found = c
        return registry[object if found is None else found]

    def register(cls, func=None):
        if func is None:
            if isinstance(cls, type):
                return lambda f: register(cls, f)
            func = cls
            annotations = getattr(func, "__annotations__", {})
            if not annotations:
                raise TypeError(
                    f"Invalid first argument to `register()`: {cls!r}. Use either `@register(some_class)` or plain `@register` "
                    "on an annotated function."
                )
            import typing

            cls = next(iter(typing.get_type_hints(func).values()))
        args = getattr(cls, "__args__", ()) if not isinstance(cls, type) else ()
        for c in args or (cls,):
            registry[c] = func
        return func

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(f"{func.__name__} requires at least 1 positional argument")
        return dispatch(args[0].__class__)(*args, **kwargs)

    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = registry
    return update_wrapper(wrapper, func)


class singledispatchmethod:
    def __init__(self, func):
        self.dispatcher = singledispatch(func)
        self.func = func

    def register(self, cls, method=None):
        return self.dispatcher.register(cls, func=method)

    @property
    def __isabstractmethod__(self):
        return getattr(self.func, "__isabstractmethod__", False)

    def __get__(self, obj, cls=None):
        def method(*args, **kwargs):
            return self.dispatcher.dispatch(args[0].__class__).__get__(obj, cls)(*args, **kwargs)

        return method
