#include "client/answer/path_pattern.h"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "absl/strings/numbers.h"
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

// "3,4", "0-11", "0,2,5, ... 40".
std::string NumbersText(const std::set<int64_t>& numbers) {
  const int64_t first = *numbers.begin(), last = *numbers.rbegin();
  const auto count = static_cast<int64_t>(numbers.size());
  if (count > 2 && last - first + 1 == count) return absl::StrCat(first, "-", last);
  constexpr int64_t kMostListed = 4;
  if (count <= kMostListed) return absl::StrJoin(numbers, ",");
  return absl::StrCat(absl::StrJoin(numbers.begin(), std::next(numbers.begin(), kMostListed - 1), ","), ",...,", last);
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

std::string NumberedPath(const std::vector<absl::string_view>& paths) {
  std::vector<std::set<int64_t>> numbers(Runs(paths[0]).size());
  for (absl::string_view path : paths) {
    const std::vector<absl::string_view> runs = Runs(path);
    for (size_t i = 0; i < runs.size(); ++i) {
      int64_t number = 0;
      if (absl::SimpleAtoi(runs[i], &number)) numbers[i].insert(number);
    }
  }
  std::string text;
  const std::vector<absl::string_view> first = Runs(paths[0]);
  for (size_t i = 0; i < first.size(); ++i)
    absl::StrAppend(&text, numbers[i].size() > 1 ? absl::StrCat("{", NumbersText(numbers[i]), "}") : first[i]);
  return text;
}

}  // namespace cobra::client
