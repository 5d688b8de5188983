// The data sheet of a device in a table's column. It determines the similarity of two devices
// before any measurement.
#ifndef COBRA_MODEL_SPACE_DEVICES_DEVICE_SPEC_H_
#define COBRA_MODEL_SPACE_DEVICES_DEVICE_SPEC_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::space {

struct DeviceSpec {
  std::string name;                              // of the column
  std::string family;                            // columns of one family are the same hardware; empty: its own
  std::string kind;                              // "gpu", "cpu", "phone", "accelerator"; empty: unknown
  double batch = 0;                              // images a run; 0: unknown
  double cores = 0, clock_mhz = 0, power_w = 0;  // 0: unknown

  bool known() const { return !kind.empty(); }
};

// {"kind": "gpu", "batch": 32, "cores": 3584, "clock_mhz": 1582, "power_w": 250}, all fields
// optional. InvalidArgument otherwise.
absl::StatusOr<DeviceSpec> DeviceSpecFromJson(absl::string_view text);
// CSV with the columns device,family,kind,batch,cores,clock_mhz,power_w; other columns are ignored.
// Errors name file and line.
absl::StatusOr<std::vector<DeviceSpec>> LoadDeviceSpecs(absl::string_view path);
// The spec of the column `name`, or one with only the name.
DeviceSpec SpecOf(const std::vector<DeviceSpec>& specs, absl::string_view name);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_DEVICES_DEVICE_SPEC_H_
