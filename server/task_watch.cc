#include "server/task_watch.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/limit_message.h"

namespace cobra::server {
namespace {

// Servers of one database have different clocks, and a transaction becomes visible later than the time that it wrote.
// So look back this far, and report nothing twice.
constexpr absl::Duration kLookBack = absl::Seconds(5);

bool IsOver(store::TaskState state) { return state != store::TaskState::queued && state != store::TaskState::leased; }

}  // namespace

struct TaskWatch::Entry {
  std::shared_ptr<Watcher> watcher;
  absl::flat_hash_map<std::string, store::TaskStatus> last;  // the last reported status; default for an unknown task
  std::vector<std::string> ids;
  bool notified = false;
  bool over = false;
};

TaskWatch::TaskWatch(store::TaskQueue* queue, absl::Duration period)
    : queue_(queue), period_(period), thread_([this] { Loop(); }) {}

TaskWatch::~TaskWatch() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

absl::Status TaskWatch::Add(std::shared_ptr<Watcher> watcher, std::vector<std::string> task_ids) {
  absl::MutexLock lock(&mutex_);
  if (entries_.size() >= kMaxWatchers)
    return absl::ResourceExhaustedError(LimitMessage("Watch", kMaxWatchers, "callers"));
  auto entry = std::make_unique<Entry>();
  entry->watcher = std::move(watcher);
  entry->ids = std::move(task_ids);
  for (const std::string& id : entry->ids) entry->last[id];
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

void TaskWatch::Remove(const Watcher* watcher) {
  absl::MutexLock lock(&mutex_);
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](const auto& entry) { return entry->watcher.get() == watcher; }),
                 entries_.end());
}

// Reports the statuses that belong to the watcher's tasks and are new to it.
void TaskWatch::Notify(Entry& entry, const std::vector<store::TaskStatus>& statuses) {
  std::vector<store::TaskStatus> changes;
  for (const store::TaskStatus& status : statuses) {
    const auto found = entry.last.find(status.id);
    if (found == entry.last.end()) continue;
    store::TaskStatus& last = found->second;
    const bool known = !last.id.empty();
    if (known && (status.changed < last.changed ||
                  (status.state == last.state && status.worker == last.worker && status.attempts == last.attempts))) {
      continue;
    }
    last = status;
    changes.push_back(status);
  }
  entry.over = std::all_of(entry.last.begin(), entry.last.end(),
                           [](const auto& task) { return task.second.id.empty() || IsOver(task.second.state); });
  if (changes.empty() && entry.notified && !entry.over) return;
  entry.notified = true;
  entry.watcher->Changed(changes, entry.over);
}

void TaskWatch::Loop() {
  absl::Time since = queue_->Now();
  while (true) {
    const absl::Time now = queue_->Now();
    bool any = false;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&stop_), period_);
      if (stop_) return;
      any = !entries_.empty();
    }
    if (!any) {
      since = now;
      continue;
    }
    const absl::StatusOr<std::vector<store::TaskStatus>> changes = queue_->ChangedSince(since - kLookBack);
    absl::MutexLock lock(&mutex_);
    for (auto& entry : entries_) {
      if (!entry->notified) {
        if (const absl::StatusOr<std::vector<store::TaskStatus>> all = queue_->Get(entry->ids); all.ok())
          Notify(*entry, *all);
      } else if (changes.ok()) {
        Notify(*entry, *changes);
      }
    }
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [](const auto& entry) { return entry->over; }),
                   entries_.end());
    if (changes.ok()) since = now;  // after a failure of the database, the same period is queried again
  }
}

}  // namespace cobra::server
