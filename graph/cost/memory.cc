// Peak memory. A storage is one allocation: every output of a call that computes has its own, and
// views and in-place calls share that of their first input. A storage lives from the call that
// makes it to the last call that reads any tensor on it; the network's inputs, parameters, buffers
// and constants live throughout. At each call the live storages and the call's own workspace add
// up.
#include "graph/cost/memory.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "graph/cost/convolution_algorithm.h"
#include "graph/cost/cost.h"
#include "graph/distinct_calls.h"
#include "graph/op_rules.h"
#include "graph/saturated.h"
#include "graph/shape/layout.h"

namespace cobra::graph {
namespace {

// Bytes of a tensor in a convolution's blocked layout: a weight has two blocked dimensions, an
// activation one.
int64_t BlockedBytes(const TensorType& type, int first, int dimensions) {
  int64_t bytes = DTypeBytes(type.dtype);
  for (int i = 0; i < type.rank(); ++i)
    bytes =
        Times(bytes, i >= first && i < first + dimensions ? RoundUpTo(type.shape[i], kChannelBlock) : type.shape[i]);
  return bytes;
}

// Workspace of a convolution that oneDNN runs. The input and the weight are copied into blocks and
// the output is computed in blocks; after those copies are freed, the output is copied out of its
// blocks. Which algorithm of oneDNN runs is ignored. The blocks are simpler than in
// model/predict/work/call_work.cc, which predicts times. Here an image has 1 or 3 channels (there:
// fewer than 16), and narrow groups have no blocks of 8 or 4. A convolution with one group per
// input channel counts as depthwise, however many outputs it has.
int64_t BlockedConvBytes(const TensorType& input, const TensorType& weight, const TensorType& output,
                         const Convolution& convolution) {
  const int channel_dim = convolution.batched ? 1 : 0;
  const int64_t channels = input.shape[channel_dim], groups = convolution.groups;
  const bool image = channels == 1 || channels == 3;  // read without a copy
  const bool padded = groups == 1 || groups == channels;
  if (!padded) return std::max(Plus(image ? 0 : input.num_bytes(), weight.num_bytes()), output.num_bytes());
  const int64_t blocked_input = image ? 0 : BlockedBytes(input, channel_dim, 1);
  const int64_t blocked_weight = BlockedBytes(weight, 0, groups == 1 && !image ? 2 : 1);
  const int64_t blocked_output = BlockedBytes(output, channel_dim, 1);
  return std::max(Plus(Plus(blocked_input, blocked_weight), blocked_output) - output.num_bytes(), blocked_output);
}

// Workspace of a convolution, transposed or not, that multiplies matrices: one column of a patch
// for each position of the window; none if the window has only one tap.
int64_t ColumnBytes(const TensorType& input, const TensorType& weight, const TensorType& swept) {
  const int spatial_dims = weight.rank() - 2;
  int64_t window = 1;
  for (int i = 0; i < spatial_dims; ++i) window = Times(window, weight.shape[2 + i]);
  if (window == 1) return 0;
  const int channel_dim = input.rank() == weight.rank() ? 1 : 0;
  const int64_t positions = swept.num_elements() / std::max<int64_t>(1, swept.shape[channel_dim]);
  const int64_t columns = Times(weight.num_elements() / std::max<int64_t>(1, weight.shape[0]), positions);
  return Times(columns, DTypeBytes(input.dtype));
}

int64_t ConvWorkspaceBytes(const Graph& graph, const Node& node) {
  const TensorType& input = graph.TypeOf(node.inputs[0]);
  const TensorType& weight = graph.TypeOf(node.inputs[1]);
  const TensorType& output = node.outputs[0];
  const std::optional<Convolution> convolution = ConvolutionOf(graph, node);
  if (!convolution.has_value()) return ColumnBytes(input, weight, input);  // transposed
  // LibTorch computes other dtypes with its own matrix products.
  if (input.dtype == DType::float32 && RunsInOneDnn(*convolution))
    return BlockedConvBytes(input, weight, output, *convolution);
  return ColumnBytes(input, weight, output);
}

int64_t MultiHeadWorkspaceBytes(const Graph& graph, const Node& node) {
  const Shape& query = graph.TypeOf(node.inputs[0]).shape;
  const int64_t batch = query.size() == 3 ? query[1] : 1;
  int64_t scores = DTypeBytes(node.outputs[0].dtype);
  for (const int64_t factor :
       {batch, node.attributes.Int("num_heads", 1), query[0], graph.TypeOf(node.inputs[1]).shape[0]})
    scores = Times(scores, factor);
  int64_t projections = 0;
  for (int i = 0; i < 3; ++i) projections = Plus(projections, graph.TypeOf(node.inputs[i]).num_bytes());
  return Plus(projections, Times(2, scores));
}

// bmm needs the batch dimensions merged into one: an operand whose strides do not allow that is
// copied.
int64_t MatmulWorkspaceBytes(const Graph& graph, const Node& node, const Layout& layout) {
  int64_t copied = 0;
  for (int i = 0; i < 2; ++i) {
    const ValueRef ref = node.inputs[i];
    const TensorType& type = graph.TypeOf(ref);
    if (!ref.is_node() || type.rank() < 4) continue;
    Shape merged{1, type.shape[type.rank() - 2], type.shape.back()};
    for (int d = 0; d + 2 < type.rank(); ++d) merged[0] = Times(merged[0], type.shape[d]);
    if (!ViewStrides(type.shape, layout.Of(graph, ref), merged)) copied = Plus(copied, type.num_bytes());
  }
  return copied;
}

// Bytes that a call allocates besides its outputs and frees when it returns.
int64_t WorkspaceBytes(const Graph& graph, const Node& node, const Layout& layout) {
  switch (RulesOf(node.op).kernel) {
    case Kernel::kPlain:
    case Kernel::kFactor:
    case Kernel::kBatched: return 0;
    case Kernel::kConvolution:
    case Kernel::kTransposed: return ConvWorkspaceBytes(graph, node);
    case Kernel::kMatmul: return MatmulWorkspaceBytes(graph, node, layout);
    case Kernel::kMultiHead: return MultiHeadWorkspaceBytes(graph, node);
    case Kernel::kBatchNorm: {  // one factor and one summand per channel
      const Shape& shape = graph.TypeOf(node.inputs[0]).shape;
      return shape.size() < 2 ? 0 : Times(2 * DTypeBytes(DType::float32), shape[1]);
    }
    case Kernel::kMaxPool:
      // The kernel writes the indices whether or not the call returns them.
      return node.outputs.size() > 1 ? 0 : Times(node.outputs[0].num_elements(), DTypeBytes(DType::int64));
    case Kernel::kAttention: {
      const TensorType& query = graph.TypeOf(node.inputs[0]);
      const TensorType& key = graph.TypeOf(node.inputs[1]);
      const int64_t rows = query.num_elements() / std::max<int64_t>(1, query.shape.back());
      return Times(Times(2 * DTypeBytes(query.dtype), rows), key.shape[key.rank() - 2]);
    }
  }
  return 0;
}

// Of all calls. Only of a product it depends on more than the call.
std::vector<int64_t> WorkspaceBytes(const Graph& graph, const Layout& layout) {
  const std::shared_ptr<const DistinctCalls> calls = DistinctCallsOf(graph);
  std::vector<int64_t> of_distinct, of_call;
  of_distinct.reserve(calls->size());
  of_call.reserve(graph.nodes().size());
  for (const int32_t call : calls->first)
    of_distinct.push_back(WorkspaceBytes(graph, graph.nodes()[static_cast<size_t>(call)], layout));
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    of_call.push_back(RulesOf(node.op).kernel == Kernel::kMatmul ? WorkspaceBytes(graph, node, layout)
                                                                 : of_distinct[static_cast<size_t>(calls->of_call[k])]);
  }
  return of_call;
}

}  // namespace

MemoryUse MemoryUseOf(const Graph& graph) {
  const Layout layout = ComputeLayout(graph);
  const std::vector<int64_t> workspace_bytes = WorkspaceBytes(graph, layout);
  const auto nodes = graph.nodes();
  struct Storage {
    int64_t bytes = 0;
    int32_t last_use = 0;
  };
  std::vector<Storage> storages;
  storages.reserve(nodes.size());
  // [node][output]; -1: a tensor that lives throughout
  std::vector<absl::InlinedVector<int32_t, 2>> storage_of(nodes.size());
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
    for (const NamedTensor& tensor : tensors) live = Plus(live, tensor.type.num_bytes());
  }
  std::vector<absl::InlinedVector<int32_t, 2>> dies_after(nodes.size() + 1);
  for (size_t s = 0; s < storages.size(); ++s) dies_after[storages[s].last_use].push_back(static_cast<int32_t>(s));
  MemoryUse use;
  use.always_bytes = live;
  use.during_call_bytes.reserve(nodes.size());
  int32_t next = 0;  // storages are numbered in the order of creation
  for (size_t k = 0; k < nodes.size(); ++k) {
    for (const int32_t s : storage_of[k]) {
      if (s < next) continue;
      live = Plus(live, storages[s].bytes);
      next = s + 1;
    }
    use.during_call_bytes.push_back(Plus(live, workspace_bytes[k]));
    for (const int32_t s : dies_after[k]) live -= storages[s].bytes;
  }
  return use;
}

int64_t PeakMemoryBytes(const Graph& graph) {
  const MemoryUse use = MemoryUseOf(graph);
  int64_t peak = use.always_bytes;
  for (const int64_t bytes : use.during_call_bytes) peak = std::max(peak, bytes);
  return peak;
}

}  // namespace cobra::graph
