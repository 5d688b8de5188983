#include <cmath>

#include "ATen/ops/_lu_with_info.h"
#include "ATen/ops/addmm.h"
#include "ATen/ops/baddbmm.h"
#include "ATen/ops/bilinear.h"
#include "ATen/ops/bmm.h"
#include "ATen/ops/cdist.h"
#include "ATen/ops/chunk.h"
#include "ATen/ops/div.h"
#include "ATen/ops/dot.h"
#include "ATen/ops/dropout.h"
#include "ATen/ops/einsum.h"
#include "ATen/ops/gru.h"
#include "ATen/ops/linear.h"
#include "ATen/ops/lstm.h"
#include "ATen/ops/matmul.h"
#include "ATen/ops/mm.h"
#include "ATen/ops/mv.h"
#include "ATen/ops/narrow.h"
#include "ATen/ops/outer.h"
#include "ATen/ops/rnn_relu.h"
#include "ATen/ops/rnn_tanh.h"
#include "ATen/ops/softmax.h"
#include "ATen/ops/sum.h"
#include "ATen/ops/tensor.h"
#include "ATen/ops/unsqueeze.h"
#include "ATen/ops/zeros_like.h"
#include "worker/execute/executor_kernels.h"
#include "worker/execute/executor_version.h"
#if COBRA_TORCH_AT_LEAST(2, 5)
#include "ATen/ops/scaled_dot_product_attention.h"
#else
#include "ATen/ops/_scaled_dot_product_attention.h"
#endif
#if COBRA_TORCH_AT_LEAST(2, 10)
#include "ATen/ops/_grouped_mm.h"
#else
#include "ATen/ops/empty.h"
#endif

namespace cobra::worker {
namespace {

absl::StatusOr<Kernel> MakeLinear(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = at::linear(call[0], call[1], call.Optional(2)); });
}

absl::StatusOr<Kernel> MakeBilinear(const NodeContext& c) {
  return Kernel([](const Call& call) { call.outputs[0] = at::bilinear(call[0], call[1], call[2], call.Optional(3)); });
}

template <typename F>
KernelFactory WithBetaAlpha(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const at::Scalar beta = c.Scalar("beta", 1), alpha = c.Scalar("alpha", 1);
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], call[1], call[2], beta, alpha); });
  };
}

absl::StatusOr<Kernel> MakeEinsum(const NodeContext& c) {
  const std::string equation = c.String("equation");
  return Kernel([=](const Call& call) { call.outputs[0] = at::einsum(equation, call.From(0)); });
}

#if COBRA_TORCH_AT_LEAST(2, 5)
absl::StatusOr<Kernel> MakeSdpa(const NodeContext& c) {
  const bool causal = c.Bool("is_causal"), grouped = c.Bool("enable_gqa");
  const c10::optional<double> scale = c.OptionalDouble("scale");
  return Kernel([=](const Call& call) {
    call.outputs[0] =
        at::scaled_dot_product_attention(call[0], call[1], call[2], call.Optional(3), 0.0, causal, scale, grouped);
  });
}
#else
// LibTorch 1.13 has it as _scaled_dot_product_attention, always with a scale of 1/sqrt(head width).
absl::StatusOr<Kernel> MakeSdpa(const NodeContext& c) {
  const bool causal = c.Bool("is_causal");
  if (c.HasValue("scale") || c.Bool("enable_gqa")) return Refused(c, "scale and enable_gqa need a newer LibTorch");
  return Kernel([=](const Call& call) {
    call.outputs[0] = std::get<0>(at::_scaled_dot_product_attention(call[0], call[1], call[2], call.Optional(3), 0.0,
                                                                    /*need_attn_weights=*/false, causal));
  });
}
#endif

// torch.nn.functional.multi_head_attention_forward, statement by statement: packed projection, one
// product for all heads, softmax. Inputs by position: 0 query, 1 key, 2 value, 3 in_proj_weight, 4
// in_proj_bias, 7 out_proj_weight, 8 out_proj_bias, 10 attn_mask.
struct Attention {
  int64_t heads;
  double dropout;  // of the weights, in training
  bool need_weights, average_weights, same_query_key, same_key_value, batched;

  // From LibTorch 2.0 on, attention is one operator if its weights are not returned.
  bool FusesHeads() const { return COBRA_TORCH_AT_LEAST(2, 5) && !need_weights; }
};

// All heads at once: (target * batch) x width.
at::Tensor FusedHeads(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, c10::optional<at::Tensor> mask,
                      int64_t batch, const Attention& a) {
  const int64_t heads = a.heads;
#if COBRA_TORCH_AT_LEAST(2, 5)
  const auto split = [&](const at::Tensor& t) { return t.view({batch, heads, t.size(1), t.size(2)}); };
  if (mask) mask = mask->size(0) == 1 ? mask->unsqueeze(0) : mask->view({batch, heads, -1, k.size(1)});
  const at::Tensor output = at::scaled_dot_product_attention(split(q), split(k), split(v), mask, a.dropout);
  return output.permute({2, 0, 1, 3}).contiguous().view({q.size(1) * batch, heads * q.size(2)});
#else
  (void)q, (void)k, (void)v, (void)mask, (void)batch, (void)a, (void)heads;
  return at::Tensor();
#endif
}

void Project(const Call& call, const Attention& a, const at::Tensor& query, const at::Tensor& key,
             const at::Tensor& value, std::array<at::Tensor, 3>* qkv) {
  const int64_t width = query.size(-1);
  const at::Tensor& w = call[3];
  const c10::optional<at::Tensor> b = call.Optional(4);
  if (a.same_query_key && a.same_key_value) {
    const at::Tensor packed = at::linear(query, w, b);
#if COBRA_TORCH_AT_LEAST(2, 0)  // one copy makes each part contiguous
    const at::Tensor parts =
        packed.view({query.size(0), query.size(1), 3, width}).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous();
#else
    const std::vector<at::Tensor> parts = at::chunk(packed, 3, -1);
#endif
    for (int i = 0; i < 3; ++i) (*qkv)[i] = parts[i];
    return;
  }
  const auto rows = [&](int64_t from, int64_t count) { return at::narrow(w, 0, from * width, count * width); };
  const auto bias = [&](int64_t from, int64_t count) {
    return b ? c10::optional<at::Tensor>(at::narrow(*b, 0, from * width, count * width)) : c10::nullopt;
  };
  (*qkv)[0] = at::linear(query, rows(0, 1), bias(0, 1));
  if (a.same_key_value) {
    const std::vector<at::Tensor> parts = at::chunk(at::linear(key, rows(1, 2), bias(1, 2)), 2, -1);
    (*qkv)[1] = parts[0];
    (*qkv)[2] = parts[1];
    return;
  }
  (*qkv)[1] = at::linear(key, rows(1, 1), bias(1, 1));
  (*qkv)[2] = at::linear(value, rows(2, 1), bias(2, 1));
}

void Attend(const Call& call, const Attention& a) {
  const auto batched = [&](const at::Tensor& t) { return a.batched ? t : at::unsqueeze(t, 1); };
  const at::Tensor query = batched(call[0]), key = batched(call[1]), value = batched(call[2]);
  const int64_t target = query.size(0), batch = query.size(1), width = query.size(2), source = key.size(0);
  const int64_t head_width = width / a.heads;
  std::array<at::Tensor, 3> qkv;
  Project(call, a, query, key, value, &qkv);
  const auto by_head = [&](const at::Tensor& t) {
    return t.contiguous().view({t.size(0), batch * a.heads, head_width}).transpose(0, 1);
  };
  const at::Tensor k = by_head(qkv[1]), v = by_head(qkv[2]);
  c10::optional<at::Tensor> mask;
  if (call.has(10)) {
    mask = call[10];
    if (mask->dim() == 2) mask = mask->unsqueeze(0);
    if (mask->scalar_type() == at::kBool) {
      mask = at::zeros_like(*mask, k.options()).masked_fill_(*mask, -std::numeric_limits<double>::infinity());
    }
  }
  at::Tensor weights, output;
  if (a.FusesHeads()) {
    output = FusedHeads(by_head(qkv[0]), k, v, mask, batch, a);
  } else {
    const at::Tensor q = at::div(by_head(qkv[0]), std::sqrt(static_cast<double>(head_width)));
    weights = mask ? at::baddbmm(*mask, q, k.transpose(-2, -1)) : at::bmm(q, k.transpose(-2, -1));
    weights = at::softmax(weights, -1);
    if (a.dropout > 0) weights = at::dropout(weights, a.dropout, /*train=*/true);
    output = at::bmm(weights, v).transpose(0, 1).contiguous().view({target * batch, width});
  }
  output = at::linear(output, call[7], call.Optional(8));
  output = output.view({target, batch, output.size(1)});
  call.outputs[0] = a.batched ? output : output.squeeze(1);
  if (!a.need_weights) return;
  weights = weights.view({batch, a.heads, target, source});
  if (a.average_weights) weights = at::div(at::sum(weights, at::IntArrayRef{1}), a.heads);
  call.outputs[1] = a.batched ? weights : weights.squeeze(0);
}

absl::StatusOr<Kernel> MakeMultiHeadAttention(const NodeContext& c) {
  for (int i : {5, 6, 9, 11, 12, 13, 14, 15}) {
    if (c.has(i))
      return Refused(c, "bias_k, key_padding_mask, separate projections and static keys are not measured yet");
  }
  if (!c.has(3) || c.Bool("add_zero_attn")) return Refused(c, "needs a packed projection and no add_zero_attn");
  Attention a;
  a.heads = c.Int("num_heads", 1);
  a.dropout = c.Bool("training") ? c.Double("dropout_p", 0) : 0;
  a.need_weights = c.Bool("need_weights", true) && c.node.outputs.size() > 1;
  a.average_weights = c.Bool("average_attn_weights", true);
  a.same_query_key = c.node.inputs[0] == c.node.inputs[1];
  a.same_key_value = c.node.inputs[1] == c.node.inputs[2];
  a.batched = c.inputs[0]->rank() == 3;
  return Kernel([a](const Call& call) { Attend(call, a); });
}

struct Recurrence {
  bool has_biases, bidirectional, batch_first, training;
  int64_t layers;
  double dropout;          // between layers, in training
  at::Tensor batch_sizes;  // of a packed batch, on the CPU as LibTorch requires; otherwise undefined

  // The last input of a packed batch is the tensor of batch sizes: leave it out, the attribute has
  // its values.
  std::vector<at::Tensor> Weights(const Call& call, size_t first) const {
    std::vector<at::Tensor> weights = call.From(first);
    if (batch_sizes.defined()) weights.pop_back();
    return weights;
  }
};

Recurrence RecurrenceOf(const NodeContext& c) {
  const bool training = c.Bool("training");
  Recurrence r{c.Bool("has_biases", true),
               c.Bool("bidirectional"),
               c.Bool("batch_first"),
               training,
               c.Int("num_layers", 1),
               training ? c.Double("dropout", 0) : 0,
               {}};
  if (c.HasValue("batch_sizes")) r.batch_sizes = at::tensor(c.Ints("batch_sizes"), at::kLong);
  return r;
}

absl::StatusOr<Kernel> MakeLstm(const NodeContext& c) {
  const Recurrence r = RecurrenceOf(c);
  if (r.batch_sizes.defined()) {
    return Kernel([r](const Call& call) {
      std::tie(call.outputs[0], call.outputs[1], call.outputs[2]) =
          at::lstm(call[0], r.batch_sizes, {call[1], call[2]}, r.Weights(call, 3), r.has_biases, r.layers, r.dropout,
                   r.training, r.bidirectional);
    });
  }
  return Kernel([r](const Call& call) {
    std::tie(call.outputs[0], call.outputs[1], call.outputs[2]) =
        at::lstm(call[0], {call[1], call[2]}, call.From(3), r.has_biases, r.layers, r.dropout, r.training,
                 r.bidirectional, r.batch_first);
  });
}

template <typename F, typename Packed>
KernelFactory Recurrent(F f, Packed packed) {
  return [f, packed](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const Recurrence r = RecurrenceOf(c);
    if (r.batch_sizes.defined()) {
      return Kernel([r, packed](const Call& call) {
        std::tie(call.outputs[0], call.outputs[1]) =
            packed(call[0], r.batch_sizes, call[1], r.Weights(call, 2), r.has_biases, r.layers, r.dropout, r.training,
                   r.bidirectional);
      });
    }
    return Kernel([r, f](const Call& call) {
      std::tie(call.outputs[0], call.outputs[1]) = f(call[0], call[1], call.From(2), r.has_biases, r.layers, r.dropout,
                                                     r.training, r.bidirectional, r.batch_first);
    });
  };
}

absl::StatusOr<Kernel> MakeCdist(const NodeContext& c) {
  const double p = c.Double("p", 2);
  const std::string mode = c.String("compute_mode", "use_mm_for_euclid_dist_if_necessary");
  const c10::optional<int64_t> number = mode == "use_mm_for_euclid_dist"         ? c10::optional<int64_t>(1)
                                        : mode == "donot_use_mm_for_euclid_dist" ? c10::optional<int64_t>(2)
                                                                                 : c10::nullopt;
  return Kernel([=](const Call& call) { call.outputs[0] = at::cdist(call[0], call[1], p, number); });
}

absl::StatusOr<Kernel> MakeLu(const NodeContext& c) {
  const bool pivot = c.Bool("pivot", true), infos = c.node.outputs.size() > 2;
  return Kernel([=](const Call& call) {
    at::Tensor info;
    std::tie(call.outputs[0], call.outputs[1], info) = at::_lu_with_info(call[0], pivot, /*check_errors=*/!infos);
    if (infos) call.outputs[2] = info;
  });
}

#if COBRA_TORCH_AT_LEAST(2, 10)
absl::StatusOr<Kernel> MakeGroupedMm(const NodeContext& c) {
  return Kernel([](const Call& call) {
    call.outputs[0] = at::_grouped_mm(call[0], call[1], call.Optional(2), call.Optional(3));
  });
}
#else
// What newer versions run on a CPU: a product for each group.
absl::StatusOr<Kernel> MakeGroupedMm(const NodeContext& c) {
  const graph::Shape shape = c.node.outputs[0].shape;
  return Kernel([=](const Call& call) {
    const at::Tensor &a = call[0], &b = call[1];
    if (a.dim() == 3 && b.dim() == 3) {
      call.outputs[0] = at::bmm(a, b);
      return;
    }
    const at::Tensor offsets = call[2].to(at::kCPU);
    at::Tensor out = at::empty(at::IntArrayRef(shape.data(), shape.size()), a.options());
    int64_t start = 0;
    for (int64_t group = 0; group < offsets.numel(); ++group) {
      const int64_t rows = std::max<int64_t>(0, offsets.data_ptr<int32_t>()[group] - start);
      if (a.dim() == 2 && b.dim() == 3) {
        at::Tensor result = out.narrow(0, start, rows);
        at::mm_out(result, a.narrow(0, start, rows), b.select(0, group));
      } else if (a.dim() == 3) {
        at::Tensor result = out.narrow(1, start, rows);
        at::mm_out(result, a.select(0, group), b.narrow(1, start, rows));
      } else {
        at::Tensor result = out.select(0, group);
        at::mm_out(result, a.narrow(1, start, rows), b.narrow(0, start, rows));
      }
      start += rows;
    }
    call.outputs[0] = std::move(out);
  });
}
#endif

}  // namespace

#define COBRA_RECURRENT(function)                                                                                   \
  Recurrent([](const at::Tensor& x, const at::Tensor& h, const std::vector<at::Tensor>& p, bool hb, int64_t n,      \
               double d, bool t, bool bi, bool bf) { return function(x, h, p, hb, n, d, t, bi, bf); },              \
            [](const at::Tensor& x, const at::Tensor& sizes, const at::Tensor& h, const std::vector<at::Tensor>& p, \
               bool hb, int64_t n, double d, bool t, bool bi) { return function(x, sizes, h, p, hb, n, d, t, bi); })
#define COBRA_BETA_ALPHA(function)                                                                        \
  WithBetaAlpha([](const at::Tensor& x, const at::Tensor& a, const at::Tensor& b, const at::Scalar& beta, \
                   const at::Scalar& alpha) { return function(x, a, b, beta, alpha); })

void AddProductKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::linear] = MakeLinear;
  t[graph::Op::lu] = MakeLu;
  t[graph::Op::bilinear] = MakeBilinear;
  t.Binary(graph::Op::matmul, at::matmul);
  t.Binary(graph::Op::bmm, at::bmm);
  t.Binary(graph::Op::mm, at::mm);
  t.Binary(graph::Op::mv, at::mv);
  t.Binary(graph::Op::dot, at::dot);
  t.Binary(graph::Op::outer, at::outer);
  t[graph::Op::addmm] = COBRA_BETA_ALPHA(at::addmm);
  t[graph::Op::_grouped_mm] = MakeGroupedMm;
  t[graph::Op::baddbmm] = COBRA_BETA_ALPHA(at::baddbmm);
  t[graph::Op::einsum] = MakeEinsum;
  t[graph::Op::scaled_dot_product_attention] = MakeSdpa;
  t[graph::Op::multi_head_attention_forward] = MakeMultiHeadAttention;
  t[graph::Op::lstm] = MakeLstm;
  t[graph::Op::gru] = COBRA_RECURRENT(at::gru);
  t[graph::Op::rnn_tanh] = COBRA_RECURRENT(at::rnn_tanh);
  t[graph::Op::rnn_relu] = COBRA_RECURRENT(at::rnn_relu);
  t[graph::Op::cdist] = MakeCdist;
}

}  // namespace cobra::worker
