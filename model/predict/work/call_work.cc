#include "model/predict/work/call_work.h"

#include <algorithm>

#include "graph/op_rules.h"
#include "graph/saturated.h"

namespace cobra::predict {
namespace {

using Algorithm = graph::ConvolutionAlgorithm;
using graph::Convolution;

// glibc's largest mmap threshold, less LibTorch's alignment and malloc's header.
constexpr int64_t kMapped = (int64_t{1} << 25) - 128;
constexpr int64_t kFloatBytes = 4;  // the rules are for float32
constexpr int64_t kInFlight = 8;    // multiply-adds in flight: two units, four cycles each

// Counts the taps that read input and not padding, over all positions of the window.
int64_t TapsInside(const graph::ConvolutionSide& s) {
  int64_t inside = 0;
  for (int64_t j = 0; j < s.window; ++j) {
    // 0 <= o * stride - padding + j * dilation < input
    const int64_t shift = s.padding - j * s.dilation;
    const int64_t first = std::max<int64_t>(0, shift > 0 ? (shift + s.stride - 1) / s.stride : 0);
    const int64_t last = shift + s.input <= 0 ? -1 : (shift + s.input - 1) / s.stride;
    inside += std::max<int64_t>(0, std::min(last, s.output - 1) - first + 1);
  }
  return inside;
}

// Sums that kBlocked computes at the same time, each for one position and 16 channels.
int64_t IndependentAccumulators(const Convolution& c, bool first, int64_t out_channels) {
  const int64_t kw = c.width.window, ow = c.width.output;
  const bool one_block = kw > 3 || first || ow <= graph::kAccumulators || (ow <= 147 && out_channels <= 96) ||
                         (kw == 3 && ow <= 28 && (!c.Strided() || out_channels <= 192 || c.height.output <= 10));
  if (one_block) return std::min(ow, graph::kAccumulators);
  int64_t blocks = 5;
  while (blocks > 1 && (out_channels / 16) % blocks != 0) --blocks;
  return std::min(ow, 31 / (blocks + 1)) * blocks;
}

// Adds the cost of blocks: copies of input, weights and output in the size of their blocks.
void AddBlocks(const Convolution& c, ConvolutionWork* work) {
  const bool depthwise = c.Depthwise(), blocked = work->algorithm == Algorithm::kBlocked;
  const int64_t block = graph::ChannelBlock(c);
  // An input with few channels, an image, is not converted to blocks.
  const bool first = blocked && c.groups == 1 && c.in_channels < graph::kChannelBlock;
  const int64_t in = first || depthwise ? c.in_channels : graph::RoundUpTo(c.in_channels, block);
  const int64_t out = depthwise ? c.out_channels : graph::RoundUpTo(c.out_channels, block);
  const int64_t groups = depthwise ? graph::RoundUpTo(c.groups, block) : c.groups;
  const double inside = static_cast<double>(work->unpadded_macs) / static_cast<double>(c.macs());
  work->executed_macs = static_cast<int64_t>(inside * static_cast<double>(c.places() * groups * in * out * c.taps()));
  if (blocked)
    work->stalled_macs = work->executed_macs * kInFlight / std::min(kInFlight, IndependentAccumulators(c, first, out));
  const int64_t source = first ? 0 : kFloatBytes * c.batch * groups * in * c.height.input * c.width.input,
                result = kFloatBytes * groups * out * c.places();
  const bool source_fills = c.groups * c.in_channels % block == 0,
             result_fills = c.groups * c.out_channels % block == 0;
  work->copied_bytes = (source_fills ? source : 0) + (result_fills ? result : 0);
  work->shuffled_bytes = (source_fills ? 0 : source) + (result_fills ? 0 : result);
  work->weight_copy_bytes = kFloatBytes * groups * in * out * c.taps();
  work->mapped_bytes = MappedBytes(source) + MappedBytes(result) + MappedBytes(work->weight_copy_bytes);
}

// Adds the cost of a matrix product: patches as a matrix unless the input is one, and with oneDNN a
// copy of the result.
void AddProduct(const Convolution& c, ConvolutionWork* work) {
  if (!c.OneTap() || c.Strided() || c.Padded())
    work->column_bytes =
        kFloatBytes * c.batch * c.groups * c.in_channels * TapsInside(c.height) * c.width.window * c.width.output;
  work->products = c.batch * c.groups;
  work->executed_macs = c.macs();
  if (work->algorithm == Algorithm::kProduct) return;
  // The kernel computes 48 positions of 8 channels at a time.
  const int64_t places = graph::RoundUpTo(c.height.output * c.width.output, 48),
                out_channels = graph::RoundUpTo(c.out_channels, 8);
  work->executed_macs = work->products * c.in_channels * c.taps() * places * out_channels;
  work->copied_bytes = kFloatBytes * c.groups * c.out_channels * c.places();
  work->mapped_bytes = MappedBytes(work->copied_bytes);
}

bool IsWinograd(const Convolution& c) {
  constexpr int64_t kFewChannels = 8;
  return c.groups == 1 && std::max(c.in_channels, c.out_channels) > kFewChannels && c.height.window == 3 &&
         c.width.window == 3 && !c.Strided() && !c.Dilated();
}

void AddWinograd(const Convolution& c, ConvolutionWork* work) {
  constexpr int64_t kOutputs = 6, kTile = 8;
  const auto tiles_of = [](const graph::ConvolutionSide& s) { return (s.output + kOutputs - 1) / kOutputs; };
  const int64_t elements = c.batch * tiles_of(c.height) * tiles_of(c.width) * kTile * kTile;
  work->winograd_macs = elements * c.in_channels * c.out_channels;
  work->winograd_bytes = kFloatBytes * elements * (c.in_channels + c.out_channels);
}

// Whether ONNX Runtime's blocks fit: channels in fours, those of groups in whole blocks unless
// there is one in each.
bool FitsBlocks(const Convolution& c) {
  constexpr int64_t kAlignment = 4;
  if (c.groups * c.out_channels % kAlignment != 0) return false;
  if (c.groups == 1) return c.in_channels < graph::kChannelBlock || c.in_channels % kAlignment == 0;
  return c.Depthwise() || (c.in_channels % graph::kChannelBlock == 0 && c.out_channels % graph::kChannelBlock == 0);
}

void AddPlain(const Convolution& c, ConvolutionWork* work) {
  work->plain_macs = c.macs();
  work->plain_products = c.batch * c.groups;
  if (!c.OneTap() || c.Strided() || c.Padded())
    work->plain_column_bytes = kFloatBytes * c.groups * c.in_channels * c.taps() * c.places();
}

// The rules cover batched convolutions of one or two dimensions. Beyond a petamac nobody has
// measured any, and amounts that are padded to blocks would overflow; the taps of a window are
// counted one by one.
bool HasRules(const Convolution& c) {
  constexpr int64_t kMostMacs = int64_t{1} << 50, kMostTaps = int64_t{1} << 16;
  return c.batched && c.spatial_dims <= 2 && c.macs() > 0 && c.macs() <= kMostMacs &&
         std::max(c.height.window, c.width.window) <= kMostTaps;
}

}  // namespace

bool IsConvolution(const graph::Node& call) {
  const graph::Kernel kernel = graph::RulesOf(call.op).kernel;
  return kernel == graph::Kernel::kConvolution || kernel == graph::Kernel::kTransposed;
}

std::optional<ConvolutionWork> ConvolutionWorkOf(const graph::Graph& graph, const graph::Node& node) {
  const std::optional<Convolution> c = graph::ConvolutionOf(graph, node);
  if (!c.has_value() || !HasRules(*c)) return std::nullopt;
  ConvolutionWork work;
  work.algorithm = graph::AlgorithmOf(*c);
  work.unpadded_macs =
      c->batch * c->groups * c->in_channels * c->out_channels * TapsInside(c->height) * TapsInside(c->width);
  if (work.algorithm == Algorithm::kProduct || work.algorithm == Algorithm::kGemm) {
    AddProduct(*c, &work);
  } else {
    AddBlocks(*c, &work);
  }
  if (IsWinograd(*c)) AddWinograd(*c, &work);
  if (!FitsBlocks(*c)) AddPlain(*c, &work);
  return work;
}

std::optional<ProductWork> ProductWorkOf(const graph::Graph& graph, const graph::Node& node) {
  const graph::Kernel kernel = graph::RulesOf(node.op).kernel;
  if (kernel != graph::Kernel::kMatmul && kernel != graph::Kernel::kBatched) return std::nullopt;
  const graph::TensorType &a = graph.TypeOf(node.inputs[0]), &b = graph.TypeOf(node.inputs[1]), &out = node.outputs[0];
  ProductWork work;
  if (a.rank() < 3 || b.rank() < 3 || out.rank() < 3 || out.num_elements() == 0)
    return work;  // folded into one product of two matrices
  const auto matrix = [](const graph::TensorType& t) { return t.shape[t.shape.size() - 2] * t.shape.back(); };
  work.products = out.num_elements() / matrix(out);
  for (const graph::TensorType* t : {&a, &b}) {
    const int64_t all = work.products * matrix(*t) * graph::DTypeBytes(t->dtype);
    if (all == t->num_bytes()) continue;
    work.expanded_bytes += all;
    work.mapped_bytes += MappedBytes(all);
  }
  return work;
}

int64_t MappedBytes(int64_t bytes) { return bytes >= kMapped ? bytes : 0; }

int64_t MappedBytes(const graph::Node& node) {
  int64_t bytes = 0;
  if (node.inplace || graph::IsView(node)) return bytes;
  for (const graph::TensorType& type : node.outputs) bytes += MappedBytes(type.num_bytes());
  return bytes;
}

int64_t MappedByConversions(const graph::Graph& graph, const graph::Node& node) {
  if (graph::RulesOf(node.op).types != graph::OperandTypes::kOne || node.inputs.size() < 2) return 0;
  std::optional<graph::DType> common;
  for (const graph::ValueRef& input : node.inputs) {
    if (input.is_none()) continue;
    const graph::TensorType& type = graph.TypeOf(input);
    if (type.rank() > 0) common = common ? graph::PromoteDTypes(*common, type.dtype) : type.dtype;
  }
  if (!common) return 0;
  int64_t bytes = 0;
  for (const graph::ValueRef& input : node.inputs) {
    if (input.is_none()) continue;
    const graph::TensorType& type = graph.TypeOf(input);
    if (type.dtype != *common)
      bytes = graph::Plus(bytes, MappedBytes(graph::Times(type.num_elements(), graph::DTypeBytes(*common))));
  }
  return bytes;
}

int64_t ViewBytes(const graph::Graph& graph, const graph::Node& node) {
  if (!graph::IsView(node) || graph::IsAlias(graph, node)) return 0;
  int64_t bytes = 0;
  for (const graph::TensorType& type : node.outputs) bytes = graph::Plus(bytes, type.num_bytes());
  return bytes;
}

}  // namespace cobra::predict
