// The same networks in several runtimes on one processor: errors and intervals on families that
// were left out of training, beside floors on the same rows, and how often the fastest runtime is
// named right (docs/targets.md).
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_RUNTIMES_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_RUNTIMES_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// `options.rows`: a folder of folders of measurements; those count whose target the version has.
// `options.model`: a version, or the folder of its seeds. FailedPrecondition if no target has
// enough test networks.
absl::StatusOr<TableRun> RunRuntimesTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_RUNTIMES_H_
