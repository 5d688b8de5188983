// `cobra-train table perfsage`: latency and peak memory of whole networks of PerfSAGE's four spaces
// (Chai et al., 2023, tables 6 and 7), as our worker measured them.
#ifndef COBRA_LAB_TABLES_PAPERS_TABLE_PERFSAGE_H_
#define COBRA_LAB_TABLES_PAPERS_TABLE_PERFSAGE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

inline constexpr int kPerfSageFolds = 5;
// The test fold of a network, a function of its fingerprint alone, so that it was fixed before
// anything was measured.
int PerfSageFold(absl::string_view fingerprint_hex);

// Rows: the networks of spaces perfsage-* in TableOptions::rows. FailedPrecondition if there are
// none.
absl::StatusOr<TableRun> RunPerfSageTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_TABLE_PERFSAGE_H_
