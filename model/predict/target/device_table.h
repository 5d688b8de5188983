// Published specifications of devices: data/devices/gpus.csv.
#ifndef COBRA_MODEL_PREDICT_TARGET_DEVICE_TABLE_H_
#define COBRA_MODEL_PREDICT_TARGET_DEVICE_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// `csv`: columns name, mem_gb, mem_bw_gb_s, num_sm, freq_mhz, fp32_gflops, l2_mb (others are
// ignored). `device`: the vendor's name, also without the maker's words and punctuation ("RTX
// 4090"), or a part of it that only one row contains ("V100-PCIE-32"), in upper or lower case. The
// target is float32, eager; its runtime is empty. NotFound lists the devices. InvalidArgument:
// several devices match, or a row is invalid.
absl::StatusOr<TargetSpec> TargetFromTable(absl::string_view csv, absl::string_view device);

// data/devices/gpus.csv, as it was when the program was built.
absl::string_view GpuTable();

// The words of a name as people and drivers write it ("NVIDIA A100-SXM4-80GB", "A100 80GB SXM4",
// "GeForce RTX 4090", "rtx4090"), sorted, without what does not tell devices of the table apart.
// "24gb" is one of them only if asked for.
std::vector<std::string> DeviceWords(absl::string_view name, bool with_memory);

// The process of a GPU's silicon, in nanometres: of GpuTable(), by the device's name as above, but
// whole; 0: unknown.
double ProcessNm(absl::string_view device);

// Whether GpuTable() has the GPU (by its name as above, but whole), and no rate for TF32
// (`precision` tf32 or tf32-convolutions) or bfloat16: its silicon is older than units for these.
bool LacksUnitsFor(absl::string_view device, absl::string_view precision);

// Of a GPU that is in GpuTable() under several longer names ("A100"): those. None if it has the
// name itself.
std::vector<std::string> DevicesNamedLike(absl::string_view device);

// The GPU of this name (as above, whole), otherwise those of longer names ("A100"); none if there
// is none.
std::vector<std::string> GpusNamed(absl::string_view device);

// The GPUs of GpuTable() that share the model's number with this name ("RTX 4060 Laptop GPU": the
// RTX 4060 and its Ti).
std::vector<std::string> GpusOfModel(absl::string_view device);

// A sheet of a GPU with what GpuTable() says of the device of this name (likewise whole) where the
// sheet says nothing: the peaks are those of its precision. Any other sheet as it is.
TargetSpec FilledFromTable(TargetSpec sheet);

// That of a GPU, and that of a processor with a peak, where it has none and its clock and vectors
// are known: of its threads, each a core. Of cores in data/devices/cores.csv it is half to twice
// the peak of the maker.
TargetSpec CompletedSheet(TargetSpec sheet);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_DEVICE_TABLE_H_
