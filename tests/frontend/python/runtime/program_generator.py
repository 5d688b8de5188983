"""Random Python programs without tensors, deterministic in their seed: expressions of all built-in
types, statements, functions, classes, generators, exceptions; and the chapters of
program_chapters.py. Every program ends; nearly every statement prints, so that a difference shows
where it is."""
import random

from program_chapters import Chapters


class Generator(Chapters):
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.indent = 0
        self.names = []  # variables in scope
        self.functions = []  # (name, number of required arguments)
        self.classes = []
        self.counter = 0
        self.in_loop = 0
        self.in_function = 0

    def emit(self, text):
        self.lines.append("    " * self.indent + text)

    def fresh(self, prefix="v"):
        self.counter += 1
        return f"{prefix}{self.counter}"

    # ---- expressions ----

    def literal(self):
        r = self.r
        return r.choice(
            [
                lambda: str(r.choice([0, 1, 2, 3, 5, 7, 10, -1, -2, -7, 9, 12])),
                lambda: repr(r.choice([0.0, 0.5, 1.5, -2.25, 3.0, 1e10, 1e-7, 123.456, -0.1, 1e100])),
                lambda: repr(
                    r.choice(["", "a", "abc", "hello world", "x,y,z", "Hé€", "  pad ", "AbC", "42", "%s", "{}"])
                ),
                lambda: r.choice(["True", "False", "None"]),
                lambda: "[" + ", ".join(self.atom() for _ in range(r.randrange(4))) + "]",
                lambda: "(" + "".join(self.atom() + ", " for _ in range(r.randrange(4))) + ")",
                lambda: "{" + ", ".join(f"{self.key()}: {self.atom()}" for _ in range(r.randrange(4))) + "}",
                lambda: f"range({r.randrange(8)})",
                lambda: repr(r.choice([b"", b"ab"])),
            ]
        )()

    def key(self):
        return self.r.choice(["'a'", "'b'", "'k'", "1", "2", "(1, 2)", "None", "True", "2.5"])

    def atom(self):
        if self.names and self.r.random() < 0.6:
            return self.r.choice(self.names)
        return self.r.choice(
            ["0", "1", "2", "3", "-1", "0.5", "'s'", "'ab'", "None", "True", "[]", "[1, 2]", "(1,)", "{'a': 1}", "-7"]
        )

    def big(self):
        return self.r.choice(
            [
                "(2 ** 31)",
                "(2 ** 63)",
                "(-2 ** 63)",
                "(2 ** 63 - 1)",
                "(10 ** 20)",
                "(-10 ** 25)",
                "123456789012345678901234567890",
                "7",
                "(-3)",
                "1e20",
                "(2 ** 53 + 1)",
            ]
        )

    def plain(self):
        """Without quotes or braces: for the inside of f-strings."""
        return (
            self.r.choice(self.names)
            if self.names and self.r.random() < 0.6
            else self.r.choice(["0", "1.5", "None", "-7", "[1, 2]", "(1,)", "True"])
        )

    def expr(self, depth=0):
        r = self.r
        if depth > 3 or r.random() < 0.15:
            return self.atom() if r.random() < 0.7 else self.literal()
        e = lambda: self.expr(depth + 1)
        kinds = [
            lambda: f'({e()} {r.choice(["+", "-", "*", "/", "//", "%", "&", "|", "^"])} {e()})',
            lambda: f'({e()} {r.choice(["+", "-", "*"])} {e()})',
            lambda: f'({self.atom()} {r.choice(["<<", ">>", "**"])} {r.randrange(6)})',
            lambda: f'({e()} {r.choice(["<", "<=", ">", ">=", "==", "!="])} {e()})',
            lambda: f"({e()} == {e()} != {e()})",
            lambda: f'({e()} {r.choice(["and", "or"])} {e()})',
            lambda: f"(not {e()})",
            lambda: f"({e()} {r.choice(['is', 'is not'])} {r.choice(['None', 'True', 'False'])})",
            lambda: f'({r.choice(["-", "+", "~"])}{e()})',
            lambda: f"({e()} if {e()} else {e()})",
            lambda: f'({e()} {r.choice(["in", "not in"])} {self.literal_or_name()})',
            lambda: f"{self.literal_or_name()}[{r.choice([self.index(), self.slice()])}]",
            lambda: f'{r.choice(["len", "str", "repr", "bool", "list", "tuple", "sum", "max", "min", "abs", "int", "float", "type", "sorted", "any", "all", "round", "hash_safe"])}({e()})',
            lambda: f"[{e()} for i in {self.iterable()}{self.condition()}]",
            lambda: f"{{{self.key()}: {e()} for i in {self.iterable()}}}",
            lambda: f"sum(i for i in {self.iterable()} if i is not None)",
            lambda: f"list(zip({self.iterable()}, {self.iterable()}))",
            lambda: f"(lambda x, y={self.atom()}: {self.atom()})({e()})",
            lambda: f"dict(enumerate({self.iterable()}))",
            lambda: f"f'{{{self.plain()}}}|{{{self.plain()}!r}}|{{{self.number()}:{self.spec()}}}'",
            lambda: f"'%s %r' % ({self.atom()}, {self.atom()})",
            lambda: f"'{{}}-{{!r}}'.format({self.atom()}, {self.atom()})",
            lambda: self.method_call(),
            # Large numbers stay inside a string: repeating a sequence by one ends in a limit here
            # and in a MemoryError there.
            lambda: f'str({self.big()} {r.choice(["+", "-", "*", "/", "//", "%", "&", "|", "^", "<", "==", ">="])} {self.big()})',
            lambda: f'str({r.choice(["hash", "float", "bin", "abs", "bool", "(lambda n: n << 70)", "(lambda n: n >> 33)", "(lambda n: ~n)"])}({self.big()}))',
            lambda: f"str({self.big()} ** {r.randrange(5)})",
            lambda: f'isinstance({e()}, {r.choice(["int", "str", "(list, tuple)", "float", "dict", "object"])})',
            lambda: f"[*{self.iterable()}, {e()}]",
            lambda: f"divmod({e()}, {e()})",
            lambda: f"round({self.number()}, {r.randrange(-2, 4)})",
        ]
        if self.functions:

            def call():
                name, n = r.choice(self.functions)
                args = [e() for _ in range(max(0, n + r.choice([0, 0, 0, 0, 1, -1])))]
                if r.random() < 0.2:
                    args.append("*[1]")
                if r.random() < 0.2:
                    args.append(f"k={self.atom()}")
                return f'{name}({", ".join(args)})'

            kinds += [call, call]
        if self.classes:
            kinds.append(lambda: f"{r.choice(self.classes)}({self.atom()})")
            kinds.append(
                lambda: f'{r.choice(self.classes)}({self.atom()}).{r.choice(["get", "both", "missing"])}({r.choice(["", self.atom()])})'
            )
            kinds.append(
                lambda: f'{r.choice(self.classes)}({self.atom()}).{r.choice(["value", "prop", "kind", "nothing"])}'
            )
        return r.choice(kinds)()

    def number(self):
        return self.r.choice(["3.14159", "42", "-7", "0", "1e10", "0.1", "255", "1234567", "-2.5", "(10 ** 20)"])

    def spec(self):
        return self.r.choice(
            ["", "d", ".2f", ">8", "<8", "^9", "+", "05", "x", "e", ".3g", ",", "#b", "10.3f", "%", "*^12", "_", "s"]
        )

    def index(self):
        return self.r.choice(["0", "1", "-1", "2", "'a'", "1", "None", "-3"])

    def slice(self):
        part = lambda: self.r.choice(["", "", "0", "1", "2", "-1", "-2", "5", "-9"])
        return f"{part()}:{part()}" + (f':{self.r.choice(["1", "2", "-1", "-2"])}' if self.r.random() < 0.4 else "")

    def literal_or_name(self):
        return self.r.choice(self.names) if self.names and self.r.random() < 0.5 else self.literal()

    def iterable(self):
        return self.r.choice(
            [
                f"range({self.r.randrange(6)})",
                "[1, 2, 3]",
                "'abc'",
                "(1, 2.5)",
                "{'a': 1, 'b': 2}",
                "[]",
                "[None, 0, 1]",
                "enumerate('ab')",
                "reversed([1, 2])",
                "gen(3)",
                self.atom(),
            ]
        )

    def condition(self):
        return "" if self.r.random() < 0.6 else f' if {self.r.choice(["i", "i != 1", "bool(i)", "i is not None"])}'

    def method_call(self):
        r = self.r
        s = r.choice(["'Hello, World'", "'a,b,,c'", "' pad '", "'abc'"])
        return r.choice(
            [
                lambda: f'{s}.{r.choice(["upper", "lower", "title", "strip", "split", "swapcase", "capitalize", "isalpha", "splitlines"])}()',
                lambda: f"{s}.{r.choice(['find', 'count', 'split', 'replace', 'startswith', 'partition', 'index', 'rsplit'])}({r.choice([chr(39) + x + chr(39) for x in ('a', ',', 'l', '', 'lo')])})",
                lambda: f"{s}.replace('l', {self.atom()})",
                lambda: f"','.join({self.iterable()})",
                lambda: f"','.join(map(str, {self.iterable()}))",
                lambda: f'{s}.{r.choice(["center", "ljust", "rjust", "zfill"])}({r.randrange(20)})',
                lambda: f'({self.literal_or_name()}).{r.choice(["copy", "keys", "values", "items", "index", "count", "sort", "pop", "clear", "bit_length", "hex"])}()',
                lambda: f'({self.literal_or_name()}).{r.choice(["index", "count", "get", "append", "pop", "remove", "extend", "setdefault"])}({self.atom()})',
                lambda: f'sorted({self.iterable()}, key=lambda v: {r.choice(["str(v)", "-v", "v", "0"])}, reverse={r.choice(["True", "False"])})',
            ]
        )()

    # ---- statements ----

    def block(self, depth, n=None):
        self.indent += 1
        names = list(self.names)
        for _ in range(n or self.r.randrange(1, 4)):
            self.statement(depth + 1)
        self.names = names
        self.indent -= 1

    def show(self, text):
        """Prints a value or the error that it raises."""
        self.emit("try:")
        self.emit(f"    show({text})")
        self.emit("except Exception as e:")
        self.emit("    print(type(e).__name__, message(e))")

    def statement(self, depth=0):
        r = self.r
        kinds = [self.print_statement] * 5 + [self.assign] * 5 + [self.augmented, self.unpack]
        if depth < 3:
            kinds += [
                self.if_statement,
                self.for_statement,
                self.while_statement,
                self.try_statement,
                self.with_statement,
                self.match_statement,
            ]
        if depth < 2:
            kinds += [self.function, self.class_statement, self.closure]
        if depth == 0:
            kinds += [self.chapter] * 6
        if self.in_loop and depth:
            kinds.append(lambda d: self.emit(f'if {self.atom()}: {r.choice(["break", "continue"])}'))
        if self.in_function and depth:
            kinds.append(lambda d: self.emit(f"if {self.atom()} == {self.atom()}: return {self.expr(2)}"))
        r.choice(kinds)(depth)

    def print_statement(self, depth):
        self.show(self.expr())

    def assign(self, depth):
        name = self.fresh()
        self.emit("try:")
        self.emit(f"    {name} = {self.expr()}")
        self.emit("except Exception as e:")
        self.emit(f"    {name} = type(e).__name__")
        self.emit(f"show({name})")
        self.names.append(name)

    def augmented(self, depth):
        if not self.names:
            return self.assign(depth)
        name = self.r.choice(self.names)
        if self.in_function:
            return self.show(f"{name}")
        self.emit("try:")
        self.emit(f'    {name} {self.r.choice(["+=", "-=", "*=", "//=", "%=", "|=", "&="])} {self.atom()}')
        self.emit(f"    {name} = trim({name})")
        self.emit("except Exception as e:")
        self.emit("    print(type(e).__name__)")
        self.emit(f"show({name})")

    def unpack(self, depth):
        a, b = self.fresh(), self.fresh()
        self.emit(f"{a} = {b} = 0")
        self.emit("try:")
        self.emit(
            f'    {self.r.choice([f"{a}, {b}", f"{a}, *{b}", f"*{a}, {b}", f"({a}, ({b}, _))"])} = {self.iterable()}'
        )
        self.emit("except Exception as e:")
        self.emit("    print(type(e).__name__, message(e))")
        self.emit(f"show(({a}, {b}))")
        self.names += [a, b]

    def guarded(self, head, depth, n=None):
        self.emit("try:")
        self.indent += 1
        self.emit(head)
        self.block(depth, n)
        self.indent -= 1

    def end_guard(self):
        self.emit("except Exception as e:")
        self.emit("    print(type(e).__name__)")

    def if_statement(self, depth):
        self.guarded(f"if {self.expr(1)}:", depth)
        self.indent += 1
        if self.r.random() < 0.4:
            self.emit(f"elif {self.expr(2)}:")
            self.block(depth)
        if self.r.random() < 0.6:
            self.emit("else:")
            self.block(depth)
        self.indent -= 1
        self.end_guard()

    def for_statement(self, depth):
        name = self.fresh("i")
        self.emit(f"{name} = None")
        self.names.append(name)
        self.in_loop += 1
        self.guarded(f"for {name} in take({self.iterable()}):", depth)
        self.in_loop -= 1
        if self.r.random() < 0.3:
            self.indent += 1
            self.emit("else:")
            self.emit("    print('for else')")
            self.indent -= 1
        self.end_guard()

    def while_statement(self, depth):
        name = self.fresh("w")
        self.emit(f"{name} = 0")
        self.guarded(f"while ({name} := {name} + 1) < {self.r.randrange(2, 5)}:", depth, 1)
        self.end_guard()

    def try_statement(self, depth):
        self.emit("try:")
        self.indent += 1
        self.emit("try:")
        self.block(depth)
        if self.r.random() < 0.6:
            self.emit(
                "    "
                + self.r.choice(
                    [
                        'raise ValueError("v")',
                        'raise KeyError("k")',
                        "1 / 0",
                        "[][1]",
                        "undefined_name",
                        f"show({self.expr()})",
                    ]
                )
            )
        self.emit(
            f'except {self.r.choice(["ValueError", "(KeyError, IndexError)", "ArithmeticError", "LookupError", "Exception"])} as err:'
        )
        self.emit('    print("handled", type(err).__name__, message(err), type(err.__context__).__name__)')
        if self.r.random() < 0.3:
            self.emit("    " + self.r.choice(["raise", 'raise RuntimeError("r") from err', 'raise TypeError("t")']))
        if self.r.random() < 0.3:
            self.emit("else:")
            self.emit('    print("else")')
        if self.r.random() < 0.5:
            self.emit("finally:")
            self.emit('    print("finally")')
        self.indent -= 1
        self.emit("except Exception as e:")
        self.emit('    print("outer", type(e).__name__, message(e), type(e.__cause__).__name__)')

    def with_statement(self, depth):
        name = self.fresh("c")
        self.guarded(f'with Manager({self.r.choice(["True", "False"])}) as {name}:', depth)
        if self.r.random() < 0.5:
            self.emit("        " + self.r.choice(['raise ValueError("in with")', '{}["k"]', 'print("body")']))
        self.end_guard()

    def match_statement(self, depth):
        self.emit("try:")
        self.indent += 1
        self.emit(f"match {self.expr(1)}:")
        for pattern in self.r.sample(
            [
                "0 | 1",
                "int(n) if n > 2",
                "str() as s",
                "[]",
                "[a, *rest]",
                "(a, b)",
                "{'a': x, **rest}",
                "None",
                "float()",
                "True",
                "[[_]]",
            ],
            4,
        ):
            self.emit(f"    case {pattern}:")
            self.emit(f'        print("case", {pattern!r})')
        self.emit("    case other:")
        self.emit("        show(other)")
        self.indent -= 1
        self.end_guard()

    def function(self, depth):
        name = self.fresh("f")
        n = self.r.randrange(3)
        params = [f"p{i}" for i in range(n)]
        text = list(params)
        if self.r.random() < 0.4:
            text.append(f"q={self.atom()}")
        star = self.r.random()
        if star < 0.3:
            text.append("*args")
        text.append("k=None" if star < 0.3 or self.r.random() < 0.5 else "*, k=1")
        if self.r.random() < 0.3:
            text.append("**kw")
        self.emit(f'def {name}({", ".join(text)}):')
        outer_names, outer_loop = self.names, self.in_loop
        self.names = self.names[-3:] + params + ["k"]
        self.in_loop = 0
        self.in_function += 1
        self.emit("    if deep(): return 0")
        self.block(depth)
        self.emit(f'    {self.r.choice(["return", "return", "yield"]) if depth == 0 else "return"} {self.expr(1)}')
        self.in_function -= 1
        self.names, self.in_loop = outer_names, outer_loop
        self.functions.append((name, n))

    def closure(self, depth):
        name = self.fresh("make")
        self.emit(f"def {name}(start={self.atom()}):")
        self.emit("    total = [start]")
        self.emit("    count = 0")
        self.emit("    def step(x=1, *more, k=0):")
        self.emit("        nonlocal count")
        self.emit("        count += 1")
        self.emit("        total.append(x)")
        self.emit("        return count, total[-2:]")
        self.emit("    return step")
        inner = self.fresh("step")
        self.emit(f"{inner} = {name}()")
        if not self.in_function:
            self.functions.append((inner, 1))
        self.show(f"{inner}({self.atom()}), {inner}(), {name}({self.atom()})()")

    def class_statement(self, depth):
        name = self.fresh("C")
        bases = ""
        if self.classes and self.r.random() < 0.5:
            bases = f"({self.r.choice(self.classes)})"
        self.emit(f"class {name}{bases}:")
        self.indent += 1
        self.emit(f"kind = {self.atom() if not self.in_function else 1}")
        if not bases or self.r.random() < 0.5:
            self.emit("def __init__(self, value):")
            if bases:
                self.emit("    super().__init__(value)")
            self.emit("    self.value = value")
        self.emit(f"def get(self, k=0): return ({name!r}, self.value, k)")
        self.emit("def both(self):")
        self.emit(
            "    return self.get(), type(self).__name__" if not bases else "    return super().get(), self.get(1)"
        )
        if self.r.random() < 0.5:
            self.emit("@property")
            self.emit("def prop(self): return self.kind")
        if self.r.random() < 0.3:
            self.emit("@classmethod")
            self.emit("def missing(cls, x=0): return cls.__name__, x")
        if self.r.random() < 0.4:
            self.emit(f'def __add__(self, o): return ({name!r}, "add")')
        if self.r.random() < 0.3:
            self.emit("def __eq__(self, o): return isinstance(o, type(self))")
        if self.r.random() < 0.3:
            self.emit("def __len__(self): return 2")
            self.emit("def __getitem__(self, i):")
            self.emit("    if i in (0, 1): return i * 10")
            self.emit("    raise IndexError(i)")
        self.emit(f'def __repr__(self): return f"{name}({{self.value!r}})"')
        self.indent -= 1
        if not self.in_function:
            self.classes.append(name)

    PRELUDE = '''\
import re
class Manager:
    def __init__(self, swallow): self.swallow = swallow
    def __enter__(self): print('enter'); return self
    def __exit__(self, t, v, tb): print('exit', t and t.__name__); return self.swallow
    def __repr__(self): return 'Manager'
def gen(n):
    got = None
    for i in range(n):
        got = yield i
    return got
calls = 0
def deep():
    global calls
    calls += 1
    return calls > 200
def take(xs):
    n = 0
    for x in xs:
        n += 1
        if n > 5: return
        yield x
kept = []  # CPython closes a suspended generator as soon as nothing holds it, we never do: so they are all held
def trim(v):
    if isinstance(v, (set, frozenset)) and not all(isinstance(x, (int, float)) for x in v): return sorted(map(repr, v))  # hashes of strings differ from run to run
    if isinstance(v, (str, list, tuple, bytes)) and len(v) > 1000: return v[:10]
    if isinstance(v, int) and abs(v) > 10 ** 200: return 7
    return v
def hash_safe(v):
    hash(v)
    return isinstance(hash(v), int)
def message(e):
    """Of errors whose text does not depend on how a built-in function is written."""
    if type(e) in (KeyError, ZeroDivisionError, IndexError, NameError, RuntimeError): return str(e)[:300]
def show(v, depth=0):
    """repr, without addresses."""
    text = re.sub('0x[0-9a-f]+', '', repr(trim(v)))
    print(text if len(text) < 2000 else text[:2000], type(v).__name__)
'''

    def program(self, statements=10):
        self.lines = self.PRELUDE.splitlines()
        for _ in range(statements):
            self.statement()
        return "\n".join(self.lines) + "\n"


def generate(seed):
    return Generator(seed).program()


if __name__ == "__main__":
    import sys

    print(generate(int(sys.argv[1])))
