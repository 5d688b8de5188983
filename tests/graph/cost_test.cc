#include "graph/cost/cost.h"

#include <limits>

#include "graph/cost/distinct_inputs.h"
#include "graph_testing.h"

namespace cobra::graph {
namespace {

TEST(CostTest, ConvolutionCountsItsMultiplyAccumulates) {
  TestNet net;
  const ValueRef y = net.Conv("w", net.Input("1x16x8x8"), "32x4x3x3", 1, 4);
  const Graph graph = net.Build({y});
  const NodeCost cost = CostOf(graph, 0);
  EXPECT_EQ(cost.macs, 32 * 64 * 4 * 9);
  EXPECT_EQ(cost.flops, 2 * cost.macs);
  EXPECT_EQ(cost.weight_bytes, 4 * 32 * 4 * 9);
  EXPECT_EQ(cost.output_bytes, 4 * 32 * 64);
}

TEST(CostTest, MemoryBeyondAllMeasureIsTheLargestNumber) {
  TestNet net;
  const Graph graph =
      net.Build({net.Conv("w", net.Input("2x311111111111111x224x224"), "16x311111111111111x3x3", 1, 1)});
  EXPECT_EQ(PeakMemoryBytes(graph), std::numeric_limits<int64_t>::max());
}

TEST(CostTest, ViewsAreFreeUnlessTheyCopy) {
  TestNet net;
  const ValueRef x = net.Input("2x3x4");
  const ValueRef flat = net.Call(Op::flatten, {{"start_dim", int64_t{1}}}, {x});
  const ValueRef turned = net.Call(Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x});
  const ValueRef copied = net.Call(Op::reshape, {{"shape", std::vector<int64_t>{2, 12}}}, {turned});
  const std::vector<NodeCost> costs = NodeCosts(net.Build({flat, copied}));
  EXPECT_EQ(costs[0].output_bytes, 0);
  EXPECT_EQ(costs[1].output_bytes, 0);
  EXPECT_EQ(costs[2].output_bytes, 4 * 24);
}

NodeCost CostOfCall(Op op, Attributes attributes, const std::vector<absl::string_view>& inputs) {
  TestNet net;
  ValueRefs refs;
  refs.reserve(inputs.size());
  for (absl::string_view input : inputs) refs.push_back(input.empty() ? ValueRef::None() : net.Input(input));
  return CostOf(net.Build({net.Call(op, std::move(attributes), refs)}), 0);
}

NodeCost CostOfEinsum(const std::string& equation, const std::vector<absl::string_view>& inputs) {
  return CostOfCall(Op::einsum, {{"equation", equation}}, inputs);
}

// As FlopCounterMode of PyTorch 2.13 counts them; tests/frontend/python/libraries/macs_test.py
// draws many more.
TEST(CostTest, EinsumContractsTwoOperandsAtATime) {
  EXPECT_EQ(CostOfEinsum("bnd,hd->bhn", {"2x5x7", "3x7"}).macs, 2 * 5 * 7 * 3);
  EXPECT_EQ(CostOfEinsum("ab, bc, cd -> ad", {"2x3", "3x5", "5x7"}).macs, 2 * 3 * 5 + 2 * 5 * 7);
  EXPECT_EQ(CostOfEinsum("ijk,ai,bj,ck->abc", {"16x16x16", "64x16", "64x16", "64x16"}).macs,
            64 * 16 * 16 * 16 + 64 * 64 * 16 * 16 + 64 * 64 * 64 * 16);
  // A letter that a later operand has is kept: the first two are multiplied element by element.
  const NodeCost kept = CostOfEinsum("ab,ab,ab->a", {"2x3", "2x3", "2x3"});
  EXPECT_EQ(kept.macs, 2 * 3);
  EXPECT_EQ(kept.flops, 2 * 2 * 3 + 2 * 3);
}

TEST(CostTest, EinsumSumsLettersOfOneOperandBefore) {
  const NodeCost apart = CostOfEinsum("ab,cd->ad", {"20x30", "40x50"});
  EXPECT_EQ(apart.macs, 0);
  EXPECT_EQ(apart.flops, 20 * 30 + 40 * 50 + 20 * 50);
  EXPECT_EQ(CostOfEinsum("abx,bc->ac", {"2x3x9", "3x5"}).macs, 2 * 3 * 5);
  EXPECT_EQ(CostOfEinsum("ab,bc->ac", {"2x3", "1x5"}).macs, 0);  // of size one in the other
  EXPECT_EQ(CostOfEinsum("ij,ij->ij", {"4x6", "4x6"}).macs, 0);
  EXPECT_EQ(CostOfEinsum("ij->ji", {"4x6"}).flops, 0);
  EXPECT_EQ(CostOfEinsum("ij->j", {"4x6"}).flops, 4 * 6);
}

TEST(CostTest, EinsumEllipsesAndDiagonals) {
  EXPECT_EQ(CostOfEinsum("...ij,...jk", {"2x3x8x16", "2x3x16x24"}).macs, 2 * 3 * 8 * 16 * 24);
  EXPECT_EQ(CostOfEinsum("...ij,jk->...ik", {"2x3x8x16", "16x24"}).macs, 2 * 3 * 8 * 16 * 24);
  EXPECT_EQ(CostOfEinsum("a...b,b...c->a...c", {"5x1x3x7", "7x2x3x4"}).macs, 5 * 2 * 3 * 7 * 4);
  EXPECT_EQ(CostOfEinsum("...i,...i->i", {"2x3x5", "2x3x5"}).macs, 2 * 3 * 5);
  EXPECT_EQ(CostOfEinsum("iij,jk->ik", {"4x4x5", "5x6"}).macs, 4 * 5 * 6);
  EXPECT_EQ(CostOfEinsum("i,->i", {"4", "scalar"}).flops, 4);
}

// What lies between two contractions may be larger than any tensor of the graph.
TEST(CostTest, EinsumOfSizesBeyondAllMeasure) {
  const std::vector<absl::string_view> inputs(8, "1000000x2");
  const NodeCost cost = CostOfEinsum("ax,bx,cx,dx,ay,by,cy,dy->xy", inputs);
  EXPECT_EQ(cost.macs, std::numeric_limits<int64_t>::max());
  EXPECT_EQ(cost.flops, std::numeric_limits<int64_t>::max());
}

TEST(CostTest, ProductsOfSeveralForms) {
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(CostOfCall(Op::linalg_matmul, {}, {"1024x16x16", "1024x16x16"}).macs, 1024 * 16 * 16 * 16);
  EXPECT_EQ(CostOfCall(Op::inner, {}, {"2x3x5", "4x5"}).macs, 2 * 3 * 4 * 5);
  const NodeCost scaled = CostOfCall(Op::inner, {}, {"2x3", "scalar"});
  EXPECT_EQ(scaled.macs, 0);
  EXPECT_EQ(scaled.flops, 6);
  EXPECT_EQ(CostOfCall(Op::tensordot, {{"dims", int64_t{1}}}, {"5x7", "7x3"}).flops, 2 * 5 * 7 * 3);
  EXPECT_EQ(CostOfCall(Op::tensordot, {{"dims", int64_t{0}}}, {"2x3", "5x4"}).macs, 2 * 3 * 5 * 4);
  EXPECT_EQ(CostOfCall(Op::tensordot, {{"axes", Ints{2, -3}}}, {"8x20x30", "30x8x40"}).macs, 8 * 20 * 30 * 8 * 40);
  EXPECT_EQ(CostOfCall(Op::tensordot, {{"axes", Ints{0, 2, 1, 0}}}, {"2x3x5", "5x1x4"}).macs, 3 * 5 * 4);
  EXPECT_EQ(CostOfCall(Op::addbmm, {}, {"3x7", "2x3x5", "2x5x7"}).macs, 2 * 3 * 5 * 7);
  EXPECT_EQ(CostOfCall(Op::addmv, {}, {"3", "3x5", "5"}).macs, 3 * 5);
  EXPECT_EQ(CostOfCall(Op::cov, {}, {"3x7"}).macs, 3 * 3 * 7);
  EXPECT_EQ(CostOfCall(Op::corrcoef, {}, {"7"}).macs, 7);
  EXPECT_EQ(CostOfCall(Op::conv_tbc, {{"pad", int64_t{1}}}, {"10x2x5", "3x5x7", "7"}).macs, 10 * 2 * 7 * 3 * 5);
}

TEST(CostTest, ChainsAreMultipliedInTheCheapestOrder) {
  EXPECT_EQ(CostOfCall(Op::linalg_multi_dot, {}, {"10x100", "100x5", "5x50", "50x3"}).macs, 750 + 1500 + 3000);
  EXPECT_EQ(CostOfCall(Op::chain_matmul, {}, {"10x100", "100x5", "5x50"}).macs, 5000 + 2500);
  EXPECT_EQ(CostOfCall(Op::linalg_multi_dot, {}, {"100", "100x5", "5x9", "9"}).macs, 500 + 45 + 5);
  EXPECT_EQ(CostOfCall(Op::chain_matmul, {}, {"10x100"}).macs, 0);
  // So many that no order is searched for.
  EXPECT_EQ(CostOfCall(Op::chain_matmul, {}, std::vector<absl::string_view>(2000, "2x2")).macs, 1999 * 8);
}

TEST(CostTest, PowersAreSquared) {
  const auto products = [](int64_t n) { return CostOfCall(Op::matrix_power, {{"n", n}}, {"2x3x3"}).macs / (2 * 27); };
  for (const auto& [n, count] : std::vector<std::pair<int64_t, int64_t>>{
           {0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {7, 4}, {10, 4}, {15, 6}, {-1, 0}, {-3, 2}}) {
    EXPECT_EQ(products(n), count) << n;
  }
  EXPECT_EQ(products(std::numeric_limits<int64_t>::min()), 63);
  EXPECT_GT(CostOfCall(Op::matrix_power, {{"n", int64_t{-1}}}, {"3x3"}).flops, 0);  // an inverse
}

TEST(CostTest, StepsOfRecurrentLayersCountTheirWeights) {
  const NodeCost cost = CostOfCall(Op::lstm_cell, {}, {"3x10", "3x20", "3x20", "80x10", "80x20", "", ""});
  EXPECT_EQ(cost.macs, 3 * (80 * 10 + 80 * 20));
  EXPECT_EQ(cost.flops, 2 * cost.macs);
  EXPECT_EQ(CostOfCall(Op::gru_cell, {}, {"3x10", "3x20", "60x10", "60x20", "", ""}).macs, 3 * 60 * 30);
}

TEST(CostTest, AttentionCountsWhatIsBroadcast) {
  EXPECT_EQ(CostOfCall(Op::scaled_dot_product_attention, {}, {"1x4x16x32", "8x4x50x32", "8x4x50x32", ""}).macs,
            2 * 8 * 4 * 16 * 50 * 32);
  // The values alone have this batch: what query and keys give is computed once.
  EXPECT_EQ(CostOfCall(Op::scaled_dot_product_attention, {}, {"4x16x32", "4x50x32", "8x4x50x32", ""}).macs,
            9 * 4 * 16 * 50 * 32);
  EXPECT_EQ(
      CostOfCall(Op::scaled_dot_product_attention, {{"enable_gqa", true}}, {"2x8x16x32", "2x2x50x32", "2x4x50x12", ""})
          .macs,
      2 * 8 * 16 * 50 * (32 + 12));
}

TEST(CostTest, HeadsCountAddedKeysAndTheOutputProjection) {
  const auto macs = [](Attributes attributes, absl::string_view bias, absl::string_view out, absl::string_view fixed) {
    attributes.Append("embed_dim_to_check", int64_t{64});
    attributes.Append("num_heads", int64_t{4});
    attributes.Append("use_separate_proj_weight", true);
    return CostOfCall(Op::multi_head_attention_forward, std::move(attributes),
                      {"10x2x64", "30x2x48", "30x2x80", "", "", bias, bias, out, "", "", "", "64x64", "64x48", "64x80",
                       fixed, fixed})
        .macs;
  };
  const int64_t projections = 10 * 2 * 64 * 64 + 30 * 2 * (48 + 80) * 64;
  EXPECT_EQ(macs({{"add_zero_attn", true}}, "1x1x64", "64x64", ""),
            projections + 2 * 2 * 10 * 32 * 64 + 10 * 2 * 64 * 64);
  EXPECT_EQ(macs({}, "", "9x64", "8x40x16"), projections + 2 * 2 * 10 * 40 * 64 + 10 * 2 * 64 * 9);
}

TEST(CostTest, FourierTransformsCountFiveNLogN) {
  const auto flops = [](Op op, Attributes attributes, absl::string_view input) {
    TestNet net;
    return CostOf(net.Build({net.Call(op, std::move(attributes), {net.Input(input)})}), 0).flops;
  };
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(flops(Op::fft_fft, {{"dim", int64_t{-1}}}, "3x64:complex64"), 3 * 5 * 64 * 6);
  // A real transform is half of a complex one, from either side.
  EXPECT_EQ(flops(Op::fft_rfft, {{"dim", int64_t{-1}}}, "3x64"), 3 * 5 * 64 * 6 / 2);
  EXPECT_EQ(flops(Op::fft_irfft, {{"dim", int64_t{-1}}}, "3x33:complex64"), 3 * 5 * 64 * 6 / 2);
  EXPECT_EQ(flops(Op::fft_fft2, {{"dim", Ints{-2, -1}}}, "16x16:complex64"), 5 * 256 * 8);
  // 1 + 1024 / 128 frames of 512
  EXPECT_EQ(flops(Op::stft, {{"n_fft", int64_t{512}}, {"hop_length", int64_t{128}}, {"return_complex", true}}, "1024"),
            9 * 5 * 512 * 9 / 2);
}

TEST(MemoryTest, ChainsReuseWhatIsDead) {
  TestNet net;
  ValueRef x = net.Input("1x1000");
  for (int i = 0; i < 10; ++i) x = net.Call(Op::sigmoid, {}, {x});
  // The input stays, and two activations meet at every call.
  EXPECT_EQ(PeakMemoryBytes(net.Build({x})), 3 * 4000);
}

TEST(MemoryTest, InPlaceCallsAndViewsNeedNothing) {
  TestNet net;
  const ValueRef x = net.Input("1x1000");
  const ValueRef y = net.Call(Op::sigmoid, {}, {x});
  const ValueRef z = net.Call(Op::relu, {}, {y}, /*inplace=*/true);
  const ValueRef v = net.Call(Op::view, {{"size", std::vector<int64_t>{10, 100}}}, {z});
  EXPECT_EQ(PeakMemoryBytes(net.Build({v})), 2 * 4000);
}

TEST(MemoryTest, AResidualKeepsItsBranchAlive) {
  TestNet net;
  const ValueRef x = net.Call(Op::sigmoid, {}, {net.Input("1x1000")});
  const ValueRef a = net.Call(Op::tanh, {}, {x});
  const ValueRef b = net.Call(Op::tanh, {}, {a});
  EXPECT_EQ(PeakMemoryBytes(net.Build({net.Call(Op::add, {}, {b, x})})), 4 * 4000);
}

TEST(DistinctInputsTest, AreTheFirstOfEachTensor) {
  TestNet net;
  const ValueRef x = net.Input("10x10"), w = net.Parameter("w", "10x10"), v = net.Parameter("v", "10x10");
  const ValueRef joined = net.Call(Op::cat, {{"dim", int64_t{0}}}, {x, w, x, v, w});
  const ValueRef product = net.Call(Op::linear, {}, {joined, w, ValueRef::None()});
  const Graph graph = net.Build({product});
  EXPECT_EQ(DistinctInputs(graph.nodes()[0]), (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(DistinctInputs(graph.nodes()[1]), (std::vector<size_t>{0, 1}));
}

// The numbers are what LibTorch's allocator reported for these layers.
TEST(MemoryTest, ConvolutionsNeedWhatTheirKernelCopies) {
  const auto peak = [](absl::string_view input, absl::string_view weight, int64_t padding, int64_t groups = 1) {
    TestNet net;
    const ValueRef y = net.Conv("w", net.Input(input), weight, padding, groups);
    const Graph graph = net.Build({y});
    return PeakMemoryBytes(graph) - TestNet::Type(input).num_bytes() - graph.parameters()[0].type.num_bytes();
  };
  EXPECT_EQ(peak("1x64x56x56", "64x64x1x1", 0), 802816);                // a matrix product
  EXPECT_EQ(peak("1x64x56x56", "64x64x3x3", 1), 2 * 802816 + 147456);   // blocked input and weight
  EXPECT_EQ(peak("1x64x56x56", "64x1x3x3", 1, 64), 2 * 802816 + 2304);  // depthwise
  EXPECT_EQ(peak("1x3x224x224", "64x3x7x7", 3), 2 * TestNet::Type("1x64x224x224").num_bytes());
  EXPECT_EQ(peak("1x8x10x10", "8x8x3x3", 1), 3200 + 9 * 3200);  // small: columns of patches
  // Channels in blocks of 16, as measured: 120 as 128, 40 as 48.
  EXPECT_EQ(peak("1x40x32x32", "120x40x5x5", 2), 491520 + (196608 + 614400 + 524288 - 491520));
  EXPECT_EQ(peak("1x120x32x32", "120x1x3x3", 1, 120), 491520 + (524288 + 4608 + 524288 - 491520));
}

}  // namespace
}  // namespace cobra::graph
