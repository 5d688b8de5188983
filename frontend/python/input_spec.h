// An input as users write it:
//   1x3x224x224   1x128:int64   scalar     a tensor
//   None
//   [3x224x224, 3x200x200]   (1x8, 1x8)    a list, a tuple, of any of these
//   {"user": 64:int64, "x": [1x8, 1x8]}    a dictionary; keys with or without quotes
//   NAME=...                               a keyword argument
#ifndef COBRA_FRONTEND_PYTHON_INPUT_SPEC_H_
#define COBRA_FRONTEND_PYTHON_INPUT_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/types.h"

namespace cobra::python {

struct InputValue {
  enum class Kind { kTensor, kNone, kList, kTuple, kDict };
  Kind kind = Kind::kTensor;
  graph::TensorType tensor;       // of kTensor
  std::vector<InputValue> items;  // of a list, tuple or dictionary
  std::vector<std::string> keys;  // of a dictionary: as many as items

  int64_t num_tensors() const;
};

struct InputSpec {
  std::string name;  // of a keyword; empty: positional
  InputValue value;
};

// A usage error that begins with the text if it is none of the above, or nested too deeply.
absl::StatusOr<InputSpec> ParseInput(absl::string_view text);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_INPUT_SPEC_H_
