// Connections of this process to its own gRPC server, over pairs of sockets that nobody else can
// reach. gRPC's own in-process transport would do without sockets, but that of 1.51 aborts ("prior
// > 0") when a server shuts down while calls come.
//
// As many connections as their calls need: the server allows few streams on one, and a call that
// waits for a stream of its connection would wait for the calls of other callers.
#ifndef COBRA_SERVER_TRANSPORT_OWN_CHANNELS_H_
#define COBRA_SERVER_TRANSPORT_OWN_CHANNELS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "grpcpp/grpcpp.h"

namespace cobra::server {

class OwnChannels {
 public:
  // Gives the server its end of a new connection.
  using Accept = std::function<void(Descriptor connection)>;
  // Room for one call, as long as there is a copy of it.
  using Place = std::shared_ptr<grpc::Channel>;

  // `max_calls`: of one connection (ServerLimits::max_streams_per_connection).
  OwnChannels(Accept accept, int max_calls) : accept_(std::move(accept)), max_calls_(max_calls) {}

  // For one call. Null if the process has no descriptors left. It may outlive this object.
  Place Get();
  // A call there was UNAVAILABLE: the connection may have broken, and the next call gets another
  // one. gRPC does not say whether it has.
  void Forget(const Place& place);

 private:
  struct Connection {
    std::shared_ptr<grpc::Channel> channel;
    std::atomic<int> calls{0};
    absl::Time used;  // guarded by mutex_
  };

  const Accept accept_;
  const int max_calls_;
  absl::Mutex mutex_;
  std::vector<std::shared_ptr<Connection>> connections_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_OWN_CHANNELS_H_
