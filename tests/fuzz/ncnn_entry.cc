#include "frontend/ncnn/reader.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Ncnn(absl::string_view data) {
  const Limits limits = SmallLimits();
  const absl::StatusOr<graph::Graph> graph = ncnn::ReadNcnnModel(data, {}, limits);
  Check(graph, data);
  // Again with sizes that the file may lack, or with a batch.
  ncnn::NcnnRequest larger;
  if (!graph.ok()) {
    larger.inputs = {"2x3x16x16"};
  } else {
    for (const graph::NamedTensor& input : graph->inputs()) {
      graph::Shape shape = input.type.shape;
      shape[0] += 1;
      larger.inputs.push_back(graph::ShapeText(shape));
    }
  }
  Check(ncnn::ReadNcnnModel(data, larger, limits), data);
}

}  // namespace cobra::fuzz
