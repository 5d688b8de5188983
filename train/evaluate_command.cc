#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "model/training/evaluation/confidence_check.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/rows/dataset.h"
#include "train/commands.h"

namespace cobra::train {
namespace {

struct EvaluateArguments {
  std::string model = DataPath("model/pretrained");
  std::string rows = DataPath("data/measurements/cpu-epyc-genoa-1t");
  std::string split = "test";
  std::string predictions;
  bool json = false;
  bool write = false;
  bool confidence = false;
};

absl::Status RunEvaluate(const EvaluateArguments& a) {
  COBRA_ASSIGN_OR_RETURN(training::Dataset data, training::LoadMeasurements(a.rows));
  const training::Split split = a.split == "test" ? training::Split::kTest : training::Split::kValidation;
  if (a.confidence) {
    COBRA_ASSIGN_OR_RETURN(const training::ConfidenceCheck check, training::CheckConfidence(a.model, data, split));
    if (!a.predictions.empty())
      COBRA_RETURN_IF_ERROR(WriteFileAtomic(a.predictions, training::AnsweredRowsToCsv(check)));
    std::printf("%s", training::ConfidenceCheckToTable(check).c_str());
    return absl::OkStatus();
  }
  training::Evaluation e;
  if (a.write) {
    COBRA_ASSIGN_OR_RETURN(std::vector<training::Evaluation> finished, training::FinishVersion(a.model, {&data, 1}));
    e = std::move(finished[0]);
  } else {
    COBRA_ASSIGN_OR_RETURN(e, training::Evaluate(a.model, data, split));
  }
  if (!a.predictions.empty()) COBRA_RETURN_IF_ERROR(WriteFileAtomic(a.predictions, training::EvaluatedRowsToCsv(e)));
  std::printf("%s\n",
              a.json ? training::EvaluationToJson(e).c_str() : WithoutEscapes(training::EvaluationToTable(e)).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddEvaluate(CLI::App* app) {
  const auto a = std::make_shared<EvaluateArguments>();
  CLI::App* command = app->add_subcommand("evaluate", "Reports the errors of a model version on held-out test rows");
  command->add_option("--model", a->model, "Directory of a model version")->default_str("the shipped weights");
  command->add_option("--rows", a->rows, "Directory of the measurements")
      ->default_str("data/measurements/cpu-epyc-genoa-1t");
  command->add_option("--split", a->split, "Which rows: test, or validation")
      ->check(CLI::IsMember({"test", "validation"}))
      ->capture_default_str();
  command->add_option("--predictions", a->predictions,
                      "CSV to write: each row with its measurement and prediction, largest errors first; with "
                      "--confidence as users get them");
  command->add_flag("--json", a->json, "All rows, as JSON instead of a table");
  command->add_flag("--write", a->write, "Write intervals, errors and measured sizes into the version's manifest")
      ->excludes("--split");
  command
      ->add_flag("--confidence", a->confidence,
                 "Only: the median error of rows with a confidence of 0.9 or more, and of the rest")
      ->excludes("--json", "--write");
  return {command, [a] { return RunEvaluate(*a); }};
}

}  // namespace cobra::train
