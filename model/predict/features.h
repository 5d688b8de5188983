// What the networks see beside the layer texts: the target's published specification and a network's totals.
#ifndef COBRA_MODEL_PREDICT_FEATURES_H_
#define COBRA_MODEL_PREDICT_FEATURES_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "model/predict/target.h"

namespace cobra::predict {

inline constexpr int kTargetSpecFeatures = 12;
std::array<float, kTargetSpecFeatures> TargetSpecFeatures(const TargetSpec& spec);

// Totals decide what stays in cache between two calls of a layer: its weights do where all weights fit.
inline constexpr int kGraphFeatures = 6;
std::array<float, kGraphFeatures> GraphFeatures(const graph::Graph& graph);

// What a call has to do, as natural logarithms of amounts, kNoWork where there is none of it. The layer head prices
// them (NetConfig::prices).
enum WorkTerm {
  kOneCall,
  kProducts,     // of matrices
  kOperations,   // that are no multiply-accumulates
  kMacsOnInput,  // not on padding
  kProductMacs,  // of a matrix product; the following: of convolutions, by algorithm (model/predict/call_work.h)
  kGemmMacs,
  kBlockedMacs,
  kWaitingMacs,
  kPointwiseMacs,
  kDepthwiseMacs,
  kReadBytes,
  kWeightBytes,
  kWrittenBytes,
  kColumnBytes,  // patches laid out as a matrix
  kCopiedBytes,  // into blocks of channels and back; the following likewise
  kShuffledBytes,
  kWeightCopyBytes,
  kFreshBytes,  // written to memory that malloc maps anew, copies included
  kWorkTerms
};
inline constexpr float kNoWork = -30;
std::array<float, kWorkTerms> LogWork(const graph::Graph& graph, int32_t node);

// Data flow between nodes, one entry per (source, destination) pair.
std::vector<std::pair<int32_t, int32_t>> GraphEdges(const graph::Graph& graph);

// The node of a layer graph that takes the time: the last one that is no view.
int32_t MainNode(const graph::Graph& graph);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_FEATURES_H_
