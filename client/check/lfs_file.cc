#include "client/check/lfs_file.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file/file.h"
#include "base/text/hex_digits.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostPointerBytes = 1024;  // git-lfs takes no larger file for a pointer

}  // namespace

std::optional<LfsPointer> ReadLfsPointer(const std::string& file) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || fs::file_size(file, error) > kMostPointerBytes)
    return std::nullopt;
  const std::string text = ReadFile(file, kMostPointerBytes).value_or("");
  if (!absl::StartsWith(text, "version https://git-lfs.github.com/spec/")) return std::nullopt;
  LfsPointer pointer;
  bool has_size = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::ConsumePrefix(&line, "oid sha256:")) pointer.sha256 = std::string(line);
    if (absl::ConsumePrefix(&line, "size ")) has_size = absl::SimpleAtoi(line, &pointer.bytes);
  }
  if (!has_size || !IsHexDigits(pointer.sha256, kSha256Digits)) return std::nullopt;
  return pointer;
}

bool FillLfsFile(const LfsPointer& pointer, const std::string& objects, const std::string& file) {
  const std::string& name = pointer.sha256;
  const std::string object = absl::StrCat(objects, "/", name.substr(0, 2), "/", name.substr(2, 2), "/", name);
  std::error_code error;
  if (!fs::is_regular_file(object, error) || fs::file_size(object, error) != static_cast<uint64_t>(pointer.bytes))
    return false;
  return fs::copy_file(object, file, fs::copy_options::overwrite_existing, error);
}

}  // namespace cobra::client
