// `cobra-train table hat`: latency of translation Transformers from ten numbers (Wang et al., ACL 2020), 80/10/10.
#ifndef COBRA_MODEL_TABLE_TABLE_HAT_H_
#define COBRA_MODEL_TABLE_TABLE_HAT_H_

#include "absl/status/statusor.h"
#include "model/table/table.h"

namespace cobra {

// Rows: data/tables/hat (a file a set, split-SEED.csv, spread.csv).
absl::StatusOr<TableRun> RunHatTable(const TableOptions& options);

}  // namespace cobra

#endif  // COBRA_MODEL_TABLE_TABLE_HAT_H_
