#ifndef COBRA_TESTS_BENCH_SERVER_PROCESS_H_
#define COBRA_TESTS_BENCH_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cobra::bench {

// A server in a separate process, from its start to SIGTERM.
class ServerProcess {
 public:
  // Runs `argv --ready-file FILES.ready` and waits until the program has written its address there.
  // Its standard error goes to FILES.log, and is part of the error if it does not start.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(std::vector<std::string> argv, const std::string& files);
  ~ServerProcess();

  const std::string& address() const { return address_; }
  const std::string& http_address() const { return http_address_; }  // "" if it has none
  pid_t pid() const { return pid_; }

 private:
  explicit ServerProcess(pid_t pid) : pid_(pid) {}
  bool HasEnded();

  pid_t pid_;  // -1: has ended
  std::string address_, http_address_;
};

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_SERVER_PROCESS_H_
