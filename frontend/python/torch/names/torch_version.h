// The version of PyTorch as which a program is read: the value of torch.__version__, and which
// names there are.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_NAMES_TORCH_VERSION_H_
#define COBRA_FRONTEND_PYTHON_TORCH_NAMES_TORCH_VERSION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::python {

// The newest that models are compared with (tests/frontend/python/libraries). For questions without
// a target, and for targets whose runtime is not PyTorch: what they run was made by a program all
// the same.
inline constexpr char kNewestTorchVersion[] = "2.13.0";
// The names of older ones are not known.
inline constexpr char kOldestTorchVersion[] = "1.13.1";

// Two numbers, "1.13" or "2.5.1+cu121", of a version that is known: 1.13, and 2. UserError
// otherwise. The text is untrusted: at most 32 bytes, letters, digits and ".+-_".
absl::Status CheckTorchVersion(absl::string_view version);

// For a target's runtime (v1::TargetSpec.runtime): "1.13.0" for
// "libtorch-1.13.0+openblas-SkylakeX", "2.13.0" for "torch-2.13.0", kOldestTorchVersion for older
// ones, and kNewestTorchVersion for others, also where that is no version that is known.
std::string TorchVersionOf(absl::string_view runtime);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_NAMES_TORCH_VERSION_H_
