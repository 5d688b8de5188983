// Linear models of the devices of a table: for each device the latency is a linear function of the
// architecture's features. It also applies to architectures that were not measured, and removes the
// noise of those that were. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_DEVICES_KNOWN_DEVICES_H_
#define COBRA_MODEL_SPACE_DEVICES_KNOWN_DEVICES_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/arch_rows.h"
#include "model/space/architectures/space.h"
#include "model/space/devices/device_spec.h"

namespace cobra::space {

// Features of architectures, float64, one row each.
struct SpaceMatrix {
  at::Tensor costs, choices, pairs, rooflines;  // [rows, numbers of each]

  int64_t size() const { return costs.size(0); }
  SpaceMatrix Select(const at::Tensor& index) const;
};
// InvalidArgument begins with `file`, the row's number in it, and the invalid string.
absl::StatusOr<SpaceMatrix> MakeSpaceMatrix(const Space& space, const ArchRows& rows, const std::string& file);

// Latency is line . features, in units of the device's mean; ridge regression of relative errors.
// Features are centred over the rows of the table; costs are divided by their mean.
class KnownDevices {
 public:
  struct Device {
    DeviceSpec spec;
    double mean_ms = 0;  // mean prediction of the line for the rows it was fitted to
    double least = 0;    // half of the least measured latency, over mean_ms: lower bound of predictions
    double off_by = 0;   // 90 % of held-out rows have at most this |log(predicted / measured)| (conformal)
  };

  KnownDevices() = default;
  // The devices `columns` of `rows`, on the rows `fit_rows`; rows without a value for a device are
  // skipped. InvalidArgument if a device has fewer than 30.
  static absl::StatusOr<KnownDevices> Fit(const SpaceMatrix& all, const ArchRows& rows,
                                          const std::vector<size_t>& columns, const std::vector<int64_t>& fit_rows,
                                          const std::vector<DeviceSpec>& specs);

  // Some of the devices, in that order.
  KnownDevices Select(const std::vector<size_t>& devices) const;

  const std::vector<Device>& devices() const { return devices_; }
  int64_t size() const { return static_cast<int64_t>(devices_.size()); }
  at::Tensor Costs(const SpaceMatrix& m) const;      // [rows, costs], centred and scaled
  at::Tensor Choices(const SpaceMatrix& m) const;    // [rows, choices], centred
  at::Tensor Rooflines(const SpaceMatrix& m) const;  // [rows, rooflines], over their mean
  at::Tensor Latency(const SpaceMatrix& m) const;    // [rows, devices], in units of each device's mean
  // Latency() of some of the rows that it was fitted to.
  const at::Tensor& reference() const { return tensors_.reference; }

  // The tensors to save and load.
  struct Tensors {
    at::Tensor mean_costs, mean_choices, mean_pairs, mean_rooflines;  // [numbers]
    at::Tensor lines;                                                 // [devices, 1 + costs + choices + pairs]
    at::Tensor reference;                                             // [some rows, devices]
  };
  const Tensors& tensors() const { return tensors_; }
  static KnownDevices From(std::vector<Device> devices, const Tensors& tensors);

 private:
  at::Tensor Features(const SpaceMatrix& m) const;  // [rows, 1 + costs + choices + pairs]

  std::vector<Device> devices_;
  Tensors tensors_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_DEVICES_KNOWN_DEVICES_H_
