#include "frontend/python/torch/torch_version.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/user_error.h"

namespace cobra::python {

absl::Status CheckTorchVersion(absl::string_view version) {
  constexpr size_t kLongest = 32;
  const bool is_plain = version.size() <= kLongest && absl::c_all_of(version, [](char c) {
                          return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                                 absl::StrContains(".+-_", absl::string_view(&c, 1));
                        });
  const std::vector<std::string> parts = absl::StrSplit(version.substr(0, kLongest), '.');
  int major = 0, minor = 0;
  // After 1.13 came 2.0; of what comes after 2 nothing is known.
  if (is_plain && parts.size() >= 2 && absl::SimpleAtoi(parts[0], &major) && absl::SimpleAtoi(parts[1], &minor) &&
      minor >= 0 && (major == 2 || (major == 1 && minor <= 13)))
    return absl::OkStatus();
  return UserError(
      Diagnostic::Kind::kUsage,
      absl::StrCat("--torch-version ", version.substr(0, kLongest), ": is not a version of PyTorch that is known"),
      absl::StrCat("write it as 1.13.1; the newest is ", kNewestTorchVersion));
}

std::string TorchVersionOf(absl::string_view runtime) {
  if (!absl::ConsumePrefix(&runtime, "libtorch-") && !absl::ConsumePrefix(&runtime, "torch-"))
    return kNewestTorchVersion;
  const auto end = std::find_if(runtime.begin(), runtime.end(),
                                [](char c) { return !absl::ascii_isdigit(static_cast<unsigned char>(c)) && c != '.'; });
  const absl::string_view version = absl::StripSuffix(runtime.substr(0, end - runtime.begin()), ".");
  return CheckTorchVersion(version).ok() ? std::string(version) : kNewestTorchVersion;
}

}  // namespace cobra::python
