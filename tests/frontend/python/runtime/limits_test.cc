// A hostile program costs at most its limits and gets a diagnostic that names its line.
#include <atomic>

#include "base/sanitizer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/frontend/python/runtime/runtime_test.h"

namespace cobra::python {
namespace {

using ::testing::AnyOf;
using ::testing::Eq;
using ::testing::HasSubstr;

Limits Small() {
  Limits limits;
  limits.steps = 2'000'000;
  limits.memory_bytes = int64_t{64} << 20;
  limits.wall_time_ms = 20'000;
  return limits;
}

struct HostileCase {
  const char* what;
  const char* source;
  int line;  // that the diagnostic must name; 0: do not check
};

const HostileCase kHostile[] = {
    {"endless loop", "x = 0\nwhile True:\n    x += 1\n", 3},
    {"endless loop without a body", "while True: pass\n", 1},
    {"endless for", "import itertools\nfor i in itertools.count():\n    pass\n", 0},
    {"endless generator in a builtin", "def g():\n    while True:\n        yield 1\nsum(g())\n", 0},
    {"endless iterator class",
     "class I:\n    def __iter__(self): return self\n    def __next__(self): return 1\nlist(I())\n", 0},
    {"endless cycle", "import itertools\nset(itertools.cycle([1]))\n", 2},
    {"endless repeat", "import itertools\nlist(itertools.repeat(0))\n", 2},
    {"huge range", "list(range(10 ** 18))\n", 1},
    {"range walked", "for i in range(10 ** 18): pass\n", 1},
    {"huge string", "'a' * 10 ** 9\n", 1},
    {"huge string by name", "n = 10 ** 12\ns = 'ab' * n\n", 2},
    {"huge bytes", "b'a' * 10 ** 10\n", 1},
    {"huge list", "[0] * 10 ** 10\n", 1},
    {"huge tuple", "(0,) * 10 ** 10\n", 1},
    {"list grows in place", "x = [1]\nwhile True:\n    x += x\n", 3},
    {"string doubles", "s = 'a'\nwhile True:\n    s += s\n", 3},
    {"dict grows", "d = {}\ni = 0\nwhile True:\n    d[i] = [i]\n    i += 1\n", 0},
    {"list appends", "l = []\nwhile True:\n    l.append([])\n", 0},
    {"power", "9 ** 9 ** 9\n", 1},
    {"power of power", "x = 2\nwhile True:\n    x = x ** x\n", 3},
    {"shift", "1 << 10 ** 12\n", 1},
    {"product of numbers", "x = 3\nwhile True:\n    x *= x\n", 3},
    {"factorial", "import math\nmath.factorial(10 ** 6)\n", 2},
    {"combinations", "import math\nmath.comb(10 ** 9, 5 * 10 ** 8)\n", 2},
    {"format width", "f'{1:{10 ** 9}}'\n", 1},
    {"percent width", "'%1000000000d' % 1\n", 1},
    {"centre", "'a'.center(10 ** 10)\n", 1},
    {"zfill", "'1'.zfill(10 ** 10)\n", 1},
    {"join", "''.join('abc' * 10 ** 6 for _ in range(10 ** 6))\n", 1},
    {"replace", "s = 'a' * 1000000\ns = s.replace('a', s)\n", 2},
    {"nested comprehension", "[[[0 for a in range(1000)] for b in range(1000)] for c in range(1000)]\n", 1},
    {"set of products", "import itertools\nset(itertools.product(range(100), repeat=9))\n", 0},
    {"billion laughs", "a = ['lol'] * 10\nfor _ in range(20):\n    a = [a] * 10\nrepr(a)\n", 4},
    {"exponential string", "a = 'x'\nfor i in range(100):\n    a = f'{a}{a}'\n", 3},
    {"bytes from int", "bytes(10 ** 11)\n", 1},
    {"int from text", "int('9' * 4000000, 16)\n", 1},
    {"extended slice", "x = []\nx[:] = range(10 ** 15)\n", 2},
    {"unpacking", "[*range(10 ** 15)]\n", 1},
    {"call with many arguments", "def f(*a): pass\nf(*range(10 ** 15))\n", 2},
    {"unfinished generators",
     "def g():\n    yield 1\n    yield 2\nkeep = []\nwhile True:\n    x = g()\n    next(x)\n    keep.append(x)\n", 7},
    {"classes for ever", "while True:\n    class A: pass\n", 0},
    {"functions for ever", "l = []\nwhile True:\n    def f(): pass\n    l.append(f)\n", 0},
    {"sorting for ever", "class A:\n    def __lt__(self, o):\n        while True: pass\nsorted([A(), A()])\n", 3},
    {"hash for ever", "class A:\n    def __hash__(self):\n        while True: pass\n{A(): 1}\n", 3},
    {"regular expression", "import re\nre.match('(a*)*b', 'a' * 40)\n", 2},
    {"regular expression with overlapping choices", "import re\nre.search('^(a|a|aa)+$', 'a' * 60 + 'b')\n", 2},
    {"regular expression with look-around", "import re\nre.search('(?=(a+)+$)(?:(?:a+)+)+x', 'a' * 50)\n", 2},
    {"regular expression run again and again",
     "import re\np = re.compile('a*a*a*c')\nwhile True: p.search('a' * 300)\n", 3},
    {"text that runs text",
     "s = 'eval(s)'\nwhile True:\n    try:\n        eval(s)\n    except RecursionError:\n        pass\n", 0},
    {"text of a size", "eval('1+' * 10 ** 8 + '1')\n", 1},
    {"permutations", "import itertools\nlist(itertools.permutations(range(12)))\n", 2},
    {"zip of endless", "import itertools\nlist(zip(itertools.count(), itertools.count()))\n", 0},
    {"dict update", "d = {}\nwhile True:\n    d.update({str(len(d)): d})\n", 0},
    {"exception swallowed for ever", "while True:\n    try:\n        [][0]\n    except IndexError:\n        pass\n", 0},
    {"finally loops", "try:\n    1 / 0\nfinally:\n    while True: pass\n", 4},
    {"limit is not catchable", "try:\n    while True: pass\nexcept BaseException:\n    print('caught')\n", 2},
};

TEST(LimitsTest, HostileProgramsEndWithALimit) {
  for (const HostileCase& c : kHostile) {
    SCOPED_TRACE(c.what);
    Outcome o = RunSource(c.source, Small());
    EXPECT_THAT(o.kind(), AnyOf(Eq("limit"), Eq("unsupported"))) << o.status;
    EXPECT_EQ(o.output, "");
    if (c.line != 0) EXPECT_EQ(o.diagnostic.position.line, c.line) << o.status;
    EXPECT_THAT(o.diagnostic.position.file, AnyOf(Eq("main.py"), Eq("<string>")));
  }
}

// Python itself raises RecursionError for these; a program may catch it.
const HostileCase kRecursion[] = {
    {"function", "def f(): f()\nf()\n", 1},
    {"mutual", "def f(): g()\ndef g(): f()\nf()\n", 0},
    {"lambda", "f = lambda: f()\nf()\n", 1},
    {"init", "class A:\n    def __init__(self): A()\nA()\n", 2},
    {"getattr", "class A:\n    def __getattr__(self, n): return self.x\nA().x\n", 2},
    {"repr", "class A:\n    def __repr__(self): return repr(self)\nrepr(A())\n", 2},
    {"eq", "class A:\n    def __eq__(self, o): return self == o\nA() == A()\n", 2},
    {"nested list repr", "a = []\nfor _ in range(2000000):\n    a = [a]\nrepr(a)\n", 4},
    {"nested list eq", "a, b = [], []\nfor _ in range(400000):\n    a, b = [a], [b]\na == b\n", 4},
    {"generator", "def g():\n    yield from g()\nlist(g())\n", 2},
    {"property", "class A:\n    @property\n    def x(self): return self.x\nA().x\n", 3},
    {"comprehension", "def f(): return [f() for _ in range(1)]\nf()\n", 1},
    {"sorting key", "def f(x): return sorted([1, 2], key=f)\nf(1)\n", 1},
    {"map", "def f(x): return list(map(f, [x]))\nf(1)\n", 1},
    {"decorator", "def d(f): return d(d)\n@d\ndef g(): pass\n", 1},
    {"class body", "def f():\n    class A:\n        x = f()\nf()\n", 0},
    {"str of str", "class A:\n    def __str__(self): return f'{self}'\nstr(A())\n", 2},
    {"bool", "class A:\n    def __bool__(self): return not self\nif A(): pass\n", 2},
    {"iter", "class A:\n    def __iter__(self): return iter(A())\nlist(A())\n", 2},
    {"call", "class A:\n    def __call__(self): return self()\nA()()\n", 2},
};

TEST(LimitsTest, DeepRecursionIsAPythonError) {
#ifdef COBRA_TSAN
  GTEST_SKIP() << "ThreadSanitizer ends programs with more than 65,536 frames";
#endif
  Limits limits = Small();
  limits.steps = 20'000'000;
  limits.memory_bytes = int64_t{512} << 20;
  for (const HostileCase& c : kRecursion) {
    SCOPED_TRACE(c.what);
    Outcome o = RunSource(c.source, limits);
    EXPECT_EQ(o.kind(), "model_error") << o.status;
    EXPECT_THAT(o.diagnostic.message, HasSubstr("RecursionError"));
    if (c.line != 0) EXPECT_EQ(o.diagnostic.position.line, c.line);
  }
}

TEST(LimitsTest, RecursionErrorCanBeCaught) {
  Outcome o = RunSource(
      "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as e:\n    print('caught', e)\n");
  EXPECT_EQ(o.output, "caught maximum recursion depth exceeded\n");
}

TEST(LimitsTest, RecursionIsAllowedUpToPythonsDepth) {
  EXPECT_EQ(RunSource("def f(n):\n    return 0 if n == 0 else 1 + f(n - 1)\nprint(f(950))\n").output, "950\n");
}

TEST(LimitsTest, CancelStopsTheRun) {
  std::atomic<bool> cancelled{true};
  Limits limits;
  limits.cancelled = &cancelled;
  Outcome o = RunSource("while True: pass\n", limits);
  EXPECT_EQ(o.kind(), "limit");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("cancelled"));
}

TEST(LimitsTest, WallTimeStopsTheRun) {
  Limits limits;
  limits.steps = INT64_MAX / 2;
  limits.wall_time_ms = 50;
  Outcome o = RunSource("while True: pass\n", limits);
  EXPECT_EQ(o.kind(), "limit");
  EXPECT_THAT(o.diagnostic.message, HasSubstr("50 ms"));
}

TEST(LimitsTest, SequenceItemsAtTheLimitAndOnePast) {
  Limits limits;
  limits.sequence_items = 1000;
  EXPECT_TRUE(RunSource("'a' * 1000\n[0] * 1000\n(0,) * 1000\nlist(range(1000))\n", limits).status.ok());
  for (const char* source :
       {"'a' * 1001\n", "[0] * 1001\n", "(0,) * 1001\n", "list(range(1001))\n", "'x'.ljust(1001)\n"}) {
    EXPECT_EQ(RunSource(source, limits).kind(), "limit") << source;
  }
}

TEST(LimitsTest, BigIntBitsAtTheLimitAndPast) {
  Limits limits;
  limits.big_int_bits = 256;
  EXPECT_TRUE(RunSource("1 << 255\n2 ** 255\n", limits).status.ok());
  EXPECT_EQ(RunSource("1 << 256\n", limits).kind(), "limit");
  EXPECT_EQ(RunSource("2 ** 1000\n", limits).kind(), "limit");
}

// The smallest value of the limit with which the program ends well; one less must be refused with
// that limit's kind.
int64_t Threshold(const std::string& source, int64_t high, void (*set)(Limits*, int64_t)) {
  int64_t low = 0;
  auto fits = [&](int64_t n) {
    Limits limits;
    limits.wall_time_ms = 0;
    set(&limits, n);
    return RunSource(source, limits).status.ok();
  };
  EXPECT_TRUE(fits(high));
  while (low + 1 < high) (fits((low + high) / 2) ? high : low) = (low + high) / 2;
  return high;
}

TEST(LimitsTest, StepsAreExactAtTheLimitAndOnePast) {
  // One step each: the loop's turns and the statements inside. What is before them, the same in
  // both, is more: memory counts too.
  auto set = [](Limits* limits, int64_t n) { limits->steps = n; };
  const int64_t hundred = Threshold("for i in range(100):\n    pass\n", 1'000'000, set);
  const int64_t thousand = Threshold("for i in range(1100):\n    pass\n", 1'000'000, set);
  EXPECT_GE(thousand - hundred, 2000);
  EXPECT_LE(thousand - hundred, 2100);
  Limits limits;
  limits.steps = thousand;
  EXPECT_TRUE(RunSource("for i in range(1100):\n    pass\n", limits).status.ok());
  limits.steps = thousand - 1;
  EXPECT_EQ(RunSource("for i in range(1100):\n    pass\n", limits).kind(), "limit");
}

TEST(LimitsTest, TopLevelCodeOfALibraryCountsApart) {
  const std::string loop = "for i in range(200000):\n    pass\n";
  Program program;
  program.libraries = {{{"lib.py", loop + "def work():\n    for i in range(200000):\n        pass\n"},
                        {"back.py", "import mine\nx = mine.x\n"}}};
  program.bundle["main.py"] = "import lib\nfor i in range(100):\n    pass\n";
  program.limits.steps = 200'000;  // memory counts too
  EXPECT_TRUE(RunPython(program).status.ok()) << RunPython(program).status;
  program.limits.library_steps = 150'000;
  const Outcome outcome = RunPython(program);
  EXPECT_EQ(outcome.kind(), "limit");
  EXPECT_THAT(outcome.diagnostic.message, HasSubstr("importing libraries"));
  program.limits.library_steps = Limits().library_steps;
  program.bundle["main.py"] = "import sys\nimport lib\ndel sys.modules['lib']\nimport lib\n";
  EXPECT_EQ(RunPython(program).kind(), "limit") << "and so does a file of it that runs a second time";
  program.bundle["main.py"] = "import lib\nlib.work()\n";
  EXPECT_EQ(RunPython(program).kind(), "limit") << "calls into a library count as the program's own";
  program.bundle["mine.py"] = loop + "x = 1\n";
  program.bundle["main.py"] = "import back\n";
  EXPECT_EQ(RunPython(program).kind(), "limit") << "and so does a program's file that a library imports";
}

TEST(LimitsTest, MemoryAtTheLimitAndOnePast) {
  auto set = [](Limits* limits, int64_t n) { limits->memory_bytes = n; };
  const int64_t small = Threshold("x = [0] * 1000\n", int64_t{64} << 20, set);
  const int64_t large = Threshold("x = [0] * 101000\n", int64_t{64} << 20, set);
  EXPECT_GE(large - small, 1'600'000) << "a list item takes 16 bytes";
  EXPECT_LE(large - small, 4'000'000) << "and a list at most doubles";
  Limits limits;
  limits.memory_bytes = large - 1;
  EXPECT_EQ(RunSource("x = [0] * 101000\n", limits).kind(), "limit");
}

TEST(LimitsTest, CallDepthAtTheLimitAndOnePast) {
  auto set = [](Limits* limits, int64_t n) { limits->call_depth = static_cast<int>(n); };
  const std::string source = "def f(n):\n    return 0 if n == 0 else f(n - 1)\n";
  const int64_t ten = Threshold(source + "f(10)\n", 1000, set), twenty = Threshold(source + "f(20)\n", 1000, set);
  EXPECT_EQ(twenty - ten, 10);
}

// What the native stack does not hold is Python's own error, at one page less than what it needs.
void StackHolds(const std::string& source, int64_t Limits::*stack) {
  constexpr int64_t kPage = 4096;
  const auto run = [&](int64_t pages) {
    Limits limits;
    limits.call_depth = 1'000'000;
    limits.*stack = pages * kPage;
    return RunSource(source, limits);
  };
#ifdef COBRA_SANITIZED
  constexpr int64_t kMost = int64_t{128} << 20;  // frames have room around each variable
#else
  constexpr int64_t kMost = int64_t{16} << 20;
#endif
  int64_t low = 16, high = kMost / kPage;
  ASSERT_TRUE(run(high).status.ok()) << run(high).status;
  ASSERT_FALSE(run(low).status.ok());
  while (low + 1 < high) (run((low + high) / 2).status.ok() ? high : low) = (low + high) / 2;
  EXPECT_TRUE(run(high).status.ok());
  const Outcome past = run(high - 1);
  EXPECT_EQ(past.kind(), "model_error");
  EXPECT_THAT(past.diagnostic.message, HasSubstr("RecursionError"));
}

TEST(LimitsTest, StackAtTheLimitAndOnePast) {
  StackHolds("def f(n):\n    return 0 if n == 0 else f(n - 1)\nf(2000)\n", &Limits::stack_bytes);
}

TEST(LimitsTest, StackOfAGeneratorAtTheLimitAndOnePast) {
  StackHolds("def f(n):\n    return 0 if n == 0 else f(n - 1)\ndef g():\n    yield f(500)\nlist(g())\n",
             &Limits::generator_stack_bytes);
}

TEST(LimitsTest, SuspendedGeneratorsAtTheLimitAndOnePast) {
  Limits limits;
  limits.suspended_generators = 10;
  const std::string source =
      "def g():\n    yield 1\n    yield 2\ndef hold(n):\n    l = [g() for _ in range(n)]\n    for x in l: next(x)\n";
  EXPECT_TRUE(RunSource(source + "hold(10)\n", limits).status.ok());
  EXPECT_EQ(RunSource(source + "hold(11)\n", limits).kind(), "limit");
}

// Work inside one call of a built-in costs steps by its amount.
TEST(LimitsTest, LongWorkCostsSteps) {
  auto set = [](Limits* limits, int64_t n) { limits->steps = n; };
  struct Pair {
    const char* small;
    const char* large;
  };
  const Pair pairs[] = {
      {"s = 'a' * 1000\ns.find('b')\n", "s = 'a' * 1000000\ns.find('b')\n"},
      {"s = 'a' * 1000\n'ab' in s\n", "s = 'a' * 1000000\n'ab' in s\n"},
      {"a = [0] * 1000\na.insert(0, 1)\nfor i in range(2): pass\n",
       "a = [0] * 1000000\na.insert(0, 1)\nfor i in range(2): pass\n"},
      {"a = [0] * 1000\na.reverse()\nfor i in range(2): pass\n",
       "a = [0] * 1000000\na.reverse()\nfor i in range(2): pass\n"},
      {"a = 3 ** 100\na * a\nfor i in range(2): pass\n", "a = 3 ** 30000\na * a\nfor i in range(2): pass\n"},
      {"import re\nre.search('b', 'a' * 1000)\nfor i in range(2): pass\n",
       "import re\nre.search('b', 'a' * 1000000)\nfor i in range(2): pass\n"},
  };
  for (const Pair& p : pairs)
    EXPECT_GT(Threshold(p.large, 3'000'000, set), Threshold(p.small, 3'000'000, set) + 1000) << p.large;
  // Quadratic in the worst case: refused before it is begun.
  EXPECT_EQ(RunSource("s = 'a' * 2000000\ns.find('a' * 1000000 + 'b')\n").kind(), "limit");
}

TEST(LimitsTest, LongMessagesAreCut) {
  const Outcome o = RunSource("raise ValueError('x' * 1000000)\n");
  EXPECT_EQ(o.kind(), "model_error");
  EXPECT_LT(o.diagnostic.message.size(), 3000u);
}

TEST(LimitsTest, ModulesAreCounted) {
  Program p;
  p.limits.modules = 5;
  std::string imports;
  for (int i = 0; i < 5; ++i) {
    p.bundle["m" + std::to_string(i) + ".py"] = "";
    imports += "import m" + std::to_string(i) + "\n";
  }
  p.bundle["main.py"] = imports;
  Outcome o = RunPython(p);
  EXPECT_EQ(o.kind(), "limit");
  EXPECT_EQ(o.diagnostic.position.line, 5);
  p.limits.modules = 6;
  EXPECT_TRUE(RunPython(p).status.ok());
}

TEST(LimitsTest, SourceBytes) {
  Limits limits;
  limits.source_bytes = 100;
  EXPECT_TRUE(RunSource(std::string(100, '#'), limits).status.ok());
  EXPECT_EQ(RunSource(std::string(101, '#'), limits).kind(), "limit");
}

TEST(LimitsTest, OutputIsCut) {
  Limits limits;
  limits.output_bytes = 10;
  EXPECT_EQ(RunSource("for i in range(5): print(i)\n", limits).output, "0\n1\n2\n3\n4\n");
  Outcome o = RunSource("for i in range(1000): print(i)\n", limits);
  EXPECT_TRUE(o.status.ok());
  EXPECT_LE(o.output.size(), 10u);
}

TEST(LimitsTest, UnfinishedGeneratorsLeaveNothingBehind) {
  // Their C++ stacks are unwound when the interpreter goes; the leak sanitizer checks.
  Outcome o = RunSource(
      "def g():\n    x = [1, 2]\n    try:\n        for i in x: yield i\n    finally:\n        print('never')\nl = [g() "
      "for _ in range(10)]\nfor x in l: next(x)\n");
  EXPECT_TRUE(o.status.ok());
  EXPECT_EQ(o.output, "");
}

}  // namespace
}  // namespace cobra::python
