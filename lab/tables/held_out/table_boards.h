// `table boards`: a device that no training has seen, from its data sheet and a few networks that
// were timed on it (data/public/ncnn-boards). A device is left out with everything of the same
// silicon; a fifth of the networks is left out of the same training, so that networks nobody
// measured anywhere are asked about too.
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_BOARDS_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_BOARDS_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

absl::StatusOr<TableRun> RunBoardsTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_BOARDS_H_
