# inspect.signature of every kind of callable.
import functools
import inspect
from collections import namedtuple
from dataclasses import dataclass, field
from enum import Enum


def shown(*callables):
    for f in callables:
        try:
            print(inspect.signature(f), end=" ")
        except (TypeError, ValueError) as error:
            print(type(error).__name__, end=" ")
    print()


class Empty:
    pass


class Below(Empty):
    def method(self, a):
        pass


class Init:
    def __init__(self, a, *, b=1):
        pass

    def __call__(self, x, /, y):
        pass

    @classmethod
    def of_class(cls, q):
        pass

    @staticmethod
    def static(q):
        pass

    bound = functools.partialmethod(of_class.__func__, q=2)


class New:
    def __new__(cls, k):
        return object.__new__(cls)


class NewAndInit(New):
    def __init__(self, k, more):
        pass


class Meta(type):
    def __call__(cls, *args, extra=0):
        return super().__call__(*args)


class OfMeta(metaclass=Meta):
    def __init__(self, r):
        pass


class MetaOfNothing(type):
    pass


class WithSignature:
    __signature__ = inspect.Signature([inspect.Parameter("given", 1)])


@dataclass
class Point:
    x: int
    y: "float" = 0.5
    rest: list = field(default_factory=list)


class Colour(Enum):
    RED = 1


shown(Empty, Below, Below.method, Below().method, Init, Init(1), Init.of_class, Init.static, Init(1).of_class, Init.__init__)
shown(New, NewAndInit, OfMeta, MetaOfNothing("X", (), {}), MetaOfNothing, WithSignature, namedtuple("P", "x y"), Colour)
print(str(inspect.signature(Point)).replace("<factory>", "F"), inspect.signature(Empty) == inspect.Signature())
print(inspect.signature(Empty).bind().args, list(inspect.signature(Below).parameters))


class OfList(list):
    pass


class OfInt(int):
    pass


class OfError(ValueError):
    pass


class ErrorWithInit(ValueError):
    def __init__(self, code):
        pass


shown(int, str, dict, object, type, list, float, complex, ValueError, OfList, OfInt, OfError, ErrorWithInit, 3, None)
shown(len, print, sorted, sum, isinstance, getattr, max, iter, open, pow, [].append, list.append, "".join, str.join, str.split)
shown(int.mro, dict.get, {}.get, dict.update, dict.fromkeys, int.from_bytes, object.__init__, list.__len__, int.__add__, bytes.decode)
# --- partial, wraps, __wrapped__
import functools
import inspect


def f(a, b=2, *c, d, e=5, **k):
    pass


def g(a, /, b, c=3):
    pass


def shown(*callables):
    for f in callables:
        try:
            print(inspect.signature(f), end=" ")
        except (TypeError, ValueError) as error:
            print(type(error).__name__, end=" ")
    print()


partial = functools.partial
shown(partial(f, 1, d=3), partial(f, b=3), partial(f, 1, 2, 3), partial(f, z=1), partial(f, a=1), partial(partial(f, 1), b=4))
shown(partial(g, 1), partial(g, b=1), partial(g, 1, c=2), partial(g, 1, 2, 3), partial(g, 1, 2, 3, 4), partial(g, q=1), partial(g, a=1))


def through(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class C:
    def method(self, a, b, *, c=0):
        return a, b, c

    one = functools.partialmethod(method, 1)
    named = functools.partialmethod(method, b=1)
    nested = functools.partialmethod(one, c=3)
    wrapped = through(method)


shown(through(g), through(through(f)), C.one, C().one, C.named, C().named, C.nested, C().nested, C.wrapped, C().wrapped)
print(C().one(2), C.one(C(), 2), C().named(5), C.nested(C(), 9), inspect.signature(through(g), follow_wrapped=False))
print(inspect.unwrap(through(g)) is g, inspect.getfullargspec(C().method), inspect.getfullargspec(through(g)).varargs)
print(inspect.getfullargspec(partial(f, 1, d=3)), inspect.getcallargs(f, 1, d=4), list(inspect.getcallargs(C().method, 1, b=2)))
loop = lambda: 0
loop.__wrapped__ = loop
shown(loop)
g.__signature__ = 3
shown(g)
del g.__signature__
g.__signature__ = inspect.signature(f)
shown(g, partial(g, 1), through(g))
# --- parts of a signature
import inspect
from inspect import Parameter, Signature


def f(x: int, y: "str" = None, *z) -> float:
    pass


def tried(action):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)


s = inspect.signature(f)
print(s, repr(s), s.return_annotation, s.parameters["y"].annotation, s.parameters["x"].kind.name, type(s.parameters).__name__)
print(s.replace(return_annotation=None), s.replace(return_annotation=Signature.empty), s.replace(parameters=[]), s.replace(parameters=None))
print(s == inspect.signature(f), hash(s) == hash(inspect.signature(f)), s == 3, s != s.replace(parameters=()), {s: 1}[inspect.signature(f)])
p = s.parameters["y"]
print(p, repr(p), p.replace(name="w", default=Parameter.empty), p == p.replace(), p == p.replace(kind=Parameter.KEYWORD_ONLY), hash(p) == hash(p.replace()))
a, b = Parameter("a", Parameter.KEYWORD_ONLY), Parameter("b", Parameter.KEYWORD_ONLY)
print(Signature([a, b]) == Signature([b, a]), hash(Signature([a, b])) == hash(Signature([b, a])), inspect.signature(f, eval_str=True).parameters["y"])
for bad in (
    lambda: Parameter("a b", 1),
    lambda: Parameter(3, 1),
    lambda: Parameter("a", 9),
    lambda: Parameter("a", Parameter.VAR_KEYWORD, default=1),
    lambda: Signature([b, Parameter("c", 1)]),
    lambda: Signature([a, a]),
    lambda: Signature([Parameter("a", 1, default=1), Parameter("b", 1)]),
    lambda: setattr(p, "name", "q"),
    lambda: setattr(s, "parameters", ()),
    lambda: s.bind(),
    lambda: s.bind(1, 2, x=1),
    lambda: s.bind(1, q=2),
    lambda: inspect.get_annotations(3),
):
    try:
        bad()
    except Exception as error:
        print(type(error).__name__, end=" ")
bound = s.bind(1, 2, 3, 4)
print(bound.args, bound.kwargs, bound.arguments, bound.signature is s, bound == s.bind(1, 2, 3, 4))
bound = s.bind_partial(y=2)
bound.apply_defaults()
print(bound, inspect.get_annotations(f), inspect.get_annotations(f, eval_str=True))
# --- frames have their code and the built-ins
import sys


def f():
    frame = sys._getframe()
    return frame.f_code is f.__code__, frame.f_builtins["len"] is len, frame.f_back.f_code.co_name, frame.f_trace


print(f())
# ---
# inspect.getclosurevars
import inspect
g = 5
def outer(a):
    b = 2
    def inner(x):
        return a + b + g + len(x) + missing
    return inner
c = inspect.getclosurevars(outer(1))
print(c.nonlocals, c.globals, sorted(c.builtins), c._fields)
class K:
    def m(self): return g
print(inspect.getclosurevars(K().m).globals, inspect.getclosurevars(lambda: 3)[:3])
try:
    inspect.getclosurevars(5)
except TypeError as e:
    print(e)
