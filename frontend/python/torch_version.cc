#include "frontend/python/torch_version.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"

namespace cobra::python {

std::string TorchVersionOf(absl::string_view runtime) {
  if (!absl::ConsumePrefix(&runtime, "libtorch-") && !absl::ConsumePrefix(&runtime, "torch-"))
    return kNewestTorchVersion;
  const auto end = std::find_if(runtime.begin(), runtime.end(),
                                [](char c) { return !absl::ascii_isdigit(static_cast<unsigned char>(c)) && c != '.'; });
  const absl::string_view version = absl::StripSuffix(runtime.substr(0, end - runtime.begin()), ".");
  return version.empty() ? kNewestTorchVersion : std::string(version);
}

}  // namespace cobra::python
