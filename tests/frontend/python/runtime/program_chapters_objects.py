"""More chapters of program_generator.py: what classes and their instances can be made to do, what
programs can ask about them, typing, and how errors carry on."""
# Long because it is a list of pieces of programs, one a method.


class ObjectChapters:
    def object_chapters(self):
        return [
            self.attribute_hooks,
            self.properties,
            self.inherited_builtins,
            self.containers_of_classes,
            self.iterator_classes,
            self.super_calls,
            self.made_classes,
            self.introspection,
            self.signatures,
            self.typing_forms,
            self.generics_and_protocols,
            self.partial_methods,
            self.error_objects,
            self.error_chains,
            self.generator_errors,
            self.managers_in_a_row,
            self.registries,
            self.config_objects,
            self.slots,
            self.comparisons,
            self.paths_and_texts,
            self.module_like,
        ]

    def trial(self, expressions):
        """A loop that evaluates each text where it stands."""
        return f"""for text in {expressions!r}:
    try: print(text, "->", re.sub("N[0-9]+", "N", re.sub("0x[0-9a-f]+", "", repr(eval(text)))))
    except Exception as e: print(text, type(e).__name__)"""

    def attribute_hooks(self):
        r = self.r
        hooks = r.sample(
            [
                '    def __getattr__(self, n):\n        if n.startswith("_"): raise AttributeError(n)\n        return ("getattr", n)',
                '    def __getattribute__(self, n):\n        if n == "special": return "always"\n        return super().__getattribute__(n)',
                '    def __setattr__(self, n, v):\n        print("set", n, end="; ")\n        object.__setattr__(self, n, v if n != "double" else v * 2)',
                '    def __delattr__(self, n):\n        print("del", n, end="; ")\n        super().__delattr__(n)',
                '    def __dir__(self): return ["z", "y"]',
                "    def __bool__(self): return False",
                "    def __len__(self): return 0",
                '    x = property(lambda self: self.__dict__.get("_x", "no x"))',
                '    x = "class x"',
                "    def __getattr__(self, n): raise KeyError(n)",
                '    def x(self): return "method"',
            ],
            r.randrange(2, 5),
        )
        newline = "\n"
        steps = r.sample(
            [
                "o.x",
                "o.missing",
                "o.special",
                'getattr(o, "missing", 5)',
                'hasattr(o, "missing")',
                'hasattr(o, "x")',
                'setattr(o, "x", 3)',
                'setattr(o, "double", 4)',
                "o.double",
                'delattr(o, "double")',
                'delattr(o, "x")',
                "vars(o)",
                "o.__dict__.update(x=9)",
                "sorted(o.__dict__)",
                "bool(o)",
                'dir(o)[:1] == ["y"]',
                "type(o).x",
                "o.__class__ is type(o)",
                "o._private",
                "C.missing",
                'setattr(C, "late", 7)',
                "o.late",
                'object.__getattribute__(o, "x")',
                'getattr(o, "x")',
                "o.__init__ is not None",
                "callable(o)",
                "o == o, o != o",
                "len(o)",
                "C.x",
                'setattr(o, "_x", 1)',
                "isinstance(o, C)",
            ],
            12,
        )
        self.piece(
            f"""
class C:
{newline.join(hooks)}
o = C()
{self.trial(steps)}
"""
        )

    def properties(self):
        r = self.r
        self.piece(
            f"""
from functools import cached_property
class {{0}}:
    def __init__(self, v): self._v = v; self.calls = 0
    @property
    def v(self):
        "the value"
        return self._v
    {self.some("@v.setter", "@v.setter", "@property")}
    def v(self, new): self._v = (self._v, new)
    @cached_property
    def once(self): self.calls += 1; return ("computed", self.calls)
    @property
    def fails(self): raise {self.some("AttributeError('inside')", "ValueError('inside')", "KeyError('inside')")}
    {self.some("def __getattr__(self, n): return 'fallback ' + n", "pass")}
class {{1}}({{0}}):
    @property
    def v(self): return ("sub", super().v)
    {self.some("@v.setter", "@{0}.v.setter", "@v.deleter")}
    def v(self, *a): print("sub", a)
for C in ({{0}}, {{1}}):
    o = C({self.value()})
    {self.trial(r.sample(['o.v', 'setattr(o, "v", 2)', 'o.v', 'delattr(o, "v")', 'o.once', 'o.once', 'o.calls', 'setattr(o, "once", 5)', 'o.once', 'delattr(o, "once")', 'o.once', 'o.fails', 'hasattr(o, "fails")', 'getattr(o, "fails", 1)', 'type(C.v).__name__', 'C.v.__doc__', 'C.v.fset is None', 'sorted(vars(o))', 'C.v.fget(o)', 'C.once is not None'], 12)).replace(chr(10), chr(10) + '    ')}
"""
        )

    def inherited_builtins(self):
        r = self.r
        base, value, more = r.choice(
            [
                (
                    "int",
                    self.some("5", "-3", "10 ** 20"),
                    [
                        "x + 1",
                        "type(x + 1).__name__",
                        "x.bit_length()",
                        "range(3)[x % 2]",
                        'f"{x:04d}"',
                        "str(x)",
                        "int(x)",
                        "type(int(x)).__name__",
                        "hash(x) == hash(int(x))",
                        "{x: 1}[int(x)]",
                        "-x",
                        "type(abs(x)).__name__",
                        "x == int(x)",
                        "sum([x, 1])",
                        "[0] * (x % 3)",
                        "divmod(x, 2)",
                        "x.real is x",
                    ],
                ),
                (
                    "str",
                    self.some("'abc'", "''", "'x y'"),
                    [
                        'x + "d"',
                        'type(x + "d").__name__',
                        "type(x.upper()).__name__",
                        "type(x[:1]).__name__",
                        'f"{x:>5}"',
                        'x.join("ab")',
                        '"".join([x, x])',
                        "x == str(x)",
                        "{x: 1}.get(str(x))",
                        'x in "abcabc"',
                        "type(str(x)).__name__",
                        "x.split()",
                        "len(x)",
                        "sorted(x)",
                        "type(x.strip()).__name__",
                        'x.replace("q", "r") == x',
                    ],
                ),
                (
                    "list",
                    self.some("[1, 2]", '"ab"', "()"),
                    [
                        "x + [3]",
                        "type(x + [3]).__name__",
                        "type(x[:]).__name__",
                        "type(x.copy()).__name__",
                        "x.append(9)",
                        "len(x)",
                        "x == list(x)",
                        "x * 2",
                        "type(x * 2).__name__",
                        "sorted(x, key=str)",
                        "isinstance(x, list)",
                        "[*x]",
                        "x.__iadd__([4])",
                        "x[0]",
                        "repr(x) == repr(list(x))",
                        "x.extra",
                    ],
                ),
                (
                    "dict",
                    self.some('{"a": 1}', "[(1, 2)]", 'zip("ab", "cd")'),
                    [
                        'x["a"]',
                        'x.get("zz")',
                        'x["zz"]',
                        "type(x.copy()).__name__",
                        "type(x | {}).__name__",
                        "list(x)",
                        "len(x)",
                        "{**x}",
                        "x == dict(x)",
                        "dict(x)",
                        'x.setdefault("n", 3)',
                        "x.update(n=4)",
                        'x.pop("n")',
                        'type(x.fromkeys("ab")).__name__',
                        "json_like(x)",
                        '"a" in x',
                    ],
                ),
                (
                    "tuple",
                    self.some("(1, 2)", "[3]", '"xy"'),
                    [
                        "x + (3,)",
                        "type(x + (3,)).__name__",
                        "type(x[:1]).__name__",
                        "x == tuple(x)",
                        "hash(x) == hash(tuple(x))",
                        "x[0]",
                        "len(x)",
                        "x.index(1)",
                        "(lambda *a: a)(*x)",
                        "x * 2",
                        "x < (5,)",
                        "isinstance(x, tuple)",
                        '"%s %s" % x',
                    ],
                ),
                (
                    "float",
                    self.some("1.5", "-0.0", "3"),
                    [
                        "x + 1",
                        "type(x + 1).__name__",
                        "round(x)",
                        "round(x, 1)",
                        'f"{x:.3f}"',
                        "int(x)",
                        "x.is_integer()",
                        "x == float(x)",
                        "type(-x).__name__",
                        "x // 1",
                        "float(x)",
                        "type(float(x)).__name__",
                        "max(x, 1)",
                    ],
                ),
                (
                    "set",
                    self.some("{1, 2}", "[3]", "()"),
                    [
                        "x | {5}",
                        "type(x | {5}).__name__",
                        "x.add(7)",
                        "sorted(x)",
                        "x == set(x)",
                        "len(x)",
                        "7 in x",
                        "type(x.copy()).__name__",
                        "x - {1}",
                        "x.pop() is not None",
                        "x <= {1, 2, 3, 7}",
                    ],
                ),
            ]
        )
        extra = "\n".join(
            r.sample(
                [
                    f'    def __new__(cls, *a): print("new"); o = super().__new__(cls, *a); return o',
                    '    def __init__(self, *a): print("init", len(a)); super().__init__(*(a if not isinstance(self, (int, str, tuple, float)) else ()))',
                    '    def __repr__(self): return "R<" + super().__repr__() + ">"',
                    '    def __str__(self): return "S"',
                    '    def __eq__(self, o): return "eq"\n    __hash__ = None',
                    "    def __len__(self): return 42",
                    '    def __getitem__(self, i): return ("item", i)',
                    '    def __missing__(self, k): return ("missing", k)',
                    '    def __iter__(self): return iter("it")',
                    "    def __contains__(self, v): return v == 7",
                    '    def __add__(self, o): return ("add", o)',
                    '    def __getattr__(self, n): return "attr " + n',
                    "    extra = 1",
                    "    def __hash__(self): return 3",
                    '    def __format__(self, s): return "F" + s',
                    "    def __bool__(self): return False",
                ],
                r.randrange(1, 4),
            )
        )
        if base == "set":
            extra = extra.replace("__iter__", "walk")  # its repr goes through __iter__ in CPython
        self.piece(
            f"""
def json_like(d): return {{str(k): v for k, v in d.items()}}
class C({base}):
{extra}
for args in (({value},), ()):
    try: x = C(*args)
    except Exception as e: print(type(e).__name__); continue
    {self.trial(r.sample(more, min(len(more), 9)) + ['bool(x)', 'repr(x)', 'str(x)', 'f"{x}"', 'isinstance(x, ' + base + ')']).replace(chr(10), chr(10) + '    ')}
"""
        )

    def containers_of_classes(self):
        r = self.r
        methods = r.sample(
            [
                "    def __getitem__(self, k):\n        if isinstance(k, slice): return (k.start, k.stop, k.step)\n        if isinstance(k, tuple): return [type(i).__name__ for i in k]\n        if k > 2 if isinstance(k, int) else False: raise IndexError\n        return k",
                '    def __setitem__(self, k, v): print("set", k, v, end="; ")',
                '    def __delitem__(self, k): print("del", k, end="; ")',
                "    def __len__(self): return 3",
                "    def __iter__(self): return iter([7, 8])",
                '    def __contains__(self, v): return v == "yes"',
                '    def __reversed__(self): return iter("rev")',
                "    def __next__(self): raise StopIteration",
                "    def __call__(self, *a, **k): return len(a), sorted(k)",
                '    def __class_getitem__(cls, k): return ("class", k)',
                "    def __index__(self): return 2",
                "    def __length_hint__(self): return 5",
                '    def keys(self): return ["a", "b"]',
                "    def __hash__(self): return 1",
                "    def __missing__(self, k): return k",
            ],
            r.randrange(4, 9),
        )
        newline = "\n"
        self.piece(
            f"""
class C:
{newline.join(methods)}
o = C()
{self.trial(r.sample(['o[1]', 'o[5]', 'o[1:2]', 'o[::2, ...]', 'o[1, 2:3]', 'o["k"]', 'o.__setitem__(1, 2)', 'o.__delitem__(1)', 'len(o)', 'list(o)', '1 in o', '"yes" in o', 'list(reversed(o))', 'next(o)', 'o(1, a=2)', 'C[int]', 'C[int, ...]', '[1, 2, 3][o]', '"abcd"[o:]', 'dict(o)', '{**o}', '(lambda **k: k)(**o)', '[*o]', 'tuple(o)', 'sum(o)', 'max(o)', 'a if (a := o) else 0', 'list(zip(o, "ab"))', 'list(enumerate(o))', '{o: 1}[o]', 'range(o)', 'bin(o)', '"%d" % o', 'list(map(str, o))', '(lambda a, b: b)(*o)', 'any(o)', 'iter(o) is not None', 'bool(o)', '[i for i, in [o[:1][:1]]]', 'sorted(o)', 'hex(o)', 'callable(o)'], 14))}
"""
        )

    def iterator_classes(self):
        r = self.r
        self.piece(
            f"""
class It:
    def __init__(self, n): self.i, self.n = 0, n
    def __iter__(self): {self.some("return self", "self.i = 0; return self")}
    def __next__(self):
        self.i += 1
        if self.i > self.n: raise {self.some("StopIteration", "StopIteration('v')", "StopIteration", "ValueError('it')")}
        return self.i
class Seq:
    def __getitem__(self, i):
        if i >= {r.randrange(4)}: raise {self.some("IndexError", "StopIteration", "KeyError(i)")}
        return i * i
class Tree:
    def __init__(self, v, *kids): self.v, self.kids = v, kids
    def __iter__(self):
        {self.some("yield self.v", "pass")}
        for k in self.kids: yield from k
        {self.some("yield self.v", "return 'end'", "yield -self.v")}
it = It({r.randrange(5)})
for f in (lambda: list(it), lambda: list(it), lambda: list(Seq()), lambda: 4 in Seq(), lambda: [*Seq(), *It(2)], lambda: dict(zip(It(2), Seq())), lambda: sum(It(3)), lambda: max(Seq()), lambda: (lambda a, *b: (a, b))(*It(2)), lambda: list(map(lambda a, b: a + b, It(3), Seq())), lambda: list(Tree(1, Tree(2), Tree(3, Tree(4)))), lambda: sorted(Tree(5, Tree(2))), lambda: next(iter(Tree(7))), lambda: [a for a, in [[x] for x in It(2)]], lambda: list(iter(It(9).__next__, 4)), lambda: list(reversed(Seq())), lambda: tuple(It(1)), lambda: "".join(map(str, It(3))), lambda: any(x > 1 for x in It(4)), lambda: iter(5), lambda: list(enumerate(It(2), {r.randrange(3)})), lambda: [x for x in It(3) if x in It(2)]):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    def super_calls(self):
        r = self.r
        self.piece(
            f"""
class A:
    def __init__(self, *a, **k): self.log = ["A"]; {self.some("super().__init__()", "pass")}
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def static(x): return ("A", x)
    @property
    def p(self): return "A.p"
    def __repr__(self): return f"<{{type(self).__name__[0]}} {{self.log}}>"
    def run(self): return self.hook()
    def hook(self): return "A.hook"
class B(A):
    def __init__(self, *a, **k): super().__init__(*a, **k); self.log.append("B")
    @classmethod
    def make(cls, *a): return ("B", super().make(*a))
    @staticmethod
    def static(x): return {self.some('A.static(x)', '("B", x)')}
    @property
    def p(self): return "B" + super().p
    def hook(self): return ["B", *[super(B, self).hook() for _ in range({r.randrange(3)})]]
class Mixin:
    def __init__(self, *a, **k): super().__init__(*a, **k); self.log.append("M")
    def hook(self): return {self.some('["M", super().hook()]', '(lambda: super(Mixin, self).hook())()', '[__class__.__name__, super().hook()]')}
class C({self.some("Mixin, B", "B, Mixin", "Mixin, A")}):
    def __init__(self, *a, **k):
        {self.some("super().__init__(*a, **k)", "B.__init__(self) if isinstance(self, B) else A.__init__(self)", "super(C, self).__init__()")}
        self.log.append("C")
    p = {self.some("property(lambda self: 'C' + super(C, self).p)", "'plain'")}
    def nested(self):
        def inner(): return super(C, self).hook()
        return inner(), [super(C, self).p for _ in "a"]
for f in (lambda: C(), lambda: C().run(), lambda: C.make(1), lambda: B.make(), lambda: C.static(3), lambda: C().p, lambda: C().nested(), lambda: [c.__name__ for c in C.__mro__], lambda: super(B, C()).hook(), lambda: super(A, C()).hook(), lambda: super(C, A()).hook(), lambda: super().hook(), lambda: super(B, C).make(), lambda: C().static(1), lambda: super(B, B()).__init__.__name__):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    def made_classes(self):
        r = self.r
        self.piece(
            f"""
def __init__(self, v): self.v = v
{{0}} = type("Made", ({self.some("", "dict,", "object,")}), {{"__init__": __init__, "twice": lambda self: self.v * 2, "k": {self.value()}, "__module__": "m"}})
class {{1}}:
    made = []
    def __init_subclass__(cls, /, name=None, **kw): super().__init_subclass__(**kw); {{1}}.made.append(name or cls.__name__[0]); cls.kw = name
class S1({{1}}, name={self.some("'one'", "None")}): pass
class S2(S1{self.some("", ", name='two'", ", other=1")}): pass
def factory(n):
    class Local({{1}}):
        number = n
        def get(self): return n, self.number
    return Local
for f in (lambda: {{0}}(3).twice(), lambda: {{0}}.__name__, lambda: {{0}}.__module__, lambda: {{1}}.made, lambda: S2.kw, lambda: factory({self.value()})().get(), lambda: factory(1) is factory(1), lambda: factory(1).__qualname__, lambda: type({{0}}(1)) is {{0}}, lambda: {{0}}.k, lambda: type("X", (int,), {{}})(5) + 1, lambda: type("Y", (S1,), {{}}, name="kw").kw, lambda: {{1}}.made, lambda: type("Z", (int, str), {{}}), lambda: type("W", (), {{"__slots__": ("a",)}})().a, lambda: isinstance(S2(), {{1}}), lambda: [c.__name__[0] for c in S2.__bases__], lambda: len({{1}}.__subclasses__()) > 0, lambda: type(type), lambda: type(1, 2), lambda: type("V", (bool,), {{}}), lambda: S1.__dict__.get("kw"), lambda: setattr(S1, "new", 1) or S2.new, lambda: delattr(S1, "new") or hasattr(S2, "new")):
    try: print(re.sub("N[0-9]+", "N", repr(f())))
    except Exception as e: print(type(e).__name__)
"""
        )

    def slots(self):
        self.piece(
            f"""
class A:
    __slots__ = {self.some("('x', 'y')", "['x']", "'x'", "('x', '__dict__')", "{'x': 'doc'}")}
    def __init__(self, x): self.x = x
class B(A):
    {self.some("pass", "__slots__ = ()", "__slots__ = ('z',)", "z = 1")}
for C in (A, B):
    o = C({self.value()})
    for text in ("o.x", "o.y", "setattr(o, 'z', 2)", "o.z", "hasattr(o, '__dict__')", "delattr(o, 'x')", "o.x", "setattr(o, 'x', 5)", "o.x", "type(C.x).__name__", "setattr(o, 'q', 1)", "A.x.__get__(o)", "getattr(C, '__slots__', 0)"):
        try: print(text, eval(text))
        except Exception as e: print(text, type(e).__name__)
try:
    class D(A): __slots__ = ('w',); w = 1
except ValueError as e: print("conflict")
"""
        )

    def comparisons(self):
        r = self.r
        self.piece(
            f"""
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, *v): self.v = v
    def __eq__(self, o): return self.v == o.v if isinstance(o, V) else NotImplemented
    def __{self.some("lt", "le", "gt", "ge")}__(self, o): return self.v {self.some("<", ">")} o.v if isinstance(o, V) else NotImplemented
    {self.some("def __hash__(self): return hash(self.v)", "pass")}
    def __repr__(self): return f"V{{self.v}}"
class Any:
    def __eq__(self, o): return True
    def __lt__(self, o): return "lt"
    def __ne__(self, o): return {self.some("'ne'", "NotImplemented", "False")}
a, b, c, e = V(1, {r.randrange(3)}), V({r.randrange(3)}), V(1, 2), Any()
{self.trial(r.sample(['a < b', 'a <= b', 'a > b', 'a >= b', 'a == c', 'a != c', 'a == 1', 'a < 1', '1 < a', 'sorted([a, b, c])', 'max(a, b, c)', '{a: 1}.get(c)', 'len({a, b, c})', 'a in [c]', '[a] == [c]', '(a, 1) < (c, 2)', 'e == 1', '1 == e', 'e != 1', '1 != e', '1 > e', 'e > 1', 'e in []', 'None == e', '[1, e] == [2, 3]', '[1, 2].index(e)', '[e, e].count(3)', 'a == e', 'e == a', 'a < b < c', 'a == a == a', '1 < 2 == True', '1 == 1.0 == True', '[1, 2] < [1, 2, 0]', '"a" < "B"', '(1, "a") < (1, 2)', '{1} < {1, 2} < {1, 2, 3}', 'None < 1', '1 < "a"', '[] == ()', '{} == {}', '1j == 1j', '1j < 2j', 'float("nan") == float("nan")', '[float("nan")] == [1]', 'True < 2', 'b"a" == "a"', 'range(3) == range(0, 3, 1)', 'range(0) == range(2, 1)', 'type(a) == V', 'NotImplemented == NotImplemented', '... is Ellipsis', 'hash(a) == hash(c)', 'not a == b', 'a is a is not b'], 20))}
"""
        )

    def introspection(self):
        r = self.r
        self.piece(
            f"""
class A:
    "doc of A"
    x: int = 1
    y: "str"
    def m(self, a, b: int = 2, *c, d=3, **e) -> list: "doc of m"; local = 1; return local
    @classmethod
    def cm(cls): pass
    @staticmethod
    def sm(): pass
    class Inner:
        def deep(self): return lambda: 0
class B(A):
    z = {self.value()}
    def m(self): pass
o = B(); o.inst = 5
def f(a, b=1, *, c: float = 2.0) -> None: pass
{self.trial(r.sample(['A.__name__', 'B.__doc__', 'A.__doc__', 'A.__annotations__', 'B.__annotations__ if "__annotations__" in B.__dict__ else "none"', 'A.m.__doc__', 'A.m.__name__, A.m.__qualname__', 'A.Inner.__qualname__', 'A.Inner.deep.__qualname__', 'A.Inner().deep().__qualname__', 'A.m.__defaults__, A.m.__kwdefaults__', 'A.m.__annotations__', 'f.__annotations__', 'f.__code__.co_varnames', 'A.m.__code__.co_varnames', 'A.m.__code__.co_argcount, A.m.__code__.co_kwonlyargcount', 'A.m.__code__.co_name', 'o.m.__self__ is o', 'o.m.__func__ is B.m', 'o.m == o.m', 'o.m is o.m', 'A.cm.__self__ is A', 'B.cm.__self__ is B', 'type(A.__dict__["sm"]).__name__', 'type(A.__dict__["cm"]).__name__', 'vars(o)', 'sorted(k for k in vars(A) if not k.startswith("__"))', '[k for k in dir(A) if not k.startswith("__")]', '[k for k in dir(o) if not k.startswith("__")]', '"__init__" in dir(A), "mro" in dir(A)', '[k for k in dir(B) if k in ("m", "z", "x", "__doc__", "__dict__", "__module__")]', 'B.__mro__[1] is A', 'B.__base__ is A', 'B.__bases__', 'B.mro()[-1]', 'type(o).__name__', 'o.__class__.__name__', 'o.__module__', 'isinstance(B, type)', 'issubclass(B, (int, A))', 'issubclass(bool, int)', 'callable(A), callable(o)', 'A.__subclasses__()', 'getattr(o, "inst")', 'o.__dict__', 'f.__defaults__', 'f.__kwdefaults__', 'f.__name__', 'f.__module__', 'f.extra', 'setattr(f, "extra", 1) or f.extra', 'f.__dict__', '(lambda: 0).__name__', 'len.__name__', 'print.__name__, int.__name__, [].append.__name__', 'type(None).__name__, type(...).__name__, type(NotImplemented).__name__', 'type(len).__name__, type(f).__name__, type(o.m).__name__', 'type(i for i in []).__name__', 'type({}.keys()).__name__, type(zip()).__name__, type(map(str, [])).__name__', 'type(A.m).__name__', 'type(type(o)).__name__', 'A.__dict__["x"]', 'B.x', 'int.__mro__', 'bool.__bases__', 'type.__mro__', 'isinstance(f, type(lambda: 0))', 'A.m is A.m', 'A().m(1)', 'id(o) == id(o)', 'repr(A)', 'repr(f)[:11]', 'repr(o)[:2]', 'str(type(o))', 'repr(len)', 'repr(A.m)', 'hash(o) == hash(o)', 'A.y', 'A().y', 'dir(1)[-3:]', '"append" in dir([])', 'sorted(set(dir(B)) - set(dir(A)))', '[k for k in dir(Exception) if "_" not in k]', 'len([k for k in dir(object) if k.startswith("__")]) > 15'], 22))}
"""
        )

    def signatures(self):
        r = self.r
        names = list("abcde")
        parts = []
        for i in range(r.randrange(4)):
            parts.append(
                names[i]
                + self.some("", ": int", ': "str"')
                + (
                    "=" + self.some("1", "None", "'s'", "(1, 2)")
                    if parts and "=" in parts[-1] or r.random() < 0.3
                    else ""
                )
            )
        if r.random() < 0.5:
            parts.append(self.some("*args", "*", "*args: int"))
            parts.append(self.some("k", "k=2", "k: float = 1.5"))
        if r.random() < 0.4:
            parts.append("**kw")
        self.piece(
            f"""
import inspect
from functools import partial, wraps
def f({', '.join(parts)}){self.some('', ' -> int', ' -> None')}: return locals()
@wraps(f)
def g(*a, **k): return f(*a, **k)
class C:
    def __init__(self, {', '.join(parts)}): pass
    def __call__(self, q, /, r=1): pass
s = inspect.signature(f)
{self.trial(r.sample(['str(s)', 'list(s.parameters)', '[p.kind.name for p in s.parameters.values()]', '[p.default is inspect.Parameter.empty for p in s.parameters.values()]', '[str(p) for p in s.parameters.values()]', 'str(inspect.signature(g))', 'str(inspect.signature(C))', 'str(inspect.signature(C()))', 's.bind(1, 2).arguments', 's.bind(1, k=3).arguments', 's.bind_partial(1).arguments', 'str(inspect.signature(lambda x, *y: 0))', 's.return_annotation is inspect.Signature.empty', '[p.annotation for p in s.parameters.values()]', 'inspect.isfunction(f), inspect.isclass(C), inspect.ismethod(C.__call__)', 'str(inspect.signature(partial(f, 1)))', 'inspect.getfullargspec(f).args', 'inspect.getfullargspec(f).varargs', 'inspect.getfullargspec(f).defaults', 'inspect.isgeneratorfunction(gen)', 'inspect.getdoc(f)', 's == inspect.signature(f)', 'f(1, 2, k=3)', 'f(1)', 'f(*[1, 2, 3], z=1)', 'inspect.unwrap(g) is f', '{k: v.default for k, v in s.parameters.items() if v.default is not v.empty}', 's.parameters["a"].name', 'inspect.isabstract(C)', 'inspect.getmro(C)[-1]'], 12))}
"""
        )

    def typing_forms(self):
        r = self.r
        forms = [
            "int",
            "Optional[int]",
            "Union[int, str]",
            "Union[int, None, int]",
            "List[int]",
            "Dict[str, Any]",
            "Tuple[int, ...]",
            "Callable[[int], str]",
            "Callable[..., int]",
            "list[int]",
            "dict[str, list[int]]",
            'Literal["a", 1]',
            "Type[int]",
            "Sequence[T]",
            "Any",
            "Iterable[str]",
            "tuple[()]",
            'Annotated[int, "m"]',
            'Optional["Later"]',
            "T",
            "Set[int]",
            "type[int]",
            "Mapping[str, int]",
            "None",
            "Union[Optional[int], str]",
            "NoReturn",
        ]
        chosen = r.sample(forms, 7)
        expressions = []
        for f in chosen:
            expressions += r.sample(
                [
                    f"repr({f})",
                    f"get_origin({f}) is Union",
                    f"get_args({f})",
                    f"{f} == {f}",
                    f"{f} == int",
                    f"hash({f}) == hash({f})",
                    f"isinstance(1, {f})",
                    f"{f} is Any",
                    f'getattr({f}, "__args__", "none")',
                    f"Optional[{f}]",
                    f"{f} | None",
                    f"List[{f}]",
                ],
                3,
            )
        self.piece(
            f"""
from typing import *
from typing import get_type_hints, get_origin, get_args
T = TypeVar("T")
class Later: pass
class H:
    a: int
    b: "Optional[str]" = None
    def m(self, x: "list[int]", y: {self.some('Optional[int]', '"H"', 'Tuple[int, str]')} = None) -> "Later": pass
{self.trial(expressions + r.sample(['get_type_hints(H)', 'get_type_hints(H.m)', 'cast(int, "s")', 'H.__annotations__', 'TYPE_CHECKING', 'NewType("U", int)(5)', 'T.__name__', 'isinstance([], List)', 'isinstance({}, Dict)', 'isinstance(print, Callable)', 'isinstance([1], Sequence)', 'isinstance("a", Iterable)', 'isinstance(1, Hashable)', 'isinstance(1, int | str)', 'isinstance("", (int | None, str))', 'issubclass(bool, int | str)', 'list[int]([1])', 'List[int]([1])', 'dict[str, int](a=1)'], 5))}
"""
        )

    def generics_and_protocols(self):
        self.piece(
            f"""
from typing import Generic, TypeVar, Protocol, runtime_checkable, TypedDict, NamedTuple, overload
import collections.abc as abc
T = TypeVar("T"); K = TypeVar("K", bound=int)
class Box(Generic[T]):
    def __init__(self, v: T): self.v = v
    def map(self, f) -> "Box[T]": return type(self)(f(self.v))
    def __repr__(self): return f"Box({{self.v!r}})"
class Pair(Box[{self.some("int", "T", "str")}], {self.some("Generic[T, K]", "Generic[T]", "abc.Sized")}):
    def __len__(self): return 2
@runtime_checkable
class Sized(Protocol):
    def __len__(self) -> int: ...
class Movie(TypedDict{self.some("", ", total=False")}):
    name: str
    year: int
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x): return x * 2
for g in (lambda: Box(1).map(str), lambda: Box[int](5), lambda: Pair({self.value()}), lambda: len(Pair(1)), lambda: isinstance(Pair(1), Sized), lambda: isinstance(Box(1), Sized), lambda: isinstance([], Sized), lambda: Movie(name="n", year=1), lambda: Movie.__annotations__, lambda: f("a"), lambda: Box.__parameters__, lambda: Pair.__mro__[1].__name__, lambda: Box[int] == Box[int], lambda: Box[int].__origin__ is Box, lambda: isinstance(Movie(), dict), lambda: [isinstance({self.value()}, a) for a in (abc.Sequence, abc.Mapping, abc.Iterable, abc.Hashable, abc.Callable, abc.Sized, abc.Container)], lambda: issubclass(dict, abc.MutableMapping), lambda: issubclass(Pair, abc.Sized), lambda: Box[int, str], lambda: Sized()):
    try: show(g())
    except Exception as e: print(type(e).__name__)
class M(abc.{self.some("Mapping", "MutableMapping")}):
    def __init__(self, **k): self.d = k
    def __getitem__(self, k): return self.d[k]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
    def __setitem__(self, k, v): self.d[k] = v
    {self.some("def __delitem__(self, k): del self.d[k]", "pass")}
try:
    m = M(a=1, b={self.value()})
    for text in ("m['a']", "m.get('z', 0)", "'a' in m", "list(m.items())", "list(m.keys())", "m == M(a=1)", "m == dict(m)", "m.setdefault('c', 3)", "m.pop('a')", "m.update(d=4)", "{{**m}}", "dict(m)", "m.popitem()", "len(m)", "list(m.values())", "isinstance(m, dict)"):
        try: print(text, eval(text))
        except Exception as e: print(text, type(e).__name__)
except TypeError as e: print("abstract")
class L(abc.Sequence):
    def __init__(self, *v): self.v = v
    def __getitem__(self, i): return self.v[i]
    def __len__(self): return len(self.v)
l = L(1, 2, 3, 2); print(list(l), l.index(2), l.count(2), 3 in l, list(reversed(l)), isinstance(l, abc.Reversible))
"""
        )

    def partial_methods(self):
        self.piece(
            f"""
from functools import partial, partialmethod, singledispatchmethod, lru_cache, cache, reduce, wraps, update_wrapper
class A:
    def __init__(self, v): self.v = v
    def f(self, a, b=2, *, c=3): return self.v, a, b, c
    g = partialmethod(f, {self.some("1", "b=5", "1, c=7")})
    h = partial(f, {self.some("'self'", "'self', 1")}) if False else staticmethod(partial(max, {self.some("1", "5")}))
    @singledispatchmethod
    def d(self, x): return "any"
    @d.register
    def _(self, x: int): return "int"
    @d.register({self.some("str", "list")})
    def _(self, x): return "other"
    @lru_cache(maxsize=None)
    def slow(self, n): print("slow", end=" "); return n * self.v
    @staticmethod
    @cache
    def fast(n): print("fast", end=" "); return n
a = A({self.some("2", "3", "'v'")})
for f in (lambda: a.g({self.small()}), lambda: a.g(), lambda: a.h(3), lambda: a.d(1), lambda: a.d("s"), lambda: a.d([]), lambda: a.d(True), lambda: (a.slow(2), a.slow(2)), lambda: (a.fast(1), a.fast(1), A.fast(1)), lambda: A.slow.cache_info().hits, lambda: partial(partial(a.f, 1), c=9)(b=4), lambda: partial(a.f).func.__name__, lambda: repr(partial(max, 1))[:16], lambda: partial(int, base=2)("101"), lambda: list(map(partial(pow, 2), range(4))), lambda: reduce(lambda x, y: f"({{x}}{{y}})", "abcd"), lambda: reduce(max, [], 5), lambda: reduce(max, []), lambda: A.f.__get__(a, A)(7), lambda: A.__dict__["f"](a, 1), lambda: wraps(len)(lambda: 0).__name__):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    # ---- errors ----

    def error_objects(self):
        r = self.r
        self.piece(
            f"""
class E({self.some("Exception", "ValueError", "KeyError", "OSError", "RuntimeError", "AttributeError", "StopIteration", "ImportError", "SystemExit")}):
    {self.some("pass", "def __init__(self, code, *rest): self.code = code", "def __init__(self, code, *rest): super().__init__(code); self.code = code", "def __str__(self): return 'str'", "code = 5", "def __repr__(self): return 'rep'")}
for make in (lambda: E({self.value()}), lambda: E(1, 'two'), lambda: E(), lambda: E('m'), lambda: KeyError('k'), lambda: KeyError(), lambda: KeyError(1, 2), lambda: OSError(2, 'gone', 'file'), lambda: OSError('x'), lambda: StopIteration(5), lambda: ValueError('a', 1), lambda: ImportError('m', name='n'), lambda: AttributeError('a', name='n', obj=1), lambda: SystemExit(3), lambda: AssertionError(), lambda: NameError('n', name='q')):
    try: e = make()
    except Exception as x: print(type(x).__name__); continue
    for text in {r.sample(['str(e)', 'repr(e)', 'e.args', 'e.code', 'e.value', 'e.errno', 'e.name', 'e.filename', 'e.strerror', 'e.__cause__', 'e.__context__', 'e.__suppress_context__', 'e.__traceback__', 'e.add_note("n")', 'e.__notes__', 'isinstance(e, LookupError)', 'e == e', 'bool(e)', 'e.with_traceback(None) is e', 'setattr(e, "args", (9,)) or e.args', 'type(e).__mro__[1].__name__', 'e.msg', 'e.obj', 'e.reason, e.start, e.object', 'hash(e) == hash(e)', 'e.characters_written', 'f"{e}"', '"%s|%r" % (e, e)'], 8)!r}:
        try: print(text, eval(text))
        except Exception as x: print(text, type(x).__name__)
"""
        )

    def error_chains(self):
        r = self.r
        raises = [
            'raise ValueError("v")',
            'raise KeyError("k") from e',
            'raise RuntimeError("r") from None',
            "raise",
            "1 / 0",
            "raise e",
            'raise TypeError from ValueError("c")',
            'int("x")',
            "raise e.with_traceback(None)",
            'raise E1("own")',
            "[].pop()",
            "None()",
            "raise 5",
            "raise KeyError",
            'assert False, "why"',
            "{}[1]",
            "undefined",
        ]
        self.piece(
            f"""
import sys
class E1(ValueError): pass
def chain(e, n=0):
    out = []
    while e is not None and n < 6:
        out.append((type(e).__name__, e.args, e.__suppress_context__)); n += 1
        e = e.__cause__ or e.__context__
    return out
def {{0}}(n):
    try:
        if n % 2: {r.choice(raises[:1] + raises[4:5] + raises[9:])}
        {r.choice(raises[:1] + raises[9:])}
    except {self.some("ValueError", "LookupError", "Exception", "(TypeError, ZeroDivisionError)")} as e:
        {r.choice(raises)}
    except Exception as e:
        {self.some("try: " + "raise TypeError('again')", "try: 1 / 0", "try: pass")}
        except TypeError: {r.choice(['pass', 'raise', 'raise KeyError("inner")'])}
        finally: {self.some("print('f', sys.exc_info()[0] and sys.exc_info()[0].__name__)", "pass")}
        {r.choice(raises)}
    else: return "else"
    finally: {self.some("print('finally')", "pass", "n += 1")}
for n in range(2):
    try: show({{0}}(n))
    except Exception as e: print(chain(e))
print(sys.exc_info() == (None, None, None))
try:
    try: raise ValueError(1)
    finally: {self.some("raise KeyError(2)", "[].pop()", "pass")}
except Exception as e: print(chain(e))
try:
    try: raise ValueError("a")
    except ValueError as a:
        try: raise KeyError("b")
        except KeyError as b: raise {self.some("a", "b", "a from b", "b from a")}
except Exception as e: print(type(e).__name__, type(e.__context__).__name__, type(e.__cause__).__name__)
"""
        )

    def generator_errors(self):
        r = self.r
        steps = [
            r.choice(
                [
                    "next(g)",
                    "g.send(1)",
                    'g.throw(ValueError("t"))',
                    "g.throw(StopIteration)",
                    "g.close()",
                    "list(g)",
                    "g.throw(GeneratorExit)",
                    'next(g, "d")',
                    "g.gi_running",
                    "[*g]",
                    "sum(g)",
                ]
            )
            for _ in range(6)
        ]
        self.piece(
            f"""
def {{0}}():
    try:
        while True:
            try: got = yield {self.value()}
            except ValueError as e: {self.some("yield ('handled', e.args)", "pass", "raise KeyError('k') from e", "return 'returned'", "raise StopIteration")}
            if got: {self.some("return got", "raise RuntimeError('got')", "yield got", "break", "next(iter([]))")}
            {self.some("pass", "break")}
    except GeneratorExit: {self.some("raise", "return", "print('exit')")}
    finally: {self.some("print('cleanup')", "pass")}
    return "end"
def outer():
    try: r = yield from {{0}}(); print("result", r)
    except Exception as e: print("outer", type(e).__name__); yield "after"
g = {self.some("{0}()", "outer()")}; kept.append(g)
for text in {steps!r}:
    try: print(text, eval(text) if text not in ("list(g)", "[*g]", "sum(g)") else [x for _, x in zip(range(5), g)])
    except StopIteration as e: print(text, "stop", e.value)
    except BaseException as e: print(text, type(e).__name__, type(e.__cause__).__name__, type(e.__context__).__name__)
"""
        )

    def managers_in_a_row(self):
        r = self.r
        m = lambda: f'M("{r.choice("abc")}", {r.choice(["None", "None", "True", "enter", "exit"])})'
        self.piece(
            f"""
from contextlib import ExitStack, suppress, contextmanager, redirect_stdout, AbstractContextManager, ContextDecorator
enter, exit = "enter", "exit"
class M(ContextDecorator):
    def __init__(self, n, how=None): self.n, self.how = n, how
    def __enter__(self):
        print("+" + self.n, end=" ")
        if self.how == "enter": raise KeyError("enter")
        return self.n
    def __exit__(self, t, v, tb):
        print("-" + self.n, t and t.__name__, end=" ")
        if self.how == "exit": raise RuntimeError("exit")
        return self.how
def {{0}}():
    with {m()} as x, {m()}{self.some("", " as (y)")}, {m()}:
        {self.some("return 'in'", "raise ValueError('body')", "pass", "1 / 0")}
    return "out"
@M("d", {self.some("None", "True")})
def {{1}}(v): print("body", v, end=" "); return 1 / v
def {{2}}():
    for i in range(3):
        with ({m()}, {m()}):
            if i: {self.some("break", "continue", "return i", "pass", "raise ValueError")}
    else: print("else")
    return "end"
@contextmanager
def cm(swallow):
    try: yield "v"
    except ValueError: 
        if not swallow: raise
    {self.some("finally: print('cm', end=' ')", "else: print('clean', end=' ')")}
def {{3}}():
    with cm({self.some("True", "False")}) as v, suppress({self.some("KeyError", "ZeroDivisionError", "()")}):
        {self.some("raise ValueError", "{}[1]", "1 / 0", "return v")}
    with ExitStack() as s:
        s.enter_context({m()}); s.push(lambda *a: {self.some("True", "False")}); s.callback(print, "cb", end=" ")
        {self.some("raise ValueError('s')", "pass", "s.pop_all()")}
    return "done"
for f in ({{0}}, lambda: {{1}}(1), lambda: {{1}}(0), {{2}}, {{3}}):
    try: print(f())
    except Exception as e: print(type(e).__name__, type(e.__context__).__name__)
"""
        )

    # ---- as models are written ----

    def registries(self):
        self.piece(
            f"""
from collections import OrderedDict
class Registry:
    def __init__(self, name): self.name = name; self._m = {{}}
    def register(self, name=None, force=False, module=None):
        if module is not None: return self._add(module, name, force)
        if callable(name): return self._add(name, None, force)
        def wrap(obj): return self._add(obj, name, force)
        return wrap
    def _add(self, obj, name, force):
        name = name or obj.__name__
        for n in ([name] if isinstance(name, str) else name):
            if n in self._m and not force: raise KeyError(f"{{n}} is already in {{self.name}}")
            self._m[n] = obj
        return obj
    def get(self, k):
        if k not in self._m: raise KeyError(f"no {{k!r}} among {{sorted(self._m)}}")
        return self._m[k]
    def build(self, cfg, **default):
        args = dict(default, **cfg); kind = args.pop("type")
        return (self.get(kind) if isinstance(kind, str) else kind)(**args)
    __contains__ = lambda self, k: k in self._m
    def __len__(self): return len(self._m)
R = Registry("layers")
@R.register()
class Conv:
    def __init__(self, width=8, act=None): self.width, self.act = width, act and R.build(act)
    def __repr__(self): return f"Conv({{self.width}}, {{self.act}})"
@R.register(name={self.some("'relu'", "['relu', 'ReLU']")})
class Act:
    def __init__(self, inplace={self.value()}): self.inplace = inplace
    def __repr__(self): return f"Act({{self.inplace!r}})"
@R.register
def block(depth, **kw): return [R.build({{"type": "Conv", **kw}}) for _ in range(depth)]
R.register(module=dict, name="plain")
for cfg in ({{'type': 'Conv'}}, {{'type': 'Conv', 'width': {self.value()}, 'act': {{'type': 'relu'}}}}, {{'type': 'block', 'depth': {self.some("2", "0")}, 'width': 3}}, {{'type': 'nope'}}, {{'type': 'Conv', 'bad': 1}}, {{}}, {{'type': 'plain', 'a': 1}}, {{'type': Act, 'inplace': 2}}):
    try: print(R.build(cfg, **{self.some("{}", "{'width': 1}")}), cfg)
    except Exception as e: print(type(e).__name__, e if type(e) is KeyError else 0)
try: R.register(module=Act, name="Conv")
except KeyError as e: print(e)
print(len(R), "relu" in R)
"""
        )

    def config_objects(self):
        self.piece(
            f"""
from dataclasses import dataclass, field, asdict, replace, fields, is_dataclass
from types import SimpleNamespace
from copy import deepcopy
from math import prod
class AttrDict(dict):
    def __getattr__(self, n):
        try: return self[n]
        except KeyError: raise AttributeError(n) from None
    def __setattr__(self, n, v): self[n] = v
    @classmethod
    def of(cls, v): return cls({{k: cls.of(x) for k, x in v.items()}}) if isinstance(v, dict) else [cls.of(x) for x in v] if isinstance(v, list) else v
@dataclass
class Stage:
    depth: int = 2
    widths: list = field(default_factory=lambda: [8, {self.small()}])
    norm: str = {self.some("'bn'", "'ln'")}
@dataclass
class Net:
    stages: tuple = (Stage(), Stage(depth=3))
    head: Stage = field(default_factory=Stage)
    scale: float = {self.some("1.5", "0.5", "2")}
    def __post_init__(self): self.total = sum(s.depth for s in self.stages); self.widths = [int(w * self.scale) for s in self.stages for w in s.widths]
    @property
    def text(self): return ", ".join(f"{{f.name}}={{getattr(self, f.name)!r}}" for f in fields(self) if f.name != "stages")
c = AttrDict.of({{'a': {{'b': [1, {{'c': {self.value()}}}]}}, 'keys2': 1}})
n = Net(); m = replace(n, scale=2); k = deepcopy(n); k.stages[0].widths.append(9)
s = SimpleNamespace(x=1, y={self.value()})
def divisible(v, d=8, low=None):
    low = low or d
    new = max(low, int(v + d / 2) // d * d)
    return new + d if new < 0.9 * v else new
for f in (lambda: c.a.b[1].c, lambda: c.zz, lambda: hasattr(c, "a"), lambda: setattr(c, "q", 5) or c["q"], lambda: getattr(c, "zz", 0), lambda: c.a.b[0], lambda: n.text, lambda: (n.total, n.widths, m.widths), lambda: asdict(n)["head"], lambda: n == Net(), lambda: k == n, lambda: n.stages[0].widths, lambda: s, lambda: s == SimpleNamespace(x=1), lambda: vars(s), lambda: s.z, lambda: [divisible(w * r) for w in (16, 24, 40) for r in (0.35, 1.0, 1.4)], lambda: prod([w for w in n.widths if w]), lambda: Stage(1, 2, 3, 4), lambda: replace(n.head, nope=1), lambda: is_dataclass(Stage), lambda: [round(x * {self.some("0.1", "1.25")}, 2) for x in range(4)], lambda: f"{{n.scale:.2f}}x{{n.total:>3}}", lambda: dict(zip(("a", "b"), n.stages))["a"].norm, lambda: "{{}}-{{norm}}".format(n.total, **asdict(n.head)), lambda: sorted(asdict(n.head).items(), key=lambda kv: kv[0], reverse=True)):
    try: show(f())
    except Exception as e: print(type(e).__name__)
"""
        )

    def paths_and_texts(self):
        r = self.r
        p = lambda: repr(
            r.choice(
                [
                    "a/b.py",
                    "/x/y/../z",
                    "name.tar.gz",
                    "",
                    "/",
                    "./q",
                    "a//b/",
                    "..",
                    ".hidden",
                    "a/b/c.d/e",
                    "~/w",
                    "a\\b",
                    "x.",
                ]
            )
        )
        self.piece(
            f"""
import os.path as osp, os, string
from pathlib import PurePosixPath as P
for text in {[r.choice([f'osp.join({p()}, {p()})', f'osp.basename({p()})', f'osp.dirname({p()})', f'osp.splitext({p()})', f'osp.normpath({p()})', f'osp.isabs({p()})', f'osp.split({p()})', f'str(P({p()}))', f'P({p()}).name', f'P({p()}).suffix', f'P({p()}).stem', f'P({p()}).parts', f'str(P({p()}) / {p()})', f'str(P({p()}).parent)', f'P({p()}).with_suffix(".z").name', f'P({p()}) == P({p()})', f'osp.commonprefix([{p()}, {p()}])', 'os.sep', 'string.digits', 'string.capwords("ab cd")', f'str(P({p()}).joinpath("q", "r"))', f'P({p()}).suffixes', f'[str(x) for x in P({p()}).parents]', f'repr(P({p()}))']) for _ in range(8)]!r}:
    try: print(text, repr(eval(text)))
    except Exception as e: print(text, type(e).__name__)
"""
        )

    def module_like(self):
        self.piece(
            f"""
import types, operator, math, collections, itertools
m = types.ModuleType("made", {self.some("'doc'", "None")}); m.x = {self.value()}
exec("def f(n): return n + y\\ny = {self.r.randrange(9)}\\nclass C: z = y", m.__dict__)
ns = types.SimpleNamespace(); ro = types.MappingProxyType({{'a': 1}})
f = types.FunctionType((lambda a: a).__code__, {{}}) if {self.some("True", "False")} else len
b = types.MethodType(lambda self, *a: (self, a), {self.some("5", "'s'", "[1]")})
for g in (lambda: m.f(1), lambda: m.C.z, lambda: m.__name__, lambda: m.__doc__, lambda: m.nope, lambda: ro["a"], lambda: ro.update(b=2), lambda: dict(ro), lambda: b(1, 2), lambda: sorted(k for k in vars(m) if "_" not in k), lambda: getattr(math, "pi"), lambda: [n for n in ("sin", "nope") if hasattr(math, n)], lambda: __import__("math").floor(2.5), lambda: operator.attrgetter("x")(m), lambda: operator.itemgetter(slice(1, 3))("abcd"), lambda: operator.methodcaller("split", ",")("a,b"), lambda: operator.index(True), lambda: operator.index(1.5), lambda: operator.iadd([1], [2]), lambda: operator.contains([1], 1), lambda: operator.not_(0), lambda: operator.truth([]), lambda: operator.countOf([1, 1], 1), lambda: operator.is_(None, None), lambda: operator.setitem([0], 0, 1), lambda: operator.getitem((1, 2), -1), lambda: operator.matmul(1, 2), lambda: operator.neg({self.value()}), lambda: collections.ChainMap({{1: 2}}).new_child({{1: 3}})[1], lambda: collections.UserDict(a=1)["a"], lambda: collections.UserList([1, 2])[1:], lambda: collections.deque([1, 2, 3], 2), lambda: isinstance(m, types.ModuleType), lambda: isinstance(len, types.BuiltinFunctionType), lambda: isinstance((x for x in ()), types.GeneratorType)):
    try: print(re.sub("N[0-9]+", "N", re.sub("0x[0-9a-f]+", "", repr(g()))))
    except Exception as e: print(type(e).__name__)
"""
        )
