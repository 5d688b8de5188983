// Every table that `cobra-train table` reruns.
#ifndef COBRA_LAB_TABLES_TABLES_H_
#define COBRA_LAB_TABLES_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

struct TableEntry {
  const char* name;   // as on the command line
  const char* title;  // a line of help
  absl::StatusOr<TableRun> (*run)(const TableOptions& options);
};
const std::vector<TableEntry>& Tables();

// "active, layer_sum, ablation ...": those that `cobra-train table` runs by itself
// (lab/table_command.cc), and Tables().
std::string TableNames();

// Runs one table and writes state, document and ledger.csv to `directory` (empty: none). Quick runs
// are not in the ledger, because their figures are meaningless. NotFound lists the tables.
absl::StatusOr<TableRun> RunTable(TableOptions options, const std::string& directory);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_TABLES_H_
