// A network whose layers nobody has asked about, beside PyTorch: `cobra-bench cold`.
//
// ResNet-50 as a file of the server's library. Server and readers run on one core (the first that
// this process may use), the client on the others. Each round starts a server of its own. The first
// requests, for other networks, let it import the libraries. Then ResNet-50 is asked for with a
// batch size that was not requested before, so every layer is new: nothing of reading, encoding and
// graph network can come from a cache. The other side is cold_reference.py: PyTorch with libraries
// imported builds the model, traces it with torch.fx, propagates shapes, and runs an encoder and a
// graph network of the same sizes, on one thread.
//
// milliseconds        from sending a request to its reply; the median of a round's requests, the
//                     median of the rounds
// python_over_ours    PyTorch's median over it
// first_milliseconds  the same of the first request of a server, which imports the libraries; the
//                     median of the rounds
// read_us, predict_us what the replies report; reply_us is the rest: gRPC, the kernel, the client
// stages              of predict_us and read_us, in this process and in the processor's time:
//                     checking a graph that comes from a reader, making the layers' texts and
//                     tokens, encoder, the graph network and the rest
// python              the stages of the other side
#include <sched.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "frontend/python/reader.h"
#include "graph/cost/cost.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"
#include "model/predict/predictor.h"
#include "model/predict/weights/version.h"
#include "model/text/canonical_text.h"
#include "proto/graph_proto.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/python_side.h"

namespace cobra::bench {
namespace {

constexpr char kResNetFile[] = "torchvision/models/resnet.py";
constexpr int kOtherNetworks = 30;
// A reader ends and the next one is forked after the reply; on one core, the next request would
// wait for that.
constexpr absl::Duration kPause = absl::Milliseconds(60);

struct ColdFlags {
  int rounds = 5;
  int requests = 11;
};

// While it lives, programs that this thread starts run on one core.
class OnOneCore {
 public:
  OnOneCore() {
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core) {
      if (CPU_ISSET(core, &before_)) CPU_SET(core, &one);
    }
    ::sched_setaffinity(0, sizeof(one), &one);
  }
  ~OnOneCore() { ::sched_setaffinity(0, sizeof(before_), &before_); }

 private:
  cpu_set_t before_;
};

struct ColdAnswer {
  double ms = 0, read_us = 0, predict_us = 0;
};

std::string ResNetInput(int64_t batch) { return absl::StrCat(batch, "x3x224x224"); }

absl::StatusOr<ColdAnswer> Ask(CobraServer* server, const std::string& entry, const std::string& input) {
  absl::SleepFor(kPause);
  v1::PredictRequest request;
  request.mutable_source()->set_file(kResNetFile);
  request.mutable_source()->set_entry(entry);
  request.mutable_source()->add_inputs(input);
  request.set_keep_private(true);
  const Stopwatch watch;
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, server->Predict(&request));
  return ColdAnswer{watch.Elapsed().wall * 1e3, reply.read_us(), reply.predict_us()};
}

struct ColdRound {
  double first_ms = 0, ms = 0, read_us = 0, predict_us = 0;
};

absl::StatusOr<ColdRound> RunRound(const ColdFlags& flags) {
  std::unique_ptr<CobraServer> server;
  {
    const OnOneCore one_core;
    COBRA_ASSIGN_OR_RETURN(server, CobraServer::Start({.flags = {"--threads", "1"}}));
  }
  ColdRound round;
  COBRA_ASSIGN_OR_RETURN(const ColdAnswer first, Ask(server.get(), "resnet50()", ResNetInput(flags.requests + 1)));
  round.first_ms = first.ms;
  for (int i = 0; i < kOtherNetworks; ++i)
    COBRA_RETURN_IF_ERROR(Ask(server.get(), "resnet18()", absl::StrCat("1x3x32x", 32 + i)).status());
  std::vector<double> ms, read_us, predict_us;
  for (int batch = 1; batch <= flags.requests; ++batch) {
    COBRA_ASSIGN_OR_RETURN(const ColdAnswer answer, Ask(server.get(), "resnet50()", ResNetInput(batch)));
    ms.push_back(answer.ms);
    read_us.push_back(answer.read_us);
    predict_us.push_back(answer.predict_us);
  }
  round.ms = Median(std::move(ms));
  round.read_us = Median(std::move(read_us));
  round.predict_us = Median(std::move(predict_us));
  return round;
}

absl::StatusOr<graph::Graph> ReadResNet(int64_t batch) {
  python::SourceRequest source;
  source.library_roots = {kLibrary};
  source.file = absl::StrCat(kLibrary, "/", kResNetFile);
  source.entry = "resnet50()";
  source.inputs = {ResNetInput(batch)};
  return python::ReadPythonModel(source);
}

// Of one graph each.
struct Stages {
  std::vector<double> check_us, describe_us, texts_us, encoder_us, rest_us;
};

std::vector<int32_t> DifferentLayers(const graph::Graph& graph) {
  std::vector<int32_t> different;
  std::set<std::string> seen;
  for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i) {
    std::string bytes;
    graph::AppendExactBytesOfCall(graph, i, &bytes);
    if (seen.insert(std::move(bytes)).second) different.push_back(i);
  }
  return different;
}

// The second prediction of a graph has all its embeddings from the cache: it is the first one
// without texts and the encoder.
absl::Status AddStages(const predict::Predictor& predictor, const text::Vocabulary& vocabulary,
                       const graph::Graph& graph, Stages* stages) {
  const std::string target = predictor.targets()[0].spec.name, wire = proto::GraphToWire(graph);
  const Stopwatch check;
  COBRA_RETURN_IF_ERROR(proto::GraphFromWire(wire).status());
  stages->check_us.push_back(check.Elapsed().cpu * 1e6);
  const Stopwatch describe;
  graph::Fingerprint(graph);
  graph::CostOf(graph);
  graph::PeakMemoryBytes(graph);
  stages->describe_us.push_back(describe.Elapsed().cpu * 1e6);
  const std::vector<int32_t> different = DifferentLayers(graph);
  const Stopwatch texts;
  for (const int32_t call : different) vocabulary.Encode(text::SplitText(text::CanonicalText(graph, call)));
  const double texts_us = texts.Elapsed().cpu * 1e6;
  const Stopwatch all;
  COBRA_RETURN_IF_ERROR(predictor.Predict(graph, target).status());
  const double all_us = all.Elapsed().cpu * 1e6;
  const Stopwatch again;
  COBRA_RETURN_IF_ERROR(predictor.Predict(graph, target).status());
  const double again_us = again.Elapsed().cpu * 1e6;
  stages->texts_us.push_back(texts_us);
  stages->encoder_us.push_back(all_us - again_us - texts_us);
  stages->rest_us.push_back(again_us);
  return absl::OkStatus();
}

absl::StatusOr<Json> MeasureStages() {
  COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                         predict::Predictor::Load(ShippedModel()));
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(ShippedModel()));
  Stages stages;
  for (int64_t batch = 1; batch <= 21; ++batch) {
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, ReadResNet(batch));
    COBRA_RETURN_IF_ERROR(AddStages(*predictor, version.vocabulary, graph, &stages));
  }
  return Json{{"check_us", Median(stages.check_us)},
              {"describe_us", Median(stages.describe_us)},
              {"texts_us", Median(stages.texts_us)},
              {"encoder_us", Median(stages.encoder_us)},
              {"graph_network_us", Median(stages.rest_us)}};
}

absl::StatusOr<Json> SizesOfNet() {
  COBRA_ASSIGN_OR_RETURN(const predict::ModelVersion version, predict::ReadVersion(ShippedModel()));
  return Json::parse(predict::ManifestToJson(version.manifest))["net"];
}

absl::StatusOr<Json> RunCold(const ColdFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckPython({"torch", "torchvision"}));
  COBRA_ASSIGN_OR_RETURN(const Json sizes, SizesOfNet());
  std::vector<double> ms, first_ms, read_us, predict_us, reply_us;
  for (int i = 0; i < flags.rounds; ++i) {
    COBRA_ASSIGN_OR_RETURN(const ColdRound round, RunRound(flags));
    ms.push_back(round.ms);
    first_ms.push_back(round.first_ms);
    read_us.push_back(round.read_us);
    predict_us.push_back(round.predict_us);
    reply_us.push_back(round.ms * 1e3 - round.read_us - round.predict_us);
  }
  COBRA_ASSIGN_OR_RETURN(const Json stages, MeasureStages());
  COBRA_ASSIGN_OR_RETURN(const Json python, RunPython("cold_reference.py", {sizes.dump(), absl::StrCat(flags.rounds)}));
  const double median_ms = Median(std::move(ms));
  return Json{{"milliseconds", median_ms},
              {"python_over_ours", python["milliseconds"].get<double>() / median_ms},
              {"first_milliseconds", Median(std::move(first_ms))},
              {"read_us", Median(std::move(read_us))},
              {"predict_us", Median(std::move(predict_us))},
              {"reply_us", Median(std::move(reply_us))},
              {"stages", stages},
              {"python", python},
              {"rounds", flags.rounds},
              {"requests", flags.requests}};
}

}  // namespace

RunBenchmark AddCold(CLI::App* app) {
  auto flags = std::make_shared<ColdFlags>();
  AddRounds(app, &flags->rounds);
  app->add_option("--requests", flags->requests, "Requests to each server, with batch sizes from 1 on")
      ->check(AboveZero())
      ->capture_default_str();
  return [flags] { return RunCold(*flags); };
}

}  // namespace cobra::bench
