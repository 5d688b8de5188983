#include <set>

#include "base/diagnostic.h"
#include "base/file/file.h"
#include "export/onnx/writer.h"
#include "frontend/onnx/reader.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "tests/export/export_document.h"

namespace cobra::exporting {
namespace {

absl::StatusOr<std::string> Written(const graph::Graph& graph) {
  const absl::StatusOr<Weights> weights = Weights::Random(graph, 1);
  return weights.ok() ? WriteOnnx(graph, *weights) : absl::StatusOr<std::string>(weights.status());
}

// What the reader makes of what is written.
graph::Graph ReadBack(const graph::Graph& graph) {
  const absl::StatusOr<std::string> model = Written(graph);
  EXPECT_TRUE(model.ok()) << model.status();
  absl::StatusOr<graph::Graph> read = onnx::ReadOnnxModel(*model, {});
  EXPECT_TRUE(read.ok()) << read.status();
  return *std::move(read);
}

graph::Graph SmallNetwork() {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({1, 3, 32, 32});
  x = b.Relu(b.BatchNorm2d(b.Conv2d(x, {16, 3, 2, 1})));
  x = b.MaxPool2d(x, {3, 2, 1});
  const graph::ValueRef left = b.Conv2d(x, {16, 3, 1, 1, 1, 4, true});
  x = b.Relu(b.Add(left, x));
  x = b.AvgPool2d(b.Cat({x, left}, 1), {2, 2, 0});
  x = b.Flatten(b.AdaptiveAvgPool2d(x, 1));
  return *std::move(b).Finish({b.Linear(x, 10)});
}

TEST(OnnxWriterTest, TheReaderGetsANetworkBack) {
  const graph::Graph graph = SmallNetwork();
  const graph::Graph read = ReadBack(graph);
  EXPECT_EQ(graph::Fingerprint(read), graph::Fingerprint(graph)) << graph::PrintGraph(graph) << "\n"
                                                                 << graph::PrintGraph(read);
}

TEST(OnnxWriterTest, ActivationsAndNormsAreOneCallAgain) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({2, 5, 8});
  for (graph::Op op : {graph::Op::sigmoid, graph::Op::tanh, graph::Op::silu, graph::Op::hardswish,
                       graph::Op::hardsigmoid, graph::Op::selu, graph::Op::exp, graph::Op::erf})
    x = b.Call(op, {}, {x});
  x = b.Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {x});
  x = b.Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {x});
  x = b.Call(graph::Op::leaky_relu, {{"negative_slope", 0.1}}, {x});
  x = b.Call(graph::Op::mean, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}}, {b.LayerNorm(x)});
  const graph::Graph graph = *std::move(b).Finish({b.Linear(x, 4)});
  const graph::Graph read = ReadBack(graph);
  EXPECT_EQ(graph::Fingerprint(read), graph::Fingerprint(graph)) << graph::PrintGraph(graph) << "\n"
                                                                 << graph::PrintGraph(read);
}

TEST(OnnxWriterTest, NodesSayWhichCallTheyBelongTo) {
  EXPECT_EQ(CallOfNode("call17/Conv"), 17);
  EXPECT_EQ(CallOfNode("call0/Mul_3"), 0);
  EXPECT_EQ(CallOfNode("output/output0"), -1);
  EXPECT_EQ(CallOfNode("callous/Conv"), -1);
  EXPECT_EQ(CallOfNode(""), -1);
  const graph::Graph read = ReadBack(SmallNetwork());
  std::set<int32_t> calls;
  for (const graph::Node& node : read.nodes()) calls.insert(CallOfNode(node.origin.module_path));
  EXPECT_EQ(calls.size(), SmallNetwork().nodes().size());
  EXPECT_EQ(calls.count(-1), 0u);
}

TEST(OnnxWriterTest, WhatCannotBeWrittenIsNamedWithItsLine) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{4, 4}});
  graph::Origin origin;
  origin.file = std::make_shared<const std::string>("net.py");
  origin.line = 12;
  origin.module_path = "head";
  const int32_t node = builder.Add(graph::Op::linalg_qr, {}, {x}, origin).value();
  const absl::Status status = Written(std::move(builder).Build({graph::ValueRef::Node(node)})).status();
  const std::optional<Diagnostic> d = DiagnosticFromStatus(status);
  ASSERT_TRUE(d.has_value()) << status;
  EXPECT_EQ(d->kind, Diagnostic::Kind::kUnsupported);
  EXPECT_EQ(d->position.file, "net.py");
  EXPECT_EQ(d->position.line, 12);
  EXPECT_EQ(d->module_path, "head");
  EXPECT_NE(d->message.find("linalg_qr (call 0) cannot be written as ONNX"), std::string::npos) << d->message;
}

TEST(OnnxWriterTest, AFormOfACallThatCannotBeWrittenIsRefused) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({2, 8, 6, 6});
  const graph::ValueRef y =
      b.Call(graph::Op::local_response_norm, {{"size", int64_t{4}}, {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}}, {x});
  const absl::Status status = Written(*std::move(b).Finish({y})).status();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
}

TEST(OnnxWriterTest, LargeWeightsAreLeftInTheirFile) {
  const graph::Graph graph = SmallNetwork();
  const Weights weights = *Weights::Random(graph, 1);
  const std::string path = ::testing::TempDir() + "/onnx_writer_test.onnx";
  ASSERT_TRUE(WriteOnnxFiles(graph, weights, path).ok());
  EXPECT_EQ(WeightsPath(path), ::testing::TempDir() + "/onnx_writer_test.safetensors");
  const std::string model = *ReadFile(path);
  EXPECT_NE(model.find("onnx_writer_test.safetensors"), std::string::npos);
  EXPECT_LT(model.size(), ReadFile(WeightsPath(path))->size());
  const absl::StatusOr<graph::Graph> read = onnx::ReadOnnxModel(model, {});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(graph::Fingerprint(*read), graph::Fingerprint(graph));
}

TEST(OnnxWriterTest, TheDocumentIsUpToDate) {
  const absl::StatusOr<std::string> text = ReadFile(COBRA_SOURCE_DIR "/docs/onnx_export.md");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, ExportDocument()) << "run: export_network --document > docs/onnx_export.md";
}

}  // namespace
}  // namespace cobra::exporting
