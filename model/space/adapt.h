// A device that nobody has measured, from a handful of its latencies and what other devices show. Shows LibTorch.
//
// The latency, over the mean of the samples, is
//   s z_j + o + sum_d w_d (z_d - mean z) + sum_c a_c cost_c + sum_k b_k choice_k + noise,    z_d: known device d, in
//   units of its mean
// with Gaussian s (around 1), o, w, a, b and noise relative to the latency. In milliseconds and not in their logarithm,
// because times add up: what an accelerator needs is a sum over operations, whatever the other devices do. Which known
// device j is nearest is not known beforehand, nor how far the new one is from it (variance of w), whether it has
// prices of its own (variance of a), nor how noisy it is: all combinations are weighted by their likelihood, so that
// three samples of a GPU find the GPUs among the known devices and ten of an accelerator leave all of them behind. A
// data sheet makes devices of the same kind and batch size likelier in advance. Of GPUs there are candidates between
// two devices as well: launching kernels takes as long as on one at batch 1, computing as on another, and the slower of
// the two is what takes the time. The last candidates are no devices, but rooflines (SpaceFeatures): of an accelerator
// that is like none of the known ones they say more; of a GPU or CPU, if that is known, less.
#ifndef COBRA_MODEL_SPACE_ADAPT_H_
#define COBRA_MODEL_SPACE_ADAPT_H_

#include <torch/types.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "model/space/device_spec.h"
#include "model/space/known_devices.h"

namespace cobra::space {

// Variances are grids; each combination is weighed. Chosen on training and validation devices.
struct AdaptOptions {
  std::vector<double> device_variance = {0.003, 0.03, 0.3};
  std::vector<double> cost_variance = {1e-5, 1e-3, 0.03, 1.0};
  std::vector<double> noise = {0.005, 0.03, 0.15};  // relative, a standard deviation
  double choice_variance = 1e-6, offset_variance = 0.01, scale_variance = 1;
  bool between = true;  // candidates between two GPUs
};

// Architectures as one adapter sees them.
struct AdaptRows {
  at::Tensor devices, costs, choices, candidates;  // [rows, ...]

  int64_t size() const { return devices.size(0); }
  AdaptRows Select(const at::Tensor& index) const;
};

struct AdaptedLatency {
  double latency_ms = 0, low_ms = 0, high_ms = 0;  // 90 %
};

// The half-width of a 90 % interval, in log-latency, out of what the posterior takes it for: with few samples it thinks
// that it knows how noisy a device is and does not, so that it is drawn towards what is usual.
struct AdaptWidth {
  double factor = 1;
  double usual = 1;  // of known devices, the geometric mean of what the posterior takes it for
  double trust = 1;  // in the posterior: 0, the width is the usual one; 1, its own
  double HalfWidth(double of_posterior) const;
};

class AdaptedDevice;

class Adapter {
 public:
  // `target`: what is known of the device beforehand; an unknown kind means nothing is.
  Adapter(const KnownDevices& known, const DeviceSpec& target, const AdaptOptions& options = {});

  AdaptRows Prepare(const SpaceMatrix& architectures) const;
  // `latency_ms` of each of `samples`: at least one, all positive.
  AdaptedDevice Fit(const AdaptRows& samples, const std::vector<double>& latency_ms) const;
  // Which `count` of `rows` to measure: one after the other, that which leaves least variance in all of them, relative
  // to their latency.
  std::vector<int64_t> Choose(const AdaptRows& rows, int count) const;

 private:
  at::Tensor Candidates(
      const at::Tensor& devices,
      const at::Tensor& rooflines) const;  // [rows, candidates] from [rows, devices], [rows, rooflines]

  struct Between {
    int64_t launching, computing;
    double ratio, mean;
  };
  KnownDevices known_;
  AdaptOptions options_;
  std::vector<Between> between_;
  at::Tensor log_prior_;  // [candidates]
};

// What the samples have taught.
class AdaptedDevice {
 public:
  // The mean of the posterior with its interval.
  std::vector<AdaptedLatency> Predict(const AdaptRows& rows, const AdaptWidth& width = {}) const;
  std::vector<double> LatencyMs(const AdaptRows& rows) const;  // the same without intervals, faster

 private:
  friend class Adapter;
  struct Mode {  // a combination and candidate with most of the weight
    double weight, device_variance, cost_variance, noise, scale, scale_variance;
    int64_t candidate;
    at::Tensor factor, residual, candidate_part;  // [n, n] Cholesky; [n]; [n]
  };
  at::Tensor Mean(const AdaptRows& rows) const;  // [rows], ms

  AdaptOptions options_;
  double unit_ms_ = 0, least_ms_ = 0;
  at::Tensor sample_devices_, sample_costs_, sample_choices_;  // of the samples; devices centred
  double offset_ = 0;
  at::Tensor device_weights_, cost_weights_, choice_weights_, candidate_weights_;
  std::vector<Mode> modes_;
};

// Devices of `known` that are not the same hardware as `target`: another family, or no family and another name but for
// what follows the last underscore.
std::vector<size_t> OtherFamilies(const KnownDevices& known, const DeviceSpec& target);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ADAPT_H_
