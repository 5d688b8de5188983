#include "client/path_pattern.h"

#include <cctype>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cobra::client {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// A path split where digits begin and end: "h.3.mlp" -> "h.", "3", ".mlp".
std::vector<absl::string_view> Runs(absl::string_view path) {
  std::vector<absl::string_view> runs;
  for (size_t begin = 0, i = 1; i <= path.size(); ++i) {
    if (i < path.size() && IsDigit(path[i]) == IsDigit(path[begin])) continue;
    runs.push_back(path.substr(begin, i - begin));
    begin = i;
  }
  return runs;
}

}  // namespace

std::string PathPattern(absl::string_view path) {
  std::string pattern;
  for (absl::string_view run : Runs(path)) absl::StrAppend(&pattern, IsDigit(run[0]) ? "*" : run);
  return pattern;
}

std::string CommonPath(const std::vector<absl::string_view>& paths) {
  std::vector<absl::string_view> common = Runs(paths[0]);
  for (absl::string_view path : paths) {
    const std::vector<absl::string_view> runs = Runs(path);
    for (size_t i = 0; i < common.size(); ++i) {
      if (common[i] != runs[i]) common[i] = "*";
    }
  }
  return absl::StrJoin(common, "");
}

}  // namespace cobra::client
