#include "ATen/ops/_weight_norm.h"
#include "ATen/ops/add.h"
#include "ATen/ops/avg_pool3d.h"
#include "ATen/ops/batch_norm.h"
#include "ATen/ops/constant_pad_nd.h"
#include "ATen/ops/div.h"
#include "ATen/ops/group_norm.h"
#include "ATen/ops/instance_norm.h"
#include "ATen/ops/layer_norm.h"
#include "ATen/ops/log_softmax.h"
#include "ATen/ops/mean.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/neg.h"
#include "ATen/ops/norm.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/rsqrt.h"
#include "ATen/ops/softmax.h"
#include "ATen/ops/squeeze.h"
#include "ATen/ops/unsqueeze.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

absl::StatusOr<Kernel> MakeBatchNorm(const NodeContext& c) {
  const double eps = c.Double("eps", 1e-5);
  // track_running_stats=False normalises with the batch's own statistics, in eval mode too
  const bool training = !c.has(1) || c.Bool("training");
  return Kernel([=](const Call& call) {
    call.outputs[0] =
        at::batch_norm(call[0], call.Optional(3), call.Optional(4), call.Optional(1), call.Optional(2), training,
                       /*momentum=*/0.1, eps, /*cudnn_enabled=*/true);
  });
}

absl::StatusOr<Kernel> MakeInstanceNorm(const NodeContext& c) {
  const double eps = c.Double("eps", 1e-5);
  const bool use_input_stats = !c.has(1) || c.Bool("use_input_stats");
  return Kernel([=](const Call& call) {
    call.outputs[0] = at::instance_norm(call[0], call.Optional(3), call.Optional(4), call.Optional(1), call.Optional(2),
                                        use_input_stats, /*momentum=*/0.1, eps, /*cudnn_enabled=*/true);
  });
}

absl::StatusOr<Kernel> MakeLayerNorm(const NodeContext& c) {
  const Ints shape = c.Ints("normalized_shape");
  const double eps = c.Double("eps", 1e-5);
  return Kernel([=](const Call& call) {
    call.outputs[0] = at::layer_norm(call[0], shape, call.Optional(1), call.Optional(2), eps);
  });
}

absl::StatusOr<Kernel> MakeGroupNorm(const NodeContext& c) {
  const int64_t groups = c.Int("num_groups", 1);
  const double eps = c.Double("eps", 1e-5);
  return Kernel([=](const Call& call) {
    call.outputs[0] = at::group_norm(call[0], groups, call.Optional(1), call.Optional(2), eps);
  });
}

// This LibTorch does not have it: computed as in the code of models.
absl::StatusOr<Kernel> MakeRmsNorm(const NodeContext& c) {
  Ints dims;
  for (int64_t i = -static_cast<int64_t>(c.Ints("normalized_shape").size()); i < 0; ++i) dims.push_back(i);
  const double eps = c.HasValue("eps") ? c.Double("eps") : 1.1920928955078125e-07;
  return Kernel([=](const Call& call) {
    const at::Tensor& x = call[0];
    const at::Tensor y = at::mul(x, at::rsqrt(at::add(at::mean(at::pow(x, 2), dims, true), eps)));
    call.outputs[0] = call.has(1) ? at::mul(y, call[1]) : y;
  });
}

// F.local_response_norm, step by step.
absl::StatusOr<Kernel> MakeLocalResponseNorm(const NodeContext& c) {
  const int64_t size = c.Int("size");
  const double alpha = c.Double("alpha", 1e-4), beta = c.Double("beta", 0.75), k = c.Double("k", 1);
  if (c.inputs[0]->rank() != 4) return Refused(c, "only for images");
  return Kernel([=](const Call& call) {
    const at::Tensor& x = call[0];
    at::Tensor div = at::unsqueeze(at::mul(x, x), 1);
    div = at::constant_pad_nd(div, {0, 0, 0, 0, size / 2, (size - 1) / 2});
    div = at::squeeze(at::avg_pool3d(div, {size, 1, 1}, 1), 1);
    call.outputs[0] = at::div(x, at::pow(at::add(at::mul(div, alpha), k), beta));
  });
}

absl::StatusOr<Kernel> MakeNormalize(const NodeContext& c) {
  const double p = c.Double("p", 2), eps = c.Double("eps", 1e-12);
  const Ints dim = c.HasValue("dim") ? c.Ints("dim") : Ints{1};
  return Kernel([=](const Call& call) {
    const at::Tensor& x = call[0];
    call.outputs[0] = at::div(x, at::norm(x, p, dim, /*keepdim=*/true).clamp_min_(eps).expand_as(x));
  });
}

template <typename F>
KernelFactory Softmax(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t dim = c.Int("dim", -1);
    const c10::optional<at::ScalarType> dtype = c.DType("dtype");
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], dim, dtype); });
  };
}

}  // namespace

void AddNormKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::batch_norm] = MakeBatchNorm;
  t[graph::Op::instance_norm] = MakeInstanceNorm;
  t[graph::Op::layer_norm] = MakeLayerNorm;
  t[graph::Op::group_norm] = MakeGroupNorm;
  t[graph::Op::rms_norm] = MakeRmsNorm;
  t[graph::Op::local_response_norm] = MakeLocalResponseNorm;
  t[graph::Op::normalize] = MakeNormalize;
  t[graph::Op::_weight_norm] = [](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t dim = c.Int("dim", 0);
    return Kernel([=](const Call& call) { call.outputs[0] = at::_weight_norm(call[0], call[1], dim); });
  };
  using DType = c10::optional<at::ScalarType>;
  t[graph::Op::softmax] = Softmax([](const at::Tensor& x, int64_t d, DType t) { return at::softmax(x, d, t); });
  t[graph::Op::log_softmax] = Softmax([](const at::Tensor& x, int64_t d, DType t) { return at::log_softmax(x, d, t); });
  t[graph::Op::softmin] =
      Softmax([](const at::Tensor& x, int64_t d, DType t) { return at::softmax(at::neg(x), d, t); });
}

}  // namespace cobra::worker
