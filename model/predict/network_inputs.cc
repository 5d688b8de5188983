#include "model/predict/network_inputs.h"

#include "absl/container/flat_hash_map.h"

namespace cobra::predict {

const CallRows& NetworkInputs::RowsOn(const TargetWorkKind& kind) const {
  const auto known = rows_of.find(kind);
  if (known != rows_of.end()) return known->second;
  return rows_of.emplace(kind, kind.has_none() ? RowsOfLayers() : RowsOfCalls(kind)).first->second;
}

CallRows NetworkInputs::RowsOfLayers() const {
  CallRows rows;
  rows.of_call = layers.of_call;
  rows.work.reserve(layers.entries.size() * kWorkTerms);
  for (size_t layer = 0; layer < layers.entries.size(); ++layer)
    rows.Add(*layers.entries[layer], layers.kinds[layer].log_work);
  return rows;
}

CallRows NetworkInputs::RowsOfCalls(const TargetWorkKind& kind) const {
  CallRows rows;
  absl::flat_hash_map<std::pair<int32_t, std::array<float, kWorkTerms>>, int32_t> known;
  const std::vector<TargetWork> work_of_call = TargetWorkOf(graph, kind);
  for (size_t call = 0; call < work_of_call.size(); ++call) {
    const int32_t layer = layers.of_call[call];
    auto log_work = layers.kinds[static_cast<size_t>(layer)].log_work;
    SetTargetWork(work_of_call[call], &log_work);
    const auto [row, is_new] = known.try_emplace({layer, log_work}, static_cast<int32_t>(rows.embeddings.size()));
    rows.of_call.push_back(row->second);
    if (is_new) rows.Add(*layers.entries[static_cast<size_t>(layer)], log_work);
  }
  return rows;
}

}  // namespace cobra::predict
