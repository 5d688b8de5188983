#include "worker/executor_fill.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ATen/ops/empty.h"
#include "ATen/ops/view_as_real.h"

namespace cobra::worker {
namespace {

// Fills quickly: a block of 65,521 (prime: no period that a cache or a kernel could meet) random numbers, copied on and
// on.
template <typename T>
void FillWith(T* data, int64_t count, Random* random, double low, double high) {
  constexpr int64_t kBlock = 65521;
  const int64_t head = std::min(count, kBlock);
  for (int64_t i = 0; i < head; ++i) {
    double value = random->Uniform(low, high);
    if (std::is_floating_point_v<T> && std::abs(value) < 1e-3)
      value = 1e-3;  // zeros would hide denormals and skip work
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

IntegerBounds IndexBounds(const graph::Graph& graph) {
  IntegerBounds bounds;
  const auto bound = [&](graph::ValueRef ref, int64_t limit) {
    if (ref.is_none() || graph::IsFloatingPoint(graph.TypeOf(ref).dtype)) return;
    const auto [it, is_new] = bounds.try_emplace({ref.kind, ref.index}, limit);
    if (!is_new) it->second = std::min(it->second, limit);
  };
  for (const graph::Node& node : graph.nodes()) {
    const auto size_of = [&](int input, int64_t dim) {
      const graph::Shape& shape = graph.TypeOf(node.inputs[input]).shape;
      const int64_t rank = static_cast<int64_t>(shape.size());
      return rank == 0 ? int64_t{1} : shape[(dim + rank) % rank];
    };
    switch (node.op) {
      case graph::Op::embedding: bound(node.inputs[0], size_of(1, 0)); break;
      case graph::Op::one_hot: bound(node.inputs[0], node.outputs[0].shape.back()); break;
      case graph::Op::embedding_bag:
        bound(node.inputs[0], size_of(1, 0));
        if (!node.inputs[2].is_none()) bound(node.inputs[2], 1);  // every bag begins at the first index
        break;
      case graph::Op::multi_margin_loss:
      case graph::Op::multilabel_margin_loss: bound(node.inputs[1], size_of(0, -1)); break;
      case graph::Op::max_unpool1d: bound(node.inputs[1], size_of(0, -1)); break;
      case graph::Op::max_unpool3d: bound(node.inputs[1], size_of(0, -1) * size_of(0, -2) * size_of(0, -3)); break;
      case graph::Op::take:
      case graph::Op::put:
        bound(node.inputs[1], std::max<int64_t>(1, graph.TypeOf(node.inputs[0]).num_elements()));
        break;
      case graph::Op::index_put:
        for (size_t i = 2; i < node.inputs.size(); ++i) bound(node.inputs[i], size_of(0, static_cast<int64_t>(i) - 2));
        break;
      case graph::Op::nll_loss:
      case graph::Op::cross_entropy:
        bound(node.inputs[1], size_of(0, graph.TypeOf(node.inputs[0]).rank() > 1 ? 1 : 0));
        break;
      case graph::Op::max_unpool2d: bound(node.inputs[1], size_of(0, -1) * size_of(0, -2)); break;
      case graph::Op::gather:
      case graph::Op::take_along_dim:
      case graph::Op::scatter:
      case graph::Op::scatter_add:
      case graph::Op::index_select:
      case graph::Op::index_add:
      case graph::Op::index_copy:
      case graph::Op::index_reduce:
      case graph::Op::scatter_reduce:
      case graph::Op::index_fill: bound(node.inputs[1], size_of(0, node.attributes.Int("dim"))); break;
      case graph::Op::getitem:
      case graph::Op::setitem:
        for (size_t i = 1; i < node.inputs.size(); ++i) {
          // Which dimension an index selects does not matter: below the smallest it fits all of them.
          const graph::Shape& shape = graph.TypeOf(node.inputs[0]).shape;
          if (!shape.empty()) bound(node.inputs[i], *std::min_element(shape.begin(), shape.end()));
        }
        break;
      default: break;
    }
  }
  return bounds;
}

}  // namespace cobra::worker
