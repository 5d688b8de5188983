// The layers of a network and the encoder's vector of each. A layer is a call with its shapes,
// however often the network has it. Vectors are kept for other networks; what simultaneous callers
// ask for is computed together (shared_batches.h).
#ifndef COBRA_MODEL_PREDICT_LAYER_EMBEDDER_H_
#define COBRA_MODEL_PREDICT_LAYER_EMBEDDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/bytes/cache_stats.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "graph/graph.h"
#include "model/infer/encoder.h"
#include "model/predict/shared_batches.h"
#include "model/predict/weights/manifest.h"
#include "model/text/tokenizer.h"

namespace cobra::predict {

struct LayerEntry {
  std::vector<float> embedding;  // [width]
  std::string unknown;  // why its text lies outside the training data; empty: every word and number of it is inside
};

// The calls of a network by their layers: what follows only from the layer is computed once.
struct Layers {
  std::vector<int32_t> of_call;                            // index into the others
  std::vector<int32_t> first_call;                         // of each layer
  std::vector<Hash128> keys;                               // likewise
  std::vector<std::shared_ptr<const LayerEntry>> entries;  // likewise
};

// Cancelled if `cancelled` returns true; it may be empty.
absl::Status CheckWanted(const std::function<bool()>& cancelled);

// Any thread.
class LayerEmbedder {
 public:
  // The first three outlive it. `max_layer_words`: PredictorOptions.
  LayerEmbedder(const Manifest& manifest, const text::Vocabulary& vocabulary, const infer::Encoder& encoder,
                int64_t cache_bytes, int64_t max_layer_words);

  // Finds the vector of every layer. Cancelled if `cancelled` returns true, which is asked for each
  // layer; a Diagnostic of kind kLimit if the layers have more than `max_layer_words`.
  absl::StatusOr<Layers> Embed(const graph::Graph& graph, const std::function<bool()>& cancelled);
  CacheStats stats() { return cache_.stats(); }
  void Clear() { cache_.Clear(); }

 private:
  // A layer that nobody has asked about yet.
  struct NewLayer {
    Hash128 key;
    std::string text;
    std::vector<text::Token> tokens;
  };
  using NewLayers = SharedBatches<NewLayer, LayerEntry>;

  NewLayers::Values Encode(absl::Span<const NewLayer* const> layers);
  // The calls by their layers, which have no entries yet.
  absl::StatusOr<Layers> LayersOf(const graph::Graph& graph, const std::function<bool()>& cancelled) const;

  const Manifest& manifest_;
  const text::Vocabulary& vocabulary_;
  const infer::Encoder& encoder_;
  const int64_t max_layer_words_;
  ClockCache<LayerEntry> cache_;
  NewLayers new_layers_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_LAYER_EMBEDDER_H_
