#ifndef COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace cobra::python {

struct KnownName {
  // For a name that its module only imports: the module that it comes from, and its name there (empty: the module
  // itself).
  absl::string_view home, attribute;
};

// The entry of PyTorch 1.13's module (or class "torch.Tensor") with that name, if it exists.
std::optional<KnownName> FindKnownTorchName(absl::string_view module, absl::string_view name);

// Whether PyTorch 1.13 has the module: "torch.nn.utils.rnn".
bool IsKnownTorchModule(absl::string_view module);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
