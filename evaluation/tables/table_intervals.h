// `cobra-train table intervals`: do 90 % intervals contain 90 %? Compares with the exact band of the observed share: in
// distribution, and on families without training rows.
#ifndef COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_
#define COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

// Rows: TableOptions::rows with the weights of TableOptions::model, and data/tables/nasbench201.
absl::StatusOr<TableRun> RunIntervalsTable(const TableOptions& options);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLE_INTERVALS_H_
