// What a table of several devices says about architectures: for each device a line through the architecture's numbers,
// which holds for architectures that nobody has measured too, and without the noise of those that somebody has. Shows
// LibTorch.
#ifndef COBRA_MODEL_SPACE_KNOWN_DEVICES_H_
#define COBRA_MODEL_SPACE_KNOWN_DEVICES_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/arch_rows.h"
#include "model/space/device_spec.h"
#include "model/space/space.h"

namespace cobra::space {

// Features of architectures, float64, a row each.
struct SpaceMatrix {
  at::Tensor costs, choices, pairs, rooflines;  // [rows, numbers of each]

  int64_t size() const { return costs.size(0); }
  SpaceMatrix Select(const at::Tensor& index) const;
};
// InvalidArgument begins with `file`, the row's number in it, and the string that is no architecture of the space.
absl::StatusOr<SpaceMatrix> MakeSpaceMatrix(const Space& space, const ArchRows& rows, const std::string& file);

// Latency is line . features, in units of the device's mean; ridge regression of relative errors. Between rows of one
// table the features are centred; costs are divided by their mean.
class KnownDevices {
 public:
  struct Device {
    DeviceSpec spec;
    double mean_ms = 0;  // of what the line says of the rows it was fitted to
    double least = 0;    // half of the least measured latency, over mean_ms: no prediction falls below
    double off_by = 0;   // 90 % of held-out rows are off by at most this, |log(predicted / measured)| (conformal)
  };

  KnownDevices() = default;
  // The devices `columns` of `rows`, on the rows `fit_rows`; rows that a device has no value for are passed over.
  // InvalidArgument where one has fewer than 30.
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
  // The same of some of the rows that it was fitted to.
  const at::Tensor& reference() const { return tensors_.reference; }

  // What is saved and loaded.
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

#endif  // COBRA_MODEL_SPACE_KNOWN_DEVICES_H_
