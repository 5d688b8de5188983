// The JSON form of a graph: what `cobra-client graph --format json` prints and what the worker's
// records and `graph` inputs carry. The reader runs every shape rule again.
//   {"inputs": [{"name", "shape", "dtype"}],
//    "ops": [{"op", "inputs", "out", "attrs", "kind"?, "inplace"?, "dtype"?, "mod"?, "where"?,
//    "made"?,
//             "slots"?, "consts"?}],
//    "params", "param_shapes", "param_dtypes"?, "param_aliases"?, "buffer_shapes"?,
//    "buffer_dtypes"?,
//    "constants"?: [{"name", "shape", "dtype"}], "output": [source...], "output_consts"?, "macs",
//    "peak_memory_bytes"}
// A source is a record number, [record, output], "in:i", "p:NAME", "b:NAME", or "c"; "consts"
// numbers the constants of a record's "c"s in order. Absent tensors are not listed; if there is a
// gap, "slots" gives the positions in OpInfo::inputs of those that are. "kind" marks calls that
// move no data ("view", "alias"), tensors made from no other ("create"), and calls that involve
// neither an input nor a parameter ("const"). "dtype" is given unless all are float32.
#ifndef COBRA_GRAPH_FORM_JSON_H_
#define COBRA_GRAPH_FORM_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/graph.h"

namespace cobra::graph {

struct GraphJsonOptions {
  bool origins = true;  // "where", "made" and "mod"; off in measurement records
};
std::string GraphToJson(const Graph& graph, const GraphJsonOptions& options = {});
// A Diagnostic of kind kUsage if the text is not a graph, of kind kLimit beyond a limit.
absl::StatusOr<Graph> GraphFromJson(absl::string_view json, const GraphLimits& limits = {});

// One call per line, for people and goldens:
//   %4 = conv2d(input=%3, weight=layer1.0.conv1.weight, stride=(1,1), ...) -> 1x64x56x56:float32
std::string PrintGraph(const Graph& graph);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_FORM_JSON_H_
