// The names of each version of PyTorch.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_NAMES_VERSIONS_H_
#define COBRA_FRONTEND_PYTHON_TORCH_NAMES_VERSIONS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::python {

// (2, 4) of ("torch.nn.functional", "rms_norm"); nullopt for names of 1.13, and for names that no
// version has.
std::optional<std::pair<int, int>> TorchNameSince(absl::string_view module, absl::string_view name);
// All of them, of one module.
std::vector<std::pair<std::string, std::pair<int, int>>> LaterTorchNames(absl::string_view module);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_NAMES_VERSIONS_H_
