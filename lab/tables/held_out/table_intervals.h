// `cobra-train table intervals`: do 90 % intervals contain 90 %? Compares with the exact band of
// the observed share: in distribution, and on families without training rows.
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_INTERVALS_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_INTERVALS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: TableOptions::rows with the weights of TableOptions::model, and lab/data/nasbench201.
absl::StatusOr<TableRun> RunIntervalsTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_INTERVALS_H_
