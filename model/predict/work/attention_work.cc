#include "model/predict/work/attention_work.h"

#include <cstddef>

#include "graph/cost/cost.h"
#include "graph/op_rules.h"
#include "graph/saturated.h"
#include "model/predict/work/composite_work.h"

namespace cobra::predict {
namespace {

using graph::Plus;
using graph::Shape;
using graph::Times;

constexpr size_t kTensors = 3;  // queries, keys, values

bool HaveEqualHeads(const Shape& one, const Shape& other) { return one[0] == other[0] && one[1] == other[1]; }

// Of one tensor for each of the dimensions that the scores have before their last two.
int64_t ExpandedBytes(const graph::TensorType& type, const Shape& query) {
  int64_t bytes = graph::DTypeBytes(type.dtype);
  const size_t rank = type.shape.size();
  for (size_t i = 0; i + 2 < query.size(); ++i) bytes = Times(bytes, query[i]);
  for (size_t i = rank - 2; i < rank; ++i) bytes = Times(bytes, type.shape[i]);
  return bytes;
}

}  // namespace

bool IsPlainAttention(const graph::Graph& graph, const graph::Layout& layout, const graph::Node& call, bool fuses) {
  if (graph::RulesOf(call.op).kernel != graph::Kernel::kAttention) return false;
  const Shape& query = graph.TypeOf(call.inputs[0]).shape;
  if (query.size() < 2) return false;
  for (size_t i = 0; i < kTensors; ++i) {
    const Shape& shape = graph.TypeOf(call.inputs[i]).shape;
    if (shape.size() < 2) return false;
    if (shape.size() != 4 || query.size() != 4) return true;
    if (!HaveEqualHeads(shape, query) && !call.attributes.Bool("enable_gqa", false)) return true;
    if (!fuses && shape.back() > 1 && layout.Of(graph, call.inputs[i]).back() != 1) return true;
  }
  return false;
}

AttentionWork PlainAttentionWork(const graph::Graph& graph, int32_t node, bool in_float32, bool fuses) {
  const graph::Node& call = graph.nodes()[static_cast<size_t>(node)];
  const graph::TensorType &query = graph.TypeOf(call.inputs[0]), &key = graph.TypeOf(call.inputs[1]),
                          &value = graph.TypeOf(call.inputs[2]), &result = call.outputs[0];
  const int64_t wide = in_float32 ? 2 : 1;
  const int64_t scores = Times(graph::DTypeBytes(result.dtype), AttentionScores(query.shape, key.shape));
  const bool has_mask = call.inputs.size() > kTensors && !call.inputs[kTensors].is_none();
  AttentionWork work;
  // Written by a product, read and written by the softmax, read by a product; by call, the mask's
  // sum as well.
  work.moved_bytes = Times((has_mask && !fuses ? 6 : 4) * wide, scores);
  work.kernels = (has_mask && !fuses ? 4 : 3) + (in_float32 ? (fuses ? 2 : 4) : 0);
  const int64_t scaled = Plus(query.num_bytes(), key.num_bytes());
  work.moved_bytes = Plus(work.moved_bytes, Times(fuses ? 1 + wide : 2 * wide, scaled));
  if (in_float32) {
    const int64_t cast = Plus(value.num_bytes(), result.num_bytes());
    work.moved_bytes = Plus(work.moved_bytes, Times(1 + wide, fuses ? cast : Plus(cast, scaled)));
    work.operations = Times(2, graph::CostOf(graph, node).macs);
  }
  for (const graph::TensorType* type : {&key, &value}) {
    const int64_t expanded = ExpandedBytes(*type, query.shape);
    if (expanded == type->num_bytes()) continue;  // else copied for each head
    ++work.kernels;
    work.moved_bytes = Plus(work.moved_bytes, Times(wide, Plus(type->num_bytes(), expanded)));
  }
  return work;
}

}  // namespace cobra::predict
