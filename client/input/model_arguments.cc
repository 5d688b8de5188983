#include "client/input/model_arguments.h"

namespace cobra::client {

Limits LimitsOf(const ModelArguments& model, absl::Duration time) {
  Limits limits;
  limits.wall_time_ms = absl::ToInt64Milliseconds(time);
  for (int64_t* limit : {&limits.steps, &limits.library_steps, &limits.memory_bytes, &limits.graph.max_nodes,
                         &limits.graph.max_results, &limits.graph.max_dimensions, &limits.sequence_items,
                         &limits.source_bytes, &limits.syntax_nodes, &limits.syntax_names, &limits.onnx.max_steps}) {
    *limit = static_cast<int64_t>(static_cast<double>(*limit) * model.limits_times);
  }
  return limits;
}

}  // namespace cobra::client
