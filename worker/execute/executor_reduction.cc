#include "ATen/ops/all.h"
#include "ATen/ops/amax.h"
#include "ATen/ops/amin.h"
#include "ATen/ops/aminmax.h"
#include "ATen/ops/any.h"
#include "ATen/ops/argmax.h"
#include "ATen/ops/argmin.h"
#include "ATen/ops/argsort.h"
#include "ATen/ops/count_nonzero.h"
#include "ATen/ops/cumprod.h"
#include "ATen/ops/cumsum.h"
#include "ATen/ops/diff.h"
#include "ATen/ops/gradient.h"
#include "ATen/ops/kthvalue.h"
#include "ATen/ops/linalg_norm.h"
#include "ATen/ops/linalg_vector_norm.h"
#include "ATen/ops/logsumexp.h"
#include "ATen/ops/max.h"
#include "ATen/ops/mean.h"
#include "ATen/ops/median.h"
#include "ATen/ops/min.h"
#include "ATen/ops/mode.h"
#include "ATen/ops/norm.h"
#include "ATen/ops/prod.h"
#include "ATen/ops/sort.h"
#include "ATen/ops/std.h"
#include "ATen/ops/std_mean.h"
#include "ATen/ops/sum.h"
#include "ATen/ops/topk.h"
#include "ATen/ops/trace.h"
#include "ATen/ops/var.h"
#include "ATen/ops/var_mean.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;
using OptionalType = c10::optional<at::ScalarType>;

struct Reduction {
  c10::optional<Ints> dim;  // nullopt: over all dimensions
  bool keepdim = false;
  OptionalType dtype;
  at::OptionalIntArrayRef Dim() const { return dim ? at::OptionalIntArrayRef(*dim) : at::OptionalIntArrayRef(); }
};

Reduction ReductionOf(const NodeContext& c) {
  Reduction r;
  if (c.HasValue("dim")) r.dim = c.Ints("dim");
  r.keepdim = c.Bool("keepdim");
  r.dtype = c.DType("dtype");
  return r;
}

template <typename F>
KernelFactory Reduce(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Reduction r = ReductionOf(c);
    return Kernel([r, f](const Call& call) { call.outputs[0] = f(call[0], r); });
  };
}

at::Tensor Sum(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::sum(x, r.Dim(), r.keepdim, r.dtype) : at::sum(x, r.dtype);
}
at::Tensor Mean(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::mean(x, r.Dim(), r.keepdim, r.dtype) : at::mean(x, r.dtype);
}
at::Tensor Prod(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::prod(x, r.dim->at(0), r.keepdim, r.dtype) : at::prod(x, r.dtype);
}
at::Tensor Amax(const at::Tensor& x, const Reduction& r) { return at::amax(x, r.dim.value_or(Ints()), r.keepdim); }
at::Tensor Amin(const at::Tensor& x, const Reduction& r) { return at::amin(x, r.dim.value_or(Ints()), r.keepdim); }
at::Tensor Any(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::any(x, r.dim->at(0), r.keepdim) : at::any(x);
}
at::Tensor All(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::all(x, r.dim->at(0), r.keepdim) : at::all(x);
}
at::Tensor Argmax(const at::Tensor& x, const Reduction& r) {
  return at::argmax(x, r.dim ? c10::optional<int64_t>(r.dim->at(0)) : c10::nullopt, r.keepdim);
}
at::Tensor Argmin(const at::Tensor& x, const Reduction& r) {
  return at::argmin(x, r.dim ? c10::optional<int64_t>(r.dim->at(0)) : c10::nullopt, r.keepdim);
}
at::Tensor CountNonzero(const at::Tensor& x, const Reduction& r) {
  return r.dim ? at::count_nonzero(x, *r.dim) : at::count_nonzero(x);
}
at::Tensor Logsumexp(const at::Tensor& x, const Reduction& r) {
  return at::logsumexp(x, r.dim.value_or(Ints()), r.keepdim);
}

// var, std: the correction is 1 unless unbiased=False or a number is given.
int64_t Correction(const NodeContext& c) {
  if (c.HasValue("correction")) return c.Int("correction");
  return c.Bool("unbiased", true) ? 1 : 0;
}

template <typename F>
KernelFactory Spread(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Reduction r = ReductionOf(c);
    const int64_t correction = Correction(c);
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], r, correction); });
  };
}

template <typename F>
KernelFactory SpreadAndMean(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Reduction r = ReductionOf(c);
    const int64_t correction = Correction(c);
    return Kernel([=](const Call& call) { std::tie(call.outputs[0], call.outputs[1]) = f(call[0], r, correction); });
  };
}

absl::StatusOr<Kernel> MakeAminmax(const NodeContext& c) {
  const auto dim = c.OptionalInt("dim");
  const bool keepdim = c.Bool("keepdim");
  return Kernel(
      [=](const Call& call) { std::tie(call.outputs[0], call.outputs[1]) = at::aminmax(call[0], dim, keepdim); });
}

// max, min, median: of everything, of two tensors, or along a dimension with indices.
template <typename All, typename Two, typename Along>
KernelFactory Extremum(All all, Two two, Along along) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    if (c.has(1)) return Kernel([=](const Call& call) { call.outputs[0] = two(call[0], call[1]); });
    if (!c.HasValue("dim")) return Kernel([=](const Call& call) { call.outputs[0] = all(call[0]); });
    const int64_t dim = c.Int("dim");
    const bool keepdim = c.Bool("keepdim");
    return Kernel([=](const Call& call) { std::tie(call.outputs[0], call.outputs[1]) = along(call[0], dim, keepdim); });
  };
}

absl::StatusOr<Kernel> MakeMode(const NodeContext& c) {
  const int64_t dim = c.Int("dim", -1);
  const bool keepdim = c.Bool("keepdim");
  return Kernel(
      [=](const Call& call) { std::tie(call.outputs[0], call.outputs[1]) = at::mode(call[0], dim, keepdim); });
}

absl::StatusOr<Kernel> MakeKthvalue(const NodeContext& c) {
  const int64_t k = c.Int("k"), dim = c.Int("dim", -1);
  const bool keepdim = c.Bool("keepdim");
  return Kernel(
      [=](const Call& call) { std::tie(call.outputs[0], call.outputs[1]) = at::kthvalue(call[0], k, dim, keepdim); });
}

// torch.norm: p is a number, "fro" or None (= "fro").
absl::StatusOr<Kernel> MakeNorm(const NodeContext& c) {
  const Reduction r = ReductionOf(c);
  const std::string text = c.String("p");
  if (!text.empty() && text != "fro") return Refused(c, "p = '" + text + "'");
  const at::Scalar p = text.empty() ? c.Scalar("p", 2) : at::Scalar(2);
  if (!r.dim) return Kernel([=](const Call& call) { call.outputs[0] = at::norm(call[0], p); });
  return Kernel([=](const Call& call) { call.outputs[0] = at::norm(call[0], p, *r.dim, r.keepdim); });
}

absl::StatusOr<Kernel> MakeLinalgNorm(const NodeContext& c) {
  const Reduction r = ReductionOf(c);
  const std::string text = c.String("ord");
  if (!text.empty()) {
    return Kernel([=](const Call& call) {
      call.outputs[0] = at::linalg_norm(call[0], c10::string_view(text), r.Dim(), r.keepdim, r.dtype);
    });
  }
  const auto ord = c.OptionalScalar("ord");
  return Kernel(
      [=](const Call& call) { call.outputs[0] = at::linalg_norm(call[0], ord, r.Dim(), r.keepdim, r.dtype); });
}

absl::StatusOr<Kernel> MakeVectorNorm(const NodeContext& c) {
  const Reduction r = ReductionOf(c);
  const at::Scalar ord = c.Scalar("ord", 2);
  return Kernel(
      [=](const Call& call) { call.outputs[0] = at::linalg_vector_norm(call[0], ord, r.Dim(), r.keepdim, r.dtype); });
}

template <typename F>
KernelFactory Scan(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t dim = c.Int("dim");
    const OptionalType dtype = c.DType("dtype");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], dim, dtype); });
  };
}

absl::StatusOr<Kernel> MakeDiff(const NodeContext& c) {
  if (c.has(1) || c.has(2)) return BoxedKernel()(c);
  const int64_t n = c.Int("n", 1), dim = c.Int("dim", -1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::diff(call[0], n, dim); });
}

absl::StatusOr<Kernel> MakeGradient(const NodeContext& c) {
  Ints dims = c.Ints("dim");
  const bool all = dims.empty();
  for (int64_t i = 0; all && i < c.inputs[0]->rank(); ++i) dims.push_back(i);
  std::vector<at::Scalar> spacing;
  const graph::AttributeValue* given = c.node.attributes.Find("spacing");
  if (const auto* list = given == nullptr ? nullptr : std::get_if<std::vector<double>>(given))
    spacing.assign(list->begin(), list->end());
  if (spacing.empty()) spacing.assign(dims.size(), c.Scalar("spacing", 1));
  const int64_t order = c.Int("edge_order", 1);
  return Kernel([=](const Call& call) {
    const std::vector<at::Tensor> out = at::gradient(call[0], at::ArrayRef<at::Scalar>(spacing), dims, order);
    std::copy(out.begin(), out.end(), call.outputs);
  });
}

absl::StatusOr<Kernel> MakeTopk(const NodeContext& c) {
  const int64_t k = c.Int("k"), dim = c.Int("dim", -1);
  const bool largest = c.Bool("largest", true), sorted = c.Bool("sorted", true);
  return Kernel([=](const Call& call) {
    std::tie(call.outputs[0], call.outputs[1]) = at::topk(call[0], k, dim, largest, sorted);
  });
}

absl::StatusOr<Kernel> MakeSort(const NodeContext& c) {
  const bool stable = c.Bool("stable"), descending = c.Bool("descending");
  const int64_t dim = c.Int("dim", -1);
  return Kernel([=](const Call& call) {
    std::tie(call.outputs[0], call.outputs[1]) = at::sort(call[0], c10::optional<bool>(stable), dim, descending);
  });
}

absl::StatusOr<Kernel> MakeArgsort(const NodeContext& c) {
  if (c.HasValue("stable")) return BoxedKernel()(c);
  const bool descending = c.Bool("descending");
  const int64_t dim = c.Int("dim", -1);
  return Kernel([=](const Call& call) { call.outputs[0] = at::argsort(call[0], dim, descending); });
}

absl::StatusOr<Kernel> MakeTrace(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = at::trace(call[0]); });
}

}  // namespace

#define COBRA_EXTREMUM(function)                                                    \
  Extremum([](const at::Tensor& x) { return function(x); },                         \
           [](const at::Tensor& a, const at::Tensor& b) { return function(a, b); }, \
           [](const at::Tensor& x, int64_t d, bool k) { return function(x, d, k); })

void AddReductionKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::sum] = Reduce(Sum);
  t[graph::Op::mean] = Reduce(Mean);
  t[graph::Op::prod] = Reduce(Prod);
  t[graph::Op::amax] = Reduce(Amax);
  t[graph::Op::amin] = Reduce(Amin);
  t[graph::Op::any] = Reduce(Any);
  t[graph::Op::all] = Reduce(All);
  t[graph::Op::argmax] = Reduce(Argmax);
  t[graph::Op::argmin] = Reduce(Argmin);
  t[graph::Op::count_nonzero] = Reduce(CountNonzero);
  t[graph::Op::logsumexp] = Reduce(Logsumexp);
  t[graph::Op::var] =
      Spread([](const at::Tensor& x, const Reduction& r, int64_t n) { return at::var(x, r.Dim(), n, r.keepdim); });
  t[graph::Op::std] =
      Spread([](const at::Tensor& x, const Reduction& r, int64_t n) { return at::std(x, r.Dim(), n, r.keepdim); });
  t[graph::Op::var_mean] = SpreadAndMean(
      [](const at::Tensor& x, const Reduction& r, int64_t n) { return at::var_mean(x, r.Dim(), n, r.keepdim); });
  t[graph::Op::std_mean] = SpreadAndMean(
      [](const at::Tensor& x, const Reduction& r, int64_t n) { return at::std_mean(x, r.Dim(), n, r.keepdim); });
  t[graph::Op::aminmax] = MakeAminmax;
  t[graph::Op::max] = COBRA_EXTREMUM(at::max);
  t[graph::Op::min] = COBRA_EXTREMUM(at::min);
  t[graph::Op::median] = Extremum([](const at::Tensor& x) { return at::median(x); },
                                  [](const at::Tensor& a, const at::Tensor&) { return a; },
                                  [](const at::Tensor& x, int64_t d, bool k) { return at::median(x, d, k); });
  t[graph::Op::mode] = MakeMode;
  t[graph::Op::kthvalue] = MakeKthvalue;
  t[graph::Op::norm] = MakeNorm;
  t[graph::Op::linalg_norm] = MakeLinalgNorm;
  t[graph::Op::linalg_vector_norm] = MakeVectorNorm;
  t[graph::Op::cumsum] = Scan([](const at::Tensor& x, int64_t d, OptionalType t) { return at::cumsum(x, d, t); });
  t[graph::Op::cumprod] = Scan([](const at::Tensor& x, int64_t d, OptionalType t) { return at::cumprod(x, d, t); });
  t[graph::Op::diff] = MakeDiff;
  t[graph::Op::gradient] = MakeGradient;
  t[graph::Op::topk] = MakeTopk;
  t[graph::Op::sort] = MakeSort;
  t[graph::Op::argsort] = MakeArgsort;
  t[graph::Op::trace] = MakeTrace;
}

}  // namespace cobra::worker
