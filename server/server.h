// All parts of a server, in the order in which they live and die.
#ifndef COBRA_SERVER_SERVER_H_
#define COBRA_SERVER_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "server/limits.h"
#include "server/live_model.h"

namespace cobra::server {

struct ServerOptions {
  std::string listen = "127.0.0.1:50051";  // port 0: any free one
  std::string metrics = "127.0.0.1:9464";  // empty: none
  std::string model_directory = "model/pretrained";
  std::string store_path = "cobra.sqlite";
  std::vector<std::string> library_roots;  // directories that source may import from
  std::string worker;                      // program for calibrate_at_start; empty: cobra-worker beside this program
  int64_t max_asked = 10000;               // tasks waiting for what the model does not know; 0: it is not noted
  bool calibrate_at_start = false;         // unless the store has a calibration of this machine already
  int threads = 0;                         // requests worked on at a time; 0: one a core
  int64_t embedding_cache_bytes = int64_t{64} << 20;
  int64_t prediction_cache_bytes = int64_t{32} << 20;
  absl::Duration drain_timeout = absl::Seconds(20);  // what a request in flight may take after Drain()
  ServerLimits limits;
  LiveModel::Loader loader;  // empty: loads model_directory; a test brings a model of its own
};

class Server {
 public:
  // Loads, calibrates if asked to, then listens: a port that answers can predict.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  virtual ~Server() = default;

  // "127.0.0.1:50051" with the port that was really taken; "" where there is none.
  virtual std::string listen_address() const = 0;
  virtual std::string metrics_address() const = 0;

  // Loads the model directory anew; on error the old version goes on serving.
  virtual absl::Status ReloadModel() = 0;

  // Health becomes NOT_SERVING, new requests are refused with UNAVAILABLE, those in flight are finished (cancelled
  // after drain_timeout), the store is flushed. REQUIRES: once.
  virtual void Drain() = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_SERVER_H_
