// GET /metrics over HTTP, in Prometheus' text format, and GET /health: 200 while the server can
// answer, otherwise 503. One thread, which waits for all connections at once: a scrape takes a
// millisecond and comes every few seconds. Connections are few and short; idle ones are closed for
// new ones.
//
// Not prometheus-cpp's own exposer: its civetweb waits for idle connections with a thread each.
#ifndef COBRA_SERVER_TRANSPORT_METRICS_ENDPOINT_H_
#define COBRA_SERVER_TRANSPORT_METRICS_ENDPOINT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "prometheus/collectable.h"

namespace cobra::server {

class MetricsEndpoint {
 public:
  // `address` is "HOST:PORT" or "[V6]:PORT"; port 0 chooses a free port. Unavailable if the port is
  // taken. `is_serving` is called from the endpoint's thread.
  static absl::StatusOr<std::unique_ptr<MetricsEndpoint>> Start(
      absl::string_view address, std::vector<std::shared_ptr<prometheus::Collectable>> collectables,
      std::function<bool()> is_serving);
  virtual ~MetricsEndpoint() = default;

  virtual int port() const = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_METRICS_ENDPOINT_H_
