// cobra-server: predicts how long networks take. SIGTERM and SIGINT drain it, SIGHUP reloads the model directory.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/address.h"
#include "base/command_line.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "proto/protobuf_log.h"
#include "server/server.h"

namespace cobra::server {
namespace {

// The handler writes one byte for each signal into this pipe, whichever thread the signal interrupts. Blocking signals
// in all threads is not possible: OpenBLAS starts its own before main(), and a signal to one of those would end the
// process during a drain.
int signal_pipe[2];

void OnSignal(int signal) {
  const int saved_errno = errno;
  const char byte = static_cast<char>(signal);
  ssize_t ignored = ::write(signal_pipe[1], &byte, 1);  // non-blocking: a full pipe already holds signals
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
      LogInfo("SIGHUP: reloading the model");
      absl::Status status = server->ReloadModel();
      if (!status.ok()) LogError(absl::StrCat("the old model continues to serve: ", status.message()));
      continue;
    }
    LogInfo("stopping: finishing the requests in flight");
    server->Drain();
    LogInfo("stopped");
    return;
  }
}

struct Flags {
  ServerOptions options;
  std::string ready_file;
  int drain_seconds = 20;
  int embedding_cache_mb = 64;
  int prediction_cache_mb = 32;
};

// Flags for what is served, and from where.
void AddServiceFlags(CLI::App* app, Flags* flags) {
  ServerOptions& options = flags->options;
  app->add_option("--listen", options.listen, "Address of the gRPC API; port 0 chooses a free port")
      ->capture_default_str();
  app->add_option("--metrics", options.metrics, "Address of /metrics for Prometheus; empty: none")
      ->capture_default_str();
  app->add_option("--model", options.model_directory, "Directory of the model version")->capture_default_str();
  app->add_option("--store", options.store_path,
                  "Database of predictions, measurements, calibrations and tasks: an SQLite file, or "
                  "postgresql://user@host/database")
      ->capture_default_str();
  app->add_option("--library", options.library_roots, "Directory that source may import from; repeatable");
  app->add_option("--learn", options.max_learning_tasks,
                  "How many tasks may wait for layers that the model does not know (operators and shapes, never "
                  "source); 0: none")
      ->check(CLI::Range(0, 10000000))
      ->capture_default_str();
  app->add_flag("--calibrate", options.calibrate_at_start,
                "Calibrate to this machine first (a minute) unless the store has a calibration");
  app->add_flag("--insecure-reader", options.insecure_reader,
                "Start even where the kernel refuses to confine the processes that read models (seccomp)");
  app->add_option("--worker", options.worker, "cobra-worker program; default: the one beside this program");
}

// Flags for the use of the machine and for the operation of the process.
void AddProcessFlags(CLI::App* app, Flags* flags) {
  app->add_option("--threads", flags->options.threads, "Requests processed at a time; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->add_option("--queue", flags->options.limits.max_queued, "Requests that may wait")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option("--embedding-cache-mb", flags->embedding_cache_mb, "Cache of layer embeddings, in MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option("--prediction-cache-mb", flags->prediction_cache_mb, "Cache of predictions, in MiB")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option("--drain-seconds", flags->drain_seconds, "Time limit for requests in flight after SIGTERM")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app->add_option("--ready-file", flags->ready_file, "JSON file with the addresses, written once the server is ready");
}

// Logs the server's addresses and writes them to `ready_file`, which the caller may wait for.
absl::Status ReportAddresses(const Server& server, const std::string& ready_file) {
  const std::string listen = server.listen_address(), metrics = server.metrics_address();
  LogInfo(absl::StrCat("listening on ", listen, metrics.empty() ? "" : ", metrics on http://", metrics,
                       metrics.empty() ? "" : "/metrics"));
  if (ready_file.empty()) return absl::OkStatus();
  return WriteFileAtomic(ready_file, absl::StrCat("{\"listen\": \"", listen, "\", \"metrics\": \"", metrics, "\"}\n"));
}

absl::Status CheckAddresses(const ServerOptions& options) {
  COBRA_RETURN_IF_ERROR(CheckListenAddress("--listen", options.listen, /*usual_port=*/50051));
  if (options.metrics.empty()) return absl::OkStatus();
  return CheckListenAddress("--metrics", options.metrics, /*usual_port=*/9464);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Predicts the latency of neural networks (gRPC: proto/cobra/v1).", "cobra-server");
  AddServiceFlags(&app, &flags);
  AddProcessFlags(&app, &flags);
  app.footer("Exit codes: 0 stopped by a signal, 1 cannot start (see the log), 2 usage error.");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;
  ServerOptions& options = flags.options;
  if (absl::Status addresses = CheckAddresses(options); !addresses.ok()) {
    PrintError(app.get_name(), addresses);
    return kUsageExitCode;
  }
  options.drain_timeout = absl::Seconds(flags.drain_seconds);
  options.embedding_cache_bytes = int64_t{flags.embedding_cache_mb} << 20;
  options.prediction_cache_bytes = int64_t{flags.prediction_cache_mb} << 20;

  proto::LogOnlyWhatIsFatal();
  if (absl::Status caught = CatchSignals(); !caught.ok()) {
    LogError(caught.message());
    return 1;
  }
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok()) {
    LogError(absl::StrCat("cobra-server cannot start: ", server.status().message()));
    return 1;
  }
  if (absl::Status reported = ReportAddresses(**server, flags.ready_file); !reported.ok()) {
    LogError(reported.message());
    return 1;
  }
  ServeUntilStopped(server->get());
  return 0;
}

}  // namespace
}  // namespace cobra::server

int main(int argc, char** argv) { return cobra::server::Main(argc, argv); }
