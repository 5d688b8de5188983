import functools
from functools import partial, partialmethod, wraps, reduce, lru_cache, cache, cached_property, singledispatch, singledispatchmethod, total_ordering, cmp_to_key, update_wrapper
def f(a, b=2, *c, d=4, **e): 'doc'; return a, b, c, d, e
p = partial(f, 1, d=9)
print(p(), p(5, 6, x=7), p.func is f, p.args, p.keywords, partial(p, 3)(), partial(p, d=1).keywords)
print(str(partial(int, base=2))[:40], partial(int, base=2)('101'))
class Cell:
    def set(self, v, extra=None): self.v = (v, extra); return self.v
    on = partialmethod(set, True)
    off = partialmethod(set, False, extra='e')
print(Cell().on(), Cell().off(), Cell().on(extra=1))
def deco(fn):
    @wraps(fn)
    def w(*a, **k): "inner"; return fn(*a, **k)
    return w
@deco
def g(x: int) -> str: "g doc"; return str(x)
print(g(1), g.__name__, g.__doc__, g.__wrapped__.__name__, g.__annotations__, g.__qualname__)
print(reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, [], 'init'), reduce(max, [3, 9, 2]))
try: reduce(lambda a, b: a, [])
except TypeError as e: print(e)
calls = []
@lru_cache(maxsize=2)
def sq(x): calls.append(x); return x * x
print([sq(x) for x in (1, 2, 1, 3, 1, 2)], calls, sq.cache_info(), sq.__wrapped__(4)); sq.cache_clear(); print(sq.cache_info(), sq.cache_parameters())
@lru_cache
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info().hits)
@cache
def one(a, *, k=1): calls.append('one'); return a
one(1); one(1, k=1); one(1); print(calls.count('one'))
class CP:
    n = 0
    @cached_property
    def val(self): self.n += 1; return self.n
c = CP(); print(c.val, c.val, c.__dict__, type(CP.val).__name__); del c.val; print(c.val)
class Meth:
    @lru_cache(None)
    def m(self, x): return x + 1
    @cache
    def z(self): return 'z'
print(Meth().m(1), Meth().z())
@singledispatch
def show(x, *a): return f'obj {x}'
@show.register
def _(x: int): return f'int {x}'
@show.register(list)
@show.register(tuple)
def _(x, *a): return f'seq {len(x)} {a}'
show.register(str, lambda x: 'str ' + x)
print(show(1), show(True), show([1], 2), show(()), show('s'), show(1.5), show.dispatch(bool)(True), sorted(k.__name__ for k in show.registry))
from collections.abc import Mapping
@show.register
def _(x: Mapping): return 'mapping'
print(show({}), show(None))
class SD:
    @singledispatchmethod
    def m(self, x): return 'default'
    @m.register
    def _(self, x: int): return 'int'
    @m.register(str)
    def _(self, x): return 'str'
print(SD().m(1), SD().m('a'), SD().m(None))
@total_ordering
class T:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
print(T(1) <= T(1), T(2) > T(1), T(1) >= T(2), max(T(1), T(3)).v)
print(sorted([5, 2, 9], key=cmp_to_key(lambda a, b: b - a)), sorted('bca', key=cmp_to_key(lambda a, b: (a > b) - (a < b))))
def compose(*fs): return reduce(lambda f, g: lambda x: g(f(x)), fs)
print(compose(lambda x: x + 1, str, len)(99))
try: partial(5)
except TypeError as e: print(e)
class W:
    def __call__(self): return 1
w = W(); update_wrapper(w, f); print(w.__name__, w.__doc__)
print(functools.partial(print, 'a', sep='-').keywords, callable(p), repr(functools.reduce)[:10] != '')
# ---
import itertools
from itertools import *
print(list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], lambda a, b: a * b)), list(accumulate([1, 2], initial=10)), list(chain([1], 'ab')), list(chain.from_iterable([[1], [2, 3]])))
print(list(combinations('abc', 2)), list(combinations_with_replacement('ab', 2)), list(permutations('abc', 2)), list(permutations([1, 2, 3]))[:3], list(product('ab', [1, 2])), list(product([0, 1], repeat=2)))
print(list(compress('abcd', [1, 0, 1, 0])), list(islice(count(5, 2), 3)), list(islice(cycle('ab'), 5)), list(dropwhile(lambda x: x < 3, [1, 3, 2])), list(takewhile(lambda x: x < 3, [1, 3, 2])), list(filterfalse(None, [0, 1, 2])))
print([(k, list(g)) for k, g in groupby('aabbca')], [(k, list(g)) for k, g in groupby([1, 2, 4, 5], key=lambda x: x % 2)])
print(list(islice('abcdef', 2)), list(islice('abcdef', 1, None, 2)), list(islice('abc', 0)), list(pairwise([1, 2, 3])), list(pairwise([])), list(repeat('x', 3)), list(starmap(pow, [(2, 3), (3, 2)])))
a, b = tee([1, 2, 3]); print(next(a), list(b), list(a)); print(list(zip_longest([1, 2, 3], 'a', fillvalue='-')), list(zip_longest()))
print(list(islice(count(0.5, 0.25), 3)), next(count()), list(combinations([], 0)), list(product()), list(permutations([1], 2)), list(combinations('ab', 3)))
g = groupby('aab'); k, it = next(g); next(g); print(list(it))
def noisy():
    for i in range(3): print('n', i); yield i
t = takewhile(lambda x: x < 1, noisy()); print(list(t))
for x, y in zip_longest(noisy(), [1]): print(x, y); break
x, y = tee(noisy()); print(next(x), next(y))
for p in pairwise(noisy()): print(p); break
print(list(accumulate('abc')), list(accumulate([], initial=1)), list(zip(count(), 'ab')), list(map(lambda a, b: a + b, [1, 2], [3, 4, 5])), list(filter(None, [0, 1, '', 'a'])))
for bad in (lambda: islice([], -1), lambda: list(combinations([1], -1)), lambda: product(repeat=-1), lambda: zip([1], [2, 3], strict=True).__class__ and list(zip([1], [2, 3], strict=True)), lambda: list(zip([1, 2], [3], strict=True))):
    try: print(list(bad()))
    except Exception as e: print(type(e).__name__, e)
print(type(chain()).__name__, type(count()).__name__, type(product()).__name__)
r = repeat(5); print(next(r), next(r)); print(sum(1 for _ in product(range(10), repeat=3)))
# ---
from collections import *
import collections
c = Counter('abracadabra'); print(c, c.most_common(2), c['z'], sum(c.values()), list(c.elements())[:5], c.total()); c.update('aaa'); c.subtract({'b': 5}); print(c, +c, -c, c - Counter(a=2), c & Counter(a=1, r=9), c | Counter(a=100), Counter(a=1) + Counter(a=2, b=-1), Counter([1, 1, 2]).most_common(), Counter(a=1) == Counter({'a': 1}), Counter(x=0, y=1) <= Counter(y=1))
d = defaultdict(list); d['a'].append(1); d['b']; print(d, dict(d), d.default_factory, d.get('zz'), 'zz' in d); n = defaultdict(lambda: defaultdict(int)); n['x']['y'] += 1; print(n['x']['y'], defaultdict(int, {'a': 1}), d.copy())
try: defaultdict(None)['q']
except KeyError as e: print('KeyError', e)
o = OrderedDict([('a', 1), ('b', 2), ('c', 3)]); o.move_to_end('a'); print(o, list(o), o.popitem(), o.popitem(last=False), o == {'c': 3}, OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), dict(a=1, b=2) == OrderedDict(b=2, a=1), list(reversed(OrderedDict(x=1, y=2)))); o.move_to_end('c', last=False)
q = deque([1, 2, 3], maxlen=4); q.append(4); q.append(5); q.appendleft(0); print(q, q.maxlen, len(q), q[0], q[-1], list(q)); q.rotate(1); print(q); q.rotate(-2); print(q, q.pop(), q.popleft()); q.extend([7, 8]); q.extendleft([9]); print(q, 7 in q, q.count(7), q.index(7), list(reversed(q))); q.remove(7); q.insert(1, 'i'); print(q, q == deque(list(q))); q.reverse(); print(q); q.clear(); print(q, bool(q), deque('ab') + deque('c'), deque([1]) * 2, deque([1, 2]) < deque([3]))
try: deque().pop()
except IndexError as e: print(e)
m = ChainMap({'a': 1}, {'a': 2, 'b': 3}); print(m['a'], m['b'], list(m), len(m), m.maps, m.new_child({'c': 1})['c'], m.parents['a'], dict(m)); m['z'] = 9; print(m.maps[0])
class UD(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
u = UD(a=1); u['b'] = 2; print(u, u.data, 'a' in u, len(u), dict(u)); ul = UserList([3, 1]); ul.sort(); print(ul, ul[0], ul + [5], len(ul)); us = UserString('abc'); print(us.upper(), us[0], len(us))
del d['a']; print(d); del q
print(isinstance(c, dict), isinstance(o, dict), issubclass(defaultdict, dict), collections.abc.Mapping.__name__)
od = OrderedDict(); od['z'] = 1; od['a'] = 2; od['z'] = 3; print(list(od.items()), od.pop('z'), od.get('q'), od.setdefault('n', 4), od.copy(), repr(OrderedDict()))
print(Counter(dict(a=3)).pop('a'), Counter('ab') | {'a': 1} if False else '', dict(Counter('aab').items()), max(Counter('aab'), key=Counter('aab').get))
d = deque(range(5)); d.rotate(2); print(d, d[1:3] if False else d[1]); d[1] = 'x'; del d[0]; print(d, d.copy())
