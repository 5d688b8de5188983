// Operators that work on every element, and the norms over the last dimension.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"
#include "graph/constants/const_eval.h"

namespace cobra::tflite::handlers {

absl::StatusOr<int> Axis(Importer& im, const OpCall& call, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return im.Wrong(call, absl::StrCat("axis ", axis, " of a tensor of ", rank, " dimensions"));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

bool OnImages(const Importer& im, const OpCall& call) {
  bool image = false;
  for (int tensor : call.inputs) {
    const TensorState& state = im.State(tensor);
    if (state.constant ? state.type.rank() > 4 : state.type.rank() != 4) return false;
    image = image || (!state.constant && state.is_image);
  }
  return image;
}

namespace {

absl::StatusOr<graph::ValueRef> In(Importer& im, bool image, int tensor) {
  return image ? im.Image(tensor) : im.File(tensor);
}
absl::Status Set(Importer& im, const OpCall& call, bool image, graph::ValueRef ref) {
  return image ? im.SetImage(call, 0, ref) : im.SetFile(call, 0, ref);
}

// Computes one call on all inputs of the operator, in the order of dimensions that suits them.
absl::Status Whole(Importer& im, const OpCall& call, graph::Op op, graph::Attributes attributes) {
  const bool image = OnImages(im, call);
  graph::ValueRefs inputs;
  for (int tensor : call.inputs) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, In(im, image, tensor));
    inputs.push_back(x);
  }
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.Compute(call, op, std::move(attributes), std::move(inputs)));
  return Set(im, call, image, x);
}

schema::ActivationFunctionType FusedActivation(const OpCall& call) {
  if (const auto* o = call.op->builtin_options_as_AddOptions()) return o->fused_activation_function();
  if (const auto* o = call.op->builtin_options_as_SubOptions()) return o->fused_activation_function();
  if (const auto* o = call.op->builtin_options_as_MulOptions()) return o->fused_activation_function();
  if (const auto* o = call.op->builtin_options_as_DivOptions()) return o->fused_activation_function();
  return schema::ActivationFunctionType_NONE;
}

// PyTorch's call for two tensors and for a tensor and a number: the attribute that takes the
// number, and the call if the number is the first operand.
struct BinaryOp {
  graph::Op op;
  const char* number = "other";  // null: takes tensors only
  graph::Op reversed = graph::Op::add;
  const char* reversed_number = nullptr;
};

BinaryOp BinaryOf(schema::BuiltinOperator code) {
  switch (code) {
    case schema::BuiltinOperator_ADD: return {graph::Op::add, "other", graph::Op::add, "other"};
    case schema::BuiltinOperator_SUB: return {graph::Op::sub, "other", graph::Op::rsub, "other"};
    case schema::BuiltinOperator_MUL: return {graph::Op::mul, "other", graph::Op::mul, "other"};
    case schema::BuiltinOperator_DIV: return {graph::Op::div, "other", graph::Op::rdiv, "other"};
    case schema::BuiltinOperator_FLOOR_DIV: return {graph::Op::floor_divide, "other"};
    case schema::BuiltinOperator_FLOOR_MOD: return {graph::Op::remainder, "other"};
    case schema::BuiltinOperator_POW: return {graph::Op::pow, "exponent"};
    case schema::BuiltinOperator_MAXIMUM: return {graph::Op::maximum, nullptr};
    case schema::BuiltinOperator_MINIMUM: return {graph::Op::minimum, nullptr};
    case schema::BuiltinOperator_ATAN2: return {graph::Op::atan2, nullptr};
    case schema::BuiltinOperator_EQUAL: return {graph::Op::eq, "other", graph::Op::eq, "other"};
    case schema::BuiltinOperator_NOT_EQUAL: return {graph::Op::ne, "other", graph::Op::ne, "other"};
    case schema::BuiltinOperator_LESS: return {graph::Op::lt, "other", graph::Op::gt, "other"};
    case schema::BuiltinOperator_LESS_EQUAL: return {graph::Op::le, "other", graph::Op::ge, "other"};
    case schema::BuiltinOperator_GREATER: return {graph::Op::gt, "other", graph::Op::lt, "other"};
    case schema::BuiltinOperator_GREATER_EQUAL: return {graph::Op::ge, "other", graph::Op::le, "other"};
    case schema::BuiltinOperator_LOGICAL_AND: return {graph::Op::logical_and, nullptr};
    default: return {graph::Op::logical_or, nullptr};
  }
}

// Computes the result if both operands are constants, such as the sizes in the computation of a
// shape.
absl::Status FoldBinary(Importer& im, const OpCall& call, graph::Op op) {
  graph::ConstInput inputs[2];
  std::vector<const graph::TensorType*> types;
  for (int i = 0; i < 2; ++i) {
    const TensorState& state = im.State(call.inputs[i]);
    if (state.values == nullptr) return im.Unsupported(call, "arithmetic on large constants");
    inputs[i] = {&state.type, state.values.get()};
    types.push_back(&state.type);
  }
  const absl::StatusOr<graph::TensorTypes> out = graph::InferTypes(op, {}, types);
  if (!out.ok()) return im.Wrong(call, out.status().message());
  const auto values = graph::EvalConst(op, {}, inputs, *out);
  if (values.empty() || values[0] == nullptr || (values[0]->empty() && (*out)[0].num_elements() > 0)) {
    return im.Unsupported(call, "this arithmetic on constants");
  }
  return im.SetConstant(call, 0, (*out)[0], *values[0]);
}

graph::AttributeValue NumberAttribute(const Importer& im, int tensor, double value) {
  if (graph::IsFloatingPoint(im.State(tensor).type.dtype)) return value;
  return static_cast<int64_t>(value);
}

}  // namespace

absl::Status Binary(Importer& im, const OpCall& call) {
  if (!call.has(1)) return im.Wrong(call, "two inputs expected");
  const BinaryOp binary = BinaryOf(call.code);
  const int a = call.inputs[0], b = call.inputs[1];
  if (im.State(a).constant && im.State(b).constant) return FoldBinary(im, call, binary.op);
  const bool image = OnImages(im, call);
  graph::ValueRef x;
  const std::optional<double> first = im.Number(a), second = im.Number(b);
  if (second.has_value() && binary.number != nullptr && im.Rank(b) <= im.Rank(a)) {
    COBRA_ASSIGN_OR_RETURN(x, In(im, image, a));
    COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, binary.op, {{binary.number, NumberAttribute(im, b, *second)}}, {x}));
  } else if (first.has_value() && binary.reversed_number != nullptr && im.Rank(a) <= im.Rank(b)) {
    COBRA_ASSIGN_OR_RETURN(x, In(im, image, b));
    COBRA_ASSIGN_OR_RETURN(
        x, im.Compute(call, binary.reversed, {{binary.reversed_number, NumberAttribute(im, a, *first)}}, {x}));
  } else if ((first.has_value() || second.has_value()) &&
             (binary.op == graph::Op::maximum || binary.op == graph::Op::minimum)) {
    const int tensor = first.has_value() ? b : a, number = first.has_value() ? a : b;
    COBRA_ASSIGN_OR_RETURN(x, In(im, image, tensor));
    COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::clamp,
                                         {{binary.op == graph::Op::maximum ? "min" : "max",
                                           NumberAttribute(im, number, first.has_value() ? *first : *second)}},
                                         {x}));
  } else {
    COBRA_ASSIGN_OR_RETURN(x, In(im, image, a));
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef y, In(im, image, b));
    COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, binary.op, {}, {x, y}));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Activate(call, x, FusedActivation(call)));
  return Set(im, call, image, x);
}

absl::Status AddN(Importer& im, const OpCall& call) {
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef sum, In(im, image, call.inputs[0]));
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (!call.has(i)) return im.Wrong(call, "an input is left out");
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, In(im, image, call.inputs[i]));
    COBRA_ASSIGN_OR_RETURN(sum, im.Compute(call, graph::Op::add, {}, {sum, x}));
  }
  return Set(im, call, image, sum);
}

absl::Status SquaredDifference(Importer& im, const OpCall& call) {
  if (!call.has(1)) return im.Wrong(call, "two inputs expected");
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef a, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef b, In(im, image, call.inputs[1]));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Compute(call, graph::Op::sub, {}, {a, b}));
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::square, {}, {x}));
  return Set(im, call, image, x);
}

absl::Status Unary(Importer& im, const OpCall& call) {
  switch (call.code) {
    case schema::BuiltinOperator_RELU: return Whole(im, call, graph::Op::relu, {});
    case schema::BuiltinOperator_RELU6: return Whole(im, call, graph::Op::relu6, {});
    case schema::BuiltinOperator_RELU_N1_TO_1:
      return Whole(im, call, graph::Op::hardtanh, {{"min_val", -1.0}, {"max_val", 1.0}});
    case schema::BuiltinOperator_RELU_0_TO_1:
      return Whole(im, call, graph::Op::hardtanh, {{"min_val", 0.0}, {"max_val", 1.0}});
    case schema::BuiltinOperator_LOGISTIC: return Whole(im, call, graph::Op::sigmoid, {});
    case schema::BuiltinOperator_TANH: return Whole(im, call, graph::Op::tanh, {});
    case schema::BuiltinOperator_ELU: return Whole(im, call, graph::Op::elu, {{"alpha", 1.0}});
    case schema::BuiltinOperator_HARD_SWISH: return Whole(im, call, graph::Op::hardswish, {});
    case schema::BuiltinOperator_EXP: return Whole(im, call, graph::Op::exp, {});
    case schema::BuiltinOperator_LOG: return Whole(im, call, graph::Op::log, {});
    case schema::BuiltinOperator_SQRT: return Whole(im, call, graph::Op::sqrt, {});
    case schema::BuiltinOperator_RSQRT: return Whole(im, call, graph::Op::rsqrt, {});
    case schema::BuiltinOperator_SQUARE: return Whole(im, call, graph::Op::square, {});
    case schema::BuiltinOperator_NEG: return Whole(im, call, graph::Op::neg, {});
    case schema::BuiltinOperator_ABS: return Whole(im, call, graph::Op::abs, {});
    case schema::BuiltinOperator_SIN: return Whole(im, call, graph::Op::sin, {});
    case schema::BuiltinOperator_COS: return Whole(im, call, graph::Op::cos, {});
    case schema::BuiltinOperator_FLOOR: return Whole(im, call, graph::Op::floor, {});
    case schema::BuiltinOperator_CEIL: return Whole(im, call, graph::Op::ceil, {});
    case schema::BuiltinOperator_ROUND: return Whole(im, call, graph::Op::round, {});
    case schema::BuiltinOperator_SIGN: return Whole(im, call, graph::Op::sign, {});
    case schema::BuiltinOperator_LOGICAL_NOT: return Whole(im, call, graph::Op::logical_not, {});
    default: return im.Unsupported(call, "this operator");
  }
}

absl::Status LeakyRelu(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::LeakyReluOptions>(call));
  return Whole(im, call, graph::Op::leaky_relu, {{"negative_slope", static_cast<double>(options->alpha())}});
}

absl::Status Gelu(Importer& im, const OpCall& call) {
  const auto* options = call.op->builtin_options_as<schema::GeluOptions>();
  const bool tanh = options != nullptr && options->approximate();
  return Whole(im, call, graph::Op::gelu, {{"approximate", std::string(tanh ? "tanh" : "none")}});
}

absl::Status Prelu(Importer& im, const OpCall& call) {
  if (!call.has(1) || !im.State(call.inputs[1]).constant)
    return im.Unsupported(call, "a slope that the network computes");
  const graph::Shape slope = im.ShapeOf(call.inputs[1]);
  const int64_t n = im.State(call.inputs[1]).type.num_elements();
  if (n != 1 && (slope.empty() || slope.back() != n))
    return im.Unsupported(call, absl::StrCat("a slope of ", graph::ShapeText(slope)));
  const bool image = im.Rank(call.inputs[0]) == 4;
  if (!image && (im.Rank(call.inputs[0]) != 2 && n != 1))
    return im.Unsupported(call, "a slope for the last of several dimensions");
  std::vector<int> order;
  for (size_t i = 0; i < slope.size(); ++i) order.push_back(static_cast<int>(i));
  const graph::Shape flat{n};
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(call.inputs[1], order, &flat));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::prelu, {}, {x, weight}));
  return Set(im, call, image, x);
}

absl::Status Select(Importer& im, const OpCall& call) {
  if (!call.has(2)) return im.Wrong(call, "three inputs expected");
  if (call.code == schema::BuiltinOperator_SELECT && im.ShapeOf(call.inputs[0]) != im.ShapeOf(call.inputs[1])) {
    return im.Unsupported(call, "a condition that picks rows");
  }
  const bool image = OnImages(im, call);
  graph::ValueRefs x(3);
  for (int i = 0; i < 3; ++i) {
    COBRA_ASSIGN_OR_RETURN(x[i], In(im, image, call.inputs[i]));
  }
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef out, im.Move(call, graph::Op::where, {}, x));
  return Set(im, call, image, out);
}

absl::Status Cast(Importer& im, const OpCall& call) {
  const graph::DType dtype = im.FileDType(call.outputs[0]);
  const TensorState& in = im.State(call.inputs[0]);
  if (in.constant && in.values != nullptr) {
    Values values = *in.values;
    for (double& v : values) v = graph::RoundTo(dtype, v);
    return im.SetConstant(call, 0, {in.type.shape, dtype}, std::move(values));
  }
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {x}));
  return Set(im, call, image, x);
}

namespace {

struct Scale {
  double scale = 1;
  int64_t zero_point = 0;
};
// The scale of a tensor with one scale; {1, 0} for a tensor without a scale.
absl::StatusOr<Scale> ScaleOf(Importer& im, const OpCall& call, int tensor) {
  const schema::QuantizationParameters* q = im.Quantization(tensor);
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return Scale{};
  if (q->scale()->size() > 1) return im.Unsupported(call, "an activation with a scale for every channel");
  // The verifier checks only the alignment of a list's length, which is 4 bytes; the list's numbers
  // need 8.
  int64_t zero_point = 0;
  if (q->zero_point() != nullptr && q->zero_point()->size() > 0)
    std::memcpy(&zero_point, q->zero_point()->Data(), sizeof(zero_point));
  return Scale{q->scale()->Get(0), flatbuffers::EndianScalar(zero_point)};
}

}  // namespace

absl::Status Quantize(Importer& im, const OpCall& call) {
  const graph::DType dtype = im.FileDType(call.outputs[0]);
  COBRA_ASSIGN_OR_RETURN(Scale to, ScaleOf(im, call, call.outputs[0]));
  if (im.IsQuantized(call.inputs[0])) {  // from one scale to another
    COBRA_ASSIGN_OR_RETURN(const Scale from, ScaleOf(im, call, call.inputs[0]));
    to.scale = from.scale == 0 ? to.scale : to.scale / from.scale;
  }
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(
      x, im.Move(call, graph::Op::quantize_per_tensor,
                 {{"scale", to.scale}, {"zero_point", to.zero_point}, {"dtype", std::string(graph::DTypeName(dtype))}},
                 {x}));
  return Set(im, call, image, x);
}

// TFLite dequantizes a weight once, before the network runs. The graph then contains the
// dequantized weight.
absl::Status Dequantize(Importer& im, const OpCall& call) {
  const TensorState& in = im.State(call.inputs[0]);
  if (in.constant) return im.SetWeight(call, 0, call.inputs[0], graph::DType::float32, nullptr);
  COBRA_ASSIGN_OR_RETURN(const Scale from, ScaleOf(im, call, call.inputs[0]));
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(
      x, im.Move(call, graph::Op::dequantize, {{"scale", from.scale}, {"zero_point", from.zero_point}}, {x}));
  return Set(im, call, image, x);
}

absl::Status Softmax(Importer& im, const OpCall& call) {
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  if (const auto* options = call.op->builtin_options_as_SoftmaxOptions(); options != nullptr && options->beta() != 1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::mul, {{"other", static_cast<double>(options->beta())}}, {x}));
  }
  const graph::Op op = call.code == schema::BuiltinOperator_SOFTMAX ? graph::Op::softmax : graph::Op::log_softmax;
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, op, {{"dim", int64_t{image ? 1 : -1}}}, {x}));
  return Set(im, call, image, x);
}

absl::Status L2Normalization(Importer& im, const OpCall& call) {
  const bool image = OnImages(im, call);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, In(im, image, call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(
      x, im.Compute(call, graph::Op::normalize, {{"p", 2.0}, {"dim", int64_t{image ? 1 : -1}}, {"eps", 1e-6}}, {x}));
  if (const auto* options = call.op->builtin_options_as_L2NormOptions()) {
    COBRA_ASSIGN_OR_RETURN(x, im.Activate(call, x, options->fused_activation_function()));
  }
  return Set(im, call, image, x);
}

absl::Status LocalResponseNormalization(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* o, im.OptionsOf<schema::LocalResponseNormalizationOptions>(call));
  if (im.Rank(call.inputs[0]) != 4) return im.Wrong(call, "an image of four dimensions expected");
  if (o->radius() < 0 || o->radius() > (1 << 20)) return im.Wrong(call, absl::StrCat("a radius of ", o->radius()));
  const int64_t size = 2 * int64_t{o->radius()} + 1;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Image(call.inputs[0]));
  // PyTorch divides alpha by the size of the window, TensorFlow does not.
  return im.SetImage(call, 0,
                     im.Compute(call, graph::Op::local_response_norm,
                                {{"size", size},
                                 {"alpha", static_cast<double>(o->alpha()) * static_cast<double>(size)},
                                 {"beta", static_cast<double>(o->beta())},
                                 {"k", static_cast<double>(o->bias())}},
                                {x}));
}

}  // namespace cobra::tflite::handlers
