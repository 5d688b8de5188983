#include "client/report_command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "base/without_escapes.h"
#include "client/batch.h"
#include "client/exit_code.h"
#include "client/progress.h"
#include "client/render.h"
#include "client/shell_word.h"
#include "client/sweep_command.h"
#include "client/sweep_render.h"
#include "client/written_file.h"
#include "frontend/python/torch/torch_version.h"
#include "nlohmann/json.hpp"
#include "proto/graph_proto.h"
#include "report/document.h"
#include "report/page.h"

namespace cobra::client {
namespace {

using nlohmann::json;

absl::Status CheckPageFlags(const PageFlags& flags) {
  if (flags.out != "-") COBRA_RETURN_IF_ERROR(CheckIsNotModel(flags.out, flags.model.path));
  return flags.no_sweep ? absl::OkStatus() : ParseBatches(flags.batches).status();
}

absl::Status CheckTargetCount(const PageFlags& flags) {
  const size_t count = DifferentNames(flags.targets).size();
  if (count <= kMostReported) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat("--target: ", count, " targets, of which a page shows at most ", kMostReported),
                   "name some of `cobra-client targets`: --target A,B,C");
}

// The networks of the model, each with its answers: for another version of PyTorch a program may be another one.
class Asked {
 public:
  Asked(const CommonFlags& common, const PageFlags& flags, const v1::ListTargetsResponse& sheets)
      : common_(common), flags_(flags), versions_(TorchVersions(sheets)) {}

  absl::Status Ask(ModelInput* input) {
    std::map<std::string, std::vector<std::string>> by_version{{"", DifferentNames(flags_.targets)}};
    if (DependsOnTarget(flags_.model, *input)) by_version = TargetsByVersion(versions_, by_version[""]);
    for (const auto& [version, targets] : by_version) COBRA_RETURN_IF_ERROR(AskFor(version, targets, input));
    return absl::OkStatus();
  }

  std::vector<report::Answer> TakeAnswers() { return std::move(answers_); }

 private:
  absl::Status AskFor(const std::string& version, const std::vector<std::string>& targets, ModelInput* input) {
    if (!version.empty()) input->set_torch_version(version);
    Progress progress(absl::StrCat("reading ", Title(flags_.model)));
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, input->Read(LimitsOf(flags_.model, common_.client.deadline)));
    COBRA_RETURN_IF_ERROR(CheckNotEmpty(graph, flags_.model));
    v1::PredictRequest request;
    request.set_breakdown(true);
    request.set_keep_private(flags_.ask.keep_private);
    request.set_model_version(flags_.ask.model_version);
    proto::GraphToProto(graph, request.mutable_graph());
    for (const std::string& target : targets) request.add_targets(target);
    COBRA_RETURN_IF_ERROR(CheckSize(request, flags_.model));
    progress.Update(absl::StrCat("asking ", common_.client.address));
    COBRA_ASSIGN_OR_RETURN(v1::PredictResponse response, Client::Connect(common_.client)->Predict(request));
    for (v1::TargetPrediction& prediction : *response.mutable_predictions())
      prediction.set_torch_version(version.empty() ? flags_.model.torch_version : version);
    Add(std::move(graph), std::move(response));
    return absl::OkStatus();
  }

  // Most programs are the same network for all versions: then the page has it once.
  void Add(graph::Graph graph, v1::PredictResponse response) {
    std::string wire = proto::GraphToWire(graph);
    for (size_t i = 0; i < wires_.size(); ++i) {
      if (wires_[i] != wire) continue;
      answers_[i].response.mutable_predictions()->MergeFrom(response.predictions());
      return;
    }
    wires_.push_back(std::move(wire));
    graphs_.push_back(std::make_unique<graph::Graph>(std::move(graph)));
    answers_.push_back({graphs_.back().get(), std::move(response)});
  }

  const CommonFlags& common_;
  const PageFlags& flags_;
  const std::map<std::string, std::string> versions_;
  std::vector<std::string> wires_;
  std::vector<std::unique_ptr<graph::Graph>> graphs_;
  std::vector<report::Answer> answers_;
};

// The lines of the program, each file split once.
class SourceLines {
 public:
  explicit SourceLines(const ModelInput& input) : input_(input) {}

  std::string Line(const std::string& file, int line) {
    const auto [it, added] = files_.try_emplace(file);
    if (added) {
      if (const std::optional<std::string> text = input_.SourceText(file)) it->second = absl::StrSplit(*text, '\n');
    }
    if (line < 1 || static_cast<size_t>(line) > it->second.size()) return "";
    return std::string(absl::StripAsciiWhitespace(it->second[line - 1]));
  }

 private:
  const ModelInput& input_;
  std::map<std::string, std::vector<std::string>> files_;
};

// The command line that makes the same page, without what concerns the connection alone.
std::string CommandOf(const PageFlags& flags, const std::string& model_version) {
  const ModelArguments& model = flags.model;
  std::vector<std::string> words = {"cobra-client", "report"};
  const auto add = [&words](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, ShellWord(value)});
  };
  if (!model.path.empty()) words.push_back(ShellWord(model.path));
  add("--arch", model.architecture);
  add("--entry", model.entry);
  if (model.method != "forward") add("--method", model.method);
  for (const std::string& input : model.inputs) add("--input", input);
  for (const std::string& argument : model.arguments) add("--arg", argument);
  for (const std::string& library : model.libraries) add("--library", library);
  if (model.training) add("--mode", "train");
  add("--torch-version", model.torch_version);
  if (model.cached_tokens > 0) add("--cached-tokens", absl::StrCat(model.cached_tokens));
  add("--target", absl::StrJoin(DifferentNames(flags.targets), ","));
  if (flags.no_sweep) {
    words.push_back("--no-sweep");
  } else if (flags.batches != PageFlags().batches) {
    add("--batch", flags.batches);
  }
  add("--model-version", model_version);
  return absl::StrJoin(words, " ");
}

json QuestionOf(const PageFlags& flags, const std::string& model_version) {
  json question;
  AddQuestion(flags.model, &question);
  question["torch_version"] = flags.model.torch_version;
  question["libraries"] = flags.model.libraries;
  question["targets"] = DifferentNames(flags.targets);
  question["command"] = CommandOf(flags, model_version);
  return question;
}

// A page without a sweep says why it has none: a graph's sizes are fixed, and some models take one batch only.
json SweepOf(const CommonFlags& common, const PageFlags& flags) {
  if (flags.no_sweep) return json();
  SweepFlags asked;
  asked.model = flags.model;
  asked.targets = flags.targets;
  asked.ask = flags.ask;
  asked.batches = flags.batches;
  absl::StatusOr<AskedSweep> sweep = AskSweep(common, std::move(asked));
  if (sweep.ok()) return SweepDocument(sweep->sweep, flags.model);
  return {{"error", ErrorText(sweep.status())}};
}

}  // namespace

absl::StatusOr<int> RunReport(const CommonFlags& common, PageFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckPageFlags(flags));
  if (flags.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, UsualTargets(common));
  }
  COBRA_RETURN_IF_ERROR(CheckTargetCount(flags));
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse sheets, Client::Connect(common.client)->ListTargets({}));
  COBRA_RETURN_IF_ERROR(CheckTargets(sheets, flags.targets));
  Asked asked(common, flags, sheets);
  if (absl::Status status = asked.Ask(&input); !status.ok()) return input.WithUserPaths(status);

  report::Contents contents;
  contents.title = Title(flags.model);
  contents.answers = asked.TakeAnswers();
  contents.question = QuestionOf(flags, contents.answers[0].response.model_version());
  contents.targets = DifferentNames(flags.targets);
  contents.sheets = &sheets;
  contents.sweep = SweepOf(common, flags);
  SourceLines lines(input);
  contents.shown_file = [&input](const std::string& file) { return input.UserPath(file); };
  contents.source_line = [&lines](const std::string& file, int line) { return lines.Line(file, line); };
  COBRA_ASSIGN_OR_RETURN(const json document, report::MakeDocument(contents));
  const std::string text =
      common.json ? document.dump(1, ' ', false, json::error_handler_t::replace) : report::ReportPage(document);
  COBRA_RETURN_IF_ERROR(WriteOutput(flags.out, text));
  if (flags.out != "-") {
    absl::FPrintF(stdout, "%s: %d calls on %s\n", WithoutEscapes(flags.out),
                  static_cast<int>(contents.answers[0].graph->nodes().size()),
                  WithoutEscapes(absl::StrJoin(contents.targets, ", ")));
  }
  return kExitOk;
}

}  // namespace cobra::client
