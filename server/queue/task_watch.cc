#include "server/queue/task_watch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/text/limit_message.h"
#include "server/lanes/call_context.h"
#include "server/lanes/fair_room.h"

namespace cobra::server {
namespace {

// Servers of one database have different clocks, and a transaction becomes visible later than the
// time that it wrote. So look back this far, and report nothing twice.
constexpr absl::Duration kLookBack = absl::Seconds(5);
constexpr absl::Duration kDatabaseTime = absl::Seconds(5);  // of one query; then it is tried again

bool IsOver(store::TaskState state) { return state != store::TaskState::queued && state != store::TaskState::leased; }

}  // namespace

struct TaskWatch::Entry {
  std::shared_ptr<Watcher> watcher;
  std::string caller;
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

void TaskWatch::End(size_t position, const absl::Status& why) {
  const std::shared_ptr<Entry> entry = entries_[position];
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(position));
  entry->watcher->Ended(why);
}

void TaskWatch::MakeRoom(const std::string& caller) {
  std::vector<absl::string_view> callers;
  for (const auto& entry : entries_) callers.push_back(entry->caller);
  const std::optional<GivesWay> gives_way = WhoGivesWay(callers, caller, {kMaxWatchers, kMaxWatchersPerCaller});
  if (!gives_way.has_value()) return;
  const std::string message = gives_way->is_own ? LimitMessage("Watch", kMaxWatchersPerCaller, "calls of one client")
                                                : LimitMessage("Watch", kMaxWatchers, "calls");
  End(gives_way->position, absl::ResourceExhaustedError(absl::StrCat(message, ": replaced by a newer one")));
}

absl::Status TaskWatch::Add(std::shared_ptr<Watcher> watcher, const std::string& caller,
                            std::vector<std::string> task_ids) {
  auto entry = std::make_shared<Entry>();
  entry->watcher = std::move(watcher);
  entry->caller = caller;
  entry->ids = std::move(task_ids);
  for (const std::string& id : entry->ids) entry->last[id];
  absl::MutexLock lock(&mutex_);
  if (closed_) return StoppingError();
  MakeRoom(caller);
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

void TaskWatch::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  while (!entries_.empty()) End(entries_.size() - 1, StoppingError());
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
    std::vector<std::shared_ptr<Entry>> new_entries;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&stop_), period_);
      if (stop_) return;
      any = !entries_.empty();
      for (const auto& entry : entries_) {
        if (!entry->notified) new_entries.push_back(entry);
      }
    }
    if (!any) {
      since = now;
      continue;
    }
    // Without the lock: callers come and go while the database is slow.
    const auto changes = queue_->ChangedSince(since - kLookBack, absl::Now() + kDatabaseTime);
    absl::flat_hash_map<const Entry*, std::vector<store::TaskStatus>> first;
    for (const auto& entry : new_entries) {
      auto all = queue_->Get(entry->ids, absl::Now() + kDatabaseTime);
      if (!all.ok()) break;
      first.emplace(entry.get(), *std::move(all));
    }
    absl::MutexLock lock(&mutex_);
    for (const auto& entry : entries_) {
      if (const auto found = first.find(entry.get()); found != first.end()) {
        Notify(*entry, found->second);
      } else if (entry->notified && changes.ok()) {
        Notify(*entry, *changes);
      }
    }
    entries_.erase(std::remove_if(entries_.begin(), entries_.end(), [](const auto& entry) { return entry->over; }),
                   entries_.end());
    if (changes.ok()) since = now;  // after a failure of the database, the same period is queried again
  }
}

}  // namespace cobra::server
