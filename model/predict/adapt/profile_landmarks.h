// How long a network takes on all targets, from what it takes on a few of them: by ridge regression
// over networks that all of them have measured. To predict a network for each of two hundred
// targets would take a tenth of a second.
#ifndef COBRA_MODEL_PREDICT_ADAPT_PROFILE_LANDMARKS_H_
#define COBRA_MODEL_PREDICT_ADAPT_PROFILE_LANDMARKS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/types/span.h"

namespace cobra::predict {

class ProfileLandmarks {
 public:
  // `reference`: networks by targets, log-latencies. REQUIRES: a network and a target, at least.
  explicit ProfileLandmarks(const std::vector<std::vector<double>>& reference);
  ~ProfileLandmarks();

  // The targets that say most of the others together, the first one most: ten, or all.
  absl::Span<const size_t> best() const;

  // Puts numbers where `network`, in the order of the targets, has NaN. REQUIRES: one of them is a
  // number.
  void Fill(std::vector<double>* network) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PROFILE_LANDMARKS_H_
