// Networks that were timed on a device, in whichever way a target is made from them.
#ifndef COBRA_MODEL_PREDICT_ADAPT_ADAPT_SAMPLES_H_
#define COBRA_MODEL_PREDICT_ADAPT_ADAPT_SAMPLES_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "store/timed_network.h"

namespace cobra::predict {

// The smallest value that `coverage` of the weight does not exceed, one more sample counted as
// exceeding all. `scores`: value, weight.
double ConformalQuantile(std::vector<std::pair<double, double>> scores, double coverage);

// Mean of |predicted / measured - 1| of errors in log-latency.
double MeanError(const std::vector<double>& log_errors);

// Fewer samples cannot judge each other.
inline constexpr size_t kFewestJudges = 4;
// 1 for a sample, or less if the others contradict it. `errors`: log(predicted by the others /
// measured) of each.
std::vector<double> TrustInSamples(const std::vector<double>& errors);
// Those that the others contradict, with by how much: "row 7: 3.1 times what the others make the
// model expect".
std::vector<std::string> DoubtedSamples(absl::Span<const store::TimedNetwork> samples,
                                        const std::vector<double>& errors);

// A unit that is mistaken: of all samples, or of one among others. `error_before`: log(predicted /
// measured) of each without any sample. InvalidArgument begins with a sample's name.
absl::Status CheckUnits(absl::Span<const store::TimedNetwork> samples, const std::vector<double>& error_before);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_ADAPT_SAMPLES_H_
