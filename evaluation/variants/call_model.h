// What a call takes in the company of its network, of calls that a space is made of: the mean over the networks that
// have the very call, and beside it a kernel regression on its numbers, which is the answer where few have it
// (per-kernel prediction, as nn-Meter's, but fitted to profiles of whole networks).
#ifndef COBRA_EVALUATION_VARIANTS_CALL_MODEL_H_
#define COBRA_EVALUATION_VARIANTS_CALL_MODEL_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "evaluation/variants/network_set.h"

namespace cobra::evaluation {

class CallModel {
 public:
  // Learns the profiles of `train`, which index set.networks. InvalidArgument if none was profiled. `set` must outlive
  // the model.
  static absl::StatusOr<CallModel> Fit(const NetworkSet& set, absl::Span<const size_t> train);

  // Log-microseconds of each node of a network. Of a network that was learned, as if it had not been: a table that
  // knows its own answers would teach whoever reads it to trust it too much.
  std::vector<double> LogUs(size_t network) const;
  // Their sum, microseconds.
  double SumUs(size_t network) const;

 private:
  // The profiles of one call: log-times, one a network (the mean over its places there).
  struct Known {
    double sum = 0;
    int networks = 0;
  };
  explicit CallModel(const NetworkSet& set) : set_(&set) {}

  const NetworkSet* set_;
  std::vector<char> learned_;                 // [network]
  std::vector<Known> known_;                  // [call]
  std::vector<double> regressed_, left_out_;  // [call] log-microseconds; left_out_: as if the call had not been there
};

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_VARIANTS_CALL_MODEL_H_
