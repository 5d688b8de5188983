#include "model/predict/network_inputs.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "base/bytes/keyed_hash.h"

namespace cobra::predict {

const CallRows& NetworkInputs::RowsOn(const TargetWorkKind& kind) const {
  const auto known = rows_of.find(kind);
  if (known != rows_of.end()) return known->second;
  return rows_of.emplace(kind, kind.has_none() ? RowsOfLayers() : RowsOfCalls(kind)).first->second;
}

std::array<float, kWorkTerms> NetworkInputs::WorkOf(const CallRows& rows, size_t row) const {
  return rows.log_work.empty() ? LogWork(graph, layers.first_call[row]) : rows.log_work[row];
}

CallRows NetworkInputs::RowsOfLayers() const {
  CallRows rows;
  rows.of_call = layers.of_call;
  rows.keys = layers.keys;
  rows.embeddings.reserve(layers.entries.size());
  for (const auto& layer : layers.entries) rows.embeddings.push_back(layer->embedding.data());
  return rows;
}

CallRows NetworkInputs::RowsOfCalls(const TargetWorkKind& kind) const {
  CallRows rows;
  absl::flat_hash_map<std::pair<int32_t, std::array<float, kWorkTerms>>, int32_t> known;
  std::vector<std::array<float, kWorkTerms>> of_layer;
  for (const int32_t call : layers.first_call) of_layer.push_back(LogWork(graph, call));
  const std::vector<TargetWork> work_of_call = TargetWorkOf(graph, kind);
  for (size_t call = 0; call < work_of_call.size(); ++call) {
    const int32_t layer = layers.of_call[call];
    auto log_work = of_layer[static_cast<size_t>(layer)];
    SetTargetWork(work_of_call[call], &log_work);
    const auto [row, is_new] = known.try_emplace({layer, log_work}, static_cast<int32_t>(rows.embeddings.size()));
    rows.of_call.push_back(row->second);
    if (!is_new) continue;
    SipHasher hasher = KeyedHasher();
    for (const auto& [bytes, size] :
         {std::pair<const void*, size_t>(&layers.keys[static_cast<size_t>(layer)], sizeof(Hash128)),
          std::pair<const void*, size_t>(log_work.data(), sizeof(log_work))})
      hasher.Add(absl::string_view(static_cast<const char*>(bytes), size));
    rows.keys.push_back(std::move(hasher).Finish());
    rows.embeddings.push_back(layers.entries[static_cast<size_t>(layer)]->embedding.data());
    rows.log_work.push_back(log_work);
  }
  return rows;
}

}  // namespace cobra::predict
