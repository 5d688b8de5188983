// A whole search space over one stream, beside PyTorch: `cobra-bench bulk`.
//
// All 15,625 networks of NAS-Bench-201, as published and complete, by architecture strings. Each
// round starts a server that has answered nothing before, and sends them all over one stream. The
// other side is bulk_reference.py: BRP-NAS's graph convolutional network (nine nodes, four layers
// of 600) in PyTorch, which computes each pruned cell once, in batches. Both have two threads and
// take turns. Neither the server's start nor Python's imports count.
//
// python_over_ours  PyTorch's seconds over ours; the median of the rounds' ratios. As PyTorch, we
//                   give latencies and nothing else of a network (PredictRequest.omit)
// whole             the same, with all that a reply says of a network
// breakdowns        latencies with what each call takes; over_latencies: their seconds over those
//                   of latencies
// stages            of one network, in this process and in the processor's time: from the string to
//                   the graph, what identifies and describes it, the prediction when all its layers
//                   are known
// `cobra` and `python` have the seconds of both sides: the median, and all rounds
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/keyed_hash.h"
#include "base/file/file.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "frontend/nas/reader.h"
#include "graph/cost/cost.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"
#include "model/predict/predictor.h"
#include "tests/bench/architectures.h"
#include "tests/bench/bench.h"
#include "tests/bench/cobra_server.h"
#include "tests/bench/python_side.h"
#include "tests/bench/stream_load.h"
#include "tests/temporary_directory.h"

namespace cobra::bench {
namespace {

struct BulkFlags {
  int rounds = 5;
};

// Every request has its own answer, and none is an error.
absl::Status CheckAnswers(const std::vector<grpc::ByteBuffer>& answers) {
  std::vector<bool> answered(answers.size());
  for (const grpc::ByteBuffer& bytes : answers) {
    grpc::Slice slice;
    v1::PredictStreamResponse answer;
    if (!bytes.DumpToSingleSlice(&slice).ok() ||
        !answer.ParseFromArray(slice.begin(), static_cast<int>(slice.size())) || answer.request_id() >= answered.size())
      return absl::InternalError("an answer that is none");
    if (!answer.has_response()) return absl::InternalError(absl::StrCat("an error: ", answer.error().message()));
    answered[answer.request_id()] = true;
  }
  for (const bool one : answered) {
    if (!one) return absl::InternalError("a request was answered twice, another not at all");
  }
  return absl::OkStatus();
}

enum class Asked { kLatencies, kBreakdowns, kWhole };

absl::StatusOr<double> OurSeconds(Asked asked) {
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<CobraServer> server, CobraServer::Start({.flags = {"--threads", "2"}}));
  std::vector<v1::PredictRequest> requests = Nasbench201Requests(kNasbench201Cells, server->target());
  for (v1::PredictRequest& request : requests) {
    if (asked != Asked::kWhole) AskForLatenciesOnly(&request);
    request.set_breakdown(asked == Asked::kBreakdowns);
  }
  const std::vector<grpc::ByteBuffer> messages = StreamMessages(requests);
  std::vector<grpc::ByteBuffer> answers;
  answers.reserve(messages.size());
  StreamLoop loop;
  loop.each_once = true;
  loop.on_answer = [&answers](const grpc::ByteBuffer& answer) { answers.push_back(answer); };
  COBRA_ASSIGN_OR_RETURN(const StreamResult result, RunStream(server->channel(), loop, messages));
  COBRA_RETURN_IF_ERROR(CheckAnswers(answers));
  return result.seconds;
}

// Means over networks that are spread over the space.
absl::StatusOr<Json> MeasureStages() {
  constexpr size_t kNetworks = 500;
  COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                         predict::Predictor::Load(ShippedModel()));
  const std::string target = predictor->targets()[0].spec.name;
  double read = 0, describe = 0, predict = 0;
  int64_t calls = 0;
  for (size_t i = 0; i < kNetworks; ++i) {
    const std::string cell = Nasbench201Cell(i * (kNasbench201Cells / kNetworks));
    const Stopwatch reading;
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, nas::ReadArchitecture({absl::StrCat("nasbench201:", cell), {}}));
    read += reading.Elapsed().cpu;
    calls += static_cast<int64_t>(graph.nodes().size());
    const Stopwatch describing;
    KeyedHash(graph::ExactBytes(graph));
    graph::Fingerprint(graph);
    graph::CostOf(graph);
    graph::PeakMemoryBytes(graph);
    describe += describing.Elapsed().cpu;
    COBRA_RETURN_IF_ERROR(predictor->Predict(graph, target).status());  // now all its layers are known
    const Stopwatch predicting;
    COBRA_RETURN_IF_ERROR(predictor->Predict(graph, target).status());
    predict += predicting.Elapsed().cpu;
  }
  const auto us_each = [](double seconds) { return seconds * 1e6 / kNetworks; };
  return Json{{"read_us", us_each(read)},
              {"describe_us", us_each(describe)},
              {"predict_us", us_each(predict)},
              {"calls", static_cast<double>(calls) / kNetworks}};
}

absl::StatusOr<Json> RunBulk(const BulkFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckPython({"torch"}));
  const tests::TemporaryDirectory directory;
  const std::string cells = directory.File("cells.txt");
  std::string text;
  for (size_t i = 0; i < kNasbench201Cells; ++i) absl::StrAppend(&text, Nasbench201Cell(i), "\n");
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(cells, text));
  std::vector<double> ours, whole, breakdowns, theirs, ratios, whole_ratios, breakdown_ratios;
  Json different;
  for (int round = 0; round < flags.rounds; ++round) {
    COBRA_ASSIGN_OR_RETURN(const double seconds, OurSeconds(Asked::kLatencies));
    COBRA_ASSIGN_OR_RETURN(const double breakdown_seconds, OurSeconds(Asked::kBreakdowns));
    COBRA_ASSIGN_OR_RETURN(const double whole_seconds, OurSeconds(Asked::kWhole));
    COBRA_ASSIGN_OR_RETURN(const Json python, RunPython("bulk_reference.py", {cells, "1"}));
    ours.push_back(seconds);
    theirs.push_back(python["seconds"][0].get<double>());
    ratios.push_back(theirs.back() / ours.back());
    whole.push_back(whole_seconds);
    whole_ratios.push_back(theirs.back() / whole_seconds);
    breakdowns.push_back(breakdown_seconds);
    breakdown_ratios.push_back(breakdown_seconds / seconds);
    different = python["different_cells"];
  }
  COBRA_ASSIGN_OR_RETURN(const Json stages, MeasureStages());
  return Json{
      {"python_over_ours", Median(ratios)},
      {"stages", stages},
      {"cobra", Json{{"seconds", Median(ours)},
                     {"networks_per_s", static_cast<double>(kNasbench201Cells) / Median(ours)},
                     {"rounds", ours}}},
      {"whole", Json{{"python_over_ours", Median(whole_ratios)}, {"seconds", Median(whole)}, {"rounds", whole}}},
      {"breakdowns",
       Json{{"over_latencies", Median(breakdown_ratios)}, {"seconds", Median(breakdowns)}, {"rounds", breakdowns}}},
      {"python", Json{{"seconds", Median(theirs)}, {"different_cells", different}, {"rounds", theirs}}},
      {"networks", kNasbench201Cells},
      {"rounds", flags.rounds}};
}

}  // namespace

RunBenchmark AddBulk(CLI::App* app) {
  auto flags = std::make_shared<BulkFlags>();
  AddRounds(app, &flags->rounds);
  return [flags] { return RunBulk(*flags); };
}

}  // namespace cobra::bench
