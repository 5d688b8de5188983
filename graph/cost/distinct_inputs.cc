#include "graph/cost/distinct_inputs.h"

#include <tuple>

#include "absl/container/flat_hash_set.h"

namespace cobra::graph {

// A set, because an untrusted call may join a hundred thousand.
std::vector<size_t> DistinctInputs(const Node& call) {
  absl::flat_hash_set<std::tuple<ValueRef::Kind, int32_t, int32_t>> seen;
  std::vector<size_t> distinct;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const ValueRef& input = call.inputs[i];
    if (!input.is_none() && seen.emplace(input.kind, input.index, input.output).second) distinct.push_back(i);
  }
  return distinct;
}

}  // namespace cobra::graph
