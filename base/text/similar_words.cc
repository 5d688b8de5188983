#include "base/text/similar_words.h"

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

// The cost is quadratic in the length, and a mistyped name is never this long.
constexpr size_t kLongest = 60;
constexpr size_t kMostCandidates = 2000;

// The number of letters that are changed, missing, extra, or exchanged with their neighbour (cnov:
// conv).
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = std::move(last);
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Of those that are from `least` to `most` off, or begin with `text`.
template <typename Names>
std::string Nearest(absl::string_view text, const Names& known, size_t least, size_t most, bool end_may_be_missing) {
  std::string nearest;
  size_t best = most + 1;
  for (const absl::string_view candidate : known) {
    if (end_may_be_missing && best > 1 && absl::StartsWith(candidate, text)) {
      best = 1;
      nearest = std::string(candidate);
    }
    if (candidate.size() > kLongest || candidate.size() + best <= text.size() || text.size() + best <= candidate.size())
      continue;
    const size_t distance = Distance(text, candidate);
    if (distance >= best || distance < least) continue;
    best = distance;
    nearest = std::string(candidate);
  }
  return nearest;
}

}  // namespace

std::string NearestName(absl::string_view name, const std::vector<absl::string_view>& known) {
  if (name.size() < 2 || name.size() > kLongest || known.size() > kMostCandidates) return "";
  return Nearest(name, known, 1, name.size() / 3, false);
}

std::string NearestWord(absl::string_view word, const std::vector<std::string>& known) {
  if (word.size() > kLongest) return "";
  const std::string nearest = Nearest(word, known, 0, std::max<size_t>(word.size() / 3, 1), word.size() >= 3);
  if (!nearest.empty()) return nearest;
  constexpr size_t kLeastAlike = 5, kMostOfEnd = 2;  // "library": libraries
  for (const std::string& candidate : known) {
    const size_t most = std::min(word.size(), candidate.size());
    const auto alike =
        static_cast<size_t>(std::mismatch(word.begin(), word.begin() + most, candidate.begin()).first - word.begin());
    if (alike >= kLeastAlike && alike + kMostOfEnd >= word.size()) return candidate;
  }
  return "";
}

std::string SimilarNames(absl::string_view name, const std::vector<std::string>& known) {
  constexpr size_t kFew = 40, kShown = 8;
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
