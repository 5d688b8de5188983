#ifndef COBRA_FRONTEND_PYTHON_TORCH_NAMES_KNOWN_NAMES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_NAMES_KNOWN_NAMES_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::python {

struct KnownName {
  // For a name that its module only imports: the module that it comes from, and its name there
  // (empty: the module itself). The home of an attribute of "torch.Tensor" that is no method is
  // "property".
  absl::string_view home, attribute;
};

// The entry of a module (or class "torch.Tensor") of that version of PyTorch with that name, if it
// exists. Which names there are is known of 1.13 and of 2.13 (and see versions.h). The versions
// between are taken to have those of both: where a program asks for a name, "not supported" is
// better than a network that PyTorch would not run.
std::optional<KnownName> FindKnownTorchName(absl::string_view module, absl::string_view name, int major, int minor);

// All names of the module.
std::vector<std::string> KnownTorchNames(absl::string_view module, int major, int minor);

// The names of 1.13 that the version lacks.
std::vector<std::string> GoneTorchNames(absl::string_view module, int major, int minor);
bool IsGoneTorchName(absl::string_view module, absl::string_view name, int major, int minor);

// False for a name that PyTorch added after the version, or has removed before it.
bool InTorchVersion(absl::string_view module, absl::string_view name, int major, int minor);

// Whether PyTorch 1.13 has the module: "torch.nn.utils.rnn".
bool IsKnownTorchModule(absl::string_view module);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_NAMES_KNOWN_NAMES_H_
