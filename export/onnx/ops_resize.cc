// Resampling of images: interpolate, grids, pixels into channels and back.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// The factor that PyTorch was given for each spatial dimension; empty if it was given sizes, or
// computes with them.
std::vector<double> FactorsOf(const CallWriter& c, int dims) {
  if (c.HasValue("size") || c.Bool("recompute_scale_factor") || c.Bool("align_corners")) return {};
  const graph::AttributeValue* value = c.node().attributes.Find("scale_factor");
  if (value == nullptr) return {};
  std::vector<double> factors;
  if (const auto* list = std::get_if<std::vector<double>>(value)) factors = *list;
  if (const auto* list = std::get_if<Ints>(value)) factors.assign(list->begin(), list->end());
  if (factors.empty()) factors.assign(static_cast<size_t>(dims), c.Double("scale_factor", 1));
  return factors;
}

double CubicWeight(double distance, double a) {
  const double d = std::abs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((d - 5) * d + 8) * d * a - 4 * a : 0;
}

// PyTorch's antialiased resampling of one dimension: [in, out]. Where the image shrinks, the window
// is wider by the same factor.
std::vector<double> AntialiasedWeights(bool cubic, bool align_corners, int64_t in, int64_t out, double factor) {
  double scale = factor > 0 ? 1 / factor : static_cast<double>(in) / static_cast<double>(out);
  if (align_corners) scale = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  const double stretch = std::max(scale, 1.0), reach = (cubic ? 2 : 1) * stretch;
  std::vector<double> matrix(static_cast<size_t>(in * out), 0);
  for (int64_t o = 0; o < out; ++o) {
    const double centre = scale * (static_cast<double>(o) + 0.5);
    const int64_t begin = std::max<int64_t>(static_cast<int64_t>(centre - reach + 0.5), 0);
    const int64_t end = std::min<int64_t>(static_cast<int64_t>(centre + reach + 0.5), in);
    double sum = 0;
    std::vector<double> weights;
    for (int64_t i = begin; i < end; ++i) {
      const double distance = (static_cast<double>(i) - centre + 0.5) / stretch;
      weights.push_back(cubic ? CubicWeight(distance, -0.5) : std::max(0.0, 1 - std::abs(distance)));
      sum += weights.back();
    }
    for (int64_t i = begin; i < end; ++i)
      matrix[static_cast<size_t>(i * out + o)] = weights[static_cast<size_t>(i - begin)] / (sum != 0 ? sum : 1);
  }
  return matrix;
}

std::string Antialiased(CallWriter& c, bool cubic, const std::vector<double>& factors) {
  const int rank = c.Rank(0);
  std::string x = c.In(0);
  for (int d = 2; d < rank; ++d) {
    const int64_t in = c.ShapeOf(0)[d], out = c.Out().shape[d];
    const double factor = factors.empty() ? 0 : factors[static_cast<size_t>(d - 2)];
    const std::vector<double> matrix = AntialiasedWeights(cubic, c.Bool("align_corners"), in, out, factor);
    x = ProductAlong(c, x, c.Numbers({{in, out}, c.Type(0).dtype}, matrix), rank, d);
  }
  return x;
}

}  // namespace

std::string ProductAlong(CallWriter& c, const std::string& x, const std::string& matrix, int rank, int dim) {
  if (dim == rank - 1) return c.Node("MatMul", {x, matrix});
  return c.Swapped(c.Node("MatMul", {c.Swapped(x, rank, dim, rank - 1), matrix}), rank, dim, rank - 1);
}

absl::StatusOr<Names> WriteInterpolate(CallWriter& c) {
  const std::string mode = c.String("mode", "nearest");
  const int rank = c.Rank(0);
  if (mode == "area") return Names{AreaAverage(c)};
  const std::vector<double> factors = FactorsOf(c, rank - 2);
  const bool cubic = mode == "bicubic", nearest = mode == "nearest" || mode == "nearest-exact";
  if (c.Bool("antialias") && !nearest) return Names{Antialiased(c, cubic, factors)};
  if (!nearest && !cubic && mode != "linear" && mode != "bilinear" && mode != "trilinear")
    return Refused("mode='", mode, "'");
  OnnxAttributes attributes{{"mode", std::string(nearest ? "nearest" : cubic ? "cubic" : "linear")}};
  const char* coordinates = mode == "nearest" ? "asymmetric" : c.Bool("align_corners") ? "align_corners" : "half_pixel";
  attributes.emplace_back("coordinate_transformation_mode", std::string(coordinates));
  if (nearest) attributes.emplace_back("nearest_mode", std::string(mode == "nearest" ? "floor" : "round_prefer_ceil"));
  if (cubic) attributes.emplace_back("cubic_coeff_a", -0.75);
  Names inputs{c.In(0), ""};
  if (factors.empty()) {
    inputs.insert(inputs.end(), {"", c.IntsOf(ToInts(c.Out().shape))});
  } else {
    std::vector<double> scales{1, 1};
    scales.insert(scales.end(), factors.begin(), factors.end());
    inputs.push_back(c.Numbers({{rank}, DType::float32}, scales));
  }
  return Names{c.Node("Resize", std::move(inputs), std::move(attributes))};
}

absl::StatusOr<Names> WriteGridSample(CallWriter& c) {
  if (c.Rank(0) != 4) return Refused("3 spatial dimensions need opset 20");
  std::string mode = c.String("mode", "bilinear"), padding = c.String("padding_mode", "zeros");
  if (c.op() == graph::Op::grid_sampler) {  // the names are numbers
    const int64_t m = c.Int("interpolation_mode"), p = c.Int("padding_mode");
    mode = m == 0 ? "bilinear" : m == 1 ? "nearest" : "bicubic";
    padding = p == 0 ? "zeros" : p == 1 ? "border" : "reflection";
  }
  return Names{c.Node("GridSample", {c.In(0), c.In(1)},
                      {{"align_corners", c.Bool("align_corners") ? 1 : 0}, {"mode", mode}, {"padding_mode", padding}})};
}

// The coordinates of every place, times theta.
absl::StatusOr<Names> WriteAffineGrid(CallWriter& c) {
  const Ints size = c.IntList("size");
  const int n = static_cast<int>(size.size()) - 2;
  const bool align = c.Bool("align_corners");
  int64_t places = 1;
  for (int i = 0; i < n; ++i) places *= size[static_cast<size_t>(2 + i)];
  std::vector<double> base;
  for (int64_t place = 0; place < places; ++place) {
    int64_t rest = place;
    for (int i = n - 1; i >= 0; --i) {  // x is the last dimension's
      const int64_t length = size[static_cast<size_t>(2 + i)], at = rest % length;
      rest /= length;
      const double whole = static_cast<double>(length);
      base.push_back(align ? (length > 1 ? 2.0 * static_cast<double>(at) / (whole - 1) - 1 : 0)
                           : (2.0 * static_cast<double>(at) + 1) / whole - 1);
    }
    base.push_back(1);
  }
  const std::string grid = c.Numbers({{1, places, n + 1}, c.Type(0).dtype}, base);
  const std::string y = c.Node("MatMul", {grid, c.Transposed(c.In(0), {0, 2, 1})});
  return Names{c.Reshaped(y, c.Out().shape)};
}

absl::StatusOr<Names> WritePixelShuffle(CallWriter& c) {
  const int64_t r = c.Int("upscale_factor");
  if (c.Rank(0) == 4) return Names{c.Node("DepthToSpace", {c.In(0)}, {{"blocksize", r}, {"mode", "CRD"}})};
  const Shape& in = c.ShapeOf(0);
  const size_t n = in.size();
  const int64_t lead = c.Type(0).num_elements() / std::max<int64_t>(1, in[n - 1] * in[n - 2] * in[n - 3]);
  std::string y = c.Reshaped(c.In(0), {lead, in[n - 3] / (r * r), r, r, in[n - 2], in[n - 1]});
  y = c.Transposed(y, {0, 1, 4, 2, 5, 3});
  return Names{c.Reshaped(y, c.Out().shape)};
}

absl::StatusOr<Names> WritePixelUnshuffle(CallWriter& c) {
  const int64_t r = c.Int("downscale_factor");
  const Shape& in = c.ShapeOf(0);
  const size_t n = in.size();
  const int64_t lead = c.Type(0).num_elements() / std::max<int64_t>(1, in[n - 1] * in[n - 2] * in[n - 3]);
  std::string y = c.Reshaped(c.In(0), {lead, in[n - 3], in[n - 2] / r, r, in[n - 1] / r, r});
  y = c.Transposed(y, {0, 1, 3, 5, 2, 4});
  return Names{c.Reshaped(y, c.Out().shape)};
}

absl::StatusOr<Names> WriteChannelShuffle(CallWriter& c) {
  const int64_t groups = c.Int("groups");
  const Shape& in = c.ShapeOf(0);
  const int64_t rest = c.Type(0).num_elements() / std::max<int64_t>(1, in[0] * in[1]);
  std::string y = c.Reshaped(c.In(0), {in[0], groups, in[1] / groups, rest});
  y = c.Transposed(y, {0, 2, 1, 3});
  return Names{c.Reshaped(y, in)};
}

// PyTorch's boxes begin with the number of their image.
absl::StatusOr<Names> WriteRoiAlign(CallWriter& c) {
  const std::string image = c.Cast(c.Squeezed(c.Sliced(c.In(1), 1, 0, 1), {1}), c.Type(1).dtype, DType::int64);
  return Names{
      c.Node("RoiAlign", {c.In(0), c.Sliced(c.In(1), 1, 1, 5), image},
             {{"coordinate_transformation_mode", std::string(c.Bool("aligned") ? "half_pixel" : "output_half_pixel")},
              {"mode", "avg"},
              {"output_height", c.Int("pooled_height")},
              {"output_width", c.Int("pooled_width")},
              {"sampling_ratio", std::max<int64_t>(c.Int("sampling_ratio"), 0)},
              {"spatial_scale", c.Double("spatial_scale", 1)}})};
}

}  // namespace cobra::exporting
