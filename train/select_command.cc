#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "model/training/selection/select.h"
#include "train/commands.h"

namespace cobra::train {
namespace {

struct SelectArguments {
  training::SelectOptions options;
  std::string budget, out;
};

absl::Status RunSelect(SelectArguments a) {
  absl::Duration budget;
  if (!absl::ParseDuration(a.budget, &budget) || budget <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("--budget ", a.budget, ": a duration such as 20m"));
  }
  a.options.budget_s = absl::ToDoubleSeconds(budget);
  COBRA_ASSIGN_OR_RETURN(const training::SelectReport report, training::SelectCandidates(a.options));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(a.out, report.lines));
  std::printf("%s", WithoutEscapes(training::SelectReportToTable(report)).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddSelect(CLI::App* app) {
  const auto a = std::make_shared<SelectArguments>();
  CLI::App* command =
      app->add_subcommand("select", "Selects the candidates whose measurement improves a version most in a given time");
  command->add_option("--pool", a->options.pool, "Candidates: JSON lines of `cobra-worker sample`, or records")
      ->required();
  command->add_option("--budget", a->budget, "Time limit of the measurements, e.g. 20m")->required();
  command->add_option("--out", a->out, "JSON lines for `cobra-worker measure --graphs`, the most valuable first")
      ->required();
  command->add_option("--targets", a->options.targets, "Layers that will be predicted, like --pool; default: the pool");
  command->add_option("--model", a->options.model, "Directory of the model version")
      ->default_str("the shipped weights");
  command->add_option("--rows", a->options.rows, "Measurements that it was trained and evaluated on")
      ->default_str("data/measurements/cpu-epyc-genoa-1t");
  command->add_option("--seed", a->options.seed, "Seed of the random choices")->capture_default_str();
  return {command, [a] { return RunSelect(*a); }};
}

}  // namespace cobra::train
