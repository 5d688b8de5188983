#include "server/predict/hot_requests.h"

#include <algorithm>
#include <utility>

#include "absl/random/random.h"

namespace cobra::server {

void HotRequests::Asked(const Hash128& request, absl::FunctionRef<std::string()> bytes) {
  // At random: requests that come in turns would fall into step with a counter.
  constexpr uint32_t kOneIn = 16;
  thread_local absl::InsecureBitGen random;
  if (absl::Uniform<uint32_t>(random, 0, kOneIn) != 0 || !mutex_.TryLock()) return;
  if (const auto found = entries_.find(request); found != entries_.end()) {
    ++found->second.count;
  } else if (std::string copy = bytes(); copy.size() <= kMaxBytes) {
    int64_t count = 0;
    while (entries_.size() >= kMost || bytes_ + copy.size() > kMaxAllBytes)
      count = DropLeast();  // the new one may have been asked as often as the one that it replaces
    bytes_ += copy.size();
    entries_.emplace(request, Entry{count + 1, std::move(copy)});
  }
  mutex_.Unlock();
}

int64_t HotRequests::DropLeast() {
  const auto least = std::min_element(entries_.begin(), entries_.end(),
                                      [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
  const int64_t count = least->second.count;
  bytes_ -= least->second.bytes.size();
  entries_.erase(least);
  return count;
}

std::vector<std::string> HotRequests::Hottest() {
  std::vector<std::pair<int64_t, std::string>> counted;
  {
    absl::MutexLock lock(&mutex_);
    for (auto& [request, entry] : entries_) {
      counted.emplace_back(entry.count, entry.bytes);
      entry.count /= 2;
    }
  }
  std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> requests;
  for (auto& [count, bytes] : counted) requests.push_back(std::move(bytes));
  return requests;
}

}  // namespace cobra::server
