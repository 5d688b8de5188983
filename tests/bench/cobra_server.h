#ifndef COBRA_TESTS_BENCH_COBRA_SERVER_H_
#define COBRA_TESTS_BENCH_COBRA_SERVER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "tests/bench/load.h"
#include "tests/bench/server_process.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {

inline constexpr char kLibrary[] = "/usr/lib/python3/dist-packages";
// The weights in this source tree.
std::string ShippedModel();

struct CobraServerOptions {
  std::string model = ShippedModel();
  std::vector<std::string> flags;  // beside those that every benchmark needs
  int connections = 1;             // of load()
  std::string program;             // empty: the cobra-server next to this program
};

// The command line, with a store in `directory`.
std::vector<std::string> ServerCommand(const CobraServerOptions& options, const tests::TemporaryDirectory& directory);

// cobra-server in a separate process, with its own store.
class CobraServer {
 public:
  static absl::StatusOr<std::unique_ptr<CobraServer>> Start(const CobraServerOptions& options = {});

  const std::string& address() const { return process_->address(); }
  const std::string& http_address() const { return process_->http_address(); }  // with the flag --http
  pid_t pid() const { return process_->pid(); }
  // The first of its targets.
  const std::string& target() const { return target_; }
  // Calls of Predict.
  LoadGenerator* load() { return load_.get(); }
  const std::shared_ptr<grpc::Channel>& channel() const { return load_->channel(); }

  // Adds the target to the request.
  absl::StatusOr<v1::PredictResponse> Predict(v1::PredictRequest* request);
  absl::StatusOr<int64_t> ResidentBytes() const;

 private:
  CobraServer() = default;

  const tests::TemporaryDirectory directory_;
  std::unique_ptr<ServerProcess> process_;
  std::unique_ptr<LoadGenerator> load_;
  std::unique_ptr<v1::Cobra::Stub> stub_;
  std::string target_;
};

// `cobra-bench echo`, with a client.
struct Echo {
  std::unique_ptr<ServerProcess> process;
  std::unique_ptr<LoadGenerator> load;
};
struct EchoOptions {
  int64_t reply_bytes = 0;
  bool stream = false;  // one reply to each message of a stream
  int connections = 1;
};
absl::StatusOr<Echo> StartEcho(const EchoOptions& options, const tests::TemporaryDirectory& directory);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_COBRA_SERVER_H_
