import math, cmath
for name in ('acos', 'asin', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'atanh', 'exp', 'exp2', 'expm1', 'erf', 'erfc', 'gamma', 'lgamma', 'sin', 'cos', 'tan', 'sqrt', 'cbrt', 'degrees', 'radians', 'log1p', 'fabs', 'floor', 'ceil', 'trunc', 'ulp'):
    for x in (0.5, 1, -0.25):
        try: print(name, x, getattr(math, name)(x))
        except ValueError as e: print(name, x, e)
print(math.log(8, 2), math.log2(8), math.log10(1000), math.log(10 ** 300), math.log2(2 ** 2000), math.pow(2, 0.5), math.hypot(3, 4), math.hypot(1, 2, 2), math.dist((0, 0), (3, 4)), math.atan2(1, -1), math.copysign(1, -0.0), math.fmod(-7, 3), math.remainder(7, 4), math.modf(2.5), math.frexp(8.0), math.ldexp(0.5, 4), math.nextafter(1, 2))
print(math.gcd(12, 18), math.gcd(), math.gcd(4, 6, 8), math.lcm(4, 6), math.lcm(), math.factorial(20), math.comb(10, 3), math.perm(5, 2), math.perm(3), math.isqrt(99), math.prod([1, 2, 3.0]), math.prod([], start=5), math.fsum([.1] * 10), sum([.1] * 10), math.isclose(1, 1 + 1e-10), math.isclose(1, 1.1, rel_tol=.2), math.isfinite(1), math.isinf(math.inf), math.isnan(math.nan), math.pi, math.e, math.tau, math.inf, -math.inf, math.nan)
for bad in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: math.exp(1000), lambda: math.gamma(0), lambda: math.acos(2), lambda: math.sqrt('a'), lambda: math.floor(math.inf), lambda: math.ceil(math.nan), lambda: math.pow(0, -1), lambda: math.comb(-1, 2), lambda: math.isqrt(-1), lambda: math.log(8, 1), lambda: math.fmod(1, 0)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
print(cmath.sqrt(-1), cmath.exp(1j * cmath.pi).real, cmath.phase(1j), cmath.polar(1j), cmath.rect(1, 0), abs(3 + 4j), (1 + 2j).conjugate(), (1 + 2j) * (3 - 1j), (1 + 2j) / 2, (1 + 1j) ** 2, complex(1, -0.0), complex('1+2j'), repr(1j), -1j, (2 + 0j) == 2, cmath.log(1j), cmath.isclose(1j, 1j), cmath.isnan(complex(math.nan, 0)), cmath.inf, cmath.cos(0), cmath.sin(1j))
print(f'{1 + 2j:.2f}', (1.5 - 2j).real, (1.5 - 2j).imag, hash(1 + 0j) == hash(1), complex(real=1, imag=2), bool(0j))
# ---
import copy
class Node:
    def __init__(self, v): self.v = v; self.kids = []; self.me = self
n = Node([1]); n.kids.append(Node(2)); c = copy.deepcopy(n)
print(c.v, c.v is n.v, c.me is c, c.kids[0].v, copy.copy(n).kids is n.kids)
for no in ((i for i in ()), {}.keys(), {1: 2}.items()):
    for how in (copy.copy, copy.deepcopy):
        try: how(no)
        except TypeError as e: print(e)
class D:
    def __init__(self, x): self.x = x
    def __deepcopy__(self, memo): print('deepcopy', type(memo).__name__); return D(copy.deepcopy(self.x, memo))
    def __copy__(self): return D('copied')
print(copy.deepcopy(D([1])).x, copy.copy(D(1)).x)
a = [1]; b = [a, a, {'k': a}]; bb = copy.deepcopy(b); print(bb, bb[0] is bb[1], bb[2]['k'] is bb[0], bb[0] is a)
t = (1, [2]); tt = copy.deepcopy(t); print(tt, tt is t, copy.deepcopy((1, 2)) is not None, copy.copy([1, [2]]), copy.copy({1: 2}), copy.copy({1}), copy.deepcopy({(1, 2): {3}}), copy.deepcopy(frozenset([1])), copy.deepcopy(len) is len, copy.deepcopy(int) is int, copy.deepcopy(None), copy.deepcopy(lambda: 1)())
class S:
    def __init__(self): self.a = 1; self.b = [2]
    def __getstate__(self): return {'a': self.a}
    def __setstate__(self, s): self.__dict__.update(s); self.b = 'restored'
print(copy.copy(S()).b, copy.deepcopy(S()).b)
class R:
    def __init__(self, x): self.x = x
    def __reduce__(self): return R, (self.x * 2,)
print(copy.copy(R(2)).x, copy.deepcopy(R([1])).x)
class SubList(list): pass
s = SubList([1, [2]]); s.extra = [3]; e = copy.deepcopy(s); print(e, e.extra, type(e).__name__, e[1] is s[1], copy.copy(s).extra is s.extra)
class SubDict(dict): pass
sd = SubDict(a=[1]); sd.attr = 1; print(copy.deepcopy(sd), copy.deepcopy(sd).attr, type(copy.copy(sd)).__name__)
class Sl:
    __slots__ = ('a', 'b')
sl = Sl(); sl.a = [1]; cl = copy.deepcopy(sl); print(cl.a, cl.a is sl.a, hasattr(cl, 'b'))
memo = {}; x = [1]; y = copy.deepcopy(x, memo); print(memo[id(x)] is y)
l = [1]; l.append(l); m = copy.deepcopy(l); print(m[1] is m); import collections; print(copy.deepcopy(collections.OrderedDict(a=[1])), copy.copy(collections.deque([1])), copy.deepcopy(collections.defaultdict(list, a=[1])), copy.deepcopy(collections.Counter('aa')))
def fn(): pass
fn.attr = [1]; print(copy.deepcopy(fn) is fn); print(copy.deepcopy(Node.__init__) is Node.__init__, copy.deepcopy(n.__init__ if False else 5))
try: raise copy.Error('e')
except copy.error as e: print(e)
# ---
import operator
from operator import *
print(add(1, 2), mul('a', 3), sub(5, 2), truediv(1, 2), floordiv(7, 2), mod(7, 3), pow(2, 3), neg(1), pos(1), inv(1), not_(1), and_(6, 3), or_(6, 3), xor(6, 3), lshift(1, 3), rshift(8, 1), eq(1, 1), ne(1, 2), lt(1, 2), ge(2, 2), is_(None, None), is_not(1, None), contains([1], 1), concat([1], [2]), countOf([1, 1], 1), indexOf([1, 2], 2), getitem([5], 0), truth([]), index(3), abs(-1), length_hint([1, 2]))
print(itemgetter(1)([1, 2]), itemgetter(0, 2)('abc'), itemgetter('k')({'k': 1}), itemgetter(slice(1))([1, 2]), attrgetter('real')(5), attrgetter('real', 'imag')(5), methodcaller('upper')('a'), methodcaller('split', ',', maxsplit=1)('a,b,c'), sorted([(2, 'a'), (1, 'b')], key=itemgetter(0)))
l = [1]; setitem(l, 0, 9); iadd(l, [2]); delitem(l, 0); print(l, imul(2, 3), isub(5, 1), iand(6, 3), ior(4, 1), operator.__add__(1, 2), call(max, 1, 2))
# ---
import inspect
def f(a, b: int = 2, /, c=3, *args, d, e: str = 'x', **kw) -> bool: """doc"""
s = inspect.signature(f); print(s, list(s.parameters), s.return_annotation, s.parameters['b'].default, s.parameters['b'].annotation, s.parameters['d'].kind.name, s.parameters['a'].default is inspect.Parameter.empty, str(s.parameters['e']), s.parameters['args'].kind == inspect.Parameter.VAR_POSITIONAL)
b = s.bind(1, 2, 3, 4, d=5, z=6); print(b.arguments, b.args, b.kwargs); b.apply_defaults(); print(dict(b.arguments))
for bad in (lambda: s.bind(1), lambda: s.bind(1, d=1, a=2), lambda: inspect.signature(lambda x: x).bind(1, 2), lambda: inspect.signature(5)):
    try: print(bad())
    except (TypeError, ValueError) as e: print(type(e).__name__, e)
class C:
    """C doc"""
    x = 1
    def __init__(self, a, *, b=1): pass
    def m(self, q): "m doc"
    @classmethod
    def c(cls, r): pass
    @staticmethod
    def s(t): pass
    @property
    def p(self): return 1
    def __call__(self, u, v=2): pass
print(inspect.signature(C), inspect.signature(C.m), inspect.signature(C(1).m), inspect.signature(C.c), inspect.signature(C.s), inspect.signature(C(1)))
print(inspect.getfullargspec(f), inspect.getfullargspec(C.__init__).args)
print(inspect.isclass(C), inspect.isfunction(f), inspect.isfunction(C.m), inspect.ismethod(C(1).m), inspect.ismethod(C.c), inspect.isbuiltin(len), inspect.ismodule(inspect), inspect.isroutine(len), inspect.isgenerator((i for i in [])), inspect.isabstract(C), inspect.isdatadescriptor(C.__dict__['p']), callable(C))
print([n for n, v in inspect.getmembers(C) if not n.startswith('__')], [n for n, v in inspect.getmembers(C, inspect.isfunction)], inspect.getdoc(C), inspect.getdoc(C.m), inspect.getmro(C) == C.__mro__, inspect.getmodule(C) is not None)
import functools
@functools.wraps(f)
def w(*a, **k): pass
print(inspect.signature(w), inspect.signature(functools.partial(f, 1, d=2)), inspect.unwrap(w) is f)
print(s.replace(return_annotation=int), inspect.Parameter('z', inspect.Parameter.KEYWORD_ONLY, default=1), inspect.Signature([inspect.Parameter('z', inspect.Parameter.POSITIONAL_OR_KEYWORD)]), s == inspect.signature(f), [p.name for p in s.parameters.values() if p.kind is p.KEYWORD_ONLY])
def locals_of(): frame = inspect.currentframe(); return 1
print(inspect.cleandoc('  a\n    b\n  c'), inspect.isawaitable(1), inspect.getattr_static(C, 'x'))
# ---
import typing
from typing import *
T = TypeVar('T'); K = TypeVar('K', bound=int)
class Stack(Generic[T]):
    def __init__(self): self.items: List[T] = []
    def push(self, x: T) -> None: self.items.append(x)
s = Stack[int](); s.push(1); print(s.items, Stack[int].__origin__ is Stack, Stack[int].__args__, Stack.__parameters__, isinstance(s, Stack), type(s).__name__)
class Sub(Stack[str], Generic[K]): pass
print(Sub().items, Sub.__mro__[1].__name__)
class HasLen(Protocol):
    def __len__(self) -> int: ...
@runtime_checkable
class Named(Protocol):
    name: str
    def hi(self): ...
class X:
    name = 'x'
    def hi(self): return 1
print(isinstance(X(), Named), isinstance(5, Named))
try: isinstance([], HasLen)
except TypeError as e: print(type(e).__name__)
try: HasLen()
except TypeError as e: print(type(e).__name__)
class TD(TypedDict, total=False):
    a: int
    b: Required[str]
print(TD(a=1), TD.__annotations__.keys(), TD.__total__, type(TD(a=1)).__name__)
TD2 = TypedDict('TD2', {'x': int}); print(TD2(x=1))
print(Optional[int], Union[int, str], Union[int, None], List[int], Dict[str, List[int]], Tuple[int, ...], Callable[[int], str], Any, Literal['a', 1], Type[int], Set[int], FrozenSet[int], Iterable[int], Sequence[str], ClassVar[int], Final[int], Annotated[int, 'm'], int | None, list[int], dict[str, int], tuple[int, ...], Optional[Union[int, str]], Union[int, int], T, Callable[..., Any], Generator[int, None, str])
print(get_origin(List[int]), get_args(Dict[str, int]), get_origin(Optional[int]) is Union, get_args(Optional[int]), get_args(Literal['a', 'b']), get_origin(int), get_args(Callable[[int], str]), get_origin(list[int]), get_args(int | str), get_origin(Tuple[int]), get_args(Tuple[int, ...]), get_origin(Annotated[int, 1]) is Annotated)
def h(a: int, b: 'Optional[str]' = None, *c: float) -> List[int]: ...
print(get_type_hints(h)); print(h.__annotations__)
class Ann:
    x: int = 1
    y: 'List[Ann]'
print(get_type_hints(Ann), Ann.__annotations__)
print(cast(int, 'x'), NewType('UserId', int)(5), TYPE_CHECKING, Optional[int] == Union[None, int], List[int] == List[int], hash(List[int]) == hash(List[int]), Union[int, str] == Union[str, int], int | str == Union[int, str])
@overload
def ov(a: int) -> int: ...
@overload
def ov(a: str) -> str: ...
def ov(a): return a
print(ov(3)); 
@final
class Fin: pass
@no_type_check
def ntc(x: 'nonsense here'): pass
print(isinstance([], List), isinstance({}, Dict), isinstance(1, typing.SupportsInt), issubclass(list, Sequence), isinstance('a', Hashable), isinstance(len, Callable), isinstance(1, int | str), issubclass(int, int | str))
for bad in (lambda: isinstance([], List[int]), lambda: List[1] if False else Optional[1, 2], lambda: Any(), lambda: Union[()], lambda: TypeVar('T', int)):
    try: print(bad())
    except TypeError as e: print(type(e).__name__)
P = ParamSpec('P'); print(P, TypeVar('A', int, str), Self, Never, NoReturn, LiteralString, Unpack, TypeAlias, Concatenate)
print(reveal_type.__name__, assert_never.__name__, get_overloads.__name__ if hasattr(typing, 'get_overloads') else '', is_typeddict(TD), typing.get_type_hints(TD)['a'], Text, AnyStr)
class Multi(Mapping[str, int]):
    def __getitem__(self, k): return 1
    def __iter__(self): return iter('ab')
    def __len__(self): return 2
print(dict(Multi()), Multi().get('x'), NamedTuple.__name__, IO.__name__, typing.Deque, typing.DefaultDict[str, int], typing.OrderedDict[str, int], typing.Counter[str], Type, ContextManager, Awaitable)
# ---
import urllib.error
from urllib.parse import urlparse, urlsplit, urlunsplit, urljoin, urldefrag, urlencode, quote, quote_plus, unquote, unquote_plus, parse_qs, parse_qsl
for url in ('https://user:pw@Host.example:8080/a/b;p?x=1&y=2#frag', 'hf-hub:timm/vit@main', 'hf_hub:x', 'resnet50.a1_in1k', '//h/p', '/p/q;r;s', 'file:///tmp/x', 'a?b#c?d', 'http://[::1]:80/x', '1a:b', ':x', 'HTTP://A', '', 'local-dir:./x'):
    u, s = urlparse(url), urlsplit(url)
    print(u, s, u.hostname, u.port, u.username, u.password, u.geturl(), urlunsplit(s), s == tuple(s))
for bad in (lambda: urlparse('http://h:x/').port, lambda: urlparse('http://h:99999').port, lambda: urlsplit('http://[::1')):
    try: print(bad())
    except ValueError as e: print(e)
for url in ('g', './g', 'g/', '/g', '//g', '?y', 'g?y', '#s', ';x', '', '.', '..', '../g', '../../../g', 'http:g', 'mailto:x'):
    print(url, urljoin('http://a/b/c/d;p?q', url))
print(urldefrag('http://a#b'), urldefrag('x').geturl(), quote('a b/ü?~'), quote('a/b', safe=''), quote_plus('a b&c'), unquote('a%20b/%C3%BC%zz'), unquote_plus('a+b%2B'))
print(urlencode({'a': [1, 2], 'b': 'x y'}, doseq=True), urlencode([('k', 'ü'), ('n', None)]), parse_qs('a=1&a=2&c='), parse_qsl('a=1&c=&d', keep_blank_values=True), parse_qsl('x=%41+b'))
# ---
import sys, types
class Lazy(types.ModuleType):
    def __init__(self, name, structure, extra=None):
        super().__init__(name)
        self._structure = structure; self.__all__ = list(structure); self.__path__ = []; self._extra = extra or {}
    def __dir__(self):
        known = list(super().__dir__())
        return known + [n for n in self.__all__ if n not in known]
    def __getattr__(self, name):
        if name in self._extra: print('asked', name); return self._extra[name]
        if name in self._structure:
            setattr(self, name, self._structure[name]()); return getattr(self, name)
        raise AttributeError(f'module {self.__name__} has no attribute {name}')
    @property
    def size(self): return len(self._structure)
m = sys.modules['lazy_pkg'] = Lazy('lazy_pkg', {'thing': lambda: [1], 'other': dict}, extra={'__version__': '1.0'})
import lazy_pkg
from lazy_pkg import thing, other
print(lazy_pkg is m, thing, thing is lazy_pkg.thing, other, lazy_pkg.__version__, m.size, isinstance(m, types.ModuleType), m.__name__, m.__doc__, type(m).__name__, 'thing' in dir(m), hasattr(m, 'gone'), m.__spec__)
for code in ('from lazy_pkg import gone', 'import lazy_pkg.sub', 'lazy_pkg.gone', 'types.ModuleType()', 'Lazy("x")'):
    try: exec(code)
    except Exception as e: print(code, type(e).__name__, str(e)[:40])
p = types.ModuleType('plain', 'doc'); p.x = 1; print(p.__name__, p.__doc__, p.x, p.__package__, sorted(vars(p)))
# ---
import ast, inspect, sys
for text in ('[1, 2.5, -3]', "{'a': (1, None), 'b': {1, 2}}", 'None', '  "x"', "b'1'", '1+2j', '-1', 'set()', '...', '[[1], []]', 'nearest', 'f(1)', '1 + 1', '[x for x in y]', "f'{1}'", 'a.b', '{**{}}', '(1', '', 'not 1', '--1', '-True', 'True', '10**400', '1_000', 'lambda: 1', '*a'):
    try: print(text, ast.literal_eval(text))
    except (ValueError, SyntaxError) as e: print(text, type(e).__name__)
def scope():
    frame = inspect.currentframe(); caller = frame.f_back
    return frame.f_code.co_name, caller.f_code.co_name, caller.f_globals is globals(), inspect.getmodule(caller) is sys.modules.get(caller.f_globals['__name__']), caller.f_locals.get('x')
def outer():
    x = 5
    return scope()
print(outer(), sys._getframe().f_code.co_name, sys._getframe(0).f_globals['__name__'] == __name__)
print([f.function for f in (lambda: inspect.stack())()][:2], inspect.isframe(sys._getframe()), inspect.currentframe().f_lineno - sys._getframe().f_lineno)
try: sys._getframe(1000)
except ValueError as e: print(e)
# ---
from pathlib import PurePath, PurePosixPath
import os
for p in ('a//b/./c.tar.gz', '/', '//x', '///x', '', '.hidden', 'x.', '..', 'a/b/'):
    q = PurePosixPath(p)
    print(repr(q), q.name, q.stem, q.suffix, q.suffixes, q.parts, str(q.parent), [str(x) for x in q.parents], q / 'z', 'z' / q, q.is_absolute())
    try: print(q.with_suffix('.y'), q.with_name('n'), q.relative_to('a'))
    except ValueError as e: print(e)
print(PurePath('a', 'b') == PurePosixPath('a/b'), type(PurePath('a')).__name__, isinstance(PurePath(), os.PathLike), PurePath('a.py').match('*.py'), os.fspath(PurePath('x/y')), os.path.join(PurePath('a'), 'b'))
for f in (lambda: PurePath(1), lambda: os.path.join('a', 1), lambda: PurePath('a') / 1):
    try: f()
    except TypeError as e: print('TypeError')
# ---
import inspect, types, operator
from functools import partial
def f(a, *, b: int = 2): pass
print(inspect.signature(f).parameters['a'].annotation, inspect.Parameter.empty.__name__, type(types.MappingProxyType({})).__name__)
try: inspect.signature(partial(f, 1, 2))
except ValueError: print('ValueError')
try: operator.index(1.5)
except TypeError as e: print(e)
from typing import Generic, List, TypeVar
T = TypeVar('T')
class Box(Generic[T]): pass
for g in (lambda: List[int]([1]), lambda: List(), lambda: Box[int, str], lambda: Box[int]()):
    try: print(type(g()).__name__)
    except TypeError as e: print(e)
# ---
import uuid
u = uuid.UUID('{12345678-1234-5678-1234-56781234567a}'); v = uuid.uuid4()
print(u, repr(u), u.hex, u.int, int(u), u == uuid.UUID(int=u.int), hash(u) == hash(u.int), uuid.UUID(bytes=u.bytes) == u, u < uuid.UUID(int=0), u == 1)
print(v.version, v == uuid.uuid4(), len(str(v)), v.hex[16] in '89ab')
for bad in (lambda: uuid.UUID('12'), lambda: uuid.UUID(int=-1), lambda: uuid.UUID()):
    try: bad()
    except (ValueError, TypeError) as e: print(type(e).__name__, e)
try: u.int = 3
except TypeError as e: print(e)
# ---
from packaging.version import Version, parse, InvalidVersion
from packaging.specifiers import SpecifierSet, Specifier, InvalidSpecifier
from packaging.utils import canonicalize_name, canonicalize_version
from packaging.requirements import Requirement, InvalidRequirement
vs = ["1.0", "1", "2.13.0+cpu", "1.0.dev1", "1.0a1", "1.0a1.dev3", "1.0b2", "1.0rc1", "1.0-c2", "1.0.post1", "1.0-1", "1!0.5", "1.0+ubuntu.1", "1.0+ubuntu.10", "1.0+abc", "v2.0.0", "  1.2  ", "1.0.post1.dev2", "1.0PREVIEW3", "4.57.0.dev0", "0.10.0", "1.10", "1.9", "2.1.0a0+git1234", "2.0.0alpha", "1.0.rev2", "1.0.0.0"]
p = [Version(v) for v in vs]
for v in p: print(str(v), v.release, v.epoch, v.pre, v.post, v.dev, v.local, v.is_prerelease, v.is_postrelease, v.is_devrelease, v.base_version, v.public, v.major, v.minor, v.micro, repr(v), canonicalize_version(str(v)))
print([str(v) for v in sorted(p)])
for bad in ("", "a.b", "1..2", "1.0-", "1.0x", "french toast"):
    try: print(Version(bad))
    except InvalidVersion as e: print("InvalidVersion")
specs = ["==1.0", "==1.*", "!=1.0", "!=1.0.*", ">=1.0", ">1.0", "<1.0", "<=1.0", "~=1.0", "~=1.0.1", ">=1.0a1", "<2.0,>=1.9,!=1.10", "===1.0", "", ">=2", "==1.0+abc", ">1.0.post1", "<1.0a2", "==1!0.5", ">=2.0.0,<3"]
for s in specs:
    ss = SpecifierSet(s)
    print(s, [str(v) for v in p if v in ss], [str(v) for v in p if ss.contains(v, prereleases=True)], str(ss), len(ss))
for bad in ("1.0", ">>1", "~=1", ">=1.*"):
    try: print(Specifier(bad))
    except InvalidSpecifier: print("InvalidSpecifier")
for r in ("torch>=2.0,<3", "numpy", "a.b_c[x,y] (>=1.0)", "name @ https://x.y/z", "p==1; python_version<'3.9'"):
    q = Requirement(r); print(q.name, sorted(q.extras), q.specifier, q.url, q.marker is None)
for bad in ("!", "a >=", "a b"):
    try: print(Requirement(bad))
    except InvalidRequirement: print("InvalidRequirement")
print(canonicalize_name("A.b__C-d"), parse("1.0") == Version("1.0.0"), hash(Version("1.0")) == hash(Version("1")), Version("1.0") < Version("1.0.post1"), Specifier(">=1").operator, Specifier(">=1").version)
print("1.2" in SpecifierSet(">=1"), SpecifierSet(">=1") & "<2", list(SpecifierSet(">=1").filter(["1.0", "2.0a1", "0.5"])), SpecifierSet(">=1")==SpecifierSet(">=1"))
# ---
import struct
fmts = ["P", "@bhiq", "<bhiq", ">HIQ", "3s2x?c", "=l", "l", "!5B", "n", "@cq", "i0q"]
print([struct.calcsize(x) for x in fmts])
print(struct.pack("<bhiq", -1, 2, -3, 4), struct.pack(">HIQ", 1, 2, 3), struct.pack("3s2x?c", b"ab", True, b"z"), struct.unpack("<bhiq", struct.pack("<bhiq", -1, 2, -3, 4)), struct.unpack(">3sH", b"abc\x01\x02"), struct.pack("@bi", 1, 2), list(struct.iter_unpack("<H", b"\x01\0\x02\0")), struct.Struct("<I").unpack(b"\1\2\3\4"))
for bad in (lambda: struct.pack("B", 256), lambda: struct.pack("BB", 1), lambda: struct.unpack("I", b"1"), lambda: struct.calcsize("y"), lambda: struct.calcsize("3")):
    try: print(bad())
    except struct.error: print("struct.error")
# ---
import hashlib
for n in (0, 1, 55, 56, 63, 64, 65, 200):
    print([f(bytes(range(n))).hexdigest() for f in (hashlib.md5, hashlib.sha1, hashlib.sha256)])
h = hashlib.sha256(b'a'); k = h.copy(); h.update(b'b'); print(h.hexdigest() == hashlib.new('sha256', b'ab').hexdigest(), k.digest() == hashlib.sha256(b'a').digest(), h.name, h.digest_size, h.block_size)
try: hashlib.md5('x')
except TypeError: print('TypeError')
# ---
import difflib, random
random.seed(3)
words = ["".join(random.choice("abcd") for _ in range(random.randint(0, 9))) for _ in range(60)]
print([round(difflib.SequenceMatcher(None, a, b).ratio(), 12) for a in words[:25] for b in words[25:]])
print([difflib.get_close_matches(w, words, n=3, cutoff=c) for w in words[:20] for c in (0.3, 0.6)])
print(difflib.get_close_matches("appel", ["ape", "apple", "peach", "puppy"]), difflib.SequenceMatcher(lambda x: x == " ", "private Thread currentThread;", "private volatile Thread currentThread;").ratio())
for bad in (lambda: difflib.get_close_matches("a", [], n=0), lambda: difflib.get_close_matches("a", [], cutoff=2)):
    try: bad()
    except ValueError as e: print(e)
# ---
# What libraries ask of classes, modules and functions.
import inspect, re, types
class Meta(type):
    @classmethod
    def __prepare__(meta, name, bases, **kw):
        names = super().__prepare__(name, bases, **kw)
        names['made'] = name
        return names
class K(metaclass=Meta): pass
print(K.made, type.__prepare__('x', ()), re.Pattern[str].__args__, re.Match[bytes].__origin__ is re.Match)
for n in ('ClassMethodDescriptorType', 'GetSetDescriptorType', 'WrapperDescriptorType', 'MethodWrapperType', 'MappingProxyType', 'FrameType', 'TracebackType'):
    t = getattr(types, n); print(n, t.__module__, t.__qualname__)
print(isinstance(inspect.currentframe(), types.FrameType), inspect._ParameterKind.VAR_POSITIONAL, (lambda x: 0).__code__.co_qualname)
class I:
    def __init__(self, a=1):
        super().__init__()
        self.n = sorted(locals())
print(I().n)
# ---
import ctypes, posixpath
from array import array
print([ctypes.sizeof(t) for t in (ctypes.c_long, ctypes.c_int, ctypes.c_char, ctypes.c_double, ctypes.c_uint16, ctypes.c_size_t)], ctypes.sizeof(ctypes.c_int(3)))
a = array('L', [2, 3, 5]); a.append(7); a += array('L', [11])
print(a, a[1:3], a[-1], len(a), a.tolist(), a.typecode, a.itemsize, list(a), a * 2, array('b', b'\xff\x01'), array('d'), 5 in a, a.index(5))
import bisect; print(bisect.bisect(a, 6))
try: array('y')
except ValueError: print('ValueError')
print(posixpath.join('a', 'b'), posixpath.splitext('x.py'), posixpath.basename('/a/b'), posixpath.sep)
# ---
import argparse
def show(p, *lists):
    for l in lists:
        try: print(sorted(vars(p.parse_args(l)).items()))
        except SystemExit as e: print("exit", e.code)
p = argparse.ArgumentParser("x", description="d")
p.add_argument("--dims", type=int, nargs="+", default=[8, 16])
p.add_argument("--ratio", "-r", type=float, default=4.)
p.add_argument("--text", default="7", type=int)
p.add_argument("--flag", action="store_true"); p.add_argument("--no-bias", dest="bias", action="store_false")
p.add_argument("-v", action="count", default=0); p.add_argument("--add", action="append", type=int)
p.add_argument("--kind", choices=["a", "b"], default="a"); p.add_argument("--opt", nargs="?", const=5, type=int)
p.add_argument("--two", nargs=2); p.add_argument("--many", nargs="*"); p.add_argument("--c", action="store_const", const=3)
p.set_defaults(norm="ln", ratio=2.0)
show(p, [], ["--dims", "1", "2", "3"], ["--ratio=3", "-v", "-v", "--flag", "--no-bias"], ["-r", "1.5", "--add", "1", "--add", "2"], ["--kind", "b", "--opt", "--two", "p", "q"], ["--opt", "9", "--many"], ["--many", "x", "y", "--c"], ["--dims"], ["--kind", "z"], ["--nope"], ["--ratio", "a"], ["-r-2", "--dims", "-1", "-2"], ["--rat", "9"], ["-vv"])
print(sorted(vars(p.parse_known_args(["--dims", "4", "--other", "1", "rest"])[0]).items()), p.parse_known_args(["--dims", "4", "--other", "1", "rest"])[1])
q = argparse.ArgumentParser()
q.add_argument("src"); q.add_argument("n", type=int, nargs="?", default=3); q.add_argument("rest", nargs="*"); q.add_argument("--x", required=True)
show(q, ["a", "--x", "1"], ["a", "5", "b", "c", "--x", "1"], ["--x", "1", "a", "6"], ["--x", "1"], ["a"])
s = argparse.ArgumentParser(); s.add_argument("--g", type=int, default=1)
sub = s.add_subparsers(dest="cmd"); t = sub.add_parser("train"); t.add_argument("--lr", type=float, default=.1); t.add_argument("name", nargs="?"); sub.add_parser("eval")
show(s, [], ["train"], ["--g", "2", "train", "--lr", "3", "nm"], ["eval"], ["bad"])
g = argparse.ArgumentParser(); e = g.add_argument_group("grp"); e.add_argument("--in-dim", type=int, default=3); m = g.add_mutually_exclusive_group(); m.add_argument("--aa", action="store_true"); m.add_argument("--bb", action="store_true")
show(g, ["--in-dim", "4", "--aa"]); print(g.parse_args(["--bb"]), g.get_default("in_dim"), argparse.Namespace(a=1) == argparse.Namespace(a=1), "a" in argparse.Namespace(a=1))
b = argparse.ArgumentParser(); b.add_argument("--bias", action=argparse.BooleanOptionalAction, default=True); b.add_argument("--s", default=argparse.SUPPRESS)
show(b, [], ["--no-bias"], ["--bias", "--s", "1"])
ns = argparse.Namespace(k=1); print(b.parse_args([], ns) is ns, ns)
