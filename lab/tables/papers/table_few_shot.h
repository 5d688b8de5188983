// `cobra-train table few_shot`: the latency of architectures on a device, from a few samples on it
// (HELP, NeurIPS 2021; MAPLE-X, 2022).
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_FEW_SHOT_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_FEW_SHOT_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: lab/data/help_*; data sheets: data/devices/spaces.csv beside it. A seed is a third of the
// hundred draws of samples.
absl::StatusOr<TableRun> RunFewShotTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_FEW_SHOT_H_
