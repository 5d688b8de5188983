// Calls that have begun and whose message is not there yet. Each costs memory (some 12 KB, and what
// has come of its message) before anybody knows whether its caller may do anything; so their
// number, their time and their bytes are bounded over all connections, whoever has opened them:
//
// - A call has `call_time` for its message, and a second more for each `bytes_per_second` that came
//   meanwhile.
// - When more than `max_calls` wait, the oldest ones of the callers with the most are refused, and
//   of a caller those of the connections with the most.
// - When the beginnings of messages take more than `max_bytes`, or those of one caller more than
//   `max_caller_bytes`, connections are ended: of the caller with the most the one that holds most,
//   and those that are silent before others. Nobody else's.
// - When more than `max_open_calls` are open, such as those whose callers take no reply, the
//   connections with the most are ended, of the callers with the most.
//
// A thread looks several times a second; what arrives whole costs two short locks.
#ifndef COBRA_SERVER_RPC_ARRIVALS_H_
#define COBRA_SERVER_RPC_ARRIVALS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/transport/connection_table.h"

namespace cobra::server {

class Arrivals {
 public:
  class Call {
   public:
    // Ends the call. On any thread, once, instead of End(); until it returns the object must exist.
    virtual void Refuse(const absl::Status& why) = 0;

   protected:
    ~Call() = default;
  };

  // `connections` and `metrics` are not owned and must live longer; `metrics` may be null.
  Arrivals(const ArrivalLimits& limits, ConnectionTable* connections, Metrics* metrics);
  ~Arrivals();

  // The call waits from now on. An error, if it may not: the server stops, or far too many wait.
  // `to_the_end`: it may wait while the server stops, too.
  absl::Status Begin(Call* call, const std::shared_ptr<Connection>& connection, bool to_the_end = false);
  // The call waits no longer. False if Refuse() has ended it, or is about to.
  bool End(Call* call);
  // Refuses what waits, and all that comes, but for what may wait to the end.
  void Close();

  ConnectionTable& connections() { return *connections_; }
  int64_t num_waiting() const { return num_waiting_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    std::shared_ptr<Connection> connection;
    absl::Time began;
    bool to_the_end = false;
  };
  struct Shard {
    absl::Mutex mutex;
    absl::flat_hash_map<Call*, Entry> waiting ABSL_GUARDED_BY(mutex);
  };
  struct Waiting {
    Call* call;
    Entry entry;
  };

  Shard& ShardOf(const Call* call);
  void Loop();
  std::vector<Waiting> Snapshot();
  void RefuseOne(const Waiting& waiting, const absl::Status& why);
  // Of those with calls that wait, or all: what they hold; then the limits of time and of bytes.
  void LookAtConnections(std::vector<Waiting>* waiting, absl::Time now, bool all);
  void RefuseLate(std::vector<Waiting>* waiting, absl::Time now);
  void RefuseSurplus(const std::vector<Waiting>& waiting);
  void EndHolders(const std::vector<std::shared_ptr<Connection>>& connections);
  void EndCrowded(const std::vector<std::shared_ptr<Connection>>& connections);

  const ArrivalLimits limits_;
  ConnectionTable* const connections_;
  Metrics* const metrics_;
  std::array<Shard, 16> shards_;
  std::atomic<int64_t> num_waiting_{0};
  std::atomic<bool> closed_{false};
  absl::Mutex mutex_;
  bool crowded_ ABSL_GUARDED_BY(mutex_) = false;  // the thread is to look at once
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_ARRIVALS_H_
