#include "frontend/python/runtime/suggest.h"

#include <algorithm>

namespace cobra::python {
namespace {

constexpr size_t kMaxLength = 60;
constexpr size_t kMaxCandidates = 2000;

// Levenshtein's distance in one row.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t cost = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = row[j];
      row[j] = cost;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string NearestName(absl::string_view name, const std::vector<absl::string_view>& candidates) {
  if (name.size() < 2 || name.size() > kMaxLength || candidates.size() > kMaxCandidates) return "";
  size_t best = (name.size() + 3) / 3;  // about a third of the letters may differ
  std::string nearest;
  for (absl::string_view c : candidates) {
    if (c == name || c.size() > kMaxLength || c.size() + best < name.size() || name.size() + best < c.size()) continue;
    size_t d = Distance(name, c);
    if (d < best) {
      best = d;
      nearest = std::string(c);
    }
  }
  return nearest;
}

}  // namespace cobra::python
