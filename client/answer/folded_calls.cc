#include "client/answer/folded_calls.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/counted.h"
#include "client/terminal/text_table.h"

namespace cobra::client {

void FoldedCalls::Add(absl::string_view op, double us) {
  ++by_op_[std::string(op)];
  ++calls_;
  us_ += us;
}

std::string FoldedCalls::Text(absl::string_view cost_nothing) const {
  std::vector<std::pair<int, std::string>> most;
  for (const auto& [op, calls] : by_op_) most.emplace_back(calls, op);
  std::stable_sort(most.begin(), most.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> named;
  for (const auto& [calls, op] : most) {
    if (named.size() == kMostNamed) break;
    named.push_back(absl::StrCat(calls, " ", op));
  }
  const std::string together = MillisecondsText(us_) == "0.000" || MillisecondsText(us_) == "-0.000"
                                   ? ""
                                   : absl::StrCat(", ", MillisecondsText(us_), " ms together");
  return absl::StrCat("and ", Counted(calls_, "call"), " ", cost_nothing, together, ": ", absl::StrJoin(named, ", "),
                      most.size() > kMostNamed ? ", ..." : "");
}

}  // namespace cobra::client
