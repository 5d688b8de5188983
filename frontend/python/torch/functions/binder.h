// Signatures of torch functions (functions.def) and the binding of one call's arguments to an
// operator's inputs and attributes.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_BINDER_H_
#define COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_BINDER_H_

#include <optional>
#include <string>
#include <vector>

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

enum class ParamKind : uint8_t {
  kTensor,
  kOptionalTensor,
  kTensorList,
  kTensorRest,
  kNumber,
  kTensorOrNumber,
  kInt,
  kFloat,
  kBool,
  kStrictBool,
  kStr,
  kDType,
  kInts,
  kIntsRest,
  kIntOrInts,
  kIntsN,
  kIntsNOrStr,
  kSizesN,
  kFloats,
  kAny,
};

struct Param {
  std::string name;       // in Python
  std::string attribute;  // of the operator, where it is one
  ParamKind kind;
  int count = 0;  // of kIntsN ...
  bool dropped = false, keyword_only = false, required = true;
  graph::AttributeValue fallback = graph::NoneValue{};
  int slot = -1;                              // of OpInfo::inputs; -1: an attribute
  bool is_inplace = false, is_alpha = false;  // recognised by its name
  bool takes_none = false;                    // None means absent
  bool counts = false;                        // True is 1: PyTorch reads it in Python
  bool may_be_empty = false;                  // for kIntsRest: there may be no argument at all
};

struct Overload {
  graph::Op op;
  std::vector<Param> params;
  int positional = 0;                     // how many of them can be positional
  int since_major = 1, since_minor = 13;  // the version of PyTorch
};

Overload ParseOverload(graph::Op op, absl::string_view signature);

struct Bound {
  std::vector<Value> inputs;
  graph::Attributes attributes;
  bool inplace = false;
  std::optional<bool> reduce, size_average;  // of a loss
  std::string problem;                       // why the arguments do not fit this overload
  bool failed = false;                       // an error is pending
};

// False if the arguments do not fit: `out->problem` says why, unless an error is pending.
bool BindArguments(Interpreter& interp, const Overload& overload, absl::Span<const Value> positional,
                   absl::Span<const KeywordArg> keywords, Bound* out);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_BINDER_H_
