// The threads of a lane, with a bounded queue. When the queue is full, a call is refused at once
// (RESOURCE_EXHAUSTED) instead of being processed after its caller has given up. gRPC's own threads
// never run a model.
//
// Callers share the threads fairly. The next call is that of the caller whose turn it is, however
// many the others have waiting. When the queue is full, the caller with the most waiting calls
// gives up its newest one. Spare threads take only calls of callers that have nothing running, so
// that slow calls of one caller cannot hold all threads.
//
// While gRPC's threads answer what is known, one thread of a pool that computes rests, unless it is
// the only one: they find a processor that is free. It does not rest for a caller who has nothing
// running.
//
// Calls wait in three classes. Of eight that are taken while all three wait, five are warm, two
// cold, one is bulk.
#ifndef COBRA_SERVER_LANES_WORKER_POOL_H_
#define COBRA_SERVER_LANES_WORKER_POOL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/random/random.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

struct PoolOptions {
  Lane lane = Lane::kPredictions;  // for the metrics
  int threads = 1;
  int spare_threads = 0;
  int max_queued = 1024;
  int max_queued_per_caller = 512;
  bool computes = false;                         // then gRPC's threads, which answer what is known, go first
  absl::Duration rest = absl::Milliseconds(10);  // of one thread, after such an answer
};

// A call as the pool sees it.
struct PoolCall {
  Rpc rpc = Rpc::kPredict;
  std::string caller;
  absl::Time deadline = absl::InfiniteFuture();
  // Called once: with OK on a thread of the pool, or, on any thread, with the reason why the call
  // does not run.
  std::function<void(const absl::Status& admitted)> run;
  Urgency urgency = Urgency::kCold;
};

// A call that a thread of the pool still works on after its deadline.
struct OverdueCall {
  Rpc rpc;
  std::string caller;
  absl::Duration by;
};

class WorkerPool {
 public:
  // `metrics` may be null; not owned.
  WorkerPool(const PoolOptions& options, Metrics* metrics);
  ~WorkerPool();  // runs what is queued, then joins

  // The call is refused when the queue is full, with ResourceExhausted that says when to come back
  // (base/retry_delay.h), and with Unavailable after Close().
  void Submit(PoolCall call);
  // gRPC's threads have answered a call themselves. Any thread; cheap.
  void NoteFastReply();
  // After this call Submit() refuses.
  void Close();
  // Refuses what waits: Unavailable.
  void RefuseQueued();
  // Waits until no call runs or waits; false at the deadline.
  bool WaitIdle(absl::Time deadline);

  // Calls that run for more than `grace` past their deadline; each is returned once.
  std::vector<OverdueCall> NewlyOverdue(absl::Duration grace);
  // Threads that run such calls now.
  int num_stuck(absl::Duration grace);
  // Without the spare ones.
  int num_threads() const { return options_.threads; }

 private:
  struct Caller {
    std::array<std::deque<PoolCall>, std::size(kUrgencies)> waiting;
    int running = 0;

    size_t num_waiting() const;
  };
  struct Running {
    Rpc rpc;
    std::string caller;
    absl::Time deadline;
    bool reported = false;
  };
  using Callers = std::map<std::string, Caller>;

  // The calls of one class.
  struct Class {
    std::deque<Callers::iterator> turns;  // callers with calls that wait, the next one first
    int queued = 0;
    int credit = 0;  // how far it is behind its share
  };
  struct Turn {
    size_t urgency = 0, position = 0;  // in turns
  };

  void Loop();
  // Nothing when the pool ends.
  std::optional<Turn> AwaitTurnLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How many calls may run at a time, but for those of callers that have none running.
  int LimitLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // OK if the call may wait; `*given_up` is a call that must be refused to make room for it.
  absl::Status MakeRoomLocked(const std::string& caller, PoolCall* given_up) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void GiveUpLocked(Callers::iterator caller, PoolCall* given_up) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status BusyLocked(absl::string_view what, int limit) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The caller whose call may run now.
  std::optional<Turn> NextLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  PoolCall TakeLocked(Turn turn) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void PublishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const PoolOptions options_;
  Metrics* const metrics_;
  std::atomic<int64_t> answered_at_once_ns_{0};  // when: Unix time
  absl::Mutex mutex_;
  // A call waits, or the pool ends. Whoever unlocks would try an absl::Condition of each thread.
  absl::CondVar turn_;
  Callers callers_ ABSL_GUARDED_BY(mutex_);  // those with calls that wait or run
  std::array<Class, std::size(kUrgencies)> classes_ ABSL_GUARDED_BY(mutex_);
  int queued_ ABSL_GUARDED_BY(mutex_) = 0;
  double mean_run_seconds_ ABSL_GUARDED_BY(mutex_) = 0;  // of the latest calls
  absl::BitGen random_ ABSL_GUARDED_BY(mutex_);
  std::list<Running> running_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_WORKER_POOL_H_
