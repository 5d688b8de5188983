#include "frontend/tflite/reader.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Tflite(absl::string_view data) {
  const Limits limits = SmallLimits();
  const absl::StatusOr<graph::Graph> graph = tflite::ReadTfliteModel(data, {}, limits);
  Check(graph, data);
  if (!graph.ok()) return;
  tflite::TfliteRequest larger;
  for (const graph::NamedTensor& input : graph->inputs()) {
    graph::Shape shape = input.type.shape;
    if (!shape.empty()) shape[0] += 2;
    larger.inputs.push_back(graph::ShapeText(shape));
  }
  Check(tflite::ReadTfliteModel(data, larger, limits), data);
}

}  // namespace cobra::fuzz
