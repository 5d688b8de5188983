#include "model/predict/call_work.h"

#include <algorithm>

#include "absl/strings/string_view.h"

namespace cobra::predict {
namespace {

// glibc's largest mmap threshold, less LibTorch's alignment and malloc's header.
constexpr int64_t kMapped = (int64_t{1} << 25) - 128;
constexpr int64_t kFloatBytes = 4;     // the rules are of float32
constexpr int64_t kAccumulators = 28;  // vector registers that a kernel of oneDNN sums in
constexpr int64_t kInFlight = 8;       // two units, four cycles each

int64_t FillUp(int64_t n, int64_t block) { return (n + block - 1) / block * block; }

struct Side {
  int64_t input, window, stride, padding, dilation, output;

  int64_t Reach() const { return dilation * (window - 1) + 1; }
  int64_t PaddingBehind() const { return (output - 1) * stride + Reach() - input - padding; }
  bool WindowOutside() const { return Reach() <= padding || Reach() <= PaddingBehind(); }
  // Taps of the window, over all its places, that read input and not padding.
  int64_t TapsInside() const {
    int64_t inside = 0;
    for (int64_t j = 0; j < window; ++j) {
      // 0 <= o * stride - padding + j * dilation < input
      const int64_t shift = padding - j * dilation;
      const int64_t first = std::max<int64_t>(0, shift > 0 ? (shift + stride - 1) / stride : 0);
      const int64_t last = shift + input <= 0 ? -1 : (shift + input - 1) / stride;
      inside += std::max<int64_t>(0, std::min(last, output - 1) - first + 1);
    }
    return inside;
  }
};

struct Convolution {
  int64_t batch, groups, input_elements;
  int64_t in, made;  // channels of a group
  Side h, w;

  int64_t places() const { return batch * h.output * w.output; }
  int64_t taps() const { return h.window * w.window; }
  int64_t macs() const { return places() * groups * in * made * taps(); }
  bool OneTap() const { return taps() == 1; }
  bool Strided() const { return h.stride != 1 || w.stride != 1; }
  bool Padded() const { return h.padding != 0 || w.padding != 0; }
  bool Depthwise() const { return groups > 1 && in == 1 && made == 1; }
};

// An attribute that is a list or one number for all; the last one of a list is of the width.
int64_t Number(const graph::Node& node, absl::string_view name, bool width, int64_t fallback) {
  const auto values = node.attributes.IntSpan(name);
  return values.empty() ? fallback : width ? values.back() : values.front();
}

std::optional<Convolution> Read(const graph::Graph& graph, const graph::Node& node) {
  if ((node.op != graph::Op::conv2d && node.op != graph::Op::conv1d) || node.inputs.size() < 2 ||
      node.inputs[1].is_none() || node.outputs.empty())
    return std::nullopt;
  const graph::TensorType &input = graph.TypeOf(node.inputs[0]), &weight = graph.TypeOf(node.inputs[1]),
                          &output = node.outputs[0];
  const int rank = node.op == graph::Op::conv2d ? 4 : 3;
  if (input.rank() != rank || weight.rank() != rank || output.rank() != rank) return std::nullopt;
  Convolution c;
  c.batch = output.shape[0];
  c.groups = std::max<int64_t>(1, node.attributes.Int("groups", 1));
  c.in = weight.shape[1];
  c.made = weight.shape[0] / c.groups;
  c.input_elements = input.num_elements();
  const auto side = [&](size_t axis, bool width) {
    return Side{input.shape[axis],
                weight.shape[axis],
                std::max<int64_t>(1, Number(node, "stride", width, 1)),
                Number(node, "padding", width, 0),
                Number(node, "dilation", width, 1),
                output.shape[axis]};
  };
  c.w = side(static_cast<size_t>(rank - 1), true);
  c.h = rank == 4 ? side(2, false) : Side{1, 1, 1, 0, 1, 1};  // LibTorch makes an image of one row of it
  return c;
}

// Channels of a block; 0 where they fill none. Groups are not filled up.
int64_t BlockOf(const Convolution& c) {
  if (c.groups == 1 || c.Depthwise()) return 16;
  for (int64_t block : {16, 8, 4}) {
    if (c.in % block == 0 && c.made % block == 0) return block;
  }
  return 0;
}

Algorithm AlgorithmOf(const Convolution& c) {
  const bool plain = c.OneTap() && !c.Strided() && c.h.dilation == 1 && c.w.dilation == 1 && c.batch < 16;
  const bool small = c.groups == 1 && !(c.h.window > 3 && c.w.window > 3) && c.batch == 1 && c.input_elements <= 20480;
  if (plain || small) return Algorithm::kProduct;
  if (BlockOf(c) == 0) return Algorithm::kGemm;
  if (c.OneTap() && !c.Depthwise() && !c.Padded() && c.h.output * c.h.stride == c.h.input &&
      c.w.output * c.w.stride == c.w.input)
    return Algorithm::kPointwise;
  // The kernels want every window to reach the input, and the padding within what one round of them sums.
  const int64_t round = std::min(c.w.output, kAccumulators);
  if (c.h.WindowOutside() || c.w.WindowOutside() || c.w.padding > round || c.w.PaddingBehind() > round)
    return Algorithm::kGemm;
  return c.Depthwise() ? Algorithm::kDepthwise : Algorithm::kBlocked;
}

// Sums under way at once, of kBlocked: a place and 16 channels each.
int64_t SumsAtOnce(const Convolution& c, bool first, int64_t made) {
  const int64_t kw = c.w.window, ow = c.w.output;
  const bool one_block = kw > 3 || first || ow <= kAccumulators || (ow <= 147 && made <= 96) ||
                         (kw == 3 && ow <= 28 && (!c.Strided() || made <= 192 || c.h.output <= 10));
  if (one_block) return std::min(ow, kAccumulators);
  int64_t blocks = 5;
  while (blocks > 1 && (made / 16) % blocks != 0) --blocks;
  return std::min(ow, 31 / (blocks + 1)) * blocks;
}

// What blocks cost: copies of input, weights and output, as large as the blocks.
void AddBlocks(const Convolution& c, ConvolutionWork* work) {
  const bool depthwise = c.Depthwise();
  const int64_t block = BlockOf(c);
  // Few channels, of an image, stay as they are.
  const bool first = work->algorithm == Algorithm::kBlocked && c.groups == 1 && c.in < 16;
  const int64_t in = first || depthwise ? c.in : FillUp(c.in, block), made = depthwise ? c.made : FillUp(c.made, block);
  const int64_t groups = depthwise ? FillUp(c.groups, block) : c.groups;
  const double inside = static_cast<double>(work->inside_macs) / static_cast<double>(c.macs());
  work->done_macs = static_cast<int64_t>(inside * static_cast<double>(c.places() * groups * in * made * c.taps()));
  if (work->algorithm == Algorithm::kBlocked)
    work->waiting_macs = work->done_macs * kInFlight / std::min(kInFlight, SumsAtOnce(c, first, made));
  const int64_t source = first ? 0 : kFloatBytes * c.batch * groups * in * c.h.input * c.w.input,
                result = kFloatBytes * groups * made * c.places();
  const bool source_fills = c.groups * c.in % block == 0, result_fills = c.groups * c.made % block == 0;
  work->copied_bytes = (source_fills ? source : 0) + (result_fills ? result : 0);
  work->shuffled_bytes = (source_fills ? 0 : source) + (result_fills ? 0 : result);
  work->weight_copy_bytes = kFloatBytes * groups * in * made * c.taps();
  work->fresh_bytes = FreshBytes(source) + FreshBytes(result) + FreshBytes(work->weight_copy_bytes);
}

// What a product costs: patches as a matrix, unless the input is one; by oneDNN, the result once more.
void AddProduct(const Convolution& c, ConvolutionWork* work) {
  if (!c.OneTap() || c.Strided() || c.Padded())
    work->column_bytes = kFloatBytes * c.batch * c.groups * c.in * c.h.TapsInside() * c.w.window * c.w.output;
  work->products = c.batch * c.groups;
  work->done_macs = c.macs();
  if (work->algorithm == Algorithm::kProduct) return;
  // The kernel makes 48 places of 8 channels at a time.
  work->done_macs = work->products * c.in * c.taps() * FillUp(c.h.output * c.w.output, 48) * FillUp(c.made, 8);
  work->copied_bytes = kFloatBytes * c.groups * c.made * c.places();
  work->fresh_bytes = FreshBytes(work->copied_bytes);
}

}  // namespace

std::optional<ConvolutionWork> ConvolutionWorkOf(const graph::Graph& graph, const graph::Node& node) {
  const std::optional<Convolution> c = Read(graph, node);
  if (!c.has_value() || c->macs() == 0) return std::nullopt;
  ConvolutionWork work;
  work.algorithm = AlgorithmOf(*c);
  work.inside_macs = c->batch * c->groups * c->in * c->made * c->h.TapsInside() * c->w.TapsInside();
  if (work.algorithm == Algorithm::kProduct || work.algorithm == Algorithm::kGemm) {
    AddProduct(*c, &work);
  } else {
    AddBlocks(*c, &work);
  }
  return work;
}

std::optional<ProductWork> ProductWorkOf(const graph::Graph& graph, const graph::Node& node) {
  if ((node.op != graph::Op::matmul && node.op != graph::Op::linalg_matmul && node.op != graph::Op::bmm) ||
      node.inputs.size() < 2 || node.outputs.empty())
    return std::nullopt;
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
    work.fresh_bytes += FreshBytes(all);
  }
  return work;
}

int64_t FreshBytes(int64_t bytes) { return bytes >= kMapped ? bytes : 0; }

int64_t FreshBytes(const graph::Node& node) {
  int64_t bytes = 0;
  if (node.inplace || graph::IsView(node)) return bytes;
  for (const graph::TensorType& type : node.outputs) bytes += FreshBytes(type.num_bytes());
  return bytes;
}

}  // namespace cobra::predict
