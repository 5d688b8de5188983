#include "model/predict/layer_embedder.h"

#include <algorithm>
#include <utility>

#include "base/bytes/heap_bytes.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "graph/distinct_calls.h"
#include "model/predict/price/unknown_reason.h"
#include "model/text/canonical_text.h"

namespace cobra::predict {
namespace {

absl::Status Cancelled() { return absl::CancelledError("predict: the request was cancelled"); }

absl::Status TooManyLayers(int64_t most) {
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the network's different layers", most, "words"),
                   "ask about a part of it");
}

}  // namespace

absl::Status CheckWanted(const std::function<bool()>& cancelled) {
  return cancelled && cancelled() ? Cancelled() : absl::OkStatus();
}

LayerEmbedder::LayerEmbedder(const Manifest& manifest, const text::Vocabulary& vocabulary,
                             const infer::Encoder& encoder, int64_t cache_bytes, int64_t max_layer_words)
    : manifest_(manifest),
      vocabulary_(vocabulary),
      encoder_(encoder),
      max_layer_words_(max_layer_words),
      cache_(cache_bytes),
      new_layers_([this](absl::Span<const NewLayer* const> layers) { return Encode(layers); },
                  [](const NewLayer& layer) { return layer.tokens.size(); }) {}

// Together, which changes no bit of any (model/infer/encoder.h).
LayerEmbedder::NewLayers::Values LayerEmbedder::Encode(absl::Span<const NewLayer* const> layers) {
  std::vector<const std::vector<text::Token>*> texts;
  for (const NewLayer* layer : layers) texts.push_back(&layer->tokens);
  const std::vector<float> embeddings = encoder_.Encode(texts);
  const int64_t width = encoder_.width();
  const float* row = embeddings.data();
  NewLayers::Values entries;
  for (const NewLayer* layer : layers) {
    LayerEntry entry{std::vector<float>(row, row + width),
                     WhyUnknown(layer->text, layer->tokens, manifest_.value_ranges)};
    const int64_t held_bytes = HeapBytes(entry.embedding) + HeapBytes(entry.unknown);
    entries.push_back(cache_.Insert(layer->key, std::move(entry), held_bytes));
    row += width;
  }
  return entries;
}

// By what a layer's text says, which takes longer to write (graph/distinct_calls.h).
absl::StatusOr<Layers> LayerEmbedder::LayersOf(const graph::Graph& graph,
                                               const std::function<bool()>& cancelled) const {
  constexpr size_t kLayersAtOnce = 256, kBytesOfWord = 10;
  const std::shared_ptr<const graph::DistinctCalls> calls = graph::DistinctCallsOf(graph);
  Layers layers;
  layers.of_call = calls->of_call;
  layers.first_call = calls->first;
  layers.keys.reserve(calls->size());
  int64_t words = 0;
  for (const graph::CallKey& key : calls->keys) {
    if (layers.keys.size() % kLayersAtOnce == 0) COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
    words += static_cast<int64_t>(std::min<size_t>(text::kMaxTokens, key.bytes / kBytesOfWord));
    if (words > max_layer_words_) return TooManyLayers(max_layer_words_);
    layers.keys.push_back(key.hash);
  }
  layers.entries.resize(layers.keys.size());
  return layers;
}

absl::StatusOr<Layers> LayerEmbedder::Embed(const graph::Graph& graph, const std::function<bool()>& cancelled) {
  COBRA_ASSIGN_OR_RETURN(Layers layers, LayersOf(graph, cancelled));
  const std::vector<Hash128>& keys = layers.keys;
  cache_.FindMany(keys, absl::MakeSpan(layers.entries));
  std::vector<size_t> missing;  // in layers
  std::vector<Hash128> missing_keys;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (layers.entries[i] != nullptr) continue;
    missing.push_back(i);
    missing_keys.push_back(keys[i]);
  }
  if (missing.empty()) return layers;
  const auto tokenize_layer = [&](size_t number) {
    std::string text = text::CanonicalText(graph, layers.first_call[missing[number]]);
    std::vector<text::Token> tokens = vocabulary_.Encode(text::SplitText(text));
    return NewLayer{missing_keys[number], std::move(text), std::move(tokens)};
  };
  NewLayers::Values entries(missing.size());
  if (!new_layers_.Get(missing_keys, tokenize_layer, cancelled, absl::MakeSpan(entries))) return Cancelled();
  for (size_t i = 0; i < missing.size(); ++i) layers.entries[missing[i]] = std::move(entries[i]);
  return layers;
}

}  // namespace cobra::predict
