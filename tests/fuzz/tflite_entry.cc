#include "frontend/tflite/reader.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Tflite(absl::string_view data) {
  const Limits limits = SmallLimits();
  const absl::StatusOr<Graph> graph = ReadTfliteModel(data, {}, limits);
  Check(graph);
  if (!graph.ok()) return;
  TfliteRequest larger;
  for (const NamedTensor& input : graph->inputs()) {
    Shape shape = input.type.shape;
    if (!shape.empty()) shape[0] += 2;
    larger.inputs.push_back(ShapeText(shape));
  }
  Check(ReadTfliteModel(data, larger, limits));
}

}  // namespace cobra::fuzz
