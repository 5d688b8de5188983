#include "tests/bench/cobra_server.h"

#include <unistd.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "proto/grpc_status.h"

namespace cobra::bench {

std::string ShippedModel() { return absl::StrCat(COBRA_BENCH_SOURCE, "/../../model/pretrained"); }

std::vector<std::string> ServerCommand(const CobraServerOptions& options, const tests::TemporaryDirectory& directory) {
  std::vector<std::string> argv = {options.program.empty() ? SiblingProgram("cobra-server") : options.program};
  argv.insert(argv.end(), {"--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0"});
  argv.insert(argv.end(), {"--model", options.model, "--library", kLibrary});
  argv.insert(argv.end(), {"--store", directory.File("cobra.sqlite")});
  argv.insert(argv.end(), options.flags.begin(), options.flags.end());
  return argv;
}

absl::StatusOr<std::unique_ptr<CobraServer>> CobraServer::Start(const CobraServerOptions& options) {
  std::unique_ptr<CobraServer> server(new CobraServer);
  COBRA_ASSIGN_OR_RETURN(server->process_, ServerProcess::Start(ServerCommand(options, server->directory_),
                                                                server->directory_.File("cobra-server")));
  COBRA_ASSIGN_OR_RETURN(server->load_,
                         LoadGenerator::Connect({.address = server->address(), .connections = options.connections}));
  server->stub_ = v1::Cobra::NewStub(server->channel());
  grpc::ClientContext context;
  v1::ListTargetsResponse targets;
  COBRA_RETURN_IF_ERROR(proto::FromGrpcStatus(server->stub_->ListTargets(&context, {}, &targets)));
  if (targets.targets().empty()) return absl::FailedPreconditionError("the model has no target");
  server->target_ = targets.targets(0).spec().name();
  return server;
}

absl::StatusOr<v1::PredictResponse> CobraServer::Predict(v1::PredictRequest* request) {
  request->clear_targets();
  request->add_targets(target_);
  grpc::ClientContext context;
  v1::PredictResponse reply;
  COBRA_RETURN_IF_ERROR(proto::FromGrpcStatus(stub_->Predict(&context, *request, &reply)));
  return reply;
}

absl::StatusOr<int64_t> CobraServer::ResidentBytes() const {
  const std::string path = absl::StrCat("/proc/", pid(), "/statm");
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const std::vector<absl::string_view> fields = absl::StrSplit(text, ' ');
  int64_t pages = 0;
  if (fields.size() < 2 || !absl::SimpleAtoi(fields[1], &pages)) return absl::DataLossError(path);
  return pages * ::sysconf(_SC_PAGESIZE);
}

absl::StatusOr<Echo> StartEcho(const EchoOptions& options, const tests::TemporaryDirectory& directory) {
  static int started = 0;
  Echo echo;
  std::vector<std::string> argv = {"/proc/self/exe", "echo", "--reply-bytes", absl::StrCat(options.reply_bytes)};
  if (options.stream) argv.push_back("--stream");
  COBRA_ASSIGN_OR_RETURN(echo.process,
                         ServerProcess::Start(std::move(argv), directory.File(absl::StrCat("echo-", ++started))));
  COBRA_ASSIGN_OR_RETURN(
      echo.load, LoadGenerator::Connect({.address = echo.process->address(), .connections = options.connections}));
  return echo;
}

}  // namespace cobra::bench
