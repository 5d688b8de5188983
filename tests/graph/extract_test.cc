#include "graph/builder/extract.h"

#include <memory>
#include <utility>

#include "graph/builder/builder.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

TensorType Float(Shape shape) { return TensorType{std::move(shape), DType::float32}; }

// relu(x) -> transpose -> linear(., w, b) -> times itself.
struct Net {
  Net() {
    GraphBuilder b;
    const ValueRef x = b.AddInput("image", Float({2, 8, 16}));
    const ValueRef w = b.AddParameter("head.weight", Float({32, 8}));
    const ValueRef bias = b.AddParameter("head.bias", Float({32}));
    relu = *b.Add(Op::relu, {}, {x});
    Attributes dims;
    dims.Set("dim0", int64_t{1});
    dims.Set("dim1", int64_t{2});
    transpose = *b.Add(Op::transpose, dims, {ValueRef::Node(relu, 0)});
    linear = *b.Add(Op::linear, {}, {ValueRef::Node(transpose, 0), w, bias});
    square = *b.Add(Op::mul, {}, {ValueRef::Node(linear, 0), ValueRef::Node(linear, 0)});
    graph = std::make_unique<Graph>(std::move(b).Build({ValueRef::Node(square, 0)}));
  }
  int32_t relu, transpose, linear, square;
  std::unique_ptr<Graph> graph;
};

TEST(ExtractTest, TakesTheViewsAlongAndNothingElse) {
  const Net net;
  const auto layer = ExtractLayer(*net.graph, net.linear);
  ASSERT_TRUE(layer.ok()) << layer.status();
  ASSERT_EQ(layer->nodes().size(), 2u);
  EXPECT_EQ(layer->nodes()[0].op, Op::transpose);
  EXPECT_EQ(layer->nodes()[1].op, Op::linear);
  ASSERT_EQ(layer->inputs().size(), 1u);
  EXPECT_EQ(layer->inputs()[0].type.shape, (Shape{2, 8, 16}));
  EXPECT_EQ(layer->num_parameters(), 32 * 8 + 32);
  EXPECT_EQ(CostOf(*layer).macs, 2 * 16 * 32 * 8);
  for (const NamedTensor& parameter : layer->parameters()) EXPECT_EQ(parameter.name.find("head"), std::string::npos);
}

// A view may have a hundred thousand results, of which the call reads one.
TEST(ExtractTest, ALayerBehindALargeViewIsNotTaken) {
  GraphBuilder b;
  const ValueRef x = b.AddInput("x", Float({1000, 4}));
  ASSERT_TRUE(b.Add(Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
  ASSERT_TRUE(b.Add(Op::relu, {}, {ValueRef::Node(0, 7)}).ok());
  const Graph graph = std::move(b).Build({ValueRef::Node(1)});
  EXPECT_TRUE(ExtractLayer(graph, 1).ok());
  EXPECT_TRUE(ExtractLayer(graph, 1, 1003).ok());  // with the argument of each
  EXPECT_TRUE(absl::IsResourceExhausted(ExtractLayer(graph, 1, 1002).status()));
}

TEST(ExtractTest, OneTensorUsedTwiceStaysOne) {
  const Net net;
  const auto layer = ExtractLayer(*net.graph, net.square);
  ASSERT_TRUE(layer.ok()) << layer.status();
  EXPECT_EQ(layer->inputs().size(), 1u);
  EXPECT_EQ(layer->nodes()[0].inputs[0], layer->nodes()[0].inputs[1]);
}

TEST(ExtractTest, TheSameCallElsewhereIsTheSameLayer) {
  const Net net;
  GraphBuilder b;
  const ValueRef x = b.AddInput("other", Float({2, 8, 16}));
  const int32_t alone = *b.Add(Op::relu, {}, {x});
  const Graph other = std::move(b).Build({ValueRef::Node(alone, 0)});
  EXPECT_EQ(Fingerprint(*ExtractLayer(*net.graph, net.relu)), Fingerprint(*ExtractLayer(other, 0)));
}

}  // namespace
}  // namespace cobra::graph
