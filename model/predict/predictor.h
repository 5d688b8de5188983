// A loaded model version: graph in, latency out. Immutable and safe to share between threads. A
// request holds one shared_ptr until it ends, so that a reload does not change its model. LibTorch
// is not visible here.
#ifndef COBRA_MODEL_PREDICT_PREDICTOR_H_
#define COBRA_MODEL_PREDICT_PREDICTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/cache_stats.h"
#include "graph/graph.h"
#include "model/predict/adapter.h"
#include "model/predict/target.h"

namespace cobra::predict {

// Errors of a target on held-out rows, measured when the model was trained.
// Of the held-out networks of one space (torchvision, timm: of families that were left out whole).
struct SpaceErrors {
  std::string space;
  int64_t networks = 0;
  double mape = 0, within_10 = 0;
  double coverage = 0;  // share inside the 90 % interval
};

struct MeasuredErrors {
  double layer_mape = 0;  // fractions, not per cent
  double network_mape = 0;
  double network_within_5 = 0, network_within_10 = 0, network_within_25 = 0;
  double repeatability_floor = 0;  // median |a-b| / mean(a,b) of networks measured twice
  int64_t layers_tested = 0, networks_tested = 0;
  double layer_coverage = 0, network_coverage = 0;  // shares inside the 90 % intervals
  std::vector<SpaceErrors> spaces;
  // What the weights learned from on this target, and what its runtime could not run, or not
  // rightly.
  int64_t layers_trained = 0, networks_trained = 0, not_run = 0;
};

struct TargetInfo {
  TargetSpec spec;
  MeasuredErrors errors;
  bool calibrated = false;  // a Calibration of a machine, based on a trained target
  std::string base_target;  // the trained target that a calibrated one is based on; otherwise empty
};

struct ModelInfo {
  std::string version;  // directory name and digest
  std::string sha256;   // of the manifest
  int64_t num_parameters = 0;
  int64_t vocabulary_size = 0;
  std::string trained_at;  // RFC 3339
  int64_t layers_trained = 0, networks_trained = 0;
};

// A part of a latency that the model does not know, with the reason.
struct UnknownPart {
  std::string why;   // "lstm was never measured"
  double share = 0;  // of the latency, from 0 to 1
};

// The prediction for a whole network.
struct PredictionTotals {
  double latency_us = 0;
  double low_us = 0, high_us = 0;  // interval of `coverage`
  double coverage = 0.9;           // 0: unknown, because the prediction extrapolates
  // The same while nothing else runs on the machine. Only where a calibration knows what else does
  // (disturbance.h), and what is above includes that; otherwise 0.
  double undisturbed_us = 0;
  double undisturbed_low_us = 0, undisturbed_high_us = 0;
  // In [0, 1]: the share of the latency that is like what the model was trained on.
  double known_share = 0;
  // In [0, 1]: the probability that the true latency is within a factor of 1.5 (SetConfidence).
  double confidence = 0;
  bool extrapolating = false;
  // LatencyPrediction::node_unknown summarised by reason, the largest share first, at most
  // kMaxUnknownParts.
  std::vector<UnknownPart> unknown;
  static constexpr size_t kMaxUnknownParts = 5;
};

// The same, with the contribution of each call.
struct LatencyPrediction : PredictionTotals {
  std::vector<double> node_latency_us;  // one a graph node; sums to latency_us
  // One a graph node: the same call alone. A runtime that takes calls for one gives some of them
  // less.
  std::vector<float> node_alone_us;
  // One a graph node: why it is unlike what the model was trained on; empty where it is like it. At
  // most some 200 bytes, whatever the call's arguments are.
  std::vector<std::string> node_unknown;
};

struct PredictorOptions {
  int64_t embedding_cache_bytes = int64_t{64} << 20;  // about 100,000 layers
  // Of the texts of a network's different layers, about. A layer that nobody asked about before
  // takes 4 us for each.
  int64_t max_layer_words = std::numeric_limits<int64_t>::max();
};

class Predictor {
 public:
  // Reads manifest.json and the tensors of a model version; verifies SHA-256 of every file.
  // DataLoss names a damaged file.
  static absl::StatusOr<std::shared_ptr<const Predictor>> Load(absl::string_view directory,
                                                               const PredictorOptions& options = {});
  virtual ~Predictor() = default;

  virtual const ModelInfo& info() const = 0;
  // The trained targets.
  virtual const std::vector<TargetInfo>& targets() const = 0;

  // The answer is a function of the graph without its names, of the target and of this model
  // version alone, bit by bit: what was asked before, and the size of the cache, have no effect.
  //
  // `calibration` may be null; its base_target names the trained target. `cancelled` is called for
  // each layer and between the other steps; if it returns true, Predict returns Cancelled. NotFound
  // for an unknown target (the message lists the targets). A Diagnostic if the target does not
  // support the precision of the network's weights, or if its layers have more than
  // PredictorOptions::max_layer_words.
  virtual absl::StatusOr<LatencyPrediction> Predict(const graph::Graph& graph, absl::string_view target,
                                                    const Calibration* calibration = nullptr,
                                                    const std::function<bool()>& cancelled = {}) const = 0;

  // Fits a calibration to the measurements of `cobra-worker probe --json` on a machine.
  // Cancelled if `cancelled` returns true.
  virtual absl::StatusOr<Calibration> Calibrate(const ProbeResult& probe,
                                                const std::function<bool()>& cancelled = {}) const = 0;
  // The same from networks alone that were timed there, or from its data sheet (adapter.h).
  virtual absl::StatusOr<Calibration> Adapt(const TargetSpec& machine, absl::Span<const AdaptSample> samples,
                                            const AdaptOptions& options = {}) const = 0;
  // Which of some networks to time first (Adapter::Suggest).
  virtual absl::StatusOr<std::vector<size_t>> Suggest(const TargetSpec& machine, Adapter::NextNetwork next,
                                                      size_t count, const AdaptOptions& options = {}) const = 0;

  virtual CacheStats embedding_cache_stats() const = 0;
  virtual void ClearEmbeddingCache() const = 0;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PREDICTOR_H_
