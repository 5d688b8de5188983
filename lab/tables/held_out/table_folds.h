// Networks that people run on devices of others (data/public): problems or families left out, five
// folds.
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_FOLDS_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_FOLDS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// KernelBench's programs on GPUs, eager and compiled; a fold is a fifth of the problems.
absl::StatusOr<TableRun> RunKernelBenchTable(const TableOptions& options);
// timm's models on three GPUs and a processor; a fold is a fifth of the families (modules).
absl::StatusOr<TableRun> RunRealModelsTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_FOLDS_H_
