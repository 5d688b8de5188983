#include "model/predict/work/composite_work.h"

#include <algorithm>

#include "graph/op_rules.h"
#include "graph/saturated.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::Plus;
using graph::Times;

// Kernels, and how many tensors of the size of the first argument they move between them.
struct Parts {
  Op op;
  int64_t kernels, moved;
};
constexpr Parts kParts[] = {
    {Op::normalize, 3, 1},
    {Op::pairwise_distance, 3, 4},
    {Op::cosine_similarity, 10, 9},
    {Op::local_response_norm, 7, 9},
    {Op::logsumexp, 7, 5},
    {Op::special_logsumexp, 7, 5},
    {Op::group_norm, 2, 1},
    {Op::mse_loss, 2, 2},
    {Op::l1_loss, 3, 4},
    {Op::smooth_l1_loss, 2, 2},
    {Op::huber_loss, 2, 2},
    {Op::cross_entropy, 2, 2},
    {Op::binary_cross_entropy, 2, 2},
    {Op::binary_cross_entropy_with_logits, 4, 7},
    {Op::kl_div, 5, 7},
    {Op::poisson_nll_loss, 4, 7},
    {Op::gaussian_nll_loss, 8, 13},
    {Op::hinge_embedding_loss, 7, 11},
    {Op::soft_margin_loss, 5, 8},
    {Op::margin_ranking_loss, 5, 8},
    {Op::cosine_embedding_loss, 16, 10},
    {Op::multilabel_soft_margin_loss, 8, 14},
    {Op::triplet_margin_loss, 10, 8},
    {Op::triplet_margin_with_distance_loss, 10, 8},
};

// Projections, the scores, their softmax, the values, the output, and copies between them. The
// scores are written, read and written again, read for the values and, if the caller wants them,
// for their mean over the heads.
constexpr int64_t kAttentionKernels = 12;
constexpr int64_t kScoresMoved = 5;

CompositeWork MultiHeadWork(const graph::Graph& graph, const graph::Node& node) {
  const graph::Shape& query = graph.TypeOf(node.inputs[0]).shape;
  const int64_t batch = query.size() == 3 ? query[1] : 1, keys = graph.TypeOf(node.inputs[1]).shape[0];
  const int64_t scores = Times(Times(batch, node.attributes.Int("num_heads", 1)), Times(query[0], keys));
  const int64_t bytes = Times(scores, graph::DTypeBytes(node.outputs[0].dtype));
  return {kAttentionKernels, Times(kScoresMoved, bytes), scores};
}

// scaled_dot_product_attention of tensors that have not four dimensions (windows beside heads) has
// no fused kernel (aten/src/ATen/native/transformers/sdp_utils.h, check_tensor_shapes): the scaled
// query and key, the scores, with the mask, their softmax, the values. In half precision PyTorch
// computes all of that in float32 since 2.5.
constexpr int64_t kPlainAttentionKernels = 6;

std::optional<CompositeWork> WindowAttentionWork(const graph::Graph& graph, const graph::Node& node) {
  const graph::Shape& query = graph.TypeOf(node.inputs[0]).shape;
  const graph::Shape& key = graph.TypeOf(node.inputs[1]).shape;
  if (query.size() == 4 || query.size() < 2 || key.size() < 2) return std::nullopt;
  const int64_t scores = AttentionScores(query, key);
  const int64_t bytes = Times(scores, graph::DTypeBytes(node.outputs[0].dtype));
  return CompositeWork{kPlainAttentionKernels, Times(kScoresMoved, bytes), scores};
}

}  // namespace

int64_t AttentionScores(const graph::Shape& query, const graph::Shape& key) {
  int64_t scores = key[key.size() - 2];
  for (size_t i = 0; i + 1 < query.size(); ++i) scores = Times(scores, query[i]);
  return scores;
}

std::optional<CompositeWork> CompositeWorkOf(const graph::Graph& graph, const graph::Node& node) {
  if (graph::RulesOf(node.op).kernel == graph::Kernel::kMultiHead) return MultiHeadWork(graph, node);
  if (graph::RulesOf(node.op).kernel == graph::Kernel::kAttention) return WindowAttentionWork(graph, node);
  const auto* const parts =
      std::find_if(std::begin(kParts), std::end(kParts), [&node](const Parts& p) { return p.op == node.op; });
  if (parts == std::end(kParts)) return std::nullopt;
  const graph::TensorType& first = graph.TypeOf(node.inputs[0]);
  return CompositeWork{parts->kernels, Times(parts->moved, first.num_bytes()),
                       Times(parts->kernels, first.num_elements())};
}

}  // namespace cobra::predict
