// Quantized operators of ONNX Runtime (domain com.microsoft), computed in float: unpack, compute,
// pack.
#include <numeric>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "frontend/onnx/operators/microsoft.h"
#include "frontend/onnx/operators/pool.h"
#include "frontend/onnx/operators/quantized.h"

namespace cobra::onnx {
namespace {

// Inputs i, i + 1 and i + 2: a tensor, its scale and its zero point.
absl::StatusOr<TensorPtr> DequantizedAt(NodeContext& c, size_t i) {
  if (!c.Has(i) || !c.Has(i + 1)) return Invalid("input ", c.Has(i) ? i + 1 : i, " is missing");
  return Dequantized(c, c.In(i), c.In(i + 1), c.In(i + 2));
}

// Packs with the scale and the zero point at inputs i and i + 1; the type is that of input `like`.
absl::StatusOr<Outputs> PackedWith(NodeContext& c, const TensorPtr& x, size_t i, size_t like = 0) {
  if (!c.Has(i)) return Invalid("the scale of its output is missing");
  return c.Out(Requantized(c, x, c.In(i), c.In(i + 1), OnnxTypeOf(*c.In(c.Has(i + 1) ? i + 1 : like))));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> QLinearBinary(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, DequantizedAt(c, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, DequantizedAt(c, 3));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(kOp, a, b));
  return PackedWith(c, y, 6);
}

// Inputs: x, scale, zero point; scale and zero point of the output.
template <typename F>
absl::StatusOr<Outputs> QLinearUnary(NodeContext& c, F call) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, DequantizedAt(c, 0));
  absl::StatusOr<TensorPtr> y = call(x);
  if (!y.ok()) return y.status();
  return PackedWith(c, *y, 3);
}

absl::StatusOr<Outputs> QLinearSigmoid(NodeContext& c) {
  return QLinearUnary(c, [&](const TensorPtr& x) { return c.Unary(graph::Op::sigmoid, x); });
}

absl::StatusOr<Outputs> QLinearLeakyRelu(NodeContext& c) {
  return QLinearUnary(c, [&](const TensorPtr& x) {
    return c.Call(graph::Op::leaky_relu, {{"negative_slope", Shortest(c.Float("alpha", 0.01))}}, {x});
  });
}

// Before opset 13 over all dimensions from `axis` on.
absl::StatusOr<Outputs> QLinearSoftmax(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", -1), c.Rank(0)));
  return QLinearUnary(c, [&](const TensorPtr& x) -> absl::StatusOr<TensorPtr> {
    if (c.Int("opset") >= 13 || axis == c.Rank(0) - 1) return c.Call(graph::Op::softmax, {{"dim", int64_t{axis}}}, {x});
    const graph::Shape matrix{Elements(c.ShapeOf(0), 0, axis), Elements(c.ShapeOf(0), axis, c.Rank(0))};
    COBRA_ASSIGN_OR_RETURN(TensorPtr flat, c.Reshape(x, matrix));
    COBRA_ASSIGN_OR_RETURN(flat, c.Call(graph::Op::softmax, {{"dim", int64_t{1}}}, {flat}));
    return c.Reshape(flat, c.ShapeOf(0));
  });
}

// Calls `pool` with the channels in dimension 1.
template <typename F>
absl::StatusOr<Outputs> QLinearPool(NodeContext& c, F pool) {
  const bool last = c.Int("channels_last") != 0;
  return QLinearUnary(c, [&](TensorPtr x) -> absl::StatusOr<TensorPtr> {
    if (last) {
      COBRA_ASSIGN_OR_RETURN(x, ChannelsSecond(c, x));
    }
    COBRA_ASSIGN_OR_RETURN(TensorPtr y, pool(x));
    return last ? ChannelsLast(c, y) : absl::StatusOr<TensorPtr>(y);
  });
}

absl::StatusOr<Outputs> QLinearAveragePool(NodeContext& c) {
  return QLinearPool(c, [&](const TensorPtr& x) { return AveragePooled(c, x); });
}

absl::StatusOr<Outputs> QLinearGlobalAveragePool(NodeContext& c) {
  return QLinearPool(c, [&](const TensorPtr& x) { return GlobalAveragePooled(c, x); });
}

absl::StatusOr<Outputs> QLinearReduceMean(NodeContext& c) {
  std::vector<int64_t> dims = c.Ints("axes");
  if (dims.empty()) {
    dims.resize(c.Rank(0));
    std::iota(dims.begin(), dims.end(), 0);
  }
  return QLinearUnary(c, [&](const TensorPtr& x) {
    return c.Call(graph::Op::mean, {{"dim", dims}, {"keepdim", c.Int("keepdims", 1) != 0}}, {x});
  });
}

// Inputs: scale and zero point of the output; a tensor, its scale and its zero point for each part.
absl::StatusOr<Outputs> QLinearConcat(NodeContext& c) {
  std::vector<TensorPtr> parts;
  if (c.num_inputs() % 3 != 2) return Invalid("takes three inputs for each part and two for the output");
  for (size_t i = 2; i < c.num_inputs(); i += 3) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr part, DequantizedAt(c, i));
    parts.push_back(part);
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::cat, {{"dim", c.Int("axis")}}, parts));
  return PackedWith(c, y, 0, 2);
}

// Inputs: the condition; two tensors with scale and zero point; scale and zero point of the output.
absl::StatusOr<Outputs> QLinearWhere(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, DequantizedAt(c, 1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, DequantizedAt(c, 4));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::where, {}, {c.In(0), a, b}));
  return PackedWith(c, y, 7, 1);
}

absl::StatusOr<Outputs> QLinearConv(NodeContext& c) {
  if (c.Int("channels_last") == 0) return c.Out(QuantizedConvolution(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, ChannelsSecond(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, QuantizedConvolution(c, x));
  const int32_t onnx_type = y->onnx_type;
  COBRA_ASSIGN_OR_RETURN(y, ChannelsLast(c, y));
  y->onnx_type = onnx_type;
  return Outputs{y};
}

// ---- products

// alpha * a_scale * b_scale * (product of the centred matrices + C), packed if the output has a
// scale. Inputs: a, its scale and zero point; b, its scale and zero point; C in units of the
// product; scale and zero point of the output.
absl::StatusOr<Outputs> QGemm(NodeContext& c) {
  if (c.Rank(0) != 2 || c.Rank(3) != 2) return Invalid("multiplies matrices");
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Centred(c, c.In(0), c.In(2), -1));
  const bool trans_b = c.Int("transB") != 0;
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, Centred(c, c.In(3), c.In(5), trans_b ? 0 : 1));
  if (c.Int("transA") != 0) {
    COBRA_ASSIGN_OR_RETURN(a, c.Unary(graph::Op::t, a));
  }
  if (trans_b) {
    COBRA_ASSIGN_OR_RETURN(b, c.Unary(graph::Op::t, b));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::mm, {}, {a, b}));
  if (c.Has(6)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr added, c.Cast(c.In(6), graph::DType::float32));
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::add, y, added));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr scale, c.Reshape(c.In(1), {}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b_scale, AlongAxis(c, c.In(4), 2, 1));
  COBRA_ASSIGN_OR_RETURN(scale, c.Binary(graph::Op::mul, b_scale, scale));
  const double alpha = c.Float("alpha", 1);
  if (alpha != 1) {
    COBRA_ASSIGN_OR_RETURN(scale, c.WithNumber(graph::Op::mul, scale, Shortest(alpha)));
  }
  COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::mul, y, scale));
  return c.Has(7) ? PackedWith(c, y, 7) : absl::StatusOr<Outputs>(Outputs{y});
}

absl::StatusOr<Outputs> WithBias(NodeContext& c, TensorPtr y, size_t i) {
  if (!c.Has(i)) return Outputs{y};
  return c.Out(c.Binary(graph::Op::add, y, c.In(i)));
}

// Inputs: a, b; their scales; their zero points; a bias.
absl::StatusOr<Outputs> MatMulIntegerToFloat(NodeContext& c) {
  if (c.Type(2).num_elements() != 1) return Unsupported("a scale for each row of A");
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Dequantized(c, c.In(0), c.In(2), c.In(4), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, Dequantized(c, c.In(1), c.In(3), c.In(5), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::matmul, a, b));
  return WithBias(c, y, 6);
}

// Input 0 is quantized with the range that it has in a run. Then: b, its scale and zero point; a
// bias.
absl::StatusOr<Outputs> DynamicQuantizeMatMul(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const DynamicallyQuantized q, QuantizedDynamically(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Dequantized(c, q.y, q.scale, q.zero_point));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, Dequantized(c, c.In(1), c.In(2), c.In(3), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::matmul, a, b));
  return WithBias(c, y, 4);
}

// ---- MatMulNBits: a product with a weight of few bits, in blocks along the input features

struct Blocks {
  int64_t rows, columns, size, bits, per_row;  // N, K, block_size, bits, blocks in a row
};

absl::StatusOr<Blocks> ReadBlocks(NodeContext& c) {
  Blocks b{c.Int("N"), c.Int("K"), c.Int("block_size"), c.Int("bits", 4), 0};
  constexpr int64_t kMost = int64_t{1} << 32;
  if (b.rows < 1 || b.columns < 1 || b.rows > kMost || b.columns > kMost)
    return Invalid("N=", b.rows, ", K=", b.columns);
  if (b.size < 16 || b.size > 1 << 20 || (b.size & (b.size - 1)) != 0) return Invalid("block_size=", b.size);
  if (b.bits != 2 && b.bits != 4 && b.bits != 8) return Unsupported("bits=", b.bits);
  b.per_row = (b.columns + b.size - 1) / b.size;
  if (c.Int("weight_prepacked") != 0) return Unsupported("weight_prepacked: a layout for one type of device");
  if (c.Has(4)) return Unsupported("g_idx");
  if (c.Type(1).dtype != graph::DType::uint8) return Invalid("the weight is ", graph::TypeText(c.Type(1)));
  const int64_t bytes = graph::TensorType{{b.rows, b.per_row, b.size / 8 * b.bits}, graph::DType::uint8}.num_elements();
  if (c.Type(1).num_elements() != bytes || c.Type(2).num_elements() != Elements({b.rows, b.per_row}, 0, 2))
    return Invalid("the weight ", graph::ShapeText(c.ShapeOf(1)), " and its scales ", graph::ShapeText(c.ShapeOf(2)),
                   " do not fit N=", b.rows, ", K=", b.columns, ", block_size=", b.size, ", bits=", b.bits);
  return b;
}

// Element `i` of bytes that hold numbers of `bits` bits, the first in the lowest.
double BitsAt(const Values& bytes, int64_t i, int64_t bits) {
  const int64_t each = 8 / bits;
  return static_cast<double>(static_cast<int64_t>(bytes[i / each]) >> (i % each * bits) & ((int64_t{1} << bits) - 1));
}

// The zero point of each block. Packed ones begin every row with a byte of its own.
absl::StatusOr<Values> ZeroPoints(NodeContext& c, const Blocks& b) {
  Values zeros(b.rows * b.per_row, static_cast<double>(int64_t{1} << (b.bits - 1)));
  if (!c.Has(3)) return zeros;
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> given, c.importer().NeedValues(c.In(3), "zero_points"));
  const bool packed = c.Type(3).dtype == graph::DType::uint8;
  const int64_t row_bytes = (b.per_row * b.bits + 7) / 8;
  if (static_cast<int64_t>(given->size()) != b.rows * (packed ? row_bytes : b.per_row))
    return Invalid("zero_points are ", graph::ShapeText(c.ShapeOf(3)));
  for (int64_t row = 0; row < b.rows; ++row) {
    for (int64_t block = 0; block < b.per_row; ++block)
      zeros[row * b.per_row + block] =
          packed ? BitsAt(*given, row * row_bytes * (8 / b.bits) + block, b.bits) : (*given)[row * b.per_row + block];
  }
  return zeros;
}

// The weight as PyTorch's linear has it; without values if the file's are too many to carry.
absl::StatusOr<TensorPtr> WeightOfBlocks(NodeContext& c, const Blocks& b) {
  for (size_t i : {1, 2, 3}) {
    if (c.Has(i) && !c.In(i)->constant) return Unsupported("a weight that is computed in a run");
  }
  auto weight = std::make_shared<Tensor>();
  weight->type = {{b.rows, b.columns}, c.Type(0).dtype};
  weight->constant = weight->weight = true;
  weight->name = c.In(1)->name;
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> bytes, c.TryValues(c.In(1)));
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> scales, c.TryValues(c.In(2)));
  if (bytes == nullptr || scales == nullptr || !c.CheckCount(weight->type.num_elements()).ok()) return weight;
  COBRA_ASSIGN_OR_RETURN(const Values zeros, ZeroPoints(c, b));
  Values values;
  for (int64_t row = 0; row < b.rows; ++row) {
    for (int64_t k = 0; k < b.columns; ++k) {
      const int64_t block = row * b.per_row + k / b.size;
      values.push_back((BitsAt(*bytes, block * b.size + k % b.size, b.bits) - zeros[block]) * (*scales)[block]);
    }
  }
  COBRA_ASSIGN_OR_RETURN(weight, c.Constant(weight->type, std::move(values)));
  weight->weight = true;
  weight->name = c.In(1)->name;
  return weight;
}

absl::StatusOr<Outputs> MatMulNBits(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(c));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, WeightOfBlocks(c, blocks));
  return c.Out(c.Call(graph::Op::linear, {}, {c.In(0), weight, c.In(5)}));
}

}  // namespace

void AddMicrosoftQuantizedOperators(Registry* registry) {
  constexpr const char* kInFloat = "computed in float";
  registry->Add("QLinearAdd", {QLinearBinary<graph::Op::add>, 2, false, kInFloat});
  registry->Add("QLinearMul", {QLinearBinary<graph::Op::mul>, 2, false, kInFloat});
  registry->Add("QLinearSigmoid", {QLinearSigmoid, 2, false, kInFloat});
  registry->Add("QLinearLeakyRelu", {QLinearLeakyRelu, 2, false, kInFloat});
  registry->Add("QLinearSoftmax", {QLinearSoftmax, 2, false, kInFloat});
  registry->Add("QLinearAveragePool", {QLinearAveragePool, 2, false, kInFloat});
  registry->Add("QLinearGlobalAveragePool", {QLinearGlobalAveragePool, 2, false, kInFloat});
  registry->Add("QLinearReduceMean", {QLinearReduceMean, 2, false, kInFloat});
  registry->Add("QLinearConcat", {QLinearConcat, 5, false, kInFloat});
  registry->Add("QLinearWhere", {QLinearWhere, 8, false, kInFloat});
  registry->Add("QLinearConv", {QLinearConv, 8, false, kInFloat});
  registry->Add("QGemm", {QGemm, 5, false, kInFloat});
  registry->Add("MatMulIntegerToFloat", {MatMulIntegerToFloat, 4, false, "computed in float; one scale for A"});
  registry->Add("DynamicQuantizeMatMul", {DynamicQuantizeMatMul, 3, false, kInFloat});
  registry->Add("MatMulNBits", {MatMulNBits, 3, false, "computed in float; 2, 4 and 8 bits; no g_idx"});
  for (const char* name : {"QuantizeLinear", "DequantizeLinear"}) registry->Add(name, *OperatorsOf("")->Find(name));
}

}  // namespace cobra::onnx
