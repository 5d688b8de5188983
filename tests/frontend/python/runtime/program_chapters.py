"""The chapters of program_generator.py that are constructs rather than expressions: classes of
every kind, generators that are driven, coroutines, exception groups, the standard modules. Each
method emits one guarded piece of program that prints what it finds."""
# Long because it is a list of pieces of programs, one a method.
from program_chapters_core import CoreChapters
from program_chapters_objects import ObjectChapters


class Chapters(CoreChapters, ObjectChapters):
    def chapter(self, depth):
        r = self.r
        r.choice(
            self.core_chapters()
            + self.object_chapters()
            + [
                self.descriptors,
                self.metaclass,
                self.diamond,
                self.dataclass,
                self.enumeration,
                self.named_tuple,
                self.driven_generator,
                self.delegation,
                self.coroutine,
                self.exception_group,
                self.context_managers,
                self.decorators,
                self.regular_expression,
                self.formatting,
                self.iterators,
                self.containers,
                self.functional,
                self.copying,
                self.integer_sets,
                self.slicing,
                self.bytes_methods,
                self.json_text,
                self.evaluated,
                self.closures_and_scopes,
                self.operators_of_classes,
                self.exceptions_in_flight,
                self.text_methods,
                self.comprehensions,
                self.random_numbers,
                self.abstract_classes,
            ]
        )()

    def piece(self, text):
        """A block of lines, guarded; {0}, {1}, ... are fresh class or function names."""
        names = [self.fresh("N") for _ in range(4)]
        for i, name in enumerate(names):
            text = text.replace("{%d}" % i, name)
        self.emit("try:")
        for line in text.strip("\n").split("\n"):
            self.emit("    " + line)
        self.emit("except Exception as e:")
        self.emit("    print(type(e).__name__, message(e))")

    def some(self, *choices):
        return self.r.choice(choices)

    def value(self):
        return self.r.choice(
            [
                "0",
                "1",
                "-3",
                "2.5",
                "'s'",
                "'abc'",
                "None",
                "True",
                "[1, 2]",
                "(3, 4)",
                "{'k': 1}",
                "{1, 2}",
                "b'x'",
                "10 ** 20",
                self.atom(),
            ]
        )

    def small(self):
        return str(self.r.randrange(-3, 6))

    # ---- classes ----

    def descriptors(self):
        r = self.r
        get = self.some(
            'return obj.__dict__.get(self.name, "unset")',
            "return (self.name, owner.__name__)",
            "return self if obj is None else obj.__dict__[self.name]",
        )
        setter = self.some(
            "",
            "    def __set__(self, obj, value): obj.__dict__[self.name] = (value,)",
            '    def __set__(self, obj, value): raise AttributeError("read only")',
        )
        delete = self.some("", '    def __delete__(self, obj): print("delete", self.name)')
        self.piece(
            f"""
class {{0}}:
    def __set_name__(self, owner, name): self.name = name; print("name", name)
    def __get__(self, obj, owner=None): {get}
{setter or '    pass'}
{delete or '    pass'}
class {{1}}:
    a = {{0}}()
    b = property(lambda self: {self.value()}, {self.some("None", "lambda self, v: print('set', v)")})
    __slots__ = {self.some("()", "('x',)", "'x'")} if {r.random() < 0.3} else ('__dict__',)
o = {{1}}()
for step in ({', '.join(r.sample(['lambda: o.a', 'lambda: setattr(o, "a", 5)', 'lambda: o.a', 'lambda: o.__dict__.update(a=7)', 'lambda: o.b', 'lambda: setattr(o, "b", 1)', 'lambda: delattr(o, "a")', 'lambda: {1}.b is not None', 'lambda: setattr(o, "x", 3)', 'lambda: o.x', 'lambda: sorted(o.__dict__)', 'lambda: hasattr(o, "zz")', 'lambda: delattr(o, "zz")', 'lambda: getattr(o, "a", 0)'], 6))}):
    try: show(step() if not isinstance(step(), ({{0}}, type)) else "object")
    except Exception as e: print(type(e).__name__)
"""
        )

    def metaclass(self):
        self.piece(
            f"""
class {{0}}(type):
    def __new__(mcs, name, bases, ns, **kw):
        cls = super().__new__(mcs, name, bases, {self.some("ns", "dict(ns, added=1)", "{k: v for k, v in ns.items() if k != 'gone'}")})
        cls.kw = sorted(kw.items())
        return cls
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns); {self.some("pass", "cls.seen = sorted(k for k in ns if not k.startswith('_'))")}
    {self.some("def __call__(cls, *a): print('call', cls.__name__[:1]); return super().__call__(*a)", "def __len__(cls): return 3", "def __getattr__(cls, name): return 'meta ' + name", "def __iter__(cls): return iter('ab')", "def __contains__(cls, x): return x == 1", "pass")}
class {{1}}(metaclass={{0}}{self.some("", ", flag=1", ", a=2, b=3")}):
    gone = {self.value()}
    def __init__(self, v=0): self.v = v
class {{2}}({{1}}): pass
print({{1}}.kw, type({{2}}).__name__ == type({{1}}).__name__, {{2}}({self.value()}).v)
for f in (lambda: len({{1}}), lambda: {{1}}.nothing, lambda: list({{2}}), lambda: 1 in {{1}}, lambda: {{1}}.added, lambda: {{1}}.seen, lambda: {{1}}.gone, lambda: isinstance({{1}}, {{0}})):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    def diamond(self):
        r = self.r
        shape = r.choice(
            [
                ("{1}({0})", "{2}({0})", "{3}({1}, {2})"),
                ("{1}({0})", "{2}({1})", "{3}({2}, {0})"),
                ("{1}({0})", "{2}", "{3}({2}, {1})"),
                ("{1}({0})", "{2}({0})", "{3}({0}, {1})"),
            ]
        )
        lines = [
            "class {0}:",
            '    def __init__(self, **kw): self.log = ["0"]; super().__init__()',
            '    def f(self, *a): return ["0", *a]',
            "    @classmethod",
            "    def make(cls): return cls.__mro__.index(object)",
        ]
        for i, head in enumerate(shape, 1):
            lines.append(f"class {head}:")
            lines.append(
                r.choice(
                    [
                        f'    def __init__(self, **kw): super().__init__(**kw); self.log = getattr(self, "log", []) + ["{i}"]',
                        "    pass",
                    ]
                )
            )
            lines.append(
                r.choice(
                    [
                        f'    def f(self, *a): return ["{i}"] + super().f(*a)',
                        f'    def f(self, *a): return ["{i}", len(a)]',
                        "    pass",
                    ]
                )
            )
            if r.random() < 0.3:
                lines.append(
                    '    def __init_subclass__(cls, **kw): super().__init_subclass__(**kw); print("subclass", len(cls.__mro__))'
                )
        lines.append(
            f'o = {{3}}(); print(o.f({self.value()}), getattr(o, "log", None), len({{3}}.__mro__), isinstance(o, {{0}}), issubclass({{3}}, {{2}}), {{3}}.make() if hasattr({{3}}, "make") else 0)'
        )
        self.piece("\n".join(lines))

    def dataclass(self):
        r = self.r
        options = ", ".join(
            o
            for o in (
                "order=True",
                "frozen=True",
                "eq=False",
                "repr=False",
                "kw_only=True",
                "slots=True",
                "unsafe_hash=True",
            )
            if r.random() < 0.2
        )
        fields = []
        for i in range(r.randrange(1, 5)):
            fields.append(
                f"f{i}: "
                + r.choice(
                    [
                        "int",
                        f"int = {self.small()}",
                        "list = field(default_factory=list)",
                        'str = "x"',
                        "int = field(default=2, repr=False)",
                        "int = field(default=3, compare=False)",
                        "int = field(init=False, default=4)",
                        '"ClassVar[int]" = 1',
                        "int = field(kw_only=True, default=6)",
                        "InitVar[int] = 0",
                    ]
                )
            )
        post = self.some(
            "",
            '    def __post_init__(self, *a): object.__setattr__(self, "late", a) if not hasattr(type(self), "__slots__") else None',
        )
        args = ", ".join(self.small() for _ in range(r.randrange(4)))
        body = "\n".join("    " + f for f in fields)
        self.piece(
            f"""
from dataclasses import dataclass, field, fields, replace, asdict, astuple, InitVar
from typing import ClassVar
@dataclass({options})
class {{0}}:
{body}
{post or '    pass'}
a = {{0}}({args})
b = {{0}}({args})
{'show(a)' if 'repr=False' not in options else 'print("made")'}
print(a == b, a != b, [f.name for f in fields(a)], {{0}}.__match_args__)
for f in (lambda: a < b, lambda: asdict(a), lambda: astuple(b), lambda: replace(a, f0=9).f0, lambda: hash(a) == hash(b) or "differ", lambda: setattr(a, "f0", 5), lambda: setattr(a, "zz", 5), lambda: getattr(a, "late", None)):
    try: show(f())
    except Exception as e: print(type(e).__name__)
@dataclass
class {{1}}({{0}}):
    extra: int = 7
c = {{1}}({args}); print(c.extra)
"""
            if "frozen" not in options
            else f"""
from dataclasses import dataclass, field, fields, replace, asdict, InitVar
from typing import ClassVar
@dataclass({options})
class {{0}}:
{body}
a = {{0}}({args})
print(a == {{0}}({args}), [f.name for f in fields(a)])
for f in (lambda: setattr(a, "f0", 5), lambda: delattr(a, "f0"), lambda: hash(a) == hash({{0}}({args})) or "differ", lambda: replace(a).f0):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    def enumeration(self):
        r = self.r
        base = r.choice(["Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "str, Enum", "int, Enum"])
        values = {
            "Enum": ["1", "'a'", "(1, 2)", "auto()", "1", "None", "2.5"],
            "IntEnum": ["1", "5", "auto()", "-1"],
            "StrEnum": ["'a'", "'b c'", "auto()"],
            "Flag": ["1", "2", "auto()", "4"],
            "IntFlag": ["1", "2", "auto()", "8"],
            "str, Enum": ["'x'", "'y'", "'z'"],
            "int, Enum": ["3", "4", "3"],
        }[base]
        members = "\n".join(f"    {n} = {r.choice(values)}" for n in "ABC"[: r.randrange(2, 4)])
        self.piece(
            f"""
from enum import Enum, IntEnum, StrEnum, Flag, IntFlag, auto, unique
class {{0}}({base}):
{members}
    def method(self): return self.name, self.value
    {self.some("@property", "")}
    def extra(self): return len(self.name)
print(len({{0}}), [m.name for m in {{0}}], list({{0}}.__members__), {{0}}.A.method())
for f in (lambda: str({{0}}.A), lambda: format({{0}}.B), lambda: repr({{0}}.B), lambda: {{0}}(1), lambda: {{0}}['B'] is {{0}}.B, lambda: {{0}}('nope'), lambda: {{0}}.A == 1, lambda: {{0}}.A < {{0}}.B, lambda: {{0}}.A | {{0}}.B, lambda: {{0}}.A + 1, lambda: ~{{0}}.A, lambda: {{0}}.A in {{0}}, lambda: setattr({{0}}, 'A', 3), lambda: {{{{0}}.A: 1}}[{{0}}.A], lambda: f'{{{{0}}.A}}', lambda: bool({{0}}.A), lambda: {{0}}.A.extra, lambda: isinstance({{0}}.A, {{0}}), lambda: sorted([{{0}}.B, {{0}}.A]), lambda: '%s' % {{0}}.A):
    try: print(re.sub('N[0-9]+', 'N', str(f() if not callable(f()) else f()())))
    except Exception as e: print(type(e).__name__)
""".replace(
                "{{{{0}}.A", "{{0}.A"
            ).replace(
                "f'{{{{0}}.A}}'", "f'{{0}.A}'"
            )
        )

    def named_tuple(self):
        self.piece(
            f"""
from collections import namedtuple
from typing import NamedTuple
{{0}} = namedtuple('P', {self.some("'x y z'", "['x', 'y', 'z']", "'x, y, z'")}{self.some("", ", defaults=[7]", ", defaults=(1, 2)")})
class {{1}}(NamedTuple):
    a: int
    b: str = {self.value()}
    def both(self): return self.a, self.b
for f in (lambda: {{0}}(1, 2, 3), lambda: {{0}}(1), lambda: {{0}}(1, 2), lambda: {{0}}(x=1, y=2, z=3)._replace(y={self.value()}), lambda: {{0}}._make([1, 2, 3])._asdict(), lambda: {{1}}({self.value()}).both(), lambda: {{1}}(1) == (1, {self.value()}), lambda: {{1}}(1)[0], lambda: {{0}}(1, 2, 3)[1:], lambda: {{0}}._fields, lambda: {{1}}(1, 2, 3), lambda: {{1}}(1)._replace(zz=1), lambda: sorted([{{0}}(2, 1, 0), {{0}}(1, 2, 3)])[0].x, lambda: hash({{1}}(1, 2)) == hash((1, 2))):
    try: print(re.sub('N[0-9]+', 'N', str(f())))
    except Exception as e: print(type(e).__name__)
"""
        )

    def operators_of_classes(self):
        r = self.r
        names = r.sample(
            [
                "add",
                "radd",
                "sub",
                "rsub",
                "mul",
                "rmul",
                "truediv",
                "floordiv",
                "mod",
                "pow",
                "lshift",
                "and",
                "ror",
                "xor",
                "matmul",
                "iadd",
                "imul",
                "rmod",
                "rpow",
                "rdivmod",
                "rtruediv",
                "rfloordiv",
                "rmatmul",
                "rlshift",
                "rand",
                "isub",
                "ior",
                "itruediv",
                "imod",
                "lt",
                "le",
                "eq",
                "ne",
                "ge",
                "getitem",
                "contains",
                "divmod",
            ],
            7,
        )
        lines = [
            "class {0}:",
            "    def __init__(self, v): self.v = v",
            '    def __repr__(self): return f"V({self.v!r})"',
        ]
        for n in names:
            result = r.choice([f'("{n}", self.v)', "NotImplemented", "{0}(self.v)", "self", f'"{n}"'])
            stop = "if isinstance(o, int) and o > 2: raise IndexError\n        " if n == "getitem" else ""
            lines.append(f"    def __{n}__(self, o):\n        {stop}return {result}")
        lines += r.sample(
            [
                '    def __neg__(self): return "neg"',
                '    def __abs__(self): return "abs"',
                "    def __bool__(self): return False",
                "    def __len__(self): return 2",
                "    def __hash__(self): return 5",
                "    def __call__(self, *a, **k): return a, sorted(k)",
                "    def __iter__(self): return iter([self.v])",
                "    def __int__(self): return 4",
                "    def __index__(self): return 1",
                "    def __float__(self): return 1.5",
                '    def __format__(self, s): return "<" + s + ">"',
                '    def __round__(self, n=None): return ("round", n)',
                "    def __getattr__(self, n): return n.upper()",
            ],
            5,
        )
        lines += [
            "class {1}({0}):",
            r.choice(
                [
                    '    def __radd__(self, o): return "sub.radd"',
                    '    def __eq__(self, o): return "sub.eq"',
                    '    def __rmod__(self, o): return "sub.rmod"',
                    '    def __rdivmod__(self, o): return "sub.rdivmod"',
                    "    pass",
                ]
            ),
        ]
        lines += [
            "def change(a, b):",
            f'    a {r.choice(["+", "-", "*", "/", "%", "|", "&", "//", "**", "<<", "@", "^"])}= b',
            "    return a",
        ]
        lines.append("x, y, z = {0}(1), {0}(2), {1}(3)")
        checks = r.sample(
            [
                "x + y",
                "x + 1",
                "1 + x",
                "x - y",
                "2 - x",
                "x * 3",
                "3 * x",
                "x / 2",
                "x // 2",
                "x % 2",
                "7 % x",
                '"%s" % x',
                '"" % x',
                "divmod(9, x)",
                "2 ** x",
                "9 / x",
                "9 // x",
                "[1] @ x",
                "1 << x",
                "3 & x",
                "[1] + x",
                "change(x, 2)",
                "change([1], x)",
                "change(5, z)",
                'change("s", x)',
                "change({1}, z)",
                "change(z, y)",
                "x ** 2",
                "x << 1",
                "x & 1",
                "1 | x",
                "x ^ x",
                "x @ y",
                "x < y",
                "x <= y",
                "x > y",
                "x == y",
                "x != y",
                "x == 1",
                "1 == x",
                "x[0]",
                "1 in x",
                "divmod(x, 2)",
                "x + z",
                "z + x",
                "x == z",
                "-x",
                "abs(x)",
                "bool(x)",
                "len(x)",
                "x(1, a=2)",
                "list(x)",
                "int(x)",
                "[7, 8][x]",
                "float(x)",
                'f"{x:>3}"',
                "round(x)",
                "round(x, 1)",
                "x.foo",
                "max(x, y)",
                "sorted([y, x])",
                "sum([x, y], 0)",
                "not x",
                '"a" * x',
                "x is not y",
                "x and y",
                "x or y",
                "[*x]",
                "dict.fromkeys([x, y])",
                "x in [y, x]",
                "(x, 1) == (x, 1)",
                "str(x)",
            ],
            18,
        )
        lines.append(f"for text in {checks!r}:")
        lines.append('    try: print(text, "->", re.sub("N[0-9]+", "N", repr(eval(text))))')
        lines.append("    except Exception as e: print(text, type(e).__name__)")
        self.piece("\n".join(lines))

    def abstract_classes(self):
        self.piece(
            f"""
from abc import ABC, abstractmethod
class {{0}}(ABC):
    @abstractmethod
    def f(self): return {self.value()}
    {self.some("@property", "@classmethod", "@staticmethod")}
    {self.some("@abstractmethod", "")}
    def g({self.some("self", "cls", "*a")}): return 1
    def __init_subclass__(cls, tag=None, **kw): super().__init_subclass__(**kw); cls.tag = tag
class {{1}}({{0}}{self.some("", ", tag=3")}):
    def f(self): return ("f", super().f())
class {{2}}({{1}}): {self.some("g = 5", "def g(self): return 2", "pass")}
for c in ({{0}}, {{1}}, {{2}}):
    try: o = c(); print("made", o.f(), c.__dict__.get("tag"))
    except TypeError as e: print("abstract", sorted(c.__abstractmethods__))
"""
        )

    # ---- functions, generators, coroutines ----

    def driven_generator(self):
        r = self.r
        body = []
        for _ in range(r.randrange(2, 5)):
            body.append(
                r.choice(
                    [
                        "x = yield x",
                        f'print("got", (yield {self.value()}))',
                        "yield from [1, 2]",
                        f"if x: yield {self.value()}",
                        'try:\n        x = yield "t"\n    except ValueError as e:\n        yield ("caught", e.args)\n    finally:\n        print("fin")',
                        f"for i in range({r.randrange(3)}): yield i",
                        "return x" if r.random() < 0.3 else "x = (yield) or x",
                        'while (y := (yield "w")): print("y", y)',
                        'with Manager(False): yield "in"',
                    ]
                )
            )
        steps = [
            r.choice(
                [
                    "next(g)",
                    f"g.send({self.value()})",
                    'g.throw(ValueError("v"))',
                    "g.throw(KeyError)",
                    "g.close()",
                    "list(zip(range(9), g))",
                    'next(g, "end")',
                    "g.send(None)",
                ]
            )
            for _ in range(r.randrange(3, 8))
        ]
        steps_text = ", ".join(f"lambda: {s}" for s in steps)
        newline = "\n    "
        self.piece(
            f"""
def {{0}}(x={self.value()}):
    {newline.join(body)}
g = {{0}}(); kept.append(g)
for step in ({steps_text},):
    try: show(step())
    except StopIteration as e: print("stop", e.value)
    except Exception as e: print(type(e).__name__)
"""
        )

    def delegation(self):
        r = self.r
        self.piece(
            f"""
def {{0}}(n):
    total = 0
    try:
        for i in range(n):
            got = yield i
            total += got if isinstance(got, int) else {r.randrange(3)}
    except {self.some("KeyError", "ValueError", "GeneratorExit")} as e:
        print("inner", type(e).__name__)
        {self.some("raise", "return 'gave up'", "yield 'more'", "pass")}
    return total
def {{1}}():
    a = yield from {{0}}({r.randrange(4)})
    print("a", a)
    b = yield from {self.some("'xy'", "range(2)", "{0}(1)", "(i for i in (5,))", "iter([])")}
    return a, b
g = {{1}}(); kept.append(g)
for step in ({', '.join('lambda: ' + r.choice(['next(g)', 'g.send(3)', 'g.throw(KeyError("k"))', 'g.throw(ValueError)', 'next(g)', 'g.close()']) for _ in range(6))}):
    try: show(step())
    except StopIteration as e: print("stop", e.value)
    except Exception as e: print(type(e).__name__)
"""
        )

    def coroutine(self):
        r = self.r
        body = [
            r.choice(
                [
                    "out.append(await leaf(1))",
                    "async with manager() as m: out.append(m)",
                    "async for i in stream(2): out.append(i)",
                    "out.append([x async for x in stream(3) if x])",
                    "out += [await leaf(i) for i in (1, 2)]",
                    "try:\n        await bad()\n    except KeyError as e: out.append(e.args)",
                    'async for i in agen(2):\n        out.append(i)\n    else: out.append("else")',
                    "out.append(await asyncgen_first())",
                    "await manager().__aexit__(None, None, None)",
                ]
            )
            for _ in range(r.randrange(2, 5))
        ]
        newline = "\n    "
        self.piece(
            f"""
class request:
    def __init__(self, v): self.v = v
    def __await__(self): return (yield self.v)
async def leaf(n): return (await request(n)), n
async def bad(): await request("b"); raise KeyError("bad")
class manager:
    async def __aenter__(self): return await leaf("enter")
    async def __aexit__(self, t, v, tb): print("aexit", t and t.__name__); await leaf("exit"); return {r.random() < 0.5}
class stream:
    def __init__(self, n): self.n = n
    def __aiter__(self): return self
    async def __anext__(self):
        if self.n <= 0: raise StopAsyncIteration
        self.n -= 1
        return self.n
async def agen(n):
    for i in range(n): yield await leaf(i)
async def asyncgen_first():
    async for x in agen(1): return x
async def {{0}}():
    out = []
    {newline.join(body)}
    return out
c = {{0}}(); kept.append(c)
sent = None
try:
    for _ in range(60):
        got = c.send(sent); print("request", got); sent = {self.some("got", "None", "7", "_")}
except StopIteration as e: show(e.value)
"""
        )

    def decorators(self):
        r = self.r
        self.piece(
            f"""
import functools
def {{0}}(times={r.randrange(1, 4)}, *, tag="t"):
    def wrap(f):
        @functools.wraps(f)
        def inner(*a, **k):
            {self.some("print('before', len(a))", "pass")}
            return [f(*a, **k) for _ in range(times)], tag
        inner.count = times
        return inner
    return wrap
@{{0}}({self.some("", "2", "1, tag='x'", "times=0")})
{self.some("@functools.lru_cache(None)", "", "@{0}(1)")}
def {{1}}(x, y={self.small()}, *z, k={self.value()}):
    "doc"
    return x, y, z, k
for f in (lambda: {{1}}(1), lambda: {{1}}(1, 2, 3), lambda: {{1}}(k=2), lambda: {{1}}(x=3), lambda: ({{1}}.__name__[0], {{1}}.__doc__, {{1}}.count), lambda: {{1}}(*[1], **{{'k': 5}}), lambda: {{1}}()):
    try: show(f())
    except Exception as e: print(type(e).__name__)
class {{2}}:
    def __init__(self, f): self.f = f; self.n = 0
    def __call__(self, *a): self.n += 1; return self.n, self.f(*a)
    def __get__(self, obj, cls): return functools.partial(self.__call__, obj)
class {{3}}:
    @{{2}}
    def m(self, x): return x
    @classmethod
    def c(cls, x={self.value()}): return cls.__name__[0], x
    @staticmethod
    def s(x): return x
print({{3}}().m(4), {{3}}().m(5), {{3}}.c(), {{3}}().s(1))
"""
        )

    def closures_and_scopes(self):
        r = self.r
        self.piece(
            f"""
G{r.randrange(10 ** 6)} = 0
def {{0}}(n):
    fs = [{self.some("lambda: i", "lambda i=i: i", "lambda j: i + j")} for i in range(n)]
    total = {self.small()}
    def add(x):
        nonlocal total
        total {self.some("+=", "-=", "*=")} x
        def deeper(): nonlocal total; total += 1; return total
        return deeper()
    class K:
        total = "class"
        def get(self): return total
    return fs, add, K
fs, add, K = {{0}}({r.randrange(1, 4)})
for f in (lambda: [f() for f in fs], lambda: add(2), lambda: (add(1), add(1)), lambda: K().get(), lambda: K.total, lambda: [f(1) for f in fs]):
    try: show(f())
    except Exception as e: print(type(e).__name__)
def {{1}}():
    {self.some("x = 1", "global x", "pass")}
    {self.some("print(x)", "del x", "x = 2", "print(y)")}
    {self.some("y = 3", "pass")}
    return (z := {self.value()}), [w := 1, w + 1], [last := q for q in range(3)], last
try: show({{1}}())
except NameError as e: print(type(e).__name__)
"""
        )

    def comprehensions(self):
        r = self.r
        outer = self.some("range(3)", "[1, 2]", "'ab'", "{1: 2}", "[(1, 2), (3, 4)]")
        self.piece(
            f"""
show([{self.some("x", "(x, y)", "[x] * 2", "(lambda: x)()", "f'{x}{y}'")} for x in {outer} for y in {self.iterable_plain()} {self.some("", "if y", "if x != y", "if (t := y)")}])
show({{{self.some("x: y", "(x, y): 1", "str(x): [y]")} for x, y in zip({self.iterable_plain()}, {self.iterable_plain()})}})
show(sorted({{str(x) for x in {self.iterable_plain()}}}))
g = ((x, y) for x in range(3) if x for y in range(x))
show((next(g), list(g), next(g, "end"), [[a for a in range(b)] for b in range(3)], [*(c for c in "ab")], {{**{{k: v for k, v in [(1, 2)]}}}}))
a, (b, *c), *d = {self.some("1, (2, 3, 4), 5, 6", "[1, 'xyz']", "(1, [2], *range(3))", "'ab'", "1, 2")}
show((a, b, c, d))
"""
        )

    def iterable_plain(self):
        return self.r.choice(
            [
                "range(4)",
                "[1, 2, 3]",
                "'abc'",
                "(0, 1)",
                "{'a': 1}",
                "[[1], [2]]",
                "[None, 1]",
                "enumerate('xy')",
                "reversed([1, 2])",
                "[]",
            ]
        )

    # ---- errors ----

    def exceptions_in_flight(self):
        r = self.r
        self.piece(
            f"""
class {{0}}({self.some("Exception", "ValueError", "KeyError", "LookupError")}):
    {self.some("pass", "def __init__(self, a, b=2): super().__init__(a); self.b = b", "def __str__(self): return 'custom'")}
def {{1}}(n):
    try:
        if n == 0: raise {{0}}({self.value()})
        if n == 1: return {self.some("1 / 0", "[][0]", "{}['k']", "int('x')", "None.a")}
        if n == 2: raise {{0}}(1) from ValueError("cause")
        if n == 3: return "returned"
    except {self.some("{0}", "(ZeroDivisionError, {0})", "Exception", "LookupError")} as e:
        print("handler", type(e).__name__[0])
        {self.some("raise", "raise RuntimeError('r')", "raise RuntimeError('r') from e", "raise RuntimeError('r') from None", "return 'handled'", "pass")}
    else:
        {self.some("return 'else'", "raise TypeError('else')", "pass")}
    finally:
        print("finally", n)
        {self.some("pass", "if n == 3: return 'overridden'", "n += 1")}
    return n
for n in range(5):
    try: show({{1}}(n))
    except Exception as e: print(type(e).__name__[0], e.args, type(e.__cause__).__name__[0], type(e.__context__).__name__[0], e.__suppress_context__)
"""
        )

    def exception_group(self):
        r = self.r

        def tree(depth):
            leaves = [
                r.choice(["ValueError(1)", "KeyError('k')", "TypeError('t')", "OSError(2, 'o')", "IndexError()"])
                for _ in range(r.randrange(1, 4))
            ]
            if depth < 2 and r.random() < 0.5:
                leaves.append(tree(depth + 1))
            return f"ExceptionGroup('g{depth}', [{', '.join(leaves)}])"

        kinds = r.sample(["ValueError", "KeyError", "(TypeError, OSError)", "LookupError", "Exception"], 2)
        self.piece(
            f"""
try:
    try: raise {self.some(tree(0), tree(0), "ValueError('bare')")}
    except* {kinds[0]} as e: print("first", repr(e)); {self.some("pass", "raise", "raise RuntimeError('in')")}
    except* {kinds[1]} as e: print("second", [type(x).__name__ for x in e.exceptions])
    {self.some("else: print('else')", "finally: print('finally')")}
except BaseException as e: print("left", repr(e), type(e.__context__).__name__)
g = {tree(0)}
show((g.split({kinds[0]}), g.subgroup(lambda e: isinstance(e, KeyError)), g.derive([ValueError()]), str(g), g.message, len(g.exceptions)))
"""
        )

    def context_managers(self):
        r = self.r
        self.piece(
            f"""
from contextlib import contextmanager, ExitStack, suppress, nullcontext, closing
@contextmanager
def {{0}}(x):
    print("in", x)
    try: yield {self.some("x", "(x, x)", "None")}
    except {self.some("ValueError", "KeyError", "Exception")} as e: print("caught", type(e).__name__); {self.some("pass", "raise", "raise RuntimeError from e")}
    finally: print("out")
with {self.some("suppress(Exception)", "nullcontext(3)", "Manager(True)")} as s, {{0}}({self.value()}) as v:
    show(v)
    {self.some("raise ValueError('x')", "raise KeyError('k')", "pass", "1 / 0")}
with ExitStack() as stack:
    for i in range({r.randrange(1, 4)}): stack.enter_context({self.some("{0}(i)", "Manager(False)", "Manager(True)")})
    stack.callback(print, "callback", {self.value()})
    {self.some("pass", "raise ValueError('stack')", "stack.close()")}
print("after")
"""
        )

    # ---- the standard modules ----

    def regular_expression(self):
        r = self.r

        def pattern(depth=0):
            atoms = [
                "a",
                "b",
                ".",
                r"\d",
                r"\w",
                r"\s",
                "[abc]",
                "[^a]",
                "ab",
                r"\b",
                "^",
                "$",
                "[a-c0-9]",
                "x",
                "1",
                r"\W",
                "-",
            ]
            parts = []
            for _ in range(r.randrange(1, 4)):
                p = r.choice(atoms)
                if depth < 2 and r.random() < 0.35:
                    inner = pattern(depth + 1)
                    p = (
                        r.choice(
                            [
                                "(%s)",
                                "(?:%s)",
                                "(?=%s)",
                                "(?!%s)",
                                "(%s|b)",
                                "(?P<n%d>%%s)" % r.randrange(10**6),
                                "(?i:%s)",
                                "(?>%s)",
                            ]
                        )
                        % inner
                    )
                if r.random() < 0.4:
                    p += r.choice(["*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{,2}"])
                parts.append(p)
            return "".join(parts)

        p = pattern()
        if r.random() < 0.2:
            p = "(a|b)" + p + r"\1"
        if r.random() < 0.1:
            p = r.choice(["(?<=a)", "(?<!b)", "(?<=ab)"]) + p
        texts = ["".join(r.choice("aabbc1x -\n") for _ in range(r.randrange(9))) for _ in range(2)]
        flags = r.choice(["0", "re.I", "re.M", "re.S", "re.A", "re.I | re.M"])
        replacement = self.some("'<>'", "lambda m: m.group().upper()", r"r'[\g<0>]'")
        self.piece(
            f"""
p = re.compile({p!r}, {flags})
for t in {texts!r}:
    m = p.search(t); f = p.fullmatch(t)
    print(m and (m.span(), m.groups(), m.lastindex, m.lastgroup is not None, m.groupdict() != {{}}), f and f.regs, p.findall(t), p.split(t), p.sub({replacement}, t), [x.start() for x in p.finditer(t)], p.match(t, 1) is None)
print(p.groups, len(p.groupindex), p.flags)
"""
        )

    def formatting(self):
        r = self.r

        def spec():
            return "".join(
                [
                    r.choice(["", "", "*", "0", "é"]) + r.choice(["<", ">", "^", "="]) if r.random() < 0.4 else "",
                    r.choice(["", "", "+", "-", " "]),
                    r.choice(["", "", "#"]),
                    r.choice(["", "", "0"]),
                    r.choice(["", "", "5", "12"]),
                    r.choice(["", "", ",", "_"]),
                    r.choice(["", "", ".0", ".2", ".5"]),
                    r.choice(["", "d", "f", "e", "g", "x", "b", "o", "c", "s", "%", "n", "X", "G", "E"]),
                ]
            )

        number = r.choice(
            [
                "0",
                "42",
                "-7",
                "1234567",
                "3.14159",
                "-0.5",
                "1e20",
                "1e-7",
                "10 ** 25",
                "True",
                "65",
                "2.5",
                "0.1",
                "123456.789",
                "'text'",
                "'é'",
                "None",
                "1 + 2j",
                'float("inf")',
                "0.0",
                "-0.0",
                "99999.5",
            ]
        )
        specs = [spec() for _ in range(8)]
        percents = [
            r.choice(
                [
                    "%d",
                    "%5d",
                    "%-5d|",
                    "%05d",
                    "%x",
                    "%#o",
                    "%e",
                    "%.2f",
                    "%g",
                    "%s",
                    "%r",
                    "%c",
                    "%%",
                    "%+d",
                    "% d",
                    "%10.3s|",
                    "%a",
                    "%i",
                    "%.0f",
                    "%G",
                    "%X",
                    "%5.1f%%",
                ]
            )
            for _ in range(4)
        ]
        self.piece(
            f"""
v = {number}
for s in {specs!r}:
    try: print(repr(s), repr(format(v, s)))
    except (ValueError, TypeError, OverflowError) as e: print(repr(s), type(e).__name__)
for s in {percents!r}:
    try: print(s, repr(s % {self.some("(v,)", "v", "(v, v)", "(3, v)")}))
    except (ValueError, TypeError, OverflowError) as e: print(s, type(e).__name__)
w = {r.randrange(1, 12)}
print(f"{{v!r:>{{w}}}}|{{v!s}}|{{v!a}}|{{w:{{w}}d}}|{{w=}}|{{w = :>4}}|{{{{}}}}", "{{0}}{{1!r}}{{0:>{{2}}}}".format(w, v, w), "{{a[k]}} {{b.real}}".format(a={{'k': v}}, b=w))
"""
        )

    def iterators(self):
        r = self.r
        calls = [
            r.choice(
                [
                    f'accumulate({self.iterable_plain()}, {self.some("None", "max", "lambda a, b: b")})',
                    f"chain({self.iterable_plain()}, {self.iterable_plain()})",
                    f'combinations("abcd", {r.randrange(4)})',
                    f'permutations({self.iterable_plain()}, {r.choice(["None", "0", "1", "2"])})',
                    f"product({self.iterable_plain()}, repeat={r.randrange(3)})",
                    f"islice(count({self.small()}), {r.randrange(3)}, {r.randrange(3, 7)}, {r.randrange(1, 3)})",
                    f"zip_longest({self.iterable_plain()}, {self.iterable_plain()}, fillvalue={self.value()})",
                    f"takewhile(bool, {self.iterable_plain()})",
                    f"dropwhile(lambda x: not x, {self.iterable_plain()})",
                    f'[(k, list(g)) for k, g in groupby({self.some("sorted(str(x) for x in [1, 1, 2])", "[1, 1, 2, 1]", "[0, 0.0, False, None]")})]',
                    f"pairwise({self.iterable_plain()})",
                    f"starmap(pow, [(2, 3), ({self.small()}, 2)])",
                    f"compress({self.iterable_plain()}, [1, 0, 1])",
                    f"filterfalse(None, {self.iterable_plain()})",
                    f"repeat({self.value()}, {r.randrange(4)})",
                    f"islice(cycle({self.iterable_plain()}), 5)",
                    f'combinations_with_replacement("abc", {r.randrange(3)})',
                    f"tee({self.iterable_plain()})[1]",
                    f"chain.from_iterable([{self.iterable_plain()}])",
                    f"zip({self.iterable_plain()}, {self.iterable_plain()}, strict={r.random() < 0.5})",
                    f"map(lambda *a: a, {self.iterable_plain()}, {self.iterable_plain()})",
                ]
            )
            for _ in range(5)
        ]
        self.piece(
            f"""
from itertools import *
for f in ({', '.join('lambda: list(' + c + ')' for c in calls)}):
    try: show(f())
    except Exception as e: print(type(e).__name__)
def noisy(n):
    for i in range(n): print("pull", i); yield i
it = {self.some("pairwise(noisy(3))", "takewhile(lambda x: x < 1, noisy(3))", "accumulate(noisy(3))", "zip_longest(noisy(2), [1])", "islice(noisy(4), 1, 3)", "chain(noisy(1), noisy(1))", "map(str, noisy(2))", "filter(None, noisy(3))", "enumerate(noisy(2))", "zip(noisy(2), noisy(1))", "groupby(noisy(2))", "dropwhile(lambda x: x < 1, noisy(3))", "compress(noisy(2), [0, 1])")}
print("made"); print(type(next(it)).__name__)
"""
        )

    def containers(self):
        r = self.r
        steps = r.sample(
            [
                "d.append(1)",
                "d.appendleft(2)",
                "d.rotate(1)",
                "d.extend([3, 4])",
                "d.pop()",
                "d.popleft()",
                "d.reverse()",
                "d.insert(1, 9)",
                "d.remove(3)",
                'd.extendleft("ab")',
                "d.clear()",
                "d.index(1)",
                "d[0]",
                "d.count(1)",
            ],
            7,
        )
        self.piece(
            f"""
from collections import deque, Counter, OrderedDict, defaultdict, ChainMap
d = deque({self.iterable_plain()}, {self.some("maxlen=3", "maxlen=None")})
for text in {steps!r}:
    try: print(text, eval(text), list(d))
    except Exception as e: print(text, type(e).__name__)
c = Counter({self.some("'abracadabra'", "[1, 1, 2]", "{'a': 3, 'b': -1}")}); c.update({self.some("'aab'", "[1]", "a=2")})
print(sorted(c.items(), key=str), sorted((c + Counter('ab')).items(), key=str), sorted((c - Counter('ab')).items(), key=str), sorted((c & Counter('aab')).items(), key=str), c.total(), [n for _, n in c.most_common(2)])
o = OrderedDict([('a', 1), ('b', 2), ('c', 3)])
for text in {r.sample(["o.move_to_end('a')", "o.move_to_end('c', last=False)", 'o.popitem()', 'o.popitem(last=False)', "o.pop('zz')", "o.update(a=5, d=6)", "o.setdefault('n', 1)", "o.move_to_end('q')", 'o == dict(o)'], 4)!r}:
    try: print(text, eval(text), list(o.items()))
    except Exception as e: print(text, type(e).__name__)
q = defaultdict({self.some("list", "int", "lambda: 'd'", "dict")}); q['a']; {self.some("q['b'] = 1", "q.get('z')", "q.setdefault('y')")}; print(dict(q))
m = ChainMap({{'a': 1}}, {{'a': 2, 'b': {self.value()}}}); print(m['a'], m.get('b'), sorted(m), len(m))
"""
        )

    def functional(self):
        r = self.r
        self.piece(
            f"""
import functools, operator
from functools import partial, reduce, lru_cache, singledispatch, total_ordering, cmp_to_key
f = lambda *a, **k: (a, sorted(k.items()))
p = partial(f, {self.value()}, k={self.value()}); show((p(), p(2, j=3), partial(p, 9)(k=1), p.args, p.keywords))
show((reduce(lambda a, b: (a, b), {self.iterable_plain()}, {self.value()}), sorted([3, 1, 2], key=cmp_to_key(lambda a, b: {self.some("a - b", "b - a", "0")}))))
@lru_cache(maxsize={self.some("None", "2", "0", "1")})
def {{0}}(x): print("miss", x); return x
show([{{0}}(i) for i in {[r.randrange(3) for _ in range(6)]}]); print({{0}}.cache_info())
@singledispatch
def {{1}}(x): return "object"
@{{1}}.register({self.some("int", "str", "list", "bool", "float")})
def _(x): return "special"
@{{1}}.register
def _(x: {self.some("tuple", "dict", "bytes", "type(None)")}): return "annotated"
print([{{1}}(v) for v in (1, True, "s", [], (), {{}}, None, 1.5, b"")])
for g in (lambda: operator.itemgetter(1, 0)({self.some("'abc'", "[1, 2]", "(3,)")}), lambda: operator.attrgetter('real', 'imag')(3), lambda: operator.methodcaller('upper')('a'), lambda: operator.{self.some("add", "sub", "mul", "truediv", "mod", "pow", "lt", "eq", "concat", "and_", "floordiv")}({self.value()}, {self.value()}), lambda: functools.reduce(operator.add, {self.iterable_plain()})):
    try: show(g())
    except Exception as e: print(type(e).__name__)
"""
        )

    def copying(self):
        self.piece(
            f"""
import copy
shared = [{self.value()}]
x = {{'a': shared, 'b': (shared, {self.value()}), 'c': [{self.value()}, {{1: {self.value()}}}]}}
{self.some("x['me'] = x", "x['c'].append(x['a'])", "pass")}
y = copy.deepcopy(x); z = copy.copy(x)
print(y['a'] is y['b'][0], y['a'] is x['a'], z['a'] is x['a'], y['c'] == x['c'] if 'me' not in x else y['me'] is y)
class {{0}}:
    def __init__(self, v): self.v = v; self.again = v
    {self.some("pass", "def __deepcopy__(self, memo): print('hook', len(memo) >= 0); return {0}(copy.deepcopy(self.v, memo))", "def __copy__(self): return {0}('copied')", "def __getstate__(self): return {'v': self.v, 'again': 1}", "def __reduce__(self): return {0}, (self.v,)")}
o = {{0}}(shared); p = copy.deepcopy(o); q = copy.copy(o)
show((p.v, p.v is p.again, p.v is shared, q.v is shared))
class {{1}}(list): pass
l = {{1}}([shared]); l.attr = shared; k = copy.deepcopy(l); print(type(k) is {{1}}, k[0] is k.attr, k == l)
"""
        )

    def integer_sets(self):
        r = self.r
        numbers = [r.randrange(-5, 80) for _ in range(r.randrange(1, 14))]
        others = [r.randrange(0, 40) for _ in range(r.randrange(1, 8))]
        # Literals are not used: equal constants of a module share one frozenset, whose order is
        # that of the first.
        self.piece(
            f"""
a = set({numbers}); b = set({others}); c = set()
for n in {numbers}: c.add(n * {r.choice([1, 3, 16])})
print(a, b, c, a | b, a & b, a - b, a ^ b, [x for x in a], set(a), frozenset(b), a.copy(), {{n % 11 for n in {numbers}}}, set(range({r.randrange(60)}, 0, -{r.randrange(1, 5)})), list(a), tuple(b), max(a), sum(b))
a.update({others}); print(a, a.union({others}, [100]), a.intersection(b), a.difference(b), sorted(a)[:3], a.pop())
d = dict.fromkeys(a); print(list(d), set(d), {{1.5, 2, True}} == {{1, 1.5, 2}})
"""
        )

    def slicing(self):
        r = self.r
        part = lambda: r.choice(["", "", "0", "1", "2", "-1", "-2", "4", "9", "-9", "None"])
        slices = [
            f"{part()}:{part()}" + r.choice(["", f':{r.choice(["1", "2", "-1", "-2", "3", "None"])}']) for _ in range(5)
        ]
        self.piece(
            f"""
for s in {[s.replace('None:', ':') for s in slices]!r}:
    for v in ([0, 1, 2, 3, 4], 'héllo', (1, 2, 3), range(10), b'bytes'):
        try: print(s, repr(eval(f'v[{{s}}]')))
        except Exception as e: print(s, type(e).__name__)
    l = list(range(6))
    try: exec(f'l[{{s}}] = {self.some("[7, 8]", "[]", "[1, 2, 3]", '"ab"', "5", "l")}'); print(l)
    except Exception as e: print(type(e).__name__, l)
    l = list(range(6))
    try: exec(f'del l[{{s}}]'); print(l)
    except Exception as e: print(type(e).__name__)
print(slice({part() or 'None'}, {part() or 'None'}, {r.choice(['None', '2', '-1'])}).indices({r.randrange(8)}))
"""
        )

    def bytes_methods(self):
        r = self.r
        b = r.choice(
            [
                "b'Hello, World'",
                "b'a,b,,c'",
                "b' pad '",
                "b'\\x00\\xff'",
                "b''",
                "bytearray(b'abc')",
                "bytes(range(65, 70))",
            ]
        )
        calls = [
            r.choice(
                [
                    ".upper()",
                    ".lower()",
                    ".title()",
                    ".split()",
                    ".split(b',')",
                    ".strip()",
                    ".replace(b'a', b'zz')",
                    ".find(b'l')",
                    ".hex()",
                    ".count(b'l')",
                    ".startswith(b'H')",
                    ".isalpha()",
                    ".partition(b',')",
                    "[0]",
                    "[1:3]",
                    "[::-1]",
                    '.decode("latin-1")',
                    ' + b"x"',
                    " * 2",
                    '.center(9, b"*")',
                    ".zfill(8)",
                    '.index(b"q")',
                    '.join([b"a", b"b"])',
                    ' == b"abc"',
                    ' < b"b"',
                    ".splitlines()",
                    ".endswith((b'd', b'c'))",
                    ".swapcase()",
                    ".isdigit()",
                    '.rfind(b"b")',
                    '.translate(None, b"l")',
                    ".decode()",
                    '.lstrip(b" H")',
                    '.removeprefix(b"He")',
                    ".expandtabs()",
                ]
            )
            for _ in range(7)
        ]
        self.piece(
            f"""
b = {b}
for text in {calls!r}:
    try: print(text, repr(eval('b' + text)))
    except Exception as e: print(text, type(e).__name__)
n = {r.randrange(-300, 70000)}
print(repr(n.to_bytes(3, {self.some("'big'", "'little'")}, signed=True)), int.from_bytes(b, {self.some("'big'", "'little'")}), list(b)[:3], {self.some("'é'", "'日本'", "'abc'")}.encode({self.some("'utf-8'", "'latin-1'", "'ascii'", "'utf-16-le'")}, {self.some("'replace'", "'ignore'", "'backslashreplace'", "'strict'")}))
"""
        )

    def text_methods(self):
        r = self.r
        s = r.choice(
            [
                "'Hello, World'",
                "'straße ÄÖ'",
                "'a\\tb\\nc\\r\\nd'",
                "'ΣΑΣ'",
                "'they\\'re 1st'",
                "''",
                "'ﬁ ß ǅ'",
                "'\\u3000x\\x1f'",
                "'AbC123'",
                "'x,y,,z'",
            ]
        )
        calls = [
            r.choice(
                [
                    ".upper()",
                    ".lower()",
                    ".title()",
                    ".capitalize()",
                    ".swapcase()",
                    ".casefold()",
                    ".split()",
                    ".split(',')",
                    ".rsplit(None, 1)",
                    ".splitlines(True)",
                    ".strip()",
                    ".isalpha()",
                    ".isupper()",
                    ".istitle()",
                    ".isspace()",
                    ".isidentifier()",
                    ".isprintable()",
                    ".isnumeric()",
                    ".expandtabs(4)",
                    ".partition(' ')",
                    ".rpartition(',')",
                    '.center(20, "·")',
                    ".zfill(12)",
                    ".encode()",
                    ".translate({97: 'A', 108: None})",
                    ".find('l', 3)",
                    ".count('')",
                    ".replace('', '-', 3)",
                    "[::-1]",
                    "[1:4]",
                    " in 'x'",
                    '.removesuffix("d")',
                    '.ljust(14) + "|"',
                    " > 'b'",
                    " * 2",
                    ".startswith('H', 0, 1)",
                    '.rindex("z")',
                    ".format()",
                    '.join("ab")',
                    ".isascii()",
                    ".isdecimal()",
                ]
            )
            for _ in range(8)
        ]
        self.piece(
            f"""
s = {s}
for text in {calls!r}:
    try: print(text, ascii(eval('s' + text)))
    except Exception as e: print(text, type(e).__name__)
print(ascii(s), repr(s), len(s), [ord(c) for c in s[:4]], sorted(s)[:5], max(s, default=None), hash(s) == hash(s + ''))
"""
        )

    def json_text(self):
        first = self.some("1", "2.5", "'é\"'", "None", "True")
        texts = self.r.sample(
            ["[1,]", "{", '"x', "nul", "[1 2]", '{"a":}', "01", "[NaN]", "1e5", r'"\u00e9"', " [ ] ", '{"a":1,"a":2}'],
            5,
        )
        second = self.some("1e20", "-0.0", r"'\n'", "[]", "{}")
        self.piece(
            f"""
import json
v = [{first}, {{'k': [{second}], {self.some("1", "'z'", "None")}: {self.some("0", "'s'", "[1, [2]]")}}}]
t = json.dumps(v, {self.some("", "indent=2", "sort_keys=False", "ensure_ascii=False", "separators=(',', ':')")}); print(t)
show(json.loads(t))
for bad in {texts!r}:
    try: show(json.loads(bad))
    except ValueError as e: print(type(e).__name__, str(e))
"""
        )

    def evaluated(self):
        texts = self.r.sample(
            [
                "b = a",
                "def f(): return a\nc = f()",
                "import math\nm = math.floor(2.5)",
                "a = 1 / 0",
                "for i in range(3): pass",
                "class K: v = a\nk = K.v",
                "x x",
                "del a",
                'print(sorted(k for k in globals() if k[0] != "_"))',
            ],
            4,
        )
        self.piece(
            f"""
x = {self.value()}
def {{0}}():
    y = 2
    return eval({self.some("'(x, y)'", "'[y for _ in range(2)]'", "'y + zz'", "'(lambda: y)()'", "'1 +'", "'locals() != {}'")})
try: show({{0}}())
except Exception as e: print(type(e).__name__)
space = {{'a': {self.value()}}}
for text in {texts!r}:
    try: exec(text, space)
    except Exception as e: print(type(e).__name__)
print(sorted(k for k in space if not k.startswith('__')), eval(compile('1 + 1', 'f', 'eval')), isinstance(space.get('c', 0), object))
"""
        )

    def random_numbers(self):
        r = self.r
        self.piece(
            f"""
import random
random.seed({r.randrange(-5, 10 ** 12)})
l = list(range({r.randrange(2, 9)})); random.shuffle(l)
print(random.random(), random.randint(0, {r.randrange(1, 1000)}), random.choice('abcd'), l, random.sample(l, 2), random.uniform(-1, 1), random.gauss(0, 1), random.choices('xyz', [1, 2, 3], k=3), random.getrandbits({r.randrange(1, 100)}))
import math
for f in (lambda: math.{self.some("sqrt", "log", "exp", "floor", "ceil", "sin", "atan", "gamma", "log2", "factorial", "isqrt", "degrees", "trunc", "erf", "expm1")}({self.some("2", "0.5", "-1", "0", "10", "1e3", "170.5", "7")}), lambda: math.{self.some("pow", "fmod", "atan2", "copysign", "hypot", "gcd", "comb", "dist", "ldexp", "isclose", "remainder", "log")}({self.small()}, {self.small()}), lambda: round({self.some("2.5", "-3.5", "1e16", "2.675", "0.1 + 0.2", "12345")}, {r.randrange(-3, 4)}), lambda: divmod({self.some("-7", "7.5", "10 ** 20")}, {self.some("3", "-2", "0.3")}), lambda: ({self.some("0.1", "1e-7", "123.0", "2.0 ** 70")}).{self.some("hex()", "as_integer_ratio()", "is_integer()", "__floor__()")}, lambda: pow({r.randrange(-9, 20)}, {r.randrange(-3, 30)}, {r.randrange(-7, 12)})):
    try: print(repr(f()))
    except Exception as e: print(type(e).__name__)
"""
        )
