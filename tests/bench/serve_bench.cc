// The server beside a bare gRPC server: `cobra-bench serve`.
//
// Both are processes of their own on this machine and are asked by the same client (load.h), one
// after the other in each round. The other one (echo.h) answers the same bytes with as many bytes
// as our reply has, and reads nothing of them: what gRPC, the kernel and the client cost is in both
// figures. Ratios are medians over the rounds of ours over echo's.
//
// warm_over_echo, source_over_echo, arch_over_echo
//                    replies a second, 32 in flight, of a question that the server has answered
//                    before: ResNet-50 as a graph, as a file of the server's library, and an
//                    architecture string
// renamed_over_echo  the same for the graph, with other names of parameters and modules in each
//                    request, so that no two requests are the same bytes but all are the same
//                    network. Each is sent once
// p50_over_echo      median latency of the graph, one in flight
// p99_over_echo      its 99th percentile
//
// With --beside another cobra-server takes the echo's place, for instance the portable one, and has
// the same answers cached: the figures are then named warm_over_beside and so on.
//
// Beside them the figures of both sides. `open_loop` has latencies at a fixed rate, a quarter of
// what ours answered with 32 in flight, counted from the moment at which a request was due.
// `spread`: the highest of the rounds' replies a second less the lowest, over the median.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "cobra/v1/cobra.pb.h"
#include "frontend/python/reader.h"
#include "proto/graph_proto.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/load.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

constexpr char kResNetFile[] = "torchvision/models/resnet.py";
constexpr char kResNetEntry[] = "resnet50()";
constexpr char kResNetInput[] = "1x3x224x224";
constexpr char kArchitecture[] =
    "nasbench201:|nor_conv_3x3~0|+|none~0|skip_connect~1|+|nor_conv_1x1~0|avg_pool_3x3~1|none~2|";

constexpr int kInFlight = 32;
constexpr int kConnections = 2;
constexpr double kWarmUpShare = 0.25;  // of the time that is measured
constexpr double kOpenLoopShare = 0.25;
constexpr int kVariants = 5000;  // of a renamed graph in a round: 130 MB

struct ServeFlags {
  int rounds = 5;
  double seconds = 2;
  std::string beside;  // another cobra-server; empty: the echo
};

// Of one side in one round.
struct Figures {
  double requests_per_s = 0, p50_us = 0, p99_us = 0, p99_9_us = 0;
};
using Field = double Figures::*;

struct Sides {
  std::vector<Figures> ours, other;  // one of each per round
};

double MedianOf(const std::vector<Figures>& rounds, Field field) {
  std::vector<double> values;
  for (const Figures& figures : rounds) values.push_back(figures.*field);
  return Median(std::move(values));
}

double MedianRatio(const Sides& sides, Field field) {
  std::vector<double> ratios;
  for (size_t i = 0; i < sides.ours.size(); ++i) ratios.push_back(sides.ours[i].*field / (sides.other[i].*field));
  return Median(std::move(ratios));
}

double Spread(const std::vector<Figures>& rounds) {
  const auto [low, high] = std::minmax_element(rounds.begin(), rounds.end(), [](const Figures& a, const Figures& b) {
    return a.requests_per_s < b.requests_per_s;
  });
  return (high->requests_per_s - low->requests_per_s) / MedianOf(rounds, &Figures::requests_per_s);
}

Json ToJson(const std::vector<Figures>& rounds) {
  return Json{{"requests_per_s", MedianOf(rounds, &Figures::requests_per_s)},
              {"p50_us", MedianOf(rounds, &Figures::p50_us)},
              {"p99_us", MedianOf(rounds, &Figures::p99_us)},
              {"p99_9_us", MedianOf(rounds, &Figures::p99_9_us)},
              {"spread", Spread(rounds)}};
}

// The same network under other names.
class RenamedGraph {
 public:
  explicit RenamedGraph(const v1::PredictRequest& request) : request_(request) {
    v1::Graph* const graph = request_.mutable_graph();
    for (v1::NamedTensor& parameter : *graph->mutable_parameters()) AddName(parameter.mutable_name());
    for (v1::NamedTensor& buffer : *graph->mutable_buffers()) AddName(buffer.mutable_name());
    for (v1::Node& node : *graph->mutable_nodes()) AddName(node.mutable_origin()->mutable_module_path());
  }

  RenamedGraph(const RenamedGraph&) = delete;  // names_ points into request_

  // Differs from all earlier ones, and has as many bytes.
  const v1::PredictRequest& Next() {
    static constexpr absl::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
    std::string stage(kStage.size(), 'v');
    uint64_t rest = ++variant_;
    for (size_t i = stage.size() - 1; i > 0; --i, rest /= kDigits.size()) stage[i] = kDigits[rest % kDigits.size()];
    for (std::string* const name : names_) name->replace(0, stage.size(), stage);
    return request_;
  }

 private:
  static constexpr absl::string_view kStage = "layer";  // all but a few names of a ResNet begin with it
  void AddName(std::string* name) {
    if (absl::StartsWith(*name, kStage)) names_.push_back(name);
  }

  v1::PredictRequest request_;
  std::vector<std::string*> names_;
  uint64_t variant_ = 0;
};

// What the server is asked, and how long requests and replies are.
struct Question {
  std::string name;
  v1::PredictRequest request;
  v1::PredictResponse reply;
};

class ServeBench {
 public:
  explicit ServeBench(const ServeFlags& flags) : flags_(flags) {}

  absl::StatusOr<Json> Run() {
    COBRA_RETURN_IF_ERROR(Start());
    COBRA_ASSIGN_OR_RETURN(const Question graph, GraphQuestion());
    COBRA_ASSIGN_OR_RETURN(const Question source, SourceQuestion());
    COBRA_ASSIGN_OR_RETURN(const Question architecture, ArchitectureQuestion());
    Json details = Json::object();
    COBRA_ASSIGN_OR_RETURN(const Comparison warm, Compare(graph, /*open_loop=*/true, &details));
    COBRA_ASSIGN_OR_RETURN(const Comparison by_source, Compare(source, /*open_loop=*/false, &details));
    COBRA_ASSIGN_OR_RETURN(const Comparison by_string, Compare(architecture, /*open_loop=*/false, &details));
    COBRA_ASSIGN_OR_RETURN(const Sides renamed, CompareRenamed(graph, &details));
    const std::string over = absl::StrCat("_over_", other_name_);
    Json result{{"warm" + over, MedianRatio(warm.loaded, &Figures::requests_per_s)},
                {"p50" + over, MedianRatio(warm.single, &Figures::p50_us)},
                {"p99" + over, MedianRatio(warm.single, &Figures::p99_us)},
                {"source" + over, MedianRatio(by_source.loaded, &Figures::requests_per_s)},
                {"arch" + over, MedianRatio(by_string.loaded, &Figures::requests_per_s)},
                {"renamed" + over, MedianRatio(renamed, &Figures::requests_per_s)},
                {"cores", std::thread::hardware_concurrency()},
                {"connections", kConnections},
                {"rounds", flags_.rounds},
                {"seconds", flags_.seconds}};
    result.update(details);
    return result;
  }

 private:
  using Load = std::function<LoadResult(LoadGenerator*)>;

  struct Comparison {
    Sides loaded, single, open;  // kInFlight, one, and a fixed rate
  };

  absl::Status Start() {
    COBRA_ASSIGN_OR_RETURN(server_, CobraServer::Start({.connections = kConnections}));
    if (flags_.beside.empty()) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(beside_, CobraServer::Start({.connections = kConnections, .program = flags_.beside}));
    return absl::OkStatus();
  }

  // The other side, ready for the question.
  absl::StatusOr<LoadGenerator*> StartOther(const Question& question) {
    if (beside_ != nullptr) {
      v1::PredictRequest request = question.request;
      COBRA_RETURN_IF_ERROR(beside_->Predict(&request).status());
      return beside_->load();
    }
    echo_.load.reset();  // before its server
    const auto reply_bytes = static_cast<int64_t>(question.reply.ByteSizeLong());
    COBRA_ASSIGN_OR_RETURN(echo_, StartEcho({.reply_bytes = reply_bytes, .connections = kConnections}, directory_));
    return echo_.load.get();
  }

  Json SidesToJson(const Sides& sides) const {
    return Json{{"cobra", ToJson(sides.ours)}, {other_name_, ToJson(sides.other)}};
  }

  // Asks once, so that the server has the answer afterwards.
  absl::StatusOr<Question> Asked(std::string name, v1::PredictRequest request) {
    Question question{std::move(name), std::move(request), {}};
    COBRA_ASSIGN_OR_RETURN(question.reply, server_->Predict(&question.request));
    return question;
  }

  absl::StatusOr<Question> GraphQuestion() {
    python::SourceRequest source;
    source.library_roots = {kLibrary};
    source.file = absl::StrCat(kLibrary, "/", kResNetFile);
    source.entry = kResNetEntry;
    source.inputs = {kResNetInput};
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, python::ReadPythonModel(source));
    v1::PredictRequest request;
    proto::GraphToProto(graph, request.mutable_graph());
    return Asked("warm", std::move(request));
  }

  absl::StatusOr<Question> SourceQuestion() {
    v1::PredictRequest request;
    request.mutable_source()->set_file(kResNetFile);
    request.mutable_source()->set_entry(kResNetEntry);
    request.mutable_source()->add_inputs(kResNetInput);
    return Asked("source", std::move(request));
  }

  absl::StatusOr<Question> ArchitectureQuestion() {
    v1::PredictRequest request;
    request.mutable_architecture()->set_text(kArchitecture);
    return Asked("arch", std::move(request));
  }

  static absl::StatusOr<Figures> Measure(absl::string_view side, const Load& load, LoadGenerator* generator) {
    const LoadResult result = load(generator);
    if (const std::string errors = result.ErrorText(); !errors.empty()) {
      return absl::InternalError(absl::StrCat(side, " did not answer every request: ", errors));
    }
    if (result.latencies.count() == 0) return absl::InternalError(absl::StrCat(side, " answered nothing in time"));
    return Figures{result.requests_per_s(), result.latencies.PercentileUs(50), result.latencies.PercentileUs(99),
                   result.latencies.PercentileUs(99.9)};
  }

  // Ours goes first in every second round, in case that the other side leaves the machine in
  // another state.
  absl::Status MeasureBoth(int round, LoadGenerator* other, const Load& load, Sides* sides) {
    for (const bool ours : {round % 2 == 0, round % 2 != 0}) {
      COBRA_ASSIGN_OR_RETURN(const Figures figures,
                             ours ? Measure("cobra-server", load, server_->load()) : Measure(other_name_, load, other));
      (ours ? sides->ours : sides->other).push_back(figures);
    }
    return absl::OkStatus();
  }

  Load ClosedWith(int in_flight, const std::vector<grpc::ByteBuffer>& requests) const {
    ClosedLoop loop;
    loop.in_flight = in_flight;
    loop.duration = absl::Seconds(flags_.seconds);
    loop.warm_up = kWarmUpShare * loop.duration;
    return [loop, &requests](LoadGenerator* generator) { return generator->Run(loop, requests); };
  }

  Load OpenAt(double rate_per_s, const std::vector<grpc::ByteBuffer>& requests) const {
    OpenLoop loop;
    loop.rate_per_s = rate_per_s;
    loop.duration = absl::Seconds(flags_.seconds);
    loop.warm_up = kWarmUpShare * loop.duration;
    return [loop, &requests](LoadGenerator* generator) { return generator->Run(loop, requests); };
  }

  absl::StatusOr<Comparison> Compare(const Question& question, bool open_loop, Json* details) {
    const std::vector<grpc::ByteBuffer> requests = {ToByteBuffer(question.request.SerializeAsString())};
    COBRA_ASSIGN_OR_RETURN(LoadGenerator* const other, StartOther(question));
    Comparison result;
    std::vector<double> rates_per_s;
    for (int round = 0; round < flags_.rounds; ++round) {
      COBRA_RETURN_IF_ERROR(MeasureBoth(round, other, ClosedWith(kInFlight, requests), &result.loaded));
      COBRA_RETURN_IF_ERROR(MeasureBoth(round, other, ClosedWith(1, requests), &result.single));
      if (!open_loop) continue;
      rates_per_s.push_back(kOpenLoopShare * result.loaded.ours.back().requests_per_s);
      COBRA_RETURN_IF_ERROR(MeasureBoth(round, other, OpenAt(rates_per_s.back(), requests), &result.open));
    }
    Json& json = (*details)[question.name];
    json = BytesOf(question);
    json[absl::StrCat("in_flight_", kInFlight)] = SidesToJson(result.loaded);
    json["in_flight_1"] = SidesToJson(result.single);
    if (open_loop) {
      json["open_loop"] = Json{{"rate_per_s", Median(rates_per_s)}};
      json["open_loop"].update(SidesToJson(result.open));
    }
    return result;
  }

  absl::StatusOr<Sides> CompareRenamed(const Question& graph, Json* details) {
    RenamedGraph renamed(graph.request);
    v1::PredictRequest first = renamed.Next();
    COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, server_->Predict(&first));
    if (reply.fingerprint() != graph.reply.fingerprint()) {
      return absl::InternalError("a renamed graph is another network");
    }
    COBRA_ASSIGN_OR_RETURN(LoadGenerator* const other, StartOther(graph));
    ClosedLoop loop;
    loop.in_flight = kInFlight;
    loop.duration = absl::Seconds(flags_.seconds);
    loop.each_once = true;
    Sides sides;
    for (int round = 0; round < flags_.rounds; ++round) {
      std::vector<grpc::ByteBuffer> requests;
      for (int i = 0; i < kVariants; ++i) requests.push_back(ToByteBuffer(renamed.Next().SerializeAsString()));
      const Load load = [&](LoadGenerator* generator) { return generator->Run(loop, requests); };
      COBRA_RETURN_IF_ERROR(MeasureBoth(round, other, load, &sides));
    }
    Json& json = (*details)["renamed"];
    json = BytesOf(graph);
    json[absl::StrCat("in_flight_", kInFlight)] = SidesToJson(sides);
    return sides;
  }

  static Json BytesOf(const Question& question) {
    return Json{{"request_bytes", question.request.ByteSizeLong()}, {"reply_bytes", question.reply.ByteSizeLong()}};
  }

  const ServeFlags flags_;
  const std::string other_name_ = flags_.beside.empty() ? "echo" : "beside";
  const tests::TemporaryDirectory directory_;
  std::unique_ptr<CobraServer> server_, beside_;
  Echo echo_;  // of the question that is being measured
};

}  // namespace

RunBenchmark AddServe(CLI::App* app) {
  auto flags = std::make_shared<ServeFlags>();
  AddRounds(app, &flags->rounds);
  AddSeconds(app, &flags->seconds, "How long each figure of one side is measured in a round");
  app->add_option("--beside", flags->beside, "Another cobra-server to compare with instead of the echo");
  return [flags] { return ServeBench(*flags).Run(); };
}

}  // namespace cobra::bench
