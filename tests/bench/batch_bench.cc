// Answers in batches beside an echo: `cobra-bench batch`.
//
// One message of a thousand architecture strings of NAS-Bench-201 that the server has answered
// before; the next one is sent when the reply is there. The other server (echo.h) answers the same
// bytes with as many bytes.
//
// answers_per_second  the median of the rounds: a thousand for each batch
// batch_over_echo     ours over the echo's; the median of the rounds' ratios
// p50_ms, p99_ms      of one batch, from its sending to its reply
// two_in_flight       answers a second with two batches on two connections
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "proto/grpc_status.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

constexpr size_t kBatch = 1000;
constexpr int kConnections = 2;
constexpr double kWarmUpShare = 0.25;  // of the time that is measured

struct BatchFlags {
  int rounds = 5;
  double seconds = 3;
};

absl::StatusOr<LoadResult> Measure(LoadGenerator* load, double seconds, int in_flight,
                                   const std::vector<grpc::ByteBuffer>& requests) {
  ClosedLoop loop;
  loop.in_flight = in_flight;
  loop.duration = absl::Seconds(seconds);
  loop.warm_up = kWarmUpShare * loop.duration;
  const LoadResult result = load->Run(loop, requests);
  if (const std::string errors = result.ErrorText(); !errors.empty())
    return absl::InternalError(absl::StrCat("not every batch was answered: ", errors));
  if (result.latencies.count() == 0) return absl::InternalError("no batch was answered in time");
  return result;
}

// Asks twice: the first time computes, and the second reply is like those that are measured.
absl::StatusOr<v1::PredictBatchResponse> AskTwice(CobraServer* server, const v1::PredictBatchRequest& request) {
  const std::unique_ptr<v1::Cobra::Stub> stub = v1::Cobra::NewStub(server->channel());
  v1::PredictBatchResponse reply;
  for (int i = 0; i < 2; ++i) {
    grpc::ClientContext context;
    COBRA_RETURN_IF_ERROR(proto::FromGrpcStatus(stub->PredictBatch(&context, request, &reply)));
  }
  for (const v1::PredictResult& result : reply.results()) {
    if (!result.has_response()) return absl::InternalError(absl::StrCat("an error: ", result.error().message()));
  }
  return reply;
}

absl::StatusOr<Json> RunBatchBench(const BatchFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server, CobraServer::Start());
  v1::PredictBatchRequest request;
  for (v1::PredictRequest& one : Nasbench201Requests(kBatch, server->target()))
    *request.add_requests() = std::move(one);
  COBRA_ASSIGN_OR_RETURN(const v1::PredictBatchResponse reply, AskTwice(server.get(), request));
  const auto reply_bytes = static_cast<int64_t>(reply.ByteSizeLong());
  const tests::TemporaryDirectory directory;
  COBRA_ASSIGN_OR_RETURN(const Echo echo,
                         StartEcho({.reply_bytes = reply_bytes, .connections = kConnections}, directory));
  LoadTarget target{.address = server->address(), .connections = kConnections};
  target.method = "/cobra.v1.Cobra/PredictBatch";
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<LoadGenerator> load, LoadGenerator::Connect(target));

  const std::vector<grpc::ByteBuffer> requests = {ToByteBuffer(request.SerializeAsString())};
  std::vector<double> ours_per_s, echo_per_s, ratios, p50_ms, p99_ms, two_per_s;
  for (int round = 0; round < flags.rounds; ++round) {
    for (const bool ours : {round % 2 == 0, round % 2 != 0}) {
      COBRA_ASSIGN_OR_RETURN(const LoadResult result,
                             Measure(ours ? load.get() : echo.load.get(), flags.seconds, 1, requests));
      (ours ? ours_per_s : echo_per_s).push_back(result.requests_per_s() * kBatch);
      if (!ours) continue;
      p50_ms.push_back(result.latencies.PercentileUs(50) / 1e3);
      p99_ms.push_back(result.latencies.PercentileUs(99) / 1e3);
    }
    ratios.push_back(ours_per_s.back() / echo_per_s.back());
    COBRA_ASSIGN_OR_RETURN(const LoadResult two, Measure(load.get(), flags.seconds, 2, requests));
    two_per_s.push_back(two.requests_per_s() * kBatch);
  }
  return Json{{"answers_per_second", Median(ours_per_s)},
              {"batch_over_echo", Median(ratios)},
              {"echo_answers_per_second", Median(echo_per_s)},
              {"p50_ms", Median(p50_ms)},
              {"p99_ms", Median(p99_ms)},
              {"two_in_flight", Median(two_per_s)},
              {"request_bytes", requests[0].Length()},
              {"reply_bytes", reply_bytes},
              {"rounds", flags.rounds},
              {"seconds", flags.seconds}};
}

}  // namespace

RunBenchmark AddBatch(CLI::App* app) {
  auto flags = std::make_shared<BatchFlags>();
  AddRounds(app, &flags->rounds);
  AddSeconds(app, &flags->seconds, "How long each figure of one side is measured in a round");
  return [flags] { return RunBatchBench(*flags); };
}

}  // namespace cobra::bench
