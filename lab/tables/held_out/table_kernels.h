// `table kernels`: GPU kernels in shapes of language models, and the models end to end (NeuSight,
// ASPLOS 2025; tables 5 and 6), on GPUs that training has seen and on GPUs that it has not.
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_KERNELS_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_KERNELS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

absl::StatusOr<TableRun> RunKernelsTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_KERNELS_H_
