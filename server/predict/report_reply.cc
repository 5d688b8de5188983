#include "server/predict/report_reply.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "nlohmann/json.hpp"
#include "report/answers.h"
#include "report/document.h"
#include "report/question.h"
#include "server/targets/target_message.h"

namespace cobra::server {
namespace {

std::vector<std::string> Texts(const google::protobuf::RepeatedPtrField<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

void AddArguments(const google::protobuf::RepeatedPtrField<v1::SourceArgument>& arguments, report::Question* question) {
  for (const v1::SourceArgument& argument : arguments)
    question->arguments.push_back(absl::StrCat(argument.name(), "=", argument.expression()));
}

report::Question QuestionOf(const v1::PredictRequest& request) {
  report::Question question;
  if (request.has_source()) {
    const v1::SourceModel& source = request.source();
    question.path = source.file();
    question.entry = source.entry();
    if (!source.method().empty()) question.method = source.method();
    question.inputs = Texts(source.inputs());
    AddArguments(source.arguments(), &question);
    question.training = source.mode() == "train";
    question.torch_version = source.torch_version();
    question.cached_tokens = source.cached_tokens();
  } else if (request.has_onnx()) {
    question.path = request.onnx().name();
    question.inputs = Texts(request.onnx().inputs());
    AddArguments(request.onnx().arguments(), &question);
  } else if (request.has_tflite()) {
    question.path = request.tflite().name();
    question.inputs = Texts(request.tflite().inputs());
  } else if (request.has_ncnn()) {
    question.path = request.ncnn().name();
    question.inputs = Texts(request.ncnn().inputs());
  } else if (request.has_architecture()) {
    question.architecture = request.architecture().text();
    question.inputs = Texts(request.architecture().inputs());
  }
  for (const std::string& target : request.targets()) {
    if (std::find(question.targets.begin(), question.targets.end(), target) == question.targets.end())
      question.targets.push_back(target);
  }
  question.no_sweep = true;
  return question;
}

absl::Status CheckTargetCount(const report::Question& question) {
  const size_t count = question.targets.size();
  if (count <= report::kMostReported) return absl::OkStatus();
  return UsageError(absl::StrCat("target: ", count, " targets; a page shows at most ", report::kMostReported),
                    "choose some of them");
}

absl::Status CheckBytes(int64_t bytes, const ServerLimits& limits) {
  if (bytes <= limits.max_reply_bytes) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the page", bytes, limits.max_reply_bytes, "bytes"),
                   "choose fewer targets, or ask about a part of the model");
}

// About what a document has at least: columns of calls and boxes, and arrows between boxes. Checked
// before it is made, which takes some ten times the memory. A call counts each of its inputs as an
// arrow.
int64_t BytesOfColumns(const Pipeline::AnsweredNetwork& network) {
  constexpr int64_t kOfCall = 60, kOfCallOnTarget = 10, kOfArrow = 4;
  int64_t bytes = 0;
  for (const graph::Node& node : network.graph.nodes()) {
    bytes += kOfCall + kOfCallOnTarget * network.reply.predictions_size() +
             kOfArrow * static_cast<int64_t>(node.inputs.size());
  }
  return bytes;
}

// The data sheets of the targets that were asked about.
v1::ListTargetsResponse SheetsOf(const std::vector<std::string>& targets, const ModelSnapshot& model) {
  v1::ListTargetsResponse sheets;
  for (const predict::TargetInfo& info : model.Targets()) {
    if (std::find(targets.begin(), targets.end(), info.spec.name) != targets.end())
      FillTarget(info, model, sheets.add_targets());
  }
  return sheets;
}

}  // namespace

absl::StatusOr<std::string> MakeReport(Pipeline* pipeline, const v1::PredictRequest& request,
                                       std::optional<absl::string_view> graph, const ServerLimits& limits,
                                       const CallContext& call) {
  const report::Question question = QuestionOf(request);
  COBRA_RETURN_IF_ERROR(CheckTargetCount(question));
  COBRA_ASSIGN_OR_RETURN(Pipeline::AnsweredNetworks answered, pipeline->PredictNetworks(request, graph, call));
  int64_t bytes = 0;
  for (const Pipeline::AnsweredNetwork& network : answered.networks) bytes += BytesOfColumns(network);
  COBRA_RETURN_IF_ERROR(CheckBytes(bytes, limits));
  COBRA_RETURN_IF_ERROR(call.Check());

  report::Answers answers;
  for (Pipeline::AnsweredNetwork& network : answered.networks)
    answers.Add(std::move(network.graph), std::move(network.reply));
  const v1::ListTargetsResponse sheets = SheetsOf(question.targets, *answered.model);
  report::Contents contents;
  contents.title = report::TitleOf(question);
  contents.answers = answers.Take();
  contents.question = report::QuestionJson(question, contents.answers[0].response.model_version());
  contents.targets = question.targets;
  contents.sheets = &sheets;
  // Lines of the caller's own files only.
  contents.source_text = [&request](const std::string& path) -> std::optional<std::string> {
    for (const v1::SourceFile& file : request.source().files()) {
      if (file.path() == path) return file.text();
    }
    return std::nullopt;
  };
  COBRA_ASSIGN_OR_RETURN(const nlohmann::json document, report::MakeDocument(contents));
  std::string text = document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  COBRA_RETURN_IF_ERROR(CheckBytes(static_cast<int64_t>(text.size()), limits));
  return text;
}

}  // namespace cobra::server
