// Networks that a target's runtime cannot run. The model was trained on those that it can, and
// would predict the others with confidence.
#ifndef COBRA_SERVER_READER_RUNTIME_SUPPORT_H_
#define COBRA_SERVER_READER_RUNTIME_SUPPORT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::server {

// "repeat_interleave: ncnn has no layer for it". Empty if nothing is known against it: what export/
// cannot write only because of its arguments is not found here: that takes the network's weights.
// `runtime` as in TargetSpec.
std::string WhyNotRunnable(const graph::Graph& graph, absl::string_view runtime);

}  // namespace cobra::server

#endif  // COBRA_SERVER_READER_RUNTIME_SUPPORT_H_
