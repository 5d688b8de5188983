#include "graph/builder/net_builder.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "graph/builder/block_cache.h"
#include "graph/builder/builder.h"
#include "graph/distinct_calls.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::graph {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> NamesOf(absl::Span<const NamedTensor> tensors) {
  std::vector<std::string> names;
  for (const NamedTensor& tensor : tensors) names.push_back(tensor.name);
  return names;
}

TEST(NetBuilderTest, AModulePathNamesParametersAndTheCall) {
  NetBuilder net;
  ValueRef x = net.Input({1, 3, 8, 8}, DType::float32, "image");
  x = net.Conv2d(x, {.out_channels = 4, .kernel_size = 3, .padding = 1, .bias = true}, "stem.0");
  x = net.ReluInPlace(net.BatchNorm2d(x, "stem.1"), "stem.2");
  const auto graph = std::move(net).Finish({net.Linear(net.FlattenView(x), 10, "head")});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NamesOf(graph->inputs()), ElementsAre("image"));
  EXPECT_THAT(NamesOf(graph->parameters()),
              ElementsAre("stem.0.weight", "stem.0.bias", "stem.1.weight", "stem.1.bias", "head.weight", "head.bias"));
  EXPECT_THAT(NamesOf(graph->buffers()),
              ElementsAre("stem.1.running_mean", "stem.1.running_var", "stem.1.num_batches_tracked"));
  EXPECT_EQ(graph->nodes()[0].origin.module_path, "stem.0");
  EXPECT_FALSE(graph->nodes()[1].inplace);
  EXPECT_TRUE(graph->nodes()[2].inplace);
  EXPECT_EQ(graph->nodes()[3].origin.module_path, "");
}

TEST(GraphTest, CopiesShareWhatTheyDescribe) {
  NetBuilder net;
  Graph graph = *std::move(net).Finish({net.Relu(net.Input({1, 3}))});
  const Graph copy = graph, moved = std::move(graph);
  EXPECT_EQ(copy.nodes().data(), moved.nodes().data());
  EXPECT_EQ(copy.nodes().size(), 1u);
  EXPECT_TRUE(Graph().nodes().empty());
}

TEST(GraphBuilderTest, TensorsOfAnotherGraphKeepTheirNumbers) {
  GraphBuilder first;
  const ValueRef x = first.AddInput("x", {{2, 4}, DType::float32}),
                 weight = first.AddParameter("w", {{4, 4}, DType::float32}),
                 mean = first.AddBuffer("mean", {{2}, DType::float32});
  first.SetKnownValues(mean, std::make_shared<const std::vector<double>>(std::vector<double>{1, 2}));
  first.AddParameterAlias("tied", weight);
  const auto product = first.Add(Op::matmul, {}, {x, weight});
  ASSERT_TRUE(product.ok()) << product.status();
  const Graph graph = std::move(first).Build({ValueRef::Node(*product)});
  GraphBuilder second;
  second.AddTensorsOf(graph, [&](ValueRef ref) {
    TensorType type = graph.TypeOf(ref);
    if (ref == x) type.shape[0] = 8;
    return type;
  });
  ASSERT_TRUE(second.Add(Op::matmul, {}, {x, weight}).ok());
  const Graph copy = std::move(second).Build({ValueRef::Node(0)});
  EXPECT_THAT(copy.nodes()[0].outputs[0].shape, ElementsAre(8, 4));
  EXPECT_THAT(NamesOf(copy.inputs()), ElementsAre("x"));
  EXPECT_THAT(NamesOf(copy.buffers()), ElementsAre("mean"));
  ASSERT_EQ(copy.parameter_aliases().size(), 1u);
  EXPECT_EQ(copy.parameter_aliases()[0].first, "tied");
  EXPECT_THAT(*copy.KnownValues(mean), ElementsAre(1, 2));
  EXPECT_THAT(graph.nodes()[0].outputs[0].shape, ElementsAre(2, 4));  // it has not changed
}

TEST(NetBuilderTest, WithoutPathsTensorsAreNumbered) {
  NetBuilder net;
  const ValueRef x = net.ConvBn(net.Input({1, 3, 8, 8}), {.out_channels = 4, .kernel_size = 3});
  const auto graph = std::move(net).Finish({net.Linear(net.Flatten(x), 10)});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(NamesOf(graph->inputs()), ElementsAre("x0"));
  EXPECT_THAT(NamesOf(graph->parameters()), ElementsAre("p1", "p4", "p5", "p6", "p7"));
  EXPECT_THAT(NamesOf(graph->buffers()), ElementsAre("b2", "b3"));
}

TEST(NetBuilderTest, OneNumberStandsForHeightAndWidth) {
  NetBuilder net;
  ValueRef x = net.Input({1, 8, 12, 12});
  x = net.Conv2d(x, {.out_channels = 8, .kernel_size = {1, 7}, .padding = {0, 3}, .groups = 8});
  x = net.MaxPool2d(x, {.kernel_size = 2, .stride = 2});
  EXPECT_THAT(net.ShapeOf(x), ElementsAre(1, 8, 6, 6));
  const auto graph = std::move(net).Finish({x});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(graph->parameters()[0].type.shape, ElementsAre(8, 1, 1, 7));
  EXPECT_THAT(graph->nodes()[1].attributes.Ints("kernel_size"), ElementsAre(2, 2));
}

TEST(NetBuilderTest, TheFirstErrorSticksAndNamesItsModule) {
  NetBuilder net(NetBuilderOptions{{}, "try another size"});
  const ValueRef x = net.Input({1, 3, 2, 2});
  const ValueRef wrong = net.Conv2d(x, {.out_channels = 4, .kernel_size = 5}, "stem.0");
  EXPECT_TRUE(wrong.is_none());
  EXPECT_FALSE(net.ok());
  EXPECT_EQ(net.Channels(wrong), 1);
  const ValueRef later = net.Linear(net.Flatten(wrong), 10, "head");
  const auto graph = std::move(net).Finish({later});
  ASSERT_FALSE(graph.ok());
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(graph.status());
  ASSERT_TRUE(diagnostic.has_value());
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kModelError);
  EXPECT_THAT(diagnostic->message, HasSubstr("stem.0: "));
  EXPECT_EQ(diagnostic->hint, "try another size");
}

TEST(NetBuilderTest, ChannelsMustDivideIntoGroups) {
  for (const int64_t groups : {0, 2}) {
    NetBuilder net;
    const ValueRef x = net.Input({1, 3, 8, 8});
    EXPECT_TRUE(net.Conv2d(x, {.out_channels = 4, .kernel_size = 1, .groups = groups}).is_none());
    EXPECT_THAT(std::string(net.status().message()), HasSubstr("groups"));
  }
}

TEST(NetBuilderTest, ContiguousIsTheTensorItselfWhereItsStridesAre) {
  NetBuilder net;
  const ValueRef x = net.Input({2, 3, 4});
  EXPECT_EQ(net.Contiguous(x), x);
  const ValueRef permuted = net.Call(Op::permute, {{"dims", std::vector<int64_t>{0, 2, 1}}}, {x});
  EXPECT_FALSE(net.Contiguous(permuted) == permuted);
}

// A residual block on whatever `net` it is asked for; counts how often.
struct Residual {
  ValueRef operator()(NetBuilder& net, const std::string& path, absl::Span<const ValueRef> inputs) const {
    ++*built;
    const int64_t channels = net.Channels(inputs[0]);
    ValueRef y = net.Conv2d(inputs[0], {.out_channels = channels, .kernel_size = 3, .padding = 1}, path + ".conv");
    y = net.ReluInPlace(net.BatchNorm2d(y, path + ".bn"), path + ".relu");
    return net.Add(y, inputs[0], path);
  }
  int* built;
};

absl::StatusOr<Graph> ThreeBlocks(absl::string_view text, int* built, NetBuilderOptions options = {}) {
  NetBuilder net(std::move(options));
  ValueRef x = net.Input({1, 8, 16, 16}, DType::float32, "image");
  for (const char* path : {"a", "b", "c"}) {
    x = text.empty() ? Residual{built}(net, path, {x}) : net.Block(text, path, {x}, Residual{built});
  }
  return std::move(net).Finish({x});
}

TEST(NetBuilderTest, ABlockIsBuiltOnceAndItsCopiesAreAsIfBuilt) {
  int built = 0;
  const auto copied = ThreeBlocks("residual", &built);
  ASSERT_TRUE(copied.ok()) << copied.status();
  EXPECT_EQ(built, 1);
  ASSERT_TRUE(ThreeBlocks("residual", &built).ok());
  EXPECT_EQ(built, 1);
  const auto whole = ThreeBlocks("", &built);
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(GraphToJson(*copied), GraphToJson(*whole));
}

TEST(NetBuilderTest, CopiesOfBlocksBringTheKeysOfTheirCalls) {
  int built = 0;
  const auto copied = ThreeBlocks("residual with keys", &built), whole = ThreeBlocks("", &built);
  ASSERT_TRUE(copied.ok() && whole.ok());
  const auto of_copies = DistinctCallsOf(*copied), computed = DistinctCallsOf(*whole);
  EXPECT_EQ(of_copies->of_call, computed->of_call);
  EXPECT_EQ(of_copies->first, computed->first);
  EXPECT_EQ(of_copies->size(), 4);  // of three equal blocks of four calls
  std::string bytes;
  for (size_t i = 0; i < computed->size(); ++i) {
    const CallKey key = KeyOfCall(*copied, computed->first[i], &bytes);
    EXPECT_EQ(of_copies->keys[i].hash, key.hash);
    EXPECT_EQ(of_copies->keys[i].bytes, key.bytes);
    EXPECT_EQ(computed->keys[i].hash, key.hash);
  }
}

// A weight in place of an activation makes another call of it.
TEST(NetBuilderTest, KeysOfABlockAreNotTakenForWeights) {
  const auto scaled = [](NetBuilder& net, const std::string& path, absl::Span<const ValueRef> inputs) {
    return net.Add(inputs[0], inputs[0], path);
  };
  NetBuilder net;
  const ValueRef x = net.Input({2, 3}, DType::float32, "x"), w = net.Parameter({2, 3}, "w");
  const ValueRef of_input = net.Block("doubled", "a", {x}, scaled), of_weight = net.Block("doubled", "b", {w}, scaled);
  const auto graph = std::move(net).Finish({of_input, of_weight});
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(DistinctCallsOf(*graph)->of_call, (std::vector<int32_t>{0, 1}));
}

TEST(NetBuilderTest, NamesOfBlocksMayBeLeftOut) {
  int built = 0;
  const auto named = ThreeBlocks("residual with names", &built);
  const auto unnamed = ThreeBlocks("residual with names", &built, {.names_blocks = false});
  ASSERT_TRUE(named.ok() && unnamed.ok());
  EXPECT_EQ(built, 2);  // the blocks within a block have names or none, too
  EXPECT_EQ(named->nodes()[0].origin.module_path, "a.conv");
  EXPECT_EQ(unnamed->nodes()[0].origin.module_path, "");
  EXPECT_EQ(named->parameters()[0].name, "a.conv.weight");
  EXPECT_EQ(unnamed->parameters()[0].name, "");
  EXPECT_EQ(ExactBytes(*named), ExactBytes(*unnamed));
  EXPECT_EQ(Fingerprint(*named), Fingerprint(*unnamed));
}

TEST(NetBuilderTest, BlocksOfOtherInputsAreOthers) {
  int built = 0;
  const auto build = Residual{&built};
  for (const int64_t width : {4, 8, 4}) {
    NetBuilder net;
    const ValueRef x = net.Input({1, 8, width, width}, DType::float32, "image");
    const auto graph = std::move(net).Finish({net.Block("of other inputs", "a", {x}, build)});
    ASSERT_TRUE(graph.ok());
    EXPECT_EQ(graph->nodes().back().outputs[0].shape, Shape({1, 8, width, width}));
  }
  EXPECT_EQ(built, 2);
  // Where strides matter, the block is built on the very input.
  NetBuilder net;
  const ValueRef x = net.Input({1, 8, 4, 4}, DType::float32, "image");
  const ValueRef turned = net.Call(Op::permute, {{"dims", std::vector<int64_t>{0, 1, 3, 2}}}, {x});
  net.Block("of other inputs", "a", {turned}, build);
  EXPECT_EQ(built, 3);
}

TEST(NetBuilderTest, ABlockThatCannotBeBuiltNamesItsModule) {
  int built = 0;
  NetBuilderOptions options;
  options.limits.max_nodes = 6;
  const auto graph = ThreeBlocks("residual at the limit", &built, options);
  EXPECT_THAT(std::string(graph.status().message()), HasSubstr("6 calls"));
  NetBuilder net;
  const ValueRef x = net.Input({1, 8, 16}, DType::float32, "image");
  net.Block("no image", "stage.1", {x}, [](NetBuilder& block, const std::string& path, absl::Span<const ValueRef> in) {
    return block.MaxPool2d(in[0], {.kernel_size = 99, .stride = 1}, path + ".pool");
  });
  EXPECT_THAT(std::string(net.status().message()), HasSubstr("stage.1.pool: "));
}

TEST(BlockCacheTest, IsBoundedAndComparesWholeKeys) {
  int built = 0;
  const auto block = std::make_shared<const Block>(Block{*ThreeBlocks("", &built), true});
  BlockCache cache(200'000);
  for (int i = 0; i < 1000; ++i) {
    cache.Insert(absl::StrCat("block ", i), block);
    ASSERT_LE(cache.bytes(), 200'000);
  }
  EXPECT_EQ(cache.Find("block 999"), block);
  EXPECT_EQ(cache.Find("block 0"), nullptr);
  EXPECT_EQ(cache.Find("block"), nullptr);
  BlockCache small(1000);
  small.Insert("block", block);
  EXPECT_EQ(small.Find("block"), nullptr);
}

}  // namespace
}  // namespace cobra::graph
