// Who gives way when there is no room for one more: no caller can take the room of all.
#ifndef COBRA_SERVER_FAIR_ROOM_H_
#define COBRA_SERVER_FAIR_ROOM_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::server {

struct Room {
  size_t most = 0, most_of_caller = 0;
};

struct GivesWay {
  size_t position = 0;  // in `callers`
  bool is_own = false;  // since the newcomer's caller has too many
};

// `callers`: of those that are there, the oldest first. When the newcomer's caller has as many as it may, its oldest
// one gives way; when all have, the oldest one of the caller with the most. Nothing if there is room.
inline std::optional<GivesWay> WhoGivesWay(const std::vector<absl::string_view>& callers, absl::string_view newcomer,
                                           const Room& room) {
  std::map<absl::string_view, size_t> count;
  for (const absl::string_view caller : callers) ++count[caller];
  const bool is_own = count[newcomer] >= room.most_of_caller;
  if (!is_own && callers.size() < room.most) return std::nullopt;
  const auto greediest =
      std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const absl::string_view gives_up = is_own ? newcomer : greediest->first;
  const auto oldest = std::find(callers.begin(), callers.end(), gives_up);
  return GivesWay{static_cast<size_t>(oldest - callers.begin()), is_own};
}

}  // namespace cobra::server

#endif  // COBRA_SERVER_FAIR_ROOM_H_
