class Base:
    count = 0
    def __init__(self, name):
        self.name = name
        type(self).count += 1
    def hello(self): return f'Base {self.name}'
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def util(x): return x + 1
    @property
    def upper(self): return self.name.upper()
    @upper.setter
    def upper(self, v): self.name = v.lower()
    @upper.deleter
    def upper(self): print('deleting'); self.name = ''
    def __repr__(self): return f'{type(self).__name__}({self.name!r})'
class Child(Base):
    def hello(self): return 'Child+' + super().hello()
    def __init__(self, name, extra=0):
        super(Child, self).__init__(name)
        self.extra = extra
c = Child.make('bob')
print(c, c.hello(), Child.util(1), c.util(2), c.upper, Child.count, Base.count)
c.upper = 'ANN'; print(c.name); del c.upper; print(repr(c.name))
print(isinstance(c, Base), issubclass(Child, Base), Child.__bases__, Child.__mro__[1].__name__, c.__class__.__name__, vars(c))
print(hasattr(c, 'extra'), getattr(c, 'nope', 'dflt'), Child.__name__, Child.__qualname__, Base.hello(c))
try:
    c.upper_ = 1; c.missing
except AttributeError as e:
    print(e)
class Ro:
    @property
    def ro(self): return 1
try:
    Ro().ro = 2
except AttributeError as e:
    print(e)
del c.extra
print(hasattr(c, 'extra'), sorted(c.__dict__))
m = c.hello; print(m(), m.__self__ is c, m.__func__ is Child.hello, m.__name__)
# ---
# C3.
class A:
    def f(self): return 'A'
class B(A):
    def f(self): return 'B' + super().f()
class C(A):
    def f(self): return 'C' + super().f()
class D(B, C):
    def f(self): return 'D' + super().f()
print(D().f(), [k.__name__ for k in D.__mro__])
try:
    class X(A, D): pass
except TypeError as e:
    print('TypeError')
class Mixin:
    def __init__(self, *args, **kw):
        print('Mixin', args, kw)
        super().__init__(*args, **kw)
class Root:
    def __init__(self, a): print('Root', a)
class Both(Mixin, Root): pass
Both(5)
class O1: pass
class O2(O1): pass
class O3(O1): pass
class O4(O3, O2): pass
print([k.__name__ for k in O4.mro()])
try:
    class Dup(A, A): pass
except TypeError as e:
    print(e)
# ---
# Operators.
class V:
    def __init__(self, *xs): self.xs = xs
    def __repr__(self): return f'V{self.xs}'
    def __add__(self, o): return V(*(a + b for a, b in zip(self.xs, o.xs))) if isinstance(o, V) else NotImplemented
    def __radd__(self, o): return V(*(o + a for a in self.xs))
    def __mul__(self, k): return V(*(a * k for a in self.xs))
    __rmul__ = __mul__
    def __sub__(self, o): return 'sub'
    def __rsub__(self, o): return 'rsub'
    def __neg__(self): return V(*(-a for a in self.xs))
    def __pos__(self): return 'pos'
    def __invert__(self): return 'inv'
    def __abs__(self): return sum(self.xs)
    def __eq__(self, o): return isinstance(o, V) and self.xs == o.xs
    def __hash__(self): return hash(self.xs)
    def __lt__(self, o): return self.xs < o.xs
    def __le__(self, o): return self.xs <= o.xs
    def __len__(self): return len(self.xs)
    def __getitem__(self, i): return self.xs[i]
    def __contains__(self, x): return x in self.xs
    def __iter__(self): return iter(self.xs)
    def __bool__(self): return any(self.xs)
    def __call__(self, *a, **k): return a, k
    def __matmul__(self, o): return 'mm'
    def __rmatmul__(self, o): return 'rmm'
    def __truediv__(self, o): return 'div'
    def __floordiv__(self, o): return 'fdiv'
    def __mod__(self, o): return 'mod'
    def __divmod__(self, o): return 'divmod'
    def __pow__(self, o): return 'pow'
    def __rpow__(self, o): return 'rpow'
    def __lshift__(self, o): return 'ls'
    def __and__(self, o): return 'and'
    def __or__(self, o): return 'or'
    def __ror__(self, o): return 'ror'
    def __xor__(self, o): return 'xor'
    def __iadd__(self, o): return 'iadd'
    def __int__(self): return 42
    def __float__(self): return 4.5
    def __index__(self): return 2
    def __round__(self, n=None): return ('round', n)
    def __format__(self, spec): return f'<{spec}>'
    def __str__(self): return 'str-V'
    def __reversed__(self): return 'rev'
v, w = V(1, 2), V(3, 4)
print(v + w, 1 + v, v * 2, 2 * v, -v, +v, ~v, abs(v), v == V(1, 2), v != w, v < w, v > w, v <= w, w >= v, len(v), v[1], 2 in v, list(v), bool(V(0)), v(1, a=2))
print(v @ w, 1 @ v, v / 1, v // 1, v % 1, divmod(v, 1), v ** 2, 2 ** v, v << 1, v & 1, v | 1, 1 | v, v ^ 1, int(v), float(v), [1, 2, 3][v], round(v), round(v, 2), f'{v:abc}', format(v, 'x'), str(v), f'{v!r}', reversed(v))
v += 1; print(v)
x = V(9); x -= 1; print(x)
print({V(1): 'a'}[V(1)], V(1) in {V(1)}, hash(V(1)) == hash(V(1)), sorted([V(3), V(1)]), max(V(1), V(2)), 'x' * V(1), range(V(0)))
try:
    V(1) + 5
except TypeError as e:
    print(e)
class Sub(V):
    def __radd__(self, o): return 'sub-radd'
print(V(1) + Sub(2), V(1) - Sub(1))
class NoHash:
    def __eq__(self, o): return True
try:
    {NoHash()}
except TypeError as e:
    print(e)
class LenOnly:
    def __len__(self): return 0
print(bool(LenOnly()), not LenOnly())
class Seq:
    def __getitem__(self, i):
        if i > 3: raise IndexError
        return i * i
print(list(Seq()), 4 in Seq(), [*Seq()])
class It:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
print(list(It()), sum(It()), tuple(It()), dict(zip(It(), 'abc')))
# ---
# Attribute hooks and descriptors.
class H:
    def __init__(self): object.__setattr__(self, 'log', [])
    def __getattr__(self, name):
        if name.startswith('_'): raise AttributeError(name)
        return f'got {name}'
    def __setattr__(self, name, value):
        self.log.append((name, value)); super().__setattr__(name, value)
    def __delattr__(self, name):
        self.log.append(('del', name)); object.__delattr__(self, name)
h = H(); h.a = 1; print(h.a, h.b, hasattr(h, '_x')); del h.a; print(h.a, h.log)
class Ga:
    def __getattribute__(self, name):
        if name == 'magic': return 'yes'
        return super().__getattribute__(name)
    plain = 3
print(Ga().magic, Ga().plain)
class Desc:
    def __set_name__(self, owner, name): self.name = '_' + name; print('set_name', owner.__name__, name)
    def __get__(self, obj, owner=None):
        if obj is None: return self
        return getattr(obj, self.name, 'unset')
    def __set__(self, obj, value): setattr(obj, self.name, value * 2)
    def __delete__(self, obj): delattr(obj, self.name)
class Uses:
    x = Desc()
    y = Desc()
u = Uses(); print(u.x); u.x = 5; print(u.x, u.__dict__); del u.x; print(u.x, type(Uses.x).__name__)
class NonData:
    def __get__(self, obj, owner): return 'nondata'
class N:
    d = NonData()
n = N(); print(n.d); n.__dict__['d'] = 'own'; print(n.d)
class Init:
    registry = []
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw); cls.tag = tag; Init.registry.append(cls.__name__)
class I1(Init, tag='t'): pass
class I2(I1): pass
print(Init.registry, I1.tag, I2.tag)
class G:
    def __class_getitem__(cls, item): return f'{cls.__name__}[{item}]'
print(G[int], G['a', 'b'])
class New:
    def __new__(cls, *a, **k):
        print('new', a, k); self = super().__new__(cls); self.made = True; return self
    def __init__(self, *a, **k): print('init', a, k)
print(New(1, b=2).made)
class Single:
    _i = None
    def __new__(cls):
        if cls._i is None: cls._i = object.__new__(cls)
        return cls._i
print(Single() is Single())
class Slots:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
print(Slots().a)
class Private:
    def __init__(self): self.__x = 1
    def get(self): return self.__x
    def __secret(self): return 's'
    def call(self): return self.__secret()
print(Private().get(), Private()._Private__x, Private().call(), sorted(Private().__dict__))
class Cm:
    def __enter__(self): print('enter'); return 'value'
    def __exit__(self, t, v, tb): print('exit', t.__name__ if t else None, v); return t is ValueError
with Cm() as v: print(v)
with Cm(): raise ValueError('swallowed')
try:
    with Cm(), Cm() as z: raise KeyError('k')
except KeyError as e: print('out', e)
# ---
# Metaclasses, type(), object.
class Meta(type):
    def __new__(m, name, bases, ns, **kw):
        print('meta new', name, kw); ns['added'] = 1
        return super().__new__(m, name, bases, ns)
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns)
    def __call__(cls, *a): print('call', a); return super().__call__(*a)
    def __len__(cls): return 7
    def __iter__(cls): return iter('xyz')
    def __getitem__(cls, k): return k * 2
    def __contains__(cls, k): return k == 'in'
    @property
    def prop(cls): return cls.__name__
class WithMeta(metaclass=Meta, key=1):
    def __init__(self, a): self.a = a
class SubMeta(WithMeta): pass
print(WithMeta(3).a, WithMeta.added, len(SubMeta), list(SubMeta), SubMeta[4], 'in' in SubMeta, SubMeta.prop, type(SubMeta).__name__)
T = type('T', (Base if False else object,), {'x': 5, 'm': lambda self: self.x})
print(T().m(), T.__name__, type(5), type(type), type(None), type(...).__name__, type(T()) is T)
print(object() == object(), object.__name__, isinstance(T, type), issubclass(bool, int), isinstance(True, int), type(True) is int)
class L(list):
    def first(self): return self[0]
    def __getitem__(self, i): return 'item%s' % super().__getitem__(i)
l = L([1, 2]); l.append(3); print(l, len(l), l.first(), l[1], list(l), isinstance(l, list), l == [1, 2, 3], [0] + l, type(l + [1]))
class Dd(dict):
    def __missing__(self, k): return f'missing {k}'
    def __setitem__(self, k, v): super().__setitem__(k, v * 2)
d = Dd(a=1); d['b'] = 2; print(d, d['zz'], d.get('zz'), 'a' in d, {**d}, isinstance(d, dict), d.copy())
class S(str):
    def shout(self): return self.upper() + '!'
s = S('hi'); print(s.shout(), s + ' you', len(s), s == 'hi', {s: 1}['hi'], type(s).__name__, type(s.upper()).__name__, f'{s}', '%s' % s)
class In(int):
    def __add__(self, o): return In(int(self) + int(o) + 100)
i = In(5); print(i, i + 1, i * 2, type(i + 1).__name__, type(i * 2).__name__, i == 5, {5: 'x'}[i], [0, 1, 2, 3, 4, 'six'][i], isinstance(i, int), hash(i) == hash(5))
class Tt(tuple):
    def __new__(cls, a, b): return super().__new__(cls, (a, b))
    @property
    def a(self): return self[0]
t = Tt(1, 2); print(t, t.a, len(t), t + (3,), t == (1, 2), hash(t) == hash((1, 2)))
class E(Exception):
    def __init__(self, code, msg='m'): super().__init__(msg); self.code = code
    def __str__(self): return f'E{self.code}: {self.args[0]}'
try:
    raise E(5)
except E as e:
    print(e, e.args, e.code, repr(e))
import abc
class Ab(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
    @property
    @abc.abstractmethod
    def p(self): ...
class Conc(Ab):
    def f(self): return 1
    p = 2
try:
    Ab()
except TypeError as e:
    print(e)
print(Conc().f(), Ab.__abstractmethods__ == frozenset({'f', 'p'}))
# ---
# Private names: of class bodies, methods, comprehensions, globals, annotations.
__top = 'module'
class M:
    __secret: int = 1
    __also = [__secret + i for i in range(2)]
    def __hidden(self): return self.__secret
    def get(self): return self.__hidden(), self.__also, sorted(k for k in type(self).__dict__ if 'secret' in k)
    def of_module(self):
        try: return __top
        except NameError as e: return str(e)
    del __also
    try: print(__also)
    except NameError as e: print(e)
    __also = 'again'
class N(M):
    __secret = 'n'
    def both(self): return self.__secret, self.get()
print(N().both(), M.__annotations__, N().of_module())
_M__top = 'mangled'
print(N().of_module())
# ---
import os
from enum import Enum
class D:
    def __dir__(self): return ['b', 'a']
print(dir(D()), [n for n in dir(D) if n[:2] != '__'])
# ---
class Counting:
    count = 7
    def describe(self): return 'counting ' + super().describe()
class Base:
    def describe(self): return 'base'
def counted(cls):
    cls.__bases__ = (Counting,) + tuple(b for b in cls.__bases__ if b is not Counting)
    return cls
@counted
class First(Base): pass
class Second(First):
    def __getattr__(self, name): return name
before = Second()
print(before.count, before.describe(), [c.__name__ for c in Second.__mro__], First.__subclasses__(), First in Base.__subclasses__())
class Other:
    def describe(self): return 'other'
    def __len__(self): return 0
print(bool(before))
First.__bases__ = (Other,)
print(before.describe(), before.count, bool(before), isinstance(before, Base), First in Base.__subclasses__(), First in Other.__subclasses__())
for bases in ([Base], (), (Base, 3), (Second,), (Counting, Counting)):
    try: First.__bases__ = bases
    except TypeError as e: print(type(e).__name__, bases if bases == () else '')
print(First.__bases__, before.describe())
try: int.__bases__ = (Base,)
except TypeError as e: print(type(e).__name__)
