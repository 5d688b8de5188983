#include "graph/form/fingerprint.h"

#include "graph_testing.h"

namespace cobra::graph {
namespace {

struct Variant {
  bool swap_branches = false;
  bool swap_operands = false;
  bool share_weight = false;
  int64_t second_padding = 1;
  std::string prefix = "a";
  bool dropout = false;
};

// Two convolution branches over one input, added.
Hash128 BranchesFingerprint(const Variant& v) {
  TestNet net;
  const ValueRef x = net.Input("1x8x6x6");
  ValueRef a, b;
  const auto first = [&] { a = net.Conv(v.prefix + ".w1", x, "8x8x3x3", 1); };
  if (!v.swap_branches) first();
  b = net.Call(Op::tanh, {}, {net.Conv(v.prefix + ".w2", x, "8x8x3x3", v.second_padding)});
  if (v.swap_branches) first();
  if (v.share_weight) {
    TestNet shared;
    const ValueRef sx = shared.Input("1x8x6x6");
    const ValueRef w = shared.Parameter("w", "8x8x3x3");
    const Attributes conv{{"stride", std::vector<int64_t>{1, 1}},
                          {"padding", std::vector<int64_t>{1, 1}},
                          {"dilation", std::vector<int64_t>{1, 1}},
                          {"groups", int64_t{1}}};
    const ValueRef sa = shared.Call(Op::conv2d, conv, {sx, w});
    const ValueRef sb = shared.Call(Op::tanh, {}, {shared.Call(Op::conv2d, conv, {sx, w})});
    return Fingerprint(shared.Build({shared.Call(Op::add, {}, {sa, sb})}));
  }
  if (v.second_padding != 1) return Fingerprint(net.Build({a, b}));
  if (v.dropout) net.Call(Op::dropout, {{"p", 0.5}}, {b});
  return Fingerprint(net.Build({v.swap_operands ? net.Call(Op::add, {}, {b, a}) : net.Call(Op::add, {}, {a, b})}));
}

TEST(FingerprintTest, IsomorphicNetworksCollide) {
  const Hash128 plain = BranchesFingerprint({});
  EXPECT_EQ(plain, BranchesFingerprint({.swap_branches = true}));
  EXPECT_EQ(plain, BranchesFingerprint({.swap_operands = true}));
  EXPECT_EQ(plain, BranchesFingerprint({.prefix = "b"}));
  EXPECT_EQ(plain, BranchesFingerprint({.dropout = true}));
}

// An LSTM that drops between its layers in training, and one that does not.
TEST(FingerprintTest, WhatMattersInTrainingOnlyDoesNotDiffer) {
  const auto lstm = [](double dropout) {
    TestNet net;
    const ValueRef state = net.Input("1x2x4");
    return Fingerprint(net.Build(
        {net.Call(Op::lstm,
                  {{"has_biases", false},
                   {"num_layers", int64_t{1}},
                   {"dropout", dropout},
                   {"bidirectional", false},
                   {"batch_first", false}},
                  {net.Input("5x2x3"), state, state, net.Parameter("ih", "16x3"), net.Parameter("hh", "16x4")})}));
  };
  EXPECT_EQ(lstm(0.3), lstm(0));
}

TEST(FingerprintTest, WhatRunsDifferentlyDiffers) {
  const Hash128 plain = BranchesFingerprint({});
  EXPECT_NE(plain, BranchesFingerprint({.share_weight = true}));
  EXPECT_NE(plain, BranchesFingerprint({.second_padding = 0}));
}

// x -> f -> g against x -> g -> f, and a diamond against two chains of the same calls.
TEST(FingerprintTest, DataFlowMatters) {
  const auto chain = [](Op first, Op second) {
    TestNet net;
    return Fingerprint(net.Build({net.Call(second, {}, {net.Call(first, {}, {net.Input("4x4")})})}));
  };
  EXPECT_NE(chain(Op::relu, Op::tanh), chain(Op::tanh, Op::relu));
  const auto joined = [](bool diamond) {
    TestNet net;
    const ValueRef x = net.Input("4x4");
    const ValueRef a = net.Call(Op::relu, {}, {x});
    const ValueRef b = net.Call(Op::relu, {}, {x});
    const ValueRef c = net.Call(Op::tanh, {}, {a});
    const ValueRef d = net.Call(Op::exp, {}, {diamond ? a : b});
    return Fingerprint(net.Build({net.Call(Op::sub, {}, {c, d}), a, b}));
  };
  EXPECT_NE(joined(true), joined(false));
}

TEST(FingerprintTest, SubtractionIsNotCommutative) {
  const auto difference = [](bool swapped) {
    TestNet net;
    const ValueRef x = net.Input("4x4");
    const ValueRef a = net.Call(Op::relu, {}, {x});
    const ValueRef b = net.Call(Op::tanh, {}, {x});
    return Fingerprint(net.Build({swapped ? net.Call(Op::sub, {}, {b, a}) : net.Call(Op::sub, {}, {a, b})}));
  };
  EXPECT_NE(difference(false), difference(true));
}

}  // namespace
}  // namespace cobra::graph
