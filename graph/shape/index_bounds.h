// How large the integers in a network's tensors may be: they are nearly always indices, so they
// must be below the size of the indexed dimension.
#ifndef COBRA_GRAPH_SHAPE_INDEX_BOUNDS_H_
#define COBRA_GRAPH_SHAPE_INDEX_BOUNDS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "graph/graph.h"

namespace cobra::graph {

using IntegerBounds = std::map<std::pair<ValueRef::Kind, int32_t>, int64_t>;
// Exclusive upper bounds for the values of integer tensors that calls select with.
IntegerBounds IndexBounds(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_SHAPE_INDEX_BOUNDS_H_
