// What the operators of the domain com.microsoft have in common.
#ifndef COBRA_FRONTEND_ONNX_OPERATORS_MICROSOFT_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_MICROSOFT_H_

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// [batch, ..., channels] as [batch, channels, ...], and back.
absl::StatusOr<TensorPtr> ChannelsSecond(NodeContext& c, const TensorPtr& x);
absl::StatusOr<TensorPtr> ChannelsLast(NodeContext& c, const TensorPtr& x);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_MICROSOFT_H_
