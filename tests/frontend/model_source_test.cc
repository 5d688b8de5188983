#include "frontend/model_source.h"

#include <string>
#include <utility>

#include "base/diagnostic.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::frontend {
namespace {

constexpr char kArchitecture[] = "nasbench201:|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|";

Diagnostic::Kind ErrorKind(const ModelSource& source, const Limits& limits = {}) {
  const absl::StatusOr<graph::Graph> graph = ReadModel(source, limits);
  EXPECT_FALSE(graph.ok());
  return DiagnosticFromStatus(graph.status()).value_or(Diagnostic()).kind;
}

TEST(ModelSourceTest, EveryFormHasItsReader) {
  python::SourceRequest program;
  program.bundle = {{"net.py", "import torch\nclass Net(torch.nn.Module):\n  def forward(self, x): return x.relu()\n"}};
  program.file = "net.py";
  program.entry = "Net()";
  program.inputs = {"1x3"};
  const absl::StatusOr<graph::Graph> read = ReadModel(program);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->nodes().size(), 1u);
  EXPECT_GT(ReadModel(nas::ArchitectureRequest{kArchitecture, {}})->nodes().size(), 100u);
  const GraphJson json{graph::GraphToJson(*read)};
  EXPECT_EQ(graph::GraphToJson(ReadModel(json).value()), json.text);
  EXPECT_EQ(ErrorKind(OnnxFile{"garbage", {}}), Diagnostic::Kind::kModelError);
  EXPECT_EQ(ErrorKind(TfliteFile{"garbage", {}}), Diagnostic::Kind::kModelError);
  EXPECT_EQ(ErrorKind(NcnnFile{"garbage", {}}), Diagnostic::Kind::kModelError);
  EXPECT_EQ(ReadModel(NcnnFile{"7767517\n2 2\nInput a 0 1 a 0=4\nReLU b 1 1 a b\n", {}})->nodes().size(), 1u);
}

TEST(ModelSourceTest, AGraphIsItself) {
  ModelSource source = ReadModel(nas::ArchitectureRequest{kArchitecture, {}}).value();
  const std::string json = graph::GraphToJson(std::get<graph::Graph>(source));
  EXPECT_EQ(graph::GraphToJson(ReadModel(source).value()), json);
  EXPECT_EQ(graph::GraphToJson(ReadModel(std::move(source)).value()), json);
}

TEST(ModelSourceTest, LimitsReachTheReaders) {
  Limits limits;
  limits.graph.max_nodes = 10;
  const std::string json = graph::GraphToJson(ReadModel(nas::ArchitectureRequest{kArchitecture, {}}).value());
  EXPECT_EQ(ErrorKind(GraphJson{json}, limits), Diagnostic::Kind::kLimit);
  limits = {};
  limits.architecture_bytes = 10;
  EXPECT_EQ(ErrorKind(nas::ArchitectureRequest{kArchitecture, {}}, limits), Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::frontend
