#include "model/space/devices/adapt_targets.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "frontend/nas/reader.h"
#include "graph/graph.h"
#include "model/predict/predictor.h"
#include "model/predict/target/sheet_check.h"
#include "model/predict/target/timings.h"
#include "nlohmann/json.hpp"

namespace cobra::space {
namespace {

absl::Status AtLine(const std::string& file, int line, const absl::Status& why) {
  return absl::InvalidArgumentError(absl::StrCat(file, ": line ", line, ": ", why.message()));
}

absl::StatusOr<predict::TargetSpec> ReadSheet(const std::string& path) {
  if (path.empty())
    return absl::InvalidArgumentError(
        "--spec: is missing; a version of measured targets needs the device's data sheet (docs/adding-a-device.md)");
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  absl::StatusOr<predict::TargetSpec> sheet = predict::TargetSpecFromJson(text);
  const absl::Status status = sheet.ok() ? predict::CheckSheet(*sheet) : sheet.status();
  if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
  return sheet;
}

absl::StatusOr<graph::Graph> ReadRow(const ArchRows& rows, size_t row, const std::string& file) {
  absl::StatusOr<graph::Graph> graph = nas::ReadArchitecture({rows.arch[row], {}});
  if (!graph.ok()) return AtLine(file, rows.line[row], graph.status());
  return graph;
}

absl::StatusOr<std::vector<store::Measurement>> ReadSamples(const AdaptTargetsQuestion& question,
                                                            const predict::TargetSpec& sheet) {
  const ArchRows& samples = question.samples;
  if (samples.size() > predict::kMaxAdaptSamples)
    return absl::InvalidArgumentError(
        absl::StrCat(question.samples_file, ": has ", samples.size(), " rows, of at most ", predict::kMaxAdaptSamples));
  std::vector<store::TimedNetwork> timed;
  for (size_t i = 0; i < samples.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, ReadRow(samples, i, question.samples_file));
    timed.push_back({samples.row[i], std::move(graph), 1000 * samples.latency_ms[0][i]});
  }
  predict::CheckedTimings checked = predict::CheckTimings(std::move(timed), sheet, {});
  if (!checked.refused.empty())
    return absl::InvalidArgumentError(
        absl::StrCat(question.samples_file, ": row ", checked.refused[0].row, ": ", checked.refused[0].why.message()));
  return std::move(checked.records);
}

}  // namespace

bool IsVersionOfTargets(const std::string& directory) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(directory, "/manifest.json"));
  if (!text.ok()) return false;
  const auto manifest = ParseJson<nlohmann::json>(*text);
  return manifest.is_object() && manifest.contains("format") && manifest["format"].is_number();
}

absl::StatusOr<std::vector<AdaptedLatency>> AdaptTargets(const AdaptTargetsQuestion& question) {
  COBRA_ASSIGN_OR_RETURN(const predict::TargetSpec sheet, ReadSheet(question.spec));
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::Measurement> records, ReadSamples(question, sheet));
  COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const predict::Predictor> predictor,
                         predict::Predictor::Load(question.directory));
  std::vector<store::TimedNetwork> samples;
  for (const store::Measurement& measured : records)
    samples.push_back(
        {absl::StrCat("row ", measured.subject.label), measured.subject.graph, measured.undisturbed_us()});
  absl::StatusOr<predict::Calibration> adapted = predictor->Adapt(sheet, samples);
  if (!adapted.ok())
    return absl::InvalidArgumentError(absl::StrCat(
        question.samples_file.empty() ? question.spec : question.samples_file, ": ", adapted.status().message()));
  std::vector<AdaptedLatency> answers;
  for (size_t i = 0; i < question.rows.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, ReadRow(question.rows, i, question.rows_file));
    const absl::StatusOr<predict::LatencyPrediction> answer =
        predictor->Predict(graph, adapted->base_target, &*adapted);
    if (!answer.ok()) return AtLine(question.rows_file, question.rows.line[i], answer.status());
    answers.push_back({answer->latency_us / 1000, answer->low_us / 1000, answer->high_us / 1000});
  }
  return answers;
}

}  // namespace cobra::space
