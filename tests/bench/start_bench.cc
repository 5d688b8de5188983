// How long the server takes to start: `cobra-bench start`.
//
// From starting the program to the first reply of its health service that says SERVING, with the
// shipped weights, a new store and a library. The other side is the echo server (echo.h), which
// gRPC alone has to start.
//
// seconds       the median of the starts
// echo_seconds  the same of the echo server, until it accepts a connection
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "grpcpp/impl/client_unary_call.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

struct StartFlags {
  int starts = 11;
};

// Asks grpc.health.v1 for the whole server; its reply is one number, 1 if it is serving.
bool IsServing(grpc::ChannelInterface* channel) {
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext context;
  grpc::ByteBuffer reply;
  const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
      channel, method, &context, ToByteBuffer(""), &reply);
  grpc::Slice slice;
  return status.ok() && reply.TrySingleSlice(&slice).ok() && slice.size() == 2 && slice.begin()[1] == 1;
}

absl::StatusOr<double> SecondsToServe() {
  const tests::TemporaryDirectory directory;
  const Stopwatch watch;
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> server,
                         ServerProcess::Start(ServerCommand({}, directory), directory.File("cobra-server")));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<LoadGenerator> load,
                         LoadGenerator::Connect({.address = server->address()}));
  constexpr double kMostSeconds = 60;
  while (!IsServing(load->channel().get())) {
    if (watch.Elapsed().wall > kMostSeconds) return absl::DeadlineExceededError("the server does not serve");
    absl::SleepFor(absl::Milliseconds(1));
  }
  return watch.Elapsed().wall;
}

absl::StatusOr<Json> RunStart(const StartFlags& flags) {
  std::vector<double> seconds, echo_seconds;
  const tests::TemporaryDirectory directory;
  for (int i = 0; i < flags.starts; ++i) {
    COBRA_ASSIGN_OR_RETURN(const double one, SecondsToServe());
    seconds.push_back(one);
    const Stopwatch watch;
    COBRA_RETURN_IF_ERROR(StartEcho({}, directory).status());
    echo_seconds.push_back(watch.Elapsed().wall);
  }
  return Json{{"seconds", Median(seconds)},
              {"echo_seconds", Median(std::move(echo_seconds))},
              {"starts", flags.starts},
              {"all", seconds}};
}

}  // namespace

RunBenchmark AddStart(CLI::App* app) {
  auto flags = std::make_shared<StartFlags>();
  app->add_option("--starts", flags->starts, "How often both are started")->check(AboveZero())->capture_default_str();
  return [flags] { return RunStart(*flags); };
}

}  // namespace cobra::bench
