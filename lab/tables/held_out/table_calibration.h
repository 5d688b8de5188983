// A machine that no training has seen, from a minute or five of measurements on it: the networks of
// torchvision and timm that were measured there (docs/targets.md).
#ifndef COBRA_LAB_TABLES_HELD_OUT_TABLE_CALIBRATION_H_
#define COBRA_LAB_TABLES_HELD_OUT_TABLE_CALIBRATION_H_

#include "absl/status/statusor.h"
#include "lab/tables/run/table.h"

namespace cobra::lab {

// `options.rows`: the folder of the machine; `options.model`: a version without its target.
// FailedPrecondition if the version has it, or if the folder has too few rows.
absl::StatusOr<TableRun> RunCalibrationTable(const TableOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_HELD_OUT_TABLE_CALIBRATION_H_
