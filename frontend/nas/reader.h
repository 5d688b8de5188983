// Architecture string of a NAS space in, graph out. The graph is the complete network of the
// space's paper: every call of its published code, in the same order. docs/nas_spaces.md lists the
// spaces, their options and their strings.
#ifndef COBRA_FRONTEND_NAS_READER_H_
#define COBRA_FRONTEND_NAS_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::nas {

struct ArchitectureRequest {
  // "SPACE:STRING" or "SPACE,option=value,...:STRING":
  // "nasbench201,classes=100:|nor_conv_3x3~0|+..."
  std::string architecture;
  // "1x3x32x32", one per input of the network; empty: those of the space's paper.
  std::vector<std::string> inputs;
  // Whether repeated blocks have module paths and names (NetBuilderOptions::names_blocks).
  bool names_blocks = true;
};

// Errors carry a Diagnostic: usage for a string that is not an architecture of the space (with the
// position in it), model_error for an architecture that cannot be built, limit beyond a limit.
absl::StatusOr<graph::Graph> ReadArchitecture(const ArchitectureRequest& request, const Limits& limits = {});

// The spaces, for messages and help: "darts, fbnet, ...".
std::string ArchitectureSpaces();

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_READER_H_
