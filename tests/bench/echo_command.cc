// `cobra-bench echo`, which the other benchmarks start: an echo server in a separate process.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>

#include "base/file/file.h"
#include "base/status_macros.h"
#include "tests/bench/bench.h"
#include "tests/bench/echo.h"

namespace cobra::bench {
namespace {

struct EchoFlags {
  int64_t reply_bytes = 0;
  bool stream = false;
  std::string ready_file;
};

// Serves until a signal ends the process.
absl::StatusOr<Json> RunEcho(const EchoFlags& flags) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM, 0UL, 0UL, 0UL);
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GenericServer> server,
                         GenericServer::Start(flags.stream ? MakeStreamEchoService(flags.reply_bytes)
                                                           : MakeEchoService(flags.reply_bytes)));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(flags.ready_file, Json{{"listen", server->address()}}.dump()));
  while (true) ::pause();
}

}  // namespace

RunBenchmark AddEcho(CLI::App* app) {
  auto flags = std::make_shared<EchoFlags>();
  app->add_option("--reply-bytes", flags->reply_bytes, "Bytes of each reply")->required();
  app->add_flag("--stream", flags->stream, "A reply to each message of a stream instead of one to each call");
  app->add_option("--ready-file", flags->ready_file, "JSON file with the address, written once it is served")
      ->required();
  return [flags] { return RunEcho(*flags); };
}

}  // namespace cobra::bench
