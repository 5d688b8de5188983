// Activations.
#include <cmath>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

template <graph::Op kOp>
absl::StatusOr<Outputs> Plain(NodeContext& c) {
  return c.Out(c.Unary(kOp, c.In(0)));
}

absl::StatusOr<Outputs> LeakyRelu(NodeContext& c) {
  return c.Out(c.Call(graph::Op::leaky_relu, {{"negative_slope", Shortest(c.Float("alpha", 0.01))}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Elu(NodeContext& c) {
  return c.Out(c.Call(graph::Op::elu, {{"alpha", Shortest(c.Float("alpha", 1))}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Celu(NodeContext& c) {
  return c.Out(c.Call(graph::Op::celu, {{"alpha", Shortest(c.Float("alpha", 1))}}, {c.In(0)}));
}

absl::StatusOr<Outputs> Selu(NodeContext& c) {
  const double alpha = c.Float("alpha", 1.67326319217681884765625), gamma = c.Float("gamma", 1.05070102214813232421875);
  if (std::abs(alpha - 1.6732632) < 1e-6 && std::abs(gamma - 1.0507010) < 1e-6)
    return c.Out(c.Unary(graph::Op::selu, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::elu, {{"alpha", Shortest(alpha)}}, {c.In(0)}));
  return c.Out(c.WithNumber(graph::Op::mul, y, Shortest(gamma)));
}

absl::StatusOr<Outputs> HardSigmoid(NodeContext& c) {
  const double alpha = c.Float("alpha", 0.2), beta = c.Float("beta", 0.5);
  if (std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5) return c.Out(c.Unary(graph::Op::hardsigmoid, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.WithNumber(graph::Op::mul, c.In(0), Shortest(alpha)));
  COBRA_ASSIGN_OR_RETURN(y, c.WithNumber(graph::Op::add, y, Shortest(beta)));
  return c.Out(c.Call(graph::Op::clamp, {{"min", 0.0}, {"max", 1.0}}, {y}));
}

absl::StatusOr<Outputs> Softplus(NodeContext& c) {
  return c.Out(c.Call(graph::Op::softplus, {{"beta", 1.0}, {"threshold", 20.0}}, {c.In(0)}));
}

absl::StatusOr<Outputs> ThresholdedRelu(NodeContext& c) {
  return c.Out(c.Call(graph::Op::threshold, {{"threshold", Shortest(c.Float("alpha", 1))}, {"value", 0.0}}, {c.In(0)}));
}

// x > lambd: x - bias; x < -lambd: x + bias; else 0.
absl::StatusOr<Outputs> Shrink(NodeContext& c) {
  const double lambd = Shortest(c.Float("lambd", 0.5)), bias = Shortest(c.Float("bias", 0));
  if (bias == 0) return c.Out(c.Call(graph::Op::hardshrink, {{"lambd", lambd}}, {c.In(0)}));
  if (bias == lambd) return c.Out(c.Call(graph::Op::softshrink, {{"lambd", lambd}}, {c.In(0)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr kept, c.Call(graph::Op::hardshrink, {{"lambd", lambd}}, {c.In(0)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr sign, c.Unary(graph::Op::sign, kept));
  COBRA_ASSIGN_OR_RETURN(TensorPtr shift, c.WithNumber(graph::Op::mul, sign, bias));
  return c.Out(c.Binary(graph::Op::sub, kept, shift));
}

absl::StatusOr<Outputs> Gelu(NodeContext& c) {
  const std::string approximate = c.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh") return Invalid("approximate is ", approximate);
  return c.Out(c.Call(graph::Op::gelu, {{"approximate", approximate}}, {c.In(0)}));
}

// x * sigmoid(alpha x)
absl::StatusOr<Outputs> Swish(NodeContext& c) {
  const double alpha = Shortest(c.Float("alpha", 1));
  if (alpha == 1) return c.Out(c.Unary(graph::Op::silu, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr gate, c.WithNumber(graph::Op::mul, c.In(0), alpha));
  COBRA_ASSIGN_OR_RETURN(gate, c.Unary(graph::Op::sigmoid, gate));
  return c.Out(c.Binary(graph::Op::mul, c.In(0), gate));
}

// PyTorch's prelu takes one slope or one slope per channel; ONNX broadcasts the slope.
absl::StatusOr<Outputs> PRelu(NodeContext& c) {
  const TensorPtr x = c.In(0);
  TensorPtr slope = c.In(1);
  const int64_t channels = c.Rank(0) > 1 ? c.ShapeOf(0)[1] : 1;
  const int at = slope->type.rank() - (c.Rank(0) - 1);  // the channel dimension in the slope's shape
  bool by_channel = slope->type.num_elements() == 1 ||
                    (slope->type.num_elements() == channels && at >= 0 && slope->type.shape[at] == channels);
  if (c.opset() < 7 && slope->type.num_elements() == channels) by_channel = true;
  if (by_channel) {
    COBRA_ASSIGN_OR_RETURN(slope, c.Reshape(slope, {slope->type.num_elements()}));
    return c.Out(c.Binary(graph::Op::prelu, x, slope));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr positive, c.Unary(graph::Op::relu, x));
  COBRA_ASSIGN_OR_RETURN(TensorPtr negative, c.Binary(graph::Op::sub, x, positive));
  COBRA_ASSIGN_OR_RETURN(negative, c.Binary(graph::Op::mul, negative, slope));
  return c.Out(c.Binary(graph::Op::add, positive, negative));
}

}  // namespace

void AddActivationOperators(Registry* registry) {
  registry->Add("Relu", {Plain<graph::Op::relu>});
  registry->Add("Sigmoid", {Plain<graph::Op::sigmoid>});
  registry->Add("Tanh", {Plain<graph::Op::tanh>});
  registry->Add("HardSwish", {Plain<graph::Op::hardswish>});
  registry->Add("Softsign", {Plain<graph::Op::softsign>});
  registry->Add("LeakyRelu", {LeakyRelu});
  registry->Add("Elu", {Elu});
  registry->Add("Celu", {Celu});
  registry->Add("Selu", {Selu});
  registry->Add("HardSigmoid", {HardSigmoid});
  registry->Add("Softplus", {Softplus});
  registry->Add("ThresholdedRelu", {ThresholdedRelu});
  registry->Add("Shrink", {Shrink});
  registry->Add("PRelu", {PRelu, 2});
  registry->Add("Gelu", {Gelu});
  registry->Add("Mish", {Plain<graph::Op::mish>});
  registry->Add("Swish", {Swish});
}

}  // namespace cobra::onnx
