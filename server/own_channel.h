// A connection of this process to its own gRPC server, over a pair of sockets that nobody else can reach. gRPC's own
// in-process transport would do without sockets, but that of 1.51 aborts ("prior > 0") when a server shuts down while
// calls come.
#ifndef COBRA_SERVER_OWN_CHANNEL_H_
#define COBRA_SERVER_OWN_CHANNEL_H_

#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/descriptor.h"
#include "grpcpp/grpcpp.h"

namespace cobra::server {

class OwnChannel {
 public:
  // Gives the server its end of a new connection.
  using Accept = std::function<void(Descriptor connection)>;
  explicit OwnChannel(Accept accept) : accept_(std::move(accept)) {}

  // For one call. It is another connection after some idle time, since the server closes those that are idle longer
  // (ServerLimits::max_connection_idle). Null if the process has no descriptors left.
  std::shared_ptr<grpc::Channel> Get();
  // A call on `channel` was UNAVAILABLE: the connection may have broken, and the next call gets another one. gRPC does
  // not say whether it has.
  void Forget(const std::shared_ptr<grpc::Channel>& channel);

 private:
  const Accept accept_;
  absl::Mutex mutex_;
  std::shared_ptr<grpc::Channel> channel_ ABSL_GUARDED_BY(mutex_);
  absl::Time used_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_OWN_CHANNEL_H_
