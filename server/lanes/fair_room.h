// Who gives way when there is no room for one more: no caller can take the room of all.
#ifndef COBRA_SERVER_LANES_FAIR_ROOM_H_
#define COBRA_SERVER_LANES_FAIR_ROOM_H_

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

// `callers`: of those that are there, the oldest first. When the newcomer's caller has as many as
// it may, its oldest one gives way; when all have, the oldest one of the caller with the most. Of
// callers with equally many, whose latest one is the oldest: those that have just come are not all
// attackers. Nothing if there is room.
inline std::optional<GivesWay> WhoGivesWay(const std::vector<absl::string_view>& callers, absl::string_view newcomer,
                                           const Room& room) {
  std::map<absl::string_view, size_t> count, latest;
  for (size_t i = 0; i < callers.size(); ++i) {
    ++count[callers[i]];
    latest[callers[i]] = i;
  }
  const bool is_own = count[newcomer] >= room.most_of_caller;
  if (!is_own && callers.size() < room.most) return std::nullopt;
  absl::string_view gives_up = newcomer;
  if (!is_own) {
    // The newcomer's own entry of `count` may be empty.
    gives_up = std::max_element(count.begin(), count.end(), [&](const auto& a, const auto& b) {
                 if (a.second != b.second) return a.second < b.second;
                 return a.second > 0 && latest[a.first] > latest[b.first];
               })->first;
  }
  const auto oldest = std::find(callers.begin(), callers.end(), gives_up);
  return GivesWay{static_cast<size_t>(oldest - callers.begin()), is_own};
}

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_FAIR_ROOM_H_
