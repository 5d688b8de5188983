// The protocols of table few_shot and the rows, samples and devices of each. Shows no LibTorch but
// what model/space shows.
#ifndef COBRA_LAB_TABLES_PAPERS_FEW_SHOT_DATA_H_
#define COBRA_LAB_TABLES_PAPERS_FEW_SHOT_DATA_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/arch_rows.h"
#include "model/space/devices/device_spec.h"
#include "model/space/devices/known_devices.h"

namespace cobra::lab {

struct FewShotProtocol {
  std::string data, part, space, title;
  std::vector<std::string> test;   // devices, each treated as new in turn
  std::vector<std::string> train;  // devices that are known; empty: all but the family of the new one
  bool middle = false;  // of pool and test rows only the middle 80 % by the new device's latency, as HELP does
  std::vector<int> samples;
  std::vector<int> shown;  // for which of them devices are shown one by one
};
std::vector<FewShotProtocol> FewShotProtocols();

struct FewShotData {
  space::ArchRows rows;
  space::SpaceMatrix features;
  std::vector<double> flops;                // the first of the rooflines
  std::vector<int64_t> pool, test;          // indices into rows
  std::vector<std::vector<int64_t>> draws;  // orders of pool rows
  std::vector<space::DeviceSpec> specs;
  space::KnownDevices known;  // every device, fitted to the pool
};
absl::StatusOr<FewShotData> LoadFewShotData(const std::string& tables, const FewShotProtocol& protocol);

// The `indices` that `protocol` admits for a device.
std::vector<int64_t> Admitted(const FewShotProtocol& protocol, const FewShotData& data, size_t device,
                              const std::vector<int64_t>& indices);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_PAPERS_FEW_SHOT_DATA_H_
