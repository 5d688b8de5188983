// cobra-server: answers how long networks will take. SIGTERM and SIGINT drain, SIGHUP loads the model directory anew.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/command_line.h"
#include "base/file.h"
#include "base/log.h"
#include "server/server.h"

namespace cobra::server {
namespace {

// Signals arrive here, one byte each, whichever thread they interrupt. Blocking them in all threads is not possible:
// OpenBLAS starts its own before main(), and a signal that one of those gets would end the process in the middle of a
// drain.
int signal_pipe[2];

void OnSignal(int signal) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(signal);
  ssize_t ignored = ::write(signal_pipe[1], &byte, 1);  // non-blocking: a full pipe has signals enough
  (void)ignored;
  errno = saved_errno;
}

absl::Status CatchSignals() {
  if (::pipe2(signal_pipe, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  ::fcntl(signal_pipe[1], F_SETFL, O_NONBLOCK);
  struct sigaction action = {};
  action.sa_handler = &OnSignal;
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
  return absl::OkStatus();
}

void ServeUntilStopped(Server* server) {
  while (true) {
    char signal = 0;
    if (::read(signal_pipe[0], &signal, 1) != 1) continue;
    if (signal == SIGHUP) {
      LogInfo("SIGHUP: loading the model anew");
      absl::Status status = server->ReloadModel();
      if (!status.ok()) LogError(absl::StrCat("the old model goes on serving: ", status.message()));
      continue;
    }
    LogInfo("stopping: finishing the requests in flight");
    server->Drain();
    LogInfo("stopped");
    return;
  }
}

int Main(int argc, char** argv) {
  ServerOptions options;
  std::string ready_file;
  int drain_seconds = 20;
  int embedding_cache_mb = 64, prediction_cache_mb = 32;
  CLI::App app("Predicts the latency of neural networks (gRPC: proto/cobra/v1).", "cobra-server");
  app.add_option("--listen", options.listen, "Address of the gRPC API; port 0 takes any free one")
      ->capture_default_str();
  app.add_option("--metrics", options.metrics, "Address of /metrics for Prometheus; empty: none")
      ->capture_default_str();
  app.add_option("--model", options.model_directory, "Directory of the model version")->capture_default_str();
  app.add_option("--store", options.store_path,
                 "Where predictions, measurements, calibrations and tasks live: an SQLite file, or "
                 "postgresql://user@host/database")
      ->capture_default_str();
  app.add_option("--library", options.library_roots, "Directory that source may import from; repeatable");
  app.add_option("--learn", options.max_asked,
                 "Tasks that may wait for a worker because the model was unsure (operators and shapes, never source); "
                 "0: none are noted")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app.add_flag("--calibrate", options.calibrate_at_start,
               "Measure this machine first (a minute) unless the store has it already");
  app.add_option("--worker", options.worker, "cobra-worker program; default: the one beside this program");
  app.add_option("--threads", options.threads, "Requests worked on at a time; 0: one a core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--queue", options.limits.max_queued, "Requests that may wait")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--embedding-cache-mb", embedding_cache_mb, "Layers remembered, 2^20 bytes")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--prediction-cache-mb", prediction_cache_mb, "Networks remembered, 2^20 bytes")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--drain-seconds", drain_seconds, "What requests in flight may take after SIGTERM")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app.add_option("--ready-file", ready_file, "JSON file with the addresses, written when requests are answered");
  app.footer("Exit codes: 0 stopped by a signal, 1 cannot start (the log says why), 2 usage.");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;
  options.drain_timeout = absl::Seconds(drain_seconds);
  options.embedding_cache_bytes = int64_t{embedding_cache_mb} << 20;
  options.prediction_cache_bytes = int64_t{prediction_cache_mb} << 20;

  if (absl::Status caught = CatchSignals(); !caught.ok()) {
    LogError(caught.message());
    return 1;
  }
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok()) {
    LogError(absl::StrCat("cobra-server cannot start: ", server.status().message()));
    return 1;
  }
  const std::string listen = (*server)->listen_address(), metrics = (*server)->metrics_address();
  LogInfo(absl::StrCat("listening on ", listen, metrics.empty() ? "" : ", metrics on http://", metrics,
                       metrics.empty() ? "" : "/metrics"));
  if (!ready_file.empty()) {
    const std::string json = absl::StrCat("{\"listen\": \"", listen, "\", \"metrics\": \"", metrics, "\"}\n");
    if (absl::Status written = WriteFileAtomic(ready_file, json); !written.ok()) {
      LogError(written.message());
      return 1;
    }
  }
  ServeUntilStopped(server->get());
  return 0;
}

}  // namespace
}  // namespace cobra::server

int main(int argc, char** argv) { return cobra::Main(argc, argv); }
