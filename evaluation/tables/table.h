// A rerun of a published table: methods on the same split in the same run, seed by seed. What is finished is kept, so
// that a run that was cut goes on.
#ifndef COBRA_EVALUATION_TABLES_TABLE_H_
#define COBRA_EVALUATION_TABLES_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/fit/metrics.h"

namespace cobra::evaluation {

struct TableOptions {
  std::string name;                                          // of the table
  std::string tables = "data/tables";                        // published tables and their splits, a folder each
  std::string rows = "data/measurements/cpu-epyc-genoa-1t";  // our measurements
  std::string model = "model/pretrained";                    // the shipped weights
  std::string
      configs;  // settings of the published methods; empty: evaluation/published/configs/cpu, quick of a quick run
  std::string state;   // finished cells, JSON lines, appended to; empty: none are kept
  std::string ledger;  // a line a run that looked at test rows, appended to; empty: none is written
  int seeds = 3;
  bool quick = false;     // for the table's shape, not its figures: within five minutes
  bool finished = false;  // no new cell is made: the document of what earlier runs have finished
  std::string command;    // as it was asked for
};

// A figure of a row. Shares and relative errors are fractions.
using Figures = std::vector<std::pair<std::string, double>>;  // name in JSON, value

struct TableCell {
  std::string method, group;  // group: the device, layer type or space; a table of its own in the document
  int seed = 0;
  Figures figures;
  double seconds =
      0;  // of fitting and predicting, processor time of one thread; TableRun::Add takes them where they are 0
  int64_t parameters = 0;  // fitted numbers; 0: not counted (trees)
};

// Shown in those groups in which some cell has the figure.
struct TableColumn {
  std::string figure, title;  // "within_1", "within 1 %"
  double factor = 100;        // the document shows value * factor
  int digits = 1;
};
// mape, within_1, within_5, within_10, within_25, spearman.
Figures FiguresOf(const fit::Metrics& metrics);
const std::vector<TableColumn>& MetricColumns();

struct TableRun {
  explicit TableRun(const TableOptions& options) : options(options) {}

  TableOptions options;
  std::vector<TableColumn> columns = MetricColumns();
  std::vector<TableCell> cells;
  std::vector<std::string> methods;  // in the order in which they are shown
  std::map<std::string, std::string>
      published;  // "METHOD/GROUP" -> "38.5 / 85.8 / 97.1": on somebody else's machine or split, never mixed with ours
  std::vector<std::string> before, after;  // paragraphs above and below the tables

  int missing = 0;  // cells that were asked for and, by options.finished, not made

  // The cell of (method, group, seed): from the state file, or made by `make` (which fills figures and parameters; its
  // time is taken here) and appended to it. What `make` fails with begins with the cell's name then.
  absl::Status Add(const std::string& method, const std::string& group, int seed,
                   const std::function<absl::StatusOr<TableCell>()>& make);

 private:
  bool in_ledger_ = false;  // this run
};

// Processor time of this process, of all its threads. A table runs on one thread: on an idle core it is the time by the
// wall, and on a shared one it is what it would have been.
double ProcessorSeconds();

// {"table", "rows": [{"method", "group", "metrics": {...}, "spread": {...}, "seconds", "seeds", "parameters"}],
// "command"}
std::string TableToJson(const TableRun& run);
// A table a group: mean and standard deviation over the seeds; seconds; published figures in a column of their own.
std::string TableToMarkdown(const TableRun& run);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLE_H_
