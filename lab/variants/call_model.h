// The latency of a call inside its network, for the calls of a space: the mean over the networks
// that contain the same call, combined with a kernel regression on its features, which is used if
// few networks contain it (per-kernel prediction, like nn-Meter's, but fitted to profiles of
// networks).
#ifndef COBRA_LAB_VARIANTS_CALL_MODEL_H_
#define COBRA_LAB_VARIANTS_CALL_MODEL_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lab/variants/network_set.h"

namespace cobra::lab {

class CallModel {
 public:
  // Fits the model to the profiles of `train`, which are indices into set.networks. InvalidArgument
  // if none was profiled. `set` must outlive the model.
  static absl::StatusOr<CallModel> Fit(const NetworkSet& set, absl::Span<const size_t> train);

  // Log-microseconds of each node of a network. For a training network its own profile is left out,
  // because a model that is trained on these values would otherwise trust them too much.
  std::vector<double> LogUs(size_t network) const;
  // Their sum, microseconds.
  double SumUs(size_t network) const;

 private:
  // The profiles of one call: log-times, one per network (the mean over its occurrences there).
  struct Known {
    double sum = 0;
    int networks = 0;
  };
  explicit CallModel(const NetworkSet& set) : set_(&set) {}

  const NetworkSet* set_;
  std::vector<char> learned_;                 // [network]
  std::vector<Known> known_;                  // [call]
  std::vector<double> regressed_, left_out_;  // [call] log-microseconds; left_out_: fitted without the call
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_CALL_MODEL_H_
