// `cobra-train table hat`: latency of translation Transformers from ten numbers (Wang et al., ACL
// 2020), 80/10/10.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_HAT_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_HAT_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: lab/data/hat (a file a set, split-SEED.csv, spread.csv).
absl::StatusOr<TableRun> RunHatTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_HAT_H_
