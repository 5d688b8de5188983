// `cobra-train table intervals`: do 90 % intervals hold 90 % (PROTOCOLS, 8)? Judged by the exact band of what was
// observed: in distribution, and on families that nothing was learned from.
#ifndef COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_
#define COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

// Rows: TableOptions::rows with the weights of TableOptions::model, and data/tables/nasbench201.
absl::StatusOr<TableRun> RunIntervalsTable(const TableOptions& options);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_
