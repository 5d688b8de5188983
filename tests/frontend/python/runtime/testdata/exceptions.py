try:
    try:
        {}['a']
    except KeyError as e:
        raise ValueError('bad') from e
except ValueError as e:
    print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__, e.args)
try:
    try: 1 / 0
    except ZeroDivisionError: raise KeyError('k')
except KeyError as e:
    print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__, str(e))
try:
    try: 1 / 0
    except ZeroDivisionError: raise KeyError('k') from None
except KeyError as e:
    print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
try:
    try: raise TypeError(1)
    finally: raise KeyError(2)
except KeyError as e:
    print(repr(e.__context__))
e = ValueError('a', 1); e.add_note('n1'); e.add_note('n2'); print(e.__notes__, str(e), repr(e), e.args)
class MyError(Exception):
    def __init__(self, code, *rest): super().__init__(code, *rest); self.code = code
    def __str__(self): return f'code {self.code}'
try: raise MyError(7, 'x')
except MyError as m: print(m, repr(m), m.args, m.code)
class NoInit(Exception): pass
print(repr(NoInit()), repr(NoInit(1)), str(NoInit(1, 2)), NoInit.__mro__[1].__name__)
def f(x):
    try:
        if x == 0: return 'return'
        if x == 1: raise ValueError
        if x == 2: raise KeyError
    except ValueError: return 'handler'
    else: return 'else'
    finally: print('finally', x)
for x in (0, 1, 3):
    print(f(x))
try: f(2)
except KeyError: print('propagated')
def loops():
    for i in range(5):
        try:
            if i == 1: continue
            if i == 3: break
        finally: print('f', i)
    else: print('no')
    return i
print(loops())
def override():
    try: return 1
    finally: return 2
print(override())
def swallow():
    while True:
        try: 1 / 0
        finally: break
    return 'swallowed'
print(swallow())
# ---
for make in (lambda: int('x'), lambda: [][1], lambda: {}[1], lambda: None.x, lambda: undefined, lambda: 'a' + 1, lambda: len(3), lambda: (1, 2)[5], lambda: 1 // 0, lambda: 1.0 % 0,
             lambda: [1].index(2), lambda: 'abc'.index('z'), lambda: {}.pop('k'), lambda: [].pop(), lambda: set().pop(), lambda: next(iter([])), lambda: int([]), lambda: float('q'), lambda: 'x'.foo,
             lambda: (lambda a: a)(), lambda: (lambda a: a)(1, 2), lambda: (lambda a: a)(b=1), lambda: max([]), lambda: sum(['a']), lambda: chr(-1), lambda: ord('ab'), lambda: 'a'.join([1]),
             lambda: bytes([256]), lambda: 'é'.encode('ascii'), lambda: b'\xff'.decode(), lambda: 2 ** 'a', lambda: -'a', lambda: [] < 1, lambda: 1 in 5, lambda: not_a_name(), lambda: 5(), lambda: 5[0],
             lambda: [1, 2]['a'], lambda: {[]: 1}, lambda: hash({}), lambda: print(sep=1), lambda: range(1.0), lambda: range(0, 1, 0), lambda: [1, 2][::0], lambda: '%d' % 'x', lambda: '%s' % (1, 2),
             lambda: '{} {}'.format(1), lambda: '{a}'.format(), lambda: '{:d}'.format('x'), lambda: '{:Q}'.format(1), lambda: round('a'), lambda: abs('a'), lambda: sorted([1, 'a']), lambda: zip(1),
             lambda: enumerate(1), lambda: list(5), lambda: dict([1]), lambda: dict([(1, 2, 3)]), lambda: isinstance(1, 2), lambda: issubclass(1, int), lambda: getattr(1, 2), lambda: setattr(1, 'a', 2),
             lambda: object().x, lambda: object(1), lambda: type('A', (int, str), {}), lambda: iter(1), lambda: reversed(1), lambda: 'abc'[1.5], lambda: (1).real.foo, lambda: complex('x'), lambda: 1 << -1,
             lambda: 10 ** 400 * 1.0, lambda: float(10 ** 400), lambda: int(float('inf')), lambda: int(float('nan')), lambda: [0] * 'a', lambda: (1).__add__('a'), lambda: str(b'a', 'nope'), lambda: super(int, 5).foo):
    try:
        print(make())
    except Exception as e:
        print(type(e).__name__, '|', e)
# ---
# Groups and except*
eg = ExceptionGroup('group', [ValueError(1), KeyError('k'), ExceptionGroup('nested', [TypeError('t'), ValueError(2)])])
print(eg, repr(eg), eg.message, len(eg.exceptions), isinstance(eg, Exception))
try:
    raise eg
except* ValueError as e:
    print('values', [repr(x) for x in e.exceptions], e.message)
except* (KeyError, TypeError) as e:
    print('others', [type(x).__name__ for x in e.exceptions])
else:
    print('no')
finally:
    print('finally')
m, r = eg.split(ValueError); print(repr(m), repr(r))
print(repr(eg.subgroup(lambda x: isinstance(x, KeyError))), eg.subgroup(OSError))
try:
    try: raise eg
    except* ValueError: print('some')
except ExceptionGroup as e:
    print('rest', repr(e))
try:
    raise KeyError('single')
except* KeyError as e:
    print(type(e).__name__, repr(e.exceptions))
try:
    try: raise ExceptionGroup('g', [ValueError(1)])
    except* ValueError: raise TypeError('new')
except (ExceptionGroup, TypeError) as e:  # in a group up to CPython 3.11.3, bare from 3.11.4 on: we do the former
    e = e.exceptions[0] if isinstance(e, ExceptionGroup) else e
    print(repr(e), repr(e.__context__))
def f():
    for i in range(3):
        try: raise ExceptionGroup('g', [ValueError(i)])
        except* ValueError: pass
    return 'done'
print(f())
try:
    try: 1
    except* ValueError: print('never')
    else: print('else')
except Exception as e: print(e)
print(repr(BaseExceptionGroup('b', [KeyboardInterrupt()])), type(BaseExceptionGroup('b', [ValueError()])).__name__)
for bad in (lambda: ExceptionGroup('x', []), lambda: ExceptionGroup('x', [1]), lambda: ExceptionGroup('x', [KeyboardInterrupt()]), lambda: ExceptionGroup(1, [ValueError()])):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
class MyGroup(ExceptionGroup):
    def derive(self, excs): return MyGroup(self.message, excs)
g = MyGroup('mine', [ValueError(1), KeyError(2)])
print(type(g.subgroup(ValueError)).__name__, repr(g.derive([OSError()])))
try:
    try: raise g
    except* OSError: pass
except MyGroup as x: print('same', x is g)
# ---
# Context managers
import contextlib
from contextlib import contextmanager, ExitStack, suppress, nullcontext, closing, redirect_stdout, AbstractContextManager, ContextDecorator, chdir
class CM:
    def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
    def __enter__(self): print('enter', self.name); return self.name
    def __exit__(self, t, v, tb): print('exit', self.name, t.__name__ if t else None, v); return self.swallow
with CM('a') as a, CM('b', True) as b:
    print(a, b); raise ValueError('v')
with (CM('c') as c, CM('d')):
    print(c)
try:
    with CM('e'): raise KeyError('k')
except KeyError: print('out')
@contextmanager
def managed(x):
    print('in', x)
    try: yield x * 2
    except ValueError as e: print('handled', e)
    finally: print('out', x)
with managed(1) as m: print(m)
with managed(2): raise ValueError('inside')
try:
    with managed(3): raise KeyError('through')
except KeyError as e: print(repr(e))
@managed(4)
def decorated(): return 'body'
print(decorated())
with ExitStack() as s:
    s.enter_context(CM('s1')); s.enter_context(CM('s2')); s.callback(print, 'callback', 1); s.push(lambda *a: print('pushed', a[0]))
    t = s.pop_all() if False else None
with suppress(KeyError, ValueError): {}['x']
with nullcontext(5) as n: print(n)
class C:
    def close(self): print('closed')
with closing(C()): pass
import io
buf = io.StringIO()
with redirect_stdout(buf): print('captured')
print(repr(buf.getvalue()))
class Deco(ContextDecorator):
    def __enter__(self): print('<'); return self
    def __exit__(self, *a): print('>')
@Deco()
def body(x): return x
print(body(3))
@contextmanager
def noyield():
    if False: yield
try:
    with noyield(): pass
except RuntimeError as e: print(e)
@contextmanager
def twice(): yield 1; yield 2
try:
    with twice(): pass
except RuntimeError as e: print(e)
for thing in (5, object()):
    try:
        with thing: pass
    except (TypeError, AttributeError) as e: print(type(e).__name__, e)
stack = ExitStack()
with stack:
    stack.enter_context(CM('p'))
    kept = stack.pop_all()
print('kept'); kept.close()
with ExitStack() as st:
    st.enter_context(CM('swallower', True)); raise ValueError('gone')
def f():
    with CM('r'): return 'returned'
print(f())
for i in range(2):
    with CM('loop'):
        if i == 0: continue
        break
# ---
import traceback, sys
def a(): b()
def b(): raise ValueError('deep')
try: a()
except ValueError as e:
    print(sys.exc_info()[0].__name__, sys.exc_info()[1] is e, traceback.format_exception_only(type(e), e))
print(sys.exc_info())
try:
    assert 1 == 2, 'message'
except AssertionError as e: print(e, e.args)
try:
    assert False
except AssertionError as e: print(repr(e))
try: raise ValueError
except (KeyError, ValueError) as e: print(repr(e))
try: e
except NameError as n: print(n, n.name)
def raiser(): raise NotImplementedError()
try: raiser()
except RuntimeError as e: print(type(e).__name__)
try: raise 5
except TypeError as e: print(e)
try: raise ValueError from 5
except TypeError as e: print(e)
try:
    try: raise ValueError(1)
    except ValueError:
        try: raise KeyError(2)
        except KeyError: pass
        raise
except ValueError as e: print('reraised', e)
try: raise
except RuntimeError as e: print(e)
print(issubclass(ModuleNotFoundError, ImportError), issubclass(FileNotFoundError, OSError), IOError is OSError, issubclass(UnicodeDecodeError, ValueError), issubclass(RecursionError, RuntimeError))
def deep(n): return deep(n + 1)
try: deep(0)
except RecursionError as e: print(type(e).__name__)
try: exit_code = sys.exit(3)
except SystemExit as e: print(e.code)
o = OSError(2, 'No such file', 'x.txt'); print(type(o).__name__, o.errno, o.strerror, o.filename, o)
s = StopIteration(4); print(s.value, s.args)
a = AttributeError('m', name='n', obj=1); print(a.name, a.obj, a)
k = KeyError('k'); print(str(k), str(KeyError()), str(KeyError(1, 2)))
u = UnicodeDecodeError('utf-8', b'ab', 0, 1, 'why'); print(u, u.reason, u.start, u.end, u.encoding, u.object)
e = SyntaxError('msg'); print(e.msg, e)
# ---
# What the arguments of an exception mean beside args.
class Own(OSError):
    def __init__(self, code): self.code = code
for e in (OSError(2, 'gone', 'file'), OSError(2, 'gone'), OSError('x'), OSError(2, 'gone', None), Own(5), SystemExit(1, 2), SystemExit(), StopIteration(5, 6),
          ImportError('m', 'n'), ImportError('m', name='q')):
    print(type(e).__name__, repr(e), str(e), e.args, [getattr(e, n, 'none') for n in ('errno', 'strerror', 'filename', 'code', 'value', 'msg', 'name')])
def g():
    yield 1
for started in (False, True):
    it = g()
    if started: next(it)
    try: it.throw(StopIteration)
    except RuntimeError as e: print(e, repr(e.__cause__))
it = g(); list(it)
try: it.throw(StopIteration('v'))
except StopIteration as e: print(e.value)
from contextlib import ExitStack
class M:
    def __enter__(self): return self
    def __exit__(self, *e): raise RuntimeError('exit')
for suppress in (True, False):
    try:
        with ExitStack() as s:
            s.enter_context(M()); s.push(lambda *a: suppress)
            raise ValueError
    except RuntimeError as e: print(repr(e.__context__))
class Coded(SystemExit): code = 5
print(Coded('x').code, [Coded('x').args])
