// A graph to store: one call.
#ifndef COBRA_TESTS_STORE_A_GRAPH_H_
#define COBRA_TESTS_STORE_A_GRAPH_H_

#include <cstdint>
#include <utility>

#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::store {

inline graph::Graph AGraph(int64_t width = 8) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", graph::TensorType{{1, width}, graph::DType::float32});
  const int32_t relu = *builder.Add(graph::Op::relu, {}, {x});
  return std::move(builder).Build({graph::ValueRef::Node(relu, 0)});
}

}  // namespace cobra::store

#endif  // COBRA_TESTS_STORE_A_GRAPH_H_
