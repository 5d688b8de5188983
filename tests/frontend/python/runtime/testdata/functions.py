def f(a, b=2, *args, c, d=4, **kw):
    return a, b, args, c, d, kw
print(f(1, c=3), f(1, 5, 6, 7, c=3, d=8, e=9), f(*[1, 2, 3], **{'c': 4, 'z': 5}), f(c=1, a=2))
def g(a, /, b, *, c=1): return a, b, c
print(g(1, 2), g(1, b=2, c=3))
def check(fn):
    try:
        print(fn())
    except Exception as e:
        print(type(e).__name__, e)
check(lambda: f())
check(lambda: f(1))
check(lambda: f(1, 2, b=3, c=4))
check(lambda: g(a=1, b=2))
check(lambda: g(1))
check(lambda: g(1, 2, 3))
check(lambda: g(1, 2, d=3))
check(lambda: (lambda a, b, c: 0)(1))
check(lambda: (lambda a, *, b, c: 0)(1))
check(lambda: f(1, c=1, **{'c': 2}))
check(lambda: f(1, *5, c=1))
check(lambda: f(1, **5))
def h(x, acc=[]):
    acc.append(x)
    return acc
print(h(1), h(2), h.__defaults__, f.__kwdefaults__, h.__name__, h.__qualname__)
h.attr = 5; print(h.attr, h.__dict__)
print((lambda *a, **k: (a, k))(1, 2, x=3), f.__code__.co_varnames, f.__code__.co_argcount)
def doc():
    """The doc."""
print(doc.__doc__, f.__doc__, doc.__module__)
def ann(a: int, b: 'str' = 'x') -> float: ...
print(ann.__annotations__)
# ---
# Closures.
def counter():
    n = 0
    def inc(k=1):
        nonlocal n
        n += k
        return n
    def get(): return n
    return inc, get
inc, get = counter()
inc(); inc(5); print(get())
fs = [lambda: i for i in range(3)]; print([f() for f in fs])
fs = [lambda i=i: i for i in range(3)]; print([f() for f in fs])
def outer(x):
    def mid():
        def inner():
            return x
        return inner
    return mid()()
print(outer(5))
x = 'global'
def a():
    x = 'a'
    def b():
        global x
        x = 'changed'
        return x
    return b(), x
print(a(), x)
def late():
    def use(): return value
    value = 3
    return use()
print(late())
def unbound():
    try:
        print(y)
    except UnboundLocalError as e:
        print(type(e).__name__, e)
    y = 1
unbound()
def free():
    def use(): return value
    try:
        use()
    except NameError as e:
        print(type(e).__name__, e)
    value = 3
free()
def comp(n):
    return [[x * y for y in range(x)] for x in range(n)], {k: v for k, v in zip('abc', range(3))}, {x % 3 for x in range(10)}
print(comp(4))
def comp_closure():
    fns = [lambda: (a, b) for a in range(2) for b in range(2)]
    return [f() for f in fns]
print(comp_closure())
def delete():
    z = 1
    del z
    try:
        z
    except UnboundLocalError as e:
        print('deleted')
delete()
print([y for x in [[1, 2], [3]] for y in x if y != 2], list(x for x in range(3)))
class C:
    items = [1, 2]
    doubled = [i * 2 for i in items]
print(C.doubled)
def rec(n): return 1 if n == 0 else n * rec(n - 1)
print(rec(20), rec(30))
def walrus():
    data = [1, 2, 3]
    return [last := d for d in data], last
print(walrus())
def loc(a, b=2):
    c = 3
    return sorted(locals().items())
print(loc(1))
# ---
# Decorators.
import functools
def deco(tag):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            print(tag, fn.__name__, args, kwargs)
            return fn(*args, **kwargs)
        return inner
    return wrap
@deco('outer')
@deco('inner')
def add(a, b=1):
    """Adds."""
    return a + b
print(add(1, b=2), add.__name__, add.__doc__, add.__wrapped__.__wrapped__(5))
registry = {}
def register(cls=None, *, name=None):
    def do(c):
        registry[name or c.__name__] = c
        return c
    return do if cls is None else do(cls)
@register
class A: pass
@register(name='bee')
class B: pass
print(sorted(registry))
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info())
p = functools.partial(add, 10, b=5); print(p.func.__name__, p.args, p.keywords, p(), functools.reduce(lambda a, b: a * b, range(1, 6)))
# ---
# Generators.
def gen():
    try:
        got = yield 1
        print('got', got)
        got = yield 2
        print('got', got)
        return 'result'
    finally:
        print('cleanup')
g = gen()
print(next(g), g.send('a'))
try:
    g.send('b')
except StopIteration as e:
    print('stop', e.value)
def delegating():
    r = yield from gen()
    print('r', r)
    yield from [10, 20]
    yield from range(2)
d = delegating()
print(list(d))
def thrower():
    while True:
        try:
            yield 'waiting'
        except ValueError as e:
            print('caught', e)
            yield 'handled'
t = thrower(); print(next(t), t.throw(ValueError('boom')), next(t)); t.close()
try:
    next(t)
except StopIteration:
    print('closed')
g = gen(); next(g); g.close()
def infinite():
    n = 0
    while True:
        yield n
        n += 1
it = infinite(); print([next(it) for _ in range(5)])
print(sum(x * x for x in range(10) if x % 2), max((len(w) for w in ['a', 'bbb']), default=0), any(x > 3 for x in range(10)), all(x for x in []))
e = (print('lazy', x) or x for x in range(3)); print('made'); print(next(e)); print(list(e), list(e))
def fibs(a=0, b=1):
    yield a
    yield from fibs(b, a + b) if a < 50 else ()
print(list(fibs()))
try:
    def bad():
        raise StopIteration
        yield
    list(bad())
except RuntimeError as ex:
    print('RuntimeError', ex)
try:
    gg = infinite(); gg.send(1)
except TypeError as ex:
    print(ex)
def nested():
    for i in range(2):
        for j in (yield i):
            print('j', j)
n = nested(); next(n); print(n.send([1, 2]))
print(list(zip(infinite(), 'abc')), dict(enumerate('ab')), list(map(lambda a, b: a + b, [1, 2], [3, 4, 5])), list(filter(None, [0, 1, '', 2])))
# ---
# Scope oddities.
x = 1
class K:
    x = 2
    def f(self): return x
    y = x
print(K().f(), K.y)
def f():
    class L:
        z = w
        w2 = w
    return L.z
w = 9; print(f())
def g():
    v = 'outer'
    class M:
        print(v)
        v = 'inner'
        def h(self): return v
        print(v)
    return M().h()
try:
    print(g())
except NameError as e:
    print('NameError', e)
i = 'outer'
print([i for i in range(3)], i)
for i in range(2): pass
print(i)
try:
    raise ValueError('v')
except ValueError as err:
    pass
try:
    err
except NameError as e2:
    print('gone')
def fn():
    exec_count = 0
    for exec_count in range(3):
        if exec_count == 1: break
    else:
        print('not here')
    return exec_count
print(fn())
for k in []: pass
else: print('else runs')
while False: pass
else: print('while else')
