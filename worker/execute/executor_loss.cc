// Losses as in torch.nn.functional, and other functions that consist of several calls of ATen.
#include "ATen/TensorOperators.h"
#include "ATen/ops/arange.h"
#include "ATen/ops/binary_cross_entropy_with_logits.h"
#include "ATen/ops/broadcast_tensors.h"
#include "ATen/ops/clamp_min.h"
#include "ATen/ops/cross_entropy_loss.h"
#include "ATen/ops/embedding_bag.h"
#include "ATen/ops/exponential.h"
#include "ATen/ops/feature_dropout.h"
#include "ATen/ops/huber_loss.h"
#include "ATen/ops/index_put.h"
#include "ATen/ops/kl_div.h"
#include "ATen/ops/l1_loss.h"
#include "ATen/ops/lstm_cell.h"
#include "ATen/ops/max_unpool2d.h"
#include "ATen/ops/max_unpool3d.h"
#include "ATen/ops/minimum.h"
#include "ATen/ops/mse_loss.h"
#include "ATen/ops/nll_loss_nd.h"
#include "ATen/ops/pairwise_distance.h"
#include "ATen/ops/smooth_l1_loss.h"
#include "ATen/ops/tensordot.h"
#include "ATen/ops/zeros_like.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

int64_t ReductionOf(const NodeContext& c) {
  const std::string text = c.String("reduction", "mean");
  return text == "none" ? 0 : text == "sum" ? 2 : 1;
}

absl::StatusOr<Kernel> MakeCrossEntropy(const NodeContext& c) {
  const int64_t reduction = ReductionOf(c), ignore = c.Int("ignore_index", -100);
  const double smoothing = c.Double("label_smoothing");
  return Kernel([=](const Call& call) {
    call.outputs[0] = at::cross_entropy_loss(call[0], call[1], call.Optional(2), reduction, ignore, smoothing);
  });
}

template <typename F>
KernelFactory Loss(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t reduction = ReductionOf(c);
    const double beta = c.Double("beta", 1);
    return Kernel([=](const Call& call) {  // the functions of torch.nn.functional broadcast first
      const std::vector<at::Tensor> both = at::broadcast_tensors({call[0], call[1]});
      call.outputs[0] = f(both[0], both[1], reduction, beta);
    });
  };
}

at::Tensor ReducedBy(const at::Tensor& loss, int64_t reduction) {
  return reduction == 1 ? loss.mean() : reduction == 2 ? loss.sum() : loss;
}

absl::StatusOr<Kernel> MakeNllLoss(const NodeContext& c) {
  const int64_t reduction = ReductionOf(c), ignore = c.Int("ignore_index", -100);
  return Kernel([=](const Call& call) {
    call.outputs[0] = at::nll_loss_nd(call[0], call[1], call.Optional(2), reduction, ignore);
  });
}

absl::StatusOr<Kernel> MakeKlDiv(const NodeContext& c) {
  const bool batch_mean = c.String("reduction") == "batchmean", log_target = c.Bool("log_target");
  const int64_t reduction = batch_mean ? 2 : ReductionOf(c);
  return Kernel([=](const Call& call) {
    at::Tensor loss = at::kl_div(call[0], call[1], reduction, log_target);
    call.outputs[0] = batch_mean ? loss / call[0].size(0) : loss;
  });
}

absl::StatusOr<Kernel> MakeGaussianNll(const NodeContext& c) {
  const int64_t reduction = ReductionOf(c);
  const double eps = c.Double("eps", 1e-6);
  const bool full = c.Bool("full");
  return Kernel([=](const Call& call) {
    at::Tensor var =
        call[2].sizes() == call[0].sizes() || call[2].dim() == call[0].dim() ? call[2] : call[2].unsqueeze(-1);
    var = at::clamp_min(var.clone(), eps);
    at::Tensor loss = 0.5 * (var.log() + (call[0] - call[1]).pow(2) / var);
    if (full) loss = loss + 0.9189385332046727;  // log(2 pi) / 2
    call.outputs[0] = ReducedBy(loss, reduction);
  });
}

absl::StatusOr<Kernel> MakeMultilabelSoftMargin(const NodeContext& c) {
  const int64_t reduction = ReductionOf(c);
  return Kernel([=](const Call& call) {
    at::Tensor loss = at::binary_cross_entropy_with_logits(call[0], call[1], {}, {}, 0);
    if (call.has(2)) loss = loss * call[2];
    call.outputs[0] = ReducedBy(loss.sum(-1) / call[0].size(-1), reduction);
  });
}

// The distance is torch.nn.PairwiseDistance().
absl::StatusOr<Kernel> MakeTripletWithDistance(const NodeContext& c) {
  const int64_t reduction = ReductionOf(c);
  const double margin = c.Double("margin", 1);
  const bool swap = c.Bool("swap");
  return Kernel([=](const Call& call) {
    at::Tensor near = at::pairwise_distance(call[0], call[1]), far = at::pairwise_distance(call[0], call[2]);
    if (swap) far = at::minimum(far, at::pairwise_distance(call[1], call[2]));
    call.outputs[0] = ReducedBy(at::clamp_min(margin + near - far, 0), reduction);
  });
}

absl::StatusOr<Kernel> MakeGumbelSoftmax(const NodeContext& c) {
  const double tau = c.Double("tau", 1);
  const bool hard = c.Bool("hard");
  const int64_t dim = c.Int("dim", -1);
  return Kernel([=](const Call& call) {
    const at::Tensor noise = -at::zeros_like(call[0]).exponential_().log();
    const at::Tensor soft = ((call[0] + noise) / tau).softmax(dim);
    if (!hard) {
      call.outputs[0] = soft;
      return;
    }
    const at::Tensor index = std::get<1>(soft.max(dim, /*keepdim=*/true));
    call.outputs[0] = at::zeros_like(soft).scatter_(dim, index, 1.0) - soft + soft;
  });
}

absl::StatusOr<Kernel> MakeEmbeddingBag(const NodeContext& c) {
  if (c.HasValue("max_norm")) return Refused(c, "max_norm changes the weight");
  const std::string text = c.String("mode", "mean");
  const int64_t mode = text == "sum" ? 0 : text == "mean" ? 1 : 2;
  const bool last = c.Bool("include_last_offset");
  const auto padding = c.OptionalInt("padding_idx");
  return Kernel([=](const Call& call) {
    at::Tensor indices = call[0], offsets;
    c10::optional<at::Tensor> weights = call.Optional(3);
    if (indices.dim() == 2) {  // each row is a bag
      offsets = at::arange(0, indices.numel(), indices.size(1), indices.options());
      indices = indices.reshape(-1);
      if (weights) weights = weights->reshape(-1);
    } else {
      offsets = call[2];
    }
    call.outputs[0] =
        std::get<0>(at::embedding_bag(call[1], indices, offsets, false, mode, false, weights, last, padding));
  });
}

absl::StatusOr<Kernel> MakeTensordot(const NodeContext& c) {
  Ints left, right;
  if (c.HasValue("axes")) {
    const Ints axes = c.Ints("axes");
    left.assign(axes.begin(), axes.begin() + axes.size() / 2);
    right.assign(axes.begin() + axes.size() / 2, axes.end());
  } else {
    const int64_t n = c.Int("dims", 2);
    for (int64_t i = 0; i < n; ++i) {
      left.push_back(c.inputs[0]->rank() - n + i);
      right.push_back(i);
    }
  }
  return Kernel([=](const Call& call) { call.outputs[0] = at::tensordot(call[0], call[1], left, right); });
}

absl::StatusOr<Kernel> MakeLstmCell(const NodeContext& c) {
  return Kernel([](const Call& call) {
    const std::vector<at::Tensor> state = {call[1], call[2]};
    std::tie(call.outputs[0], call.outputs[1]) = at::lstm_cell(
        call[0], state, call[3], call[4], call.has(5) ? call[5] : at::Tensor(), call.has(6) ? call[6] : at::Tensor());
  });
}

// As in torch.nn.functional: one dimension is treated as two, of which the last is 1.
absl::StatusOr<Kernel> MakeMaxUnpool(const NodeContext& c) {
  const graph::Shape& out = c.node.outputs[0].shape;
  if (c.node.op == graph::Op::max_unpool1d) {
    const Ints size = {out.back(), 1};
    return Kernel([=](const Call& call) {
      call.outputs[0] = at::max_unpool2d(call[0].unsqueeze(-1), call[1].unsqueeze(-1), size).squeeze(-1);
    });
  }
  const Ints size(out.end() - 3, out.end());
  const Ints stride = c.Ints("stride").empty() ? c.Ints("kernel_size") : c.Ints("stride");
  const Ints padding = c.HasValue("padding") ? c.Ints("padding") : Ints{0, 0, 0};
  return Kernel([=](const Call& call) { call.outputs[0] = at::max_unpool3d(call[0], call[1], size, stride, padding); });
}

absl::StatusOr<Kernel> MakeIndexPut(const NodeContext& c) {
  const bool accumulate = c.Bool("accumulate"), inplace = c.inplace();
  return Kernel([=](const Call& call) {
    c10::List<c10::optional<at::Tensor>> indices;
    for (const at::Tensor& index : call.From(2)) indices.push_back(index);
    call.outputs[0] = inplace ? call.Mutable(0).index_put_(indices, call[1], accumulate)
                              : at::index_put(call[0], indices, call[1], accumulate);
  });
}

absl::StatusOr<Kernel> MakeFeatureDropout(const NodeContext& c) {
  const double p = c.Double("p", 0.5);
  const bool training = c.Bool("training");
  return Kernel([=](const Call& call) { call.outputs[0] = at::feature_dropout(call[0], p, training); });
}

}  // namespace

void AddLossKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::cross_entropy] = MakeCrossEntropy;
  t[graph::Op::mse_loss] =
      Loss([](const at::Tensor& a, const at::Tensor& b, int64_t r, double) { return at::mse_loss(a, b, r); });
  t[graph::Op::l1_loss] =
      Loss([](const at::Tensor& a, const at::Tensor& b, int64_t r, double) { return at::l1_loss(a, b, r); });
  t[graph::Op::smooth_l1_loss] = Loss([](const at::Tensor& a, const at::Tensor& b, int64_t r, double beta) {
    return at::smooth_l1_loss(a, b, r, beta);
  });
  t[graph::Op::huber_loss] = [](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const int64_t reduction = ReductionOf(c);
    const double delta = c.Double("delta", 1);
    return Kernel([=](const Call& call) {
      const std::vector<at::Tensor> both = at::broadcast_tensors({call[0], call[1]});
      call.outputs[0] = at::huber_loss(both[0], both[1], reduction, delta);
    });
  };
  t[graph::Op::nll_loss] = MakeNllLoss;
  t[graph::Op::kl_div] = MakeKlDiv;
  t[graph::Op::gaussian_nll_loss] = MakeGaussianNll;
  t[graph::Op::multilabel_soft_margin_loss] = MakeMultilabelSoftMargin;
  t[graph::Op::triplet_margin_with_distance_loss] = MakeTripletWithDistance;
  t[graph::Op::gumbel_softmax] = MakeGumbelSoftmax;
  t[graph::Op::embedding_bag] = MakeEmbeddingBag;
  t[graph::Op::tensordot] = MakeTensordot;
  t[graph::Op::lstm_cell] = MakeLstmCell;
  t[graph::Op::max_unpool1d] = t[graph::Op::max_unpool3d] = MakeMaxUnpool;
  t[graph::Op::index_put] = MakeIndexPut;
  t[graph::Op::feature_dropout] = MakeFeatureDropout;
}

}  // namespace cobra::worker
