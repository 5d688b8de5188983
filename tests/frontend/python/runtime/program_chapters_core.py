"""More chapters of program_generator.py: how things are evaluated. Calls and their binding, the
order of evaluation, jumps out of blocks, patterns, numbers, and what lists and dicts do."""
# Long because it is a list of pieces of programs, one a method.


class CoreChapters:
    def core_chapters(self):
        return [
            self.call_binding,
            self.evaluation_order,
            self.jumps,
            self.loops,
            self.patterns,
            self.class_patterns,
            self.big_numbers,
            self.floating_numbers,
            self.number_texts,
            self.list_work,
            self.dict_work,
            self.set_work,
            self.sorting,
            self.unpacking,
            self.walrus,
            self.recursion,
            self.heap_and_bisect,
            self.string_building,
            self.generator_pipelines,
            self.scope_rules,
        ]

    def attempts(self, expressions, before="", shown="show({})"):
        """Each expression in a lambda of its own: what it gives, or the type of its error."""
        tries = ", ".join(f"lambda: {e}" for e in expressions)
        self.piece(
            f"""
{before}
for n, f in enumerate(({tries},)):
    try: print(n, end=' '); {shown.format('f()')}
    except Exception as e: print(type(e).__name__, message(e))
"""
        )

    def words(self, *choices, k=1):
        return [self.r.choice(choices) for _ in range(k)]

    # ---- functions ----

    def call_binding(self):
        r = self.r
        names = list("abcdef")
        count = r.randrange(1, 5)
        only = r.randrange(count + 1) if r.random() < 0.4 else 0
        parts, used = [], []
        default = False
        for i in range(count):
            default = default or r.random() < 0.3
            parts.append(names[i] + (f"={self.value()}" if default else ""))
            used.append(names[i])
            if only and i == only - 1:
                parts.append("/")
        if r.random() < 0.4:
            parts.append("*args")
            used.append("args")
        elif r.random() < 0.4:
            parts.append("*")
        if parts[-1] in ("*", "*args"):
            for name in r.sample(["x", "y", "z"], r.randrange(1, 3)):
                parts.append(name + (f"={self.value()}" if r.random() < 0.6 else ""))
                used.append(name)
        if r.random() < 0.4:
            parts.append("**kw")
            used.append("sorted(kw.items(), key=str)")

        def call():
            args = [
                r.choice([str(r.randrange(9)), "*[7, 8]", '*"pq"', "*()", "*range(2)"])
                if r.random() < 0.8
                else self.atom()
                for _ in range(r.randrange(4))
            ]
            for name in r.sample(names[:4] + ["x", "y", "z", "q"], r.randrange(3)):
                args.append(f"{name}={r.randrange(9)}")
            if r.random() < 0.3:
                args.append(r.choice(["**{'a': 1}", "**{'y': 2, 'w': 3}", "**{}", "**dict(b=5)", "**{1: 2}"]))
            return "{0}(" + ", ".join(args) + ")"

        calls = [call() for _ in range(6)]
        calls = [c for c in calls if not self.has_keyword_first(c)]
        calls.append(
            r.choice(
                [
                    "{0}.__defaults__",
                    "{0}.__kwdefaults__",
                    "{0}.__code__.co_argcount",
                    "{0}.__code__.co_varnames[:3]",
                    "{0}.__name__[0]",
                ]
            )
        )
        self.attempts(calls, f'def {{0}}({", ".join(parts)}): return ({", ".join(used)},)')

    @staticmethod
    def has_keyword_first(call):
        try:
            compile(call.replace("{0}", "f"), "call", "eval")
            return False
        except SyntaxError:
            return True

    def evaluation_order(self):
        r = self.r
        n = iter(range(100))
        t = lambda: f"t({next(n)})"
        b = lambda: f't({next(n)}, {r.choice(["True", "False", "0", "None", "[]", "[1]"])})'
        k = lambda: f't({next(n)}, {r.choice(["[1, 2, 3]", "{1: 2, 0: 5}", "(4, 5)"])})'
        lines = [
            f'show(f({t()}, *[{t()}], k={t()}, **{{"j": {t()}}}))',
            f"show({{{t()}: {t()}, {t()}: {t()}}})",
            f"show([{t()} for x in [{t()}, {t()}] if {b()}])",
            f"show({b()} and {b()} or {b()})",
            f"show({t()} < {t()} < {t()} > {t()})",
            f"show({t()} if {b()} else {t()})",
            f"l = [0] * 3; l[{t()} % 3] = {t()}; show(l)",
            f"l = [0] * 3; l[{t()} % 3], l[{t()} % 3] = {t()}, {t()}; show(l)",
            f"l = [[1, 2]]; l[t(0)][t(1)] += {t()}; show(l)",
            f"o = O(); o.a = o.b = {t()}; o.a += {t()}; show(o.a - o.b)",
            f"x = y = [{t()}]; x += [{t()}]; show((x is y, y))",
            f"show({k()}[{t()} % 2])",
            f"show({k()}[{t()} % 2:{t()}])",
            f"d = {{}}; d[{t()}] = d[{t()}] = {t()}; show(d)",
            f"show(({t()}, (lambda a={t()}: a)(), {t()}))",
            f'show(f"{{{t()}}} {{{t()}!r:>{{{t()} % 7}}}}")',
            f"def g(a={t()}, *, c={t()}): return a, c\nshow(g({t()}))",
            f"@deco({t()})\n@deco({t()})\ndef g(a={t()}): return a\nshow(g())",
            f"class K(t({next(n)}, object), metaclass=t({next(n)}, type)): x = {t()}; y: t({next(n)}, int) = {t()}\nshow(K.x)",
            f"del (l := [{t()}, {t()}])[{t()} % 2]; show(l)",
            f"for l[{t()} % 3] in ({t()}, {t()}): pass\nshow(l)",
            f"assert {b()}, {t()}",
            f"a, *b = {t()}, {t()}, {t()}; show((a, b))",
            f"show({t()} in ({t()}, {t()}))",
            f"with m({t()}) as a, m({t()}) as b: show((a, b))",
            f"x: t({next(n)}, int) = {t()}; show(x)",
            f"show([*[{t()}], {t()}, *({t()},)])",
            f"raise t({next(n)}, ValueError)(t({next(n)})) from t({next(n)}, KeyError())",
            f"show(max({t()}, {t()}, key=lambda v: t(v)))",
            f"show(sorted([{t()}, {t()}], key=lambda v: -t(v)))",
            f'o = O(); setattr(o, "q", {t()}); show(o.q ** {t()} % 1000)',
        ]
        body = "\n".join(
            f"try:\n"
            + "\n".join("    " + part for part in line.split("\n"))
            + "\nexcept Exception as e: print(type(e).__name__)"
            for line in r.sample(lines, 7)
        )
        self.piece(
            f"""
from contextlib import contextmanager
def t(n, *v): print("t", n, end="; "); return v[0] if v else n
def f(*a, **k): return a, sorted(k.items())
def deco(n):
    print("deco", n, end="; ")
    def wrap(g): print("wrap", n, end="; "); return g
    return wrap
@contextmanager
def m(v): print("in", v, end="; "); yield v; print("out", v, end="; ")
class O: pass
l = [0, 0, 0]
{body}
"""
        )

    def jumps(self):
        r = self.r

        def block(depth, loop):
            lines = []
            for _ in range(r.randrange(1, 3)):
                kind = r.choice(["log", "try", "for", "while", "if", "with", "jump"] if depth < 3 else ["log", "jump"])
                if kind == "log":
                    lines.append(f"log.append({r.randrange(100)})")
                elif kind == "jump":
                    test = r.choice(["if n % 2:", "if n == 1:", "if len(log) > 6:", "if True:"])
                    lines.append(
                        f"{test} "
                        + r.choice(
                            ["return log[-2:]", "raise ValueError(n)", "raise KeyError(n)", "1 / 0"]
                            + (["break", "continue"] * 2 if loop else [])
                        )
                    )
                elif kind == "try":
                    lines.append("try:")
                    lines += ["    " + x for x in block(depth + 1, loop)]
                    if r.random() < 0.7:
                        lines.append(
                            f'except {r.choice(["ValueError", "KeyError", "ArithmeticError", "(ValueError, KeyError)"])} as e:'
                        )
                        lines += ["    log.append(type(e).__name__[:3])"] + ["    " + x for x in block(depth + 1, loop)]
                        if r.random() < 0.3:
                            lines.append("else:")
                            lines += ["    " + x for x in block(depth + 1, loop)]
                        if r.random() < 0.4:
                            lines.append("finally:")
                            lines += ['    log.append("f")'] + ["    " + x for x in block(depth + 1, loop)]
                    else:
                        lines.append("finally:")
                        lines += ['    log.append("f")'] + ["    " + x for x in block(depth + 1, loop)]
                elif kind in ("for", "while"):
                    name = f"i{depth}"
                    lines.append(
                        f"for {name} in range({r.randrange(1, 4)}):"
                        if kind == "for"
                        else f"while len(log) < {r.randrange(4, 12)}:"
                    )
                    lines += ["    n += 1; log.append(n)", "    if n > 40: return log[-3:]"] + [
                        "    " + x for x in block(depth + 1, True)
                    ]
                    if r.random() < 0.4:
                        lines.append("else:")
                        lines += ['    log.append("else")'] + ["    " + x for x in block(depth + 1, loop)]
                elif kind == "if":
                    lines.append(f'if {r.choice(["n < 3", "n % 3", "not log", "len(log) % 2"])}:')
                    lines += ["    " + x for x in block(depth + 1, loop)]
                elif kind == "with":
                    lines.append(f'with W(log, {r.choice(["True", "False", "False"])}):')
                    lines += ["    " + x for x in block(depth + 1, loop)]
            return lines

        body = "\n    ".join(block(0, False))
        generator = r.random() < 0.3
        self.piece(
            f"""
class W:
    def __init__(self, log, swallow): self.log, self.swallow = log, swallow
    def __enter__(self): self.log.append("in")
    def __exit__(self, t, v, tb): self.log.append(t and t.__name__[:3]); return self.swallow
def {{0}}(n, log):
    {body}
    {'yield n' if generator else 'return n'}
for n in range(3):
    log = []
    try: print({'list({0}(n, log))' if generator else '{0}(n, log)'}, log)
    except Exception as e: print(type(e).__name__, e.args, type(e.__context__).__name__, log)
"""
        )

    def loops(self):
        r = self.r
        self.piece(
            f"""
out = []
for i, (a, *b) in enumerate({self.some("[(1, 2, 3), 'xy']", "['ab', 'c']", "[[1], (2, 3)]", "zip('ab', 'cd')", "{'ab': 1}.items()")}):
    for j in range({r.randrange(4)}):
        if j == {r.randrange(4)}: {self.some("break", "continue", "pass")}
        out.append((i, j, a))
    else: out.append("else")
    i = "changed"
print(out, i)
n = {r.randrange(30)}
while n != 1 and len(out) < 40:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    out.append(n)
    if n == {r.randrange(1, 20)}: break
else: print("done")
print(out[-5:])
l = [1, 2, 3, 4]
for x in l:
    if x == {r.randrange(1, 5)} and len(l) < 8: l.{self.some("append(x * 10)", "remove(x)", "insert(0, 9)", "pop()")}
print(l)
d = {{1: 2, 3: 4}}
try:
    for k in d: {self.some("d[k] = 5", "d[k + 10] = 1", "del d[k]", "d.pop(3, 0)")}
except RuntimeError as e: print(e)
print(d)
"""
        )

    def recursion(self):
        self.piece(
            f"""
def {{0}}(n, memo={{}}):
    if n in memo: return memo[n]
    memo[n] = r = n if n < 2 else {{0}}(n - 1) + {{0}}(n - {self.some("2", "3 if n > 2 else 1")})
    return r
def walk(t, depth=0):
    if isinstance(t, (list, tuple)):
        for i, x in enumerate(t): yield from walk(x, depth + 1)
    elif isinstance(t, dict):
        for k, v in t.items(): yield depth, k; yield from walk(v, depth + 1)
    else: yield depth, t
def hanoi(n, a, b, c): return [] if n == 0 else hanoi(n - 1, a, c, b) + [(a, c)] + hanoi(n - 1, b, a, c)
def flatten(t): return [y for x in t for y in (flatten(x) if isinstance(x, list) else [x])]
def perms(s): return [s] if len(s) < 2 else [c + p for i, c in enumerate(s) for p in perms(s[:i] + s[i + 1:])]
show([{{0}}(i) for i in range(12)]); show(list(walk([1, {{'a': ({self.value()}, [2])}}, {self.value()}]))); show(hanoi(3, *'abc')); show(flatten([1, [2, [3, []]], {self.some("[[4]]", "5", "[]")}])); show(perms('abc'))
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
print(even({self.r.randrange(60)}), (lambda f: (lambda x: x(x))(lambda y: f(lambda *a: y(y)(*a))))(lambda s: lambda n: 1 if n < 2 else n * s(n - 1))({self.r.randrange(12)}))
try: (lambda f: f(f))(lambda f: f(f))
except RecursionError as e: print("deep")
"""
        )

    # ---- patterns and targets ----

    def pattern(self, depth=0, bound=None):
        r = self.r
        bound = [] if bound is None else bound

        def name():
            free = [c for c in "mnopqrstuvw" if c not in bound]
            bound.append(free[0])
            return free[0]

        kinds = [
            lambda: r.choice(["0", "1", "-1", "2.5", "'s'", "'abc'", "None", "True", "False", "b'x'", "1 + 2j"]),
            lambda: "_",
            name,
            lambda: r.choice(
                ["int()", "str()", "float()", "list()", "dict()", "bool()", "tuple()", "bytes()", "P.red", "P.blue"]
            ),
        ]
        if depth < 2:
            kinds += [
                lambda: "[" + ", ".join(self.pattern(depth + 1, bound) for _ in range(r.randrange(3))) + "]",
                lambda: "(" + "".join(self.pattern(depth + 1, bound) + ", " for _ in range(r.randrange(1, 3))) + ")",
                lambda: f'[{self.pattern(depth + 1, bound)}, *{r.choice(["_", name()])}]',
                lambda: f"[*_, {self.pattern(depth + 1, bound)}]",
                lambda: "{"
                + r.choice(["'a'", "'k'", "1", "None"])
                + ": "
                + self.pattern(depth + 1, bound)
                + r.choice(["", f", **{name()}"])
                + "}",
                lambda: f'{r.choice(["int", "str", "float"])}({name()})',
                lambda: f'({r.choice(["1 | 2", "int() | str()", "None | True", "[] | {}", "[_] | [_, _]"])})'
                + (f" as {name()}" if r.random() < 0.5 else ""),
                lambda: f"Q({self.pattern(depth + 1, bound)}, y={self.pattern(depth + 1, bound)})",
                lambda: f"Q(x={self.pattern(depth + 1, bound)})",
                lambda: f"({self.pattern(depth + 1, bound)} as {name()})",
            ]
        return r.choice(kinds)()

    def patterns(self):
        r = self.r
        cases = []
        for _ in range(5):
            bound = []
            text = self.pattern(0, bound)
            if text in bound or text == "_":
                text += " if v"
            shown = [b for b in dict.fromkeys(bound) if f"{b}" in text]
            guard = r.choice(["", "", f" if {shown[0]}" if shown and " if " not in text else ""])
            cases.append((f"{text}{guard}", shown))
        try:
            compile("match v:\n" + "".join(f" case {c}: pass\n" for c, _ in cases), "m", "exec")
        except SyntaxError:
            return self.loops()
        lines = "\n".join(
            f'        case {c}: return {i}, {", ".join(s) + "," if s else "None"}' for i, (c, s) in enumerate(cases)
        )
        subjects = [self.value() for _ in range(6)] + [
            "[]",
            "[1]",
            '[1, "s"]',
            "{'a': [1, 2], 'k': 0}",
            "{'k': 's'}",
            "Q(1, 2)",
            'Q("s", None)',
            "(1, (2, 3))",
            "P.red",
            "2",
            "1 + 2j",
            "[[1], {}]",
            "range(2)",
            '"ab"',
        ]
        self.piece(
            f"""
class P: red = 3; blue = 'abc'
class Q:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
    def __repr__(self): return 'Q'
def {{0}}(v):
    match v:
{lines}
for v in ({', '.join(subjects)}):
    try: show({{0}}(v))
    except Exception as e: print(type(e).__name__)
"""
        )

    def class_patterns(self):
        self.piece(
            f"""
from dataclasses import dataclass
from collections import namedtuple, OrderedDict
from enum import Enum
class Color(Enum): RED = 1; GREEN = 2
@dataclass
class Point:
    x: int = 0
    y: object = None
{{0}} = namedtuple('T', 'a b')
class Seq(list): pass
def describe(v):
    match v:
        case Point(x=0, y=None): return "origin"
        case Point(x, Point(y=z)) if x: return "nested", x, z
        case Point(x, y): return "point", x, y
        case {{0}}(a, b): return "tuple", a, b
        case Color.RED | Color.GREEN as c: return c.name
        case {{'kind': 'a', 'args': [first, *rest]}}: return first, rest
        case {{'kind': str(k), **others}}: return k, sorted(others)
        case [Point(), *_] | [*_, Point()]: return "has point"
        case [int() | float() as n, str(s)]: return n, s
        case (True | False) as b: return "bool", b
        case str() | bytes(): return "text"
        case [[x, y], *_]: return "pairs", x, y
        case []: return "empty"
        case {{}}: return "mapping"
        case object(real=r, imag=0): return "number", r
        case _: return "other"
for v in (Point(), Point(1, Point(2, 3)), Point({self.value()}, {self.value()}), {{0}}(1, {self.value()}), Color.RED, {{'kind': 'a', 'args': {self.some("[1, 2]", "[]", "(3,)")}}}, {{'kind': 'b', 'n': 1}}, [Point()], (1, Point()), [2.5, 's'], True, 'x', b'', [[1, 2], 3], Seq(), {{}}, 7, 1.5, None, OrderedDict(), {self.value()}, {self.value()}):
    show(describe(v))
"""
        )

    def unpacking(self):
        r = self.r

        def target(depth=0):
            parts = []
            star = r.randrange(6)
            for i in range(r.randrange(1, 4)):
                name = r.choice(["a", "b", "c", "d", "l[0]", "o.x", "m['k']"])
                parts.append(
                    target(depth + 1) if depth < 2 and r.random() < 0.25 else ("*" + name if i == star else name)
                )
            return r.choice(["({})", "[{}]"] + (["{}"] if depth == 0 else [])).format(
                ", ".join(parts) + ("," if len(parts) == 1 else "")
            )

        values = [
            "(1, 2)",
            "[1, (2, 3)]",
            "'ab'",
            "(1, 2, 3, 4)",
            "range(3)",
            "{5: 6, 7: 8}",
            "[[1, 2], [3, 4]]",
            "(x for x in (1, [2], 3))",
            "1",
            "[]",
            "[(1, 2, 3)]",
            "('ab', 'cd', 'ef')",
        ]
        lines = []
        for _ in range(5):
            t, v = target(), r.choice(values)
            lines.append(
                f'try: {t} = {v}; show((a, b, c, d, l, o.x, m))\nexcept Exception as e: print(type(e).__name__, {"str(e)" if "(x for" not in v else "0"})'
            )
        lines.append(
            f'show([(*a, b) if isinstance(a, (list, tuple)) else a for *a, b in {r.choice(["[(1, 2), (3, 4, 5)]", "zip([1], [2])", "[[1]]"])}])'
        )
        lines.append(
            f'show((*range(2), *"ab", {self.value()})); show([*{{1: 2}}, *(), *[[]]]); show({{**{{1: 2}}, 1: 3, **{{4: 5}}}})'
        )
        lines = "\n".join(x for x in lines)
        self.piece(
            f"""
class O: x = 0
a = b = c = d = None; l = [0]; o = O(); m = {{}}
{lines}
"""
        )

    def walrus(self):
        r = self.r
        self.piece(
            f"""
data = {self.iterable_plain()}
it = iter({self.some("[1, 2, 0, 3]", "'ab'", "range(3)")})
seen = []
while (v := next(it, None)) is not None and (w := v) != {r.randrange(3)}: seen.append((v, w))
show((seen, v))
if (n := len(seen)) > 1 and (m := n * 2): show((n, m))
show([(y := x, y) for x in [1, 2, 3] if (z := x % 2)]); show((y, z))
show({{(k := str(i)): (k, q := i) for i in range(2)}}); show((k, q))
def {{0}}(a, b=(c := {self.value()})): return (lambda: (a := b, a))() if False else (d := a, d, c)
show({{0}}(1)); show((lambda x: (p := x) and p)({self.value()}))
show(any((hit := x) == 2 for x in [1, 2, 3]) and hit); show(f"{{(e := 5)}} {{e:>{{e}}}}"); show((f := [1, 2])[(g := 1)] + g)
"""
        )

    def scope_rules(self):
        self.piece(
            f"""
x = "global"
def {{0}}():
    {self.some("x = 'outer'", "pass", "global x; x = 'set'")}
    def inner():
        {self.some("return x", "nonlocal_test = x; return nonlocal_test", "return [x for _ in range(2)]", "return (lambda: x)()", "return [x for x in 'ab'] + [x]")}
    class C:
        {self.some("x = 'class'", "y = x", "x = x", "pass")}
        def m(self): return x
        z = [{self.some("1", "x")} for _ in range(2)]
        w = (lambda: x)()
    return inner(), C().m(), C.z, C.w, getattr(C, "x", "none"), getattr(C, "y", "none")
try: show({{0}}())
except Exception as e: print(type(e).__name__)
print(x)
def counter():
    n = 0
    def up(by=1):
        nonlocal n
        n += by
        def down():
            nonlocal n
            n -= 1
            return n
        return n, down
    return up
u = counter(); v = counter(); show((u()[0], u(5)[0], v()[0], u()[1](), u()[0]))
def late():
    try: return early
    except NameError as e: print(type(e).__name__)
    early = 1
def loop_closures(): return [f() for f in [lambda: i for i in range(3)]], [f() for f in [lambda i=i: i for i in range(3)]], [g() for g in [(lambda j: lambda: j)(i) for i in range(3)]]
late(); show(loop_closures())
def gone():
    try: 1 / 0
    except ZeroDivisionError as err: kept_text = str(err)
    try: return err
    except NameError as e: return type(e).__name__, kept_text
show(gone())
class M:
    __secret = {self.value()}
    def __hidden(self): return self.__secret
    def get(self): return self.__hidden(), [k for k in sorted(type(self).__dict__) if 'secret' in k]
class N(M):
    __secret = "n"
    def other(self): return self.__secret, self.get()
show(N().other())
del x
try: print(x)
except NameError as e: print(e)
"""
        )

    # ---- numbers ----

    def random_int(self, bits=400):
        r = self.r
        n = r.getrandbits(r.choice([3, 8, 31, 32, 33, 62, 63, 64, 65, 128, bits])) + r.choice([0, 0, 1, -1])
        if r.random() < 0.15:
            n = (1 << r.randrange(200)) + r.choice([0, 1, -1])
        return -n if r.random() < 0.4 else n

    def random_float(self):
        r = self.r
        f = r.choice(
            [
                lambda: r.uniform(-100, 100),
                lambda: r.gauss(0, 1) * 10.0 ** r.randrange(-30, 30),
                lambda: float(r.randrange(-(10**6), 10**6)),
                lambda: r.randrange(-2000, 2000) / 8,
                lambda: r.random() * 2.0 ** r.randrange(-1070, 1020),
                lambda: round(r.uniform(-10, 10), 2),
                lambda: float(2**53 + r.randrange(100)),
                lambda: r.choice([0.0, -0.0, 1e308, 5e-324, 0.1, 1e16, 1e22, 123456789.0]),
            ]
        )()
        return repr(f)

    def big_numbers(self):
        r = self.r
        numbers = [self.random_int() for _ in range(4)]
        binary = r.sample(
            [
                "a + b",
                "a - b",
                "a * b",
                "a // b",
                "a % b",
                "divmod(a, b)",
                "a & b",
                "a | b",
                "a ^ b",
                "a < b",
                "a == b",
                "a / b",
                "math.gcd(a, b)",
                "a << (b % 90)",
                "a >> (b % 90)",
                "pow(a, abs(b) % 40, (a ^ b) | 1)",
                "math.lcm(a, b) % (10 ** 40)",
                "(a * b) // (a or 1) == b",
                "a ** (b % 5)",
                "divmod(-a, b or 1)",
                "float(a) == a",
                "min(a, b), max(a, b)",
                "hash(a) == hash(float(a)) if abs(a) < 2 ** 50 else 0",
                "pow(a, -1, abs(b) + 2)",
                "int(a / (b or 1)) if abs(a) < 10 ** 300 else 0",
                "a * 1.5",
                "1.5 // (b or 1)",
                "a - 0.5 < b",
                "round(a, -3)",
                "round(b, -(abs(a) % 20))",
            ],
            8,
        )
        unary = r.sample(
            [
                "~n",
                "-n",
                "n.bit_length()",
                "bin(n)[-70:]",
                "hex(n)",
                "oct(n)",
                "str(n)[:50]",
                'f"{{n:,}}"',
                'f"{{n:_x}}"',
                'f"{{n:+e}}"',
                'f"{{n:#010b}}"',
                "int(str(n)) == n",
                "int(hex(n), 16) == n",
                "n.bit_count()",
                "math.isqrt(abs(n))",
                "float(n)",
                'n.to_bytes(60, "big", signed=True).hex()',
                'int.from_bytes(n.to_bytes(60, "little", signed=True), "little", signed=True) == n',
                "hash(n)",
                "bool(n)",
                "abs(n)",
                "int(repr(n), 10) - n",
                "n >> 3",
                "n << 70",
                "sum(map(int, str(abs(n))))",
                "complex(n)",
                "n.as_integer_ratio()",
                "math.log2(abs(n) + 1)",
                "math.log(abs(n) + 1)",
                "math.sqrt(abs(n))",
                "n.numerator, n.denominator, n.real",
                '"%d %x" % (n, n)',
                "int(float(n)) - n",
                "n % 7, n // 7, -n % 7, n % -7",
                "chr(n % 0xd800) == chr(n % 0xd800)",
                "n == n + 0.0",
                "str(n).zfill(30)",
                "n.conjugate()",
                'f"{{n:g}}"',
                'f"{{n:.3f}}"'.format(),
            ],
            9,
        )
        unary = [u.replace("{{", "{").replace("}}", "}") for u in unary]
        self.piece(
            f"""
import math
numbers = {numbers}
for text in {binary!r}:
    for a, b in zip(numbers, numbers[1:]):
        try: print(text, repr(eval(text)))
        except Exception as e: print(text, type(e).__name__)
for text in {unary!r}:
    for n in numbers[:2]:
        try: print(text, repr(eval(text)))
        except Exception as e: print(text, type(e).__name__)
"""
        )

    def floating_numbers(self):
        r = self.r
        numbers = ", ".join(self.random_float() for _ in range(4))
        binary = r.sample(
            [
                "a + b",
                "a - b",
                "a * b",
                "a / b",
                "a // b",
                "a % b",
                "divmod(a, b)",
                "a ** 2",
                "a ** 0.5",
                "abs(a) ** b",
                "math.fmod(a, b)",
                "math.remainder(a, b)",
                "math.copysign(a, b)",
                "math.hypot(a, b)",
                "math.atan2(a, b)",
                "a < b, a == b, a >= b",
                "math.isclose(a, b)",
                "math.nextafter(a, b)",
                "a == int(a)",
                "complex(a, b)",
                "complex(a, b) * complex(b, a)",
                "abs(complex(a, b))",
                "complex(a, b) / complex(b, 1)",
                "max(a, b)",
                "math.dist([a], [b])",
                "math.ldexp(a, 3)",
                "math.fsum([a, b, -a])",
                "sum([a, b, 1])",
                "math.pow(abs(a), b)",
                "a // 1, a % 1, -a // 1, -a % 1",
                "a.as_integer_ratio()[0] % 1000",
                "complex(a, b) ** 2",
                "complex(a, b) == a",
            ],
            8,
        )
        unary = r.sample(
            [
                "repr(n)",
                "str(n)",
                "round(n)",
                "round(n, 2)",
                "round(n, 1)",
                "round(n, -1)",
                "int(n)",
                "math.floor(n)",
                "math.ceil(n)",
                "math.trunc(n)",
                "n.hex()",
                "float.fromhex(n.hex()) == n",
                "float(repr(n)) == n",
                "n.is_integer()",
                "math.frexp(n)",
                "math.modf(n)",
                'f"{n:.3f}"',
                'f"{n:.0f}"',
                'f"{n:e}"',
                'f"{n:.10g}"',
                'f"{n:g}"',
                'f"{n:+.1%}"',
                'f"{n:,.2f}"',
                'f"{n:012.4f}"',
                'f"{n:n}"',
                '"%.17g" % n',
                '"%.3e" % n',
                '"%r %s" % (n, n)',
                "hash(n) == hash(n + 0.0)",
                "math.sqrt(abs(n))",
                "math.exp(min(n, 50))",
                "math.log(abs(n) + 1)",
                "math.sin(n)",
                "math.tanh(n)",
                "math.atan(n)",
                "math.log10(abs(n) + 1e-300)",
                "math.log1p(abs(n))",
                "math.cos(n)",
                "bool(n), -n, +n, abs(n)",
                "n.conjugate(), n.real, n.imag",
                "math.ulp(n)",
                "math.degrees(n)",
                "math.cbrt(n)",
                "math.exp2(min(n, 50))",
                "n == round(n, 20)",
                "(n + 0j)",
                "repr(complex(n, -n))",
                "math.erf(n)",
                "int(n) if abs(n) < 1e100 else 0",
                "n.as_integer_ratio()[1] % 1000",
                'f"{n!r:>30}"',
                'f"{n:#.3g}"',
                'f"{n:_}"',
            ],
            10,
        )
        self.piece(
            f"""
import math
numbers = [{numbers}]
for text in {binary!r}:
    for a, b in zip(numbers, numbers[1:]):
        try: print(text, repr(eval(text)))
        except Exception as e: print(text, type(e).__name__)
for text in {unary!r}:
    for n in numbers[:2]:
        try: print(text, repr(eval(text)))
        except Exception as e: print(text, type(e).__name__)
"""
        )

    def number_texts(self):
        r = self.r
        texts = [
            r.choice(
                [
                    "1",
                    "-1",
                    " 12 ",
                    "1_000",
                    "1__0",
                    "_1",
                    "0x1f",
                    "0b101",
                    "0o17",
                    "1e5",
                    "1.",
                    ".5",
                    "-.5e-3",
                    "inf",
                    "-Infinity",
                    "nan",
                    "",
                    " ",
                    "1 2",
                    "٣",
                    "0_1",
                    "1e400",
                    "12abc",
                    "z",
                    "Zz",
                    "1+2j",
                    " ( 1-1j ) ",
                    "j",
                    "1e",
                    "+5",
                    "--1",
                    "0x",
                    "1e-400",
                    "9" * 40,
                    "1.5_5",
                    "१.५",
                    "-0",
                    "0b2",
                    "True",
                    "1\n",
                    "-0.0",
                    "0x1p3",
                    "1__2.0",
                ]
            )
            for _ in range(6)
        ]
        calls = r.sample(
            [
                "int(t)",
                "int(t, 16)",
                "int(t, 0)",
                "int(t, 36)",
                "int(t, 2)",
                "float(t)",
                "complex(t)",
                "float(t.encode())",
                "int(t.encode(), 8)",
                "repr(eval(t)) if t.strip()[:1].isdigit() and len(t) < 9 else 0",
                "bool(t)",
                "t.isdigit(), t.isnumeric(), t.isdecimal()",
                "float.fromhex(t)",
            ],
            5,
        )
        self.piece(
            f"""
for t in {texts!r}:
    for text in {calls!r}:
        try: print(ascii(t), text, repr(eval(text)))
        except Exception as e: print(ascii(t), text, type(e).__name__)
"""
        )

    # ---- collections ----

    def list_work(self):
        r = self.r
        steps = [
            r.choice(
                [
                    "l.append(7)",
                    'l.extend("ab")',
                    'l.insert(1, "i")',
                    "l.insert(-1, 0)",
                    "l.pop()",
                    "l.pop(0)",
                    "l.pop(-2)",
                    "l.remove(2)",
                    "l.reverse()",
                    "l.sort(key=str)",
                    "l.clear()",
                    "l.index(2)",
                    "l.index(2, 1)",
                    "l.count(1)",
                    "l.copy()",
                    "l * 2",
                    "l + [9]",
                    "l.__iadd__((4, 5))",
                    "l.__imul__(2)",
                    "l[1:2]",
                    "l[::-1]",
                    'l.__setitem__(slice(0, 2), "xyz")',
                    "l.__delitem__(slice(None, None, 2))",
                    "l.__contains__(2)",
                    "len(l)",
                    "2 in l",
                    "l == l[:]",
                    "l < [2]",
                    "max(l, key=str)",
                    "sorted(l, key=repr)[:4]",
                    "list(map(type, l))[:1] and 1",
                    "list(enumerate(l, 5))[:2]",
                    "list(zip(l, l[1:]))[:3]",
                    "[*reversed(l)]",
                    "l.__getitem__(0)",
                    "any(l), all(l)",
                    "sum(x for x in l if isinstance(x, int))",
                    "l.sort()",
                    "l.extend(l[:2])",
                    "l.append(l[:1])",
                    "tuple(l)",
                    "str(l)",
                    "list(filter(None, l))",
                    "l[-1:]",
                    "l.__reversed__().__next__()",
                    "[l.pop() for _ in range(2)]",
                    'l.insert(99, "end")',
                    "hash(l)",
                    "l[1.0]",
                    'l["a"]',
                    "l.nothing",
                ]
            )
            for _ in range(12)
        ]
        self.piece(
            f"""
l = [{', '.join(self.value() for _ in range(r.randrange(1, 6)))}, 1, 2]
for text in {steps!r}:
    try: print(text, re.sub('0x[0-9a-f]+', '', repr(eval(text))), l if len(l) < 30 else len(l))
    except Exception as e: print(text, type(e).__name__, {self.some("str(e)[:60] if type(e) in (IndexError,) else 0", "0")})
    if len(l) > 60: del l[5:]
"""
        )

    def dict_work(self):
        r = self.r
        keys = ["'a'", "'b'", "1", "None", "(1, 2)", "2.0", "True", "'new'", "[]", "{}"]
        k = lambda: r.choice(keys)
        steps = [
            r.choice(
                [
                    f"d[{k()}]",
                    f'd.get({k()}, "no")',
                    f"d.setdefault({k()}, [])",
                    f"d.pop({k()})",
                    f"d.pop({k()}, 5)",
                    "d.popitem()",
                    f"d.update({{{k()}: 1}})",
                    f'd.update([({k()}, 2), ("z", 3)])',
                    "d.update(q=1, a=2)",
                    f'd.__setitem__({k()}, "set")',
                    f"d.__delitem__({k()})",
                    f"{k()} in d",
                    "list(d)",
                    "list(d.items())[-2:]",
                    "list(d.values())",
                    "list(reversed(d))",
                    'd | {"u": 1}',
                    'd.__ior__({"i": 2})',
                    "d.copy() == d",
                    'd.keys() & {1, "a"} == {1, "a"}',
                    "sorted(map(str, d.keys() - {1}))",
                    'd.items() >= {("a", 1)}',
                    'dict.fromkeys("ab", 0)',
                    'dict(zip("ab", [1, 2]), c=3)',
                    'dict([("x", 1), ("x", 2)])',
                    "dict([1])",
                    'dict(["abc"])',
                    "len(d)",
                    "bool(d)",
                    "d == {}",
                    "d < {}",
                    "hash(d)",
                    "{v: k for k, v in d.items() if isinstance(v, (int, str))}",
                    "d.keys() == set(d)",
                    "max(d, key=str)",
                    "sorted(d, key=repr)",
                    "next(iter(d))",
                    "d.items().isdisjoint([])",
                    "d.clear()",
                    "[*d.items()][:1]",
                    "str(d)",
                    "d.update(1)",
                    "d.get([])",
                    "d.pop()",
                    "d.fromkeys([1, 1])",
                    '"a" in d.values()',
                    "d.values() == d.values()",
                    "d.keys() | [1] == set(d) | {1}",
                    "type(d.items()).__name__",
                    "tuple(d.keys())[:1]",
                ]
            )
            for _ in range(12)
        ]
        self.piece(
            f"""
class D(dict):
    def __missing__(self, key): {self.some("return ('missing', key)", "self[key] = 0; return 0", "raise KeyError('mine')")}
d = {self.some("dict", "D", "dict")}({{{', '.join(f'{r.choice(keys[:8])}: {self.value()}' for _ in range(r.randrange(5)))}}})
for text in {steps!r}:
    try: print(text, repr(eval(text)), d)
    except Exception as e: print(text, type(e).__name__, e if type(e) is KeyError else 0)
"""
        )

    def set_work(self):
        r = self.r
        s = lambda: "{" + ", ".join(str(r.randrange(12)) for _ in range(r.randrange(1, 6))) + "}"
        steps = [
            r.choice(
                [
                    "s.add(3)",
                    "s.add([])",
                    "s.discard(2)",
                    "s.remove(9)",
                    f"s | {s()}",
                    f"s & {s()}",
                    f"s - {s()}",
                    f"s ^ {s()}",
                    f"s <= {s()}",
                    f"s < {s()}",
                    f"s == {s()}",
                    f"s.update({s()}, [1])",
                    f"s.intersection_update({s()})",
                    f"s.difference_update([1, 2])",
                    f"s.symmetric_difference_update({s()})",
                    f"s.issubset(range(20))",
                    f"s.issuperset([1])",
                    f"s.isdisjoint({s()})",
                    f's.union("ab") > s',
                    "len(s)",
                    "3 in s",
                    "sorted(s)",
                    "s.copy() == s",
                    "frozenset(s) == s",
                    "hash(frozenset(s)) == hash(frozenset(list(s)[::-1]))",
                    f"s.__ior__({s()})",
                    f"s.__isub__({s()})",
                    f"s.__ixor__({s()})",
                    "s | [1]",
                    "s.clear()",
                    "type(frozenset(s) | s).__name__",
                    "type(s | frozenset(s)).__name__",
                    "{x // 2 for x in s}",
                    "min(s, default=0)",
                    "sum(s)",
                    "hash(s)",
                    "{frozenset(s): 1}[frozenset(s)]",
                    "s > set()",
                    "s.nothing",
                    "[] in s",
                    "{1} in [s, {1}]",
                    "frozenset().add(1)",
                    'set("aab") == {"a", "b"}',
                    "any(x > 5 for x in s)",
                    "s.intersection(range(4), [1, 2, 3])",
                    "repr(s) == repr(set(s)) or len(s)",
                    "{(a, b) for a in s for b in (1, a)}",
                    "{(n, (n, 2.5)) for n in s}",
                ]
            )
            for _ in range(10)
        ]
        self.piece(
            f"""
s = set({s()})
for text in {steps!r}:
    try: print(text, repr(eval(text)), sorted(s))
    except Exception as e: print(text, type(e).__name__, e if type(e) is KeyError else 0)
"""
        )

    def sorting(self):
        r = self.r
        rows = [(r.randrange(4), r.choice("abc"), r.randrange(3)) for _ in range(r.randrange(3, 9))]
        self.piece(
            f"""
import functools, operator
rows = {rows}
for f in (lambda: sorted(rows), lambda: sorted(rows, key=lambda t: t[{r.randrange(3)}]), lambda: sorted(rows, key=operator.itemgetter({r.randrange(3)}, {r.randrange(3)}), reverse={r.random() < 0.5}), lambda: sorted(rows, key=lambda t: (-t[0], t[1])),
          lambda: min(rows, key=lambda t: t[{r.randrange(3)}]), lambda: max(rows, key=lambda t: t[{r.randrange(3)}]), lambda: sorted(rows, key=functools.cmp_to_key(lambda a, b: a[{r.randrange(3)}] > b[0] if True else 0)),
          lambda: sorted([{', '.join(self.value() for _ in range(4))}]), lambda: sorted({self.iterable_plain()}, key=str, reverse=True), lambda: min({self.iterable_plain()}, default="none"), lambda: max([{self.value()}, {self.value()}]), lambda: sorted("bAc", key=str.lower), lambda: sorted([K(i) for i in (3, 1, 2)]), lambda: [t[1] for t in sorted(zip("cab", range(3)))], lambda: min([], key=len), lambda: max(1, 2, key=lambda v: -v), lambda: sorted([[2, 1], [1, 3], [1]]), lambda: sorted({{'b': 1, 'a': 2}}.items(), key=lambda kv: kv[1])):
    try: show(f())
    except Exception as e: print(type(e).__name__)
class K:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v {self.some("<", ">")} o.v
    def __repr__(self): return f"K{{self.v}}"
l = [K(i) for i in {[r.randrange(9) for _ in range(r.randrange(2, 7))]}]; l.sort(); print(l); l.sort(reverse=True); print(l)
g = {{}}
for a, b, c in rows: g.setdefault(b, []).append(a * c)
print(g, [k for k, v in sorted(g.items(), key=lambda kv: (-sum(kv[1]), kv[0]))])
"""
        )

    def heap_and_bisect(self):
        r = self.r
        numbers = [r.randrange(20) for _ in range(r.randrange(1, 9))]
        self.piece(
            f"""
import heapq, bisect
h = {numbers}; heapq.heapify(h); print(h)
for text in {[r.choice(['heapq.heappush(h, 5)', 'heapq.heappop(h)', 'heapq.heappushpop(h, 3)', 'heapq.heapreplace(h, 8)', 'heapq.nsmallest(2, h)', 'heapq.nlargest(2, h)', 'list(heapq.merge([1, 4], sorted(h)))', 'heapq.nlargest(1, h, key=lambda v: -v)']) for _ in range(4)]!r}:
    try: print(text, eval(text), h)
    except Exception as e: print(type(e).__name__)
s = sorted({numbers})
print([bisect.bisect_left(s, v) for v in (-1, 3, 7, 30)], bisect.bisect(s, {r.randrange(20)}), bisect.bisect_right(s, s[0])); bisect.insort(s, {r.randrange(20)}); print(s)
"""
        )

    def string_building(self):
        r = self.r
        words = ["".join(r.choice("abcxyzABC019 _-.,ßéı\t") for _ in range(r.randrange(1, 8))) for _ in range(3)]
        steps = [
            r.choice(
                [
                    "w.title()",
                    "w.capitalize()",
                    "w.swapcase()",
                    "w.split()",
                    'w.split("-")',
                    'w.split("a", 1)',
                    'w.rsplit("x", 1)',
                    'w.strip("ab ")',
                    'w.lstrip("abc")',
                    'w.replace("a", "")',
                    'w.replace("x", "yy", 1)',
                    'w.partition("b")',
                    'w.rpartition("0")',
                    'w.find("c"), w.rfind("c")',
                    'w.count("a")',
                    'w.startswith(("a", "x"))',
                    'w.endswith("c", 1)',
                    "w.zfill(10)",
                    'w.center(11, "*")',
                    'w.ljust(9, ".")',
                    "w.isalnum(), w.isalpha(), w.isupper()",
                    'w.encode("utf-8")',
                    "w.casefold() == w.lower()",
                    "w[::-1]",
                    "w[1:-1]",
                    "w * 2",
                    '"|".join(w)',
                    "sorted(set(w))",
                    'w.translate(str.maketrans("abc", "123", "x"))',
                    "w.expandtabs(4)",
                    "w.splitlines()",
                    '"%s-%5s-%-5s|" % (w, w[:2], w[:1])',
                    'f"{w!r:^12}|{w[:3]:*>6}"',
                    '"{0}{1}{0}".format(w[0], len(w))',
                    '"{:>{n}}".format(w, n=9)',
                    '"{x[0]}{x[1]}".format(x=w + "??")',
                    'w.removeprefix(w[:1]), w.removesuffix("z")',
                    'w < "b"',
                    "ord(w[0]), chr(ord(w[-1]) + 1)",
                    'w.index("Q")',
                    "w.isidentifier()",
                    "ascii(w)",
                    "repr(w)",
                    'w in "abcxyz"',
                    "[i for i, c in enumerate(w) if c.isdigit()]",
                    '"".join(c.upper() if i % 2 else c for i, c in enumerate(w))',
                    "dict.fromkeys(w)",
                    'w.maketrans({"a": None})',
                    '"%(k)s %(n)05.1f" % {"k": w, "n": 2.25}',
                    '"%c%c" % (w[0], 65)',
                    "w.format(1)",
                    '"{} {}".format(w)',
                    '"%d" % w',
                    "w + 1",
                    "int(w)",
                    '" ".join([w, 1])',
                    'str(w.encode(), "utf-8") == w',
                    'w.encode("ascii", "xmlcharrefreplace")',
                    "max(w)",
                    "w.upper().isupper()",
                ]
            )
            for _ in range(9)
        ]
        self.piece(
            f"""
import string, textwrap
for w in {words!r}:
    for text in {steps!r}:
        try: print(text, ascii(eval(text)))
        except Exception as e: print(text, type(e).__name__)
print(string.ascii_lowercase[:3], textwrap.dedent({self.some(repr("  a" + chr(10) + "   b"), repr("x"))}), string.Template("$a ${{b}} $$").safe_substitute(a=1) if hasattr(string, "Template") else 0)
"""
        )

    def generator_pipelines(self):
        r = self.r
        stages = [
            r.choice(
                [
                    "(x * 2 for x in {})",
                    "(x for x in {} if x % 2)",
                    "map(lambda x: x + 1, {})",
                    "filter(lambda x: x > 1, {})",
                    "chunks({}, 2)",
                    "noisy({})",
                    "(y for x in {} for y in (x, -x))",
                    "itertools.islice({}, 3)",
                    "itertools.accumulate({})",
                    "zip({}, range(9))",
                    "enumerate({})",
                    "itertools.takewhile(lambda x: x != 3, {})",
                    "itertools.chain({}, [9])",
                    "iter(list({}))",
                    "reversed(list({}))",
                    "window({})",
                    "dedupe({})",
                    "sorted({}, key=str)",
                ]
            )
            for _ in range(r.randrange(1, 5))
        ]
        text = self.some("range(5)", "iter([1, 2, 2, 3])", "count()")
        for s in stages:
            text = s.replace("{}", text)
        self.piece(
            f"""
import itertools
def chunks(xs, n):
    xs = iter(xs)
    while chunk := list(itertools.islice(xs, n)): yield sum(chunk) if all(isinstance(c, (int, float)) for c in chunk) else len(chunk)
def noisy(xs):
    for x in xs: print("<", x, end=" "); yield x; print(">", end=" ")
def window(xs, last=None):
    for x in xs:
        if last is not None: yield (last, x)
        last = x
def dedupe(xs):
    seen = []
    for x in xs:
        if x not in seen: seen.append(x); yield x
def count():
    n = 0
    while n < 30:
        n += (yield n) or 1
g = {text}
try: print(list(itertools.islice(g, {r.randrange(1, 8)}))); print(next(iter(g), "end"))
except Exception as e: print(type(e).__name__)
kept.append(g)
"""
        )
