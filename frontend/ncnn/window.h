// Windows of convolutions and poolings over one to three dimensions. All lists have the outermost
// dimension first: depth, height, width.
#ifndef COBRA_FRONTEND_NCNN_WINDOW_H_
#define COBRA_FRONTEND_NCNN_WINDOW_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "frontend/ncnn/importer.h"

namespace cobra::ncnn {

struct Window {
  std::vector<int64_t> kernel, stride, dilation;
  std::vector<int64_t> before, after;  // padding

  size_t size() const { return kernel.size(); }
  // From the first to the last element that the window covers, both included.
  int64_t Reach(size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
  // As PyTorch's calls do: by the same amount at both ends.
  bool PadsEqually() const { return before == after; }
  bool HasPadding() const;
  // The argument of Importer::Pad.
  std::vector<int64_t> PadAmounts() const;
};

// Keys of a layer's parameters by dimension: width, height, depth.
struct WindowKeys {
  int kernel[3], stride[3], dilation[3], before[3], after[3];
};
// Of convolutions and deconvolutions; of poolings, which have no dilation.
inline constexpr WindowKeys kConvolutionKeys = {{1, 11, 21}, {3, 13, 23}, {2, 12, 22}, {4, 14, 24}, {15, 16, 17}};
inline constexpr WindowKeys kPoolingKeys = {{1, 11, 21}, {2, 12, 22}, {-1, -1, -1}, {3, 13, 23}, {14, 15, 16}};

// The layer's window over `n` dimensions. Padding is as the file has it: -233 or -234 may stand for
// a rule.
absl::StatusOr<Window> ReadWindow(const Importer& im, const Layer& layer, int n, const WindowKeys& keys);

// Padding so that there are ceil(in / stride) windows; an odd element is at the end, or with
// `lower` at the beginning.
absl::Status PadLikeSame(const Importer& im, const Layer& layer, const graph::Shape& in, bool lower, Window* window);

// Replaces -233 (SAME, the odd element at the end) and -234 (at the beginning) by amounts for `in`,
// sizes of the window's dimensions. An error for other negative padding.
absl::Status ResolvePadding(const Importer& im, const Layer& layer, const graph::Shape& in, Window* window);

// The last `n` dimensions.
inline graph::Shape LastDims(const graph::Shape& shape, size_t n) {
  return graph::Shape(shape.end() - static_cast<std::ptrdiff_t>(n), shape.end());
}

}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_WINDOW_H_
