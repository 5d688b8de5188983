#include "model/predict/priced_layers.h"

#include <cstddef>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/bytes/heap_bytes.h"
#include "base/bytes/keyed_hash.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

constexpr int64_t kTargetBytes = int64_t{4} << 20;  // some 700 targets

// Of two keys, neither of which anybody can choose (base/bytes/keyed_hash.h).
Hash128 Both(const Hash128& a, const Hash128& b) { return {a.high ^ b.high, a.low ^ b.low}; }

int64_t HeldBytes(const infer::TargetTerms& terms) {
  int64_t bytes = HeapBytes(terms.features) + HeapBytes(terms.price_context) + HeapBytes(terms.price_gains) +
                  HeapBytes(terms.price_changes) + HeapBytes(terms.context) + HeapBytes(terms.norms) +
                  HeapBytes(terms.last_norm.scale) + HeapBytes(terms.last_norm.shift);
  for (const infer::Norm& norm : terms.norms) bytes += HeapBytes(norm.scale) + HeapBytes(norm.shift);
  return bytes;
}

}  // namespace

PricedLayers::PricedLayers(const infer::ContributionNet& net, int64_t cache_bytes)
    : net_(net), targets_(kTargetBytes), layers_(cache_bytes) {}

std::shared_ptr<const PricedLayers::Target> PricedLayers::TargetOf(int target, const TargetSpec& spec) {
  const auto features = TargetSpecFeatures(spec);
  SipHasher hasher = KeyedHasher();
  const int64_t number = target;
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(&number), sizeof(number)));
  hasher.Add(absl::string_view(reinterpret_cast<const char*>(features.data()), sizeof(features)));
  const Hash128 key = std::move(hasher).Finish();
  if (std::shared_ptr<const Target> known = targets_.Find(key); known != nullptr) return known;
  Target made{key, net_.TermsOf(features, target)};
  const int64_t held_bytes = HeldBytes(made.terms);
  return targets_.Insert(key, std::move(made), held_bytes);
}

std::vector<std::shared_ptr<const infer::PricedLayer>> PricedLayers::Of(const NetworkInputs& inputs,
                                                                        const CallRows& rows, const Target& target) {
  std::vector<Hash128> keys;
  keys.reserve(rows.keys.size());
  for (const Hash128& key : rows.keys) keys.push_back(Both(key, target.key));
  std::vector<std::shared_ptr<const infer::PricedLayer>> priced(keys.size());
  layers_.FindMany(keys, absl::MakeSpan(priced));
  std::vector<size_t> missing;
  std::vector<const float*> embeddings;
  std::vector<float> work;
  for (size_t row = 0; row < priced.size(); ++row) {
    if (priced[row] != nullptr) continue;
    missing.push_back(row);
    embeddings.push_back(rows.embeddings[row]);
    const auto of_row = inputs.WorkOf(rows, row);
    work.insert(work.end(), of_row.begin(), of_row.end());
  }
  if (missing.empty()) return priced;
  std::vector<infer::PricedLayer> made = net_.Price(embeddings, work, target.terms);
  for (size_t i = 0; i < missing.size(); ++i) {
    const int64_t held_bytes = HeapBytes(made[i].state);
    priced[missing[i]] = layers_.Insert(keys[missing[i]], std::move(made[i]), held_bytes);
  }
  return priced;
}

void PricedLayers::Clear() {
  layers_.Clear();
  targets_.Clear();
}

}  // namespace cobra::predict
