// MAPLE-X (Abbasi, Wong, Shafiee, 2022) and its ablations MAPLE-X1 and MAPLE: a regression over
// architectures and devices, given a few latencies of a new device. Includes LibTorch headers.
//
// As published: the devices of the training pool contribute the same architectures each; inputs are
// the one-hot architecture and a description of the device; measured samples of the new device
// weigh more than others; for each of them a neighbourhood of 5 to 10 architectures that take about
// as long on the training devices yields virtual examples LUT(a) - mean of LUT over the
// neighbourhood + measured; training devices are weighted by the similarity of their data sheets
// (cores, clock, power: Euclidean distance, square root). Choices where the text is open, or data
// are missing:
//  - Counters do not exist for these devices. A device is described by its look-up table instead:
//    the time of each operation, by least squares on its own column.
//  - The look-up table of the new device is not measured either: it is the mean of the training
//    devices' tables, weighted by similarity, scaled to the samples.
//  - The regression is not described. Here it is linear in (architecture one-hot, 1) x
//    (description, 1), on the logarithm of latency over the device's mean, with a ridge, solved
//    exactly: equivalent to converged training, a thousand times in minutes.
//  - Missing entries of a data sheet are replaced by the mean over the devices.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_MAPLE_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_MAPLE_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "model/space/devices/device_spec.h"

namespace cobra::lab {

struct MapleOptions {
  bool neighbourhoods = true;  // false: MAPLE
  bool importance = true;      // false: MAPLE-X1
  int neighbours = 8;          // with the measured architecture itself
  double sample_weight = 100;  // of a measured or virtual example, against one row of a training device
  double ridge = 1e-4;         // times the number of rows
};

class Maple {
 public:
  // float64: one-hot architectures [rows, choices], counts of operations [rows, operations],
  // latencies in ms [rows, devices] without gaps; a row each of the pool.
  Maple(at::Tensor choices, const at::Tensor& counts, const at::Tensor& latency_ms,
        const std::vector<space::DeviceSpec>& specs, const space::DeviceSpec& target, const MapleOptions& options);

  // Samples: rows of the pool and their latency on the new device. Milliseconds of each of
  // `asked_choices` [rows, choices].
  std::vector<double> Predict(const std::vector<int64_t>& samples, const std::vector<double>& latency_ms,
                              const at::Tensor& asked_choices) const;

 private:
  at::Tensor Rows(const at::Tensor& choices, const at::Tensor& description) const;

  const MapleOptions options_;
  at::Tensor choices_, counts_, log_latency_;  // of the pool; the last centred by device
  at::Tensor tables_;                          // [devices, operations + 1] over the device's mean
  at::Tensor similarity_;                      // [devices], mean 1
  at::Tensor normal_, right_;                  // of the training devices
  double rows_ = 0;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_MAPLE_H_
