#include "client/compare/line_changes.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"

namespace cobra::client {
namespace {

constexpr double kUnchangedUs = 0.005;  // a difference left by rounding

using Key = std::pair<std::string, std::string>;

// For each call of `after`, the position of its counterpart in `before`, or -1.
class Counterparts {
 public:
  Counterparts(const std::vector<SavedCall>& before, const std::vector<SavedCall>& after)
      : before_(before), after_(after), found_(after.size(), -1), used_(before.size(), false) {
    Match([](const SavedCall& call) { return Key(call.module, call.op); });
    Match([](const SavedCall& call) { return Key("", call.op); });
  }
  int of(size_t i) const { return found_[i]; }

 private:
  template <typename KeyOf>
  void Match(KeyOf key_of) {
    std::map<Key, std::deque<int>> free;
    for (size_t i = 0; i < before_.size(); ++i) {
      if (!used_[i]) free[key_of(before_[i])].push_back(static_cast<int>(i));
    }
    for (size_t i = 0; i < after_.size(); ++i) {
      if (found_[i] >= 0) continue;
      const auto it = free.find(key_of(after_[i]));
      if (it == free.end() || it->second.empty()) continue;
      found_[i] = it->second.front();
      used_[found_[i]] = true;
      it->second.pop_front();
    }
  }

  const std::vector<SavedCall>& before_;
  const std::vector<SavedCall>& after_;
  std::vector<int> found_;
  std::vector<bool> used_;
};

}  // namespace

std::vector<LineChange> LineChanges(const SavedTarget& before, const SavedTarget& after) {
  const Counterparts counterparts(before.calls, after.calls);
  std::map<std::string, LineChange> by_place;
  std::map<std::string, double> largest;
  for (size_t i = 0; i < after.calls.size(); ++i) {
    const SavedCall& call = after.calls[i];
    LineChange& line = by_place[call.place];
    ++line.after.calls;
    line.after.latency_us += call.latency_us;
    double change = call.latency_us;
    if (const int old = counterparts.of(i); old >= 0) {
      ++line.before.calls;
      line.before.latency_us += before.calls[old].latency_us;
      change -= before.calls[old].latency_us;
    }
    const auto [largest_there, is_first] = largest.emplace(call.place, change);
    if (is_first || change > largest_there->second) {
      largest_there->second = change;
      line.module = call.module;
    }
  }
  std::vector<LineChange> changes;
  for (auto& [place, line] : by_place) {
    line.place = place;
    if (std::abs(line.change_us()) >= kUnchangedUs) changes.push_back(std::move(line));
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const LineChange& a, const LineChange& b) { return a.change_us() > b.change_us(); });
  return changes;
}

SourceLine SplitPlace(absl::string_view place) {
  SourceLine split{std::string(place), 0};
  const size_t colon = place.rfind(':');
  int line = 0;
  if (colon == absl::string_view::npos || !absl::SimpleAtoi(place.substr(colon + 1), &line) || line <= 0) {
    // "net.onnx node 7"
    const size_t node = place.rfind(" node ");
    if (node != absl::string_view::npos) split.file = std::string(place.substr(0, node));
    return split;
  }
  split.file = std::string(place.substr(0, colon));
  split.line = line;
  return split;
}

}  // namespace cobra::client
