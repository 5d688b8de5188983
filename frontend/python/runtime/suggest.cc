#include "frontend/python/runtime/suggest.h"

#include <algorithm>
#include <utility>

namespace cobra::python {
namespace {

constexpr size_t kMaxLength = 60;
constexpr size_t kMaxCandidates = 2000;

// The number of letters that are changed, missing, extra, or exchanged with their neighbour (cnov: conv).
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
