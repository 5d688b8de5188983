// A device that was adapted to as a server does it, with the shipped weights.
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_ADAPTED_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_ADAPTED_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Each GPU of KernelBench, or the one target of --rows: from its data sheet, and from five and ten
// timings, at random and as suggested. No target of its silicon explains it, but the weights have
// seen its rows.
absl::StatusOr<TableRun> RunAdaptedTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_ADAPTED_H_
