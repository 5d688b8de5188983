// cobra-train: fits a model version on measurements and states its errors.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/command_line.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "evaluation/replay/active_replay.h"
#include "evaluation/replay/active_report.h"
#include "evaluation/sums/layer_sum.h"
#include "evaluation/tables/tables.h"
#include "model/fit/evaluate.h"
#include "model/fit/gate.h"
#include "model/fit/refit.h"
#include "model/fit/select.h"
#include "model/fit/trainer.h"
#include "nlohmann/json.hpp"
#include "train/space_commands.h"

namespace cobra::train {
namespace {

using nlohmann::json;

constexpr char kMeasurements[] = "measurements";

struct FitArguments {
  std::string space = kMeasurements;
  std::string rows;
  std::string out;
  int seeds = 3;
  int jobs = 1;
  fit::TrainOptions train;
};

std::string SeedDirectory(const FitArguments& a, int seed) { return absl::StrCat(a.out, "/seed-", seed); }

// Trains one seed unless its directory is complete already.
absl::Status FitSeed(const fit::Dataset& data, const FitArguments& a, int seed) {
  const std::string directory = SeedDirectory(a, seed);
  if (FileExists(absl::StrCat(directory, "/manifest.json"))) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
  fit::TrainOptions options = a.train;
  options.seed = static_cast<uint64_t>(seed);
  options.checkpoint = absl::StrCat(directory, "/checkpoint");
  return fit::Train(data, options, directory);
}

// Seeds run in child processes, `jobs` at a time: LibTorch has started no thread yet when they are forked.
absl::Status FitSeeds(const fit::Dataset& data, const FitArguments& a) {
  std::map<pid_t, int> running;
  absl::Status result = absl::OkStatus();
  auto wait_for_one = [&] {
    int code = 0;
    const pid_t pid = ::wait(&code);
    if (code != 0)
      result = absl::InternalError(absl::StrCat("fit: seed ", running[pid], " failed; its message is above"));
    running.erase(pid);
  };
  for (int seed = 1; seed <= a.seeds; ++seed) {
    if (static_cast<int>(running.size()) >= a.jobs) wait_for_one();
    const pid_t pid = ::fork();
    if (pid < 0) return absl::InternalError("fit: fork failed");
    if (pid == 0) {
      const absl::Status status = FitSeed(data, a, seed);
      if (!status.ok()) LogError(status.ToString());
      ::_exit(status.ok() ? 0 : 1);
    }
    running[pid] = seed;
  }
  while (!running.empty()) wait_for_one();
  return result;
}

// The seed with the best validation rows ships; the spread over all seeds on the test rows goes beside it.
absl::Status Fit(const FitArguments& a) {
  if (a.space != kMeasurements) return FitSpace(a.space, a.rows, a.out);
  if (absl::EndsWith(a.rows, ".csv") || absl::EndsWith(a.rows, ".csv.gz"))
    return absl::InvalidArgumentError(
        absl::StrCat(a.rows, ": is a table: say of which search space it is, --space NAME"));
  COBRA_ASSIGN_OR_RETURN(fit::Dataset data, fit::LoadMeasurements(a.rows));
  LogInfo(absl::StrCat(a.rows, ": ", data.samples.size(), " distinct graphs, ", data.failures,
                       " records that are no measurement"));
  COBRA_RETURN_IF_ERROR(FitSeeds(data, a));
  json seeds = json::array();
  int best = 0;
  double best_score = 0;
  for (int seed = 1; seed <= a.seeds; ++seed) {
    COBRA_ASSIGN_OR_RETURN(fit::Evaluation validation,
                           fit::Evaluate(SeedDirectory(a, seed), data, fit::Split::kValidation));
    COBRA_ASSIGN_OR_RETURN(fit::Evaluation test, fit::FinishVersion(SeedDirectory(a, seed), data));
    const double score = validation.networks["all"].mape + validation.layers["all"].mape / 4;
    if (best == 0 || score < best_score) {
      best = seed;
      best_score = score;
    }
    json row = json::parse(fit::EvaluationToJson(test));
    row["seed"] = seed;
    row["validation_network_mape"] = validation.networks["all"].mape;
    row["validation_layer_mape"] = validation.layers["all"].mape;
    seeds.push_back(std::move(row));
    LogInfo(absl::StrFormat("seed %d: test layers %.2f %%, networks %.2f %%", seed, 100 * test.layers["all"].mape,
                            100 * test.networks["all"].mape));
  }
  for (const char* name : {"manifest.json", "tensors.safetensors"}) {
    COBRA_ASSIGN_OR_RETURN(std::string file, ReadFile(absl::StrCat(SeedDirectory(a, best), "/", name)));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/", name), file));
  }
  return WriteFileAtomic(absl::StrCat(a.out, "/training.json"),
                         json{{"shipped_seed", best}, {"epochs", a.train.epochs}, {"seeds", seeds}}.dump(1));
}

struct EvaluateArguments {
  std::string model = "model/pretrained";
  std::string rows = "data/measurements/cpu-epyc-genoa-1t";
  std::string split = "test";
  bool json = false;
  bool write = false;
};

absl::Status RunEvaluate(const EvaluateArguments& a) {
  COBRA_ASSIGN_OR_RETURN(fit::Dataset data, fit::LoadMeasurements(a.rows));
  COBRA_ASSIGN_OR_RETURN(
      fit::Evaluation e,
      a.write ? fit::FinishVersion(a.model, data)
              : fit::Evaluate(a.model, data, a.split == "test" ? fit::Split::kTest : fit::Split::kValidation));
  std::printf("%s\n", a.json ? fit::EvaluationToJson(e).c_str() : fit::EvaluationToTable(e).c_str());
  return absl::OkStatus();
}

struct TableArguments {
  std::string name, model = "model/pretrained", rows = "data/measurements/cpu-epyc-genoa-1t", configs, out;
  std::vector<std::string> alone;
  int seeds = 0;
  bool quick = false, finished = false, json = false;
  evaluation::ReplayOptions replay;
};

absl::Status PrintLayerSum(const TableArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const fit::Dataset data, fit::LoadMeasurements(a.rows));
  std::vector<fit::Sample> alone;
  for (const std::string& file : a.alone) {
    COBRA_ASSIGN_OR_RETURN(std::vector<fit::Sample> layers, fit::LoadRecordFile(file));
    std::move(layers.begin(), layers.end(), std::back_inserter(alone));
  }
  COBRA_ASSIGN_OR_RETURN(const evaluation::LayerSum sum, evaluation::CompareLayerSums(data, alone));
  COBRA_ASSIGN_OR_RETURN(const fit::Evaluation evaluation, fit::Evaluate(a.model, data));
  std::printf("%s\n", a.json ? evaluation::LayerSumToJson(sum, evaluation).c_str()
                             : evaluation::LayerSumToTable(sum, evaluation).c_str());
  return absl::OkStatus();
}

struct RefitArguments {
  std::string model = "model/pretrained", rows = "data/measurements/cpu-epyc-genoa-1t", store, target, out, publish;
  bool json = false;
  fit::RefitOptions options;
};

// Replaces one directory by another at once, so that a server that loads it sees the old version or the new one. The
// old one is kept beside it.
absl::Status Publish(const std::string& from, const std::string& to) {
  const std::string fresh = absl::StrCat(to, ".new");
  COBRA_RETURN_IF_ERROR(MakeDirectories(fresh));
  for (const char* name : {"manifest.json", "tensors.safetensors", "gate.json"}) {
    COBRA_ASSIGN_OR_RETURN(const std::string file, ReadFile(absl::StrCat(from, "/", name)));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(fresh, "/", name), file));
  }
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
    return absl::InternalError(absl::StrCat(to, ": cannot be exchanged with ", fresh, ": ", std::strerror(errno)));
  }
  const std::string old = absl::StrCat(to, ".old");
  std::error_code ignored;
  std::filesystem::remove_all(old, ignored);
  std::filesystem::rename(fresh, old, ignored);
  return absl::OkStatus();
}

// Refit, judge, publish. Exit code 1 and the report where the new version is refused.
absl::Status RunRefit(const RefitArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const fit::Dataset known, fit::LoadMeasurements(a.rows));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<store::Store> store, store::OpenStore(a.store));
  const std::string target = a.target.empty() ? known.target.name : a.target;
  COBRA_ASSIGN_OR_RETURN(fit::Dataset fresh, fit::LoadStoreMeasurements(store.get(), target));
  std::set<std::string> old;
  for (const fit::Sample& s : known.samples) old.insert(s.fingerprint);
  const auto is_old = [&](const fit::Sample& s) { return old.count(s.fingerprint) > 0; };
  fresh.samples.erase(std::remove_if(fresh.samples.begin(), fresh.samples.end(), is_old), fresh.samples.end());
  if (fresh.samples.empty())
    return absl::NotFoundError(absl::StrCat(a.store, ": nothing new was measured for ", target));
  // So few that holding some back would leave nothing to learn from: all are learned, and the report says so.
  const auto held_out = std::count_if(fresh.samples.begin(), fresh.samples.end(),
                                      [](const fit::Sample& s) { return s.split != fit::Split::kTrain; });
  if (held_out < 5) {
    for (fit::Sample& s : fresh.samples) s.split = fit::Split::kTrain;
  }
  COBRA_RETURN_IF_ERROR(fit::Refit(a.model, known, fresh, a.options, a.out));
  fit::Dataset both = known;
  both.samples.insert(both.samples.end(), fresh.samples.begin(), fresh.samples.end());
  COBRA_RETURN_IF_ERROR(fit::FinishVersion(a.out, both).status());
  COBRA_ASSIGN_OR_RETURN(const fit::GateReport report, fit::CompareVersions(a.model, a.out, known, fresh));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/gate.json"), fit::GateReportToJson(report)));
  std::printf("%s\n", a.json ? fit::GateReportToJson(report).c_str() : fit::GateReportToTable(report).c_str());
  if (!report.passed)
    return absl::FailedPreconditionError(absl::StrCat("the new version is not published: ", report.reason));
  return a.publish.empty() ? absl::OkStatus() : Publish(a.out, a.publish);
}

struct SelectArguments {
  fit::SelectOptions options;
  std::string budget, out;
};

absl::Status RunSelect(SelectArguments a) {
  absl::Duration budget;
  if (!absl::ParseDuration(a.budget, &budget) || budget <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat("--budget ", a.budget, ": a duration such as 20m"));
  }
  a.options.budget_s = absl::ToDoubleSeconds(budget);
  COBRA_ASSIGN_OR_RETURN(const fit::SelectReport report, fit::SelectCandidates(a.options));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(a.out, report.lines));
  std::printf("%s", fit::SelectReportToTable(report).c_str());
  return absl::OkStatus();
}

// The full table goes to docs/results; what is quick shows the shape and goes nowhere unless told to.
absl::Status PrintActive(TableArguments a) {
  a.replay.rows = a.rows;
  if (a.quick) a.replay.plan = evaluation::QuickPlan();
  a.replay.seeds = a.seeds > 0 ? a.seeds : a.quick ? 1 : 3;
  if (a.out.empty() && !a.quick) a.out = "docs/results";
  if (!a.out.empty()) {
    COBRA_RETURN_IF_ERROR(MakeDirectories(a.out));
    a.replay.state = absl::StrCat(a.out, "/active.partial.jsonl");
  }
  COBRA_ASSIGN_OR_RETURN(const evaluation::ActiveTable table, evaluation::RunActiveTable(a.replay));
  const std::string markdown = evaluation::ActiveTableToMarkdown(
      table, absl::StrCat("cobra-train table active", a.quick ? " --quick" : "", " --seeds ", a.replay.seeds));
  std::printf("%s\n", a.json ? evaluation::ActiveTableToJson(table).c_str() : markdown.c_str());
  if (a.out.empty()) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/active.md"),
                                        absl::StrCat(markdown, "\n![error against seconds](active.svg)\n")));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/active.svg"), evaluation::ActiveTableToSvg(table)));
  std::remove(a.replay.state.c_str());
  return absl::OkStatus();
}

// The published comparisons: document and progress go to docs/results; what is quick shows the shape and goes nowhere
// unless told to.
absl::Status PrintPublished(const TableArguments& a) {
  evaluation::TableOptions options;
  options.name = a.name;
  options.model = a.model;
  options.rows = a.rows;
  options.configs = a.configs;
  options.quick = a.quick;
  options.finished = a.finished;
  options.seeds = a.seeds > 0 ? a.seeds : a.quick ? 1 : 3;
  options.command = absl::StrCat("cobra-train table ", a.name, a.quick ? " --quick" : "", " --seeds ", options.seeds,
                                 a.model == evaluation::TableOptions().model ? "" : absl::StrCat(" --model ", a.model),
                                 a.configs.empty() ? "" : absl::StrCat(" --configs ", a.configs));
  COBRA_ASSIGN_OR_RETURN(const evaluation::TableRun run,
                         evaluation::RunTable(options, a.out.empty() && !a.quick ? "docs/results" : a.out));
  std::printf("%s\n", a.json ? evaluation::TableToJson(run).c_str() : evaluation::TableToMarkdown(run).c_str());
  return absl::OkStatus();
}

absl::Status RunTableCommand(const TableArguments& a) {
  if (a.name == "layer_sum") return PrintLayerSum(a);
  if (a.name == "active") return PrintActive(a);
  return PrintPublished(a);
}

// The test layers of a table, as a file that stays when rows are added.
absl::Status WriteSplit(const std::string& rows, const std::string& out) {
  COBRA_ASSIGN_OR_RETURN(const fit::Dataset data, fit::LoadMeasurements(rows));
  std::set<std::string> test;
  for (const fit::Sample& s : data.samples) {
    if (!s.is_network && s.split == fit::Split::kTest) test.insert(s.fingerprint);
  }
  std::string text = absl::StrCat("# Fingerprints of the test layers of ", rows,
                                  " (cobra-train split): a tenth, by hash. Never chosen from, never trained on.\n");
  for (const std::string& fingerprint : test) absl::StrAppend(&text, fingerprint, "\n");
  return WriteFileAtomic(out, text);
}

CLI::App* AddSelect(CLI::App* app, SelectArguments* a) {
  CLI::App* command =
      app->add_subcommand("select", "Of candidates, those whose measuring teaches a version most in a given time");
  command->add_option("--pool", a->options.pool, "Candidates: JSON lines of `cobra-worker sample`, or records")
      ->required();
  command->add_option("--budget", a->budget, "Of measuring, e.g. 20m")->required();
  command->add_option("--out", a->out, "JSON lines for `cobra-worker measure --graphs`, the most valuable first")
      ->required();
  command->add_option("--targets", a->options.targets, "What will be asked for, like --pool; default: the pool");
  command->add_option("--model", a->options.model, "Directory of the model version")->capture_default_str();
  command->add_option("--rows", a->options.rows, "The measurements that it was trained and judged on")
      ->capture_default_str();
  command->add_option("--seed", a->options.seed, "Of what is drawn at random")->capture_default_str();
  return command;
}

CLI::App* AddTable(CLI::App* app, TableArguments* a) {
  std::string names = "active, layer_sum";
  for (const evaluation::TableEntry& e : evaluation::Tables()) absl::StrAppend(&names, ", ", e.name);
  CLI::App* command = app->add_subcommand("table", absl::StrCat("Reruns one comparison (docs/results): ", names));
  command->add_option("name", a->name, "Which table")->required();
  command->add_option(
      "--configs", a->configs,
      "cobra_layers, cobra_networks: settings of the published methods; default: evaluation/published/configs/cpu");
  command->add_option("--model", a->model, "Directory of a model version, or of its seeds (cobra-train fit)")
      ->capture_default_str();
  command->add_option("--rows", a->rows, "Directory of the measurements")->capture_default_str();
  command->add_option(
      "--alone", a->alone,
      "layer_sum: records of more layers, measured alone (cobra-worker measure --space layers-of-networks)");
  command->add_flag("--quick", a->quick, "For its shape, not its figures; writes nothing without --out");
  command->add_flag("--finished", a->finished,
                    "Writes the document of what earlier runs have finished, and goes on with nothing");
  command->add_option("--seeds", a->seeds, "How many; default: 3, quick 1")->check(AboveZero());
  command->add_option("--split", a->replay.split, "active: fingerprints of the test rows")->capture_default_str();
  command->add_option("--out", a->out,
                      "Directory; a run that was cut goes on from what is there; default: docs/results");
  command->add_flag("--json", a->json, "JSON instead of a table");
  return command;
}

int Finish(const absl::Status& status) {
  if (status.ok()) return 0;
  PrintError("cobra-train", status);
  return status.code() == absl::StatusCode::kInvalidArgument || status.code() == absl::StatusCode::kNotFound
             ? kUsageExitCode
             : 1;
}

}  // namespace

int Main(int argc, char** argv) {
  CLI::App app{"Fits COBRA's networks on measurements and states their errors on held-out rows.", "cobra-train"};
  app.require_subcommand(1);
  FitArguments fit;
  CLI::App* fit_command =
      app.add_subcommand("fit",
                         "Train on measurements, three seeds by default, of which the best on validation rows is kept; "
                         "with --space, on a table of a search space (docs/spaces.md)");
  fit_command
      ->add_option("--space", fit.space,
                   "Kind of rows: measurements, or a search space: nasbench201, nasbench201-pruned, fbnet, ofa, hat")
      ->capture_default_str();
  fit_command
      ->add_option(
          "--rows", fit.rows,
          "Directory of worker records with target.json; of a search space: CSV, row,arch and a column a device")
      ->required();
  fit_command
      ->add_option("--out", fit.out,
                   "Directory of the model (version); a second run continues an interrupted one, and makes that of a "
                   "search space anew")
      ->required();
  fit_command->add_option("--seeds", fit.seeds, "How many times to train, with seeds 1, 2, ...")->capture_default_str();
  fit_command->add_option("--jobs", fit.jobs, "Seeds trained at a time, one core each")->capture_default_str();
  fit_command->add_option("--epochs", fit.train.epochs, "Passes over the rows")->capture_default_str();
  fit_command->add_option("--learning-rate", fit.train.learning_rate, "The highest; it warms up to it and decays")
      ->capture_default_str();
  fit_command->add_option("--width", fit.train.net.width, "Of the encoder, numbers a token")->capture_default_str();
  fit_command
      ->add_option("--encoder-layers", fit.train.net.encoder_layers, "Transformer blocks over the tokens of a call")
      ->capture_default_str();
  fit_command->add_option("--graph-width", fit.train.net.graph_width, "Of the graph network, numbers a call")
      ->capture_default_str();
  fit_command->add_option("--graph-layers", fit.train.net.graph_layers, "Rounds of messages between calls")
      ->capture_default_str();
  fit_command->add_flag("--prices,!--no-prices", fit.train.net.prices,
                        "The layer head prices kinds of work (default), or says the latency itself");
  // What both kinds of rows need is required; the rest is about training on measurements. A search space's model is one
  // fit and chooses what there is to choose.
  CLI::Option* space = fit_command->get_option("--space");
  for (CLI::Option* option : fit_command->get_options()) {
    if (!option->get_required() && option != space && option != fit_command->get_help_ptr()) option->excludes(space);
  }
  EvaluateArguments evaluate;
  CLI::App* evaluate_command = app.add_subcommand("evaluate", "Errors of a model version on its held-out test rows");
  evaluate_command->add_option("--model", evaluate.model, "Directory of a model version")->capture_default_str();
  evaluate_command->add_option("--rows", evaluate.rows, "Directory of the measurements")->capture_default_str();
  evaluate_command->add_option("--split", evaluate.split, "Which rows: test, or those that choices are made by")
      ->check(CLI::IsMember({"test", "validation"}))
      ->capture_default_str();
  evaluate_command->add_flag("--json", evaluate.json, "All rows, as JSON instead of a table");
  evaluate_command
      ->add_flag("--write", evaluate.write,
                 "Into the version's manifest: intervals, errors, how large what was measured is")
      ->excludes("--split");
  RefitArguments refit;
  CLI::App* refit_command = app.add_subcommand(
      "refit", "Teach a version what workers have measured since; judge it; publish it if it is better");
  refit_command->add_option("--store", refit.store, "The server's store: a file, or postgresql://...")->required();
  refit_command->add_option("--model", refit.model, "The version that serves")->capture_default_str();
  refit_command->add_option("--rows", refit.rows, "The measurements that it was trained and judged on")
      ->capture_default_str();
  refit_command->add_option("--target", refit.target, "Name of the target; default: that of the rows");
  refit_command->add_option("--out", refit.out, "Directory of the new version and its report (gate.json)")->required();
  refit_command->add_option("--publish", refit.publish,
                            "Directory that a server serves: replaced at once if the new version is better");
  refit_command->add_option("--seconds", refit.options.seconds, "Of training, processor time")->capture_default_str();
  refit_command->add_option("--steps", refit.options.max_steps, "Steps of training at most")->capture_default_str();
  refit_command->add_option("--seed", refit.options.seed, "Of the batches")->capture_default_str();
  refit_command->add_flag("--json", refit.json, "The gate's report as JSON instead of a table");
  SelectArguments select;
  CLI::App* select_command = AddSelect(&app, &select);
  TableArguments table;
  CLI::App* table_command = AddTable(&app, &table);
  const std::vector<SpaceCommand> space_commands = AddSpaceCommands(&app);
  std::string split_rows = "data/measurements/cpu-epyc-genoa-1t", split_out;
  CLI::App* split_command = app.add_subcommand("split", "Write the test layers of measurements to a file");
  split_command->add_option("--rows", split_rows, "Directory of the measurements")->capture_default_str();
  split_command->add_option("--out", split_out, "Fingerprints, one a line")->required();
  app.footer(
      "Paths are relative to where it is started; the defaults are those of the repository's root.\n"
      "Exit codes: 0 fine, 1 it failed, or `refit` published nothing (gate.json says why), 2 usage. cobra-train "
      "COMMAND --help has the flags of each.");
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) return Finish(parsed.status());
  if (!*parsed) return 0;
  for (const SpaceCommand& command : space_commands) {
    if (command.app->parsed()) return Finish(command.run());
  }
  if (select_command->parsed()) return Finish(RunSelect(select));
  if (table_command->parsed()) return Finish(RunTableCommand(table));
  if (split_command->parsed()) return Finish(WriteSplit(split_rows, split_out));
  return Finish(fit_command->parsed() ? Fit(fit) : refit_command->parsed() ? RunRefit(refit) : RunEvaluate(evaluate));
}

}  // namespace cobra::train

int main(int argc, char** argv) { return cobra::train::Main(argc, argv); }
