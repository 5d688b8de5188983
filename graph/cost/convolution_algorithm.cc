#include "graph/cost/convolution_algorithm.h"

#include <algorithm>

#include "absl/strings/string_view.h"
#include "graph/op_rules.h"

namespace cobra::graph {
namespace {

// An attribute that is one number for each spatial dimension, or one for all.
int64_t Number(const Node& node, absl::string_view name, int dim, int64_t fallback) {
  const auto values = node.attributes.IntSpan(name);
  if (values.empty()) return fallback;
  return values[std::min(static_cast<size_t>(dim), values.size() - 1)];
}

}  // namespace

std::optional<Convolution> ConvolutionOf(const Graph& graph, const Node& node) {
  if (RulesOf(node.op).kernel != Kernel::kConvolution) return std::nullopt;
  const TensorType &input = graph.TypeOf(node.inputs[0]), &weight = graph.TypeOf(node.inputs[1]),
                   &output = node.outputs[0];
  Convolution c;
  c.spatial_dims = weight.rank() - 2;
  c.batched = input.rank() == weight.rank();
  c.batch = c.batched ? input.shape[0] : 1;
  c.groups = std::max<int64_t>(1, node.attributes.Int("groups", 1));
  c.input_elements = input.num_elements();
  c.in_channels = weight.shape[1];
  c.out_channels = weight.shape[0] / c.groups;
  ConvolutionSide* const sides[] = {&c.depth, &c.height, &c.width};
  for (int dim = 0; dim < c.spatial_dims; ++dim) {
    const int axis = input.rank() - c.spatial_dims + dim;
    *sides[3 - c.spatial_dims + dim] = {input.shape[axis],
                                        weight.shape[2 + dim],
                                        std::max<int64_t>(1, Number(node, "stride", dim, 1)),
                                        Number(node, "padding", dim, 0),
                                        Number(node, "dilation", dim, 1),
                                        output.shape[axis]};
  }
  return c;
}

bool RunsInOneDnn(const Convolution& c) {
  const bool plain = c.taps() <= 1 && !c.Strided() && !c.Dilated() && c.batch < 16;
  const bool small =
      c.groups == 1 && std::min(c.height.window, c.width.window) <= 3 && c.batch <= 1 && c.input_elements <= 20480;
  return !plain && !small;
}

int64_t ChannelBlock(const Convolution& c) {
  if (c.groups == 1 || c.Depthwise()) return kChannelBlock;
  for (int64_t block : {kChannelBlock, int64_t{8}, int64_t{4}}) {
    if (c.in_channels % block == 0 && c.out_channels % block == 0) return block;
  }
  return 0;
}

ConvolutionAlgorithm AlgorithmOf(const Convolution& c) {
  if (!RunsInOneDnn(c)) return ConvolutionAlgorithm::kProduct;
  if (ChannelBlock(c) == 0) return ConvolutionAlgorithm::kGemm;
  const ConvolutionSide &h = c.height, &w = c.width;
  if (c.OneTap() && !c.Depthwise() && !c.Padded() && h.output * h.stride == h.input && w.output * w.stride == w.input)
    return ConvolutionAlgorithm::kPointwise;
  // The kernels need every window to reach the input, and padding no wider than the outputs that
  // they sum at once.
  const int64_t round = std::min(w.output, kAccumulators);
  if (h.WindowOutside() || w.WindowOutside() || w.padding > round || w.PaddingAfter() > round)
    return ConvolutionAlgorithm::kGemm;
  return c.Depthwise() ? ConvolutionAlgorithm::kDepthwise : ConvolutionAlgorithm::kBlocked;
}

}  // namespace cobra::graph
