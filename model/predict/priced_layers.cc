#include "model/predict/priced_layers.h"

#include <cstddef>
#include <utility>

#include "base/bytes/heap_bytes.h"
#include "model/predict/found_or_made.h"
#include "model/predict/price_keys.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

constexpr int64_t kTargetBytes = int64_t{4} << 20;  // some 700 targets

int64_t HeldBytes(const infer::TargetTerms& terms) {
  int64_t bytes = HeapBytes(terms.features) + HeapBytes(terms.prices.context) + HeapBytes(terms.prices.gains) +
                  HeapBytes(terms.prices.changes) + HeapBytes(terms.context) + HeapBytes(terms.norms) +
                  HeapBytes(terms.last_norm.scale) + HeapBytes(terms.last_norm.shift);
  for (const infer::Norm& norm : terms.norms) bytes += HeapBytes(norm.scale) + HeapBytes(norm.shift);
  return bytes;
}

}  // namespace

PricedLayers::PricedLayers(infer::ContributionNet net, int64_t cache_bytes)
    : net_(std::move(net)), targets_(kTargetBytes), layers_(cache_bytes) {}

std::shared_ptr<const PricedLayers::Target> PricedLayers::TargetOf(int target, const TargetSpec& spec) {
  const auto features = TargetSpecFeatures(spec);
  const Hash128 key = KeyOfTarget(target, features);
  if (std::shared_ptr<const Target> known = targets_.Find(key); known != nullptr) return known;
  Target made{key, net_.TermsOf(features, target)};
  const int64_t held_bytes = HeldBytes(made.terms);
  return targets_.Insert(key, std::move(made), held_bytes);
}

std::vector<std::shared_ptr<const infer::PricedLayer>> PricedLayers::Of(const NetworkInputs& inputs,
                                                                        const CallRows& rows, const Target& target) {
  std::vector<Hash128> keys;
  keys.reserve(rows.keys.size());
  for (const Hash128& key : rows.keys) keys.push_back(KeyOfBoth(key, target.key));
  const auto price = [&](const std::vector<size_t>& missing) {
    std::vector<const float*> embeddings;
    std::vector<float> work;
    for (const size_t row : missing) {
      embeddings.push_back(rows.embeddings[row]);
      const auto of_row = inputs.WorkOf(rows, row);
      work.insert(work.end(), of_row.begin(), of_row.end());
    }
    return net_.Price(embeddings, work, target.terms);
  };
  return FoundOrMade(&layers_, keys, price, [](const infer::PricedLayer& layer) { return HeapBytes(layer.state); });
}

infer::NetworkContributions PricedLayers::Contribute(const NetworkInputs& inputs, const CallRows& rows, int target,
                                                     const TargetSpec& spec) {
  const std::shared_ptr<const Target> on = TargetOf(target, spec);
  const auto known = Of(inputs, rows, *on);
  std::vector<const infer::PricedLayer*> priced;
  priced.reserve(known.size());
  for (const auto& layer : known) priced.push_back(layer.get());
  return net_.Contribute({rows.of_call, rows.embeddings, priced, inputs.edges, inputs.totals}, on->terms);
}

void PricedLayers::Clear() {
  layers_.Clear();
  targets_.Clear();
}

}  // namespace cobra::predict
