// Quantized operators. LibTorch without a quantized backend computes them in float, and so does the graph: unpack,
// compute, round, pack.
#include <limits>

#include "base/status_macros.h"
#include "frontend/onnx/registry.h"
#include "frontend/onnx/window.h"

namespace cobra::onnx {
namespace {

// Reshapes a scale or zero point so that it broadcasts with a tensor of `rank` dimensions. The parameter is one number
// or has one number per channel of `axis`.
absl::StatusOr<TensorPtr> AlongAxis(NodeContext& c, const TensorPtr& parameter, int rank, int64_t axis) {
  if (parameter->type.num_elements() == 1) return c.Reshape(parameter, {});
  if (parameter->type.rank() != 1) return parameter;
  COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, rank));
  graph::Shape shape(rank, 1);
  shape[d] = parameter->type.shape[0];
  return c.Reshape(parameter, shape);
}

// (x - zero_point) as float32.
absl::StatusOr<TensorPtr> Centred(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, int64_t axis) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, c.Cast(x, graph::DType::float32));
  if (zero_point == nullptr) return wide;
  COBRA_ASSIGN_OR_RETURN(TensorPtr zero, AlongAxis(c, zero_point, x->type.rank(), axis));
  COBRA_ASSIGN_OR_RETURN(zero, c.Cast(zero, graph::DType::float32));
  return c.Binary(graph::Op::sub, wide, zero);
}

// saturate(round(x) + zero_point).
absl::StatusOr<TensorPtr> Packed(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, graph::DType dtype,
                                 int64_t axis) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Unary(graph::Op::round, x));
  if (zero_point != nullptr) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr zero, AlongAxis(c, zero_point, x->type.rank(), axis));
    COBRA_ASSIGN_OR_RETURN(zero, c.Cast(zero, graph::DType::float32));
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::add, y, zero));
  }
  const double low = dtype == graph::DType::int8 ? -128 : 0, high = dtype == graph::DType::int8 ? 127 : 255;
  COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::clamp, {{"min", low}, {"max", high}}, {y}));
  return c.Cast(y, dtype);
}

absl::StatusOr<Outputs> QuantizeLinear(NodeContext& c) {
  const int64_t axis = c.Int("axis", 1);
  const graph::DType dtype = c.Has(2) ? c.Type(2).dtype : graph::DType::uint8;
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, c.Cast(c.In(0), graph::DType::float32));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, AlongAxis(c, c.In(1), c.Rank(0), axis));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scaled, c.Binary(graph::Op::div, x, scale));
  return c.Out(Packed(c, scaled, c.In(2), dtype, axis));
}

absl::StatusOr<Outputs> DequantizeLinear(NodeContext& c) {
  const int64_t axis = c.Int("axis", 1);
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Centred(c, c.In(0), c.In(2), axis));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, AlongAxis(c, c.In(1), c.Rank(0), axis));
  return c.Out(c.Binary(graph::Op::mul, x, scale));
}

absl::StatusOr<Outputs> DynamicQuantizeLinear(NodeContext& c) {
  const TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(TensorPtr high, c.Call(graph::Op::amax, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(high, c.Call(graph::Op::clamp, {{"min", 0.0}}, {high}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr low, c.Call(graph::Op::amin, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(low, c.Call(graph::Op::clamp, {{"max", 0.0}}, {low}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr range, c.Binary(graph::Op::sub, high, low));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, c.WithNumber(graph::Op::div, range, 255.0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr zero, c.Unary(graph::Op::neg, low));
  COBRA_ASSIGN_OR_RETURN(zero, c.Binary(graph::Op::div, zero, scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr zero_point, Packed(c, zero, nullptr, graph::DType::uint8, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scaled, c.Binary(graph::Op::div, x, scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Packed(c, scaled, zero_point, graph::DType::uint8, 0));
  return Outputs{y, scale, zero_point};
}

constexpr graph::Op kConv[] = {graph::Op::conv1d, graph::Op::conv2d, graph::Op::conv3d};

// A convolution of two unpacked tensors. The padding represents the zero point, which is 0 after unpacking.
absl::StatusOr<TensorPtr> Convolved(NodeContext& c, TensorPtr x, const TensorPtr& weight, const TensorPtr& bias) {
  const int n = x->type.rank() - 2;
  if (n < 1 || n > 3 || weight->type.rank() != n + 2)
    return Unsupported("a convolution of ", graph::ShapeText(x->type.shape), " with ",
                       graph::ShapeText(weight->type.shape));
  COBRA_ASSIGN_OR_RETURN(const Window window,
                         ReadWindow(c, n, graph::Shape(weight->type.shape.begin() + 2, weight->type.shape.end())));
  std::vector<int64_t> padding = window.begin;
  if (window.begin != window.end) {
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, window, 0));
    padding.assign(n, 0);
  }
  return c.Call(
      kConv[n - 1],
      {{"stride", window.stride}, {"padding", padding}, {"dilation", window.dilation}, {"groups", c.Int("group", 1)}},
      {x, weight, bias});
}

absl::StatusOr<Outputs> ConvInteger(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Centred(c, c.In(0), c.In(2), 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, Centred(c, c.In(1), c.In(3), 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Convolved(c, x, weight, nullptr));
  return c.Out(c.Cast(y, graph::DType::int32));
}

// Inputs: a, its scale and zero point, b, its scale and zero point, the output's scale and zero point.
absl::StatusOr<TensorPtr> Requantized(NodeContext& c, const TensorPtr& product, const TensorPtr& b_scale) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, c.Reshape(c.In(1), {}));
  COBRA_ASSIGN_OR_RETURN(scale, c.Binary(graph::Op::mul, b_scale, scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr out_scale, c.Reshape(c.In(6), {}));
  COBRA_ASSIGN_OR_RETURN(scale, c.Binary(graph::Op::div, scale, out_scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::mul, product, scale));
  return Packed(c, y, c.In(7), c.Type(7).dtype, 1);
}

absl::StatusOr<Outputs> QLinearConv(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Centred(c, c.In(0), c.In(2), 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, Centred(c, c.In(3), c.In(5), 0));
  TensorPtr bias;
  if (c.Has(8)) {
    COBRA_ASSIGN_OR_RETURN(bias,
                           c.Cast(c.In(8), graph::DType::float32));  // in units of the two scales, as the product is
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, Convolved(c, x, weight, bias));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight_scale, AlongAxis(c, c.In(4), product->type.rank(), 1));
  return c.Out(Requantized(c, product, weight_scale));
}

absl::StatusOr<Outputs> MatMulInteger(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Centred(c, c.In(0), c.In(2), -2));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, Centred(c, c.In(1), c.In(3), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::matmul, a, b));
  return c.Out(c.Cast(y, graph::DType::int32));
}

absl::StatusOr<Outputs> QLinearMatMul(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Centred(c, c.In(0), c.In(2), -2));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, Centred(c, c.In(3), c.In(5), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, c.Binary(graph::Op::matmul, a, b));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b_scale, AlongAxis(c, c.In(4), product->type.rank(), -1));
  return c.Out(Requantized(c, product, b_scale));
}

}  // namespace

void AddQuantizedOperators(Registry* registry) {
  registry->Add("QuantizeLinear", {QuantizeLinear, 2});
  registry->Add("DequantizeLinear", {DequantizeLinear, 2});
  registry->Add("DynamicQuantizeLinear", {DynamicQuantizeLinear});
  registry->Add("ConvInteger", {ConvInteger, 2, false, "computed in float"});
  registry->Add("QLinearConv", {QLinearConv, 8, false, "computed in float"});
  registry->Add("MatMulInteger", {MatMulInteger, 2, false, "computed in float"});
  registry->Add("QLinearMatMul", {QLinearMatMul, 8, false, "computed in float"});
}

}  // namespace cobra::onnx
