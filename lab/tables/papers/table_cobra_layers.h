// `cobra-train table cobra_layers`: latency of single layers from their calls (COBRA, table 2 and
// figure 5), on layers that our worker measured.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_LAYERS_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_LAYERS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: options.rows; ours: options.model (every seed if it contains seed-1, seed-2 ..., otherwise
// the version itself).
absl::StatusOr<TableRun> RunCobraLayersTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_LAYERS_H_
