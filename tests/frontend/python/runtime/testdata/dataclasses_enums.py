from dataclasses import dataclass, field, replace, asdict, astuple, fields, InitVar, KW_ONLY, FrozenInstanceError, is_dataclass, make_dataclass, MISSING
from typing import ClassVar, List, Optional
@dataclass
class P:
    x: int
    y: float = 1.5
    z: List[int] = field(default_factory=list)
    c: ClassVar[int] = 3
    hidden: int = field(default=0, repr=False, compare=False)
    late: int = field(init=False, default=9)
p = P(1); q = P(1, z=[])
print(p, p == q, p != P(2), [f.name for f in fields(P)], P.c, p.late, P.__match_args__)
p.z.append(1); print(q.z, asdict(p), astuple(p), replace(p, x=5))
try: P()
except TypeError as e: print(e)
try: P(1, 2, [], 0, 5)
except TypeError as e: print(e)
try: hash(p)
except TypeError as e: print(e)
@dataclass(frozen=True, order=True)
class F:
    a: int
    b: str = 'b'
f = F(1)
try: f.a = 2
except FrozenInstanceError as e: print(type(e).__name__, e)
try: del f.a
except FrozenInstanceError as e: print(e)
print(F(1) < F(2), F(1, 'z') > F(1, 'a'), sorted([F(3), F(1)]), hash(F(1)) == hash(F(1)), {F(1): 2}[F(1)], F(1) <= F(1))
try: F(1) < 3
except TypeError as e: print(e)
@dataclass
class Base:
    a: int
    b: int = 2
@dataclass
class Child(Base):
    c: int = 3
    a: int = 7
print(Child(), [f.name for f in fields(Child)], Child(1, c=9))
@dataclass
class Post:
    n: int
    scale: InitVar[int] = 2
    total: int = field(init=False)
    def __post_init__(self, scale): self.total = self.n * scale
print(Post(3), Post(3, 5).total)
@dataclass(kw_only=True)
class K:
    a: int
    b: int = 1
@dataclass
class K2:
    a: int
    _: KW_ONLY
    b: int
    c: int = field(default=3, kw_only=True)
print(K(a=1), K2(1, b=2))
for bad in (lambda: K(1), lambda: K2(1, 2)):
    try: bad()
    except TypeError as e: print(e)
@dataclass(slots=True)
class S:
    a: int
    b: int = 2
s = S(1); print(s, S.__slots__, hasattr(s, '__dict__'))
try: s.c = 1
except AttributeError as e: print('AttributeError')
try:
    @dataclass
    class Bad:
        a: int = 1
        b: str
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
@dataclass(eq=False)
class E: a: int
print(E(1) == E(1), hash(E(1)) is not None)
@dataclass(repr=False, unsafe_hash=True)
class U:
    a: int
    def __repr__(self): return 'custom'
print(U(1), hash(U(1)) == hash(U(1)))
@dataclass
class Tree:
    v: int
    kids: List['Tree'] = field(default_factory=list)
    d: dict = field(default_factory=dict)
    o: Optional['Tree'] = None
t = Tree(1, [Tree(2)], {'k': Tree(3)}, Tree(4)); print(t); print(asdict(t)); print(asdict(t, dict_factory=lambda kv: len(kv)))
print(is_dataclass(t), is_dataclass(Tree), is_dataclass(3), fields(Tree)[0].type, fields(Tree)[1].default is MISSING, fields(Tree)[1].default_factory)
M = make_dataclass('M', ['x', ('y', int, 5), ('z', int, field(default=6))]); print(M(1), M.__name__)
try: replace(Post(1), total=3)
except ValueError as e: print(e)
class Custom:
    pass
@dataclass
class Mixed(Custom, Base):
    extra: str = 'e'
    def method(self): return self.a + self.b
    @property
    def prop(self): return self.extra * 2
print(Mixed(1).method(), Mixed(1).prop)
@dataclass
class WithMeta: x: int = field(default=1, metadata={'help': 'h'})
print(fields(WithMeta)[0].metadata['help'], dict(fields(WithMeta)[0].metadata))
@dataclass
class Own:
    x: int
    def __eq__(self, o): return True
    def __init__(self, x=4): self.x = x
print(Own(), Own(1) == Own(2))
match P(1, 2.0):
    case P(x=1, y=yy): print('matched', yy)
match Base(3, 4):
    case Base(a, 4): print('pos', a)
@dataclass
class Rec:
    me: object = None
r = Rec(); r.me = r; print(r)
import copy
print(copy.deepcopy(t) == t, copy.copy(t).kids is t.kids, copy.deepcopy(f), P.__init__.__annotations__ if False else '')
import inspect; print(inspect.signature(P), inspect.signature(K2), list(P.__dataclass_fields__))
# ---
from __future__ import annotations
from dataclasses import dataclass, field, fields, InitVar
import typing
@dataclass
class A:
    x: int
    y: 'list[int] | None' = None
    c: typing.ClassVar[int] = 5
    i: InitVar[int] = 1
    def __post_init__(self, i): self.j = i
print(A(1, [2]), [(f.name, f.type) for f in fields(A)], A.__annotations__, A(1, i=4).j)
print(typing.get_type_hints(A)['x'])
# ---
from enum import Enum, IntEnum, StrEnum, Flag, IntFlag, auto, unique, EnumMeta, EnumType, member, nonmember, verify, CONTINUOUS
class Color(Enum):
    RED = 1
    GREEN = 'g'
    CRIMSON = 1
    def describe(self): return f'{self.name}={self.value}'
    @classmethod
    def default(cls): return cls.RED
    @property
    def low(self): return self.name.lower()
print(Color.RED, repr(Color.RED), Color('g'), Color['RED'], Color.CRIMSON is Color.RED, list(Color), len(Color), Color.RED.describe(), Color.default(), Color.GREEN.low)
print(Color.__members__.keys(), Color.RED in Color, Color.RED == 1, Color.RED is Color(1), hash(Color.RED) == hash(Color.RED), {Color.RED: 1}, isinstance(Color.RED, Color), type(Color.RED).__name__)
for bad in (lambda: Color(5), lambda: Color['X'], lambda: Color.X, lambda: setattr(Color, 'RED', 3), lambda: Color.RED < Color.GREEN):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
class Num(IntEnum):
    ONE = 1
    TWO = 2
    THREE = auto()
print(Num.ONE + 1, Num.TWO > Num.ONE, Num(3), f'{Num.ONE}', str(Num.ONE), repr(Num.ONE), [0, 1, 2][Num.ONE], Num.ONE == 1, sorted([Num.TWO, Num.ONE]), max(Num), sum(Num), '%d' % Num.TWO, int(Num.TWO), format(Num.TWO, '03d'))
class S(StrEnum):
    A = auto()
    BIG = 'big one'
print(S.A, repr(S.A), S.BIG.upper(), S('a'), S.A == 'a', f'{S.A:>4}', ','.join(S), S.A + 'x', {'a': 1}[S.A])
class Mixed(str, Enum):
    X = 'x'
    Y = 'y'
    def __str__(self): return self.value
print(Mixed.X, repr(Mixed.X), Mixed.X == 'x', Mixed('y'), f'{Mixed.X}', Mixed.X.upper(), 'x' in [m.value for m in Mixed])
class Plain(str, Enum):
    X = 'x'
print(Plain.X, f'{Plain.X}', str(Plain.X), format(Plain.X), '%s' % Plain.X, Plain.X in ('x',))
class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
print(Perm.R | Perm.W, Perm.RW & Perm.R, ~Perm.R, bool(Perm.R & Perm.W), Perm.R in Perm.RW, repr(Perm.RW), Perm(0), repr(Perm(0)), Perm(5), list(Perm.RW), Perm.R ^ Perm.RW, Perm.X.value, list(Perm), len(Perm.RW))
class IF(IntFlag):
    A = 1
    B = 2
print(IF.A | IF.B, IF.A | 4, repr(IF.A | IF.B), int(IF.A | IF.B), IF.A & 1, IF(3), IF.A + 1)
Func = Enum('Func', 'a b c'); print(list(Func), Func.b.value)
Func2 = Enum('Func2', [('x', 10), ('y', 20)]); print(Func2.y.value, Func2(10)); Func3 = IntEnum('Func3', {'q': 5}); print(Func3.q + 1)
try:
    @unique
    class Dup(Enum): A = 1; B = 1
except ValueError as e: print(e)
class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)
    def __init__(self, mass, radius): self.mass, self.radius = mass, radius
    @property
    def g(self): return round(self.mass / self.radius ** 2, 4)
print(Planet.EARTH.g, Planet.MARS.mass, Planet((5.97, 6.37)))
class New(Enum):
    def __new__(cls, value, label):
        obj = object.__new__(cls); obj._value_ = value; obj.label = label; return obj
    A = (1, 'la')
    B = (2, 'lb')
print(New.A.value, New(2).label, New.B)
class Auto(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    ONE = auto()
    TWO = auto()
print([m.value for m in Auto])
class Miss(Enum):
    A = 1
    @classmethod
    def _missing_(cls, value): return cls.A if value == 'a' else None
print(Miss('a'))
try: Miss('b')
except ValueError as e: print(e)
try:
    class Ext(Color): NEW = 3
except TypeError as e: print(e)
class BaseE(Enum):
    def hi(self): return 'hi ' + self.name
class Derived(BaseE): A = 1
print(Derived.A.hi(), issubclass(Derived, Enum), isinstance(Derived, EnumMeta))
class WithFuncs(Enum):
    import functools
    ADD = functools.partial(lambda a, b: a + b)
    def __call__(self, *a): return self.value(*a)
print(WithFuncs.ADD(1, 2) if isinstance(WithFuncs.ADD, WithFuncs) else 'partial')
match Color.GREEN:
    case Color.RED: print('red')
    case Color.GREEN: print('green')
class Act(Enum):
    relu = 'relu'
    gelu = 'gelu'
    @staticmethod
    def from_str(s): return Act[s.lower()]
    _ignore_ = ['tmp']
    tmp = 3
print(Act.from_str('GELU'), [a.name for a in Act], Act.relu.name, Act.__name__, Act.relu.__class__ is Act, Act._member_names_, Act._value2member_map_)
import copy, operator
print(copy.deepcopy(Color.RED) is Color.RED, Color.RED.name, operator.attrgetter('RED.value')(Color), list(reversed(Num)))
print(Color.__name__, Color.RED.__dict__.get('_value_'), dir(Color)[:2] if False else '', Color.RED.__objclass__ if False else '', bool(Color.RED), Num.ONE.__class__.__mro__[1].__name__)
# ---
from typing import NamedTuple
from collections import namedtuple
class Pt(NamedTuple):
    x: int
    y: int = 2
    """doc"""
    def norm(self): return self.x + self.y
p = Pt(1); print(p, p.x, p[1], p.norm(), p._asdict(), p._replace(y=5), Pt._fields, Pt._field_defaults, p == (1, 2), tuple(p), Pt._make([7, 8]), Pt.__annotations__)
a, b = p; print(a, b, *p, len(p), isinstance(p, tuple), hash(p) == hash((1, 2)), p + (3,), p < (1, 3))
for bad in (lambda: Pt(), lambda: Pt(1, 2, 3), lambda: setattr(p, 'x', 2), lambda: p._replace(z=1), lambda: namedtuple('A', 'x x'), lambda: namedtuple('A', 'class'), lambda: namedtuple('A', '_x')):
    try: bad()
    except Exception as e: print(type(e).__name__, e)
N = namedtuple('N', ['a', 'b', 'c'], defaults=[2, 3]); print(N(1), N(1, c=9), N.__name__, N._field_defaults, N(*'xyz'))
R = namedtuple('R', 'a class a', rename=True); print(R._fields); M = namedtuple('M', 'a, b'); print(M(1, 2))
N.__new__.__defaults__ = (None,) * 3; print(N(), N(1), N.__new__.__defaults__, N.__new__.__name__, N.__new__.__qualname__)
E0 = namedtuple('E0', ''); print(E0(), E0._make([])); O1 = namedtuple('O1', 'only'); print(O1(1), O1.__new__.__defaults__)
def many(a, b): return a, b
many.__defaults__ = (1, 2, 3); many.__kwdefaults__ = {}; print(many(), many(9)); many.__defaults__ = None
class Sub(namedtuple('Base', 'u v')):
    __slots__ = ()
    @property
    def s(self): return self.u + self.v
    def __new__(cls, u, v=10): return super().__new__(cls, u, v)
print(Sub(1), Sub(1, 2).s, Sub(3)._replace(v=4))
match p:
    case Pt(x=1, y=yy): print('class', yy)
match p:
    case (1, z): print('seq', z)
import copy; print(copy.copy(p), copy.deepcopy(Pt([1], 2)), Pt.__doc__, repr(Pt.norm)[:16], {p: 1}[(1, 2)])
G = NamedTuple('G', [('m', int), ('n', str)]); print(G(1, 'a'), G.__annotations__)
