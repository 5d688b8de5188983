// Peak memory. A storage is what the allocator hands out: every output of a call that computes has its own, views and
// in-place calls share that of their first input. A storage lives from the call that makes it to the last call that
// reads any tensor on it; the network's inputs, parameters, buffers and constants live throughout. At each call the
// live storages and the call's own workspace add up.
#include <algorithm>

#include "graph/cost.h"
#include "graph/layout.h"

namespace cobra {
namespace {

// Bytes that a call allocates beside its outputs and gives back when it returns.
int64_t WorkspaceBytes(const Graph& graph, const Node& node, const Layout& layout) {
  const auto bytes = [&](int i) { return graph.TypeOf(node.inputs[i]).num_bytes(); };
  switch (node.op) {
    case Op::conv1d:
    case Op::conv2d:
    case Op::conv3d:
    case Op::conv_transpose1d:
    case Op::conv_transpose2d:
    case Op::conv_transpose3d: {
      // oneDNN computes in its blocked layout and reorders the result; pointwise convolutions run in NCHW directly.
      const TensorType& weight = graph.TypeOf(node.inputs[1]);
      int64_t window = 1;
      for (int i = 2; i < weight.rank(); ++i) window *= weight.shape[i];
      const bool depthwise = weight.rank() > 1 && weight.shape[1] == 1 && node.attributes.Int("groups", 1) > 1;
      return window > 1 || depthwise ? node.outputs[0].num_bytes() : 0;
    }
    case Op::max_pool1d:
    case Op::max_pool2d:
    case Op::max_pool3d:
      // The kernel writes the indices whether or not they are asked for.
      return node.outputs.size() > 1 ? 0 : node.outputs[0].num_elements() * DTypeBytes(DType::int64);
    case Op::multi_head_attention_forward: {
      const Shape& query = graph.TypeOf(node.inputs[0]).shape;
      const int64_t batch = query.size() == 3 ? query[1] : 1;
      const int64_t scores = batch * node.attributes.Int("num_heads", 1) * query[0] *
                             graph.TypeOf(node.inputs[1]).shape[0] * DTypeBytes(node.outputs[0].dtype);
      return bytes(0) + bytes(1) + bytes(2) + 2 * scores;
    }
    case Op::scaled_dot_product_attention: {
      const TensorType& query = graph.TypeOf(node.inputs[0]);
      const TensorType& key = graph.TypeOf(node.inputs[1]);
      const int64_t rows = query.num_elements() / std::max<int64_t>(1, query.shape.back());
      return 2 * rows * key.shape[key.rank() - 2] * DTypeBytes(query.dtype);
    }
    case Op::matmul: {
      // bmm wants the batch dimensions as one: an operand whose strides do not allow that is copied.
      int64_t copied = 0;
      for (int i = 0; i < 2; ++i) {
        const ValueRef ref = node.inputs[i];
        const TensorType& type = graph.TypeOf(ref);
        if (!ref.is_node() || type.rank() < 4) continue;
        Shape merged{1, type.shape[type.rank() - 2], type.shape.back()};
        for (int d = 0; d + 2 < type.rank(); ++d) merged[0] *= type.shape[d];
        if (!ViewStrides(type.shape, layout.outputs[ref.index][ref.output], merged)) copied += type.num_bytes();
      }
      return copied;
    }
    default:
      return 0;
  }
}

}  // namespace

int64_t PeakMemoryBytes(const Graph& graph) {
  const Layout layout = ComputeLayout(graph);
  const auto nodes = graph.nodes();
  struct Storage {
    int64_t bytes = 0;
    int32_t last_use = 0;
  };
  std::vector<Storage> storages;
  std::vector<std::vector<int32_t>> storage_of(nodes.size());  // [node][output]; -1: of something that lives throughout
  const auto find = [&](ValueRef ref) { return ref.is_node() ? storage_of[ref.index][ref.output] : -1; };

  for (size_t k = 0; k < nodes.size(); ++k) {
    const Node& node = nodes[k];
    for (const ValueRef& ref : node.inputs) {
      if (const int32_t s = find(ref); s >= 0) storages[s].last_use = static_cast<int32_t>(k);
    }
    const bool shares = !node.inputs.empty() && !node.inputs[0].is_none() &&
                        (node.inplace || IsAlias(graph, node) || (IsView(node) && !layout.copies[k]));
    for (size_t j = 0; j < node.outputs.size(); ++j) {
      if (shares && (j == 0 || IsView(node))) {
        storage_of[k].push_back(find(node.inputs[0]));
        continue;
      }
      storage_of[k].push_back(static_cast<int32_t>(storages.size()));
      storages.push_back({node.outputs[j].num_bytes(), static_cast<int32_t>(k)});
    }
  }
  for (const ValueRef& ref : graph.outputs()) {
    if (const int32_t s = find(ref); s >= 0) storages[s].last_use = static_cast<int32_t>(nodes.size());
  }

  int64_t live = 0;
  for (const auto& tensors : {graph.inputs(), graph.parameters(), graph.buffers(), graph.constants()}) {
    for (const NamedTensor& tensor : tensors) live += tensor.type.num_bytes();
  }
  std::vector<std::vector<int32_t>> dies_after(nodes.size() + 1);
  for (size_t s = 0; s < storages.size(); ++s) dies_after[storages[s].last_use].push_back(static_cast<int32_t>(s));
  int64_t peak = live;
  int32_t next = 0;  // storages are numbered in the order of their making
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const int32_t s : storage_of[k]) {
      if (s < next) continue;
      live += storages[s].bytes;
      next = s + 1;
    }
    peak = std::max(peak, live + WorkspaceBytes(graph, nodes[k], layout));
    for (const int32_t s : dies_after[k]) live -= storages[s].bytes;
  }
  return peak;
}

}  // namespace cobra
