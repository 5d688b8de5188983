// Pooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "frontend/onnx/registry.h"
#include "frontend/onnx/window.h"

namespace cobra::onnx {
namespace {

constexpr graph::Op kMaxPool[] = {graph::Op::max_pool1d, graph::Op::max_pool2d, graph::Op::max_pool3d};
constexpr graph::Op kAvgPool[] = {graph::Op::avg_pool1d, graph::Op::avg_pool2d, graph::Op::avg_pool3d};
constexpr graph::Op kGlobalAvg[] = {graph::Op::adaptive_avg_pool1d, graph::Op::adaptive_avg_pool2d,
                                    graph::Op::adaptive_avg_pool3d};
constexpr graph::Op kGlobalMax[] = {graph::Op::adaptive_max_pool1d, graph::Op::adaptive_max_pool2d,
                                    graph::Op::adaptive_max_pool3d};

absl::StatusOr<int> SpatialDims(const NodeContext& c) {
  const int n = c.Rank(0) - 2;
  if (n < 1 || n > 3)
    return Unsupported("an input of ", c.Rank(0), " dimensions; pools of 1 to 3 spatial dimensions are supported");
  return n;
}

// Whether PyTorch's pooling supports the padding: it is equal on both sides and at most half the window.
bool PyTorchPads(const Window& w) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    if (w.begin[i] != w.end[i] || w.begin[i] < 0 || 2 * w.begin[i] > w.kernel[i]) return false;
  }
  return true;
}

// PyTorch's indices count within a plane, ONNX's through the whole tensor. With storage_order=1 they count
// down the columns.
absl::StatusOr<TensorPtr> WholeIndices(NodeContext& c, TensorPtr index, int n, bool column_major) {
  const graph::Shape& in = c.ShapeOf(0);
  const int64_t plane = Elements(in, 2, 2 + n);
  if (column_major && n == 2) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr row, c.WithNumber(graph::Op::floor_divide, index, in[3]));
    COBRA_ASSIGN_OR_RETURN(TensorPtr column, c.WithNumber(graph::Op::remainder, index, in[3]));
    COBRA_ASSIGN_OR_RETURN(column, c.WithNumber(graph::Op::mul, column, in[2]));
    COBRA_ASSIGN_OR_RETURN(index, c.Binary(graph::Op::add, row, column));
  }
  COBRA_RETURN_IF_ERROR(c.CheckCount(Elements(in, 0, 2)));
  Values start;
  for (int64_t i = 0; i < in[0] * in[1]; ++i) start.push_back(static_cast<double>(i * plane));
  graph::Shape shape{in[0], in[1]};
  shape.resize(2 + n, 1);
  COBRA_ASSIGN_OR_RETURN(TensorPtr offset, c.Constant({shape, graph::DType::int64}, std::move(start)));
  return c.Binary(graph::Op::add, index, offset);
}

absl::StatusOr<Outputs> MaxPool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(c));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, n, {}));
  TensorPtr x = c.In(0);
  const graph::DType dtype = x->type.dtype;
  if (!graph::IsFloatingPoint(dtype)) {  // PyTorch does not pool integers
    COBRA_ASSIGN_OR_RETURN(x, c.Cast(x, graph::DType::float32));
  }
  std::vector<int64_t> padding = window.begin;
  if (!PyTorchPads(window)) {
    if (c.Wants(1))
      return Unsupported("indices with a padding that differs between the sides, or exceeds half the window");
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, window, -INFINITY));
    padding.assign(n, 0);
  }
  graph::Attributes attributes{{"kernel_size", window.kernel},
                               {"stride", window.stride},
                               {"padding", padding},
                               {"dilation", window.dilation},
                               {"ceil_mode", c.Int("ceil_mode") != 0}};
  if (c.Wants(1)) attributes.Set("return_indices", true);
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> pooled, c.CallAll(kMaxPool[n - 1], attributes, {x}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Cast(pooled[0], dtype));
  Outputs outputs{y};
  if (c.Wants(1)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr indices, WholeIndices(c, pooled[1], n, c.Int("storage_order") != 0));
    outputs.emplace_back(indices);
  }
  return outputs;
}

// The factor by which the mean over a padded window must be multiplied: the size of the window divided by the number of
// elements of the input that the window covers.
absl::StatusOr<TensorPtr> CoverageFactor(NodeContext& c, const Window& w, const graph::TensorType& out) {
  const int n = static_cast<int>(w.kernel.size());
  COBRA_RETURN_IF_ERROR(c.CheckCount(Elements(out.shape, 2, 2 + n)));
  graph::Shape shape(out.rank(), 1);
  Values factor{1};
  for (int i = 0; i < n; ++i) {
    const int64_t in = c.ShapeOf(0)[2 + i];
    shape[2 + i] = out.shape[2 + i];
    Values next;
    for (double before : factor) {
      for (int64_t o = 0; o < shape[2 + i]; ++o) {
        const int64_t start = o * w.stride[i] - w.begin[i];
        const int64_t covered = std::min(start + w.kernel[i], in) - std::max<int64_t>(start, 0);
        next.push_back(before * static_cast<double>(w.kernel[i]) / static_cast<double>(std::max<int64_t>(covered, 1)));
      }
    }
    factor = std::move(next);
  }
  return c.Constant({shape, out.dtype}, std::move(factor));
}

absl::StatusOr<Outputs> AveragePool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(c));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, n, {}));
  const bool ceil_mode = c.Int("ceil_mode") != 0, count_padding = c.Int("count_include_pad") != 0;
  graph::Attributes attributes{{"kernel_size", window.kernel},
                               {"stride", window.stride},
                               {"padding", window.begin},
                               {"ceil_mode", ceil_mode},
                               {"count_include_pad", count_padding}};
  const bool padded = std::any_of(window.begin.begin(), window.begin.end(), [](int64_t p) { return p != 0; });
  if (PyTorchPads(window)) {
    if (!padded) attributes.Set("count_include_pad", true);  // same result; true is PyTorch's default
    return c.Out(c.Call(kAvgPool[n - 1], attributes, {c.In(0)}));
  }
  if (ceil_mode)
    return Unsupported("ceil_mode with a padding that differs between the sides, or exceeds half the window");
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, PadSpatial(c, c.In(0), window, 0));
  attributes.Set("padding", std::vector<int64_t>(n, 0));
  attributes.Set("count_include_pad", true);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(kAvgPool[n - 1], attributes, {x}));
  if (count_padding) return Outputs{y};
  COBRA_ASSIGN_OR_RETURN(TensorPtr factor, CoverageFactor(c, window, y->type));
  return c.Out(c.Binary(graph::Op::mul, y, factor));
}

template <const graph::Op* kOps>
absl::StatusOr<Outputs> GlobalPool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(c));
  return c.Out(c.Call(kOps[n - 1], {{"output_size", std::vector<int64_t>(n, 1)}}, {c.In(0)}));
}

absl::StatusOr<Outputs> LpPool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(c));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, n, {}));
  if (n > 2) return Unsupported("3 spatial dimensions");
  TensorPtr x = c.In(0);
  if (std::any_of(window.begin.begin(), window.begin.end(), [](int64_t p) { return p != 0; }) ||
      window.begin != window.end) {
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, window, 0));
  }
  return c.Out(c.Call(n == 1 ? graph::Op::lp_pool1d : graph::Op::lp_pool2d,
                      {{"norm_type", static_cast<double>(c.Int("p", 2))},
                       {"kernel_size", window.kernel},
                       {"stride", window.stride},
                       {"ceil_mode", false}},
                      {x}));
}

absl::StatusOr<Outputs> GlobalLpPool(NodeContext& c) {
  std::vector<int64_t> dims;
  for (int d = 2; d < c.Rank(0); ++d) dims.push_back(d);
  return c.Out(c.Call(graph::Op::linalg_vector_norm,
                      {{"ord", static_cast<double>(c.Int("p", 2))}, {"dim", dims}, {"keepdim", true}}, {c.In(0)}));
}

}  // namespace

void AddPoolOperators(Registry* registry) {
  registry->Add("MaxPool", {MaxPool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("AveragePool", {AveragePool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("GlobalAveragePool", {GlobalPool<kGlobalAvg>});
  registry->Add("GlobalMaxPool", {GlobalPool<kGlobalMax>});
  registry->Add("LpPool", {LpPool, 1, false, "1 and 2 spatial dimensions"});
  registry->Add("GlobalLpPool", {GlobalLpPool});
}

}  // namespace cobra::onnx
