// A model of one search space, from a table of anybody's: known devices, of which it predicts any architecture, and to
// which a new device can be added by a few of its latencies. Saved as a directory: manifest.json, tensors.safetensors.
// Shows LibTorch.
#ifndef COBRA_MODEL_SPACE_SPACE_MODEL_H_
#define COBRA_MODEL_SPACE_SPACE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/space/adapt.h"
#include "model/space/adapt_width.h"
#include "model/space/known_devices.h"
#include "model/space/one_device.h"
#include "model/space/space.h"

namespace cobra::space {

class SpaceModel {
 public:
  // `rows`: CSV, plain or gzip, `row,arch` and a column a device (or latency_ms), milliseconds. `specs`: what is known
  // of those columns; may be empty.
  static absl::StatusOr<SpaceModel> Fit(const Space& space, const std::string& rows,
                                        const std::vector<DeviceSpec>& specs);
  // DataLoss where a file is damaged.
  static absl::StatusOr<SpaceModel> Load(const std::string& directory);
  absl::Status Save(const std::string& directory) const;

  // Of each line of `rows` (columns row and arch; others are passed over), in their order. `device` may be empty where
  // the model has only one; NotFound lists them.
  absl::StatusOr<std::vector<AdaptedLatency>> Predict(const ArchRows& rows, const std::string& file,
                                                      absl::string_view device) const;
  // The same for a device the model does not know. `samples`: column latency_ms.
  absl::StatusOr<std::vector<AdaptedLatency>> Adapt(const ArchRows& samples, const std::string& samples_file,
                                                    const DeviceSpec& target, const ArchRows& rows,
                                                    const std::string& file) const;

  // Which `count` of `rows` to measure on a device that the model does not know, the most telling first:
  // Adapter::Choose.
  absl::StatusOr<std::vector<int64_t>> Choose(const ArchRows& rows, const std::string& file, int count) const;

  const Space& space() const { return *space_; }
  const KnownDevices& known() const { return known_; }

 private:
  absl::Status FitOneDevice(const ArchRows& rows);
  absl::Status CheckSeveralDevices() const;  // what a new device is compared with

  const Space* space_ = nullptr;
  KnownDevices known_;
  AdaptWidths widths_;
  std::shared_ptr<const OneDevice>
      one_device_;                // where the table has only one and this held out rows better than the line
  double one_device_off_by_ = 0;  // like KnownDevices::Device::off_by
};

// Columns row and arch; others are passed over. Errors name the file.
absl::StatusOr<ArchRows> LoadArchitectures(const std::string& path);
// The same with latency_ms.
absl::StatusOr<ArchRows> LoadSamples(const std::string& path);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_SPACE_MODEL_H_
