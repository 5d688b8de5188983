#include "model/predict/work/cast_work.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "graph/cost/distinct_inputs.h"
#include "graph/cost/touched_bytes.h"
#include "graph/saturated.h"

namespace cobra::predict {
namespace {

using graph::Op;

enum class Computes {
  kInHalf,
  kInFloat32,
  kToFloat32,  // one kernel, which reads what is there
  kAsFirst,
  kAsWidest
};

constexpr Op kHalf[] = {Op::conv1d,
                        Op::conv2d,
                        Op::conv3d,
                        Op::conv_tbc,
                        Op::conv_transpose1d,
                        Op::conv_transpose2d,
                        Op::conv_transpose3d,
                        Op::linear,
                        Op::matmul,
                        Op::linalg_matmul,
                        Op::bmm,
                        Op::mm,
                        Op::mv,
                        Op::addmm,
                        Op::addmv,
                        Op::addr,
                        Op::addbmm,
                        Op::baddbmm,
                        Op::chain_matmul,
                        Op::linalg_multi_dot,
                        Op::linalg_vecdot,
                        Op::einsum,
                        Op::scaled_dot_product_attention,
                        Op::multi_head_attention_forward,
                        Op::prelu,
                        Op::lstm,
                        Op::gru,
                        Op::rnn_tanh,
                        Op::rnn_relu,
                        Op::lstm_cell,
                        Op::gru_cell,
                        Op::rnn_tanh_cell,
                        Op::rnn_relu_cell};
constexpr Op kFloat32[] = {Op::layer_norm,
                           Op::group_norm,
                           Op::normalize,
                           Op::local_response_norm,
                           Op::softplus,
                           Op::exp,
                           Op::expm1,
                           Op::log,
                           Op::log2,
                           Op::log10,
                           Op::log1p,
                           Op::pow,
                           Op::rpow,
                           Op::float_power,
                           Op::reciprocal,
                           Op::rsqrt,
                           Op::acos,
                           Op::asin,
                           Op::cosh,
                           Op::sinh,
                           Op::tan,
                           Op::erfinv,
                           Op::renorm,
                           Op::logsumexp,
                           Op::cosine_similarity,
                           Op::cdist,
                           Op::pdist,
                           Op::dist,
                           Op::interpolate,
                           Op::cross_entropy,
                           Op::mse_loss,
                           Op::l1_loss,
                           Op::smooth_l1_loss,
                           Op::huber_loss,
                           Op::nll_loss,
                           Op::kl_div,
                           Op::poisson_nll_loss,
                           Op::gaussian_nll_loss,
                           Op::hinge_embedding_loss,
                           Op::soft_margin_loss,
                           Op::margin_ranking_loss,
                           Op::cosine_embedding_loss,
                           Op::multi_margin_loss,
                           Op::multilabel_margin_loss,
                           Op::triplet_margin_loss};
constexpr Op kWidens[] = {Op::softmax,
                          Op::log_softmax,
                          Op::softmin,
                          Op::sum,
                          Op::prod,
                          Op::cumsum,
                          Op::cumprod,
                          Op::norm,
                          Op::linalg_norm,
                          Op::linalg_vector_norm,
                          Op::linalg_matrix_norm,
                          Op::frobenius_norm,
                          Op::nuclear_norm,
                          Op::float_};
// Their other arguments are parameters and statistics, which may be float32 beside an input that is
// not.
constexpr Op kFirst[] = {Op::batch_norm, Op::instance_norm, Op::setitem, Op::rms_norm, Op::to, Op::type_as};

Computes HowItComputes(Op op) {
  if (absl::c_linear_search(kHalf, op)) return Computes::kInHalf;
  if (absl::c_linear_search(kFloat32, op)) return Computes::kInFloat32;
  if (absl::c_linear_search(kWidens, op)) return Computes::kToFloat32;
  return absl::c_linear_search(kFirst, op) ? Computes::kAsFirst : Computes::kAsWidest;
}

class Autocast {
 public:
  explicit Autocast(const graph::Graph& graph) : graph_(graph), is_wide_(graph.nodes().size()) {}

  CastWork Next(int32_t node) {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(node)];
    const Computes how = HowItComputes(call.op);
    const bool casts = how == Computes::kInHalf || how == Computes::kInFloat32;
    const bool is_wide = casts ? how == Computes::kInFloat32 : how == Computes::kToFloat32 || IsWideOf(call, how);
    is_wide_[static_cast<size_t>(node)] = is_wide;
    CastWork work;
    if (IsView(call) || IsAlias(graph_, call)) return work;
    for (const size_t i : graph::DistinctInputs(call)) {
      const graph::ValueRef& input = call.inputs[i];
      if (!IsFloat(input)) continue;
      if (casts && IsWide(input) != is_wide) {
        const int64_t bytes = graph_.TypeOf(input).num_bytes();  // all of it, whatever the call reads
        ++work.casts;
        work.cast_bytes = graph::Plus(work.cast_bytes, graph::Plus(bytes, bytes / 2));
      }
      if (casts ? is_wide : IsWide(input))
        work.wide_bytes = graph::Plus(work.wide_bytes, graph::BytesRead(graph_, call, i));
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      if (is_wide && call.outputs[i].dtype == graph::DType::float32)
        work.wide_bytes = graph::Plus(work.wide_bytes, graph::BytesWritten(graph_, call, i));
    }
    return work;
  }

 private:
  bool IsFloat(const graph::ValueRef& value) const {
    return !value.is_none() && graph_.TypeOf(value).dtype == graph::DType::float32;
  }
  bool IsWide(const graph::ValueRef& value) const {
    return !value.is_node() || is_wide_[static_cast<size_t>(value.index)];
  }

  // A tensor without dimensions does not make the others wider.
  bool IsWideOf(const graph::Node& call, Computes how) const {
    bool has_dimensions = false, is_wide = false;
    for (const graph::ValueRef& input : call.inputs) {
      if (!IsFloat(input)) continue;
      const bool of_dimensions = graph_.TypeOf(input).rank() > 0;
      if (of_dimensions && !has_dimensions) is_wide = false;
      if (of_dimensions || !has_dimensions) is_wide = is_wide || IsWide(input);
      has_dimensions = has_dimensions || of_dimensions;
      if (how == Computes::kAsFirst) break;
    }
    return is_wide;
  }

  const graph::Graph& graph_;
  std::vector<char> is_wide_;  // of the results of each call
};

}  // namespace

std::vector<CastWork> CastWorkOf(const graph::Graph& graph) {
  Autocast autocast(graph);
  std::vector<CastWork> work;
  for (int32_t node = 0; node < static_cast<int32_t>(graph.nodes().size()); ++node) work.push_back(autocast.Next(node));
  return work;
}

}  // namespace cobra::predict
