// `cobra-train table ablation`: ours with one thing at a time as COBRA was published, each trained on the same rows for
// as long.
#ifndef COBRA_MODEL_TABLE_TABLE_ABLATION_H_
#define COBRA_MODEL_TABLE_TABLE_ABLATION_H_

#include "absl/status/statusor.h"
#include "model/table/table.h"

namespace cobra {

// Rows: a part of options.rows, whose size the document states.
absl::StatusOr<TableRun> RunAblationTable(const TableOptions& options);

}  // namespace cobra

#endif  // COBRA_MODEL_TABLE_TABLE_ABLATION_H_
