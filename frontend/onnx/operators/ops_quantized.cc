// Quantized operators.
#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "frontend/onnx/operators/quantized.h"
#include "frontend/onnx/operators/window.h"

namespace cobra::onnx {

absl::StatusOr<TensorPtr> AlongAxis(NodeContext& c, const TensorPtr& parameter, int rank, int64_t axis) {
  if (parameter->type.num_elements() == 1) return c.Reshape(parameter, {});
  if (parameter->type.rank() != 1) return parameter;
  COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, rank));
  graph::Shape shape(rank, 1);
  shape[d] = parameter->type.shape[0];
  return c.Reshape(parameter, shape);
}

absl::StatusOr<TensorPtr> Centred(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, int64_t axis) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, c.Cast(x, graph::DType::float32));
  if (zero_point == nullptr) return wide;
  COBRA_ASSIGN_OR_RETURN(TensorPtr zero, AlongAxis(c, zero_point, x->type.rank(), axis));
  COBRA_ASSIGN_OR_RETURN(zero, c.Cast(zero, graph::DType::float32));
  return c.Binary(graph::Op::sub, wide, zero);
}

absl::StatusOr<TensorPtr> Dequantized(NodeContext& c, const TensorPtr& x, const TensorPtr& scale,
                                      const TensorPtr& zero_point, int64_t axis) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, Centred(c, x, zero_point, axis));
  COBRA_ASSIGN_OR_RETURN(TensorPtr factor, AlongAxis(c, scale, x->type.rank(), axis));
  COBRA_ASSIGN_OR_RETURN(factor, c.Cast(factor, graph::DType::float32));
  return c.Binary(graph::Op::mul, wide, factor);
}

absl::StatusOr<TensorPtr> Packed(NodeContext& c, const TensorPtr& x, const TensorPtr& zero_point, int32_t onnx_type,
                                 int64_t axis) {
  COBRA_ASSIGN_OR_RETURN(const graph::DType dtype, DTypeOf(onnx_type));
  if (graph::IsFloatingPoint(dtype) || graph::DTypeBytes(dtype) > 4)
    return Invalid("a quantized type of ", graph::DTypeName(dtype));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Unary(graph::Op::round, x));
  if (zero_point != nullptr) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr zero, AlongAxis(c, zero_point, x->type.rank(), axis));
    COBRA_ASSIGN_OR_RETURN(zero, c.Cast(zero, graph::DType::float32));
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::add, y, zero));
  }
  const IntegerRange range = RangeOf(onnx_type);
  COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::clamp, {{"min", range.low}, {"max", range.high}}, {y}));
  COBRA_ASSIGN_OR_RETURN(y, c.Cast(y, dtype));
  if (OnnxTypeOf(*y) != onnx_type) y->onnx_type = onnx_type;
  return y;
}

absl::StatusOr<TensorPtr> Requantized(NodeContext& c, const TensorPtr& x, const TensorPtr& scale,
                                      const TensorPtr& zero_point, int32_t onnx_type) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr divisor, AlongAxis(c, scale, x->type.rank(), 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scaled, c.Binary(graph::Op::div, x, divisor));
  return Packed(c, scaled, zero_point, onnx_type, 1);
}

// Inputs of the node: a, its scale and zero point, b, its scale and zero point, the output's scale
// and zero point. The product is in units of the scales of a and b.
absl::StatusOr<TensorPtr> PackedProduct(NodeContext& c, const TensorPtr& product, const TensorPtr& b_scale) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, c.Reshape(c.In(1), {}));
  COBRA_ASSIGN_OR_RETURN(scale, c.Binary(graph::Op::mul, b_scale, scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr out_scale, c.Reshape(c.In(6), {}));
  COBRA_ASSIGN_OR_RETURN(scale, c.Binary(graph::Op::div, scale, out_scale));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::mul, product, scale));
  return Packed(c, y, c.In(7), OnnxTypeOf(*c.In(7)), 1);
}

absl::StatusOr<TensorPtr> QuantizedConvolution(NodeContext& c, const TensorPtr& x) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, Centred(c, x, c.In(2), 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, Centred(c, c.In(3), c.In(5), 0));
  TensorPtr bias;
  if (c.Has(8)) {
    // In units of the two scales, as the product is.
    COBRA_ASSIGN_OR_RETURN(bias, c.Cast(c.In(8), graph::DType::float32));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, Convolved(c, wide, weight, bias));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight_scale, AlongAxis(c, c.In(4), product->type.rank(), 1));
  return PackedProduct(c, product, weight_scale);
}

absl::StatusOr<DynamicallyQuantized> QuantizedDynamically(NodeContext& c, const TensorPtr& x) {
  DynamicallyQuantized q;
  COBRA_ASSIGN_OR_RETURN(TensorPtr high, c.Call(graph::Op::amax, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(high, c.Call(graph::Op::clamp, {{"min", 0.0}}, {high}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr low, c.Call(graph::Op::amin, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(low, c.Call(graph::Op::clamp, {{"max", 0.0}}, {low}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr range, c.Binary(graph::Op::sub, high, low));
  COBRA_ASSIGN_OR_RETURN(q.scale, c.WithNumber(graph::Op::div, range, 255.0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr zero, c.Unary(graph::Op::neg, low));
  COBRA_ASSIGN_OR_RETURN(zero, c.Binary(graph::Op::div, zero, q.scale));
  COBRA_ASSIGN_OR_RETURN(q.zero_point, Packed(c, zero, nullptr, ::onnx::TensorProto::UINT8, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scaled, c.Binary(graph::Op::div, x, q.scale));
  COBRA_ASSIGN_OR_RETURN(q.y, Packed(c, scaled, q.zero_point, ::onnx::TensorProto::UINT8, 0));
  return q;
}

namespace {

// A scale or a zero point that has one number for each block of `block_size` elements of `axis`:
// one for each element.
absl::StatusOr<TensorPtr> OfBlocks(NodeContext& c, const TensorPtr& parameter, int axis, int64_t block_size) {
  const graph::Shape& in = c.ShapeOf(0);
  graph::Shape wanted = in;
  const bool sensible = block_size > 0 && block_size <= int64_t{1} << 32;
  if (sensible) wanted[axis] = (in[axis] + block_size - 1) / block_size;
  if (!sensible || parameter->type.shape != wanted)
    return Invalid("block_size=", block_size, ": a scale or zero point of ", graph::ShapeText(parameter->type.shape),
                   " for ", graph::ShapeText(in));
  COBRA_ASSIGN_OR_RETURN(TensorPtr each, c.Call(graph::Op::repeat_interleave,
                                                {{"repeats", block_size}, {"dim", int64_t{axis}}}, {parameter}));
  if (each->type.shape[axis] == in[axis]) return each;
  return c.Call(graph::Op::narrow, {{"dim", int64_t{axis}}, {"start", int64_t{0}}, {"length", in[axis]}}, {each});
}

// Inputs 1 and 2, a scale and perhaps a zero point, so that they broadcast with input 0.
struct Parameters {
  TensorPtr scale, zero_point;
};

absl::StatusOr<Parameters> ReadParameters(NodeContext& c) {
  Parameters p{c.In(1), c.In(2)};
  const int64_t block_size = c.Int("block_size"), axis = c.Int("axis", 1);
  if (block_size != 0) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, c.Rank(0)));
    COBRA_ASSIGN_OR_RETURN(p.scale, OfBlocks(c, p.scale, d, block_size));
    if (p.zero_point != nullptr) {
      COBRA_ASSIGN_OR_RETURN(p.zero_point, OfBlocks(c, p.zero_point, d, block_size));
    }
    return p;
  }
  COBRA_ASSIGN_OR_RETURN(p.scale, AlongAxis(c, p.scale, c.Rank(0), axis));
  if (p.zero_point != nullptr) {
    COBRA_ASSIGN_OR_RETURN(p.zero_point, AlongAxis(c, p.zero_point, c.Rank(0), axis));
  }
  return p;
}

absl::StatusOr<Outputs> QuantizeLinear(NodeContext& c) {
  int32_t onnx_type = ::onnx::TensorProto::UINT8;
  if (c.Has(2)) {
    onnx_type = OnnxTypeOf(*c.In(2));
  } else if (c.Int("output_dtype") != 0) {
    onnx_type = static_cast<int32_t>(c.Int("output_dtype"));
  }
  COBRA_ASSIGN_OR_RETURN(const Parameters p, ReadParameters(c));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, c.Cast(c.In(0), graph::DType::float32));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, c.Cast(p.scale, graph::DType::float32));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scaled, c.Binary(graph::Op::div, x, scale));
  return c.Out(Packed(c, scaled, p.zero_point, onnx_type, -1));
}

absl::StatusOr<Outputs> DequantizeLinear(NodeContext& c) {
  graph::DType dtype = c.Type(1).dtype;
  if (c.Int("output_dtype") != 0) {
    COBRA_ASSIGN_OR_RETURN(dtype, DTypeOf(static_cast<int32_t>(c.Int("output_dtype"))));
  }
  COBRA_ASSIGN_OR_RETURN(const Parameters p, ReadParameters(c));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Dequantized(c, c.In(0), p.scale, p.zero_point, -1));
  return c.Out(c.Cast(y, dtype));
}

absl::StatusOr<Outputs> DynamicQuantizeLinear(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const DynamicallyQuantized q, QuantizedDynamically(c, c.In(0)));
  return Outputs{q.y, q.scale, q.zero_point};
}

absl::StatusOr<Outputs> ConvInteger(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Centred(c, c.In(0), c.In(2), 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, Centred(c, c.In(1), c.In(3), 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Convolved(c, x, weight, nullptr));
  return c.Out(c.Cast(y, graph::DType::int32));
}

absl::StatusOr<Outputs> QLinearConv(NodeContext& c) { return c.Out(QuantizedConvolution(c, c.In(0))); }

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
  return c.Out(PackedProduct(c, product, b_scale));
}

}  // namespace

void AddQuantizedOperators(Registry* registry) {
  registry->Add("QuantizeLinear", {QuantizeLinear, 2, false, "to integers of 2 to 16 bits"});
  registry->Add("DequantizeLinear", {DequantizeLinear, 2, false, "of integers"});
  registry->Add("DynamicQuantizeLinear", {DynamicQuantizeLinear});
  registry->Add("ConvInteger", {ConvInteger, 2, false, "computed in float"});
  registry->Add("QLinearConv", {QLinearConv, 8, false, "computed in float"});
  registry->Add("MatMulInteger", {MatMulInteger, 2, false, "computed in float"});
  registry->Add("QLinearMatMul", {QLinearMatMul, 8, false, "computed in float"});
}

}  // namespace cobra::onnx
