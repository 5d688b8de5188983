"""CPython's own library as a test of the language: modules written in Python are run by python_run
from their source, in place of ours, and exercised as CPython exercises its own; what is printed
must be the same.

  library_modules_test.py [NAME...]      only these cases, and every difference in full
"""
import os
import subprocess
import sys
import tempfile

# name -> (modules whose source replaces ours, program)
CASES = {
    "colorsys": (
        ["colorsys"],
        """
import colorsys
for c in [(0, 0, 0), (1, 1, 1), (.2, .4, .6), (.9, .1, .5)]:
    print(colorsys.rgb_to_hsv(*c), colorsys.rgb_to_hls(*c), colorsys.rgb_to_yiq(*c), colorsys.hsv_to_rgb(*c), colorsys.hls_to_rgb(*c), colorsys.yiq_to_rgb(*c))
""",
    ),
    "textwrap": (
        ["textwrap"],
        """
import textwrap
text = "The quick brown fox, jumped over the lazy dog's back-yard.  Really?  'Yes' -- a very-long-hyphenated-word indeed\\tand a tab."
for width in (10, 20, 33, 70):
    print(textwrap.wrap(text, width)); print(textwrap.fill(text, width, initial_indent='* ', subsequent_indent='  '))
print(textwrap.wrap(text, 12, break_long_words=False, break_on_hyphens=False), textwrap.shorten(text, 40), textwrap.dedent('   a\\n     b\\n   c'))
print(textwrap.wrap(text, 15, max_lines=3, placeholder='~'), textwrap.TextWrapper(width=8, fix_sentence_endings=True, expand_tabs=False).wrap(text))
print(textwrap.indent('a\\n\\nb', '--'), textwrap.wrap('', 5), textwrap.wrap('x' * 30, 7))
""",
    ),
    "heapq and bisect": (
        ["heapq", "bisect"],
        """
import heapq, bisect
h = [5, 2, 8, 1, 9, 3]
heapq.heapify(h); print(h, heapq.heappop(h), heapq.heappushpop(h, 0), heapq.heapreplace(h, 7), h)
print(heapq.nlargest(3, 'hello world'), heapq.nsmallest(2, [3, 1, 2], key=lambda x: -x), list(heapq.merge([1, 4], [2, 3], [0, 9])), list(heapq.merge('ca', 'b', reverse=True)))
print([bisect.bisect_left([1, 2, 2, 3], x) for x in range(5)], [bisect.bisect([1, 2, 2, 3], x) for x in range(5)]); l = [1, 3]; bisect.insort(l, 2); print(l, bisect.bisect([(1, 'a'), (2, 'b')], 1, key=lambda t: t[0]))
""",
    ),
    "graphlib": (
        ["graphlib"],
        """
from graphlib import TopologicalSorter, CycleError
t = TopologicalSorter({'d': ['b', 'c'], 'b': ['a'], 'c': ['a']}); print(list(t.static_order())[0], sorted(TopologicalSorter({1: [2], 2: [3]}).static_order()))
try: list(TopologicalSorter({1: [2], 2: [1]}).static_order())
except CycleError as e: print(e.args[0], sorted(set(e.args[1])))
t = TopologicalSorter(); t.add('x', 'y'); t.prepare(); print(t.get_ready(), t.is_active()); t.done('y'); print(t.get_ready())
""",
    ),
    "fractions": (
        ["fractions", "numbers", "_pydecimal:decimal"],
        """
from fractions import Fraction as F
print(F(3, 6), F('3/7'), F('0.125'), F(1.5), F('-1e-3'), F(3, 4) + F(1, 4), F(1, 3) * 3, F(1, 3) ** 2, F(1, 3) ** -2, F(7, 2) // 1, F(7, 2) % 1, -F(1, 2), abs(F(-1, 2)), float(F(1, 3)), int(F(7, 2)), round(F(5, 2)), round(F(22, 7), 2), F(1, 3) < F(1, 2), F(1, 2) == 0.5, hash(F(1, 2)) == hash(0.5), F(355, 113).limit_denominator(10), repr(F(1, 2)), F(1, 2) + 1, 1 - F(1, 2), 2 / F(1, 3), F(1, 2) + 0.5, divmod(F(7, 2), F(1, 2)), F(10).numerator, sum([F(1, i) for i in range(1, 6)]), F(1, 2).as_integer_ratio(), bool(F(0)), F.from_float(0.25), max(F(1, 2), F(2, 3)))
for bad in (lambda: F(1, 0), lambda: F('x'), lambda: F('1/0'), lambda: F(1.5, 2), lambda: F(None)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
""",
    ),
    "decimal": (
        ["_pydecimal:decimal", "numbers"],
        """
from decimal import Decimal as D, getcontext, localcontext, ROUND_HALF_UP, ROUND_DOWN, InvalidOperation, DivisionByZero
print(D('1.1') + D('2.2'), D(1) / D(7), D('3.14159').quantize(D('0.01')), D('2.5').quantize(D('1'), rounding=ROUND_HALF_UP), D('1e10'), D('NaN'), D('-Infinity'), D('0.1') * 3, D(2) ** 10, D(2).sqrt(), D('1.20').normalize(), D('123.456').as_tuple(), str(D('1E+3')), int(D('7.9')), float(D('0.5')), D('1') == 1, D('1.0') == D('1.00'), hash(D(1)) == hash(1), D('5') % 3, D('-5') // 3, divmod(D(7), 2), D('1.5').to_integral_value(), max(D(1), D(2)), sorted([D(3), D(1)]), f"{D('1234.5'):,.2f}", D('1').exp(), D(10).ln(), D(100).log10(), D('12.3').adjusted(), -D(1), abs(D(-2)), bool(D(0)), repr(D('0.1')))
with localcontext() as c:
    c.prec = 5; print(D(1) / D(3))
for bad in (lambda: D('x'), lambda: D(1) / 0, lambda: D(0) / 0, lambda: D(1) + 1.5):
    try: print(bad())
    except Exception as e: print(type(e).__name__)
""",
    ),
    "statistics": (
        ["statistics", "fractions", "numbers", "_pydecimal:decimal", "bisect"],
        """
import statistics as s
d = [1, 2, 3, 4, 4, 5.5]
print(s.mean(d), s.fmean(d), s.median(d), s.median_low(d), s.median_high(d), s.mode(d), s.multimode('aabb'), s.stdev(d), s.pstdev(d), s.variance(d), s.pvariance(d), s.harmonic_mean([40, 60]), s.geometric_mean([54, 24, 36]), s.quantiles(d, n=4), s.median_grouped([1, 2, 2, 3]), s.correlation([1, 2, 3], [1, 5, 7]), s.covariance([1, 2, 3], [1, 5, 7]), s.linear_regression([1, 2, 3], [1, 5, 7]))
n = s.NormalDist(10, 2); print(n, n.pdf(11), n.cdf(12), n.inv_cdf(.9), n + 1, n * 2, n.overlap(s.NormalDist(11, 2)), n.zscore(12), s.NormalDist.from_samples([1, 2, 3]))
try: s.mean([])
except s.StatisticsError as e: print(e)
""",
    ),
    "difflib": (
        ["difflib", "heapq"],
        """
import difflib
print(difflib.get_close_matches('appel', ['ape', 'apple', 'peach']), difflib.SequenceMatcher(None, 'abcd', 'bcde').ratio(), difflib.SequenceMatcher(None, 'qabxcd', 'abycdf').get_opcodes(), difflib.SequenceMatcher(None, ' abcd', 'abcd abcd').find_longest_match())
a, b = 'one two three'.split(), 'one tree four'.split()
print(list(difflib.ndiff(a, b)), list(difflib.unified_diff(a, b, 'f', 't', lineterm='')), list(difflib.context_diff(a, b, lineterm='')), list(difflib.restore(difflib.ndiff(a, b), 2)))
print(difflib.SequenceMatcher(lambda x: x == ' ', 'private Thread', 'private volatile Thread').get_matching_blocks())
""",
    ),
    "configparser": (
        ["configparser"],
        """
import configparser, io
c = configparser.ConfigParser()
c.read_string("[DEFAULT]\\nbase = /x\\n[a]\\nk = v\\npath = %(base)s/y\\nn: 3\\nf = 1.5\\nyes = on\\nmulti = 1\\n  2\\n; comment\\n[b]\\nempty =\\n")
print(c.sections(), c['a']['k'], c.get('a', 'path'), c.getint('a', 'n'), c.getfloat('a', 'f'), c.getboolean('a', 'yes'), c['a']['multi'], c.has_option('b', 'zz'), c.get('b', 'zz', fallback='fb'), dict(c['b']), c.options('a'), 'a' in c)
c['new'] = {'x': '1'}; c.set('new', 'y', '2'); out = io.StringIO(); c.write(out); print(out.getvalue())
for bad in (lambda: c.get('a', 'nope'), lambda: c.get('zz', 'k'), lambda: c.read_string('[a]\\n[a]'), lambda: c.read_string('junk'), lambda: c.set('a', 'k', 3)):
    try: bad()
    except Exception as e: print(type(e).__name__, str(e).split(chr(10))[0])
r = configparser.RawConfigParser(allow_no_value=True); r.read_string('[s]\\nflag\\n'); print(r.items('s'))
e = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation()); e.read_dict({'p': {'a': '1'}, 'q': {'b': '${p:a}2'}}); print(e['q']['b'])
""",
    ),
    "string": (
        ["string"],
        """
import string
print(string.Template('$a ${b}$$ $c').safe_substitute(a=1, b=2), string.Formatter().vformat('{0!r:>5}|{x[k]}|{}', ('a',), {'x': {'k': 1}}) if False else '', string.capwords('a b-c  d'))
class T(string.Template): delimiter = '%'
print(T('%x $x').substitute(x=5), T('%x').pattern.pattern == T.pattern.pattern, T('%x %y').get_identifiers(), T('%%').is_valid())
for t in ('$', '${a', '$1'):
    try: string.Template(t).substitute(a=1)
    except ValueError as e: print(e)
""",
    ),
    "enum": (
        ["enum"],
        """
from enum import *
class C(Enum):
    A = 1; B = 2; ALIAS = 1
    def f(self): return self.name
class F(Flag):
    R = auto(); W = auto(); X = auto(); ALL = R | W | X
class I(IntEnum): ONE = 1; TWO = auto()
class S(StrEnum): A = auto(); B = 'bee'
print(list(C), C(2), C['A'], C.ALIAS, C.A.f(), F.R | F.W, ~F.R, F.ALL, list(F.ALL), F(3), F(0), I.ONE + 1, S.A, S.B.upper(), C.__members__, len(C), F.R in F.ALL, I(2), repr(S.B), C.A == C.ALIAS, hash(C.A) == hash(C.A))
for bad in (lambda: C(9), lambda: C['Z'], lambda: setattr(C, 'A', 1), lambda: F(64), lambda: C.A < C.B, lambda: type('D', (C,), {})):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
class P(Enum):
    def __new__(cls, v, extra): o = object.__new__(cls); o._value_ = v; o.extra = extra; return o
    X = (1, 'e')
print(P.X.extra, P(1), Enum('G', 'a b').b.value, IntFlag('H', 'p q').q | 1)
""",
    ),
    "dataclasses": (
        ["dataclasses", "keyword", "reprlib"],
        """
from dataclasses import *
from typing import ClassVar, Any
@dataclass(order=True)
class A:
    x: int
    y: list = field(default_factory=list, compare=False)
    c: ClassVar[int] = 1
    i: InitVar[int] = 0
    def __post_init__(self, i): self.z = i
@dataclass(frozen=True)
class B: a: int = 1; b: str = 'q'
@dataclass(kw_only=True, slots=True)
class K: a: int; b: int = 2
@dataclass
class Child(A): w: float = 1.0
print(A(1), A(1) < A(2), B(), B() == B(1), hash(B()) == hash(B()), K(a=1), Child(1, w=3), asdict(Child(2, [A(3)])), astuple(B()), replace(B(), a=9), [f.name for f in fields(Child)], A(1, i=5).z, K.__slots__, A.__match_args__)
for bad in (lambda: A(), lambda: setattr(B(), 'a', 2), lambda: K(1), lambda: A(1, 2, 3, 4)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
""",
    ),
    "functools": (
        ["functools", "reprlib"],
        """
from functools import *
@lru_cache(maxsize=2)
def f(x): return x * 2
print([f(i) for i in (1, 2, 1, 3, 2)], f.cache_info())
@singledispatch
def g(x): return 'object'
@g.register
def _(x: int): return 'int'
@g.register(list)
def _(x): return 'list'
print(g(1), g([]), g('s'), g(True))
@total_ordering
class T:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
print(T(1) >= T(0), T(1) <= T(1), sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)), reduce(lambda a, b: a + b, 'abc'))
class C:
    @cached_property
    def p(self): print('once'); return 1
    def m(self, a, b): return a, b
    h = partialmethod(m, 1)
c = C(); print(c.p, c.p, c.h(2))
p = partial(pow, 2); print(p(5), p.func is pow, p.args)
@wraps(f)
def w(): pass
print(w.__name__)
""",
    ),
    "argparse": (
        ["argparse"],
        """
import argparse, functools
formatter = functools.partial(argparse.HelpFormatter, width=80)
p = argparse.ArgumentParser(prog='prog', description='desc', formatter_class=formatter)
p.add_argument('file'); p.add_argument('-n', '--num', type=int, default=3, help='a number'); p.add_argument('--flag', action='store_true'); p.add_argument('--list', nargs='+'); p.add_argument('--choice', choices=['a', 'b'])
g = p.add_mutually_exclusive_group(); g.add_argument('--x'); g.add_argument('--y')
print(p.parse_args(['f', '-n', '5', '--list', '1', '2'])); print(p.parse_args(['f', '--flag', '--num=7', '--choice', 'a'])); print(p.parse_known_args(['f', '--zzz']))
print(argparse.Namespace(a=1, b='x'), vars(argparse.Namespace(a=1)))
""",
    ),
    "json": (
        ["json/__init__", "json/decoder", "json/encoder", "json/scanner"],
        """
import json
d = {'a': [1, 2.5, None, True, 'é"\\n'], 'b': {'c': {}}, 'e': []}
print(json.dumps(d), json.dumps(d, indent=2, sort_keys=True), json.dumps(d, ensure_ascii=False, separators=(',', ':')), json.loads(json.dumps(d)) == d, json.loads(' [1, -2.5e3, "\\\\u00e9", null, false] '), json.dumps({1: 2, None: 3, True: 4}), json.dumps(float('inf')))
class E(json.JSONEncoder):
    def default(self, o): return sorted(o) if isinstance(o, set) else super().default(o)
print(json.dumps({'s': {3, 1}}, cls=E), json.loads('{"a": 1}', object_pairs_hook=list), json.loads('[1.5]', parse_float=str), json.loads('{"x": {"y": 1}}', object_hook=lambda d: tuple(d.items())))
for bad in ('', '{', '[1,]', '{"a" 1}', 'nul', '"x', '[1] 2', '{1: 2}'):
    try: print(json.loads(bad))
    except json.JSONDecodeError as e: print(e, e.pos, e.lineno, e.colno)
try: json.dumps({'x': object})
except TypeError as e: print(e)
""",
    ),
    "shlex, pprint, reprlib": (
        ["shlex", "pprint", "reprlib"],
        """
import shlex, pprint, reprlib
print(shlex.split("a 'b c' d\\\\ e \\"f g\\""), shlex.quote("it's"), shlex.join(['a b', 'c']), reprlib.repr(list(range(100))), reprlib.repr('x' * 100))
pprint.pprint({'key%d' % i: list(range(i * 3)) for i in range(6)}); pprint.pprint([('a' * 30, {'b': 1}), ['c' * 50]], width=40); print(pprint.pformat({'z': 1, 'a': {'n': [1, 2]}}, indent=2, width=10)); pprint.pprint(set(), compact=True)
""",
    ),
    "keyword, token, operator": (
        ["keyword", "operator"],
        """
import keyword, operator
print(keyword.iskeyword('for'), keyword.iskeyword('x'), keyword.softkwlist, len(keyword.kwlist), operator.itemgetter(1, 0)('ab'), operator.attrgetter('real')(1), operator.methodcaller('upper')('a'), operator.concat([1], [2]), operator.indexOf([1, 2], 2), operator.countOf('aab', 'a'), operator.length_hint([1]))
""",
    ),
    "datetime": (
        ["datetime"],
        """
import datetime as dt
d = dt.date(2024, 2, 29); print(d, d.weekday(), tuple(d.isocalendar()), d + dt.timedelta(days=1), d.replace(day=1), d.isoformat(), dt.datetime(2024, 1, 2, 3, 4, 5).isoformat(), dt.timedelta(hours=25), dt.timedelta(days=1) / 2, dt.date.fromisoformat('2020-01-02'), (dt.date(2024, 1, 1) - dt.date(2023, 1, 1)).days, d < dt.date(2025, 1, 1), dt.time(1, 2), dt.datetime.fromisoformat('2020-01-02T03:04:05+01:00'), dt.timezone.utc, repr(d), hash(d) == hash(dt.date(2024, 2, 29)))
""",
    ),
    "random": (
        ["random", "bisect"],
        """
import random
for seed in (0, 1, 12345678901234567890, -7, 1.5):
    random.seed(seed)
    print(random.random(), random.randint(1, 100), random.choice('abc'), random.uniform(1, 2), random.gauss(0, 1), random.sample(range(50), 5), random.sample(range(10 ** 6), 3), random.choices('ab', [1, 3], k=4), random.getrandbits(70), random.randrange(0, 100, 7), random.normalvariate(0, 1), random.expovariate(2), random.betavariate(1, 2), random.triangular(0, 1, .3), random.vonmisesvariate(0, 1), random.paretovariate(2), random.weibullvariate(1, 2), random.lognormvariate(0, 1), random.gammavariate(.5, 1), random.randbytes(3))
    l = list(range(10)); random.shuffle(l); print(l)
r = random.Random(3); print(r.random(), random.Random(3).random())
""",
    ),
}
# Of these the program runs with our own modules only: they replace CPython's C code.
OWN = {"random"}


def source_of(name, library):
    name, _, alias = name.partition(":")
    return (alias or name) + ".py", os.path.join(library, name + ".py")


def run(command, **kwargs):
    done = subprocess.run(command, capture_output=True, timeout=120, **kwargs)
    out = done.stdout.decode("utf-8", "replace")
    return out + (f"!!! signal {-done.returncode}\n" if done.returncode < 0 else ""), done.stderr.decode(
        "utf-8", "replace"
    )


def main():
    if sys.version_info[:2] != (3, 11):
        print("CPython 3.11 is not here")
        return 77
    library = os.path.dirname(os.__file__)
    binary = os.path.join(os.environ.get("COBRA_BIN", "build/bin"), "python_run")
    names = sys.argv[1:] or list(CASES)
    different = 0
    for name in names:
        modules, program = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "main.py")
            with open(path, "w", encoding="utf-8") as f:
                f.write(program)
            want, failure = run([sys.executable, path])
            if failure:
                print(f"{name}: the program fails in CPython:\n{failure}")
                different += 1
                continue
            command = [binary, path, "--explain"]
            if name not in OWN:
                for m in modules:
                    inner, file = source_of(m, library)
                    command += ["--bundle", f"{inner}={file}"]
            got, error = run(command)
            if want == got:
                continue
            different += 1
            print(f"{name}: differs")
            w, g = want.splitlines(), got.splitlines()
            for i in range(max(len(w), len(g))):
                a, b = w[i] if i < len(w) else "<nothing>", g[i] if i < len(g) else "<nothing>"
                if a != b:
                    print(f"    CPython: {a[:600]}\n    ours:    {b[:600]}")
                    if not sys.argv[1:]:
                        break
            if error:
                print("    " + error.replace("\n", "\n    ")[-900:])
    print(f"{len(names)} modules or groups of them, {different} differ")
    return 1 if different else 0


sys.exit(main())
