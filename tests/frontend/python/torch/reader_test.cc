// What the reader makes of small sources: graphs, or diagnostics with file and line.
#include "frontend/python/reader.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "graph/form/json.h"

namespace cobra::python {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The class begins in line 6.
constexpr char kHead[] =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):\n";

absl::StatusOr<graph::Graph> Read(absl::string_view body, std::vector<std::string> inputs = {"1x3x8x8"},
                                  absl::string_view torch_version = "1.13.1", const Limits& limits = {}) {
  SourceRequest request;
  request.bundle["model.py"] = absl::StrCat(kHead, body);
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = std::move(inputs);
  request.torch_version = std::string(torch_version);
  return ReadPythonModel(request, limits);
}

Diagnostic Refused(const absl::StatusOr<graph::Graph>& graph) {
  EXPECT_FALSE(graph.ok());
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  EXPECT_TRUE(diagnostic.has_value()) << graph.status();
  return diagnostic.value_or(Diagnostic());
}

TEST(ReaderTest, RecordsCallsWithTheirPlaceInTheSource) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.conv = nn.Conv2d(3, 4, 3)\n"
      "  def forward(self, x):\n"
      "    x = self.conv(x)\n"
      "    return F.relu(x)\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph::PrintGraph(*graph),
            "input0: 1x3x8x8:float32\n"
            "%0 = conv2d(input=input0, weight=conv.weight, bias=conv.bias, stride=(1,1), padding=(0,0), "
            "dilation=(1,1), groups=1) -> 1x4x6x6:float32\n"
            "%1 = relu(input=%0) -> 1x4x6x6:float32\n"
            "return %1\n");
  EXPECT_EQ(*graph->nodes()[0].origin.file, "model.py");
  EXPECT_EQ(graph->nodes()[0].origin.line, 11);
  EXPECT_EQ(graph->nodes()[0].origin.module_path, "conv");
  EXPECT_EQ(graph->nodes()[1].origin.line, 12);
}

TEST(ReaderTest, AShapeMismatchIsTheProgramsErrorAndItMayCatchIt) {
  const char* body =
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.fc = nn.Linear(7, 2)\n"
      "  def forward(self, x):\n"
      "    return self.fc(x)\n";
  const Diagnostic diagnostic = Refused(Read(body));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kModelError);
  EXPECT_THAT(diagnostic.message, HasSubstr("mat1 and mat2 shapes cannot be multiplied (24x8 and 7x2)"));
  EXPECT_EQ(diagnostic.position.file, "model.py");
  EXPECT_EQ(diagnostic.position.line, 11);
  EXPECT_TRUE(Read("  def forward(self, x):\n"
                   "    try:\n"
                   "      return x + torch.zeros(5)\n"
                   "    except RuntimeError:\n"
                   "      return x * 2\n")
                  .ok());
}

TEST(ReaderTest, ABranchOnValuesIsRefusedNamingTheLine) {
  const Diagnostic diagnostic =
      Refused(Read("  def forward(self, x):\n"
                   "    if x.mean() > 0:\n"
                   "      return x\n"
                   "    return -x\n"));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kDataDependent);
  EXPECT_EQ(diagnostic.position.line, 8);
}

TEST(ReaderTest, ValuesOfConstantsCanBeRead) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def forward(self, x):\n"
      "    n = int(torch.arange(5).sum()) // 3\n"
      "    if torch.ones(2, 2)[0, 1] > 0.5:\n"
      "      x = x.repeat(n, 1, 1, 1)\n"
      "    return x\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->TypeOf(graph->outputs()[0]).shape[0], 3);
}

TEST(ReaderTest, AnUnknownFunctionIsNamed) {
  Diagnostic diagnostic = Refused(Read("  def forward(self, x):\n    return torch.lobpcg(x)\n"));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_THAT(diagnostic.message, HasSubstr("torch.lobpcg()"));
  EXPECT_EQ(diagnostic.position.line, 8);
  diagnostic = Refused(Read("  def forward(self, x):\n    return nn.NoSuchLayer()(x)\n"));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kModelError);
  EXPECT_THAT(diagnostic.message, HasSubstr("has no attribute 'NoSuchLayer'"));
}

TEST(ReaderTest, LoopsWithoutEndReachALimit) {
  Limits limits;
  limits.steps = 100000;
  Diagnostic diagnostic =
      Refused(Read("  def forward(self, x):\n"
                   "    while True:\n"
                   "      pass\n",
                   {"1x3"}, "1.13.1", limits));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kLimit);
  EXPECT_THAT(diagnostic.position.line, ::testing::AnyOf(8, 9));
  limits = {};
  limits.graph.max_nodes = 100;
  diagnostic =
      Refused(Read("  def forward(self, x):\n"
                   "    while True:\n"
                   "      x = x + 1\n",
                   {"1x3"}, "1.13.1", limits));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kLimit);
}

TEST(ReaderTest, GraphNodesAtTheLimitAndOnePast) {
  Limits limits;
  limits.graph.max_nodes = 100;
  auto read = [&](int calls) {
    return Read(
        absl::StrCat("  def forward(self, x):\n    for _ in range(", calls, "):\n      x = x + 1\n    return x\n"),
        {"1x3"}, "1.13.1", limits);
  };
  EXPECT_TRUE(read(100).ok());
  EXPECT_EQ(Refused(read(101)).kind, Diagnostic::Kind::kLimit);
}

TEST(ReaderTest, NamesAtTheLimitAndOnePast) {
  Limits limits;
  limits.name_bytes = 20;
  const auto read = [&](absl::string_view statement) {
    return Read(absl::StrCat("  def __init__(self):\n    super().__init__()\n", statement,
                             "\n  def forward(self, x):\n    return x + 1\n"),
                {"1x3"}, "1.13.1", limits);
  };
  for (const char* statement : {
           "    setattr(self, 'm' * %d, nn.ReLU())",
           "    self.add_module('m' * %d, nn.ReLU())",
           "    self.m = nn.ModuleDict({'m' * (%d - 2): nn.ReLU()})",
           "    setattr(self, 'm' * %d, nn.Parameter(torch.zeros(1)))",
           "    self.register_buffer('m' * %d, torch.zeros(1))",
           "    self._modules['m' * %d] = nn.ReLU()",
           "    self.lin = nn.Module(); setattr(self.lin, 'm' * (%d - 4), nn.Parameter(torch.zeros(1)))",
       }) {
    const absl::StatusOr<graph::Graph> fits = read(absl::StrReplaceAll(statement, {{"%d", "20"}}));
    EXPECT_TRUE(fits.ok()) << statement << fits.status();
    const Diagnostic diagnostic = Refused(read(absl::StrReplaceAll(statement, {{"%d", "21"}})));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kLimit) << statement;
    EXPECT_THAT(diagnostic.message, HasSubstr("mm...', the name of a ")) << statement;
  }
}

TEST(ReaderTest, TextsOfTheRequestAtTheLimitAndOnePast) {
  SourceRequest request;
  request.bundle["model.py"] = absl::StrCat(kHead, "  def forward(self, x, **more):\n    return x + 1\n");
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x3"};
  request.arguments = {{"a", "12345"}};
  Limits limits;
  const auto check = [&](int64_t* limit, int64_t largest, absl::string_view message) {
    const int64_t usual = *limit;
    *limit = largest;
    EXPECT_TRUE(ReadPythonModel(request, limits).ok()) << message;
    --*limit;
    const Diagnostic diagnostic = Refused(ReadPythonModel(request, limits));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kLimit);
    EXPECT_THAT(diagnostic.message, ::testing::StartsWith(message));
    *limit = usual;
  };
  check(&limits.inputs, 2, "the request: 2 inputs and arguments, more than the limit of 1");
  check(&limits.expression_bytes, 5, "Net()...: the entry: 5 bytes");
  check(&limits.name_bytes, 8, "model.py...: the file: 8 bytes");
  request.inputs = {"1x3", "y=[1x3,1x3]"};
  check(&limits.inputs, 4, "y=[1x3,1x3]...: with the tensors of this input: more than the limit of 3");
}

TEST(ReaderTest, HostileProgramsCostAtMostTheirLimits) {
  Limits limits;
  limits.memory_bytes = int64_t{32} << 20;
  limits.wall_time_ms = 10000;
  const char* bodies[] = {
      "  def forward(self, x):\n    while True:\n      x.expand(100000, 3).unbind()\n",
      "  def forward(self, x):\n    ones = [1] * 60 + [3]\n    while True:\n      x = x.reshape(ones)\n",
      "  def forward(self, x):\n    rows = [0] * 100000\n    while True:\n      y = x[rows]\n",
      "  def forward(self, x):\n    t = torch.zeros(200, 200)\n    while True:\n      t = t + 1\n",
      "  def forward(self, x):\n    x = x.repeat(*[1000000] * 10)\n    return x\n",
      "  def __init__(self):\n    super().__init__()\n    m = self\n    for i in range(100000):\n      m.inner = "
      "nn.Module()\n      m = m.inner\n"
      "  def forward(self, x):\n    return x\n",
  };
  for (const char* body : bodies) {
    const Diagnostic diagnostic = Refused(Read(body, {"1x3"}, "1.13.1", limits));
    EXPECT_THAT(diagnostic.kind, ::testing::AnyOf(Diagnostic::Kind::kLimit, Diagnostic::Kind::kModelError))
        << body << diagnostic.message;
  }
}

TEST(ReaderTest, TheVersionDecidesWhatIsThere) {
  const char* body =
      "  def forward(self, x):\n"
      "    if hasattr(F, 'scaled_dot_product_attention'):\n"
      "      return F.scaled_dot_product_attention(x, x, x)\n"
      "    return (x @ x.transpose(-2, -1)).softmax(-1) @ x\n";
  EXPECT_EQ(Read(body)->nodes().size(), 4u);
  const absl::StatusOr<graph::Graph> newer = Read(body, {"1x3x8x8"}, "2.4.0");
  ASSERT_TRUE(newer.ok()) << newer.status();
  ASSERT_EQ(newer->nodes().size(), 1u);
  EXPECT_EQ(newer->nodes()[0].op, graph::Op::scaled_dot_product_attention);
}

TEST(ReaderTest, AVersionWithoutAMinorNumberIsAUsageError) {
  for (const char* version : {"99", "2.x"}) {
    const Diagnostic diagnostic = Refused(Read("  def forward(self, x):\n    return x\n", {"1x3"}, version));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage) << version;
    EXPECT_EQ(diagnostic.message,
              absl::StrCat("--torch-version ", version, ": is not a version of PyTorch that is known"));
    EXPECT_EQ(diagnostic.hint, "write it as 1.13.1; the newest is 2.13.0");
  }
}

TEST(ReaderTest, AFunctionOfTensorsIsAModelAndOneThatMakesAModelIsNot) {
  const auto read = [](const std::string& text, const std::string& entry, std::vector<std::string> inputs) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat(kHead, "  def forward(self, x):\n    return x + 1\n\n", text);
    request.file = "model.py";
    request.entry = entry;
    request.inputs = std::move(inputs);
    return ReadPythonModel(request);
  };
  EXPECT_TRUE(read("def f(x): return F.relu(x)\n", "f", {"2"}).ok());
  EXPECT_TRUE(read("def f(*xs): return Net()(xs[0])\n", "f", {"2"}).ok());
  EXPECT_TRUE(read("def f(x=None): return torch.ones(2) if x is None else x * 2\n", "f", {"2"}).ok());
  for (const char* text :
       {"def f(): return Net()\n", "def f(width=3, **more):\n  model = Net()\n  model.width = width\n  return model\n",
        "def f(width) -> nn.Module: return {3: Net}[width]()\n", "def g(): return Net()\ndef f(): return g()\n",
        "import functools\ndef keep(g):\n  @functools.wraps(g)\n  def inner(*a, **k): return g(*a, **k)\n  return "
        "inner\n"
        "@keep\ndef f() -> 'Net': return globals()['Net']()\n",
        "def f(**more): return globals()['Net']()\n"}) {
    const Diagnostic diagnostic = Refused(read(text, "f", {"2"}));
    EXPECT_EQ(diagnostic.message, "f: is a function that makes the model, not the model itself") << text;
    EXPECT_EQ(diagnostic.hint, absl::StrContains(text, "(width)") ? "call it: f(width)" : "call it: f()") << text;
  }
}

TEST(ReaderTest, AFileSaysWhichModelsItHas) {
  const auto models = [](const std::string& text) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat("import torch.nn as nn\n", text);
    request.bundle["other.py"] = "import torch.nn as nn\nclass Other(nn.Module): pass\n";
    request.file = "model.py";
    const absl::StatusOr<ModelChoice> choice = ListModels(request);
    return choice.ok() ? ModelList(choice->names) : std::string(choice.status().message());
  };
  EXPECT_EQ(
      models(
          "from other import Other\nclass Net(nn.Module):\n  def __init__(self, config: 'Config', *, depth, width=3): "
          "pass\n"
          "class Small(Net):\n  def __init__(self): pass\nclass Plain(nn.Module): pass\ndef small(): return Small()\n"
          "def sized(n): return Net(n)\ndef relu(x): return x\ndef _hidden(): return Net()\n"),
      "Plain(), small(), sized(n), Small(), Net(config: 'Config', depth=...)");
  EXPECT_EQ(models("from other import Other\n"), "Other()");
  EXPECT_EQ(models("x = 1\n"), "");
  EXPECT_THAT(models("1 / 0\n"), HasSubstr("ZeroDivisionError"));
  EXPECT_EQ(models("globals()['; rm -r x'] = globals()['\\x1b[2J'] = nn.Linear(1, 1)\n"), "");
  EXPECT_EQ(ModelList(std::vector<std::string>(13, "a()")),
            "a(), a(), a(), a(), a(), a(), a(), a(), a(), a(), a(), a() ...");
}

TEST(ReaderTest, AFileWithOneModelNeedsNoEntry) {
  const auto only = [](const std::string& text) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat("import torch.nn as nn\n", text);
    request.file = "model.py";
    return ListModels(request).value().only;
  };
  const std::string block = "class Block(nn.Module): pass\n", net = "class Net(nn.Module):\n  layer = Block\n";
  EXPECT_EQ(only(block + net), "Net()");
  EXPECT_EQ(only(block + net + "def net(): return Net()\n"), "net()");
  EXPECT_EQ(only(block + net + "model = nn.Sequential(Net())\n"), "model");
  EXPECT_EQ(only(block + net + "class Blocks(nn.Module): pass\n"), "");  // two that nobody mentions
  EXPECT_EQ(only("class Net(nn.Module):\n  def __init__(self, width): pass\n"), "");
  EXPECT_EQ(only("x = 1\n"), "");
}

TEST(ReaderTest, AFileMayProposeInputs) {
  const auto example = [](const std::string& text) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat("import torch, torch.nn as nn\n", text);
    request.file = "model.py";
    request.entry = "Net()";
    const Diagnostic diagnostic = Refused(ReadPythonModel(request));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage) << diagnostic.message;
    return diagnostic.example_inputs;
  };
  const std::string net = "class Net(nn.Module):\n  def forward(self, x): return x + 1\n";
  EXPECT_EQ(example(net), "");
  EXPECT_EQ(example(net + "def get_inputs(): return [torch.rand(2, 3), torch.ones(1, 4).long()]\n"),
            " --input 2x3:float32 --input 1x4:int64");
  EXPECT_EQ(example(net + "def get_inputs(): return [{'ids': torch.rand(2), 'mask': None}, [torch.rand(3)]]\n"),
            " --input '{\"ids\": 2:float32, \"mask\": None}' --input '[3:float32]'");
  EXPECT_EQ(example("class Net(nn.Module):\n  def forward(self, x, scale): return x * scale\n"
                    "def get_inputs(): return [torch.rand(2), 2.5]\n"),
            " --input 2:float32 --arg scale=2.5");
  EXPECT_EQ(example(net + "def get_inputs(): return [{'; rm -r x': torch.rand(2)}]\n"), "");
  EXPECT_EQ(example(net + "def get_inputs(): raise KeyError('x')\n"), "");
  EXPECT_EQ(example(net + "if __name__ == '__main__':\n  x = torch.randint(0, 9, (1, 16))\n"), " --input 1x16:int64");
  EXPECT_EQ(example("class Net(nn.Module):\n  '''>>> net(torch.randn(1, 3, 8, 8))'''\n"
                    "  def forward(self, x): return x + 1\n"),
            " --input 1x3x8x8");
  EXPECT_EQ(example("class Net(nn.Module):\n  default_cfg = {'input_size': (3, 32, 32)}\n"
                    "  def forward(self, x): return x + 1\n"),
            " --input 1x3x32x32");
  // An example of fewer tensors than the method needs is none.
  EXPECT_EQ(example("class Net(nn.Module):\n  '''>>> net(torch.randn(1, 3), y)'''\n"
                    "  def forward(self, x, y): return x + y\n"),
            "");
}

TEST(ReaderTest, TrainingUsesBatchStatisticsAndDrops) {
  const auto read = [](bool training, const std::string& input) {
    SourceRequest request;
    request.bundle["model.py"] =
        "import torch.nn as nn\n"
        "def net(): return nn.Sequential(nn.BatchNorm2d(3), nn.Dropout(0.5), nn.BatchNorm2d(3, "
        "track_running_stats=False))\n";
    request.file = "model.py";
    request.entry = "net()";
    request.inputs = {input};
    request.training = training;
    return ReadPythonModel(request);
  };
  const absl::StatusOr<graph::Graph> eval = read(false, "2x3x4x4"), train = read(true, "2x3x4x4");
  ASSERT_TRUE(eval.ok()) << eval.status();
  ASSERT_TRUE(train.ok()) << train.status();
  EXPECT_THAT(graph::PrintGraph(*eval), Not(HasSubstr("training")));
  EXPECT_THAT(graph::PrintGraph(*train), HasSubstr("p=0.5, training=True)"));
  EXPECT_THAT(graph::PrintGraph(*train), HasSubstr("eps=1e-05, training=True)"));
  EXPECT_THAT(std::string(read(false, "1x3x1x1").status().message()), HasSubstr("Expected more than 1 value"));
}

TEST(ReaderTest, AStepAfterCachedTokensHasTheModelsOwnCache) {
  SourceRequest request;
  request.bundle["model.py"] =
      "import torch, torch.nn as nn\n"
      "class Cache:\n"
      "  def __init__(self): self.keys, self.seen = None, 0\n"
      "  def update(self, k):\n"
      "    self.seen += k.shape[1]\n"
      "    self.keys = k if self.keys is None else torch.cat([self.keys, k], 1)\n"
      "    return self.keys\n"
      "class Net(nn.Module):\n"
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.embed = nn.Embedding(10, 4)\n"
      "  def forward(self, ids, past_key_values=None, use_cache=False):\n"
      "    cache = past_key_values if past_key_values is not None else Cache()\n"
      "    keys = cache.update(self.embed(ids))\n"
      "    assert cache.seen == keys.shape[1]\n"
      "    return {'out': keys.sum(1), 'past_key_values': cache if use_cache else None}\n";
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x1:int64"};
  request.cached_tokens = 6;
  const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs().size(), 2);
  EXPECT_EQ(graph->inputs()[1].name, "past_key_values.0");
  EXPECT_EQ(graph::TypeText(graph->inputs()[1].type), "1x6x4:float32");
  EXPECT_THAT(graph::PrintGraph(*graph), HasSubstr("cat(tensors=past_key_values.0, tensors=%0, dim=1) -> 1x7x4"));
  EXPECT_EQ(graph->nodes().size(), 3);

  request.entry = "nn.Linear(4, 4)";
  request.inputs = {"1x1x4"};
  EXPECT_EQ(Refused(ReadPythonModel(request)).kind, Diagnostic::Kind::kUsage);
  request.cached_tokens = -1;
  EXPECT_THAT(Refused(ReadPythonModel(request)).message, HasSubstr("--cached-tokens -1: is not from 0 to"));
}

TEST(ReaderTest, LayersInSequentialPointAtTheirConstruction) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.block = nn.Sequential(\n"
      "        nn.Conv2d(3, 4, 3),\n"
      "        nn.BatchNorm2d(4), Own())\n"
      "    self.last = nn.ReLU()\n"
      "  def forward(self, x):\n"
      "    return self.last(self.block(x))\n"
      "class Own(nn.Conv2d):\n"
      "  def __init__(self):\n"
      "    super().__init__(4, 4, 1)\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_EQ(graph->nodes().size(), 4u);
  for (const auto& [node, line] : std::vector<std::pair<size_t, int>>{{0, 10}, {1, 11}, {2, 11}}) {
    const graph::Origin& origin = graph->nodes()[node].origin;
    EXPECT_EQ(origin.line, 14);
    ASSERT_NE(origin.made_file, nullptr) << node;
    EXPECT_EQ(*origin.made_file, "model.py");
    EXPECT_EQ(origin.made_line, line) << node;
  }
  EXPECT_EQ(graph->nodes()[3].origin.made_file, nullptr);  // the program calls it itself
}

TEST(ReaderTest, LayerCopiesKeepTheirConstructionSite) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    layer = nn.TransformerEncoderLayer(8, 2, 16)\n"
      "    self.encoder = nn.TransformerEncoder(layer, 2)\n"
      "  def forward(self, x):\n"
      "    return self.encoder(x)\n",
      {"4x2x8"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  int made = 0;
  for (const graph::Node& node : graph->nodes()) {
    made += node.origin.made_file != nullptr;
    EXPECT_EQ(node.origin.line, 12);
    if (node.op == graph::Op::linear) EXPECT_EQ(node.origin.made_line, 9);
  }
  EXPECT_GE(made, 8);
}

TEST(ReaderTest, SharedParametersCountOnceAndKeepTheirNames) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def __init__(self):\n"
      "    super().__init__()\n"
      "    self.a = nn.Linear(8, 8, bias=False)\n"
      "    self.b = nn.Linear(8, 8, bias=False)\n"
      "    self.b.weight = self.a.weight\n"
      "  def forward(self, x):\n"
      "    return self.b(self.a(x))\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->num_parameters(), 64);
  ASSERT_EQ(graph->parameter_aliases().size(), 1u);
  EXPECT_EQ(graph->parameter_aliases()[0].first, "b.weight");
  EXPECT_EQ(graph->nodes()[1].inputs[1], graph->nodes()[0].inputs[1]);
}

TEST(ReaderTest, AChangeThroughAViewReachesItsBase) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def forward(self, x):\n"
      "    y = x * 2\n"
      "    y[:, 0].add_(1)\n"
      "    return y\n");
  ASSERT_TRUE(graph.ok()) << graph.status();
  const graph::Node& last = graph->nodes()[graph->outputs()[0].index];
  EXPECT_EQ(last.op, graph::Op::as_base);
  EXPECT_EQ(graph->nodes()[last.inputs[0].index].op, graph::Op::add);
  EXPECT_EQ(last.outputs[0].shape, graph->inputs()[0].type.shape);
}

TEST(ReaderTest, TheEntryMayNameWhatItsFileDoesNotImport) {
  SourceRequest request;
  request.bundle["pkg/__init__.py"] = "";
  request.bundle["pkg/vit.py"] = "from torch import nn\nclass ViT(nn.Linear):\n  pass\n";
  request.bundle["pkg/model.py"] =
      "from torch import nn\nclass Net(nn.Module):\n  def __init__(self, v):\n    super().__init__()\n    self.v = v\n"
      "  def forward(self, x):\n    return self.v(x)\n";
  request.file = "pkg/model.py";
  request.inputs = {"1x8"};
  for (const char* entry : {"Net(pkg.vit.ViT(8, 8))", "Net(torch.nn.Linear(8, int(math.sqrt(64))))",
                            "Net((lambda n: torch.nn.Linear(n, n))(8))", "pkg.model.Net(nn.Linear(8, 8))",
                            "Net([pkg.vit.ViT(n, n) for n in range(8, 9)][0])",
                            "Net((lambda math, *pkg, k=pkg.vit.ViT(8, 8): k if math else pkg)(1))",
                            "Net({k: pkg.vit.ViT(k, k) for k in {pkg for pkg in (8,)}}[8])"}) {
    request.entry = entry;
    const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
    EXPECT_TRUE(graph.ok()) << entry << ": " << graph.status();
  }
  request.entry = "Net(pkg.gone.ViT(8, 8))";
  EXPECT_THAT(Refused(ReadPythonModel(request)).message, HasSubstr("module 'pkg' has no attribute 'gone'"));
  // A name of the file comes first.
  request.bundle["pkg/model.py"] += "math = 8\n";
  request.entry = "Net(nn.Linear(math, math))";
  EXPECT_TRUE(ReadPythonModel(request).ok());
}

TEST(ReaderTest, AClassOfAMissingPackageTakesTheKeywordsOfAClass) {
  SourceRequest request;
  request.file = "net.py";
  request.bundle["net.py"] =
      "from torch import nn\nfrom hub_is_not_here import Mixin\n"
      "class Tagged(nn.Module):\n  def __init_subclass__(cls, width=4, **more):\n"
      "    super().__init_subclass__(**more)\n    cls.width = width\n"
      "class Other(Tagged, Mixin, tag='x', width=5):\n  pass\n"
      "class Net(Tagged, width=6):\n  def __init__(self):\n    super().__init__()\n"
      "    self.fc = nn.Linear(8, self.width + Other.width)\n"
      "  def forward(self, x):\n    return self.fc(x)\n";
  request.entry = "Net()";
  request.inputs = {"1x8"};
  const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes().back().outputs[0].shape, (graph::Shape{1, 11}));
  request.entry = "Other()";
  const Diagnostic refused = Refused(ReadPythonModel(request));
  EXPECT_EQ(refused.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_EQ(refused.missing_module, "hub_is_not_here");
}

TEST(ReaderTest, AMissingLibraryIsToBlameNotTheLayerThatGotItsValue) {
  const Diagnostic diagnostic = Refused(
      Read("  def __init__(self):\n    super().__init__()\n    import gone\n    self.fc = nn.Linear(8, gone.WIDTH)\n"
           "  def forward(self, x):\n    return self.fc(x)\n"));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_THAT(diagnostic.message, HasSubstr("gone was not found (imported at model.py:9)"));
  EXPECT_EQ(diagnostic.missing_module, "gone");
}

TEST(ReaderTest, ALoopOverDataIsRefusedButALoaderMayBeMade) {
  constexpr char kForward[] = "  def forward(self, x):\n    return x.relu()\n";
  constexpr char kLoader[] = "from torch.utils.data import DataLoader\nloader = DataLoader(range(10), batch_size=4)\n";
  EXPECT_TRUE(Read(absl::StrCat(kForward, kLoader, "assert len(loader) == 3\n")).ok());
  const Diagnostic diagnostic = Refused(Read(absl::StrCat(kForward, kLoader, "for x in loader: pass\n")));
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_THAT(diagnostic.hint, HasSubstr("__main__"));
}

TEST(ReaderTest, InputsMayBeKeywordsAndLists) {
  const absl::StatusOr<graph::Graph> graph = Read(
      "  def forward(self, images, *, mask):\n"
      "    return [i * mask.float().mean() for i in images]\n",
      {"[3x4x4,3x5x5]", "mask=2x2:bool"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs().size(), 3u);
  EXPECT_EQ(graph->inputs()[2].name, "mask");
  EXPECT_EQ(graph->outputs().size(), 2u);
  EXPECT_EQ(Refused(Read("  def forward(self, x):\n    return x\n", {"1x,3"})).kind, Diagnostic::Kind::kUsage);
}

TEST(ReaderTest, InputsMayBeNested) {
  absl::StatusOr<graph::Graph> graph = Read(
      "  def forward(self, batch, cache, mask=None):\n"
      "    assert mask is None and type(cache) is tuple and type(cache[0]) is list and cache[1] is None\n"
      "    assert list(batch) == ['user id', 'item']\n"
      "    return batch['user id'].float() + batch['item']['price'], cache[0][1] * 2\n",
      {R"({"user id": 64:int64, item: {'price': scalar}})", "( [1x8,1x4 ], None, )", "mask=None"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  std::vector<std::string> names;
  for (const auto& input : graph->inputs()) names.push_back(input.name);
  EXPECT_THAT(names, ::testing::ElementsAre("user id", "item.price", "input2", "input3"));
  graph = Read("  def forward(self, past):\n    return past['kv'][0][1].relu()\n", {"past={kv: [(1x8, 1x4)]}"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->inputs()[1].name, "past.kv.0.1");
  for (const char* wrong : {"{1x8}", "{a: 1x8", "{a: 1x8, a: 1x8}", "[1x8", "[1x8)", "(1x8) 1x8", "[,]", "{'a: 1x8}",
                            "x={\"a\" 1x8}", "[1x8; 1x8]", "[1x8][1x8]"}) {
    const Diagnostic diagnostic = Refused(Read("  def forward(self, x):\n    return x\n", {wrong}));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage) << wrong;
    EXPECT_THAT(diagnostic.message, ::testing::StartsWith("\"")) << wrong;
  }
  const std::string deep = std::string(100, '[') + "1" + std::string(100, ']');
  EXPECT_THAT(Refused(Read("  def forward(self, x):\n    return x\n", {deep})).message, HasSubstr("nested"));
}

// What is missing here is no mistake of the program.
TEST(ReaderTest, FilesAndNetworksThatAreNotThereAreUnsupported) {
  for (const char* value : {"nn.Parameter(torch.load('w.pt'))", "torch.cat([torch.load('w.pt')['w'], torch.zeros(1)])",
                            "F.relu(torch.load('w.pt'))", "torch.hub.load('pytorch/vision', 'resnet18')"}) {
    const Diagnostic diagnostic =
        Refused(Read(absl::StrCat("  def __init__(self):\n    super().__init__()\n    self.w = ", value,
                                  "\n  def forward(self, x):\n    return x\n")));
    EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUnsupported) << value << ": " << diagnostic.message;
    EXPECT_THAT(diagnostic.message, Not(HasSubstr("_Unread")));
  }
}

// The search for what the first run keeps counts each object once, from however many globals.
TEST(ReaderTest, TheSearchForKeptConstantsCountsEachObjectOnce) {
  constexpr int kGlobals = 4000;
  SourceRequest request;
  request.bundle["model.py"] = absl::StrCat(kHead, "  def forward(self, x):\n    return x + torch.arange(8)\n");
  for (int i = 0; i < kGlobals; ++i) absl::StrAppend(&request.bundle["model.py"], "g", i, " = [", i, "]\n");
  request.file = "model.py";
  request.entry = "Net()";
  request.inputs = {"1x3x8x8"};
  ReadUsage usage;
  const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request, {}, &usage);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_LT(usage.steps, 100 * kGlobals);  // quadratic: 500 of each
}

}  // namespace
}  // namespace cobra::python
