// What is known about a device before anything has been timed on it: how near its data sheet is to
// those of the trained targets, which differences in latency the data sheets imply, and how trained
// targets differ from each other beyond their data sheets.
#ifndef COBRA_MODEL_PREDICT_ADAPT_ADAPT_PRIOR_H_
#define COBRA_MODEL_PREDICT_ADAPT_ADAPT_PRIOR_H_

#include <array>
#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/adapt/adapt_terms.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// How much faster an operator group gets with arithmetic and with bandwidth: exponents.
struct SheetLaw {
  std::array<double, kNumOperatorGroups> of_compute, of_memory;
};
// What is plausible without any data.
SheetLaw PlausibleLaw();
// The coefficients by which a target with sheet `from` becomes one with sheet `to`.
AdaptVector SheetShift(const TargetSpec& from, const TargetSpec& to, const SheetLaw& law);

// A trained target as the reference networks show it.
struct KnownTarget {
  const TargetSpec* spec = nullptr;
  const std::vector<NetworkView>* networks = nullptr;  // all in one order
};

struct TargetDifferences {
  SheetLaw law = PlausibleLaw();
  AdaptMatrix covariance{};    // of the coefficients between neighbours, beyond the law and a common factor
  double scale_variance = 0;   // of the common factor's logarithm
  double launch_variance = 0;  // of what launching takes on other hosts; 0: no GPUs
};
// Learned from all pairs of different devices of one kind and runtime; with few of them, near what
// is plausible.
TargetDifferences DifferencesOf(absl::Span<const KnownTarget> targets);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_ADAPT_PRIOR_H_
