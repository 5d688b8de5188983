// The builders against PyTorch source of the same networks (reference/*.py) through our own reader:
// call by call the same operator, attributes, sources, shapes and module, the same parameters and
// buffers. truth_test.py compares with what PyTorch itself runs.
#include <map>
#include <string>

#include "base/file/file.h"
#include "frontend/nas/reader.h"
#include "frontend/python/reader.h"
#include "graph/constants/constant_calls.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "tests/frontend/nas/random_architectures.h"

namespace cobra::nas {
namespace {

std::string SourceText(const graph::Graph& graph, graph::ValueRef ref) {
  switch (ref.kind) {
    case graph::ValueRef::Kind::kParameter: return graph.parameters()[ref.index].name;
    case graph::ValueRef::Kind::kBuffer: return graph.buffers()[ref.index].name;
    case graph::ValueRef::Kind::kConstant: return "constant";
    case graph::ValueRef::Kind::kNone: return "none";
    default: return absl::StrCat(ref.is_node() ? "node " : "input ", ref.index, ".", ref.output);
  }
}

std::string CallText(const graph::Graph& graph, const graph::Node& node) {
  std::string text =
      absl::StrCat(graph::OpName(node.op), node.inplace ? "_" : "", " in '", node.origin.module_path, "' (");
  for (const graph::ValueRef& ref : node.inputs) absl::StrAppend(&text, SourceText(graph, ref), ", ");
  for (const auto& [name, value] : node.attributes)
    absl::StrAppend(&text, name, "=", graph::AttributeText(value), ", ");
  absl::StrAppend(&text, ") ->");
  for (const graph::TensorType& type : node.outputs) absl::StrAppend(&text, " ", graph::TypeText(type));
  return text;
}

std::map<std::string, std::string> Names(absl::Span<const graph::NamedTensor> tensors) {
  std::map<std::string, std::string> names;
  for (const graph::NamedTensor& tensor : tensors) names[tensor.name] = graph::TypeText(tensor.type);
  return names;
}

void ExpectSameNetwork(const RandomArchitecture& random) {
  SCOPED_TRACE(random.architecture);
  const absl::StatusOr<graph::Graph> ours = ReadArchitecture({random.architecture, random.inputs});
  python::SourceRequest source;
  source.file = random.file;
  source.entry = random.entry;
  source.inputs = random.inputs;
  source.bundle[random.file] =
      ReadFile(absl::StrCat(COBRA_SOURCE_DIR, "/tests/frontend/nas/reference/", random.file)).value();
  const absl::StatusOr<graph::Graph> reference = python::ReadPythonModel(source);
  if (!reference.ok()) {  // then there is no such network: no path through a cell, a depth of nothing
    EXPECT_FALSE(ours.ok()) << reference.status();
    return;
  }
  ASSERT_TRUE(ours.ok()) << ours.status();
  // The mask of HAT's decoder is made once, and kept; the reference makes it in each run.
  const auto prepared = graph::WithoutConstantCalls(*reference, /*of_parameters=*/false);
  const graph::Graph& wanted = prepared.has_value() ? prepared->graph : *reference;
  EXPECT_EQ(Names(ours->parameters()), Names(wanted.parameters()));
  EXPECT_EQ(Names(ours->buffers()), Names(wanted.buffers()));
  ASSERT_EQ(ours->nodes().size(), wanted.nodes().size());
  for (size_t i = 0; i < ours->nodes().size(); ++i) {
    ASSERT_EQ(CallText(*ours, ours->nodes()[i]), CallText(wanted, wanted.nodes()[i])) << "call " << i;
  }
  ASSERT_EQ(ours->outputs().size(), wanted.outputs().size());
  for (size_t i = 0; i < ours->outputs().size(); ++i) EXPECT_EQ(ours->outputs()[i], wanted.outputs()[i]);
}

// Enough to meet every operation in every place; the seed is fixed so that a failure comes back.
constexpr int kNetworks = 12;

TEST(Nasbench201, IsThePublishedNetwork) {
  ArchitectureSource source(201);
  for (int i = 0; i < kNetworks; ++i) ExpectSameNetwork(source.Nasbench201(/*pruned=*/false));
}

TEST(Nasbench201, PrunedLeavesOutWhatIsOnNoPath) {
  ArchitectureSource source(202);
  for (int i = 0; i < 2 * kNetworks; ++i) ExpectSameNetwork(source.Nasbench201(/*pruned=*/true));
}

TEST(Nasbench101, IsThePublishedNetwork) {
  ArchitectureSource source(101);
  for (int i = 0; i < 3 * kNetworks; ++i) ExpectSameNetwork(source.Nasbench101());
}

TEST(Fbnet, IsThePublishedNetworkForBothDatasets) {
  ArchitectureSource source(9);
  for (int i = 0; i < kNetworks; ++i) ExpectSameNetwork(source.Fbnet(/*imagenet=*/i % 2 == 0));
}

TEST(Ofa, IsThePublishedNetwork) {
  ArchitectureSource source(5);
  for (int i = 0; i < kNetworks; ++i) ExpectSameNetwork(source.Ofa());
}

TEST(Darts, IsThePublishedNetworkForBothDatasets) {
  ArchitectureSource source(7);
  for (int i = 0; i < 2 * kNetworks; ++i) ExpectSameNetwork(source.Darts(/*imagenet=*/i % 2 == 0));
}

TEST(Hat, IsThePublishedNetwork) {
  ArchitectureSource source(3);
  for (int i = 0; i < 2 * kNetworks; ++i) ExpectSameNetwork(source.Hat());
}

}  // namespace
}  // namespace cobra::nas
