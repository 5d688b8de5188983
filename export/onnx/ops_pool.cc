// Pools of windows.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

struct PoolWindow {
  int dims = 0;
  Ints kernel, stride, padding, dilation;
  // Sizes are rounded up, in the way in which every reader of the file does it too. (PyTorch drops
  // a window that begins in the padding.)
  bool ceil_mode = false;
  // Where the last window ends, beyond the padding at the end: more than 0 only if ceil_mode added
  // a window.
  Ints beyond;
  bool reaches_beyond = false;
};

int64_t SizeAt(const Shape& shape, int dims, int i) { return shape[shape.size() - static_cast<size_t>(dims - i)]; }

PoolWindow WindowOf(const CallWriter& c) {
  PoolWindow w;
  const int n = w.dims = c.WindowDims();
  w.kernel = c.IntList("kernel_size", n, 1);
  w.stride = c.IntList("stride").empty() ? w.kernel : c.IntList("stride", n, 1);
  w.padding = c.IntList("padding", n, 0);
  w.dilation = c.IntList("dilation", n, 1);
  w.ceil_mode = c.Bool("ceil_mode");
  for (int i = 0; i < n; ++i) {
    const int64_t in = SizeAt(c.ShapeOf(0), n, i), out = SizeAt(c.Out().shape, n, i);
    const int64_t reach = w.dilation[i] * (w.kernel[i] - 1) + 1, end = (out - 1) * w.stride[i] + reach;
    w.ceil_mode = w.ceil_mode && (in + 2 * w.padding[i] - reach + w.stride[i] - 1) / w.stride[i] + 1 == out;
    w.beyond.push_back(std::max<int64_t>(0, end - in - 2 * w.padding[i]));
    w.reaches_beyond = w.reaches_beyond || w.beyond.back() > 0;
  }
  return w;
}

// With the padding at the end as far as the last window reaches, so that no rule about rounding
// matters.
Ints PadsOf(const PoolWindow& w) {
  Ints pads = w.padding;
  for (int i = 0; i < w.dims; ++i) pads.push_back(w.padding[i] + w.beyond[i]);
  return pads;
}

// Adds a batch of one around a pool whose input has none.
std::string BatchedInput(CallWriter& c, int dims) {
  return c.Rank(0) == dims + 2 ? c.In(0) : c.Unsqueezed(c.In(0), {0});
}
std::string UnbatchedOutput(CallWriter& c, int dims, const std::string& y) {
  return c.Rank(0) == dims + 2 ? y : c.Squeezed(y, {0});
}

std::string ZeroPadded(CallWriter& c, const std::string& x, const Ints& begin, const Ints& end) {
  Ints pads{0, 0};
  pads.insert(pads.end(), begin.begin(), begin.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), end.begin(), end.end());
  return c.Node("Pad", {x, c.IntsOf(pads), c.Number(c.Type(0).dtype, 0)});
}

// The average of each window of `x`, which has a batch. A window that ceil_mode adds is cut off at
// the padding's end.
std::string Averaged(CallWriter& c, const std::string& x, const PoolWindow& w, bool count_padding) {
  if (!w.reaches_beyond) {
    Ints pads = w.padding;
    pads.insert(pads.end(), w.padding.begin(), w.padding.end());
    return c.Node("AveragePool", {x},
                  {{"ceil_mode", w.ceil_mode ? 1 : 0},
                   {"count_include_pad", count_padding ? 1 : 0},
                   {"kernel_shape", w.kernel},
                   {"pads", pads},
                   {"strides", w.stride}});
  }
  const bool padded = std::count(w.padding.begin(), w.padding.end(), 0) < w.dims;
  Ints pads(static_cast<size_t>(w.dims), 0);
  std::string y = x;
  if (padded && count_padding) {  // zeros that count, before those that do not
    y = ZeroPadded(c, x, w.padding, w.padding);
    pads.insert(pads.end(), w.beyond.begin(), w.beyond.end());
  } else {
    pads = PadsOf(w);
  }
  return c.Node("AveragePool", {y},
                {{"count_include_pad", 0}, {"kernel_shape", w.kernel}, {"pads", pads}, {"strides", w.stride}});
}

// Where window `o` of an adaptive pool begins and ends.
int64_t WindowBegin(int64_t in, int64_t out, int64_t o) { return o * in / out; }
int64_t WindowEnd(int64_t in, int64_t out, int64_t o) { return ((o + 1) * in + out - 1) / out; }

struct AdaptiveSizes {
  int dims = 0;
  Ints in, out;
  bool to_one = true, even = true;
};

AdaptiveSizes SizesOf(const CallWriter& c) {
  AdaptiveSizes s;
  s.dims = c.op() == graph::Op::interpolate ? c.Rank(0) - 2 : c.WindowDims();
  for (int i = 0; i < s.dims; ++i) {
    s.in.push_back(SizeAt(c.ShapeOf(0), s.dims, i));
    s.out.push_back(SizeAt(c.Out().shape, s.dims, i));
    s.to_one = s.to_one && s.out[i] == 1;
    s.even = s.even && s.out[i] > 0 && s.in[i] % s.out[i] == 0;
  }
  return s;
}

Ints EvenKernel(const AdaptiveSizes& s) {
  Ints kernel;
  for (int i = 0; i < s.dims; ++i) kernel.push_back(s.in[i] / s.out[i]);
  return kernel;
}

// Windows of different sizes, one dimension after the other: an average is a product with a matrix.
std::string UnevenAverage(CallWriter& c, std::string x, const AdaptiveSizes& s) {
  const int rank = c.Rank(0);
  for (int i = 0; i < s.dims; ++i) {
    if (s.in[i] == s.out[i]) continue;
    std::vector<double> matrix(static_cast<size_t>(s.in[i] * s.out[i]), 0);
    for (int64_t o = 0; o < s.out[i]; ++o) {
      const int64_t begin = WindowBegin(s.in[i], s.out[i], o), end = WindowEnd(s.in[i], s.out[i], o);
      for (int64_t k = begin; k < end; ++k)
        matrix[static_cast<size_t>(k * s.out[i] + o)] = 1 / static_cast<double>(end - begin);
    }
    const std::string weights = c.Numbers({{s.in[i], s.out[i]}, c.Type(0).dtype}, matrix);
    x = ProductAlong(c, x, weights, rank, rank - s.dims + i);
  }
  return x;
}

// The largest of rows that are picked with repetitions, so that all windows have the same size.
std::string UnevenMaximum(CallWriter& c, std::string x, const AdaptiveSizes& s) {
  for (int i = 0; i < s.dims; ++i) {
    int64_t width = 1;
    for (int64_t o = 0; o < s.out[i]; ++o)
      width = std::max(width, WindowEnd(s.in[i], s.out[i], o) - WindowBegin(s.in[i], s.out[i], o));
    std::vector<double> rows;
    for (int64_t o = 0; o < s.out[i]; ++o) {
      const int64_t begin = WindowBegin(s.in[i], s.out[i], o), end = WindowEnd(s.in[i], s.out[i], o);
      for (int64_t k = 0; k < width; ++k) rows.push_back(static_cast<double>(std::min(begin + k, end - 1)));
    }
    const int64_t axis = c.Rank(0) - s.dims + i;
    x = c.Node("Gather", {x, c.Numbers({{s.out[i], width}, DType::int64}, rows)}, {{"axis", axis}});
    x = c.Reduced("ReduceMax", x, {axis + 1}, false);
  }
  return x;
}

// PyTorch counts the places within a plane, ONNX in the whole tensor.
std::string WithinPlane(CallWriter& c, const std::string& indices, int64_t plane) {
  return c.Node("Mod", {indices, c.Number(DType::int64, static_cast<double>(plane))});
}

int64_t PlaneOf(const Shape& shape, int dims) {
  int64_t plane = 1;
  for (int i = 0; i < dims; ++i) plane *= SizeAt(shape, dims, i);
  return plane;
}

Names MaxPooled(CallWriter& c, const PoolWindow& w, OnnxAttributes attributes) {
  const bool indices = c.node().outputs.size() > 1;
  Names y = c.Nodes("MaxPool", {BatchedInput(c, w.dims)}, indices ? 2 : 1, std::move(attributes));
  if (indices) y[1] = UnbatchedOutput(c, w.dims, WithinPlane(c, y[1], PlaneOf(c.ShapeOf(0), w.dims)));
  y[0] = UnbatchedOutput(c, w.dims, y[0]);
  return y;
}

}  // namespace

absl::StatusOr<Names> WriteMaxPool(CallWriter& c) {
  const PoolWindow w = WindowOf(c);
  Ints pads = w.padding;
  pads.insert(pads.end(), w.padding.begin(), w.padding.end());
  return MaxPooled(c, w,
                   {{"ceil_mode", w.ceil_mode ? 1 : 0},
                    {"dilations", w.dilation},
                    {"kernel_shape", w.kernel},
                    {"pads", w.ceil_mode ? pads : PadsOf(w)},
                    {"strides", w.stride}});
}

absl::StatusOr<Names> WriteAvgPool(CallWriter& c) {
  const PoolWindow w = WindowOf(c);
  const DType dtype = c.Type(0).dtype;
  const std::string x = BatchedInput(c, w.dims);
  if (!c.HasValue("divisor_override"))
    return Names{UnbatchedOutput(c, w.dims, Averaged(c, x, w, c.Bool("count_include_pad", true)))};
  // The sum of a window, zeros included, divided by something else.
  int64_t area = 1;
  Ints end = w.padding;
  for (int i = 0; i < w.dims; ++i) {
    area *= w.kernel[i];
    end[i] += w.beyond[i];
  }
  const std::string padded = ZeroPadded(c, x, w.padding, end);
  std::string y = c.Node("AveragePool", {padded}, {{"kernel_shape", w.kernel}, {"strides", w.stride}});
  y = c.Scaled(y, static_cast<double>(area) / c.Double("divisor_override", 1), dtype);
  return Names{UnbatchedOutput(c, w.dims, y)};
}

// (average of x^p * area)^(1/p)
absl::StatusOr<Names> WriteLpPool(CallWriter& c) {
  const PoolWindow w = WindowOf(c);
  const DType dtype = c.Type(0).dtype;
  const double p = c.Double("norm_type", 2);
  double area = 1;
  for (int64_t k : w.kernel) area *= static_cast<double>(k);
  const std::string powers = c.Node("Pow", {BatchedInput(c, w.dims), c.Number(dtype, p)});
  const std::string sums = c.Scaled(Averaged(c, powers, w, true), area, dtype);
  const std::string y = c.Node("Pow", {sums, c.Number(dtype, 1 / p)});
  return Names{UnbatchedOutput(c, w.dims, y)};
}

absl::StatusOr<Names> WriteAdaptiveAvgPool(CallWriter& c) {
  const AdaptiveSizes s = SizesOf(c);
  if (s.in == s.out) return Names{c.In(0)};
  if (!s.even) return Names{UnevenAverage(c, c.In(0), s)};
  const std::string x = BatchedInput(c, s.dims);
  const Ints kernel = EvenKernel(s);
  return Names{UnbatchedOutput(c, s.dims,
                               s.to_one ? c.Node("GlobalAveragePool", {x})
                                        : c.Node("AveragePool", {x}, {{"kernel_shape", kernel}, {"strides", kernel}}))};
}

absl::StatusOr<Names> WriteAdaptiveMaxPool(CallWriter& c) {
  const AdaptiveSizes s = SizesOf(c);
  const bool indices = c.node().outputs.size() > 1;
  if (!s.even) {
    if (indices) return Refused("indices of windows of different sizes");
    return Names{UnevenMaximum(c, c.In(0), s)};
  }
  if (s.to_one && !indices)
    return Names{UnbatchedOutput(c, s.dims, c.Node("GlobalMaxPool", {BatchedInput(c, s.dims)}))};
  PoolWindow w;
  w.dims = s.dims;
  w.kernel = EvenKernel(s);
  return MaxPooled(c, w, {{"kernel_shape", w.kernel}, {"strides", w.kernel}});
}

// Each plane's numbers go to their places among zeros.
absl::StatusOr<Names> WriteMaxUnpool(CallWriter& c) {
  const int n = c.WindowDims();
  const int64_t from = PlaneOf(c.ShapeOf(0), n), to = PlaneOf(c.Out().shape, n);
  const int64_t planes = c.Type(0).num_elements() / std::max<int64_t>(from, 1);
  const DType dtype = c.Type(0).dtype;
  const std::string zeros = c.Filled({{planes, to}, dtype}, 0);
  const std::string y =
      c.Node("ScatterElements", {zeros, c.Reshaped(c.In(1), {planes, from}), c.Reshaped(c.In(0), {planes, from})},
             {{"axis", 1}});
  return Names{c.Reshaped(y, c.Out().shape)};
}

std::string AreaAverage(CallWriter& c) { return UnevenAverage(c, c.In(0), SizesOf(c)); }

}  // namespace cobra::exporting
