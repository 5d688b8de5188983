// Activations.
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// log(1 + e^x), of which PyTorch leaves x itself beyond a threshold.
std::string SoftplusOf(CallWriter& c, const std::string& x) { return c.Node("Softplus", {x}); }

}  // namespace

absl::StatusOr<Names> WriteRelu(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  if (graph::IsFloatingPoint(dtype)) return Names{c.Node("Relu", {c.In(0)})};
  return Names{c.Arithmetic("Max", {c.In(0), c.Number(dtype, 0)}, dtype)};
}

// hardtanh, relu6
absl::StatusOr<Names> WriteHardtanh(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const bool six = c.op() == graph::Op::relu6;
  const double low = six ? 0 : c.Double("min_val", -1), high = six ? 6 : c.Double("max_val", 1);
  return Names{c.Arithmetic("Clip", {c.In(0), c.Number(dtype, low), c.Number(dtype, high)}, dtype)};
}

absl::StatusOr<Names> WriteLeakyRelu(CallWriter& c) {
  if (c.op() == graph::Op::rrelu && c.Bool("training")) return Refused("random slopes");
  const double slope = c.op() == graph::Op::rrelu ? (c.Double("lower", 1.0 / 8) + c.Double("upper", 1.0 / 3)) / 2
                                                  : c.Double("negative_slope", 0.01);
  return Names{c.Node("LeakyRelu", {c.In(0)}, {{"alpha", slope}})};
}

// One slope, or one for each channel (dimension 1).
absl::StatusOr<Names> WritePrelu(CallWriter& c) {
  const int64_t slopes = c.Type(1).num_elements();
  Shape shape(slopes == 1 || c.Rank(0) < 2 ? 1 : static_cast<size_t>(c.Rank(0)) - 1, 1);
  shape[0] = slopes;
  const std::string slope = c.ShapeOf(1) == shape ? c.In(1) : c.Reshaped(c.In(1), shape);
  if (c.Rank(0) > 0) return Names{c.Node("PRelu", {c.In(0), slope})};
  const std::string y = c.Node("PRelu", {c.Reshaped(c.In(0), {1}), slope});
  return Names{c.Reshaped(y, {})};
}

absl::StatusOr<Names> WriteElu(CallWriter& c) {
  return Names{c.Node(c.op() == graph::Op::celu ? "Celu" : "Elu", {c.In(0)}, {{"alpha", c.Double("alpha", 1)}})};
}

// Opset 17 has no Gelu: x * (erf(x / sqrt(2)) + 1) * 0.5, or the approximation by tanh.
absl::StatusOr<Names> WriteGelu(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string x = c.In(0);
  const auto number = [&](double value) { return c.Number(dtype, value); };
  if (c.String("approximate", "none") == "tanh") {
    const std::string cube = c.Node("Mul", {c.Node("Mul", {x, x}), x});
    const std::string inner = c.Node("Add", {x, c.Node("Mul", {cube, number(0.044715)})});
    const std::string tanh = c.Node("Tanh", {c.Node("Mul", {inner, number(std::sqrt(2 / M_PI))})});
    const std::string y = c.Node("Mul", {c.Node("Add", {tanh, number(1)}), x});
    return Names{c.Node("Mul", {y, number(0.5)})};
  }
  const std::string erf = c.Node("Erf", {c.Node("Div", {x, number(std::sqrt(2.0))})});
  const std::string y = c.Node("Mul", {x, c.Node("Add", {erf, number(1)})});
  return Names{c.Node("Mul", {y, number(0.5)})};
}

absl::StatusOr<Names> WriteSilu(CallWriter& c) { return Names{c.Node("Mul", {c.In(0), c.Node("Sigmoid", {c.In(0)})})}; }

absl::StatusOr<Names> WriteMish(CallWriter& c) {
  return Names{c.Node("Mul", {c.In(0), c.Node("Tanh", {SoftplusOf(c, c.In(0))})})};
}

absl::StatusOr<Names> WriteLogSigmoid(CallWriter& c) {
  return Names{c.Node("Neg", {SoftplusOf(c, c.Node("Neg", {c.In(0)}))})};
}

absl::StatusOr<Names> WriteHardsigmoid(CallWriter& c) {
  return Names{c.Node("HardSigmoid", {c.In(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})};
}

absl::StatusOr<Names> WriteHardswish(CallWriter& c) { return Names{c.Node("HardSwish", {c.In(0)})}; }

absl::StatusOr<Names> WriteShrink(CallWriter& c) {
  const double lambd = c.Double("lambd", 0.5);
  const double bias = c.op() == graph::Op::softshrink ? lambd : 0;
  return Names{c.Node("Shrink", {c.In(0)}, {{"bias", bias}, {"lambd", lambd}})};
}

absl::StatusOr<Names> WriteTanhshrink(CallWriter& c) {
  const std::string x = c.Input(0, c.Out().dtype);
  return Names{c.Node("Sub", {x, c.Node("Tanh", {x})})};
}

absl::StatusOr<Names> WriteSoftplus(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const double beta = c.Double("beta", 1), threshold = c.Double("threshold", 20);
  const std::string scaled = c.Scaled(c.In(0), beta, dtype);
  std::string y = SoftplusOf(c, scaled);
  if (beta != 1) y = c.Node("Div", {y, c.Number(dtype, beta)});
  if (threshold >= 20) return Names{y};  // beyond 20 the two are the same number
  return Names{c.Chosen(c.Node("Greater", {scaled, c.Number(dtype, threshold)}), c.In(0), y, dtype)};
}

absl::StatusOr<Names> WriteSoftsign(CallWriter& c) { return Names{c.Node("Softsign", {c.Input(0, c.Out().dtype)})}; }

absl::StatusOr<Names> WriteThreshold(CallWriter& c) {
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  const std::string x = c.Input(0, wide);
  const std::string above = c.Node("Greater", {x, c.Number(wide, c.Double("threshold"))});
  return Names{c.Cast(c.Node("Where", {above, x, c.Number(wide, c.Double("value"))}), wide, dtype)};
}

absl::StatusOr<Names> WriteGlu(CallWriter& c) {
  const int64_t axis = c.Dim("dim", -1, c.Rank(0));
  const int64_t half = c.Out().shape[static_cast<size_t>(axis)];
  const Names parts = c.Nodes("Split", {c.In(0), c.IntsOf({half, half})}, 2, {{"axis", axis}});
  return Names{c.Node("Mul", {parts[0], c.Node("Sigmoid", {parts[1]})})};
}

// At inference it is not a call at all (graph::IsAlias).
absl::StatusOr<Names> WriteDropout(CallWriter& c) {
  if (c.Double("p", 0.5) == 0) return Names{c.In(0)};
  return Refused("training draws random numbers");
}

}  // namespace cobra::exporting
