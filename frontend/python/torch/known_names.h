#ifndef COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_

#include "absl/strings/string_view.h"

namespace cobra::python {

// Whether PyTorch's module (or class "torch.Tensor") has a public attribute of that name.
bool IsKnownTorchName(absl::string_view module, absl::string_view name);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
