// A rerun of a table: methods on the same split in the same run, seed by seed. Finished cells are
// saved, so that an interrupted run can be resumed.
#ifndef COBRA_LAB_TABLES_RUN_TABLE_H_
#define COBRA_LAB_TABLES_RUN_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/training/rows/metrics.h"

namespace cobra::lab {

struct TableOptions {
  std::string name;                                          // of the table
  std::string tables = "lab/data";                           // published tables and their splits, a folder each
  std::string rows = "data/measurements/cpu-epyc-genoa-1t";  // our measurements
  std::string model = "model/pretrained";                    // the shipped weights
  // Settings of the published methods; empty: lab/published/configs/cpu, quick of a quick run
  std::string configs;
  std::string state;   // finished cells, JSON lines, appended to; empty: none are saved
  std::string ledger;  // one line per run that used test rows, appended to; empty: none is written
  int seeds = 3;
  int jobs = 1;                // parts of a table that are answered at a time (kept_answers.h), a process each
  std::string device = "cpu";  // that trains the versions of folds (TrainOptions)
  bool quick = false;          // a smoke test with meaningless figures, within five minutes
  bool finished = false;       // no new cell is computed: writes the document of the finished cells
  bool parts = false;          // answers the parts and keeps them, for a run on another machine to write the document
  std::string command;         // the command line of the run
};

// A figure of a row. Shares and relative errors are fractions.
using MetricValues = std::vector<std::pair<std::string, double>>;  // name in JSON, value

struct TableCell {
  std::string method, group;  // group: the device, layer type or space; a separate table in the document
  int seed = 0;
  MetricValues figures;
  // Processor time of fitting and predicting, on one thread; if 0, TableRun::Add measures it
  double seconds = 0;
  int64_t parameters = 0;  // fitted numbers; 0: not counted (trees)
};

// A column is shown in groups in which some cell has the figure.
struct TableColumn {
  std::string figure, title;  // "within_1", "within 1 %"
  double factor = 100;        // the document shows value * factor
  int digits = 1;
};
// mape, within_1, within_5, within_10, within_25, spearman.
MetricValues ToMetricValues(const training::Metrics& metrics);
const std::vector<TableColumn>& MetricColumns();

struct TableRun {
  explicit TableRun(const TableOptions& options) : options(options) {}

  TableOptions options;
  std::vector<TableColumn> columns = MetricColumns();
  std::vector<TableCell> cells;
  std::vector<std::string> methods;  // in display order
  // "METHOD/GROUP" -> "38.5 / 85.8 / 97.1": published on another machine or split, never mixed with
  // ours
  std::map<std::string, std::string> published;
  std::vector<std::string> before, after;  // paragraphs above and below the tables

  int missing = 0;  // cells that were requested but not computed, because of options.finished

  // The cell of (method, group, seed): from the state file, or computed by `make` and appended to
  // the file. `make` fills figures and parameters; its time is measured here. Its errors are
  // prefixed with the cell's name.
  absl::Status Add(const std::string& method, const std::string& group, int seed,
                   const std::function<absl::StatusOr<TableCell>()>& make);
  // Of figures that are there already.
  absl::Status AddFigures(const std::string& method, const std::string& group, int seed, const MetricValues& figures);

 private:
  bool in_ledger_ = false;  // this run
};

// Processor time of this process, of all its threads. A table runs on one thread, so on an idle
// core this equals wall time; on a shared core it is not affected by other processes.
double ProcessorSeconds();

// {"table", "rows": [{"method", "group", "metrics": {...}, "spread": {...}, "seconds", "seeds",
// "parameters"}], "command"}
std::string TableToJson(const TableRun& run);
// One table per group: mean and standard deviation over the seeds; seconds; published figures in a
// separate column.
std::string TableToMarkdown(const TableRun& run);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_TABLE_H_
