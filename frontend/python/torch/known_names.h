#ifndef COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace cobra::python {

struct KnownName {
  // Of a name that its module only imports: where it comes from, and under what name (empty: the module itself).
  absl::string_view home, attribute;
};

// What PyTorch 1.13's module (or class "torch.Tensor") has under that name, if it has it.
std::optional<KnownName> FindKnownTorchName(absl::string_view module, absl::string_view name);

// Whether PyTorch 1.13 has the module: "torch.nn.utils.rnn".
bool IsKnownTorchModule(absl::string_view module);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_KNOWN_NAMES_H_
