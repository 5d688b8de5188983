// torch.nn.functional.multi_head_attention_forward as the calls that it makes.
#ifndef COBRA_MODEL_PREDICT_AS_RUN_ATTENTION_PARTS_H_
#define COBRA_MODEL_PREDICT_AS_RUN_ATTENTION_PARTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::predict {

// Whether AddAttentionParts knows the calls: not with bias_k and bias_v, static keys or values, or
// add_zero_attn.
bool HasAttentionParts(const graph::Node& call);

// Appends them, for arguments that are in `builder` already. Returns what the call returns: the
// output, and the weights if they are wanted. Autocast's, and training's; in inference without
// autocast nn.MultiheadAttention may take a shorter way with the same products. InvalidArgument if
// a shape does not fit, which the call's own rule excludes.
absl::StatusOr<std::vector<graph::ValueRef>> AddAttentionParts(const graph::Node& call,
                                                               absl::Span<const graph::ValueRef> inputs,
                                                               graph::GraphBuilder* builder);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_AS_RUN_ATTENTION_PARTS_H_
