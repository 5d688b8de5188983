// The inputs of the graph network for one network, computed once for all targets on which they are
// the same.
#ifndef COBRA_MODEL_PREDICT_NETWORK_INPUTS_H_
#define COBRA_MODEL_PREDICT_NETWORK_INPUTS_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes/hash.h"
#include "graph/cost/cost.h"
#include "graph/graph.h"
#include "model/predict/layer_embedder.h"
#include "model/predict/work/features.h"
#include "model/predict/work/target_work.h"

namespace cobra::predict {

struct RoundClasses;  // neighbourhoods.cc

// What the networks are given of the calls. Calls of one layer share a row, if their work on the
// target is the same.
struct CallRows {
  std::vector<int32_t> of_call;
  std::vector<const float*> embeddings;
  std::vector<Hash128> keys;                            // of the layer, and of its work below
  std::vector<std::array<float, kWorkTerms>> log_work;  // none: that of the layers, which are the rows
  mutable std::shared_ptr<const RoundClasses> rounds;   // of the graph; null until somebody asks for it
};

// What the graph network is given of a network. Refers to the graph and the layers.
struct NetworkInputs {
  NetworkInputs(const graph::Graph& graph, const Layers& layers, const graph::GraphCost& total)
      : graph(graph), layers(layers), edges(GraphEdges(graph)), totals(GraphFeatures(graph, total, edges.size())) {}

  const CallRows& RowsOn(const TargetWorkKind& kind) const;
  std::array<float, kWorkTerms> WorkOf(const CallRows& rows, size_t row) const;
  CallRows RowsOfLayers() const;
  CallRows RowsOfCalls(const TargetWorkKind& kind) const;

  const graph::Graph& graph;
  const Layers& layers;
  std::vector<std::pair<int32_t, int32_t>> edges;
  std::array<float, kGraphFeatures> totals;
  mutable std::map<TargetWorkKind, CallRows> rows_of;  // of one request, in one thread
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_NETWORK_INPUTS_H_
