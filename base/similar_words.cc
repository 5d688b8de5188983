#include "base/similar_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace cobra {
namespace {

// Levenshtein's distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestWord(absl::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 40;  // the cost is quadratic in the length, and a mistyped word is never this long
  if (word.size() > kLongest) return "";
  std::string best;
  size_t best_distance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const bool begins = word.size() >= 3 && absl::StartsWith(candidate, word);
    const size_t distance = begins ? 1 : Distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

std::string SimilarNames(absl::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kFew = 40, kShown = 8, kLongest = 64;
  if (known.size() <= kFew) return absl::StrJoin(known, ", ");
  const std::string wanted_name = absl::AsciiStrToLower(name.substr(0, kLongest));
  const auto parts_of = [](absl::string_view text) {
    const std::vector<std::string> parts = absl::StrSplit(text, absl::ByAnyChar("-_ "), absl::SkipEmpty());
    return std::set<std::string>(parts.begin(), parts.end());
  };
  const std::set<std::string> wanted = parts_of(wanted_name);
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (const std::string& candidate : known) {
    const std::string lower = absl::AsciiStrToLower(candidate);
    int64_t shared = absl::StrContains(lower, wanted_name) ? 1 : 0;
    for (const std::string& part : parts_of(lower)) shared += static_cast<int64_t>(wanted.count(part));
    ranked.emplace_back(static_cast<int64_t>(Distance(wanted_name, lower)) - 1000 * shared, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> shown;
  for (size_t i = 0; i < kShown; ++i) shown.push_back(ranked[i].second);
  return absl::StrCat(absl::StrJoin(shown, ", "), " (the nearest of ", known.size(), ")");
}

}  // namespace cobra
