// How long the host of a GPU takes to launch a network's kernels, for targets whose measurements do
// not show it.
#ifndef COBRA_MODEL_PREDICT_PRICE_LAUNCH_TIME_H_
#define COBRA_MODEL_PREDICT_PRICE_LAUNCH_TIME_H_

#include <vector>

#include "graph/graph.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"

namespace cobra::predict {

// Kernels that PyTorch launches for each call: its own, those that it is composed of, autocast's
// casts, copies for the order in memory, the counter of a normalization in training mode. Of a
// compiled network those that are left. REQUIRES: a GPU under PyTorch.
std::vector<double> LaunchesOf(const graph::Graph& graph, const TargetSpec& spec);

// Python launches a kernel in so many microseconds: the middle of the hosts of
// data/public/kernelbench, which take 14 to 47 for networks of small kernels, whatever their GPU
// is, and 9 to 37 if these are compiled. Other hosts differ from it by up to the factor.
inline constexpr double kHostUs = 31, kHostOfCompiledUs = 24, kHostsDiffer = 2.1;

// A GPU that waits for its host runs a network in what launching takes, not in what its kernels
// take. Targets that were measured with large batches alone hide that; those that were launched
// from C++ say nothing about Python.
class LaunchTime {
 public:
  // Of a network on `target`, given the data sheet `spec`. `knows_host`: something was timed on
  // this very host. Then small batches have a wider interval and wait no longer than large ones:
  // else a larger batch would be faster.
  LaunchTime(const graph::Graph& graph, const TargetSpec& spec, const TargetEntry& target, bool knows_host);
  // What the GPU waits, by call, if these are the logarithms of what its calls take by themselves.
  // Microseconds.
  std::vector<double> WaitingUs(const std::vector<double>& log_us) const;
  // How far from `latency_us`, in the logarithm, the network is on a fast or a slow host. 0:
  // launching is known, or hidden on all of them.
  double HalfWidth(double latency_us) const;

 private:
  double host_us_ = kHostUs;  // for each launch
  double total_us_ = 0;       // 0: launching is known
  bool waits_ = false;
  std::vector<double> launches_;  // by call
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_LAUNCH_TIME_H_
