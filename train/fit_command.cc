#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process/processes.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"
#include "nlohmann/json.hpp"
#include "train/commands.h"
#include "train/fit_space.h"

namespace cobra::train {
namespace {

using nlohmann::json;

constexpr char kMeasurements[] = "measurements";

struct FitArguments {
  std::string space = kMeasurements;
  std::vector<std::string> rows;
  std::string out;
  int seeds = 3;
  int jobs = 1;
  training::TrainOptions train;
};

// What was trained: a seed's version, or the mean of all seeds.
struct Candidate {
  std::string name;  // in messages
  std::string directory;
  json id;  // in training.json
};

Candidate Seed(const FitArguments& a, int seed) {
  return {absl::StrCat("seed ", seed), absl::StrCat(a.out, "/seed-", seed), seed};
}

// Measures the errors and intervals of a candidate on each target, and writes them to its
// report.json: `score`, on validation rows, of which the smallest is shipped, and `report`. Does
// nothing if that is there.
absl::Status FinishCandidate(absl::Span<const training::Dataset> sets, const Candidate& candidate) {
  const std::string path = absl::StrCat(candidate.directory, "/report.json");
  if (FileExists(path)) return absl::OkStatus();
  double score = 0;
  json report;
  report["seed"] = candidate.id;
  COBRA_ASSIGN_OR_RETURN(const std::vector<training::Evaluation> tests,
                         training::FinishVersion(candidate.directory, sets));
  LogInfo(absl::StrCat(candidate.name, ": its score on the validation rows of all targets comes last"));
  for (size_t t = 0; t < sets.size(); ++t) {
    const training::Dataset& data = sets[t];
    COBRA_ASSIGN_OR_RETURN(training::Evaluation validation,
                           training::Evaluate(candidate.directory, data, training::Split::kValidation));
    const training::Evaluation& test = tests[t];
    score += validation.networks["all"].mape + validation.layers["all"].mape / 4;
    json of_target = ParseJson<json>(training::EvaluationToJson(test));
    of_target["validation_network_mape"] = validation.networks["all"].mape;
    of_target["validation_layer_mape"] = validation.layers["all"].mape;
    report["targets"][data.target.name] = std::move(of_target);
  }
  return WriteFileAtomic(path, json{{"score", score}, {"report", report}}.dump(1));
}

// Trains one seed unless its directory is complete already.
absl::Status FitSeed(absl::Span<const training::Dataset> sets, const FitArguments& a, int seed) {
  const Candidate candidate = Seed(a, seed);
  if (!FileExists(absl::StrCat(candidate.directory, "/manifest.json"))) {
    COBRA_RETURN_IF_ERROR(MakeDirectories(candidate.directory));
    training::TrainOptions options = a.train;
    options.seed = static_cast<uint64_t>(seed);
    options.checkpoint = absl::StrCat(candidate.directory, "/checkpoint");
    COBRA_RETURN_IF_ERROR(training::Train(sets, options, candidate.directory));
  }
  return FinishCandidate(sets, candidate);
}

// Trains the seeds in child processes, `jobs` at a time. They are forked before LibTorch starts any
// thread.
absl::Status FitSeeds(absl::Span<const training::Dataset> sets, const FitArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<size_t> failed,
                         RunInProcesses(static_cast<size_t>(a.seeds), a.jobs,
                                        [&](size_t i) { return FitSeed(sets, a, static_cast<int>(i) + 1); }));
  if (failed.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("fit: seed ", failed.back() + 1, " failed; its message is above"));
}

// Seeds that began with the same weights have a mean that is mostly better than each.
absl::StatusOr<std::vector<Candidate>> Candidates(absl::Span<const training::Dataset> sets, const FitArguments& a) {
  std::vector<Candidate> candidates;
  std::vector<std::string> directories;
  for (int seed = 1; seed <= a.seeds; ++seed) {
    candidates.push_back(Seed(a, seed));
    directories.push_back(candidates.back().directory);
  }
  if (!a.train.from.empty() && a.seeds > 1) {
    const Candidate mean{"mean of the seeds", absl::StrCat(a.out, "/mean"), "mean"};
    if (!FileExists(absl::StrCat(mean.directory, "/report.json"))) {
      COBRA_RETURN_IF_ERROR(MakeDirectories(mean.directory));
      COBRA_RETURN_IF_ERROR(training::AverageVersions(directories, mean.directory));
      COBRA_RETURN_IF_ERROR(FinishCandidate(sets, mean));
    }
    candidates.push_back(mean);
  }
  return candidates;
}

absl::StatusOr<std::vector<training::Dataset>> LoadSets(const std::vector<std::string>& folders) {
  for (const std::string& rows : folders) {
    if (absl::EndsWith(rows, ".csv") || absl::EndsWith(rows, ".csv.gz"))
      return absl::InvalidArgumentError(absl::StrCat(rows, ": is a table: name its search space with --space NAME"));
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<training::Dataset> sets, training::LoadAllMeasurements(folders));
  std::set<std::string> names;
  for (size_t i = 0; i < sets.size(); ++i) {
    const training::Dataset& data = sets[i];
    LogInfo(absl::StrCat(folders[i], ": ", data.samples.size(), " distinct graphs, ", data.failures,
                         " failed measurements"));
    if (!names.insert(data.target.name).second)
      return absl::InvalidArgumentError(absl::StrCat("--rows ", folders[i], ": another folder has ", data.target.name));
  }
  training::NumberTargets(&sets);
  return sets;
}

// Ships what has the best score on validation rows, and writes the spread of all seeds on test rows
// beside it.
absl::Status FitMeasurements(const FitArguments& a) {
  if (a.train.graph_net_only && a.train.from.empty())
    return absl::InvalidArgumentError(
        "--graph-net-only: the other weights are those of an earlier version: give --from");
  COBRA_ASSIGN_OR_RETURN(const std::vector<training::Dataset> sets, LoadSets(a.rows));
  COBRA_RETURN_IF_ERROR(FitSeeds(sets, a));
  COBRA_ASSIGN_OR_RETURN(const std::vector<Candidate> candidates, Candidates(sets, a));
  json seeds = json::array();
  const Candidate* best = nullptr;
  double best_score = 0;
  for (const Candidate& candidate : candidates) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(absl::StrCat(candidate.directory, "/report.json")));
    json fitted = ParseJson<json>(text);
    const double score = fitted["score"];
    if (best == nullptr || score < best_score) {
      best = &candidate;
      best_score = score;
    }
    seeds.push_back(std::move(fitted["report"]));
  }
  for (const char* name : {"manifest.json", "tensors.safetensors"}) {
    COBRA_ASSIGN_OR_RETURN(std::string file, ReadFile(absl::StrCat(best->directory, "/", name)));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/", name), file));
  }
  return WriteFileAtomic(absl::StrCat(a.out, "/training.json"),
                         json{{"shipped_seed", best->id}, {"epochs", a.train.epochs}, {"seeds", seeds}}.dump(1));
}

// Flags for training on measurements. A model of a search space is fitted once and chooses its
// settings itself.
void AddTrainingFlags(CLI::App* command, FitArguments* a) {
  command->add_option("--seeds", a->seeds, "How many times to train, with seeds 1, 2, ...")->capture_default_str();
  command->add_option("--jobs", a->jobs, "Seeds trained at a time, one core each")->capture_default_str();
  command->add_option("--device", a->train.device, "What computes: cpu, or cuda with a LibTorch that has it")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--from", a->train.from,
                      "Directory of a version whose weights are the initial ones, instead of random numbers");
  command->add_option("--epochs", a->train.epochs, "Passes over the rows")->capture_default_str();
  command->add_flag("--graph-net-only", a->train.graph_net_only,
                    "Only the graph network learns; the encoder and the layer head stay those of --from");
  command->add_option("--learning-rate", a->train.learning_rate, "Maximum, reached after a warm-up; then it decays")
      ->capture_default_str();
  command->add_option("--width", a->train.net.width, "Width of the encoder")->capture_default_str();
  command->add_option("--encoder-layers", a->train.net.encoder_layers, "Transformer blocks over the tokens of a call")
      ->capture_default_str();
  command->add_option("--graph-width", a->train.net.graph_width, "Width of the graph network")->capture_default_str();
  command->add_option("--graph-layers", a->train.net.graph_layers, "Rounds of messages between calls")
      ->capture_default_str();
  command->add_flag("--shared-graph-net", a->train.net.shared_graph_net,
                    "What a network is as a whole comes last, so that calls share their states between networks");
}

}  // namespace

Command AddFit(CLI::App* app) {
  const auto a = std::make_shared<FitArguments>();
  CLI::App* command = app->add_subcommand(
      "fit",
      "Train on measurements, three seeds by default; what is best on validation rows is kept: a seed, or with --from "
      "the mean of their weights; with --space, on a table of a search space (docs/spaces.md)");
  CLI::Option* space =
      command
          ->add_option(
              "--space", a->space,
              "Type of rows: measurements, or a search space: nasbench201, nasbench201-pruned, fbnet, ofa, hat")
          ->capture_default_str();
  command
      ->add_option("--rows", a->rows,
                   "Directory of worker records with target.json; repeatable: a version for all of them. Of a search "
                   "space: CSV, row,arch and a column per device")
      ->required();
  command
      ->add_option("--out", a->out,
                   "Directory of the model (version); a second run continues an interrupted one, and replaces a model "
                   "of a search space")
      ->required();
  AddTrainingFlags(command, a.get());
  // Flags that both kinds of rows need are required; the others are for training on measurements.
  for (CLI::Option* option : command->get_options()) {
    if (!option->get_required() && option != space && option != command->get_help_ptr()) option->excludes(space);
  }
  return {command, [a] {
            return a->space == kMeasurements ? FitMeasurements(*a) : FitSpace(a->space, a->rows.front(), a->out);
          }};
}

}  // namespace cobra::train
