// cobra-server: predicts how long networks take. SIGTERM and SIGINT drain it, SIGHUP reloads the
// model directory.
#include "server/program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/address.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process/command_line.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "proto/grpc_log.h"
#include "proto/protobuf_log.h"
#include "server/access/access_token.h"
#include "server/access/first_credentials.h"
#include "server/lanes/memory_trim.h"
#include "server/server.h"
#include "server/transport/health_check.h"

namespace cobra::server {
namespace {

// The handler writes one byte for each signal into this pipe, whichever thread the signal
// interrupts. Blocking signals in all threads is not possible: OpenBLAS starts its own before
// main(), and a signal to one of those would end the process during a drain.
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

// Some requests, or something else, still ran when the time to stop was over.
constexpr int kAbandonedExitCode = 3;
// What the end of the process may take beyond --drain-seconds, before it is forced.
constexpr absl::Duration kExitTime = absl::Milliseconds(500);

// What the signals ask of the main thread.
class SignalRequests {
 public:
  void Reload() {
    absl::MutexLock lock(&mutex_);
    reload_ = true;
  }
  void Stop(absl::Time deadline) {
    stopping_.store(true, std::memory_order_relaxed);
    absl::MutexLock lock(&mutex_);
    stop_by_ = deadline;
  }
  const std::atomic<bool>* stopping() const { return &stopping_; }
  // Waits for the next one: the deadline by which to stop, or nullopt to reload.
  std::optional<absl::Time> Next() {
    absl::MutexLock lock(&mutex_);
    const auto any = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return reload_ || stop_by_.has_value(); };
    mutex_.Await(absl::Condition(&any));
    reload_ = false;
    return stop_by_;
  }

 private:
  std::atomic<bool> stopping_{false};
  absl::Mutex mutex_;
  bool reload_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Time> stop_by_ ABSL_GUARDED_BY(mutex_);
};

// Runs in a separate thread: the process ends in time even while the main thread starts, reloads
// or drains.
[[noreturn]] void HandleSignals(absl::Duration drain_timeout, SignalRequests* requests) {
  while (true) {
    char signal = 0;
    if (::read(signal_pipe[0], &signal, 1) != 1) continue;
    if (signal == SIGHUP) {
      requests->Reload();
      continue;
    }
    requests->Stop(absl::Now() + drain_timeout);
    absl::SleepFor(drain_timeout + kExitTime);
    LogError("not stopped within --drain-seconds; the process exits now");
    ::_exit(kAbandonedExitCode);
  }
}

// The exit code.
int ServeUntilStopped(std::unique_ptr<Server> server, SignalRequests* requests) {
  while (true) {
    const std::optional<absl::Time> stop_by = requests->Next();
    if (stop_by.has_value()) {
      LogInfo("stopping: finishing the requests in flight");
      if (!server->Drain(*stop_by)) {
        LogError("threads are stuck in requests; the process exits anyway");
        ::_exit(kAbandonedExitCode);  // the destructors would wait for them
      }
      server.reset();
      LogInfo("stopped");
      return 0;
    }
    LogInfo("SIGHUP: reloading the model");
    (void)server->ReloadModel();  // it logs what became of it
  }
}

// gRPC, readers and scrapes need descriptors; the usual soft limit of 1,024 is for programs that
// use select(2).
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

struct Flags {
  ServerOptions options;
  std::string credentials;  // a folder; empty: none
  std::vector<std::string> tls_names;
  std::string ready_file;
  int drain_seconds = 20;
  int slow_ms = 1000;
  double idle_exit_minutes = 0;
};

// Flags for who may call, and how.
void AddAccessFlags(CLI::App* app, Flags* flags) {
  ServerOptions* options = &flags->options;
  app->add_option("--credentials", flags->credentials,
                  "Folder of a certificate and an access file to use; a first start makes it, with a token of the "
                  "role admin")
      ->check(NotEmpty());
  app->add_option("--tls-name", flags->tls_names,
                  "Another host name or IP address that the certificate of --credentials is for; repeatable");
  app->add_option("--access", options->access_file,
                  "File that defines who may do what, by token or client certificate (docs/operations.md, Access)");
  app->add_option("--tls-cert", options->tls.cert, "Certificate of this server with its chain (PEM); enables TLS");
  app->add_option("--tls-key", options->tls.key, "Private key of --tls-cert (PEM)");
  app->add_option("--tls-ca", options->tls.ca, "Authority of client certificates (PEM), for callers without a token");
  app->add_flag("--insecure", options->insecure,
                "Listen on an address that other machines reach even without TLS or without --access");
  app->add_flag("--insecure-metrics", options->insecure_metrics, "The same for --metrics, which has no access control");
}

// Flags for what is served, and from where.
void AddServiceFlags(CLI::App* app, Flags* flags) {
  ServerOptions& options = flags->options;
  app->add_option("--listen", options.listen, "Address of the gRPC API; port 0 chooses a free port")
      ->capture_default_str();
  app->add_option("--http", options.http,
                  "Address of the HTTP API and of /ui (docs/http.md), HOST:PORT; port 0 chooses a free one; none by "
                  "default");
  app->add_option("--http-host", options.http_hosts,
                  "Another name by which requests may call the --http server; repeatable");
  app->add_option("--metrics", options.metrics, "Address of /metrics for Prometheus; empty: none")
      ->capture_default_str();
  app->add_option("--model", options.model_directory, "Directory of the model version")
      ->default_str("the shipped weights");
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
                "Start even if the kernel refuses to confine the processes that read models (seccomp)");
  app->add_option("--worker", options.worker, "cobra-worker program; default: the one next to this program");
}

void AddCacheFlag(CLI::App* app, const char* flag, const char* help, int64_t* bytes) {
  app->add_option_function<int>(
         flag, [bytes](int mebibytes) { *bytes = int64_t{mebibytes} << 20; }, absl::StrCat(help, ", in MiB"))
      ->check(CLI::Range(1, 1 << 20))
      ->default_str(absl::StrCat(*bytes >> 20));
}

// Flags for the use of the machine and for the operation of the process.
void AddProcessFlags(CLI::App* app, Flags* flags) {
  app->add_option("--threads", flags->options.threads, "Predictions at a time; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app->add_option("--queue", flags->options.limits.max_queued, "Requests of each lane that may wait")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  AddCacheFlag(app, "--embedding-cache-mb", "Cache of layer embeddings", &flags->options.embedding_cache_bytes);
  AddCacheFlag(app, "--prediction-cache-mb", "Cache of predictions", &flags->options.prediction_cache_bytes);
  AddCacheFlag(app, "--reply-cache-mb", "Cache of replies by the bytes of requests", &flags->options.reply_cache_bytes);
  app->add_option("--drain-seconds", flags->drain_seconds, "After SIGTERM, the process exits within this time")
      ->check(CLI::Range(0, 3600))
      ->capture_default_str();
  app->add_option(
         "--idle-exit-minutes", flags->idle_exit_minutes,
         "Exit after this long without a request, as a server that cobra-client started for its user does; 0: never")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app->add_option("--slow-ms", flags->slow_ms, "Log requests that take longer, with their stages; 0: none")
      ->check(CLI::Range(0, 3600000))
      ->capture_default_str();
  app->add_option_function<std::string>(
         "--log-format",
         [](const std::string& format) { SetLogFormat(format == "json" ? LogFormat::kJson : LogFormat::kText); },
         "text, or json: one object per line")
      ->check(CLI::IsMember({"text", "json"}))
      ->default_str("text");
  app->add_option("--ready-file", flags->ready_file, "JSON file with the addresses, written once the server is ready");
}

// `cobra-server token`
CLI::App* AddTokenCommand(CLI::App* app, TokenRequest* request) {
  CLI::App* command = app->add_subcommand("token", "Makes a token and prints its line for the --access file");
  command->add_option("--name", request->name, "Who will have it: ci, alice, pi-4")->required();
  command->add_option("--role", request->role, "ask, measure or admin")->required();
  command->add_option("--worker", request->worker, "Role measure: name of the worker (cobra-worker work --worker)");
  command->add_option("--targets", request->targets, "Role measure: targets that it may access, separated by commas");
  command->add_option("--out", request->token_file, "New file for the token, which is not displayed")->required();
  return command;
}

int RunTokenCommand(const std::string& program, const TokenRequest& request) {
  const absl::StatusOr<std::string> line = MakeToken(request);
  if (!line.ok()) {
    PrintError(program, line.status());
    return kUsageExitCode;
  }
  std::printf("%s\n", line->c_str());
  return 0;
}

constexpr absl::Duration kHealthTimeout = absl::Seconds(4);  // checks of containers allow 5 s or more

// `cobra-server health`
CLI::App* AddHealthCommand(CLI::App* app, std::string* address) {
  CLI::App* command = app->add_subcommand(
      "health", "Asks a server that runs on this machine whether it can answer: exit code 0 if so, otherwise 1");
  command->add_option("--metrics", *address, "Its --metrics address")->capture_default_str();
  return command;
}

int RunHealthCommand(const std::string& program, const std::string& address) {
  absl::Status status = CheckAddress("--metrics", address);
  const int code = status.ok() ? 1 : kUsageExitCode;
  if (status.ok()) status = CheckHealth(address, kHealthTimeout);
  if (status.ok()) {
    std::printf("SERVING\n");
    return 0;
  }
  PrintError(program, status);
  return code;
}

// Logs the server's addresses and writes them to `ready_file`, which the caller may wait for.
absl::Status ReportAddresses(const Server& server, const std::string& ready_file) {
  const std::string listen = server.listen_address(), metrics = server.metrics_address(), http = server.http_address();
  LogInfo(absl::StrCat("listening on ", listen, http.empty() ? "" : absl::StrCat(", for HTTP on ", http),
                       metrics.empty() ? "" : absl::StrCat(", metrics on http://", metrics, "/metrics")));
  if (ready_file.empty()) return absl::OkStatus();
  return WriteFileAtomic(ready_file, absl::StrCat("{\"listen\": \"", listen, "\", \"metrics\": \"", metrics,
                                                  "\", \"http\": \"", http, "\"}\n"));
}

absl::Status CheckAddresses(const ServerOptions& options) {
  COBRA_RETURN_IF_ERROR(CheckListenAddress("--listen", options.listen, /*usual_port=*/50051));
  if (!options.http.empty()) {
    COBRA_RETURN_IF_ERROR(CheckListenAddress("--http", options.http, /*usual_port=*/50080));
    if (IsGrpcName(options.http)) {
      return UsageError(absl::StrCat("--http ", options.http, ": is not HOST:PORT"), "--http 127.0.0.1:50080");
    }
  }
  if (options.metrics.empty()) return absl::OkStatus();
  return CheckListenAddress("--metrics", options.metrics, /*usual_port=*/9464);
}

// --credentials, as the flags that it stands for.
absl::Status UseCredentials(const Flags& flags, ServerOptions* options) {
  if (flags.credentials.empty() && !flags.tls_names.empty()) {
    return UsageError(absl::StrCat("--tls-name ", flags.tls_names[0], ": has no effect without --credentials"),
                      "give --credentials FOLDER too, or make the certificate of --tls-cert for this name");
  }
  if (flags.credentials.empty()) return absl::OkStatus();
  if (!options->tls.cert.empty() || !options->tls.key.empty() || !options->access_file.empty()) {
    return UsageError(absl::StrCat("--credentials ", flags.credentials, ": was given with --tls-cert or --access"),
                      "give either --credentials, or --tls-cert, --tls-key and --access");
  }
  COBRA_ASSIGN_OR_RETURN(CredentialFiles files, PrepareCredentials(flags.credentials, flags.tls_names));
  if (files.are_new) {
    LogInfo(absl::StrCat("--credentials ", flags.credentials,
                         ": made a certificate and a token of the role admin; ask with "
                         "--tls-ca ",
                         files.cert, " --token-file ", files.token));
  }
  options->tls.cert = std::move(files.cert);
  options->tls.key = std::move(files.key);
  options->access_file = std::move(files.access);
  return absl::OkStatus();
}

absl::Status Prepare(Flags* flags) {
  ServerOptions& options = flags->options;
  COBRA_RETURN_IF_ERROR(CheckAddresses(options));
  COBRA_RETURN_IF_ERROR(UseCredentials(*flags, &options));
  options.limits.slow_request = flags->slow_ms == 0 ? absl::InfiniteDuration() : absl::Milliseconds(flags->slow_ms);
  if (flags->idle_exit_minutes > 0) options.idle_exit = absl::Minutes(flags->idle_exit_minutes);
  options.stop = [] { ::kill(::getpid(), SIGTERM); };
  return absl::OkStatus();
}

}  // namespace

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Predicts the latency of neural networks (gRPC: proto/cobra/v1).", "cobra-server");
  AddServiceFlags(&app, &flags);
  AddAccessFlags(&app, &flags);
  AddProcessFlags(&app, &flags);
  TokenRequest token;
  const CLI::App* token_command = AddTokenCommand(&app, &token);
  std::string health_address = flags.options.metrics;
  const CLI::App* health_command = AddHealthCommand(&app, &health_address);
  app.footer(
      "Exit codes: 0 stopped by a signal, 1 cannot start (see the log), 2 usage error, 3 stopped by a signal, but not "
      "everything finished within --drain-seconds.");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;
  if (token_command->parsed()) return RunTokenCommand(app.get_name(), token);
  if (health_command->parsed()) return RunHealthCommand(app.get_name(), health_address);
  ServerOptions& options = flags.options;
  if (absl::Status prepared = Prepare(&flags); !prepared.ok()) {
    PrintError(app.get_name(), prepared);
    return DiagnosticFromStatus(prepared) ? kUsageExitCode : 1;
  }

  // Debian builds Abseil with its search for deadlocks, which costs every lock, gRPC's as well.
  // Tests keep it.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  KeepNoLargeBlocks();
  proto::LogOnlyFatal();
  proto::ThrottleGrpcLog();
  if (absl::Status caught = CatchSignals(); !caught.ok()) {
    LogError(caught.message());
    return 1;
  }
  RaiseDescriptorLimit();
  static auto* const requests = new SignalRequests;  // the thread that uses it never ends
  options.stopping = requests->stopping();
  std::thread(HandleSignals, absl::Seconds(flags.drain_seconds), requests).detach();
  absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
  if (!server.ok() && DiagnosticFromStatus(server.status())) {
    PrintError(app.get_name(), server.status());
    return kUsageExitCode;
  }
  if (!server.ok()) {
    LogError(absl::StrCat("cobra-server cannot start: ", server.status().message()));
    return 1;
  }
  if (absl::Status reported = ReportAddresses(**server, flags.ready_file); !reported.ok()) {
    LogError(reported.message());
    return 1;
  }
  return ServeUntilStopped(*std::move(server), requests);
}

}  // namespace cobra::server
