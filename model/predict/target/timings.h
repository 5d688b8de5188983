// Networks that were timed on a device, as users report them: checked one by one, and combined into
// one median per network.
#ifndef COBRA_MODEL_PREDICT_TARGET_TIMINGS_H_
#define COBRA_MODEL_PREDICT_TARGET_TIMINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/predict/target/target.h"
#include "store/timed_network.h"

namespace cobra::predict {

// A row that is refused. The message does not name the row.
struct RefusedRow {
  std::string row;
  absl::Status why;
};

// Networks that differ, each once, as records of a probe. Rows that are refused: latencies that are
// no time or that the device cannot have, and networks whose medians are more than twofold apart,
// also from what `earlier` has of them.
struct CheckedTimings {
  std::vector<store::Measurement> records;
  std::vector<RefusedRow> refused;
};
// Without a result worth having once `cancelled` returns true.
CheckedTimings CheckTimings(std::vector<store::TimedNetwork> timed, const TargetSpec& machine,
                            absl::Span<const store::Measurement> earlier, const std::function<bool()>& cancelled = {});

// What a device is adapted to at once; further ones are observed.
inline constexpr size_t kMaxAdaptSamples = 50;

// `probe` with further records: a network that both have gets the median of all, weighted by their
// numbers of timings (Latency::runs). Whoever timed them saw the machine as it is: where the probe
// knows its disturbance, they become what the networks take without it. At most kMaxTimedNetworks
// networks stay, and no more than take kMaxProbeGraphBytes: the latest.
inline constexpr size_t kMaxTimedNetworks = 400;
void AddTimings(std::vector<store::Measurement> records, ProbeResult* probe);

// Whether single layers were measured too, so that it is a probe's calibration
// (Predictor::Calibrate).
bool HasLayers(const ProbeResult& probe);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_TIMINGS_H_
