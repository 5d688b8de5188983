// All parts of a server, in the order of their construction.
#ifndef COBRA_SERVER_SERVER_H_
#define COBRA_SERVER_SERVER_H_

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file/data_path.h"
#include "server/access/credentials.h"
#include "server/lanes/limits.h"
#include "server/lanes/watchdog.h"
#include "server/targets/live_model.h"

namespace cobra::server {

struct ServerOptions {
  std::string listen = "127.0.0.1:50051";  // port 0: a free one
  std::string metrics = "127.0.0.1:9464";  // empty: none
  std::string http;                        // address of the HTTP API (transport/http_listener.h); empty: none
  std::vector<std::string> http_hosts;     // names of this server, in addition to that of `http`, that requests may use
  std::string access_file;                 // who may do what (access/access.h); empty: everybody everything
  TlsFiles tls;
  bool insecure = false;          // `listen` and `http` may be reached by other machines, without TLS or access_file
  bool insecure_metrics = false;  // `metrics` may be reached by other machines
  std::string model_directory = DataPath("model/pretrained");
  std::string store_path = "cobra.sqlite";
  std::vector<std::string> library_roots;  // directories that source may import from
  std::string worker;                      // program for calibrate_at_start; empty: cobra-worker next to this program
  std::string reader;                      // program that reads models; empty: cobra-reader next to this program
  bool insecure_reader = false;            // start even if the kernel refuses to confine that program
  int64_t max_learning_tasks = 10000;      // tasks waiting for layers that the model does not know; 0: none
  bool calibrate_at_start = false;         // unless the store has a calibration of this machine already
  int threads = 0;                         // predictions at a time; 0: one per core
  int64_t embedding_cache_bytes = int64_t{64} << 20;
  int64_t prediction_cache_bytes = int64_t{32} << 20;
  int64_t reply_cache_bytes = int64_t{32} << 20;
  absl::Duration idle_exit = absl::InfiniteDuration();  // `stop` is called after so much time without a request
  WatchdogOptions watchdog;
  ServerLimits limits;
  std::function<void()> stop;  // begins to end the process, for Admin.Drain; empty: that is UNIMPLEMENTED
  const std::atomic<bool>* stopping = nullptr;  // set when the process is to end, even while it reloads; not owned
  LiveModel::Loader loader;                     // empty: loads model_directory; tests pass their own model
};

class Server {
 public:
  // Usage errors are Diagnostics, as where the address needs more protection than it has
  // (exposure.h).
  // Loads, calibrates if calibrate_at_start is set, then listens: once the port is open, the server
  // can predict.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options);
  virtual ~Server() = default;

  // "127.0.0.1:50051" with the actual port; "" if there is none.
  virtual std::string listen_address() const = 0;
  virtual std::string metrics_address() const = 0;
  virtual std::string http_address() const = 0;

  // Reloads the model directory; on error the old version continues to serve.
  virtual absl::Status ReloadModel() = 0;

  // Health becomes NOT_SERVING and new requests are refused with UNAVAILABLE. Requests in flight
  // are finished; shortly before the deadline they are ended with UNAVAILABLE too. Then the store
  // is flushed. Returns by the deadline; false if threads are still stuck, so that the destructor
  // would wait for them. REQUIRES: called once.
  virtual bool Drain(absl::Time deadline) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_SERVER_H_
