// `cobra-train table cobra_networks`: latency of whole networks (COBRA, table 1), on the random
// ResNet-like networks of its section A.2 that our worker measured.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_NETWORKS_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_NETWORKS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: options.rows; ours: options.model (every seed if it contains seed-1, seed-2 ..., otherwise
// the version itself).
absl::StatusOr<TableRun> RunCobraNetworksTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_COBRA_NETWORKS_H_
