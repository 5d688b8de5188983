// Pooling.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/operators/pool.h"
#include "frontend/onnx/operators/window.h"

namespace cobra::onnx {
namespace {

constexpr graph::Op kMaxPool[] = {graph::Op::max_pool1d, graph::Op::max_pool2d, graph::Op::max_pool3d};
constexpr graph::Op kAvgPool[] = {graph::Op::avg_pool1d, graph::Op::avg_pool2d, graph::Op::avg_pool3d};
constexpr graph::Op kGlobalAvg[] = {graph::Op::adaptive_avg_pool1d, graph::Op::adaptive_avg_pool2d,
                                    graph::Op::adaptive_avg_pool3d};
constexpr graph::Op kGlobalMax[] = {graph::Op::adaptive_max_pool1d, graph::Op::adaptive_max_pool2d,
                                    graph::Op::adaptive_max_pool3d};

absl::StatusOr<int> SpatialDims(const TensorPtr& x) {
  const int n = x->type.rank() - 2;
  if (n < 1 || n > 3)
    return Unsupported("an input of ", x->type.rank(), " dimensions; pools of 1 to 3 spatial dimensions are supported");
  return n;
}

// Whether PyTorch's pooling supports the padding: it is equal on both sides and at most half the
// window.
bool PyTorchPads(const Window& w) {
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    if (w.begin[i] != w.end[i] || w.begin[i] < 0 || 2 * w.begin[i] > w.kernel[i]) return false;
  }
  return true;
}

// PyTorch's indices count within a plane, ONNX's through the whole tensor. With storage_order=1
// they count down the columns.
absl::StatusOr<TensorPtr> WholeIndices(NodeContext& c, TensorPtr index, const graph::Shape& in, bool column_major) {
  const int n = static_cast<int>(in.size()) - 2;
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

// The factor by which the mean over a padded window must be multiplied: the size of the window
// divided by the number of elements of the input, or of the input with its padding, that the window
// covers.
absl::StatusOr<TensorPtr> CoverageFactor(NodeContext& c, const graph::Shape& input, const Window& w,
                                         const graph::TensorType& out, bool count_padding = false) {
  const int n = static_cast<int>(w.kernel.size());
  COBRA_RETURN_IF_ERROR(c.CheckCount(Elements(out.shape, 2, 2 + n)));
  for (int i = 0; i < n; ++i) COBRA_RETURN_IF_ERROR(c.CheckCount(Elements({out.shape[2 + i], w.kernel[i]}, 0, 2) / 16));
  graph::Shape shape(out.rank(), 1);
  Values factor{1};
  for (int i = 0; i < n; ++i) {
    const int64_t in = input[2 + i];
    shape[2 + i] = out.shape[2 + i];
    Values next;
    for (double before : factor) {
      for (int64_t o = 0; o < shape[2 + i]; ++o) {
        const int64_t start = o * w.stride[i] - w.begin[i];
        int64_t covered = 0;
        for (int64_t k = 0; k < w.kernel[i]; ++k) {
          const int64_t at = start + k * w.dilation[i];
          covered += count_padding ? at >= -w.begin[i] && at < in + w.end[i] : at >= 0 && at < in;
        }
        next.push_back(before * static_cast<double>(w.kernel[i]) / static_cast<double>(std::max<int64_t>(covered, 1)));
      }
    }
    factor = std::move(next);
  }
  return c.Constant({shape, out.dtype}, std::move(factor));
}

bool IsDilated(const Window& w) {
  return std::any_of(w.dilation.begin(), w.dilation.end(), [](int64_t d) { return d != 1; });
}

bool IsPadded(const Window& w) {
  const auto pads = [](int64_t p) { return p != 0; };
  return std::any_of(w.begin.begin(), w.begin.end(), pads) || std::any_of(w.end.begin(), w.end.end(), pads);
}

constexpr graph::Op kConv[] = {graph::Op::conv1d, graph::Op::conv2d, graph::Op::conv3d};

// The sum of each window times `factor`, as a convolution of each channel: PyTorch's pools have no
// dilation.
absl::StatusOr<TensorPtr> WindowSums(NodeContext& c, TensorPtr x, const Window& w, double factor) {
  const int n = static_cast<int>(w.kernel.size());
  if (IsPadded(w)) {
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, w, 0));
  }
  const int64_t channels = x->type.shape[1];
  graph::Shape shape{channels, 1};
  shape.insert(shape.end(), w.kernel.begin(), w.kernel.end());
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, c.Filled({shape, x->type.dtype}, factor));
  return c.Call(
      kConv[n - 1],
      {{"stride", w.stride}, {"padding", std::vector<int64_t>(n, 0)}, {"dilation", w.dilation}, {"groups", channels}},
      {x, weight, nullptr});
}

double WindowSize(const Window& w) {
  double size = 1;
  for (int64_t k : w.kernel) size *= static_cast<double>(k);
  return size;
}

absl::StatusOr<TensorPtr> DilatedAverage(NodeContext& c, const TensorPtr& x, const Window& window) {
  Window larger = window;  // with the padding that an output of ceil_mode needs beyond the window's own
  if (c.Int("ceil_mode") != 0) {
    for (size_t i = 0; i < window.kernel.size(); ++i) {
      const int64_t size = x->type.shape[2 + i], reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
      const int64_t rest = size + window.begin[i] + window.end[i] - reach;
      int64_t steps = rest < 0 ? 0 : (rest + window.stride[i] - 1) / window.stride[i];
      if (steps * window.stride[i] >= size + window.begin[i]) --steps;  // the last window begins behind the input
      larger.end[i] = std::max(window.end[i], steps * window.stride[i] + reach - size - window.begin[i]);
    }
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, WindowSums(c, x, larger, 1 / WindowSize(window)));
  const bool count_padding = c.Int("count_include_pad") != 0;
  if (!IsPadded(larger) || (count_padding && larger.end == window.end)) return y;
  COBRA_ASSIGN_OR_RETURN(TensorPtr factor, CoverageFactor(c, x->type.shape, window, y->type, count_padding));
  return c.Binary(graph::Op::mul, y, factor);
}

absl::StatusOr<Outputs> MaxPool(NodeContext& c) {
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> pooled, MaxPooled(c, c.In(0)));
  return Outputs(pooled.begin(), pooled.end());
}

absl::StatusOr<Outputs> AveragePool(NodeContext& c) { return c.Out(AveragePooled(c, c.In(0))); }

absl::StatusOr<TensorPtr> GlobalPooled(NodeContext& c, const graph::Op* ops, const TensorPtr& x) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(x));
  return c.Call(ops[n - 1], {{"output_size", std::vector<int64_t>(n, 1)}}, {x});
}

absl::StatusOr<Outputs> GlobalAveragePool(NodeContext& c) { return c.Out(GlobalAveragePooled(c, c.In(0))); }
absl::StatusOr<Outputs> GlobalMaxPool(NodeContext& c) { return c.Out(GlobalPooled(c, kGlobalMax, c.In(0))); }

// (sum of |x|^p)^(1/p) over each window.
absl::StatusOr<Outputs> LpPool(NodeContext& c) {
  TensorPtr x = c.In(0);
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(x));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, c.ShapeOf(0), {}));
  const double p = static_cast<double>(c.Int("p", 2));
  const bool ceil_mode = c.Int("ceil_mode") != 0;
  if (c.Int("p", 2) % 2 != 0 || IsDilated(window) || n > 2) {  // PyTorch's takes powers of the numbers as they are
    COBRA_ASSIGN_OR_RETURN(x, c.Unary(graph::Op::abs, x));
  }
  if (IsDilated(window) || n > 2) {
    if (ceil_mode) return Unsupported("ceil_mode with dilations or 3 spatial dimensions");
    COBRA_ASSIGN_OR_RETURN(x, c.Call(graph::Op::pow, {{"exponent", p}}, {x}));
    COBRA_ASSIGN_OR_RETURN(x, WindowSums(c, x, window, 1));
    return c.Out(c.Call(graph::Op::pow, {{"exponent", 1 / p}}, {x}));
  }
  if (IsPadded(window)) {
    COBRA_ASSIGN_OR_RETURN(x, PadSpatial(c, x, window, 0));
  }
  return c.Out(c.Call(
      n == 1 ? graph::Op::lp_pool1d : graph::Op::lp_pool2d,
      {{"norm_type", p}, {"kernel_size", window.kernel}, {"stride", window.stride}, {"ceil_mode", ceil_mode}}, {x}));
}

absl::StatusOr<Outputs> GlobalLpPool(NodeContext& c) {
  std::vector<int64_t> dims;
  for (int d = 2; d < c.Rank(0); ++d) dims.push_back(d);
  return c.Out(c.Call(graph::Op::linalg_vector_norm,
                      {{"ord", static_cast<double>(c.Int("p", 2))}, {"dim", dims}, {"keepdim", true}}, {c.In(0)}));
}

}  // namespace

absl::StatusOr<std::vector<TensorPtr>> MaxPooled(NodeContext& c, TensorPtr x) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(x));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, x->type.shape, {}));
  const graph::DType dtype = x->type.dtype;
  const graph::Shape shape = x->type.shape;
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
  std::vector<TensorPtr> outputs{y};
  if (c.Wants(1)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr indices, WholeIndices(c, pooled[1], shape, c.Int("storage_order") != 0));
    outputs.push_back(indices);
  }
  return outputs;
}

absl::StatusOr<TensorPtr> AveragePooled(NodeContext& c, const TensorPtr& x) {
  COBRA_ASSIGN_OR_RETURN(const int n, SpatialDims(x));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(c, x->type.shape, {}));
  if (IsDilated(window)) return DilatedAverage(c, x, window);
  const bool ceil_mode = c.Int("ceil_mode") != 0, count_padding = c.Int("count_include_pad") != 0;
  graph::Attributes attributes{{"kernel_size", window.kernel},
                               {"stride", window.stride},
                               {"padding", window.begin},
                               {"ceil_mode", ceil_mode},
                               {"count_include_pad", count_padding}};
  if (PyTorchPads(window)) {
    if (!IsPadded(window)) attributes.Set("count_include_pad", true);  // same result; true is PyTorch's default
    return c.Call(kAvgPool[n - 1], attributes, {x});
  }
  if (ceil_mode)
    return Unsupported("ceil_mode with a padding that differs between the sides, or exceeds half the window");
  COBRA_ASSIGN_OR_RETURN(TensorPtr padded, PadSpatial(c, x, window, 0));
  attributes.Set("padding", std::vector<int64_t>(n, 0));
  attributes.Set("count_include_pad", true);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, c.Call(kAvgPool[n - 1], attributes, {padded}));
  if (count_padding) return y;
  COBRA_ASSIGN_OR_RETURN(TensorPtr factor, CoverageFactor(c, x->type.shape, window, y->type));
  return c.Binary(graph::Op::mul, y, factor);
}

absl::StatusOr<TensorPtr> GlobalAveragePooled(NodeContext& c, const TensorPtr& x) {
  return GlobalPooled(c, kGlobalAvg, x);
}

void AddPoolOperators(Registry* registry) {
  registry->Add("MaxPool", {MaxPool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("AveragePool", {AveragePool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("GlobalAveragePool", {GlobalAveragePool});
  registry->Add("GlobalMaxPool", {GlobalMaxPool});
  registry->Add("LpPool", {LpPool, 1, false, "1 to 3 spatial dimensions"});
  registry->Add("GlobalLpPool", {GlobalLpPool});
}

}  // namespace cobra::onnx
