# Exceptions.
def run(f):
    try:
        return f()
    except Exception as e:
        return f'{type(e).__name__}({e})'
def order(raise_it):
    log = []
    try:
        try:
            log.append('body')
            if raise_it: raise KeyError('k')
        except KeyError as e:
            log.append(f'except {e}')
            raise ValueError('v') from e
        else:
            log.append('else')
        finally:
            log.append('finally')
    except ValueError as e:
        log.append((type(e.__cause__).__name__, e.__suppress_context__))
    return log
print(order(True), order(False))
def ret():
    try:
        return 'try'
    finally:
        print('fin')
def ret2():
    try:
        return 'try'
    finally:
        return 'finally'
def ret3():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
        finally:
            print('f', i)
    return i
def ret4():
    try:
        1 / 0
    except ZeroDivisionError:
        return 'handled'
    finally:
        print('cleanup')
print(ret(), ret2(), ret3(), ret4())
def ctx():
    try:
        try:
            1 / 0
        except ZeroDivisionError:
            undefined
    except NameError as e:
        return type(e.__context__).__name__, e.__cause__
print(ctx())
def reraise():
    try:
        try:
            raise ValueError(1)
        except ValueError:
            raise
    except ValueError as e:
        return 'again', e.args
print(reraise())
for exc in (ValueError, KeyError('k'), ValueError('a', 'b'), StopIteration(3), OSError(2, 'No such file'), ImportError('x', name='n'), Exception()):
    try:
        raise exc
    except (KeyError, ValueError) as e:
        print('KV', repr(e), str(e), e.args)
    except Exception as e:
        print('E', repr(e), str(e), e.args, isinstance(e, OSError) and e.errno, getattr(e, 'value', None), getattr(e, 'name', None))
print(run(lambda: [][5]), run(lambda: {}['x']), run(lambda: int('q')))
try:
    raise 5
except TypeError as e:
    print(e)
try:
    raise ValueError('x') from None
except ValueError as e:
    print(e.__cause__, e.__suppress_context__)
try:
    assert 1 == 2, 'message'
except AssertionError as e:
    print('assert', e, e.args)
try:
    assert False
except AssertionError as e:
    print(repr(e))
class MyErr(ValueError): pass
try:
    raise MyErr('mine')
except ValueError as e:
    print(type(e).__name__, isinstance(e, MyErr))
try:
    try:
        raise KeyError('inner')
    finally:
        print('passing')
except LookupError as e:
    print('lookup', e)
import sys
try:
    raise ValueError('info')
except ValueError:
    print(sys.exc_info()[0].__name__)
print(sys.exc_info()[0])
e = ValueError('n'); e.add_note('note'); print(e.__notes__)
try:
    [].x = 1
except AttributeError as ex:
    print(ex)
raise LookupError('the end')
# ---
def m(x):
    match x:
        case 0 | 1: return 'small'
        case int(n) if n > 100: return f'big {n}'
        case int(): return 'int'
        case 'a' | 'b' as letter: return f'letter {letter}'
        case str() as s: return f'str {s}'
        case []: return 'empty'
        case [1, 2]: return 'one two'
        case [first, *_, last]: return f'{first}..{last}'
        case (x,): return f'single {x}'
        case {'type': 'point', 'x': x, **rest}: return f'point {x} {rest}'
        case {}: return 'dict'
        case None: return 'none'
        case float(f): return f'float {f}'
        case Pt(x=0): return 'on axis'
        case Pt(a, b): return f'Pt {a} {b}'
        case Color.RED: return 'red'
        case _: return 'other'
class Pt:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
class Color:
    RED = object()
for v in (0, 1, 5, 500, 'a', 'zz', [], [1, 2], [3, 4, 5], (7,), {'type': 'point', 'x': 1, 'y': 2}, {'k': 1}, None, 2.5, Pt(0, 5), Pt(1, 2), Color.RED, object, True, [[1]], b'x'):
    print(m(v))
match (1, (2, [3, 4])):
    case (a, (b, [c, *d])): print(a, b, c, d)
match {'a': {'b': [1, {'c': 2}]}}:
    case {'a': {'b': [_, {'c': z}]}}: print(z)
# ---
# Imports of the standard library that model code uses.
import math, copy, operator, collections, itertools, functools, typing, types, warnings, logging, contextlib, re, inspect, numbers, string, sys, os, os.path, json, abc, enum, dataclasses, textwrap, bisect, heapq, collections.abc as cabc
from collections import OrderedDict, namedtuple, defaultdict, deque, Counter
from functools import partial
from typing import *
print(math.floor(-2.5), math.ceil(2.1), math.log(8, 2), math.log2(8), math.log10(1000), math.prod([2, 3, 4]), math.gcd(12, 18), math.isclose(0.1 + 0.2, 0.3), math.factorial(20), math.comb(10, 3), math.hypot(3, 4), math.trunc(-2.7), math.inf, math.nan, math.tau, math.isqrt(99), math.exp(1), math.erf(0.5), math.fmod(-7, 3), math.copysign(1, -0.0))
o = OrderedDict([('b', 1), ('a', 2)]); o.move_to_end('b'); print(o, list(o), o.popitem(last=False), o == {'b': 1})
P = namedtuple('P', 'x y', defaults=[5]); p = P(1); print(p, p._asdict(), p._replace(y=7), P._fields, p[0], p.x + p.y, P(*[8, 9]), p == (1, 5), isinstance(p, tuple))
dd = defaultdict(list); dd['a'].append(1); print(dd, dict(dd), 'b' in dd)
c = Counter('abracadabra'); print(c.most_common(2), c['z'], sum(c.values()), Counter(a=1) + Counter(a=2, b=1))
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); print(q, q.popleft(), len(q), list(q)); q.rotate(1); print(q)
print(list(itertools.chain([1], 'ab')), list(itertools.islice(itertools.count(5, 2), 3)), list(itertools.zip_longest('ab', [1], fillvalue='-')), list(itertools.accumulate([1, 2, 3])), list(itertools.permutations([1, 2, 3], 2)), list(itertools.combinations('abc', 2)), list(itertools.starmap(pow, [(2, 3)])), [(k, list(g)) for k, g in itertools.groupby('aabbb')], list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])), list(itertools.repeat(7, 2)), list(itertools.product('ab', repeat=2)), [x for x, _ in zip(itertools.cycle('ab'), range(3))], list(itertools.chain.from_iterable([[1], [2, 3]])), list(itertools.pairwise([1, 2, 3])))
a = [1, [2, {'k': (3, [4])}]]; b = copy.deepcopy(a); b[1][1]['k'][1].append(5); print(a, b, copy.copy(a)[1] is a[1])
class Node:
    def __init__(self): self.me = self; self.data = [1]
n = copy.deepcopy(Node()); print(n.me is n, n.data)
print(operator.add(1, 2), operator.itemgetter(1, 0)('ab'), operator.attrgetter('real')(5), operator.mul(3, 4), operator.methodcaller('upper')('x'))
print(re.sub('a+', 'X', 'baac'), re.match(r'(\w+)-(?P<n>\d+)', 'ab-12').groupdict(), re.split(r'[,;]\s*', 'a, b;c'), re.findall(r'\d', 'a1b2'), re.search('z', 'a'), bool(re.fullmatch(r'[a-z]+', 'abc')), re.compile('x(y)?').match('x').groups(), re.sub(r'(\w)(\w)', r'\2\1', 'abcd'))
print(string.ascii_lowercase[:5], string.digits, os.path.join('a', 'b', '/c', 'd'), os.path.basename('/x/y.py'), os.path.splitext('a/b.tar.gz'), os.path.dirname('/a/b'), os.environ.get('NOPE', 'd'))
print(json.dumps({'a': [1, 2.5, None, True, 'é"']}), json.loads('{"x": [1, -2.5e3, "\\u00e9", null]}'), json.dumps([1, {'b': 2}], indent=2, sort_keys=True))
print(isinstance([], cabc.Sequence), isinstance({}, cabc.Mapping), isinstance((), cabc.Iterable), isinstance(5, cabc.Iterable), isinstance(len, cabc.Callable), isinstance('s', cabc.Sequence), isinstance(set(), cabc.Set), isinstance({}.keys(), cabc.KeysView), isinstance(5, numbers.Number), isinstance(2.5, numbers.Integral), isinstance(iter([]), cabc.Iterator), issubclass(list, cabc.MutableSequence), isinstance([], cabc.Hashable))
print(Optional[int], List[str], Dict[str, int], Union[int, str, None], Tuple[int, ...], Callable[[int], str], Any, Type[int], Optional[List[int]], Union[int], int | None, list[int], dict[str, list[int]])
T = TypeVar('T')
class Box(Generic[T]):
    def __init__(self, v: T): self.v = v
print(Box[int](5).v, Box(3).v, T, get_origin(List[int]), get_args(Dict[str, int]), cast(int, 'x'))
class NT(NamedTuple):
    a: int
    b: str = 'z'
    def both(self): return (self.a, self.b)
print(NT(1), NT(1, b='q').both(), NT._fields, NT(2)._asdict())
def sig(a, b: int = 2, *args, c, **kw) -> str: ...
print(inspect.signature(sig), list(inspect.signature(sig).parameters), inspect.signature(sig).parameters['b'].default, inspect.signature(sig).bind(1, c=3).arguments, inspect.isclass(Box), inspect.isfunction(sig), inspect.signature(partial(sig, 1)))
@contextlib.contextmanager
def cm(x):
    print('in', x)
    try:
        yield x * 2
    except ValueError as e:
        print('handled', e)
    finally:
        print('out')
with cm(3) as y: print(y)
with cm(4): raise ValueError('in body')
with contextlib.nullcontext(5) as z, contextlib.suppress(KeyError): print(z); {}['k']
with contextlib.ExitStack() as st: st.enter_context(cm(1)); st.callback(print, 'cb')
print(bisect.bisect_right([1, 2, 2, 3], 2), bisect.bisect_left([1, 2, 2, 3], 2), heapq.nsmallest(2, [3, 1, 2]), textwrap.dedent('  a\n    b\n'), types.SimpleNamespace(a=1), sys.version_info[:2], sys.version_info >= (3, 8), isinstance(sig, types.FunctionType))
print(functools.reduce(operator.add, [[1], [2]], []), sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
@functools.total_ordering
class Tot:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
print(Tot(1) <= Tot(2), Tot(3) > Tot(2), Tot(1) >= Tot(1))
class Cp:
    @functools.cached_property
    def v(self): print('computed'); return 5
cp = Cp(); print(cp.v, cp.v)
@functools.singledispatch
def sd(x): return 'obj'
@sd.register(int)
def _(x): return 'int'
@sd.register
def _(x: str): return 'str'
print(sd(1), sd('a'), sd(2.5))
# ---
import dataclasses
from dataclasses import dataclass, field
@dataclass
class A:
    x: int
    y: float = 1.5
    z: list = field(default_factory=list, repr=False)
    w: dataclasses.InitVar[int] = 3
    def __post_init__(self, w): self.total = self.x + w
a = A(1); print(a, a.total, a == A(1), a != A(2), dataclasses.asdict(a), dataclasses.astuple(a), [f.name for f in dataclasses.fields(a)], dataclasses.replace(a, x=9, w=1), A.__match_args__)
@dataclass(frozen=True, order=True)
class B:
    n: int
    s: str = 'q'
print(B(1) < B(2), hash(B(1)) == hash(B(1)), {B(1): 2}[B(1)], sorted([B(3), B(1)]))
try:
    B(1).n = 5
except dataclasses.FrozenInstanceError as e:
    print(type(e).__name__, e)
@dataclass
class C(A):
    extra: str = 'e'
    _: dataclasses.KW_ONLY
    kw: int = 7
print(C(1, 2.0, extra='f', kw=8), dataclasses.is_dataclass(C))
for f in (lambda: A(), lambda: A(1, 2, 3, 4, 5), lambda: A(1, q=2), lambda: A(1, x=2), lambda: C(1, 2, [], 3, 'e', 9)):
    try:
        print(f())
    except TypeError as e:
        print(e)
try:
    @dataclass
    class D:
        l: list = []
except ValueError as e:
    print(e)
@dataclass(eq=False)
class NoEq: v: int = 1
print(NoEq() == NoEq(), repr(NoEq()).startswith('NoEq(v=1'))
import inspect
print(inspect.signature(A), inspect.signature(C).parameters['kw'].kind.name)
# ---
import enum
from enum import Enum, IntEnum, Flag, IntFlag, auto
class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1
    @property
    def low(self): return self.name.lower()
    @classmethod
    def default(cls): return cls.RED
    def __str__(self): return f'C.{self.name}'
print(Color.RED, repr(Color.GREEN), Color(1), Color['GREEN'], list(Color), len(Color), Color.CRIMSON is Color.RED, Color.RED.low, Color.default(), Color.RED.value, Color.RED.name, Color.RED in Color, isinstance(Color.RED, Color), Color.__members__.keys())
print({Color.RED: 1}[Color.RED], Color.RED == 1, Color.RED == Color.RED, Color.RED != Color.GREEN, hash(Color.RED) == hash(Color.RED), [c.value for c in Color], f'{Color.RED}')
for bad in (lambda: Color(9), lambda: Color['X'], lambda: Color.X, lambda: setattr(Color, 'RED', 5), lambda: Color.RED < Color.GREEN):
    try:
        print(bad())
    except Exception as e:
        print(type(e).__name__, e)
class N(IntEnum):
    A = auto()
    B = auto()
    C = 10
    D = auto()
print(N.A + 1, N.B > N.A, list(N), N.D.value, N(10), str(N.A), f'{N.A}', repr(N.A), [5, 6, 7][N.A], N.A == 1, isinstance(N.A, int))
class S(str, Enum):
    X = 'x'
    Y = 'y'
print(S.X == 'x', S('y'), S.X.value, S.X.upper(), repr(S.X), isinstance(S.X, str), {'x': 1}.get(S.X.value))
class F(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
print(F.R | F.W, F.RW & F.R, F.R in F.RW, bool(F.R & F.X), F.RW.value, ~F.R, list(F))
class P(Enum):
    EARTH = (1, 2.5)
    MARS = (3, 4.5)
    def __init__(self, a, b): self.a = a; self.b = b
    def area(self): return self.a * self.b
print(P.EARTH.area(), P.MARS.value, P((1, 2.5)))
try:
    class Sub(Color): pass
except TypeError as e:
    print(e)
E2 = Enum('E2', 'A B'); print(list(E2), E2.B.value)
class St(enum.StrEnum):
    ONE = auto()
    TWO = 'deux'
print(St.ONE, St.TWO == 'deux', list(St), St('one'), St.ONE + 'x')
