// Reductions, scans, sorting.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

// The reduced dimensions, and whether they are kept with size 1. If `nothing` is set, the output is
// the input.
struct Reduction {
  std::vector<int64_t> dims;
  bool keep = true, nothing = false;
};

absl::StatusOr<Reduction> ReadReduction(NodeContext& c) {
  Reduction r;
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.IntsOrInput("axes", 1));
  r.keep = c.Int("keepdims", 1) != 0;
  std::vector<bool> seen(c.Rank(0), false);
  for (int64_t axis : axes) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, c.Rank(0), "axes"));
    if (!seen[d]) r.dims.push_back(d);
    seen[d] = true;
  }
  r.nothing = axes.empty() && c.Int("noop_with_empty_axes") != 0;
  if (axes.empty()) {
    r.dims.resize(c.Rank(0));
    std::iota(r.dims.begin(), r.dims.end(), 0);
  }
  return r;
}

graph::Attributes Dims(const Reduction& r) { return {{"dim", r.dims}, {"keepdim", r.keep}}; }

// PyTorch's sums of integers are int64; ONNX keeps the type.
graph::Attributes SumAttributes(const Reduction& r, graph::DType dtype) {
  graph::Attributes attributes = Dims(r);
  if (!graph::IsFloatingPoint(dtype)) attributes.Set("dtype", std::string(graph::DTypeName(dtype)));
  return attributes;
}

absl::StatusOr<TensorPtr> SumOf(NodeContext& c, const Reduction& r, const TensorPtr& x) {
  if (r.nothing || r.dims.empty()) return x;
  return c.Call(graph::Op::sum, SumAttributes(r, x->type.dtype), {x});
}

absl::StatusOr<Outputs> ReduceSum(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(c));
  return c.Out(SumOf(c, r, c.In(0)));
}

// The largest or the smallest of no elements, which PyTorch refuses to name.
absl::StatusOr<TensorPtr> OfNothing(NodeContext& c, const Reduction& r, bool largest) {
  if (!graph::IsFloatingPoint(c.Type(0).dtype)) return Unsupported("no elements");
  graph::Shape out;
  for (int d = 0; d < c.Rank(0); ++d) {
    const bool reduced = std::find(r.dims.begin(), r.dims.end(), d) != r.dims.end();
    if (!reduced) out.push_back(c.ShapeOf(0)[d]);
    if (reduced && r.keep) out.push_back(1);
  }
  return c.Filled({out, c.Type(0).dtype}, largest ? -INFINITY : INFINITY);
}

template <graph::Op kOp>
absl::StatusOr<Outputs> Reduce(NodeContext& c) {  // mean, amax, amin, logsumexp
  COBRA_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(c));
  if (r.nothing || r.dims.empty()) return Outputs{c.In(0)};
  const graph::DType dtype = c.Type(0).dtype;
  if constexpr (kOp == graph::Op::amax || kOp == graph::Op::amin) {
    if (c.Type(0).num_elements() == 0) return c.Out(OfNothing(c, r, kOp == graph::Op::amax));
  }
  if (graph::IsFloatingPoint(dtype) || kOp == graph::Op::amax || kOp == graph::Op::amin)
    return c.Out(c.Call(kOp, Dims(r), {c.In(0)}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, c.Cast(c.In(0), graph::DType::float32));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(kOp, Dims(r), {x}));
  return c.Out(c.Cast(y, dtype));
}

absl::StatusOr<Outputs> ReduceProd(NodeContext& c) {  // PyTorch's prod takes one dimension
  COBRA_ASSIGN_OR_RETURN(Reduction r, ReadReduction(c));
  if (r.nothing) return Outputs{c.In(0)};
  std::sort(r.dims.rbegin(), r.dims.rend());
  TensorPtr y = c.In(0);
  for (int64_t dim : r.dims) {
    Reduction one{{dim}, r.keep, false};
    COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::prod, SumAttributes(one, y->type.dtype), {y}));
  }
  return Outputs{y};
}

template <int kP>
absl::StatusOr<Outputs> ReduceLp(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(c));
  if (graph::IsFloatingPoint(c.Type(0).dtype) && !r.nothing && !r.dims.empty()) {
    return c.Out(c.Call(graph::Op::linalg_vector_norm,
                        {{"ord", static_cast<double>(kP)}, {"dim", r.dims}, {"keepdim", r.keep}}, {c.In(0)}));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, c.Unary(kP == 1 ? graph::Op::abs : graph::Op::square, c.In(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, SumOf(c, r, x));
  if (kP == 1) return Outputs{sum};
  COBRA_ASSIGN_OR_RETURN(TensorPtr root, c.Unary(graph::Op::sqrt, sum));
  return c.Out(c.Cast(root, c.Type(0).dtype));
}

absl::StatusOr<Outputs> ReduceLogSum(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(c));
  COBRA_ASSIGN_OR_RETURN(TensorPtr sum, SumOf(c, r, c.In(0)));
  return c.Out(c.Unary(graph::Op::log, sum));
}

absl::StatusOr<Outputs> ReduceSumSquare(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const Reduction r, ReadReduction(c));
  COBRA_ASSIGN_OR_RETURN(TensorPtr squares, c.Unary(graph::Op::square, c.In(0)));
  return c.Out(SumOf(c, r, squares));
}

template <graph::Op kOp>
absl::StatusOr<Outputs> ArgReduce(NodeContext& c) {
  TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(c.Int("axis", 0), c.Rank(0)));
  const bool last = c.Int("select_last_index") != 0;
  if (last) {
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::flip, {{"dims", std::vector<int64_t>{axis}}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr index,
                         c.Call(kOp, {{"dim", int64_t{axis}}, {"keepdim", c.Int("keepdims", 1) != 0}}, {x}));
  if (!last) return Outputs{index};
  return c.Out(c.WithNumber(graph::Op::rsub, index, c.ShapeOf(0)[axis] - 1));
}

absl::StatusOr<Outputs> CumSum(NodeContext& c) {
  TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(const int64_t given, c.KnownInt(1, "axis"));
  COBRA_ASSIGN_OR_RETURN(const int axis, WrapAxis(given, c.Rank(0)));
  const bool reverse = c.Int("reverse") != 0;
  const std::vector<int64_t> dims{axis};
  if (reverse) {
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::flip, {{"dims", dims}}, {x}));
  }
  graph::Attributes attributes{{"dim", int64_t{axis}}};
  if (!graph::IsFloatingPoint(x->type.dtype)) attributes.Set("dtype", std::string(graph::DTypeName(x->type.dtype)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(graph::Op::cumsum, attributes, {x}));
  if (c.Int("exclusive") != 0) {
    COBRA_ASSIGN_OR_RETURN(y, c.Binary(graph::Op::sub, y, x));
  }
  if (!reverse) return Outputs{y};
  return c.Out(c.Call(graph::Op::flip, {{"dims", dims}}, {y}));
}

absl::StatusOr<Outputs> TopK(NodeContext& c) {
  int64_t k = c.Int("k");
  if (c.opset() >= 10) {
    if (!c.Has(1)) return Invalid("K is missing");
    COBRA_ASSIGN_OR_RETURN(k, c.KnownInt(1, "K"));
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> found, c.CallAll(graph::Op::topk,
                                                                 {{"k", k},
                                                                  {"dim", c.Int("axis", -1)},
                                                                  {"largest", c.Int("largest", 1) != 0},
                                                                  {"sorted", c.Int("sorted", 1) != 0}},
                                                                 {c.In(0)}));
  return Outputs(found.begin(), found.end());
}

}  // namespace

void AddReduceOperators(Registry* registry) {
  registry->Add("ReduceSum", {ReduceSum});
  registry->Add("ReduceMean", {Reduce<graph::Op::mean>});
  registry->Add("ReduceMax", {Reduce<graph::Op::amax>});
  registry->Add("ReduceMin", {Reduce<graph::Op::amin>});
  registry->Add("ReduceLogSumExp", {Reduce<graph::Op::logsumexp>});
  registry->Add("ReduceProd", {ReduceProd});
  registry->Add("ReduceL1", {ReduceLp<1>});
  registry->Add("ReduceL2", {ReduceLp<2>});
  registry->Add("ReduceLogSum", {ReduceLogSum});
  registry->Add("ReduceSumSquare", {ReduceSumSquare});
  registry->Add("ArgMax", {ArgReduce<graph::Op::argmax>});
  registry->Add("ArgMin", {ArgReduce<graph::Op::argmin>});
  registry->Add("CumSum", {CumSum, 2, false, "the axis is known beforehand"});
  registry->Add("TopK", {TopK, 1, false, "K is known beforehand"});
}

}  // namespace cobra::onnx
