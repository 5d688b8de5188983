// Published specifications of devices that are not at hand: data/devices/gpus.csv.
#ifndef COBRA_MODEL_PREDICT_DEVICE_TABLE_H_
#define COBRA_MODEL_PREDICT_DEVICE_TABLE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/target.h"

namespace cobra::predict {

// `csv`: columns name, mem_bw_gb_s, num_sm, freq_mhz, fp32_gflops, l2_mb (others are passed over). `device`: its name
// as the vendor gives it, or the part of it that only one row has ("V100"); case does not matter. The target is
// float32, eager; its runtime is empty. NotFound names what there is; InvalidArgument: several devices, or a row that
// is wrong.
absl::StatusOr<TargetSpec> TargetFromTable(absl::string_view csv, absl::string_view device);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_DEVICE_TABLE_H_
