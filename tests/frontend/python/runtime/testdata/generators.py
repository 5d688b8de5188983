def g():
    got = []
    try:
        while True:
            try:
                x = yield len(got)
                got.append(x)
                if x == 'stop': return got
            except ValueError as e:
                got.append(('caught', str(e)))
                yield 'after'
    finally:
        print('finally', got)
i = g()
print(next(i), i.send(1), i.send(2), i.throw(ValueError('v')), next(i))
try:
    i.send('stop')
except StopIteration as e:
    print('value', e.value)
print(list(i))
j = g(); next(j); j.close(); j.close()
try:
    next(j)
except StopIteration as e:
    print('closed', e.value)
k = g(); next(k)
try:
    k.throw(KeyError, 'k')
except KeyError as e:
    print('out', e)
n = g()
try:
    n.send(1)
except TypeError as e:
    print(e)
# ---
def inner():
    try:
        x = yield 1
        print('got', x)
        y = yield 2
        print('got', y)
    except ZeroDivisionError:
        print('inner caught'); yield 'z'
    finally:
        print('inner done')
    return 'result'
def outer():
    r = yield from inner()
    print('r', r)
    r2 = yield from [7, 8]
    print('r2', r2)
    yield from ()
    return (yield from range(2))
o = outer()
print(next(o), o.send('a'), o.send('b'), next(o), next(o), next(o))
try:
    next(o)
except StopIteration as e:
    print(e.value)
o = outer(); next(o); print(o.throw(ZeroDivisionError())); o.close()
class It:
    def __iter__(self): return self
    def __init__(self): self.n = 0
    def __next__(self):
        self.n += 1
        if self.n > 2: raise StopIteration('end')
        return self.n
    def send(self, v): print('send', v); return self.__next__()
    def throw(self, *a): print('throw', a[0]); return 'thrown'
    def close(self): print('close')
def deleg(): print('value', (yield from It()))
d = deleg(); print(next(d), d.send('s')); print(list(d))
d = deleg(); next(d); print(d.throw(ValueError)); d.close()
# ---
def bad(): yield 1; raise StopIteration
try:
    list(bad())
except RuntimeError as e:
    print(e, type(e.__cause__).__name__)
def ignore():
    while True:
        try: yield 1
        except GeneratorExit: pass
i = ignore(); next(i)
try:
    i.close()
except RuntimeError as e:
    print(e)
def again(): yield from me
me = again()
try:
    next(me)
except ValueError as e:
    print(e)
def fib():
    a, b = 0, 1
    while True: yield a; a, b = b, a + b
import itertools
print(list(itertools.islice(fib(), 12)), sum(x for x in range(10) if x % 2), (lambda: [(yield)])().__class__.__name__)
gen = (x * y for x in range(3) for y in range(x))
print(gen.__class__.__name__, list(gen), list(gen))
e = (i for i in range(5)); print(next(e), next(e), list(e), next(e, 'none'))
print(gen.__name__, fib.__name__, fib().__qualname__, fib().gi_running if hasattr(fib(), 'gi_running') else None)
def tree(n): return (n and (yield from tree(n - 1)), (yield n))[1]
print(list(tree(3)))
def echo():
    x = None
    while x != 'q': x = yield x
c = echo(); next(c); print([c.send(v) for v in (1, 2)])
def ctx():
    with open_like() as f: yield f; yield f + 1
class open_like:
    def __enter__(self): print('enter'); return 10
    def __exit__(self, *a): print('exit', a[0].__name__ if a[0] else None)
it = ctx(); print(next(it)); it.close()
print(list(ctx()))
def reraise():
    try: yield 1
    except KeyError as e: raise ValueError('new') from e
r = reraise(); next(r)
try: r.throw(KeyError('old'))
except ValueError as e: print(repr(e), repr(e.__cause__), repr(e.__context__))
def lazy(): print('started'); yield
x = lazy(); print('made'); next(x)
def many(*fs):
    for f in fs: yield from f() if callable(f) else f
print(list(many(lambda: [1], 'ab', lambda: (i for i in (3,)))))
# ---
# async def, run by a simple driver.
class Awaitable:
    def __init__(self, v): self.v = v
    def __await__(self):
        got = yield ('request', self.v)
        return got
async def leaf(n): return (await Awaitable(n)) * 2
async def main():
    a = await leaf(1)
    b = await leaf(2)
    return a + b
def run(coro):
    sent = None
    while True:
        try:
            req = coro.send(sent)
            print(req)
            sent = req[1] * 10
        except StopIteration as e:
            return e.value
print(run(main()))
class Ctx:
    async def __aenter__(self): print('aenter'); return 5
    async def __aexit__(self, t, v, tb): print('aexit', t.__name__ if t else None); return t is ValueError
class Stream:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self
    async def __anext__(self):
        if self.n == 0: raise StopAsyncIteration
        self.n -= 1
        return self.n
async def agen(n):
    for i in range(n):
        x = await leaf(i)
        yield x
async def work():
    out = []
    async with Ctx() as c:
        out.append(c)
        raise ValueError
    async for i in Stream(3): out.append(i)
    else: out.append('else')
    async for i in agen(2): out.append(i)
    out.append([x async for x in Stream(2)])
    out.append({x: 1 async for x in Stream(2) if x})
    out.append([await leaf(k) for k in (1, 2)])
    return out
print(run(work()))
async def never(): pass
c = never(); print(type(c).__name__, type(agen(1)).__name__); c.close()
import inspect
print(inspect.iscoroutinefunction(never), inspect.isasyncgenfunction(agen), inspect.isgeneratorfunction(run), inspect.iscoroutine(c))
async def fails(): raise KeyError('x')
try: run(fails())
except KeyError as e: print('KeyError', e)
