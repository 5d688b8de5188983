#include "client/series/sweep_command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/answer/written_file.h"
#include "client/many_requests.h"
#include "client/request/model_question.h"
#include "client/request/target_names.h"
#include "client/series/batch.h"
#include "client/series/sweep.h"
#include "client/series/sweep_render.h"
#include "client/terminal/progress.h"
#include "graph/types.h"
#include "report/question.h"

namespace cobra::client {
namespace {

// The inputs with B, of the command line or, where the form of the model needs none there, of the
// model itself. Sets the entry that is taken for lack of one.
absl::StatusOr<std::vector<std::string>> InputsOf(ModelArguments* model, absl::Duration time) {
  if (absl::EndsWith(model->path, ".json") && FileExists(model->path)) {
    return UsageError(absl::StrCat(model->path, ": is a graph, whose sizes are fixed"),
                      "give the model that it was read from");
  }
  if (!model->inputs.empty()) return BatchInputs(model->inputs);
  const Limits limits = LimitsOf(*model, time);
  COBRA_ASSIGN_OR_RETURN(const ModelInput input, ModelInput::Load(*model, limits));
  absl::StatusOr<graph::Graph> graph = input.Read(limits);
  if (!graph.ok()) return graph.status();  // a program: with the inputs that its file proposes
  std::vector<std::string> inputs;
  for (const graph::NamedTensor& tensor : graph->inputs()) inputs.push_back(graph::ShapeText(tensor.type.shape));
  if (inputs.empty()) {
    return UsageError("--input: is missing, and the model does not define its inputs",
                      "give the sizes of its inputs: --input 1x3x224x224");
  }
  return BatchInputs(inputs);
}

// The questions: each batch on each target. Points are filled in as answers come.
class SweepRun {
 public:
  SweepRun(const CommonFlags& common, const SweepFlags& flags, const v1::ListTargetsResponse& known,
           std::vector<int64_t> batches, std::vector<std::string> inputs)
      : time_(common.client.deadline),
        flags_(flags),
        versions_(TorchVersions(known)),
        progress_(absl::StrCat("asking ", common.client.address)) {
    sweep_.batches = std::move(batches);
    sweep_.inputs = std::move(inputs);
    for (const std::string& name : DifferentNames(flags.targets)) {
      TargetSweep& target = sweep_.targets.emplace_back();
      for (const v1::Target& t : known.targets()) {
        if (t.spec().name() == name) target.spec = t.spec();
      }
      target.memory_gb = flags.memory_gb > 0 ? flags.memory_gb : target.spec.memory_gb();
      for (const int64_t batch : sweep_.batches)
        target.points.push_back({batch, absl::UnavailableError("not answered"), {}, 0});
    }
  }

  ManyRequests requests() {
    return {[this] { return Next(); },
            [this](int64_t index, absl::StatusOr<v1::PredictResponse> answer) {
              const Asked& asked = asked_[static_cast<size_t>(index)];
              if (!answer.ok() && asked.sent != nullptr) answer = asked.sent->WithUserPaths(answer.status());
              return Take(asked.point, std::move(answer));
            }};
  }

  // The entry, chosen for lack of one if need be.
  const std::string& entry() const { return entry_; }
  bool is_answered() const { return answered_; }
  const absl::Status& first_error() const { return first_error_; }
  // For the points without an answer: why the server is lost.
  void GiveUp(const absl::Status& why) {
    for (TargetSweep& target : sweep_.targets) {
      for (SweepPoint& point : target.points) {
        if (absl::IsUnavailable(point.status)) point.status = why;
      }
    }
  }
  Sweep TakeSweep() && { return std::move(sweep_); }

 private:
  struct Asked {
    SweepPoint* point = nullptr;
    std::shared_ptr<const ModelQuestion> sent;  // if the server reads it, for its errors
  };

  // Batch by batch, so that a graph is read once for all targets; the next cell, nothing after the
  // last one.
  std::optional<v1::PredictRequest> Next() {
    while (next_ < sweep_.batches.size() * sweep_.targets.size()) {
      const size_t batch = next_ / sweep_.targets.size(), target = next_ % sweep_.targets.size();
      ++next_;
      if (target == 0) {
        ModelArguments model = flags_.model;
        model.inputs = InputsAt(sweep_.inputs, sweep_.batches[batch]);
        question_ = std::make_shared<ModelQuestion>(flags_.ask, std::move(model), &versions_, time_);
      }
      SweepPoint* point = &sweep_.targets[target].points[batch];
      absl::StatusOr<v1::PredictRequest> request = question_->RequestFor(sweep_.targets[target].spec.name());
      entry_ = question_->model().entry;
      if (request.ok()) {
        asked_.push_back({point, flags_.ask.send_source ? question_ : nullptr});
        return *std::move(request);
      }
      Fail(point, request.status());
    }
    return std::nullopt;
  }

  absl::Status Take(SweepPoint* point, absl::StatusOr<v1::PredictResponse> answer) {
    if (answer.ok() && answer->predictions_size() != 1)
      answer = absl::InternalError("the server's response does not match the request");
    if (!answer.ok()) {
      Fail(point, answer.status());
      return absl::OkStatus();
    }
    answered_ = true;
    progress_.Count("sweeping", ++answers_, static_cast<int64_t>(sweep_.batches.size() * sweep_.targets.size()));
    point->status = absl::OkStatus();
    point->prediction = std::move(*answer->mutable_predictions(0));
    const int64_t there = point->prediction.peak_memory_bytes();
    point->peak_memory_bytes = there > 0 ? there : answer->peak_memory_bytes();
    sweep_.model_version = answer->model_version();
    return absl::OkStatus();
  }

  void Fail(SweepPoint* point, const absl::Status& why) {
    point->status = why;
    if (first_error_.ok()) first_error_ = why;
  }

  const absl::Duration time_;
  const SweepFlags& flags_;
  const std::map<std::string, std::string> versions_;
  Progress progress_;
  Sweep sweep_;
  size_t next_ = 0;
  std::shared_ptr<ModelQuestion> question_;  // of the batch
  std::string entry_;
  std::vector<Asked> asked_;  // by request
  bool answered_ = false;
  int64_t answers_ = 0;
  absl::Status first_error_;
};

}  // namespace

absl::StatusOr<AskedSweep> AskSweep(const CommonFlags& common, SweepFlags flags) {
  COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> batches, ParseBatches(flags.batches));
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> inputs, InputsOf(&flags.model, common.client.deadline));
  std::unique_ptr<Client> client = Client::Connect(common.client);
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, client->ListTargets({}));
  COBRA_RETURN_IF_ERROR(CheckTargets(common.client, known, flags.targets));
  AskedSweep asked;
  SweepRun run(common, flags, known, std::move(batches), std::move(inputs));
  asked.lost = client->PredictMany(run.requests());
  if (!run.is_answered()) {
    COBRA_RETURN_IF_ERROR(asked.lost);
    return run.first_error();
  }
  if (!asked.lost.ok()) run.GiveUp(asked.lost);
  if (flags.model.entry.empty() && !run.entry().empty()) {
    flags.model.entry = run.entry();
    if (FileExists(flags.model.path))
      Note(absl::StrCat(WithoutEscapes(flags.model.path), ": no --entry, taking ", flags.model.entry));
  }
  asked.sweep = std::move(run).TakeSweep();
  asked.sweep.title = report::TitleOf(flags.model);
  asked.model = std::move(flags.model);
  return asked;
}

absl::StatusOr<int> RunSweep(const CommonFlags& common, SweepFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckReplaces("--out ", flags.out, {flags.model.path}, common.client.connection));
  COBRA_RETURN_IF_ERROR(ParseBatches(flags.batches).status());
  if (flags.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, ThisMachine(common));
  }
  const size_t targets = DifferentNames(flags.targets).size();
  if (flags.format == "svg" && targets > kMostCurves) {
    return UsageError(absl::StrCat("--format svg: ", targets, " targets; a picture shows at most ", kMostCurves),
                      "ask about fewer, or use the table or --format json");
  }
  COBRA_ASSIGN_OR_RETURN(const AskedSweep asked, AskSweep(common, flags));
  const Sweep& sweep = asked.sweep;
  const TerminalStyle style = flags.out == "-" ? StandardOutputStyle(common.color) : TerminalStyle();
  COBRA_RETURN_IF_ERROR(flags.format == "svg" ? WriteOutput(flags.out, SweepSvg(sweep))
                        : common.json         ? WriteOutput(flags.out, SweepJson(sweep, asked.model))
                        : common.quiet        ? WriteText(flags.out, SweepLines(sweep))
                                              : WriteText(flags.out, SweepTable(sweep, style), style.color));
  COBRA_RETURN_IF_ERROR(asked.lost);
  return kExitOk;
}

}  // namespace cobra::client
