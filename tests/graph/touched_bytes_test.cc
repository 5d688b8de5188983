#include "graph/cost/touched_bytes.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/cost/cost.h"
#include "graph/shape/index_bounds.h"
#include "graph_testing.h"

namespace cobra::graph {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Op op;
  Attributes attributes;
  std::vector<const char*> inputs;  // types; "" is absent
  Ints read;                        // bytes, of each
  int64_t written;
  bool inplace = false;
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    SCOPED_TRACE(OpName(c.op));
    TestNet net;
    ValueRefs inputs;
    for (const std::string type : c.inputs) inputs.push_back(type.empty() ? ValueRef::None() : net.Input(type));
    const ValueRef result = net.Call(c.op, c.attributes, std::move(inputs), c.inplace);
    ASSERT_FALSE(result.is_none());
    const Graph graph = net.Build({result});
    const Node& call = graph.nodes()[0];
    int64_t all = 0;
    for (size_t i = 0; i < c.read.size(); ++i) {
      EXPECT_EQ(BytesRead(graph, call, i), c.read[i]) << "argument " << i;
      all += c.read[i];
    }
    EXPECT_EQ(BytesWritten(graph, call, 0), c.written);
    const NodeCost cost = CostOf(graph, 0);
    EXPECT_EQ(cost.input_bytes, all);
  }
}

TEST(TouchedBytesTest, ALookupReadsItsRows) {
  const Attributes none;
  Check({
      {Op::embedding, none, {"1x1:int64", "128256x4096"}, {8, 4 * 4096}, 4 * 4096},
      {Op::embedding, none, {"2x16:int64", "1000x64"}, {256, 4 * 32 * 64}, 4 * 32 * 64},
      // Each row once: what is read again is in a cache.
      {Op::embedding, none, {"1x2048:int64", "100x64"}, {8 * 2048, 4 * 100 * 64}, 4 * 2048 * 64},
      {Op::embedding_bag,
       {{"mode", std::string("sum")}},
       {"4x8:int64", "1000x64", "", ""},
       {256, 4 * 32 * 64, 0, 0},
       4 * 4 * 64},
      {Op::index_select, {{"dim", int64_t{0}}}, {"1000x64", "3:int64"}, {4 * 3 * 64, 24}, 4 * 3 * 64},
      {Op::index_select, {{"dim", int64_t{1}}}, {"10x64", "640:int64"}, {4 * 10 * 64, 8 * 640}, 4 * 10 * 640},
      {Op::gather, {{"dim", int64_t{1}}}, {"8x1000", "8x2:int64"}, {64, 128}, 64},
      {Op::take_along_dim, {{"dim", int64_t{1}}}, {"8x1000", "8x2:int64"}, {64, 128}, 64},
      {Op::take, none, {"100x100", "5:int64"}, {20, 40}, 20},
      {Op::getitem, {{"index", std::string("T0")}}, {"1000x64", "3:int64"}, {4 * 3 * 64, 24}, 4 * 3 * 64},
      {Op::getitem, {{"index", std::string("[1, 2]")}}, {"1000x64"}, {4 * 2 * 64}, 4 * 2 * 64},
      {Op::narrow_copy, {{"dim", int64_t{0}}, {"start", int64_t{0}}, {"length", int64_t{2}}}, {"1000x64"}, {512}, 512},
      {Op::one_hot, {{"num_classes", int64_t{100}}}, {"5:int64"}, {40}, 8 * 500},
  });
}

TEST(TouchedBytesTest, InPlaceOnlyAPartIsWritten) {
  const Attributes rows = {{"dim", int64_t{0}}};
  Check({
      {Op::index_copy, rows, {"1000x64", "2:int64", "2x64"}, {0, 16, 512}, 512, true},
      {Op::index_copy, rows, {"1000x64", "2:int64", "2x64"}, {256000, 16, 512}, 256000},
      {Op::index_add, rows, {"1000x64", "2:int64", "2x64"}, {512, 16, 512}, 512, true},
      {Op::index_add, rows, {"1000x64", "2:int64", "2x64"}, {256000, 16, 512}, 256000},
      {Op::index_fill, {{"dim", int64_t{0}}, {"value", 1.0}}, {"1000x64", "2:int64", ""}, {0, 16, 0}, 512, true},
      {Op::setitem, {{"index", std::string(":, 7")}}, {"8x1000x64", "8x64"}, {0, 2048}, 2048, true},
      {Op::setitem, {{"index", std::string("T0")}, {"value", 0.0}}, {"1000x64", "2:int64"}, {0, 16}, 512, true},
      {Op::setitem, {{"index", std::string("T0")}, {"value", 0.0}}, {"10x64", "10:bool"}, {0, 10}, 2560, true},
      {Op::index_put, {{"accumulate", false}}, {"1000x64", "2x64", "2:int64"}, {0, 512, 16}, 512, true},
      {Op::index_put, {{"accumulate", true}}, {"1000x64", "2x64", "2:int64"}, {512, 512, 16}, 512, true},
      {Op::put, {{"accumulate", false}}, {"1000x64", "3:int64", "3"}, {0, 24, 12}, 12, true},
      {Op::scatter, rows, {"1000x64", "2x3:int64", "5x5"}, {0, 48, 24}, 24, true},
      {Op::scatter, rows, {"1000x64", "2x3:int64", "5x5"}, {256000, 48, 24}, 256000},
      {Op::scatter_add, rows, {"1000x64", "2x3:int64", "2x3"}, {24, 48, 24}, 24, true},
      {Op::fill_diagonal, {{"fill_value", 1.0}}, {"1000x64"}, {0}, 256, true},
  });
}

// Out of place there is a copy of the rest.
TEST(TouchedBytesTest, ScattersOfSlicesCopyEverything) {
  Check({
      {Op::select_scatter, {{"dim", int64_t{0}}, {"index", int64_t{1}}}, {"100x64", "64"}, {25600, 256}, 25600},
      {Op::slice_scatter,
       {{"dim", int64_t{0}}, {"start", int64_t{0}}, {"end", int64_t{2}}},
       {"100x64", "2x64"},
       {25600, 512},
       25600},
      {Op::diagonal_scatter, {}, {"64x64", "64"}, {16384, 256}, 16384},
      {Op::masked_scatter, {}, {"10x64", "10x64:bool", "100x64"}, {2560, 640, 2560}, 2560},
  });
}

TEST(TouchedBytesTest, OverwrittenAndTypeGivingArgumentsAreNotRead) {
  Check({
      {Op::copy, {}, {"8x64", "8x64"}, {0, 2048}, 2048, true},
      {Op::zero, {}, {"8x64"}, {0}, 2048, true},
      {Op::uniform, {{"from", 0.0}, {"to", 1.0}}, {"8x64"}, {0}, 2048, true},
      {Op::type_as, {}, {"8x64", "1000x64:float64"}, {2048, 0}, 4096},
      {Op::relu, {}, {"8x64"}, {2048}, 2048, true},
  });
}

TEST(TouchedBytesTest, SamplesReadWhatLiesAround) {
  const std::string bilinear = "bilinear", nearest = "nearest";
  const auto regions = [](int64_t points) {
    return Attributes{{"pooled_height", int64_t{2}}, {"pooled_width", int64_t{2}}, {"sampling_ratio", points}};
  };
  Check({
      {Op::grid_sample, {{"mode", bilinear}}, {"1x3x100x100", "1x4x4x2"}, {4 * 4 * 48, 128}, 4 * 48},
      {Op::grid_sample, {{"mode", nearest}}, {"1x3x100x100", "1x4x4x2"}, {4 * 48, 128}, 4 * 48},
      {Op::grid_sample, {{"mode", bilinear}}, {"1x3x4x4", "1x100x100x2"}, {4 * 48, 80000}, 120000},
      {Op::grid_sampler, {{"interpolation_mode", int64_t{2}}}, {"1x3x100x100", "1x4x4x2"}, {4 * 16 * 48, 128}, 4 * 48},
      {Op::roi_align, regions(2), {"1x3x100x100", "2x5"}, {4 * 16 * 24, 40}, 4 * 24},
      {Op::roi_align, regions(0), {"1x3x100x100", "2x5"}, {120000, 40}, 4 * 24},
      {Op::interpolate, {{"size", Ints{10, 10}}, {"mode", nearest}}, {"1x3x100x100"}, {1200}, 1200},
      {Op::interpolate, {{"size", Ints{10, 10}}, {"mode", std::string("area")}}, {"1x3x100x100"}, {120000}, 1200},
      {Op::max_pool2d, {{"kernel_size", int64_t{1}}, {"stride", int64_t{2}}}, {"1x3x10x10"}, {300}, 300},
      {Op::max_pool2d, {{"kernel_size", int64_t{3}}, {"stride", int64_t{2}}}, {"1x3x11x11"}, {1452}, 300},
  });
}

TEST(TouchedBytesTest, SearchesAndLossesReadWhatTheyAsk) {
  Check({
      {Op::searchsorted, {}, {"1024", "4", ""}, {4 * 4 * 11, 16, 0}, 32},
      {Op::bucketize, {}, {"4", "1024"}, {16, 4 * 4 * 11}, 32},
      {Op::nll_loss, {{"reduction", std::string("mean")}}, {"8x1000", "8:int64", "1000"}, {32, 64, 32}, 4},
      {Op::cross_entropy, {{"reduction", std::string("mean")}}, {"8x1000", "8:int64", "1000"}, {32000, 64, 32}, 4},
      {Op::cross_entropy, {{"reduction", std::string("mean")}}, {"8x1000", "8x1000", "1000"}, {32000, 32000, 4000}, 4},
      {Op::trace, {}, {"64x64"}, {256}, 4},
      {Op::diag, {}, {"64x64"}, {256}, 256},
      {Op::diag, {}, {"64"}, {256}, 16384},
      // Two rows ask for two of 128 matrices.
      {Op::_grouped_mm, {}, {"2x64", "128x64x32", "128:int32", ""}, {512, 2 * 4 * 64 * 32, 512, 0}, 256},
  });
}

// So that what is measured finds the rows of a large table where a program does, not in a cache.
TEST(IndexBoundsTest, AnIndexMayAskForEveryRow) {
  const auto bounds = [](absl::string_view index, std::vector<const char*> tensors) {
    TestNet net;
    ValueRefs inputs;
    for (const char* type : tensors) inputs.push_back(net.Input(type));
    const Graph graph = net.Build({net.Call(Op::getitem, {{"index", std::string(index)}}, std::move(inputs))});
    Ints limits;
    for (const auto& [tensor, limit] : IndexBounds(graph)) limits.push_back(limit);
    return limits;
  };
  EXPECT_EQ(bounds("T0", {"1000x64", "3:int64"}), (Ints{1000}));
  EXPECT_EQ(bounds(":, T0", {"8x1000x64", "3:int64"}), (Ints{1000}));
  EXPECT_EQ(bounds("T0, T1", {"8x1000x64", "3:int64", "3:int64"}), (Ints{8, 1000}));
  EXPECT_EQ(bounds("..., T0", {"8x1000x64", "3:int64"}), (Ints{64}));
  EXPECT_EQ(bounds("None, 0, T0", {"8x1000x64", "3:int64"}), (Ints{1000}));
}

TEST(TouchedBytesTest, AWeightThatIsLookedUpCountsByItsRows) {
  TestNet net;
  const ValueRef row = net.Call(Op::embedding, {}, {net.Input("1x1:int64"), net.Parameter("w", "32000x64")});
  const NodeCost cost = CostOf(net.Build({row}), 0);
  EXPECT_EQ(cost.weight_bytes, 256);
  EXPECT_EQ(cost.input_bytes, 8);
  EXPECT_EQ(cost.output_bytes, 256);
}

}  // namespace
}  // namespace cobra::graph
