// What ONNX Runtime's optimiser joins (domain com.microsoft): a product or a convolution with its
// activation, a sum with its normalization, and images whose channels come last. The graph has the
// calls that they were made of.
#include <cmath>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/operators/microsoft.h"
#include "frontend/onnx/operators/pool.h"
#include "frontend/onnx/operators/window.h"

namespace cobra::onnx {
namespace {

// The node's attribute `activation` applied to `x`, with the parameters that it needs.
absl::StatusOr<TensorPtr> Activated(NodeContext& c, const TensorPtr& x, double alpha, double beta) {
  const std::string name = c.String("activation");
  if (name.empty()) return x;
  if (name == "Relu") return c.Unary(graph::Op::relu, x);
  if (name == "Sigmoid") return c.Unary(graph::Op::sigmoid, x);
  if (name == "Tanh") return c.Unary(graph::Op::tanh, x);
  if (name == "LeakyRelu") return c.Call(graph::Op::leaky_relu, {{"negative_slope", Shortest(alpha)}}, {x});
  if (name == "Clip") return c.Call(graph::Op::clamp, {{"min", Shortest(alpha)}, {"max", Shortest(beta)}}, {x});
  if (name == "Gelu") return c.Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {x});
  if (name == "HardSigmoid") {
    if (std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5) return c.Unary(graph::Op::hardsigmoid, x);
    COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.WithNumber(graph::Op::mul, x, Shortest(alpha)));
    COBRA_ASSIGN_OR_RETURN(y, c.WithNumber(graph::Op::add, y, Shortest(beta)));
    return c.Call(graph::Op::clamp, {{"min", 0.0}, {"max", 1.0}}, {y});
  }
  return Unsupported("activation=", name);
}

// Inputs: x, weight, bias and a tensor that is added before the activation.
absl::StatusOr<TensorPtr> FusedConvolution(NodeContext& c, const TensorPtr& x, const TensorPtr& added) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Convolved(c, x, c.In(1), c.In(2)));
  if (added != nullptr) {
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::add, y, added));
  }
  std::vector<double> parameters = c.Floats("activation_params");
  const size_t given = parameters.size();
  parameters.resize(2, 0);
  if (given < 1 && c.String("activation") == "LeakyRelu") parameters[0] = 0.01;
  if (given < 2 && c.String("activation") == "Clip") return Invalid("activation_params of Clip must have 2 entries");
  if (given < 2 && c.String("activation") == "HardSigmoid") parameters = {0.2, 0.5};
  return Activated(c, y, parameters[0], parameters[1]);
}

absl::StatusOr<Outputs> FusedConv(NodeContext& c) { return c.Out(FusedConvolution(c, c.In(0), c.In(3))); }

absl::StatusOr<Outputs> NhwcConv(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, ChannelsSecond(c, c.In(0)));
  TensorPtr added = c.In(3);
  if (added != nullptr) {
    COBRA_ASSIGN_OR_RETURN(added, ChannelsSecond(c, added));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, FusedConvolution(c, x, added));
  return c.Out(ChannelsLast(c, y));
}

absl::StatusOr<Outputs> NhwcMaxPool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, ChannelsSecond(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(const std::vector<TensorPtr> pooled, MaxPooled(c, x));
  return c.Out(ChannelsLast(c, pooled[0]));
}

// ---- products

// The last two dimensions in the other order, and before that the first one moved before the last
// (trans_batch).
absl::StatusOr<TensorPtr> Turned(NodeContext& c, const TensorPtr& x, bool trans, bool trans_batch) {
  const int64_t rank = x->type.rank();
  if (rank < 2 || (!trans && !trans_batch)) return x;
  std::vector<int64_t> dims;
  for (int64_t d = trans_batch ? 1 : 0; d < rank - 1; ++d) dims.push_back(d);
  if (trans_batch) dims.push_back(0);
  dims.insert(trans ? dims.end() - 1 : dims.end(), rank - 1);
  return c.Permute(x, dims);
}

absl::StatusOr<TensorPtr> FusedProduct(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, Turned(c, c.In(0), c.Int("transA") != 0, c.Int("transBatchA") != 0));
  const bool trans_b = c.Int("transB") != 0;
  TensorPtr b = c.In(1), y;
  const double alpha = c.Float("alpha", 1);
  if (b->weight && b->type.rank() == 2 && !a->constant && a->type.rank() >= 2 && c.Int("transBatchB") == 0) {
    if (!trans_b) {
      COBRA_ASSIGN_OR_RETURN(b, c.Call(graph::Op::t, {}, {b}));
    }
    COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::linear, {}, {a, b, nullptr}));
  } else {
    COBRA_ASSIGN_OR_RETURN(b, Turned(c, b, trans_b, c.Int("transBatchB") != 0));
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::matmul, a, b));
  }
  if (alpha == 1) return y;
  return c.WithNumber(graph::Op::mul, y, Shortest(alpha));
}

absl::StatusOr<Outputs> FusedMatMul(NodeContext& c) { return c.Out(FusedProduct(c)); }

absl::StatusOr<Outputs> FusedMatMulActivation(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, FusedProduct(c));
  return c.Out(Activated(c, y, c.Float("activation_alpha", 0.01), c.Float("activation_beta")));
}

absl::StatusOr<Outputs> FusedGemm(NodeContext& c) {
  const Entry* gemm = OperatorsOf("")->Find("Gemm");
  COBRA_ASSIGN_OR_RETURN(Outputs product, gemm->handler(c));
  return c.Out(Activated(c, product[0].tensor, c.Float("activation_alpha", 0.01), c.Float("activation_beta")));
}

// ---- activations

absl::StatusOr<TensorPtr> GeluOf(NodeContext& c, const TensorPtr& x, const TensorPtr& bias,
                                 absl::string_view approximate) {
  TensorPtr sum = x;
  if (bias != nullptr) {
    COBRA_ASSIGN_OR_RETURN(sum, c.Binary(graph::Op::add, x, bias));
  }
  return c.Call(graph::Op::gelu, {{"approximate", std::string(approximate)}}, {sum});
}

absl::StatusOr<Outputs> Gelu(NodeContext& c) { return c.Out(GeluOf(c, c.In(0), c.In(1), "none")); }  // and BiasGelu
absl::StatusOr<Outputs> FastGelu(NodeContext& c) { return c.Out(GeluOf(c, c.In(0), c.In(1), "tanh")); }

// x * sigmoid(alpha x)
absl::StatusOr<Outputs> QuickGelu(NodeContext& c) {
  const double alpha = Shortest(c.Float("alpha", 1.702));
  if (alpha == 1) return c.Out(c.Unary(graph::Op::silu, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr gate, c.WithNumber(graph::Op::mul, c.In(0), alpha));
  COBRA_ASSIGN_OR_RETURN(gate, c.Unary(graph::Op::sigmoid, gate));
  return c.Out(c.Binary(graph::Op::mul, c.In(0), gate));
}

// The left half of the sum times the gelu of its right half.
absl::StatusOr<Outputs> BiasSplitGelu(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, c.Binary(graph::Op::add, c.In(0), c.In(1)));
  if (sum->type.rank() == 0 || sum->type.shape.back() % 2 != 0) return Invalid("the last dimension is odd");
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> halves,
                         c.CallAll(graph::Op::chunk, {{"chunks", int64_t{2}}, {"dim", int64_t{-1}}}, {sum}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr gate, GeluOf(c, halves[1], nullptr, "none"));
  return c.Out(c.Binary(graph::Op::mul, halves[0], gate));
}

absl::StatusOr<Outputs> BiasAdd(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Binary(graph::Op::add, c.In(0), c.In(1)));
  return c.Out(c.Binary(graph::Op::add, y, c.In(2)));
}

// Softmax over all dimensions from `axis` on.
absl::StatusOr<Outputs> BiasSoftmax(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 1), c.Rank(0)));
  if (c.Int("is_inner_broadcast") != 0 && c.Rank(1) == c.Rank(0)) {
    for (int d = 0; d < axis; ++d) {
      if (c.ShapeOf(1)[d] != 1 && c.ShapeOf(1)[d] != c.ShapeOf(0)[d])
        return Unsupported("a bias that repeats in blocks");
    }
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, c.Binary(graph::Op::add, c.In(0), c.In(1)));
  if (sum->type != c.Type(0)) return Invalid("the bias ", graph::ShapeText(c.ShapeOf(1)), " does not fit");
  if (axis == c.Rank(0) - 1) return c.Out(c.Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {sum}));
  const graph::Shape matrix{Elements(c.ShapeOf(0), 0, axis), Elements(c.ShapeOf(0), axis, c.Rank(0))};
  COBRA_ASSIGN_OR_RETURN(TensorPtr flat, c.Reshape(sum, matrix));
  COBRA_ASSIGN_OR_RETURN(flat, c.Call(graph::Op::softmax, {{"dim", int64_t{1}}}, {flat}));
  return c.Out(c.Reshape(flat, c.ShapeOf(0)));
}

// ---- normalizations

// The sum of the two inputs and of the bias, if there is one.
absl::StatusOr<TensorPtr> SumWithSkip(NodeContext& c, const TensorPtr& skip, const TensorPtr& bias) {
  TensorPtr x = c.In(0);
  if (bias != nullptr) {
    COBRA_ASSIGN_OR_RETURN(x, c.Binary(graph::Op::add, x, bias));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, c.Binary(graph::Op::add, x, skip));
  if (sum->type != c.Type(0))
    return Invalid("a skip of ", graph::ShapeText(skip->type.shape), " does not fit ", graph::ShapeText(c.ShapeOf(0)));
  return sum;
}

absl::StatusOr<Outputs> NormOfSum(NodeContext& c, graph::Op norm, const TensorPtr& sum, const TensorPtr& beta) {
  if (c.Wants(1) || c.Wants(2)) return Unsupported("its outputs mean and inv_std_var, for training");
  const graph::Shape width{sum->type.shape.empty() ? 0 : sum->type.shape.back()};
  std::vector<TensorPtr> inputs{sum, c.In(2)};
  if (norm == graph::Op::layer_norm) inputs.push_back(beta);
  COBRA_ASSIGN_OR_RETURN(
      TensorPtr y,
      c.Call(norm, {{"normalized_shape", ToInts(width)}, {"eps", Shortest(c.Float("epsilon", 1e-5))}}, inputs));
  return Outputs{y, Value(), Value(), sum};
}

absl::StatusOr<Outputs> SkipLayerNormalization(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, SumWithSkip(c, c.In(1), c.In(4)));
  return NormOfSum(c, graph::Op::layer_norm, sum, c.In(3));
}

absl::StatusOr<Outputs> SkipSimplifiedLayerNormalization(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, SumWithSkip(c, c.In(1), c.In(3)));
  return NormOfSum(c, graph::Op::rms_norm, sum, nullptr);
}

absl::StatusOr<TensorPtr> Embedded(NodeContext& c, const TensorPtr& index, const TensorPtr& table) {
  return c.Call(graph::Op::embedding, {{"norm_type", 2.0}, {"scale_grad_by_freq", false}, {"sparse", false}},
                {index, table});
}

// The rows of the first `positions` positions.
absl::StatusOr<TensorPtr> PositionRows(NodeContext& c, int64_t positions) {
  if (c.Has(8)) return Embedded(c, c.In(8), c.In(3));
  if (c.Rank(3) != 2 || c.ShapeOf(3)[0] < positions)
    return Invalid("position_embedding is ", graph::ShapeText(c.ShapeOf(3)), " for ", positions, " positions");
  if (c.ShapeOf(3)[0] == positions) return c.In(3);
  return c.Call(graph::Op::narrow, {{"dim", int64_t{0}}, {"start", int64_t{0}}, {"length", positions}}, {c.In(3)});
}

// Inputs: words, segments; tables of words, positions and segments; gamma, beta; mask, positions.
absl::StatusOr<Outputs> EmbedLayerNormalization(NodeContext& c) {
  for (size_t i : {2, 3, 5, 6}) {
    if (!c.Has(i)) return Invalid("input ", i, " is missing");
  }
  if (c.Rank(0) != 2 || c.Rank(2) != 2) return Invalid("takes input_ids and word_embedding of 2 dimensions");
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, Embedded(c, c.In(0), c.In(2)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr positions, PositionRows(c, c.ShapeOf(0)[1]));
  COBRA_ASSIGN_OR_RETURN(sum, c.Binary(graph::Op::add, sum, positions));
  if (c.Has(1) && c.Has(4)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr segments, Embedded(c, c.In(1), c.In(4)));
    COBRA_ASSIGN_OR_RETURN(sum, c.Binary(graph::Op::add, sum, segments));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::layer_norm,
                                             {{"normalized_shape", std::vector<int64_t>{sum->type.shape.back()}},
                                              {"eps", Shortest(c.Float("epsilon", 1e-12))}},
                                             {sum, c.In(5), c.In(6)}));
  Outputs outputs{y, Value(), sum};
  if (!c.Wants(1)) return outputs;
  if (!c.Has(7)) {  // ONNX Runtime gives zeros
    COBRA_ASSIGN_OR_RETURN(TensorPtr zeros, c.Filled({{c.ShapeOf(0)[0]}, graph::DType::int32}, 0));
    outputs[1] = Value(zeros);
    return outputs;
  }
  COBRA_ASSIGN_OR_RETURN(
      TensorPtr lengths,
      c.Call(graph::Op::sum, {{"dim", std::vector<int64_t>{1}}, {"keepdim", false}, {"dtype", std::string("int32")}},
             {c.In(7)}));
  outputs[1] = Value(lengths);
  return outputs;
}

// Of `x` with the channels in dimension 1; activation=1 is silu.
absl::StatusOr<TensorPtr> NormOfGroups(NodeContext& c, const TensorPtr& x) {
  const int64_t activation = c.Int("activation");
  if (activation != 0 && activation != 1) return Unsupported("activation=", activation);
  COBRA_ASSIGN_OR_RETURN(TensorPtr gamma, c.Cast(c.In(1), x->type.dtype));
  COBRA_ASSIGN_OR_RETURN(TensorPtr beta, c.Cast(c.In(2), x->type.dtype));
  COBRA_ASSIGN_OR_RETURN(
      TensorPtr y,
      c.Call(graph::Op::group_norm, {{"num_groups", c.Int("groups")}, {"eps", Shortest(c.Float("epsilon", 1e-5))}},
             {x, gamma, beta}));
  return activation == 0 ? absl::StatusOr<TensorPtr>(y) : c.Unary(graph::Op::silu, y);
}

absl::StatusOr<Outputs> GroupNorm(NodeContext& c) {
  if (c.Int("channels_last", 1) == 0) return c.Out(NormOfGroups(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, ChannelsSecond(c, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, NormOfGroups(c, x));
  return c.Out(ChannelsLast(c, y));
}

absl::StatusOr<Outputs> SkipGroupNorm(NodeContext& c) {
  if (c.Int("channels_last", 1) == 0 || c.Rank(0) != 4) return Unsupported("channels_last=0");
  TensorPtr skip = c.In(3);
  if (skip->type.rank() == 2) {
    COBRA_ASSIGN_OR_RETURN(skip, c.Reshape(skip, {skip->type.shape[0], 1, 1, skip->type.shape[1]}));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, SumWithSkip(c, skip, c.In(4)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, ChannelsSecond(c, sum));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, NormOfGroups(c, x));
  COBRA_ASSIGN_OR_RETURN(y, ChannelsLast(c, y));
  return Outputs{y, sum};
}

// An operator of the default domain that has the same form in this one.
void AddSame(Registry* registry, absl::string_view name) {
  registry->Add(name, *OperatorsOf("")->Find(std::string(name)));
}

}  // namespace

absl::StatusOr<TensorPtr> ChannelsSecond(NodeContext& c, const TensorPtr& x) {
  const int64_t rank = x->type.rank();
  if (rank < 3) return Invalid("takes at least 3 dimensions, got ", graph::ShapeText(x->type.shape));
  std::vector<int64_t> dims{0, rank - 1};
  for (int64_t d = 1; d < rank - 1; ++d) dims.push_back(d);
  return c.Permute(x, dims);
}

absl::StatusOr<TensorPtr> ChannelsLast(NodeContext& c, const TensorPtr& x) {
  std::vector<int64_t> dims{0};
  for (int64_t d = 2; d < x->type.rank(); ++d) dims.push_back(d);
  dims.push_back(1);
  return c.Permute(x, dims);
}

void AddMicrosoftFusedOperators(Registry* registry) {
  registry->Add("FusedConv", {FusedConv, 2, false, "1 to 3 spatial dimensions"});
  registry->Add("NhwcConv", {NhwcConv, 2, false, "1 to 3 spatial dimensions"});
  registry->Add("NhwcFusedConv", {NhwcConv, 2, false, "1 to 3 spatial dimensions"});
  registry->Add("NhwcMaxPool", {NhwcMaxPool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("FusedMatMul", {FusedMatMul, 2});
  registry->Add("TransposeMatMul", {FusedMatMul, 2});
  registry->Add("FusedMatMulActivation", {FusedMatMulActivation, 2});
  registry->Add("FusedGemm", {FusedGemm, 2});
  registry->Add("Gelu", {Gelu});
  registry->Add("BiasGelu", {Gelu, 2});
  registry->Add("FastGelu", {FastGelu});
  registry->Add("QuickGelu", {QuickGelu});
  registry->Add("BiasSplitGelu", {BiasSplitGelu, 2});
  registry->Add("BiasAdd", {BiasAdd, 3});
  registry->Add("BiasSoftmax", {BiasSoftmax, 2, false, "a bias that broadcasts as in PyTorch"});
  registry->Add("SkipLayerNormalization", {SkipLayerNormalization, 3});
  registry->Add("SkipSimplifiedLayerNormalization", {SkipSimplifiedLayerNormalization, 3});
  registry->Add("EmbedLayerNormalization", {EmbedLayerNormalization});
  registry->Add("GroupNorm", {GroupNorm, 3});
  registry->Add("SkipGroupNorm", {SkipGroupNorm, 4, false, "channels_last=1"});
  AddSame(registry, "Trilu");
  AddSame(registry, "GatherND");
  for (const char* name : {"BiasDropout", "BitmaskDropout", "BitmaskBiasDropout"})
    registry->Refuse(name, "it draws random numbers in training");
  for (const char* name : {"BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"})
    registry->Refuse(name, "how often its graph runs depends on the tokens");
  registry->Refuse("NGramRepeatBlock", "which scores it bans depends on the tokens");
  registry->Refuse("Tokenizer", "strings are not numbers");
}

}  // namespace cobra::onnx
