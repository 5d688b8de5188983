#include "model/predict/as_run/folded_norms.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

using graph::Attributes;
using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

// A convolution, a normalization and an activation.
class Net {
 public:
  ValueRef Convolution(ValueRef x, bool has_bias) {
    const ValueRef weight = b_.AddParameter("w", {{8, 8, 1, 1}, graph::DType::float32});
    const ValueRef bias = has_bias ? b_.AddParameter("b", {{8}, graph::DType::float32}) : ValueRef::None();
    return Add(Op::conv2d,
               {{"stride", std::vector<int64_t>{1, 1}},
                {"padding", std::vector<int64_t>{0, 0}},
                {"dilation", std::vector<int64_t>{1, 1}},
                {"groups", int64_t{1}}},
               {x, weight, bias});
  }
  ValueRef Norm(ValueRef x, bool training = false) {
    Attributes attributes{{"eps", 1e-5}};
    if (training) attributes.Set("training", true);
    ValueRefs inputs = {x};
    for (const char* name : {"mean", "variance"}) inputs.push_back(b_.AddBuffer(name, {{8}, graph::DType::float32}));
    for (const char* name : {"weight", "bias"}) inputs.push_back(b_.AddParameter(name, {{8}, graph::DType::float32}));
    return Add(Op::batch_norm, std::move(attributes), std::move(inputs));
  }
  ValueRef Add(Op op, Attributes attributes, ValueRefs inputs) {
    const auto call = b_.Add(op, std::move(attributes), std::move(inputs));
    EXPECT_TRUE(call.ok()) << call.status();
    return ValueRef::Node(*call);
  }
  graph::Graph Build(std::vector<ValueRef> outputs) { return std::move(b_).Build(std::move(outputs)); }
  ValueRef input() const { return x_; }

 private:
  graph::GraphBuilder b_;
  ValueRef x_ = b_.AddInput("x", {{1, 8, 16, 16}, graph::DType::float32});
};

// What an author of a file writes who has folded it already.
TEST(FoldedNorms, AreTheBiasOfTheConvolution) {
  Net net, written;
  const graph::Graph graph = net.Build({net.Add(Op::relu, {}, {net.Norm(net.Convolution(net.input(), false))})});
  const graph::Graph file = written.Build({written.Add(Op::relu, {}, {written.Convolution(written.input(), true)})});
  const auto folded = WithFoldedNorms(graph);
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->place_of_call, (std::vector<int32_t>{0, FoldedNorms::kFolded, 1}));
  ASSERT_EQ(folded->graph.nodes().size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(folded->graph.nodes()[i].op, file.nodes()[i].op);
    EXPECT_EQ(folded->graph.nodes()[i].outputs, file.nodes()[i].outputs);
  }
  EXPECT_FALSE(folded->graph.nodes()[0].inputs[2].is_none());
  EXPECT_FALSE(WithFoldedNorms(folded->graph).has_value());

  LatencyPrediction prediction;
  prediction.latency_us = 5;
  prediction.node_latency_us = {3, 2};
  prediction.node_alone_us = {3, 2};
  prediction.node_unknown = {"", "why"};
  const LatencyPrediction of_all = folded->ExpandToOriginalCalls(prediction);
  EXPECT_EQ(of_all.node_latency_us, (std::vector<double>{3, 0, 2}));
  EXPECT_EQ(of_all.node_alone_us, (std::vector<float>{3, 0, 2}));
  EXPECT_EQ(of_all.node_unknown, (std::vector<std::string>{"", "", "why"}));
}

TEST(FoldedNorms, StayWhereNothingCanTakeThem) {
  Net training, alone, read_twice, result;
  const ValueRef trained = training.Norm(training.Convolution(training.input(), false), /*training=*/true);
  EXPECT_FALSE(WithFoldedNorms(training.Build({trained})).has_value());
  EXPECT_FALSE(WithFoldedNorms(alone.Build({alone.Norm(alone.Add(Op::relu, {}, {alone.input()}))})).has_value());
  const ValueRef x = read_twice.Convolution(read_twice.input(), false), normal = read_twice.Norm(x);
  EXPECT_FALSE(WithFoldedNorms(read_twice.Build({read_twice.Add(Op::add, {}, {x, normal})})).has_value());
  const ValueRef shown = result.Convolution(result.input(), false), norm = result.Norm(shown);
  EXPECT_FALSE(WithFoldedNorms(result.Build({shown, norm})).has_value());
}

// A normalization at the end of the network: its result is the convolution's.
TEST(FoldedNorms, MayBeTheResult) {
  Net net;
  const auto folded = WithFoldedNorms(net.Build({net.Norm(net.Convolution(net.input(), true))}));
  ASSERT_TRUE(folded.has_value());
  EXPECT_EQ(folded->graph.outputs()[0], ValueRef::Node(0));
}

TEST(FoldedNorms, AreOfTargetsThatOthersMeasuredWithNcnn) {
  TargetSpec target;
  target.runtime = "ncnn";
  EXPECT_TRUE(RunsConvertedFiles(target, false));
  target.runtime = "ncnn-1.0.20260526";
  EXPECT_FALSE(RunsConvertedFiles(target, false));
  EXPECT_TRUE(RunsConvertedFiles(target, true));
  target.runtime = "torch-2.4";
  EXPECT_FALSE(RunsConvertedFiles(target, true));
}

}  // namespace
}  // namespace cobra::predict
