#include "frontend/python/torch/names/torch_version.h"

#include <algorithm>
#include <optional>
#include <utility>
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
namespace {

constexpr size_t kLongest = 32;

// The first two numbers of a version; nothing: it is none.
std::optional<std::pair<int, int>> NumbersOf(absl::string_view version) {
  const bool is_plain = version.size() <= kLongest && absl::c_all_of(version, [](char c) {
                          return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                                 absl::StrContains(".+-_", absl::string_view(&c, 1));
                        });
  const std::vector<std::string> parts = absl::StrSplit(version.substr(0, kLongest), '.');
  int major = 0, minor = 0;
  if (!is_plain || parts.size() < 2 || !absl::SimpleAtoi(parts[0], &major) || !absl::SimpleAtoi(parts[1], &minor) ||
      major < 0 || minor < 0)
    return std::nullopt;
  return std::pair(major, minor);
}

// After 1.13 came 2.0; of what comes after 2 nothing is known.
bool IsKnown(std::pair<int, int> version) { return version.first == 2 || version == std::pair(1, 13); }
bool IsOlder(std::pair<int, int> version) { return version < std::pair(1, 13); }

}  // namespace

absl::Status CheckTorchVersion(absl::string_view version) {
  const std::optional<std::pair<int, int>> numbers = NumbersOf(version);
  if (numbers.has_value() && IsKnown(*numbers)) return absl::OkStatus();
  if (numbers.has_value() && IsOlder(*numbers)) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("--torch-version ", version, ": is older than any that programs are read as"),
                     absl::StrCat("the oldest is ", kOldestTorchVersion));
  }
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
  const std::optional<std::pair<int, int>> numbers = NumbersOf(version);
  if (!numbers.has_value()) return kNewestTorchVersion;
  return IsKnown(*numbers) ? std::string(version) : IsOlder(*numbers) ? kOldestTorchVersion : kNewestTorchVersion;
}

}  // namespace cobra::python
