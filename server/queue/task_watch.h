// Follows tasks for callers of Measurements.Watch. One thread asks the queue for what has changed,
// for all watchers together, so that changes made through another server of the same database are
// seen too.
#ifndef COBRA_SERVER_QUEUE_TASK_WATCH_H_
#define COBRA_SERVER_QUEUE_TASK_WATCH_H_

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "store/queue/task_queue.h"

namespace cobra::server {

class TaskWatch {
 public:
  // Receives changes. Called one call at a time, with a lock held that Add() and Remove() take,
  // never after Remove().
  class Watcher {
   public:
    virtual ~Watcher() = default;
    // `last`: none of the watched tasks will change any more; this is the last call.
    virtual void Changed(const std::vector<store::TaskStatus>& statuses, bool last) = 0;
    // The watcher was removed: it made room for another one, or the server stops. This is the last
    // call.
    virtual void Ended(const absl::Status& why) = 0;
  };

  static constexpr size_t kMaxWatchers = 256;
  // Of one caller; one more takes the place of its oldest.
  static constexpr size_t kMaxWatchersPerCaller = 64;

  // `queue` is not owned and must live longer.
  explicit TaskWatch(store::TaskQueue* queue, absl::Duration period = absl::Milliseconds(200));
  ~TaskWatch();

  // The watcher is first notified of the current state of its tasks. When there are too many, the
  // oldest watcher of the caller with the most ends with ResourceExhausted. Unavailable after
  // Close().
  absl::Status Add(std::shared_ptr<Watcher> watcher, const std::string& caller, std::vector<std::string> task_ids);
  // Returns when no call of the watcher is in progress.
  void Remove(const Watcher* watcher);
  // Ends all watchers with Unavailable.
  void Close();

 private:
  struct Entry;
  void Loop();
  void MakeRoom(const std::string& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(size_t position, const absl::Status& why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Notify(Entry& entry, const std::vector<store::TaskStatus>& statuses) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  store::TaskQueue* const queue_;
  const absl::Duration period_;
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);  // the oldest first
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_QUEUE_TASK_WATCH_H_
