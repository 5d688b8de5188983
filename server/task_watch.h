// Follows tasks for callers of Measurements.Watch. One thread asks the queue for what has changed, for all watchers
// together, so that changes made through another server of the same database are seen too.
#ifndef COBRA_SERVER_TASK_WATCH_H_
#define COBRA_SERVER_TASK_WATCH_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "store/task_queue.h"

namespace cobra::server {

class TaskWatch {
 public:
  // Receives changes. Called from the watching thread, one call at a time, never after Remove().
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // `last`: none of the watched tasks will change any more; this is the last call.
    virtual void Changed(const std::vector<store::TaskStatus>& statuses, bool last) = 0;
  };

  static constexpr int kMaxWatchers = 256;

  // `queue` is not owned and must live longer.
  explicit TaskWatch(store::TaskQueue* queue, absl::Duration period = absl::Milliseconds(200));
  ~TaskWatch();

  // The watcher is first notified of the current state of its tasks. ResourceExhausted: there are too many watchers.
  absl::Status Add(std::shared_ptr<Watcher> watcher, std::vector<std::string> task_ids);
  // Returns when no call of the watcher is in progress.
  void Remove(const Watcher* watcher);

 private:
  struct Entry;
  void Loop();
  void Notify(Entry& entry, const std::vector<store::TaskStatus>& statuses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  store::TaskQueue* const queue_;
  const absl::Duration period_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TASK_WATCH_H_
