// `cobra-client graph`: the graph of a model, shown or written as a model of another form.
#ifndef COBRA_CLIENT_EXPLAIN_GRAPH_COMMAND_H_
#define COBRA_CLIENT_EXPLAIN_GRAPH_COMMAND_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "client/answer/written_file.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"

namespace cobra::client {

struct GraphFlags {
  ModelArguments model;
  WrittenFile file;
  int64_t seed = 1;  // of the weights
};

// Returns the exit code.
absl::StatusOr<int> RunGraph(const CommonFlags& common, GraphFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_GRAPH_COMMAND_H_
