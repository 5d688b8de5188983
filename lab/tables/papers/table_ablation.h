// `cobra-train table ablation`: our model with one part at a time as published for COBRA, all
// trained on the same rows for the same time.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_ABLATION_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_ABLATION_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: a part of options.rows, whose size the document states.
absl::StatusOr<TableRun> RunAblationTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_ABLATION_H_
