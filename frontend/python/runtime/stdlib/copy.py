import _cobra
from copyreg import dispatch_table


class Error(Exception):
    pass


error = Error

_atomic = (
    type(None),
    int,
    float,
    bool,
    complex,
    str,
    bytes,
    type,
    range,
    slice,
    type(Ellipsis),
    type(NotImplemented),
    type(lambda: 0),
    _cobra.builtin_function,
    _cobra.method_descriptor,
    property,
    staticmethod,
    classmethod,
    _cobra.module,
    _cobra.generic_alias,
    _cobra.union_type,
    _cobra.opaque,
    _cobra.code,
)
_exact_atomic = set(_atomic)


def _is_atomic(cls):
    return cls in _exact_atomic or issubclass(cls, type)


def copy(x):
    y = _cobra.copy_plain(x)
    if y is not None:
        return y
    cls = type(x)
    if _is_atomic(cls):
        return x
    hook = getattr(cls, "__copy__", None)
    if hook is not None:
        return hook(x)
    if cls is list or cls is dict or cls is set:
        return x.copy()
    if cls is tuple or cls is frozenset:
        return x
    reduced = _reduced(x, cls)
    if reduced is not None:
        return x if isinstance(reduced, str) else _reconstruct(reduced, None)
    return _rebuild(x, cls, lambda v: v)


def _reduced(x, cls):
    """What the class's own __reduce_ex__ or __reduce__ says; None if it has none."""
    for name, args in (("__reduce_ex__", (4,)), ("__reduce__", ())):
        if getattr(cls, name, None) is getattr(object, name, None):
            continue
        for c in cls.__mro__:
            if name in c.__dict__ and not _cobra.is_native_class(c):
                return getattr(x, name)(*args)
    return None


def _reconstruct(reduced, memo):
    deep = memo is not None
    function, args, state, items, pairs = (tuple(reduced) + (None,) * 3)[:5]
    if deep:
        args = tuple([deepcopy(a, memo) for a in args])
    y = function(*args)
    if state is not None:
        if deep:
            state = deepcopy(state, memo)
        _set_state(y, state)
    if items is not None:
        for v in items:
            y.append(deepcopy(v, memo) if deep else v)
    if pairs is not None:
        for k, v in pairs:
            y[deepcopy(k, memo) if deep else k] = deepcopy(v, memo) if deep else v
    return y


def _set_state(y, state):
    if hasattr(type(y), "__setstate__"):
        y.__setstate__(state)
        return
    slots = None
    if isinstance(state, tuple) and len(state) == 2:
        state, slots = state
    if state is not None:
        y.__dict__.update(state)
    for k, v in (slots or {}).items():
        setattr(y, k, v)


def _rebuild(x, cls, convert, memo=None):
    if isinstance(x, (list, dict, set)):
        y = _cobra.empty_like(x)
        if memo is not None:
            memo[id(x)] = y
        if isinstance(x, list):
            list.extend(y, [convert(v) for v in x])
        elif isinstance(x, dict):
            for k, v in dict.items(x):
                dict.__setitem__(y, convert(k), convert(v))
        else:
            for v in x:
                set.add(y, convert(v))
    elif isinstance(x, tuple):
        y = tuple.__new__(cls, [convert(v) for v in x])
    elif isinstance(x, (int, float, str, frozenset)):
        if isinstance(x, (int, float, str)):
            y = x if not hasattr(x, "__dict__") else cls.__new__(cls, x)
        else:
            y = frozenset.__new__(cls, [convert(v) for v in x])
    else:
        y = _cobra.copy_instance(x)
        if memo is not None:
            memo[id(x)] = y
    if hasattr(cls, "__getstate__"):
        state = x.__getstate__()
        if state is not None:
            _set_state(y, convert(state))
        return y
    attrs = _cobra.attrs(x)
    if attrs is not None:
        if hasattr(cls, "__setstate__"):
            y.__setstate__({k: convert(v) for k, v in attrs.items()})
        else:
            _cobra.set_attrs(y, {k: convert(v) for k, v in attrs.items()})
    return y


def deepcopy(x, memo=None, _nil=[]):
    cls = type(x)
    if _is_atomic(cls):
        return x
    if memo is None:
        memo = {}
    d = id(x)
    y = memo.get(d, _nil)
    if y is not _nil:
        return y
    if cls is list:
        y = []
        memo[d] = y
        for a in x:
            y.append(deepcopy(a, memo))
    elif cls is dict:
        y = {}
        memo[d] = y
        for k, v in x.items():
            y[deepcopy(k, memo)] = deepcopy(v, memo)
    elif cls is tuple:
        y = tuple([deepcopy(a, memo) for a in x])
        y = memo.get(d, y)
        for j, k in zip(x, y):
            if j is not k:
                break
        else:
            y = x
    else:
        hook = getattr(x, "__deepcopy__", None)
        if hook is not None:
            y = hook(memo)
        elif cls is set or cls is frozenset:
            y = cls([deepcopy(a, memo) for a in x])
        elif cls.__name__ == "method" and hasattr(x, "__func__"):
            y = type(x)(x.__func__, deepcopy(x.__self__, memo))
        else:
            reduced = _reduced(x, cls)
            if reduced is None:
                y = _rebuild(x, cls, lambda v: deepcopy(v, memo), memo)
            else:
                y = x if isinstance(reduced, str) else _reconstruct(reduced, memo)
    if y is not x:
        memo[d] = y
    return y


def replace(obj, /, **changes):
    return type(obj).__replace__(obj, **changes)


# Since Python 3.13.
def replace(obj, /, **changes):
    function = getattr(type(obj), "__replace__", None)
    if function is None and hasattr(type(obj), "__dataclass_fields__"):
        import dataclasses

        function = dataclasses.replace
    if function is None and hasattr(type(obj), "_replace"):
        function = type(obj)._replace
    if function is None:
        raise TypeError(f"replace() does not support {type(obj).__name__} objects")
    return function(obj, **changes)
