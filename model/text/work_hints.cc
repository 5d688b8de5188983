#include "model/text/work_hints.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

constexpr int64_t kMapped =
    (int64_t{1} << 25) - 128;  // glibc's largest mmap threshold, less LibTorch's alignment and malloc's header

int64_t Blocks(int64_t channels) { return (channels + 15) / 16 * 16; }

// An attribute that is a list of two or one number for both.
int64_t Side(const Node& node, absl::string_view name, size_t side, int64_t fallback) {
  const auto values = node.attributes.IntSpan(name);
  return values.empty() ? fallback : values[std::min(side, values.size() - 1)];
}

// Taps of a window, over all its places along one side, that read input and not padding.
int64_t TapsInside(int64_t input, int64_t window, int64_t stride, int64_t padding, int64_t dilation, int64_t output) {
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

}  // namespace

std::optional<ConvolutionWork> ConvolutionWorkOf(const Graph& graph, const Node& node) {
  if (node.op != Op::conv2d || node.inputs.size() < 2 || node.inputs[1].is_none() || node.outputs.empty())
    return std::nullopt;
  const TensorType &input = graph.TypeOf(node.inputs[0]), &weight = graph.TypeOf(node.inputs[1]),
                   &output = node.outputs[0];
  if (input.rank() != 4 || weight.rank() != 4 || output.rank() != 4) return std::nullopt;
  const int64_t groups = std::max<int64_t>(1, node.attributes.Int("groups", 1)), in = weight.shape[1],
                made = weight.shape[0] / groups;
  const int64_t rows = weight.shape[2], columns = weight.shape[3], batch = output.shape[0];
  const int64_t stride[] = {std::max<int64_t>(1, Side(node, "stride", 0, 1)),
                            std::max<int64_t>(1, Side(node, "stride", 1, 1))};
  const int64_t dilation[] = {Side(node, "dilation", 0, 1), Side(node, "dilation", 1, 1)};
  const bool plain = rows == 1 && columns == 1 && stride[0] == 1 && stride[1] == 1 && dilation[0] == 1 &&
                     dilation[1] == 1 && batch < 16;
  const bool small = groups == 1 && !(rows > 3 && columns > 3) && batch == 1 && input.num_elements() <= 20480;
  ConvolutionWork work;
  const int64_t places = batch * output.shape[2] * output.shape[3];
  work.padded_macs = groups * in * made * rows * columns * places;
  if (plain || small) {
    work.algorithm = "columns";
  } else if (groups > 1 && in == 1 && made == 1) {
    work.algorithm = "depthwise";
    work.padded_macs = Blocks(groups) * rows * columns * places;
  } else if (groups == 1 || (in % 16 == 0 && made % 16 == 0)) {
    work.algorithm = "blocked";
    work.padded_macs = groups * Blocks(in) * Blocks(made) * rows * columns * places;
  } else {
    work.algorithm = "groups";
  }
  work.column_bytes = in * rows * columns * output.shape[2] * output.shape[3] * DTypeBytes(input.dtype);
  work.inside_macs =
      batch * groups * in * made *
      TapsInside(input.shape[2], rows, stride[0], Side(node, "padding", 0, 0), dilation[0], output.shape[2]) *
      TapsInside(input.shape[3], columns, stride[1], Side(node, "padding", 1, 0), dilation[1], output.shape[3]);
  return work;
}

int64_t FreshBytes(const Node& node) {
  int64_t bytes = 0;
  if (node.inplace || IsView(node)) return bytes;
  for (const TensorType& type : node.outputs) bytes += type.num_bytes() >= kMapped ? type.num_bytes() : 0;
  return bytes;
}

std::string WorkHints(const Graph& graph, int32_t index) {
  const Node& node = graph.nodes()[static_cast<size_t>(index)];
  std::string text = absl::StrCat(",fresh_bytes=", FreshBytes(node));
  if (const auto work = ConvolutionWorkOf(graph, node)) {
    absl::StrAppend(&text, ",algorithm=", work->algorithm, ",padded_macs=", work->padded_macs,
                    ",inside_macs=", work->inside_macs, ",column_bytes=", work->column_bytes);
  }
  return text;
}

}  // namespace cobra
