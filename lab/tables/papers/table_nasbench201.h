// `cobra-train table nasbench201`: latency of NAS-Bench-201 cells from 900 measured ones, as
// BRP-NAS (NeurIPS 2020) and Yue (2021, tables 1 to 6) publish it.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_NASBENCH201_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_NASBENCH201_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// Rows: lab/data/nasbench201 (latency.csv.xz, split-SEED.csv).
absl::StatusOr<TableRun> RunNasbench201Table(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_NASBENCH201_H_
