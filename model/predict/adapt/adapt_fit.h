// The latencies of a few networks on a new device, explained by trained targets.
//
// For each candidate (a trained target, its networks given its own data sheet or the new device's),
// the logarithm of a latency is that of the candidate's prediction, plus coefficients by the shares
// of the calls (adapt_terms.h), plus noise. The coefficients are Gaussian around what the data
// sheets say (adapt_prior.h). Candidate, distance (by how much the covariance is multiplied) and
// noise are unknown: all combinations are weighted by their likelihood, so that three samples
// choose among the candidates and scale them; with more samples the operator groups are corrected,
// too. A sample far from what the others predict for it loses its weight. Each sample's error is
// that of a fit to the others (exactly, without fitting again: Sherman and Morrison).
#ifndef COBRA_MODEL_PREDICT_ADAPT_ADAPT_FIT_H_
#define COBRA_MODEL_PREDICT_ADAPT_ADAPT_FIT_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/adapt/adapt_prior.h"
#include "model/predict/adapt/adapt_terms.h"

namespace cobra::predict {

struct AdaptCandidate {
  double log_prior = 0;
  AdaptVector expected{};             // the mean of its coefficients before any sample
  std::vector<NetworkView> networks;  // of the samples
};

struct AdaptPart {
  size_t candidate = 0;
  double weight = 0;  // all parts: 1
  AdaptVector coefficients{};
};

struct AdaptFit {
  std::vector<AdaptPart> parts;  // the heaviest first
  // log(predicted / measured) of each sample: without any sample, and by all others.
  std::vector<double> error_before, error_after;
};

// Parts of a prediction without samples.
std::vector<AdaptPart> PriorParts(absl::Span<const AdaptCandidate> candidates);
// REQUIRES: at least one candidate, as many networks in each as latencies.
AdaptFit FitCandidates(absl::Span<const AdaptCandidate> candidates, absl::Span<const double> log_us,
                       const TargetDifferences& differences);

// exp of the weighted mean of the parts' log-latencies. `views`: of one network, by candidate.
double LogLatency(absl::Span<const AdaptPart> parts, absl::Span<const NetworkView* const> views);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_ADAPT_FIT_H_
