// `cobra-client explain`: where a model spends its time.
#ifndef COBRA_CLIENT_EXPLAIN_EXPLAIN_COMMAND_H_
#define COBRA_CLIENT_EXPLAIN_EXPLAIN_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"

namespace cobra::client {

struct ExplainFlags {
  ModelArguments model;
  // None: no server is used, shares are of FLOPs and bytes. Several: which of them suits the
  // network, and why.
  std::vector<std::string> targets;
  int top = 10;    // groups of equal calls
  std::string by;  // "layer", "module", "op", "line"; empty: an overview
};

// The exit code.
absl::StatusOr<int> RunExplain(const CommonFlags& common, ExplainFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_EXPLAIN_COMMAND_H_
