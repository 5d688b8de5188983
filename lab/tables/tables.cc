#include "lab/tables/tables.h"

#include <cstdio>
#include <exception>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "lab/tables/held_out/table_adapted.h"
#include "lab/tables/held_out/table_boards.h"
#include "lab/tables/held_out/table_calibration.h"
#include "lab/tables/held_out/table_folds.h"
#include "lab/tables/held_out/table_intervals.h"
#include "lab/tables/held_out/table_kernels.h"
#include "lab/tables/held_out/table_runtimes.h"
#include "lab/tables/papers/table_ablation.h"
#include "lab/tables/papers/table_cobra_layers.h"
#include "lab/tables/papers/table_cobra_networks.h"
#include "lab/tables/papers/table_few_shot.h"
#include "lab/tables/papers/table_hat.h"
#include "lab/tables/papers/table_nasbench201.h"
#include "lab/tables/papers/table_perfsage.h"
#include "lab/tables/run/kept_answers.h"
#include "model/net/threads.h"

namespace cobra::lab {

const std::vector<TableEntry>& Tables() {
  static const auto* tables = new std::vector<TableEntry>{
      {"ablation", "What each deviation from COBRA as published brings, on our measurements", RunAblationTable},
      {"adapted",
       "GPUs that `adapt` knows by their data sheets and a few timings, with the shipped weights (KernelBench)",
       RunAdaptedTable},
      {"boards", "a phone, board or server from its data sheet and a few networks timed on it (ncnn)", RunBoardsTable},
      {"calibration", "a machine that no training has seen, from a minute of measurements (--rows, --model)",
       RunCalibrationTable},
      {"cobra_layers", "Single layers of our measurements (COBRA, table 2 and figure 5)", RunCobraLayersTable},
      {"cobra_networks", "Random ResNet-like networks of our measurements (COBRA, table 1)", RunCobraNetworksTable},
      {"few_shot", "A new device from a few of its latencies (HELP, MAPLE-X)", RunFewShotTable},
      {"hat", "translation Transformers from ten numbers, six sets (HAT)", RunHatTable},
      {"intervals", "whether 90 % intervals hold 90 %, in distribution and out of it", RunIntervalsTable},
      {"kernelbench", "small PyTorch programs on GPUs, eager and compiled, problems left out (KernelBench)",
       RunKernelBenchTable},
      {"kernels", "GPU kernels in shapes of language models, and the models end to end (NeuSight)", RunKernelsTable},
      {"nasbench201", "NAS-Bench-201 cells from 900 measured ones (BRP-NAS, Yue)", RunNasbench201Table},
      {"perfsage", "latency and peak memory of networks of four spaces, measured here (PerfSAGE)", RunPerfSageTable},
      {"real_models", "timm's models on GPUs and a processor, families left out", RunRealModelsTable},
      {"runtimes", "families left out in each runtime, floors, and the fastest runtime (--rows FOLDER of folders)",
       RunRuntimesTable},
  };
  return *tables;
}

std::string TableNames() {
  std::string names = "active, layer_sum";
  for (const TableEntry& e : Tables()) absl::StrAppend(&names, ", ", e.name);
  return names;
}

absl::StatusOr<TableRun> RunTable(TableOptions options, const std::string& directory) {
  const TableEntry* entry = nullptr;
  for (const TableEntry& e : Tables()) {
    if (e.name == options.name) entry = &e;
  }
  if (entry == nullptr) {
    return absl::NotFoundError(absl::StrCat(options.name, ": no such table; there are ", TableNames()));
  }
  if (!directory.empty()) {
    COBRA_RETURN_IF_ERROR(MakeDirectories(directory));
    options.state = absl::StrCat(directory, "/", options.name, options.quick ? ".quick" : "", ".partial.jsonl");
    if (!options.quick) options.ledger = absl::StrCat(directory, "/ledger.csv");
  }
  net::UseOneThread();
  net::RetainHeap();
  absl::StatusOr<TableRun> run = absl::UnknownError("");
  try {
    run = entry->run(options);
  } catch (const std::exception& e) {  // thrown by LibTorch
    return absl::InternalError(absl::StrCat("table ", options.name, ": ", e.what()));
  }
  if (!run.ok() || directory.empty() || options.parts) return run;
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(absl::StrCat(directory, "/", options.name, ".md"), TableToMarkdown(*run)));
  if (run->missing > 0) return run;
  std::remove(options.state.c_str());
  COBRA_RETURN_IF_ERROR(RemoveKeptAnswers(options.state));
  return run;
}

}  // namespace cobra::lab
