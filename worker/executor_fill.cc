#include "worker/executor_fill.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "ATen/ops/empty.h"
#include "ATen/ops/view_as_real.h"

namespace cobra::worker {
namespace {

// Fills quickly: repeats a block of 65,521 random numbers. The length is prime, so that its period does not match that
// of a cache or a kernel.
template <typename T>
void FillWith(T* data, int64_t count, Random* random, double low, double high) {
  constexpr int64_t kBlock = 65521;
  const int64_t head = std::min(count, kBlock);
  for (int64_t i = 0; i < head; ++i) {
    double value = random->Uniform(low, high);
    if (std::is_floating_point_v<T> && std::abs(value) < 1e-3)
      value = 1e-3;  // no zeros, which skip work, and no values near denormals
    data[i] = static_cast<T>(value);
  }
  for (int64_t i = head; i < count; i += kBlock) std::copy_n(data, std::min(kBlock, count - i), data + i);
}

}  // namespace

void Fill(const at::Tensor& tensor, Random* random, double low, double high) {
  const int64_t n = tensor.numel();
  switch (tensor.scalar_type()) {
    case at::kFloat: return FillWith(tensor.data_ptr<float>(), n, random, low, high);
    case at::kDouble: return FillWith(tensor.data_ptr<double>(), n, random, low, high);
    case at::kLong: return FillWith(tensor.data_ptr<int64_t>(), n, random, low, high);
    case at::kInt: return FillWith(tensor.data_ptr<int32_t>(), n, random, low, high);
    case at::kShort: return FillWith(tensor.data_ptr<int16_t>(), n, random, low, high);
    case at::kChar: return FillWith(tensor.data_ptr<int8_t>(), n, random, low, high);
    case at::kByte: return FillWith(tensor.data_ptr<uint8_t>(), n, random, low, high);
    case at::kBool: {
      bool* data = tensor.data_ptr<bool>();
      for (int64_t i = 0; i < n; ++i) data[i] = random->Chance(0.5);
      return;
    }
    default: {  // half precision and complex numbers
      const at::Tensor floats = at::empty(tensor.is_complex() ? at::view_as_real(tensor).sizes() : tensor.sizes());
      FillWith(floats.data_ptr<float>(), floats.numel(), random, low, high);
      (tensor.is_complex() ? at::view_as_real(tensor) : tensor).copy_(floats);
    }
  }
}

namespace {

// The exclusive upper bound for the integers of input `i`; nullopt if every integer is valid.
std::optional<int64_t> IndexLimit(const graph::Graph& graph, const graph::Node& node, size_t i) {
  const graph::OpInfo& info = graph::GetOpInfo(node.op);
  const auto shape_of = [&](size_t input) -> const graph::Shape& { return graph.TypeOf(node.inputs[input]).shape; };
  const auto size_of_first = [&](int64_t dim) {
    const graph::Shape& shape = shape_of(0);
    const int64_t rank = static_cast<int64_t>(shape.size());
    return rank == 0 ? int64_t{1} : shape[(dim + rank) % rank];
  };
  switch (info.input(i).selects) {
    case graph::Selects::kNothing:
    case graph::Selects::kMask:
    case graph::Selects::kCount: return std::nullopt;
    case graph::Selects::kDim: return size_of_first(node.attributes.Int("dim"));
    case graph::Selects::kEach: return size_of_first(static_cast<int64_t>(i + 1 - info.inputs.size()));
    case graph::Selects::kAny:
      // The dimension that an index selects is not needed: an index below the smallest dimension fits all of them.
      if (shape_of(0).empty()) return std::nullopt;
      return *std::min_element(shape_of(0).begin(), shape_of(0).end());
    case graph::Selects::kElement: return std::max<int64_t>(1, graph.TypeOf(node.inputs[0]).num_elements());
    case graph::Selects::kLast: return size_of_first(-1);
    case graph::Selects::kLastTwo: return size_of_first(-1) * size_of_first(-2);
    case graph::Selects::kLastThree: return size_of_first(-1) * size_of_first(-2) * size_of_first(-3);
    case graph::Selects::kClass: return size_of_first(shape_of(0).size() > 1 ? 1 : 0);
    case graph::Selects::kRow: return shape_of(1).empty() ? 1 : shape_of(1)[0];
    case graph::Selects::kValue: return node.outputs[0].shape.back();
    case graph::Selects::kBag: return 1;    // every bag begins at the first index
    case graph::Selects::kGroup: return 1;  // SpreadGroups()
  }
  return std::nullopt;
}

}  // namespace

IntegerBounds IndexBounds(const graph::Graph& graph) {
  IntegerBounds bounds;
  for (const graph::Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::ValueRef ref = node.inputs[i];
      if (ref.is_none() || graph::IsFloatingPoint(graph.TypeOf(ref).dtype)) continue;
      const std::optional<int64_t> limit = IndexLimit(graph, node, i);
      if (!limit) continue;
      const auto [it, is_new] = bounds.try_emplace({ref.kind, ref.index}, *limit);
      if (!is_new) it->second = std::min(it->second, *limit);
    }
  }
  return bounds;
}

void SpreadGroups(const graph::Graph& graph, std::vector<at::Tensor>* inputs) {
  for (const graph::Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::ValueRef ref = node.inputs[i];
      if (ref.kind != graph::ValueRef::Kind::kInput) continue;
      if (graph::GetOpInfo(node.op).input(i).selects != graph::Selects::kGroup) continue;
      // What is divided: the rows of the first input, or where each group has a matrix of its own there, the columns of
      // the second one; of two matrices the dimension that they share.
      const graph::Shape &first = graph.TypeOf(node.inputs[0]).shape, &second = graph.TypeOf(node.inputs[1]).shape;
      const int64_t all = first.size() == 3 ? second.back() : second.size() == 2 ? first.back() : first[0];
      const at::Tensor& ends = (*inputs)[ref.index];
      const int64_t groups = ends.numel();
      for (int64_t group = 0; group < groups; ++group)
        ends.data_ptr<int32_t>()[group] = static_cast<int32_t>((group + 1) * all / groups);
    }
  }
}

}  // namespace cobra::worker
