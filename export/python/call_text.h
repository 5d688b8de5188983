// How a call of the graph is written in Python: calls.def.
#ifndef COBRA_EXPORT_PYTHON_CALL_TEXT_H_
#define COBRA_EXPORT_PYTHON_CALL_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"

namespace cobra::exporting {

struct CallText {
  std::string text;
  // `text` changes its first operand and has no value (an assignment to elements); an empty one
  // does nothing. The call's output is operand `is_operand`.
  bool is_statement = false;
  int is_operand = 0;
  // The call returns a tuple of this many values; 0: one value that is not a tuple.
  int tuple = 0;
};

// `operands`: how each input of the node is written; empty for an absent one.
absl::StatusOr<CallText> WriteCall(const graph::Node& node, absl::Span<const std::string> operands);

// "torch.float32"
std::string DTypeText(graph::DType dtype);
// "0.5", "float('inf')"
std::string NumberText(double value);
// "(1, 2)", "(1,)"
std::string TupleText(absl::Span<const int64_t> values);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_PYTHON_CALL_TEXT_H_
