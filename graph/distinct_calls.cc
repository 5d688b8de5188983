#include "graph/distinct_calls.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "base/bytes/keyed_hash.h"
#include "graph/exact_bytes.h"

namespace cobra::graph {
namespace {

DistinctCalls Compute(const Graph& graph, absl::Span<const CallKey> known_keys) {
  const size_t calls = graph.nodes().size();
  DistinctCalls distinct;
  distinct.of_call.reserve(calls);
  absl::flat_hash_map<Hash128, int32_t> known;
  std::string bytes;
  for (size_t call = 0; call < calls; ++call) {
    const bool has_key = call < known_keys.size() && known_keys[call].bytes > 0;
    const CallKey key = has_key ? known_keys[call] : KeyOfCall(graph, static_cast<int32_t>(call), &bytes);
    const auto [found, is_new] = known.try_emplace(key.hash, static_cast<int32_t>(distinct.first.size()));
    distinct.of_call.push_back(found->second);
    if (!is_new) continue;
    distinct.first.push_back(static_cast<int32_t>(call));
    distinct.keys.push_back(key);
  }
  return distinct;
}

}  // namespace

CallKey KeyOfCall(const Graph& graph, int32_t call, std::string* bytes) {
  bytes->clear();
  AppendExactBytesOfCall(graph, call, bytes);
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  return {KeyedHash(*bytes), static_cast<uint32_t>(std::min(bytes->size(), kMost))};
}

std::shared_ptr<const DistinctCalls> DistinctCallsOf(const Graph& graph) {
  const Graph::Contents& contents = *graph.contents_;
  if (!contents.is_built) return std::make_shared<const DistinctCalls>(Compute(graph, contents.call_keys));
  absl::call_once(contents.once, [&] {
    contents.distinct_calls = std::make_shared<const DistinctCalls>(Compute(graph, contents.call_keys));
  });
  return contents.distinct_calls;
}

}  // namespace cobra::graph
