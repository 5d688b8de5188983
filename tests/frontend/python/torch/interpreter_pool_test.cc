// Requests share imported libraries and must not notice: whatever one does to a library, the next
// finds it as it was.
#include "frontend/python/interpreter_pool.h"

#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::python {
namespace {

using ::testing::HasSubstr;

// A library with everything in it that keeps state.
constexpr char kLibrary[] = R"py(
import functools, itertools, re, math
import torch
from torch import nn
from .other import later

REGISTRY = {}
LIST = [1, 2, 3]
COUNTER = itertools.count()
TENSOR = torch.zeros(3)
PATTERN = re.compile('a+')
COUNT = 0
calls = []

def register(f):
    REGISTRY[f.__name__] = f
    return f

@register
def width():
    return 4

def remember(x, seen=[]):
    seen.append(x)
    return len(seen)

@functools.lru_cache(maxsize=None)
def cached(x):
    calls.append(x)
    return len(calls)

def make_counter():
    n = 0
    def count():
        nonlocal n
        n += 1
        return n
    return count
closure = make_counter()

def numbers():
    for i in range(100):
        yield i

class Base(nn.Module):
    factor = 1
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        return self.fc(x)

class Singleton:
    instance = None
    def __new__(cls):
        if cls.instance is None:
            cls.instance = super().__new__(cls)
            cls.instance.uses = 0
        cls.instance.uses += 1
        return cls.instance
)py";

// What the state looks like; equal in every fresh process.
constexpr char kState[] = R"py(
import torch
from torch import nn
import statelib
from statelib import core
def state():
    return repr([sorted(core.REGISTRY), core.LIST, next(core.COUNTER), core.COUNT, core.calls, core.remember(0), core.cached(1),
                 core.cached(2), core.closure(), core.Base.factor, core.Singleton().uses, len(core.Base.__subclasses__()), hasattr(core, 'extra'),
                 tuple(core.TENSOR.shape), float(core.TENSOR.sum()), core.width.__name__, core.PATTERN.pattern, core.later.VALUE,
                 hasattr(nn.Module, 'patched'), nn.Conv2d.__name__, hasattr(torch, 'patched'), nn.functional.relu(torch.ones(1)).item(),
                 sorted(k for k in core.__dict__ if not k.startswith('_')), len({}.__class__.__mro__), hasattr(statelib, 'x')])
import re
exec("a = 'equal text, other meaning'")
found = eval("re.findall('[éa]+', 'zéééaz')")
assert found == ['éééa'], found
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
    def forward(self, x):
        return self.fc(x)
)py";

constexpr char kVandal[] = R"py(
import torch
from torch import nn
import statelib
from statelib import core
core.REGISTRY['evil'] = 1
core.REGISTRY.pop('width')
core.LIST.append(4)
core.LIST[0] = 'x'
next(core.COUNTER)
core.COUNT += 7
core.remember(9); core.remember(9)
core.cached(5); core.cached(2)
core.closure()
core.Base.factor = 3
core.Singleton(); core.Singleton()
core.extra = [1] * 1000
core.TENSOR.add_(5)
core.TENSOR = None
core.width = lambda: 99
core.later.VALUE = 'changed'
nn.Module.patched = True
nn.Conv2d = core.Base
torch.patched = 1
nn.functional.relu = lambda x: x * 100
statelib.x = 1
import re
exec("a = 'equal text, other meaning'")
assert eval("re.findall('[éa]+', 'zéaaaz')") == ['éaaa']
keep = core.numbers()
next(keep)
core.held = keep
class A(core.Base): pass
core.Base.__init__.__defaults__ = ()
print('vandal was here')
class Net(core.Base):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        if self.fail:
            raise ValueError('half way')
        return self.fc(x)
    fail = False
)py";

class InterpreterPoolTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = ::testing::TempDir() + "/cobra_pool_test.XXXXXX";
    ASSERT_NE(mkdtemp(root_.data()), nullptr);
    Write("__init__.py", "from . import core\n");
    Write("core.py", kLibrary);
    Write("other.py", "from . import later\n");
    Write("later.py", "VALUE = 'original'\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& file, const std::string& text) {
    std::filesystem::create_directories(root_ + "/statelib");
    std::ofstream(root_ + "/statelib/" + file) << text;
  }
  SourceRequest Request(const std::string& text, const std::string& entry = "Net()") const {
    SourceRequest request;
    request.bundle["main.py"] = text;
    request.file = "main.py";
    request.library_roots = {root_};
    request.entry = entry;
    request.inputs = {"2x4"};
    return request;
  }
  bool IsWarm(const SourceRequest& request) const { return (*LeaseInterpreter(request, {}))->warm(); }

  std::string root_;
};

// state() gives a str where a module is wanted: the TypeError does not show it, so raise it.
std::string Raising() { return std::string(kState) + "raise ValueError(state())\n"; }

TEST_F(InterpreterPoolTest, NothingOfARequestIsLeftForTheNext) {
  auto state = [&] { return ReadPythonModel(Request(Raising())).status().ToString(); };
  const std::string fresh = state();
  EXPECT_THAT(fresh, HasSubstr("['width'], [1, 2, 3], 0, 0, [1, 2], 1, 1, 2, 1, 1, 1"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(state(), fresh) << "after itself, run " << i;
  for (int i = 0; i < 4; ++i) {
    const absl::StatusOr<graph::Graph> vandal = ReadPythonModel(Request(kVandal));
    ASSERT_TRUE(vandal.ok()) << vandal.status();
    EXPECT_EQ(state(), fresh) << "run " << i;
    // One that fails in the middle of the network.
    EXPECT_FALSE(ReadPythonModel(Request(std::string(kVandal) + "Net.fail = True\n")).ok());
    EXPECT_EQ(state(), fresh) << "run " << i;
  }
}

TEST_F(InterpreterPoolTest, TheSecondRequestOfAKindIsWarm) {
  const SourceRequest request = Request("import statelib\nfrom torch import nn\nNet = lambda: nn.Linear(4, 4)\n");
  EXPECT_FALSE(IsWarm(request));
  EXPECT_TRUE(IsWarm(request));
  // Another program with the same imports shares the image.
  EXPECT_TRUE(IsWarm(Request("import statelib\nfrom torch import nn\nNet = lambda: nn.Linear(4, 5)\n")));
}

TEST_F(InterpreterPoolTest, GraphsAreTheSameColdAndWarm) {
  const SourceRequest request = Request(kState);
  const absl::StatusOr<graph::Graph> cold = ReadPythonModel(request);
  ASSERT_TRUE(cold.ok()) << cold.status();
  for (int i = 0; i < 3; ++i) {
    const absl::StatusOr<graph::Graph> warm = ReadPythonModel(request);
    ASSERT_TRUE(warm.ok()) << warm.status();
    EXPECT_EQ(graph::GraphToJson(*warm), graph::GraphToJson(*cold));
  }
}

TEST_F(InterpreterPoolTest, AChangedLibraryFileIsReadAgain) {
  const SourceRequest request = Request("import statelib\nfrom statelib import later\nraise ValueError(later.VALUE)\n");
  auto message = [&] { return std::string(ReadPythonModel(request).status().message()); };
  for (int i = 0; i < 3; ++i) EXPECT_THAT(message(), HasSubstr("original"));
  Write("later.py", "VALUE = 'edited by hand'\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // the pool looks once a second
  EXPECT_THAT(message(), HasSubstr("edited by hand"));
}

TEST_F(InterpreterPoolTest, AFileOfTheBundleThatShadowsTheLibraryWins) {
  SourceRequest request = Request("import statelib\nraise ValueError(statelib.__file__)\n");
  for (int i = 0; i < 3; ++i) (void)ReadPythonModel(request);
  request.bundle["statelib.py"] = "";
  const absl::Status shadowed = ReadPythonModel(request).status();
  EXPECT_THAT(std::string(shadowed.message()), HasSubstr("ValueError: statelib.py"));
  request.bundle.erase("statelib.py");
  request.bundle["math.py"] = "";
  EXPECT_FALSE(IsWarm(request)) << "the library imports math";
}

// What a program does before an import may change what the import sees: only the imports at the
// head are in the image.
TEST_F(InterpreterPoolTest, ImportsAfterOtherStatementsHappenInTheirPlace) {
  Write("reads.py", "from . import core\nSEEN = list(core.LIST)\n");
  const SourceRequest request = Request(
      "from statelib import core\ncore.LIST.append('mine')\nfrom statelib import reads\nraise "
      "ValueError(repr(reads.SEEN))\n");
  for (int i = 0; i < 4; ++i)
    EXPECT_THAT(std::string(ReadPythonModel(request).status().message()), HasSubstr("[1, 2, 3, 'mine']"));
}

// As transformers does. A model of a library needs no program, so nothing can have changed what
// such imports see.
TEST_F(InterpreterPoolTest, ModulesThatALibraryImportsWhenAskedAreInTheImageOfAModelOfTheLibrary) {
  constexpr char kLazy[] =
      "import importlib\nfrom . import core\n"
      "def __getattr__(name):\n"
      "    if name != 'Net': raise AttributeError(name)\n"
      "    return importlib.import_module('.net', __name__).Net\n";
  Write("__init__.py", kLazy);
  Write("net.py",
        "from torch import nn\nfrom . import core\nTABLE = [i for i in range(20000)]\n"
        "class Net(nn.Linear):\n    def __init__(self): super().__init__(4, len(core.LIST))\n");
  SourceRequest request = Request("");
  request.bundle.clear();
  request.file = root_ + "/statelib/__init__.py";
  const auto width = [&](const SourceRequest& of) {
    const absl::StatusOr<graph::Graph> graph = ReadPythonModel(of);
    return graph.ok() ? graph->nodes().back().outputs[0].shape.back() : -1;
  };
  EXPECT_EQ(width(request), 3);
  EXPECT_EQ(width(request), 3);
  const auto lease = LeaseInterpreter(request, {});
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ((*lease)->machine().interpreter->importer().Find("statelib.net"), Importer::Where::kLoaded);
  const SourceRequest patched = Request("import statelib\nstatelib.core.LIST.append('mine')\nNet = statelib.Net\n");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(width(patched), 4) << "what the program has changed counts, run " << i;
}

// What a library does before such an import counts, too.
TEST_F(InterpreterPoolTest, ImportsOfALibraryThatComeTooEarlyAreNoticed) {
  Write("config.py", "WIDTH = 3\nLIST = []\n");
  Write("net.py",
        "from torch import nn\nfrom . import config\nif config.WIDTH is None: raise ValueError('no width')\n"
        "W = config.WIDTH + len(config.LIST)\n"
        "class Net(nn.Linear):\n    def __init__(self): super().__init__(4, W)\n");
  const std::string build =
      "from . import config\nimport importlib\n"
      "def build(width):\n    config.WIDTH = width\n    from . import net\n    return net.Net()\n";
  const auto width = [&](const std::string& entry) -> int64_t {
    SourceRequest request = Request("", entry);
    request.bundle.clear();
    request.file = root_ + "/statelib/__init__.py";
    const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
    return graph.ok() ? graph->nodes().back().outputs[0].shape.back() : -1;
  };
  Write("__init__.py", build);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(width("build(8)"), 8) << "run " << i;
    EXPECT_EQ(width("(config.LIST.append(4), importlib.import_module('statelib.net'))[1].Net()"), 4) << "run " << i;
  }
  Write("config.py", "WIDTH = None\nLIST = []\n");  // the modules cannot be imported ahead at all
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(width("build(9)"), 9) << "run " << i;
}

TEST_F(InterpreterPoolTest, LimitsAreThoseOfTheRequest) {
  const SourceRequest request = Request("import statelib\nfor i in range(1000000): pass\n");
  for (int i = 0; i < 3; ++i) {
    Limits limits;
    limits.steps = 500'000 + i;
    const std::optional<Diagnostic> d = DiagnosticFromStatus(ReadPythonModel(request, limits).status());
    ASSERT_TRUE(d.has_value());
    EXPECT_EQ(d->kind, Diagnostic::Kind::kLimit);
    EXPECT_THAT(d->message, HasSubstr(absl::StrCat("500,00", i)));
  }
}

TEST_F(InterpreterPoolTest, ManyThreads) {
  const SourceRequest vandal = Request(kVandal), honest = Request(kState);
  const std::string expected = graph::GraphToJson(*ReadPythonModel(honest));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        wrong += !ReadPythonModel(vandal).ok();
        const absl::StatusOr<graph::Graph> graph = ReadPythonModel(honest);
        wrong += !graph.ok() || graph::GraphToJson(*graph) != expected;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// A server's images live for days, and each was made under the time limit of its making.
TEST(InterpreterImageTest, TheTimeOfItsMakingIsNotTheRequests) {
  Limits making;
  making.wall_time_ms = 5000;
  SourceRequest request;
  const std::unique_ptr<InterpreterImage> image = InterpreterImage::Create({}, request.torch_version, {}, making);
  ASSERT_NE(image, nullptr);
  absl::SleepFor(absl::Milliseconds(making.wall_time_ms + 100));
  Limits limits;
  limits.wall_time_ms = 0;
  request.bundle["net.py"] =
      "import torch.nn as nn\nclass Net(nn.Module):\n    def forward(self, x):\n"
      "        for _ in range(5000): pass\n        return x + 1\n";
  request.file = "net.py";
  request.entry = "Net()";
  request.inputs = {"2x3"};
  ASSERT_TRUE(image->IsUsable(request, limits));
  const absl::StatusOr<graph::Graph> graph = ReadPythonModelOn(&image->Start(request, limits), request);
  EXPECT_TRUE(graph.ok()) << graph.status();
}

}  // namespace
}  // namespace cobra::python
