#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/net/threads.h"
#include "model/space/devices/adapt_targets.h"
#include "model/space/models/hat_space.h"
#include "model/space/space_model.h"
#include "train/commands.h"

namespace cobra::train {
namespace {

struct SpaceArguments {
  std::string model, rows, device, samples, spec, out;
  int count = 10;
};

absl::Status WritePredictions(const std::string& path, const std::vector<std::string>& rows,
                              const std::vector<space::AdaptedLatency>& predictions) {
  std::string text = "row,latency_ms,low_ms,high_ms\n";
  for (size_t r = 0; r < rows.size(); ++r) {
    const space::AdaptedLatency& p = predictions[r];
    absl::StrAppend(&text, CsvLine({rows[r], absl::StrFormat("%.6g", p.latency_ms), absl::StrFormat("%.6g", p.low_ms),
                                    absl::StrFormat("%.6g", p.high_ms)}));
  }
  return WriteMaybeGzip(path, text);
}

absl::Status PredictHat(const SpaceArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const space::HatModels models, space::HatModels::Load(a.model));
  COBRA_ASSIGN_OR_RETURN(const space::HatModel* model, models.Of(a.device));
  COBRA_ASSIGN_OR_RETURN(const space::HatRows rows, space::LoadHatRows(a.rows));
  std::vector<space::AdaptedLatency> predictions;
  for (double ms : model->Predict(rows.features, rows.order)) {
    predictions.push_back({ms, ms * std::exp(-model->half_width()), ms * std::exp(model->half_width())});
  }
  return WritePredictions(a.out, rows.row, predictions);
}

absl::Status RunPredict(const SpaceArguments& a) {
  if (space::HatModels::IsModelDirectory(a.model)) return PredictHat(a);
  COBRA_ASSIGN_OR_RETURN(const space::SpaceModel model, space::SpaceModel::Load(a.model));
  COBRA_ASSIGN_OR_RETURN(const space::ArchRows rows, space::LoadArchitectures(a.rows));
  COBRA_ASSIGN_OR_RETURN(const std::vector<space::AdaptedLatency> predictions, model.Predict(rows, a.rows, a.device));
  return WritePredictions(a.out, rows.row, predictions);
}

absl::Status RefuseHat(const std::string& model) {
  if (!space::HatModels::IsModelDirectory(model)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(model,
                                                 ": a model of space hat cannot be adapted; `cobra-train fit --space "
                                                 "hat` needs some thirty rows of the new device"));
}

absl::Status RunAdaptTargets(const SpaceArguments& a) {
  space::AdaptTargetsQuestion question;
  question.directory = a.model;
  question.spec = a.spec;
  question.samples_file = a.samples;
  if (!a.samples.empty()) {
    COBRA_ASSIGN_OR_RETURN(question.samples, space::LoadSamples(a.samples));
  }
  question.rows_file = a.rows;
  COBRA_ASSIGN_OR_RETURN(question.rows, space::LoadArchitectures(a.rows));
  COBRA_ASSIGN_OR_RETURN(const std::vector<space::AdaptedLatency> predictions, space::AdaptTargets(question));
  return WritePredictions(a.out, question.rows.row, predictions);
}

absl::Status RunAdapt(const SpaceArguments& a) {
  COBRA_RETURN_IF_ERROR(RefuseHat(a.model));
  if (space::IsVersionOfTargets(a.model)) return RunAdaptTargets(a);
  if (a.samples.empty())
    return absl::InvalidArgumentError(absl::StrCat("--samples: is missing; ", a.model,
                                                   " is a model of one space, which needs latencies of the device"));
  COBRA_ASSIGN_OR_RETURN(const space::SpaceModel model, space::SpaceModel::Load(a.model));
  COBRA_ASSIGN_OR_RETURN(const space::ArchRows samples, space::LoadSamples(a.samples));
  COBRA_ASSIGN_OR_RETURN(const space::ArchRows rows, space::LoadArchitectures(a.rows));
  space::DeviceSpec target;
  if (!a.spec.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(a.spec));
    absl::StatusOr<space::DeviceSpec> spec = space::DeviceSpecFromJson(text);
    if (!spec.ok()) return absl::InvalidArgumentError(absl::StrCat(a.spec, ": ", spec.status().message()));
    target = *std::move(spec);
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<space::AdaptedLatency> predictions,
                         model.Adapt(samples, a.samples, target, rows, a.rows));
  return WritePredictions(a.out, rows.row, predictions);
}

absl::Status RunChoose(const SpaceArguments& a) {
  COBRA_RETURN_IF_ERROR(RefuseHat(a.model));
  COBRA_ASSIGN_OR_RETURN(const space::SpaceModel model, space::SpaceModel::Load(a.model));
  COBRA_ASSIGN_OR_RETURN(const space::ArchRows rows, space::LoadArchitectures(a.rows));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> chosen, model.Choose(rows, a.rows, a.count));
  std::string text = "row,arch\n";
  for (int64_t r : chosen)
    absl::StrAppend(&text, CsvLine({rows.row[static_cast<size_t>(r)], rows.arch[static_cast<size_t>(r)]}));
  return WriteMaybeGzip(a.out, text);
}

// Turns LibTorch's exceptions into errors.
std::function<absl::Status()> Guarded(absl::Status (*run)(const SpaceArguments&),
                                      std::shared_ptr<SpaceArguments> arguments) {
  return [run, arguments] {
    net::UseOneThread();
    try {
      return run(*arguments);
    } catch (const std::exception& e) {
      return absl::InternalError(e.what());
    }
  };
}

}  // namespace

std::vector<Command> AddSpaceCommands(CLI::App* app) {
  auto predict = std::make_shared<SpaceArguments>(), adapt = std::make_shared<SpaceArguments>(),
       choose = std::make_shared<SpaceArguments>();
  CLI::App* predict_command = app->add_subcommand(
      "predict", "Predicts architectures of a search space on a device that the model knows (docs/spaces.md)");
  predict_command->add_option("--device", predict->device,
                              "Column of the table that the model was fitted to; optional if there is only one");
  CLI::App* adapt_command = app->add_subcommand(
      "adapt", "Predicts architectures on a device that the model does not know, from a few samples (docs/spaces.md)");
  adapt_command->add_option("--samples", adapt->samples,
                            "CSV: row,arch,latency_ms; three rows help, twenty are plenty");
  adapt_command->add_option(
      "--spec", adapt->spec,
      "JSON of the device's data sheet: {\"kind\":\"gpu\",\"batch\":32}; kind is gpu, cpu, phone or accelerator. For "
      "a version of measured targets, such as model/pretrained: the fields of a target (docs/adding-a-device.md)");
  CLI::App* choose_command = app->add_subcommand(
      "choose", "Selects architectures to measure on a new device, the most informative first (docs/spaces.md)");
  choose_command->add_option("--count", choose->count, "How many")->check(CLI::Range(1, 100))->capture_default_str();
  for (const auto& [command, arguments] :
       {std::make_pair(predict_command, predict), std::make_pair(adapt_command, adapt),
        std::make_pair(choose_command, choose)}) {
    command->add_option("--model", arguments->model, "Directory of `cobra-train fit --space`")->required();
    command->add_option("--rows", arguments->rows, "CSV: row,arch; other columns are ignored")->required();
    command
        ->add_option("--out", arguments->out,
                     command == choose_command
                         ? "CSV: row,arch; add latency_ms for adapt --samples"
                         : "CSV: row,latency_ms,low_ms,high_ms in the order of --rows; gzip if the name ends in .gz")
        ->required();
  }
  return {{predict_command, Guarded(RunPredict, predict)},
          {adapt_command, Guarded(RunAdapt, adapt)},
          {choose_command, Guarded(RunChoose, choose)}};
}

}  // namespace cobra::train
