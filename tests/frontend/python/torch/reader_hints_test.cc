// What the reader says to do about an error; the memory order of constants, on which errors depend;
// code that is not Python: operators and extensions of a program's own.
#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "frontend/python/reader.h"
#include "gmock/gmock.h"

namespace cobra::python {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kNet[] =
    "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\nclass Net(nn.Module):\n";

std::string HintOf(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  return DiagnosticFromStatus(status).value_or(Diagnostic()).hint;
}

TEST(ReaderHintsTest, AnErrorOfAnotherVersionNamesTheVersion) {
  const std::string library =
      "import torch\nif not hasattr(torch, 'float8_e4m3fn'): raise ImportError('Net requires PyTorch >= 2.6')\n";
  const auto hint = [&](const std::string& text, const char* version) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat(text, kNet, "  def forward(self, x):\n    return x + 1\n");
    request.file = "model.py";
    request.entry = "Net()";
    request.inputs = {"2"};
    request.torch_version = version;
    const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
    return graph.ok() ? "" : HintOf(graph.status());
  };
  EXPECT_EQ(hint(library, "2.13.0"), "");
  EXPECT_THAT(hint(library, "1.13.0"), HasSubstr("read as for PyTorch 1.13.0"));
  EXPECT_THAT(hint(library, "1.13.0"), HasSubstr("--torch-version 2.13.0"));
  EXPECT_THAT(hint("import torch\nx = torch.no_such_name\n", "1.13.0"), HasSubstr("--torch-version 2.13.0"));
  EXPECT_THAT(hint("raise ImportError('no tea')\n", "1.13.0"), Not(HasSubstr("--torch-version")));
}

TEST(ReaderHintsTest, HintsOfInputs) {
  const auto hint = [](const std::string& forward, const std::string& input, const std::string& method = "forward") {
    SourceRequest request;
    request.bundle["model.py"] =
        absl::StrCat(kNet, "  def __getattr__(self, name): return super().__getattr__(name)\n", forward);
    request.file = "model.py";
    request.entry = "Net()";
    request.inputs = {input};
    request.method = method;
    return HintOf(ReadPythonModel(request).status());
  };
  EXPECT_THAT(hint("  def forward(self, x):\n    return F.embedding(x, torch.ones(3, 4))\n", "1x12"),
              HasSubstr("1x16:int64"));
  EXPECT_THAT(hint("  def forward(self, x):\n    return 1 if x.all() else 2\n", "12"),
              HasSubstr("--arg 'mask=torch.ones"));
  EXPECT_THAT(hint("  def forward(self, x):\n    return x\n", "12", "forwrd"), HasSubstr("name a method of Net()"));
  EXPECT_THAT(hint("  def forward(self, x):\n    return x\n", "2.5"), HasSubstr("--arg scale=2.5"));
}

TEST(ReaderHintsTest, AConstantThatIsAViewHasItsOrder) {
  const auto calls = [](const std::string& function) {
    SourceRequest request;
    request.bundle["model.py"] = absl::StrCat(kNet, "  pass\n\ndef f(x):\n", function);
    request.file = "model.py";
    request.entry = "f";
    request.inputs = {"4x8"};
    const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (!graph.ok()) return std::ptrdiff_t{99};
    return absl::c_count_if(graph->nodes(), [](const graph::Node& node) { return node.op == graph::Op::exp; });
  };
  EXPECT_EQ(calls("  return x if torch.zeros(4, 8).t().is_contiguous() else x.exp()\n"), 1);
  EXPECT_EQ(calls("  return x if torch.zeros(4, 8)[1:].is_contiguous() else x.exp()\n"), 0);
  EXPECT_EQ(calls("  return x.exp() if torch.zeros(4, 8)[:, ::2].stride() == (8, 2) else x\n"), 1);
  EXPECT_EQ(calls("  try: torch.zeros(2, 3).T.view(-1)\n  except RuntimeError: return x.exp()\n  return x\n"), 1);
  EXPECT_EQ(calls("  return x if torch.zeros(2, 3).T.contiguous().view(-1).shape == (6,) else x.exp()\n"), 0);
}

TEST(ReaderHintsTest, OperatorsOfAProgramAreFoundByName) {
  SourceRequest request;
  request.torch_version = "2.13.0";
  request.file = "net.py";
  request.bundle["net.py"] =
      "import torch\n"
      "@torch.library.custom_op('mine::scale', mutates_args=())\n"
      "def scale(x: torch.Tensor, f: float) -> torch.Tensor:\n  return x * f\n"
      "@scale.register_fake\ndef _(x, f):\n  return torch.empty_like(x)\n"
      "def net(x):\n  return torch.ops.mine.scale.default(torch.ops.mine.scale(scale(x, 2.0), 3.0), 4.0)\n";
  request.entry = "net";
  request.inputs = {"1x8"};
  const absl::StatusOr<graph::Graph> graph = ReadPythonModel(request);
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes().size(), 3);
}

TEST(ReaderHintsTest, AnExtensionIsRefusedWhereItIsCalled) {
  SourceRequest request;
  request.file = "net.py";
  const std::string load = "fast = load('fast', sources=['fast.cpp'])\n";
  const std::string net =
      "def net(x):\n  return x + 1 if fast is None or x.device.type == 'cpu' else fast.run(x)\n"
      "def prepared(x):\n  return x if fast is None else fast.run(x)\n";
  request.inputs = {"8"};
  const auto read = [&](const std::string& made, const std::string& entry) {
    request.bundle["net.py"] = "from torch.utils.cpp_extension import load\n" + made + net;
    request.entry = entry;
    return ReadPythonModel(request);
  };
  EXPECT_TRUE(read(load, "net").ok());
  const auto refused = DiagnosticFromStatus(read(load, "prepared").status());
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->kind, Diagnostic::Kind::kUnsupported);
  EXPECT_TRUE(read("try:\n  " + load + "except RuntimeError:\n  fast = None\n", "prepared").ok());
}

}  // namespace
}  // namespace cobra::python
