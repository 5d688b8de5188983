// A model of one search space, fitted to a user's table. It predicts any architecture on the
// devices of the table, and on a new device after a few of its latencies. Saved as a directory:
// manifest.json, tensors.safetensors. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_SPACE_MODEL_H_
#define COBRA_MODEL_SPACE_SPACE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/space/architectures/space.h"
#include "model/space/devices/adapt.h"
#include "model/space/devices/adapt_width.h"
#include "model/space/devices/known_devices.h"
#include "model/space/models/single_device_model.h"

namespace cobra::space {

class SpaceModel {
 public:
  // `rows`: CSV, plain or gzip, `row,arch` and one column per device (or latency_ms), milliseconds.
  // `specs`: data sheets of those devices; may be empty.
  static absl::StatusOr<SpaceModel> Fit(const Space& space, const std::string& rows,
                                        const std::vector<DeviceSpec>& specs);
  // DataLoss if a file is damaged.
  static absl::StatusOr<SpaceModel> Load(const std::string& directory);
  absl::Status Save(const std::string& directory) const;

  // Predictions of each line of `rows` (columns row and arch; others are ignored), in order.
  // `device` may be empty if the model has only one; NotFound lists them.
  absl::StatusOr<std::vector<AdaptedLatency>> Predict(const ArchRows& rows, const std::string& file,
                                                      absl::string_view device) const;
  // The same for a new device. `samples`: column latency_ms.
  absl::StatusOr<std::vector<AdaptedLatency>> Adapt(const ArchRows& samples, const std::string& samples_file,
                                                    const DeviceSpec& target, const ArchRows& rows,
                                                    const std::string& file) const;

  // Selects `count` of `rows` to measure on a new device, the most informative first:
  // Adapter::Choose.
  absl::StatusOr<std::vector<int64_t>> Choose(const ArchRows& rows, const std::string& file, int count) const;

  const Space& space() const { return *space_; }
  const KnownDevices& known() const { return known_; }

 private:
  absl::Status FitSingleDevice(const ArchRows& rows);
  absl::Status CheckSeveralDevices() const;  // a new device needs several to compare with

  const Space* space_ = nullptr;
  KnownDevices known_;
  AdaptWidths widths_;
  // Set if the table has only one device and this model predicts held-out rows better than the line
  std::shared_ptr<const SingleDeviceModel> single_device_;
  double single_device_abs_log_error_ = 0;  // like KnownDevices::Device::off_by
};

// Columns row and arch; others are ignored. Errors name the file.
absl::StatusOr<ArchRows> LoadArchitectures(const std::string& path);
// The same, with latency_ms.
absl::StatusOr<ArchRows> LoadSamples(const std::string& path);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_SPACE_MODEL_H_
