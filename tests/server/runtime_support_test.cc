#include "server/reader/runtime_support.h"

#include <gtest/gtest.h>

#include "graph/builder/builder.h"

namespace cobra::server {
namespace {

constexpr char kNcnn[] = "ncnn-1.0.20260526", kOnnxRuntime[] = "onnxruntime-1.32.0", kTorch[] = "torch-2.13.0+cpu";

TEST(RuntimeSupport, NcnnRunsOneSampleAtATime) {
  const auto network = [](int64_t batch) {
    graph::GraphBuilder b;
    const auto relu = b.Add(graph::Op::relu, {}, {b.AddInput("x", {{batch, 3, 8, 8}, graph::DType::float32})});
    return std::move(b).Build({graph::ValueRef::Node(*relu)});
  };
  EXPECT_EQ(WhyNotRunnable(network(1), kNcnn), "");
  EXPECT_EQ(WhyNotRunnable(network(4), kNcnn), "x: a batch of 4: ncnn runs one sample at a time");
  EXPECT_EQ(WhyNotRunnable(network(4), "ncnn"), "x: a batch of 4: ncnn runs one sample at a time")
      << "without a version";
  EXPECT_EQ(WhyNotRunnable(network(4), kOnnxRuntime), "");
  EXPECT_EQ(WhyNotRunnable(network(4), kTorch), "");
}

// What follows from weights alone is computed when the network is written.
TEST(RuntimeSupport, OperatorsThatAreNotWritten) {
  const auto network = [](bool of_weight) {
    graph::GraphBuilder b;
    const graph::ValueRef x = b.AddInput("x", {{6}, graph::DType::float32}),
                          w = b.AddParameter("w", {{6}, graph::DType::float32});
    const graph::Attributes attributes = {{"repeats", int64_t{2}}, {"dim", int64_t{0}}};
    const auto repeated = b.Add(graph::Op::repeat_interleave, attributes, {of_weight ? w : x});
    EXPECT_TRUE(repeated.ok()) << repeated.status();
    const auto relu = b.Add(graph::Op::relu, {}, {x});
    return std::move(b).Build({graph::ValueRef::Node(*repeated), graph::ValueRef::Node(*relu)});
  };
  EXPECT_EQ(WhyNotRunnable(network(false), kNcnn), "repeat_interleave: ncnn has no layer for it");
  EXPECT_EQ(WhyNotRunnable(network(true), kNcnn), "");
  EXPECT_EQ(WhyNotRunnable(network(false), kTorch), "");
}

// Its own tools write files in int8, which our exporter does not.
TEST(RuntimeSupport, NcnnHasLayersThatQuantize) {
  graph::GraphBuilder b;
  const graph::Attributes attributes = {{"scale", 0.1}, {"zero_point", int64_t{0}}, {"dtype", std::string("int8")}};
  const auto quantized =
      b.Add(graph::Op::quantize_per_tensor, attributes, {b.AddInput("x", {{1, 3, 8, 8}, graph::DType::float32})});
  ASSERT_TRUE(quantized.ok()) << quantized.status();
  EXPECT_EQ(WhyNotRunnable(std::move(b).Build({graph::ValueRef::Node(*quantized)}), kNcnn), "");
}

}  // namespace
}  // namespace cobra::server
