// `cobra-train table ablation`: ours with one thing at a time as COBRA was published, each trained on the same rows for
// as long.
#ifndef COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_
#define COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_

#include "absl/status/statusor.h"
#include "evaluation/tables/table.h"

namespace cobra::evaluation {

// Rows: a part of options.rows, whose size the document states.
absl::StatusOr<TableRun> RunAblationTable(const TableOptions& options);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_TABLE_ABLATION_H_
