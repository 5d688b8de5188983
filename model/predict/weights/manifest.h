// manifest.json of a model version: all of its data except the tensors. A version is one directory:
// manifest.json and tensors.safetensors.
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_MANIFEST_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_MANIFEST_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/net/config.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/linear_cost.h"
#include "model/predict/weights/spread.h"
#include "model/predict/weights/target_info.h"

namespace cobra::predict {

// Half-widths of the 90 % interval in log-latency: conformal quantiles of |log predicted - log
// measured| / spread on rows that no training used (Vovk et al.;
// model/training/evaluation/interval_fit.h).
struct IntervalWidth {
  double half_width = 0;  // for a spread of 1
  SpreadModel spread;

  double HalfWidthOf(absl::Span<const float> embedding) const { return half_width * SpreadOf(spread, embedding); }
};
struct IntervalWidths {
  IntervalWidth network, layer;
};

struct TargetEntry {
  TargetSpec spec;
  MeasuredErrors errors;
  IntervalWidths interval;
  LinearCosts cost_lines;         // fitted to the measured layers: their largest size, and a bound for larger ones
  double max_network_gflops = 0;  // of the largest network that was measured, in 10^9 operations; 0: not known
  // Of the networks that were measured (BatchOf, known_range.h): the largest, and one that a
  // hundredth is below. 0: not known.
  int64_t max_batch = 0, min_batch = 0;
  bool is_training_alone = false;  // all their normalizations compute the statistics of the batch
  // The probe set as measured on this target when it was trained: graph fingerprint (hex) ->
  // microseconds. Calibration compares another machine with these values, so that the model's own
  // errors cancel.
  std::map<std::string, double> probe_reference_us;
  std::vector<bool> operators;  // by graph::Op: which its training rows have; empty: not known
  // Networks that were measured on many targets, likewise: how a new device differs from this one
  // is seen by them (profile_adapter.h).
  std::map<std::string, double> network_us;
};

struct Manifest {
  int format = 1;
  std::string trained_at;
  net::NetConfig net;
  int num_ops = 0;  // operator set of the build that trained it
  // What it was trained with on GPUs (gpu_work.h); an older version knows the work of
  // processors there.
  bool knows_gpu_work = true;
  std::vector<std::string> vocabulary;
  // Per vocabulary entry: smallest and largest number in training; {1, 0} if it never had a number.
  // Numbers outside extrapolate.
  std::vector<std::pair<double, double>> value_ranges;
  std::vector<TargetEntry> targets;
  int64_t layers_trained = 0, networks_trained = 0;
  std::vector<std::string> training_notes;
  std::string tensors_sha256;
};

// The text names its own SHA-256: that of the text with nothing between the quotes of
// "manifest_sha256". It finds damage, not a forger, who can compute it too.
std::string ManifestToJson(const Manifest& manifest);
// DataLoss if the text is not the one that was written.
absl::Status CheckManifestHash(absl::string_view json);
// Without that check.
absl::StatusOr<Manifest> ManifestFromJson(absl::string_view json);

// The targets from which a machine may be calibrated: those of its runtime, if there are any; else
// those of its kind of device; else all.
std::vector<const TargetEntry*> CalibrationBases(const Manifest& manifest, const TargetSpec& machine);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_MANIFEST_H_
