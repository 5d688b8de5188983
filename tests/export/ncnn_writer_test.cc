#include "base/diagnostic.h"
#include "base/file/file.h"
#include "export/ncnn/writer.h"
#include "frontend/ncnn/reader.h"
#include "gmock/gmock.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "tests/export/export_document.h"

namespace cobra::exporting {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::StatusOr<NcnnFiles> Written(const graph::Graph& graph) {
  const absl::StatusOr<Weights> weights = Weights::Random(graph, 1);
  return weights.ok() ? WriteNcnn(graph, *weights) : absl::StatusOr<NcnnFiles>(weights.status());
}

// What the reader makes of what is written.
graph::Graph ReadBack(const graph::Graph& graph) {
  const absl::StatusOr<NcnnFiles> files = Written(graph);
  EXPECT_TRUE(files.ok()) << files.status();
  absl::StatusOr<graph::Graph> read = cobra::ncnn::ReadNcnnModel(files->param, {});
  EXPECT_TRUE(read.ok()) << read.status() << files->param;
  return *std::move(read);
}

void ExpectSame(const graph::Graph& graph) {
  const graph::Graph read = ReadBack(graph);
  EXPECT_EQ(graph::Fingerprint(read), graph::Fingerprint(graph)) << graph::PrintGraph(graph) << "\n"
                                                                 << graph::PrintGraph(read);
}

TEST(NcnnWriterTest, TheReaderGetsANetworkBack) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({1, 3, 32, 32});
  x = b.Call(graph::Op::relu, {}, {b.Conv2d(x, {16, 3, 2, 1})});
  x = b.MaxPool2d(x, {3, 2, 1});
  const graph::ValueRef left = b.Conv2d(x, {16, 3, 1, 1, 1, 4, true});
  x = b.Call(graph::Op::relu, {}, {b.Add(left, x)});
  x = b.AvgPool2d(b.Cat({x, left}, 1), {2, 2, 0});
  x = b.Flatten(b.AdaptiveAvgPool2d(x, 1));
  ExpectSame(*std::move(b).Finish({b.Linear(x, 10)}));
}

TEST(NcnnWriterTest, ActivationsAndNormsAreOneCallAgain) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({1, 5, 8});
  for (graph::Op op : {graph::Op::sigmoid, graph::Op::tanh, graph::Op::silu, graph::Op::hardswish,
                       graph::Op::hardsigmoid, graph::Op::selu, graph::Op::exp, graph::Op::erf, graph::Op::mish})
    x = b.Call(op, {}, {x});
  x = b.Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {x});
  x = b.Call(graph::Op::softmax, {{"dim", int64_t{2}}}, {x});
  x = b.Call(graph::Op::leaky_relu, {{"negative_slope", 0.1}}, {x});
  x = b.Linear(b.LayerNorm(x), 4);
  x = b.Call(graph::Op::permute, {{"dims", std::vector<int64_t>{0, 2, 1}}}, {x});
  x = b.Call(graph::Op::mean, {{"dim", std::vector<int64_t>{1}}, {"keepdim", true}}, {x});
  ExpectSame(*std::move(b).Finish({x}));
}

TEST(NcnnWriterTest, ABlobWithTwoReadersIsSplit) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({1, 4, 4});
  const NcnnFiles files = *Written(*std::move(b).Finish({b.Add(x, b.Relu(x)), x}));
  EXPECT_EQ(files.param,
            "7767517\n5 7\n"
            "Input in0 0 1 in0 0=4 1=4\n"
            "Split in0/split 1 3 in0 in0/split0 in0/split1 in0/split2\n"
            "ReLU call0/ReLU 1 1 in0/split0 call0/ReLU\n"
            "BinaryOp call1/BinaryOp 2 1 in0/split1 call0/ReLU out0 0=0\n"
            "Noop out1 1 1 in0/split2 out1\n");
  EXPECT_EQ(files.bin, "");
}

TEST(NcnnWriterTest, WeightsOfMatricesHaveAFlag) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({1, 3});
  const NcnnFiles files = *Written(*std::move(b).Finish({b.Linear(x, 2)}));
  EXPECT_THAT(files.param, HasSubstr("InnerProduct call0/InnerProduct 1 1 in0 out0 0=2 1=1 2=6\n"));
  EXPECT_EQ(files.bin.size(), 4 + (6 + 2) * sizeof(float));
}

TEST(NcnnWriterTest, ABatchIsRefused) {
  graph::NetBuilder b;
  const graph::ValueRef x = b.Conv2d(b.Input({2, 3, 8, 8}), {4, 3, 1, 1});
  const std::optional<Diagnostic> d = DiagnosticFromStatus(Written(*std::move(b).Finish({x})).status());
  ASSERT_TRUE(d.has_value());
  EXPECT_EQ(d->kind, Diagnostic::Kind::kUnsupported);
  EXPECT_THAT(d->message, StartsWith("conv2d (call 0) cannot be written for ncnn: a batch of 2"));
}

TEST(NcnnWriterTest, WhatCannotBeWrittenIsNamedWithItsLine) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{4, 4}});
  graph::Origin origin;
  origin.file = std::make_shared<const std::string>("net.py");
  origin.line = 12;
  const int32_t node = builder.Add(graph::Op::linalg_qr, {}, {x}, origin).value();
  const absl::Status status = Written(std::move(builder).Build({graph::ValueRef::Node(node)})).status();
  const std::optional<Diagnostic> d = DiagnosticFromStatus(status);
  ASSERT_TRUE(d.has_value()) << status;
  EXPECT_EQ(d->kind, Diagnostic::Kind::kUnsupported);
  EXPECT_EQ(d->position.line, 12);
  EXPECT_THAT(d->message, StartsWith("linalg_qr (call 0) cannot be written for ncnn: "));
}

TEST(NcnnWriterTest, TheFilesLieBesideEachOther) {
  EXPECT_EQ(NcnnWeightsPath("a/net.param"), "a/net.bin");
  graph::NetBuilder b;
  const graph::ValueRef x = b.Input({1, 3});
  const graph::Graph graph = *std::move(b).Finish({b.Linear(x, 2)});
  const std::string path = ::testing::TempDir() + "/ncnn_writer_test.param";
  ASSERT_TRUE(WriteNcnnFiles(graph, *Weights::Random(graph, 1), path).ok());
  EXPECT_EQ(*ReadFile(path), Written(graph)->param);
  EXPECT_EQ(*ReadFile(NcnnWeightsPath(path)), Written(graph)->bin);
}

TEST(NcnnWriterTest, TheDocumentIsUpToDate) {
  const absl::StatusOr<std::string> text = ReadFile(COBRA_SOURCE_DIR "/docs/ncnn_export.md");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, NcnnExportDocument()) << "run: export_network --ncnn-document > docs/ncnn_export.md";
}

}  // namespace
}  // namespace cobra::exporting
