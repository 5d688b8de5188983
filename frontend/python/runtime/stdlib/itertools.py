from _itertools import chain, count, cycle, islice, repeat


def product(*iterables, repeat=1):
    pools = [tuple(p) for p in iterables] * repeat
    result = [()]
    for pool in pools:
        result = [x + (y,) for x in result for y in pool]
    return iter(result)


def permutations(iterable, r=None):
    pool = tuple(iterable)
    n = len(pool)
    r = n if r is None else r
    result = []

    def extend(chosen, left):
        if len(chosen) == r:
            result.append(tuple(pool[i] for i in chosen))
            return
        for i in left:
            extend(chosen + (i,), tuple(j for j in left if j != i))
    if r <= n:
        extend((), tuple(range(n)))
    return iter(result)


def combinations(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    result = []

    def extend(chosen, start):
        if len(chosen) == r:
            result.append(chosen)
            return
        for i in range(start, n):
            extend(chosen + (pool[i],), i + 1)
    if r <= n:
        extend((), 0)
    return iter(result)


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    result = []

    def extend(chosen, start):
        if len(chosen) == r:
            result.append(chosen)
            return
        for i in range(start, len(pool)):
            extend(chosen + (pool[i],), i)
    extend((), 0)
    return iter(result)


_missing = object()


def accumulate(iterable, func=None, *, initial=None):
    it = iter(iterable)
    total = initial
    if initial is None:
        total = next(it, _missing)
        if total is _missing:
            return
    yield total
    for element in it:
        total = total + element if func is None else func(total, element)
        yield total


def starmap(function, iterable):
    return (function(*args) for args in iterable)


def takewhile(predicate, iterable):
    for x in iterable:
        if not predicate(x):
            return
        yield x


def dropwhile(predicate, iterable):
    it = iter(iterable)
    for x in it:
        if not predicate(x):
            yield x
            break
    yield from it


def filterfalse(predicate, iterable):
    return (x for x in iterable if not (x if predicate is None else predicate(x)))


def compress(data, selectors):
    return (d for d, s in zip(data, selectors) if s)


def pairwise(iterable):
    items = list(iterable)
    return zip(items, items[1:])


def zip_longest(*iterables, fillvalue=None):
    columns = [list(x) for x in iterables]
    n = max((len(c) for c in columns), default=0)
    return iter([tuple(c[i] if i < len(c) else fillvalue for c in columns) for i in range(n)])


def tee(iterable, n=2):
    items = list(iterable)
    return tuple(iter(items) for _ in range(n))


class groupby:
    def __init__(self, iterable, key=None):
        self._it = iter(iterable)
        self._key = key if key is not None else (lambda x: x)
        self._pending = next(self._it, _missing)
        self._group = None

    def __iter__(self):
        return self

    def __next__(self):
        if self._group is not None:
            for _ in self._group:
                pass
        if self._pending is _missing:
            raise StopIteration
        key = self._key(self._pending)
        self._group = self._items(key)
        return key, self._group

    def _items(self, key):
        while self._pending is not _missing and self._key(self._pending) == key:
            value = self._pending
            self._pending = next(self._it, _missing)
            yield value
