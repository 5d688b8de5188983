#include "graph/exact_bytes.h"

#include <string>
#include <vector>

#include "graph/form/fingerprint.h"
#include "graph_testing.h"

namespace cobra::graph {
namespace {

Graph Scaled(const AttributeValue& by, absl::string_view type = "4x4", Op op = Op::mul) {
  TestNet net;
  return net.Build({net.Call(op, {{"other", by}}, {net.Input(type)})});
}

TEST(ExactBytesTest, EveryPartOfACallCounts) {
  const std::string plain = ExactBytes(Scaled(2.0));
  EXPECT_EQ(plain, ExactBytes(Scaled(2.0)));
  EXPECT_NE(plain, ExactBytes(Scaled(3.0)));
  EXPECT_NE(plain, ExactBytes(Scaled(int64_t{2})));  // another type of result for integers
  EXPECT_NE(plain, ExactBytes(Scaled(2.0, "4x5")));
  EXPECT_NE(plain, ExactBytes(Scaled(2.0, "4x4:float64")));
  EXPECT_NE(plain, ExactBytes(Scaled(2.0, "4x4", Op::div)));
  EXPECT_NE(ExactBytes(Scaled(true)), ExactBytes(Scaled(int64_t{1})));
}

TEST(ExactBytesTest, CallsThatTheFingerprintLeavesOutCount) {
  const auto relu = [](bool dropout) {
    TestNet net;
    ValueRef x = net.Call(Op::relu, {}, {net.Input("4x4")});
    if (dropout) x = net.Call(Op::dropout, {{"p", 0.1}}, {x});
    return net.Build({x});
  };
  EXPECT_EQ(Fingerprint(relu(true)), Fingerprint(relu(false)));
  EXPECT_NE(ExactBytes(relu(true)), ExactBytes(relu(false)));
}

// Sums of floating-point numbers depend on the order of calls.
TEST(ExactBytesTest, TheOrderAndTheDataFlowCount) {
  const auto joined = [](bool swapped, bool diamond, bool inplace) {
    TestNet net;
    const ValueRef x = net.Input("4x4");
    const ValueRef a = net.Call(swapped ? Op::tanh : Op::relu, {}, {x}, inplace);
    const ValueRef b = net.Call(swapped ? Op::relu : Op::tanh, {}, {diamond ? x : a});
    return ExactBytes(net.Build({net.Call(Op::add, {}, {a, b})}));
  };
  const std::string plain = joined(false, true, false);
  EXPECT_NE(plain, joined(true, true, false));
  EXPECT_NE(plain, joined(false, false, false));
  EXPECT_NE(plain, joined(false, true, true));
}

TEST(ExactBytesTest, UnusedTensorsCountAndNamesDoNot) {
  const auto linear = [](absl::string_view name, bool unused) {
    TestNet net;
    const ValueRef w = net.Parameter(name, "3x4");
    if (unused) net.Parameter("unused", "3x4");
    return ExactBytes(net.Build({net.Call(Op::linear, {}, {net.Input("2x4"), w})}));
  };
  EXPECT_EQ(linear("w", false), linear("layer1.0.weight", false));
  EXPECT_NE(linear("w", false), linear("w", true));  // its type may not suit the target
}

// A text or a list cannot pass for the beginning of what follows it.
TEST(ExactBytesTest, LengthsAreWritten) {
  const auto pad = [](std::vector<int64_t> by, double value) {
    TestNet net;
    return ExactBytes(net.Build({net.Call(Op::pad, {{"pad", std::move(by)}, {"value", value}}, {net.Input("4x4x4")})}));
  };
  EXPECT_NE(pad({1, 1}, 0), pad({1, 1, 0, 0}, 0));
}

}  // namespace
}  // namespace cobra::graph
