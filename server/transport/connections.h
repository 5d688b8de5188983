// Accepts the connections of the API and hands them to gRPC. gRPC's own listener has no limit of
// connections, and stops accepting for good when descriptors run out once.
//
// At most as many connections are open as leave descriptors for everything else. When that many are
// open, new ones are accepted in place of the connections that have been silent longest, among
// those of the callers with the most.
#ifndef COBRA_SERVER_TRANSPORT_CONNECTIONS_H_
#define COBRA_SERVER_TRANSPORT_CONNECTIONS_H_

#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "server/lanes/metrics.h"
#include "server/transport/connection_table.h"

namespace cobra::server {

class Connections {
 public:
  // Gets every accepted connection, and must close it in the end. Called from one thread.
  using Handler = std::function<void(int listener, Descriptor connection)>;

  // `max_open`: at least 1. `table`, which has each connection while it is open, and `metrics` are
  // not owned and may be null.
  Connections(std::vector<Descriptor> listeners, int max_open, Handler handler, ConnectionTable* table,
              Metrics* metrics);
  ~Connections();

  // Stops accepting, ends all connections, and waits until the handler has closed them. Their
  // callers see UNAVAILABLE. False at the deadline.
  bool Close(absl::Time deadline);

 private:
  void Loop();
  void Accept(int listener);
  void ForgetClosed();
  void MakeRoom();
  void StopAccepting();

  std::vector<Descriptor> listeners_;
  const Descriptor stop_;  // an event: readable when the loop must end
  const size_t max_open_;
  const Handler handler_;
  ConnectionTable* const table_;
  Metrics* const metrics_;
  std::list<std::shared_ptr<Connection>> open_;  // used by the thread, and by Close() when the thread has ended
  std::thread thread_;
};

// `wanted`, or fewer where the process may not have that many descriptors (RLIMIT_NOFILE) and
// `reserved` ones besides.
int ConnectionLimit(int wanted, int reserved);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_CONNECTIONS_H_
