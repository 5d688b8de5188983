// `cobra-train table ablation`: our model with one part at a time as published for COBRA, all trained on the same rows
// for the same time.
#ifndef COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_
#define COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

// Rows: a part of options.rows, whose size the document states.
absl::StatusOr<TableRun> RunAblationTable(const TableOptions& options);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_
