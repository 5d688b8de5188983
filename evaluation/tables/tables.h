// Every table that `cobra-train table` reruns.
#ifndef COBRA_EVALUATION_TABLES_TABLES_H_
#define COBRA_EVALUATION_TABLES_TABLES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

struct TableEntry {
  const char* name;   // as on the command line
  const char* title;  // a line of help
  absl::StatusOr<TableRun> (*run)(const TableOptions& options);
};
const std::vector<TableEntry>& Tables();

// Runs one; state, document and ledger.csv go to `directory` (empty: none is written; the quick form looks at the test
// rows for its shape only and is not in the ledger). NotFound lists the tables that there are.
absl::StatusOr<TableRun> RunTable(TableOptions options, const std::string& directory);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLES_H_
