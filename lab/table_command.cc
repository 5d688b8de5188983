#include "lab/table_command.h"

#include <cstdio>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "lab/replay/active_replay.h"
#include "lab/replay/active_report.h"
#include "lab/sums/layer_sum.h"
#include "lab/tables/tables.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {
namespace {

struct TableArguments {
  std::string name, model = "model/pretrained", rows = "data/measurements/cpu-epyc-genoa-1t", configs, out;
  std::vector<std::string> alone;
  std::string device = "cpu";
  int seeds = 0, jobs = 1;
  bool quick = false, finished = false, parts = false, json = false;
  ReplayOptions replay;
};

absl::Status PrintLayerSum(const TableArguments& a) {
  COBRA_ASSIGN_OR_RETURN(const training::Dataset data, training::LoadMeasurements(a.rows));
  std::vector<training::Sample> alone;
  for (const std::string& file : a.alone) {
    COBRA_ASSIGN_OR_RETURN(std::vector<training::Sample> layers, training::LoadRecordFile(file));
    std::move(layers.begin(), layers.end(), std::back_inserter(alone));
  }
  COBRA_ASSIGN_OR_RETURN(const LayerSum sum, CompareLayerSums(data, alone));
  COBRA_ASSIGN_OR_RETURN(const training::Evaluation evaluation, training::Evaluate(a.model, data));
  std::printf("%s\n", a.json ? LayerSumToJson(sum, evaluation).c_str() : LayerSumToTable(sum, evaluation).c_str());
  return absl::OkStatus();
}

// The full table is written to lab/results. A quick one only shows the form; it is written only if
// --out is given.
absl::Status PrintActive(TableArguments a) {
  a.replay.rows = a.rows;
  if (a.quick) a.replay.plan = QuickPlan();
  a.replay.seeds = a.seeds > 0 ? a.seeds : a.quick ? 1 : 3;
  if (a.out.empty() && !a.quick) a.out = "lab/results";
  if (!a.out.empty()) {
    COBRA_RETURN_IF_ERROR(MakeDirectories(a.out));
    a.replay.state = absl::StrCat(a.out, "/active.partial.jsonl");
  }
  COBRA_ASSIGN_OR_RETURN(const ActiveTable table, RunActiveTable(a.replay));
  const std::string markdown = ActiveTableToMarkdown(
      table, absl::StrCat("cobra-train table active", a.quick ? " --quick" : "", " --seeds ", a.replay.seeds));
  std::printf("%s\n", a.json ? ActiveTableToJson(table).c_str() : markdown.c_str());
  if (a.out.empty()) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/active.md"),
                                        absl::StrCat(markdown, "\n![error against seconds](active.svg)\n")));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(a.out, "/active.svg"), ActiveTableToSvg(table)));
  std::remove(a.replay.state.c_str());
  return absl::OkStatus();
}

// The published comparisons. Document and progress are written to lab/results, or to the directory
// of --out; those of a quick run only to the latter.
absl::Status PrintPublished(const TableArguments& a) {
  TableOptions options;
  options.name = a.name;
  options.model = a.model;
  options.rows = a.rows;
  options.configs = a.configs;
  options.quick = a.quick;
  options.finished = a.finished;
  options.seeds = a.seeds > 0 ? a.seeds : a.quick ? 1 : 3;
  options.parts = a.parts;
  options.jobs = a.jobs;
  options.device = a.device;
  options.command = absl::StrCat("cobra-train table ", a.name, a.quick ? " --quick" : "", " --seeds ", options.seeds,
                                 a.rows == TableOptions().rows ? "" : absl::StrCat(" --rows ", a.rows),
                                 a.model == TableOptions().model ? "" : absl::StrCat(" --model ", a.model),
                                 a.configs.empty() ? "" : absl::StrCat(" --configs ", a.configs));
  COBRA_ASSIGN_OR_RETURN(const TableRun run, RunTable(options, a.out.empty() && !a.quick ? "lab/results" : a.out));
  if (options.parts) return absl::OkStatus();
  std::printf("%s\n", a.json ? TableToJson(run).c_str() : TableToMarkdown(run).c_str());
  return absl::OkStatus();
}

absl::Status RunTableCommand(const TableArguments& a) {
  if (a.name == "layer_sum") return PrintLayerSum(a);
  if (a.name == "active") return PrintActive(a);
  return PrintPublished(a);
}

}  // namespace

train::Command AddTable(CLI::App* app) {
  const auto a = std::make_shared<TableArguments>();
  CLI::App* command = app->add_subcommand("table", absl::StrCat("Reruns one comparison (lab/results): ", TableNames()));
  command->add_option("name", a->name, "Which table")->required();
  command->add_option(
      "--configs", a->configs,
      "cobra_layers, cobra_networks: settings of the published methods; default: lab/published/configs/cpu");
  command->add_option("--model", a->model, "Directory of a model version, or of its seeds (cobra-train fit)")
      ->capture_default_str();
  command->add_option("--rows", a->rows, "Directory of the measurements")->capture_default_str();
  command->add_option(
      "--alone", a->alone,
      "layer_sum: records of more layers, measured by themselves (cobra-worker measure --space layers-of-networks)");
  command->add_flag("--quick", a->quick, "A smoke test with meaningless figures; writes nothing without --out");
  command->add_flag("--finished", a->finished,
                    "Write the document of the cells that are finished, and compute no others");
  command->add_option("--seeds", a->seeds, "Number of seeds; default: 3, with --quick 1")->check(AboveZero());
  command
      ->add_option(
          "--jobs", a->jobs,
          "boards, kernelbench, kernels, real_models: folds that are trained and answered at a time, a core each")
      ->check(AboveZero())
      ->capture_default_str();
  command->add_flag("--parts", a->parts,
                    "Likewise: answer them and keep the answers in --out, for a run of the same command on another "
                    "machine, which writes the document");
  command
      ->add_option("--device", a->device, "Likewise: what trains the folds, cpu, or cuda with a LibTorch that has it")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--split", a->replay.split, "active: fingerprints of the test rows")->capture_default_str();
  command->add_option("--out", a->out, "Directory; an interrupted run continues from its files; default: lab/results");
  command->add_flag("--json", a->json, "JSON instead of a table");
  return {command, [a] { return RunTableCommand(*a); }};
}

}  // namespace cobra::lab
