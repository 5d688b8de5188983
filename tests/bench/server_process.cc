#include "tests/bench/server_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cobra::bench {
namespace {

constexpr absl::Duration kStartTime = absl::Minutes(2), kStopTime = absl::Seconds(30);
constexpr absl::Duration kPoll = absl::Milliseconds(1);

}  // namespace

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(std::vector<std::string> argv,
                                                                    const std::string& files) {
  const std::string ready = files + ".ready", log = files + ".log", program = argv[0];
  ::unlink(ready.c_str());
  const Descriptor log_file(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!log_file.valid()) return absl::ErrnoToStatus(errno, log);
  argv.insert(argv.end(), {"--ready-file", ready});
  COBRA_ASSIGN_OR_RETURN(const pid_t pid,
                         StartProgram(argv, {.descriptor = log_file.get(), .as_descriptor = STDERR_FILENO}));
  std::unique_ptr<ServerProcess> server(new ServerProcess(pid));
  const absl::Time deadline = absl::Now() + kStartTime;
  while (!FileExists(ready)) {
    if (server->HasEnded() || absl::Now() > deadline) {
      return absl::UnavailableError(absl::StrCat(program, " does not start: ", ReadFile(log).value_or("")));
    }
    absl::SleepFor(kPoll);
  }
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(ready));
  const nlohmann::json addresses = nlohmann::json::parse(text);
  server->address_ = addresses["listen"];
  server->http_address_ = addresses.value("http", "");
  return server;
}

ServerProcess::~ServerProcess() {
  if (HasEnded()) return;
  ::kill(pid_, SIGTERM);
  const absl::Time deadline = absl::Now() + kStopTime;
  while (!HasEnded()) {
    if (absl::Now() > deadline) ::kill(pid_, SIGKILL);
    absl::SleepFor(kPoll);
  }
}

bool ServerProcess::HasEnded() {
  if (pid_ >= 0 && ::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = -1;
  return pid_ < 0;
}

}  // namespace cobra::bench
