// Normalizations, softmax and its variants.
#include <numeric>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

// All dimensions except the channels.
std::vector<int64_t> AllButChannels(int rank) {
  std::vector<int64_t> dims;
  for (int d = 0; d < rank; ++d) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

// Normalizes with the statistics of the batch and moves the running statistics towards them.
absl::StatusOr<Outputs> BatchNormInTraining(NodeContext& c, double eps) {
  const TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y,
                         c.Call(graph::Op::batch_norm, {{"eps", eps}}, {x, nullptr, nullptr, c.In(1), c.In(2)}));
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> stats,
                         c.CallAll(graph::Op::var_mean,
                                   {{"dim", AllButChannels(c.Rank(0))}, {"unbiased", false}, {"keepdim", false}}, {x}));
  const double momentum = c.Float("momentum", 0.9);
  Outputs outputs{y};
  for (int k : {1, 0}) {  // mean, variance
    COBRA_ASSIGN_OR_RETURN(TensorPtr kept, c.WithNumber(graph::Op::mul, c.In(k == 1 ? 3 : 4), momentum));
    COBRA_ASSIGN_OR_RETURN(TensorPtr fresh, c.WithNumber(graph::Op::mul, stats[k], 1 - momentum));
    COBRA_ASSIGN_OR_RETURN(TensorPtr moved, c.Binary(graph::Op::add, kept, fresh));
    outputs.emplace_back(moved);
  }
  return outputs;
}

absl::StatusOr<Outputs> BatchNormalization(NodeContext& c) {
  if (c.opset() < 9 && c.Int("spatial", 1) == 0) return Unsupported("spatial=0");
  const double eps = Shortest(c.Float("epsilon", 1e-5));
  const bool training = c.opset() < 7 ? c.Int("is_test") == 0 : c.Int("training_mode") != 0;
  if (training) return BatchNormInTraining(c, eps);
  c.importer().MarkAsBuffer(c.In(3));
  c.importer().MarkAsBuffer(c.In(4));
  return c.Out(c.Call(graph::Op::batch_norm, {{"eps", eps}}, {c.In(0), c.In(3), c.In(4), c.In(1), c.In(2)}));
}

absl::StatusOr<Outputs> InstanceNormalization(NodeContext& c) {
  return c.Out(c.Call(graph::Op::instance_norm, {{"eps", Shortest(c.Float("epsilon", 1e-5))}},
                      {c.In(0), nullptr, nullptr, c.In(1), c.In(2)}));
}

absl::StatusOr<Outputs> LayerNormalization(NodeContext& c) {
  const TensorPtr x = c.In(0);
  const double eps = Shortest(c.Float("epsilon", 1e-5));
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", -1), c.Rank(0)));
  const std::vector<int64_t> normalized(x->type.shape.begin() + axis, x->type.shape.end());
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::layer_norm, {{"normalized_shape", normalized}, {"eps", eps}},
                                             {x, c.In(1), c.In(2)}));
  Outputs outputs{y};
  if (!c.Wants(1) && !c.Wants(2)) return outputs;
  std::vector<int64_t> dims(normalized.size());
  std::iota(dims.begin(), dims.end(), axis);
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> stats,
                         c.CallAll(graph::Op::var_mean, {{"dim", dims}, {"unbiased", false}, {"keepdim", true}}, {x}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr shifted, c.WithNumber(graph::Op::add, stats[0], eps));
  COBRA_ASSIGN_OR_RETURN(TensorPtr inverse, c.Unary(graph::Op::rsqrt, shifted));
  outputs.emplace_back(stats[1]);
  outputs.emplace_back(inverse);
  return outputs;
}

absl::StatusOr<Outputs> RmsNormalization(NodeContext& c) {
  const TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", -1), c.Rank(0)));
  const graph::Shape normalized(x->type.shape.begin() + axis, x->type.shape.end());
  const graph::Attributes attributes{{"normalized_shape", ToInts(normalized)},
                                     {"eps", Shortest(c.Float("epsilon", 1e-5))}};
  if (c.ShapeOf(1) == normalized) return c.Out(c.Call(graph::Op::rms_norm, attributes, {x, c.In(1)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::rms_norm, attributes, {x, nullptr}));
  COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::mul, y, c.In(1)));
  if (y->type != x->type) return Invalid("a scale of ", graph::ShapeText(c.ShapeOf(1)), " does not fit");
  return Outputs{y};
}

// Opset 18 has a scale and a bias for each group, opset 21 for each channel, as PyTorch.
absl::StatusOr<Outputs> GroupNormalization(NodeContext& c) {
  const int64_t groups = c.Int("num_groups");
  if (c.Rank(0) < 2) return Invalid("takes at least 2 dimensions, got ", graph::ShapeText(c.ShapeOf(0)));
  const int64_t channels = c.ShapeOf(0)[1];
  if (groups < 1 || channels % groups != 0) return Invalid("num_groups=", groups, " of ", channels, " channels");
  TensorPtr scale = c.In(1), bias = c.In(2);
  if (c.opset() < 21 && groups != channels) {
    for (TensorPtr* t : {&scale, &bias}) {
      if ((*t)->type.shape != graph::Shape{groups})
        return Invalid("its scale and bias must have ", groups, " elements");
      COBRA_ASSIGN_OR_RETURN(*t, c.Reshape(*t, {groups, 1}));
      COBRA_ASSIGN_OR_RETURN(
          *t, c.Call(graph::Op::expand, {{"size", std::vector<int64_t>{groups, channels / groups}}}, {*t}));
      COBRA_ASSIGN_OR_RETURN(*t, c.Reshape(*t, {channels}));
    }
  }
  return c.Out(c.Call(graph::Op::group_norm, {{"num_groups", groups}, {"eps", Shortest(c.Float("epsilon", 1e-5))}},
                      {c.In(0), scale, bias}));
}

absl::StatusOr<Outputs> Lrn(NodeContext& c) {
  const int64_t size = c.Int("size");
  if (size <= 0) return Invalid("size=", size);
  if (size % 2 == 0) return Unsupported("an even size (", size, ")");
  return c.Out(c.Call(
      graph::Op::local_response_norm,
      {{"size", size}, {"alpha", c.Float("alpha", 1e-4)}, {"beta", c.Float("beta", 0.75)}, {"k", c.Float("bias", 1)}},
      {c.In(0)}));
}

absl::StatusOr<Outputs> MeanVarianceNormalization(NodeContext& c) {
  std::vector<int64_t> axes = c.Ints("axes");
  if (axes.empty()) axes = {0, 2, 3};
  COBRA_ASSIGN_OR_RETURN(
      std::vector<TensorPtr> stats,
      c.CallAll(graph::Op::std_mean, {{"dim", axes}, {"unbiased", false}, {"keepdim", true}}, {c.In(0)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr centred, c.Binary(graph::Op::sub, c.In(0), stats[1]));
  COBRA_ASSIGN_OR_RETURN(TensorPtr deviation, c.WithNumber(graph::Op::add, stats[0], 1e-9));
  return c.Out(c.Binary(graph::Op::div, centred, deviation));
}

absl::StatusOr<Outputs> LpNormalization(NodeContext& c) {
  return c.Out(c.Call(graph::Op::normalize,
                      {{"p", static_cast<double>(c.Int("p", 2))}, {"dim", c.Int("axis", -1)}, {"eps", 1e-12}},
                      {c.In(0)}));
}

// Before opset 13 the input is treated as a matrix: the dimensions before `axis` are the rows, the
// others the columns.
template <typename F>
absl::StatusOr<Outputs> OverAxis(NodeContext& c, F call) {
  const TensorPtr x = c.In(0);
  const int rank = c.Rank(0);
  if (c.opset() >= 13 || rank == 0) return c.Out(call(x, c.Int("axis", -1)));
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 1), rank));
  if (axis == rank - 1) return c.Out(call(x, c.Int("axis", 1)));
  const graph::Shape matrix{Elements(x->type.shape, 0, axis), Elements(x->type.shape, axis, rank)};
  COBRA_ASSIGN_OR_RETURN(TensorPtr flat, c.Reshape(x, matrix));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, call(flat, 1));
  return c.Out(c.Reshape(y, x->type.shape));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Softmax(NodeContext& c) {
  return OverAxis(c, [&](const TensorPtr& x, int64_t axis) { return c.Call(kOp, {{"dim", axis}}, {x}); });
}

// 1 at the first largest element, 0 elsewhere.
absl::StatusOr<Outputs> Hardmax(NodeContext& c) {
  return OverAxis(c, [&](const TensorPtr& x, int64_t axis) -> absl::StatusOr<TensorPtr> {
    COBRA_ASSIGN_OR_RETURN(TensorPtr largest, c.Call(graph::Op::argmax, {{"dim", axis}, {"keepdim", true}}, {x}));
    COBRA_ASSIGN_OR_RETURN(TensorPtr zeros, c.WithNumber(graph::Op::mul, x, int64_t{0}));
    return c.Call(graph::Op::scatter, {{"dim", axis}, {"value", 1.0}}, {zeros, largest});
  });
}

}  // namespace

void AddNormOperators(Registry* registry) {
  registry->Add("BatchNormalization", {BatchNormalization, 5, false, "spatial=1"});
  registry->Add("InstanceNormalization", {InstanceNormalization, 3});
  registry->Add("LayerNormalization", {LayerNormalization, 2});
  registry->Add("RMSNormalization", {RmsNormalization, 2});
  registry->Add("SimplifiedLayerNormalization", {RmsNormalization, 2});  // ONNX Runtime's, in this domain
  registry->Add("GroupNormalization", {GroupNormalization, 3});
  registry->Add("LRN", {Lrn, 1, false, "odd sizes"});
  registry->Add("MeanVarianceNormalization", {MeanVarianceNormalization});
  registry->Add("LpNormalization", {LpNormalization});
  registry->Add("Softmax", {Softmax<graph::Op::softmax>});
  registry->Add("LogSoftmax", {Softmax<graph::Op::log_softmax>});
  registry->Add("Hardmax", {Hardmax});
}

}  // namespace cobra::onnx
