// The open connections, by the names that gRPC gives to their peers, and how much of what they have
// sent was not taken yet. gRPC 1.51 keeps the beginning of a message to itself until the end has
// arrived; but the kernel counts what a connection has received (TCP_INFO), and the calls count
// what they have taken. The difference is what gRPC holds.
#ifndef COBRA_SERVER_TRANSPORT_CONNECTION_TABLE_H_
#define COBRA_SERVER_TRANSPORT_CONNECTION_TABLE_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace cobra::server {

// An accepted connection. Its descriptor belongs to the connection's handler, and may be
// closed at any time.
class Connection {
 public:
  Connection(int descriptor, const sockaddr_storage& address);
  // Of connections whose bytes nobody counts: Unix sockets.
  explicit Connection(std::string caller);

  const std::string& peer() const { return peer_; }      // as gRPC writes it: "ipv4:192.0.2.1:40000"
  const std::string& caller() const { return caller_; }  // access/caller.h
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

  // The descriptor is still that of the same socket.
  bool IsOpen() const;
  // How long nothing was sent in either direction. Of a Unix socket only its age is known.
  absl::Duration Silence() const;
  // The connection's handler notices, and closes it.
  void End();

  // Any thread: a call begins, a message of it was taken, it has ended. With too many calls the
  // connection is ended. `takes_many`: one of any number of messages, of which the next one may
  // have begun to arrive.
  void CallBegan(bool takes_many = false) {
    if (takes_many) open_streams_.fetch_add(1, std::memory_order_relaxed);
    if (open_calls_.fetch_add(1, std::memory_order_relaxed) >= kMaxCalls && !ended()) End();
  }
  void Took(size_t bytes) { taken_bytes_.fetch_add(TakenBytes(bytes), std::memory_order_relaxed); }
  void CallEnded(bool takes_many = false) {
    if (takes_many) open_streams_.fetch_sub(1, std::memory_order_relaxed);
    open_calls_.fetch_sub(1, std::memory_order_relaxed);
  }

  int64_t open_calls() const { return open_calls_.load(std::memory_order_relaxed); }

  // What was received and not taken, at the last Sample().
  int64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }
  // On one thread. `oldest`: when the oldest of its calls began that wait for their message; the
  // future if none does. Whatever came before the last look belongs to messages that are complete,
  // unless one has waited since: so what headers and control frames add to the count does not add
  // up.
  void Sample(absl::Time now, absl::Time oldest);

 private:
  // Far more than the streams that HTTP/2 lets a connection have open
  // (ServerLimits::max_streams_per_connection). Only whoever opens calls and resets them at once
  // has so many: gRPC 1.51 is slower to end calls than to begin them.
  static constexpr int64_t kMaxCalls = 2048;
  // A message, and what travels with it: its call's headers, frames, TLS records, control frames
  // for the reply. Hardly more, for whoever sends many small messages could hide the beginnings of
  // large ones behind it.
  static int64_t TakenBytes(size_t bytes) { return static_cast<int64_t>(bytes + bytes / 256 + 128); }

  const int descriptor_;
  const ino_t inode_;
  const std::string peer_, caller_;
  const absl::Time accepted_;
  std::atomic<bool> ended_{false};
  std::atomic<int64_t> open_calls_{0}, open_streams_{0}, taken_bytes_{0}, held_bytes_{0};
  // Of the last Sample().
  int64_t sampled_received_ = 0, sampled_taken_ = 0;
  absl::Time sampled_;
};

class ConnectionTable {
 public:
  // Those of Unix sockets have no names, and are not added.
  void Add(std::shared_ptr<Connection> connection);
  void Remove(const Connection& connection);
  // Never null: whoever is not in the table is on a Unix socket.
  std::shared_ptr<Connection> Find(absl::string_view peer) const;
  std::vector<std::shared_ptr<Connection>> All() const;

 private:
  const std::shared_ptr<Connection> local_ = std::make_shared<Connection>("unix");
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<Connection>> by_peer_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_CONNECTION_TABLE_H_
