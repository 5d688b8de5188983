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
#include "base/bytes/cache_stats.h"
#include "graph/graph.h"
#include "model/predict/adapt/adapter.h"
#include "model/predict/price/prediction.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/target_info.h"

namespace cobra::predict {

struct PredictorOptions {
  // About 100,000 layers. An eighth, at most 8 MiB, is for what they take on targets.
  int64_t embedding_cache_bytes = int64_t{64} << 20;
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
  virtual absl::StatusOr<Calibration> Adapt(const TargetSpec& machine, absl::Span<const store::TimedNetwork> samples,
                                            const AdaptOptions& options = {}) const = 0;
  // Which of some networks to time first (Adapter::Suggest).
  virtual absl::StatusOr<std::vector<size_t>> Suggest(const TargetSpec& machine, Adapter::NextNetwork next,
                                                      size_t count, const AdaptOptions& options = {}) const = 0;

  virtual CacheStats embedding_cache_stats() const = 0;
  virtual void ClearEmbeddingCache() const = 0;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PREDICTOR_H_
