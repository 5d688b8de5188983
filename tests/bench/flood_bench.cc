// What one client's flood costs another: `cobra-bench flood`.
//
// One client asks at a fixed rate, a quarter of what the server answered with 32 requests in
// flight, for networks that it has asked about before. Stretches with and without a flood from
// another client follow each other. The floods, 32 requests in flight:
//   cold     networks of NAS-Bench-201 with batches that nobody has asked about: every layer of
//            each is new
//   hostile  programs that never end
//
// p99_ratio, p99_more_ms  99th percentile of latency with the flood over that without, and less
//                         that without; medians of the rounds
// failed                  calls of the first client that failed
// Latencies count from the moment at which a request was due.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"

namespace cobra::bench {
namespace {

constexpr int kInFlight = 32;
constexpr double kOpenLoopShare = 0.25;
constexpr size_t kWarmNetworks = 16;
constexpr absl::Duration kLead = absl::Milliseconds(500);  // the flood runs before and after the latencies count

struct FloodFlags {
  int rounds = 5;
  double seconds = 5;
};

class FloodBench {
 public:
  explicit FloodBench(const FloodFlags& flags) : flags_(flags) {}

  absl::StatusOr<Json> Run() {
    COBRA_RETURN_IF_ERROR(Start());
    COBRA_ASSIGN_OR_RETURN(const Json cold, Compare([this](int round) { return ColdRequests(round); }));
    COBRA_ASSIGN_OR_RETURN(const Json hostile, Compare([this](int) { return HostileRequests(); }));
    return Json{{"cold", cold},           {"hostile", hostile},      {"rate_per_s", rate_per_s_},
                {"in_flight", kInFlight}, {"rounds", flags_.rounds}, {"seconds", flags_.seconds}};
  }

 private:
  using Requests = std::vector<grpc::ByteBuffer>;

  absl::Status Start() {
    COBRA_ASSIGN_OR_RETURN(server_, CobraServer::Start());
    for (v1::PredictRequest& request : Nasbench201Requests(kWarmNetworks, "")) {
      COBRA_RETURN_IF_ERROR(server_->Predict(&request).status());
      warm_.push_back(ToByteBuffer(request.SerializeAsString()));
    }
    COBRA_ASSIGN_OR_RETURN(flood_, LoadGenerator::Connect({.address = server_->address()}));
    ClosedLoop loop;
    loop.in_flight = kInFlight;
    loop.warm_up = absl::Seconds(1);
    loop.duration = absl::Seconds(2);
    const LoadResult result = server_->load()->Run(loop, warm_);
    if (const std::string errors = result.ErrorText(); !errors.empty()) return absl::InternalError(errors);
    rate_per_s_ = kOpenLoopShare * result.requests_per_s();
    return absl::OkStatus();
  }

  // Each round another batch, so that nothing is known from the round before.
  Requests ColdRequests(int round) const {
    Requests requests;
    for (v1::PredictRequest& request : Nasbench201Requests(kNasbench201Cells, server_->target())) {
      request.mutable_architecture()->add_inputs(absl::StrCat(2 + round, "x3x32x32"));
      requests.push_back(ToByteBuffer(request.SerializeAsString()));
    }
    return requests;
  }

  Requests HostileRequests() const {
    v1::PredictRequest request;
    v1::SourceFile* const file = request.mutable_source()->add_files();
    file->set_path("net.py");
    file->set_text("while True:\n    pass\n");
    request.mutable_source()->set_file("net.py");
    request.mutable_source()->set_entry("Net()");
    request.add_targets(server_->target());
    return {ToByteBuffer(request.SerializeAsString())};
  }

  LoadResult Warm() {
    OpenLoop loop;
    loop.rate_per_s = rate_per_s_;
    loop.warm_up = kLead;
    loop.duration = absl::Seconds(flags_.seconds);
    loop.seed = ++loads_;
    return server_->load()->Run(loop, warm_);
  }

  absl::StatusOr<Json> Compare(const std::function<Requests(int)>& flood_of) {
    std::vector<double> ratios, more_ms, with_us, without_us;
    int64_t failed = 0, flood_answers = 0;
    for (int round = 0; round < flags_.rounds; ++round) {
      const Requests requests = flood_of(round);
      const LoadResult without = Warm();
      LoadResult flood;
      std::thread flooding([&] {
        ClosedLoop loop;
        loop.in_flight = kInFlight;
        loop.duration = absl::Seconds(flags_.seconds) + 2 * kLead;
        flood = flood_->Run(loop, requests);
      });
      const LoadResult with = Warm();
      flooding.join();
      without_us.push_back(without.latencies.PercentileUs(99));
      with_us.push_back(with.latencies.PercentileUs(99));
      ratios.push_back(with_us.back() / without_us.back());
      more_ms.push_back((with_us.back() - without_us.back()) / 1e3);
      flood_answers += flood.latencies.count();
      for (const LoadResult* result : {&without, &with}) {
        for (const int64_t errors : result->errors) failed += errors;
      }
    }
    return Json{{"p99_ratio", Median(ratios)},    {"p99_more_ms", Median(more_ms)},       {"failed", failed},
                {"p99_us_with", Median(with_us)}, {"p99_us_without", Median(without_us)}, {"p99_ratios", ratios},
                {"flood_answers", flood_answers}};
  }

  const FloodFlags flags_;
  std::unique_ptr<CobraServer> server_;
  std::unique_ptr<LoadGenerator> flood_;
  Requests warm_;
  double rate_per_s_ = 0;
  uint64_t loads_ = 0;
};

}  // namespace

RunBenchmark AddFlood(CLI::App* app) {
  auto flags = std::make_shared<FloodFlags>();
  AddRounds(app, &flags->rounds, "How often stretches with and without a flood follow each other");
  AddSeconds(app, &flags->seconds, "Length of one stretch");
  return [flags] { return FloodBench(*flags).Run(); };
}

}  // namespace cobra::bench
