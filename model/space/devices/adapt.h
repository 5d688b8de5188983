// Predicts latencies of a new device from a few of its latencies and the tables of other devices.
// Includes LibTorch headers.
//
// The latency, over the mean of the samples, is
//   s z_j + o + sum_d w_d (z_d - mean z) + sum_c a_c cost_c + sum_k b_k choice_k + noise,
// with z_d of known device d in units of its mean, Gaussian s (around 1), o, w, a, b and noise
// relative to the latency. The model is in milliseconds and not in their logarithm, because times
// add up: the latency of an accelerator is a sum over operations, independent of other devices.
// Four properties of the new device are unknown: the nearest known device j, the distance to it
// (variance of w), whether it has its own prices (variance of a), and its noise. All combinations
// are weighted by their likelihood. So three samples of a GPU select the GPUs among the known
// devices, and with ten samples of an accelerator its own prices dominate. A data sheet increases
// the prior of devices of the same kind and batch size. For GPUs there are also candidates between
// two devices: launching kernels takes as long as on one at batch 1, computing as long as on
// another, and the slower of the two determines the time. The last candidates are rooflines
// (SpaceFeatures) instead of devices, for accelerators that are unlike all known devices. Their
// prior is reduced if the data sheet names a GPU or a CPU.
#ifndef COBRA_MODEL_SPACE_DEVICES_ADAPT_H_
#define COBRA_MODEL_SPACE_DEVICES_ADAPT_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "model/space/devices/device_spec.h"
#include "model/space/devices/known_devices.h"

namespace cobra::space {

// Variances are grids; each combination is weighted. Chosen on training and validation devices.
struct AdaptOptions {
  std::vector<double> device_variance = {0.003, 0.03, 0.3};
  std::vector<double> cost_variance = {1e-5, 1e-3, 0.03, 1.0};
  std::vector<double> noise = {0.005, 0.03, 0.15, 0.4};  // relative, a standard deviation
  double choice_variance = 1e-6, offset_variance = 0.01, scale_variance = 1;
  bool between = true;  // candidates between two GPUs
};

// Features of architectures for one adapter.
struct AdaptRows {
  at::Tensor devices, costs, choices, candidates;  // [rows, ...]

  int64_t size() const { return devices.size(0); }
  AdaptRows Select(const at::Tensor& index) const;
};

struct AdaptedLatency {
  double latency_ms = 0, low_ms = 0, high_ms = 0;  // 90 %
};

// Corrects the posterior's half-width of a 90 % interval, in log-latency. With few samples the
// posterior underestimates its uncertainty about the noise, so the half-width is shrunk towards the
// usual one. A device that is unlike all known ones surprises by its own samples, each predicted
// from the others: the interval is widened by a power of that, and is at least a part of what the
// samples alone have.
struct AdaptWidth {
  double factor = 1;
  double usual = 1;  // the geometric mean of the posterior's half-widths for known devices
  double trust = 1;  // in the posterior's half-width: 0, use the usual one; 1, use the posterior's
  double power = 0;  // of the surprise
  double own = 0;    // the part of AdaptedDevice::own_half_width() that the interval has at least, before the factor
  double HalfWidth(double of_posterior, double surprise, double own_half_width) const;
};

class AdaptedDevice;

class Adapter {
 public:
  // `target`: the data sheet of the device; an unknown kind means that there is none.
  Adapter(const KnownDevices& known, const DeviceSpec& target, const AdaptOptions& options = {});

  AdaptRows Prepare(const SpaceMatrix& architectures) const;
  // `latency_ms` of each of `samples`: at least one, all positive.
  AdaptedDevice Fit(const AdaptRows& samples, const std::vector<double>& latency_ms) const;
  // Without AdaptedDevice::surprise and own_half_width, a dozen times as fast.
  AdaptedDevice FitPosterior(const AdaptRows& samples, const std::vector<double>& latency_ms) const;
  // Selects `count` of `rows` to measure, one after the other, each time the row that minimises the
  // remaining variance of all rows, relative to their latency.
  std::vector<int64_t> Choose(const AdaptRows& rows, int count) const;

 private:
  // [rows, candidates] from [rows, devices], [rows, rooflines]
  at::Tensor Candidates(const at::Tensor& devices, const at::Tensor& rooflines) const;

  struct Between {
    int64_t launching, computing;
    double ratio, mean;
  };
  KnownDevices known_;
  AdaptOptions options_;
  std::vector<Between> between_;
  at::Tensor log_prior_;  // [candidates]
};

// The posterior, given the samples.
class AdaptedDevice {
 public:
  // The mean of the posterior with its interval.
  std::vector<AdaptedLatency> Predict(const AdaptRows& rows, const AdaptWidth& width = {}) const;
  std::vector<double> LatencyMs(const AdaptRows& rows) const;  // the same without intervals, faster
  // How far the samples are from what the others predict, in units of what the posterior expects
  // (1); shrunk towards 1, the more the fewer there are.
  double surprise() const { return surprise_; }
  // Of a 90 % interval as the samples alone have it, each predicted from the others, in
  // log-latency. 0 without three.
  double own_half_width() const { return own_half_width_; }

 private:
  friend class Adapter;
  struct Mode {  // a combination and candidate with a large weight
    double weight, device_variance, cost_variance, noise, scale, scale_variance;
    int64_t candidate;
    at::Tensor factor, residual, candidate_part;  // [n, n] Cholesky; [n]; [n]
  };
  at::Tensor Mean(const AdaptRows& rows) const;  // [rows], ms

  AdaptOptions options_;
  double unit_ms_ = 0, least_ms_ = 0, surprise_ = 1, own_half_width_ = 0;
  at::Tensor sample_devices_, sample_costs_, sample_choices_;  // of the samples; devices centred
  double offset_ = 0;
  at::Tensor device_weights_, cost_weights_, choice_weights_, candidate_weights_;
  std::vector<Mode> modes_;
};

// Devices of `known` with different hardware than `target`: another family; or, without a family,
// another name up to the last underscore.
std::vector<size_t> OtherFamilies(const KnownDevices& known, const DeviceSpec& target);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_DEVICES_ADAPT_H_
