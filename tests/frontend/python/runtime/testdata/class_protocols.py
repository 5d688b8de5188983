# Descriptors: data before instance before non-data.
class Data:
    def __set_name__(self, owner, name): self.name = name; print('set_name', owner.__name__, name)
    def __get__(self, obj, owner=None):
        if obj is None: return self
        return ('data', obj.__dict__.get('_' + self.name))
    def __set__(self, obj, value): obj.__dict__['_' + self.name] = value
    def __delete__(self, obj): print('delete', self.name); obj.__dict__.pop('_' + self.name, None)
class NonData:
    def __get__(self, obj, owner=None): return 'nondata' if obj is not None else owner.__name__
class A:
    d = Data()
    n = NonData()
a = A()
a.d = 5
a.__dict__['d'] = 'shadow'
print(a.d, a.n, A.n, type(A.d).__name__)
a.n = 'own'
print(a.n, sorted(a.__dict__))
del a.d
print(a.d)
class ReadOnly:
    def __get__(self, obj, owner): return 1
    def __set__(self, obj, value): raise AttributeError('read only')
class B:
    r = ReadOnly()
try:
    B().r = 2
except AttributeError as e:
    print(e)
# ---
# __getattr__, __getattribute__, __setattr__, __delattr__, __dir__
class Log:
    def __init__(self): object.__setattr__(self, 'log', [])
    def __getattribute__(self, name):
        if not name.startswith('_') and name != 'log':
            object.__getattribute__(self, 'log').append(name)
        return super().__getattribute__(name)
    def __getattr__(self, name):
        if name.startswith('x'): return name.upper()
        raise AttributeError(f'no {name}')
    def __setattr__(self, name, value): self.log.append('set ' + name); super().__setattr__(name, value)
    def __delattr__(self, name): self.log.append('del ' + name); super().__delattr__(name)
    def __dir__(self): return ['b', 'a']
o = Log()
o.p = 1
print(o.p, o.xyz, hasattr(o, 'q'), getattr(o, 'q', 7), dir(o))
del o.p
try:
    o.p
except AttributeError as e:
    print(e)
print(o.log)
class Slotted:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = Slotted()
s.b = 2
print(s.a, s.b, hasattr(s, '__dict__'))
for f in (lambda: setattr(s, 'c', 1), lambda: Slotted().b, lambda: s.__dict__):
    try:
        print(f())
    except AttributeError as e:
        print(type(e).__name__)
class SlottedChild(Slotted):
    __slots__ = ['c']
class Open(Slotted): pass
t = SlottedChild(); t.c = 3; print(t.a, t.c, SlottedChild.__slots__)
u = Open(); u.anything = 4; print(u.anything, u.a)
class SlotDict:
    __slots__ = ('x', '__dict__')
v = SlotDict(); v.x = 1; v.y = 2; print(v.y, v.x)
print(type(Slotted.a).__name__, Slotted.a.__get__(s, Slotted))
# ---
# __init_subclass__, __class_getitem__, __set_name__ order, metaclasses
class Plugin:
    registry = {}
    def __init_subclass__(cls, /, key=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.registry[key or cls.__name__.lower()] = cls
class One(Plugin): pass
class Two(Plugin, key='zwei'): pass
print(sorted(Plugin.registry))
try:
    class Three(Plugin, other=1): pass
except TypeError as e:
    print(e)
class Boxed:
    def __class_getitem__(cls, item): return f'{cls.__name__}[{item!r}]'
print(Boxed[3], Boxed['x', 2])
class Meta(type):
    def __new__(mcs, name, bases, ns, **kw):
        ns = dict(ns); ns['made_by'] = mcs.__name__; ns['kw'] = kw
        return super().__new__(mcs, name, bases, ns)
    def __init__(cls, name, bases, ns, **kw):
        super().__init__(name, bases, ns)
        cls.initialised = True
    @classmethod
    def __prepare__(mcs, name, bases, **kw): print('prepare', name, sorted(kw)); return {'prepared': 1}
    def __call__(cls, *args, **kwargs):
        print('call', cls.__name__, args, kwargs)
        return super().__call__(*args, **kwargs)
    def __len__(cls): return 42
    def __iter__(cls): return iter([1, 2])
    def __getitem__(cls, i): return i * 2
    def __contains__(cls, x): return x == 9
    def __repr__(cls): return f'<{cls.__name__}>'
    def __bool__(cls): return True
    @property
    def prop(cls): return cls.__name__ * 2
    def method(cls): return 'meta method of ' + cls.__name__
class M(metaclass=Meta, flag=1):
    def __init__(self, x): self.x = x
class N(M): pass
print(M.made_by, M.kw, M.initialised, M.prepared, len(M), list(M), M[4], 9 in M, M, M.prop, M.method(), type(N).__name__)
print(N(3).x, isinstance(M, Meta), type(M) is Meta)
class MetaA(type): pass
class MetaB(type): pass
class PA(metaclass=MetaA): pass
class PB(metaclass=MetaB): pass
try:
    class PC(PA, PB): pass
except TypeError as e:
    print('conflict')
class Singleton(type):
    _instances = {}
    def __call__(cls, *a, **k):
        if cls not in cls._instances: cls._instances[cls] = super().__call__(*a, **k)
        return cls._instances[cls]
class Config(metaclass=Singleton):
    def __init__(self): print('once')
print(Config() is Config())
D = type('D', (M,), {'y': 5})
print(D.y, D, D.__mro__)
# ---
# C3 in a diamond with mixins; super() in class methods, static methods, properties, closures
class Base:
    def __init__(self, **kw): self.trace = ['Base']; assert not kw
    @classmethod
    def make(cls): return [cls.__name__, 'Base']
    @property
    def p(self): return 'base'
    @staticmethod
    def s(): return 'static base'
class L(Base):
    def __init__(self, left=0, **kw): super().__init__(**kw); self.trace.append(f'L{left}')
    @classmethod
    def make(cls): return ['L'] + super().make()
    @property
    def p(self): return 'l' + super().p
class R(Base):
    def __init__(self, right=0, **kw): super().__init__(**kw); self.trace.append(f'R{right}')
    @classmethod
    def make(cls): return ['R'] + super().make()
    @property
    def p(self): return 'r' + super().p
class Both(L, R):
    def __init__(self, **kw): super().__init__(**kw); self.trace.append('Both')
    @staticmethod
    def s(): return 'both ' + Base.s()
    def nested(self):
        def inner(): return super(Both, self).p
        return inner(), [super(Both, self).p for _ in range(1)], (lambda: __class__.__name__)()
b = Both(left=1, right=2)
print(b.trace, Both.make(), b.p, b.s(), b.nested())
print([c.__name__ for c in Both.mro()], Both.__base__.__name__, [c.__name__ for c in Base.__subclasses__()])
print(super(Both, b).__thisclass__.__name__, super(Both, b).__self__ is b)
try:
    super().x
except RuntimeError as e:
    print(e)
# ---
# Operators: reflected, in place, NotImplemented, comparison, hashing, containers, calling, formatting
class V:
    def __init__(self, *v): self.v = v
    def __repr__(self): return f'V{self.v}'
    def __add__(self, o): return V(*self.v, *o.v) if isinstance(o, V) else NotImplemented
    def __radd__(self, o): return V(o, *self.v)
    def __iadd__(self, o): self.v += (o,); return self
    def __mul__(self, k): return V(*(x * k for x in self.v))
    __rmul__ = __mul__
    def __matmul__(self, o): return sum(a * b for a, b in zip(self.v, o.v))
    def __neg__(self): return V(*(-x for x in self.v))
    def __pos__(self): return self
    def __invert__(self): return 'inverted'
    def __abs__(self): return sum(map(abs, self.v))
    def __eq__(self, o): return isinstance(o, V) and self.v == o.v
    def __lt__(self, o): return self.v < o.v
    def __hash__(self): return hash(self.v)
    def __len__(self): return len(self.v)
    def __bool__(self): return any(self.v)
    def __iter__(self): return iter(self.v)
    def __reversed__(self): return iter(self.v[::-1])
    def __contains__(self, x): return x in self.v
    def __getitem__(self, i): return ('item', i)
    def __setitem__(self, i, x): print('set', i, x)
    def __delitem__(self, i): print('del', i)
    def __call__(self, *a, **k): return a, k
    def __index__(self): return len(self.v)
    def __int__(self): return 7
    def __float__(self): return 7.5
    def __complex__(self): return 7j
    def __round__(self, n=None): return ('round', n)
    def __floor__(self): return 'floor'
    def __ceil__(self): return 'ceil'
    def __trunc__(self): return 'trunc'
    def __format__(self, spec): return f'<{spec}>'
    def __divmod__(self, o): return 'divmod'
    def __rdivmod__(self, o): return 'rdivmod'
    def __pow__(self, o, m=None): return ('pow', o, m)
    def __rpow__(self, o): return ('rpow', o)
    def __lshift__(self, o): return 'lshift'
    def __rand__(self, o): return 'rand'
    def __ror__(self, o): return 'ror'
    def __rxor__(self, o): return 'rxor'
    def __rsub__(self, o): return 'rsub'
    def __rtruediv__(self, o): return 'rtruediv'
    def __rfloordiv__(self, o): return 'rfloordiv'
    def __rmod__(self, o): return 'rmod'
    def __rmatmul__(self, o): return 'rmatmul'
    def __rlshift__(self, o): return 'rlshift'
    def __rrshift__(self, o): return 'rrshift'
import math
x = V(1, 2)
print(x + V(3), 1 + x, 2 * x, x @ V(3, 4), -x, +x, ~x, abs(V(-1, 2)), x == V(1, 2), x != V(1), x < V(2), V(2) > x, hash(x) == hash((1, 2)))
y = x; y += 9; print(x is y, x, len(x), bool(V(0)), list(x), list(reversed(x)), 9 in x, x[1:2, ...], x(1, k=2))
x[0] = 1; del x[1:]
print([10, 20, 30, 40][x], int(x), float(x), complex(x), round(x), round(x, 2), math.floor(x), math.ceil(x), math.trunc(x), f'{x:abc}', format(x))
print(divmod(x, 1), divmod(1, x), x ** 2, pow(x, 2, 3), 2 ** x, x << 1, 1 & x, 1 | x, 1 ^ x, 1 - x, 1 / x, 1 // x, 1 % x, 1 @ x, 1 << x, 1 >> x)
for f in (lambda: x - 1, lambda: x + 'a' if False else x / 2, lambda: x > 1, lambda: x >= V(1), lambda: x[0] < None):
    try:
        print(f())
    except (TypeError, AttributeError) as e:
        print(type(e).__name__, str(e)[:60])
# ---
# Subclass priority of reflected operators, __eq__ without __hash__, __bool__ errors, rich comparison fall-back
class P:
    def __add__(self, o): return 'P.add'
    def __eq__(self, o): return NotImplemented
class Q(P):
    def __radd__(self, o): return 'Q.radd'
print(P() + Q(), Q() + P(), P() == P(), P() == 1)
try:
    hash(P())
except TypeError as e:
    print(e)
class Bad:
    def __bool__(self): return 2
    def __len__(self): return -1
for f in (lambda: bool(Bad()), lambda: len(Bad())):
    try:
        f()
    except (TypeError, ValueError) as e:
        print(type(e).__name__, e)
class Only:
    def __getitem__(self, i):
        if i > 3: raise IndexError
        return i * i
print(list(Only()), 4 in Only(), 5 in Only(), [*Only()], dict(zip('ab', Only())))
class Counter:
    def __init__(self): self.n = 0
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
    def __iter__(self): return self
print(list(Counter()), sum(Counter()), max(Counter()))
class Missing(dict):
    def __missing__(self, k): return k * 2
m = Missing(a=1); print(m['a'], m['b'], m.get('b'), 'b' in m)
class L(list):
    def __init__(self, *a): super().__init__(a)
    def first(self): return self[0]
    def __getitem__(self, i):
        r = super().__getitem__(i)
        return L(*r) if isinstance(i, slice) else r
l = L(1, 2, 3); l.append(4); print(l, l[1:].first(), type(l[1:]).__name__, l == [1, 2, 3, 4], type(l + [1]).__name__)
class Str(str):
    def shout(self): return self.upper() + '!'
print(Str('ab').shout(), type(Str('a') + 'b').__name__, {Str('a'): 1}['a'], isinstance(Str('a'), str), Str(5))
class I(int):
    def __new__(cls, v, unit=''): self = super().__new__(cls, v); self.unit = unit; return self
    def __repr__(self): return f'{int(self)}{self.unit}'
i = I(5, 'm'); print(i, i + 1, type(i + 1).__name__, [0] * i, i == 5, hash(i) == hash(5), f'{i}', f'{i:03d}', i.bit_length())
class F(float): pass
print(F(1.5) + 1, type(-F(1)).__name__, F(2.0).is_integer(), repr(F(3)))
class T(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
    x = property(lambda s: s[0])
t = T(1, 2); print(t, t.x, t + (3,), type(t[:]).__name__, len(t), hash(t) == hash((1, 2)))
# ---
# abc
import abc
from abc import ABC, ABCMeta, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): return 1
    @property
    @abstractmethod
    def name(self): ...
    @classmethod
    @abstractmethod
    def make(cls): ...
    def describe(self): return f'{self.name}:{self.area()}'
try:
    Shape()
except TypeError as e:
    print(e)
class Half(Shape):
    def area(self): return super().area() + 1
print(sorted(Half.__abstractmethods__), Shape.area.__isabstractmethod__)
class Square(Half):
    name = 'square'
    @classmethod
    def make(cls): return cls()
print(Square.make().describe(), Square.__abstractmethods__ == frozenset())
class Proto(metaclass=ABCMeta):
    @classmethod
    def __subclasshook__(cls, c): return any('go' in b.__dict__ for b in c.__mro__) or NotImplemented
class Goer:
    def go(self): pass
print(issubclass(Goer, Proto), isinstance(Goer(), Proto), issubclass(int, Proto))
@Shape.register
class Virtual: pass
print(issubclass(Virtual, Shape), isinstance(Virtual(), Shape))
from collections.abc import Iterable, Sized, Mapping, Sequence, Callable, Hashable, Container, MutableMapping, Iterator, Set
print([isinstance(x, c) for x in ([], {}, 'a', 1, len, iter([]), set(), (i for i in [])) for c in (Iterable, Sized, Mapping, Sequence, Callable, Hashable, Container, Iterator, Set)])
class MyMap(MutableMapping):
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = MyMap(); m.update(a=1, b=2); m.setdefault('c', 3); print(dict(m), m.pop('a'), list(m.items()), 'b' in m, m.get('z', 0), m == {'b': 2, 'c': 3}, list(m.keys()), m.popitem())
# ---
# Who is asked first.
class X:
    def __radd__(self, o): return 'radd', o
    def __index__(self): return 2
    def __rdivmod__(self, o): return 'rdivmod', o
class I(int):
    def __rdivmod__(self, o): return 'I.rdivmod'
    def __rmod__(self, o): return 'I.rmod'
l = [1]; m = l
l += X(); print(l, m)
l = m; l *= X(); print(l is m, l)
s = 'ab'; s *= X(); print(s, 'c' * X(), X() * (1,))
try: s -= X()
except TypeError as e: print(e)
print(divmod(5, X()), divmod(7, I(4)), 7 % I(4), divmod(I(9), 4))
from enum import Enum, IntEnum
class E(Enum):
    A = 1
    def f(self): pass
class J(IntEnum): B = 1
print(dir(E), dir(E.A), [n for n in dir(J.B) if n[0] != '_'], 'B' in dir(J), '__add__' in dir(J))
# ---
# Subclasses of the built-in decorators: arguments of their own, binding of their own.
class Checked(classmethod):
    def __init__(self, method, extra=1):
        super().__init__(method)
        self.extra = extra
class Noted(classmethod):
    def __new__(cls, method):
        made = super().__new__(cls, method)
        made.note = 'n'
        return made
    def __get__(self, instance, owner):
        return self.note, super().__get__(instance, owner)()
class Plain(staticmethod):
    def __init__(self, f): super().__init__(f)
class Bound(staticmethod):
    def __get__(self, instance, owner=None): return 'bound', instance is None
class OfClass(property):
    def __init__(self, f):
        super().__init__(f)
        self.tag = 't'
    def __get__(self, instance, owner): return self.fget(owner)
class Kept(property):
    def __get__(self, instance, owner=None):
        return self if instance is None else (super().__get__(instance, owner), 'kept')
    def __set__(self, instance, value): instance.__dict__['_v'] = value * 2
class Q:
    @Checked
    def a(cls): return cls.__name__
    @Noted
    def b(cls): return cls.__name__
    @Plain
    def c(x): return x
    @Bound
    def d(x): return x
    @OfClass
    def e(cls): return cls.__name__ + '!'
    @Kept
    def v(self): return self._v
class R(Q): pass
q = R(); q.v = 4
print(Q.a(), q.a(), R.b, q.b, Q.c(3), q.c(4), Q.d, q.d, R.e, q.e, q.v, type(Q.v).__name__, super(R, q).b, super(R, q).e)
print(Q.__dict__['a'].extra, Q.__dict__['e'].tag, Q.__dict__['a'].__func__.__name__, Q.__dict__['c'].__wrapped__.__name__)
for make in (lambda: classmethod(), lambda: staticmethod(len, 1), lambda: classmethod(f=len)):
    try: make()
    except TypeError as e: print('TypeError')
# ---
# Keywords of a class statement.
class A:
    def __init_subclass__(cls, tag=None, **more):
        super().__init_subclass__(**more)
        cls.tag = tag
class B(A, tag='x'): pass
class C(B): pass
print(B.tag, C.tag, A.__init_subclass__())
for text in ('class D(A, tag=1, other=2): pass', 'class D(other=1): pass', 'class D(B, **{"tag": 5}): print("in D")'):
    try: exec(text)
    except TypeError as e: print(e)
