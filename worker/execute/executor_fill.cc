#include "worker/execute/executor_fill.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ATen/ops/empty.h"
#include "ATen/ops/view_as_real.h"

namespace cobra::worker {
namespace {

// Fills quickly: repeats a block of 65,521 random numbers. The length is prime, so that its period
// does not match that of a cache or a kernel.
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

void SpreadGroups(const graph::Graph& graph, std::vector<at::Tensor>* inputs) {
  for (const graph::Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const graph::ValueRef ref = node.inputs[i];
      if (ref.kind != graph::ValueRef::Kind::kInput) continue;
      if (graph::GetOpInfo(node.op).input(i).selects != graph::Selects::kGroup) continue;
      // What is divided: the rows of the first input, or where each group has a matrix of its own
      // there, the columns of the second one; of two matrices the dimension that they share.
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
