// How a call that creates a tensor without an input is written in Python:
//   torch.zeros((2, 3), dtype=torch.float32)
#ifndef COBRA_EXPORT_PYTHON_CREATION_TEXT_H_
#define COBRA_EXPORT_PYTHON_CREATION_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::exporting {

// REQUIRES: `node` has no inputs.
std::string CreationText(const graph::Node& node, absl::string_view function);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_PYTHON_CREATION_TEXT_H_
