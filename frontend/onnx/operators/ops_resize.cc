// Resize and Upsample. A mode that PyTorch's interpolate supports becomes a call of interpolate.
// Every other mode follows its definition: each dimension is resized on its own, by selecting rows
// (nearest) or by a product with a matrix of weights (linear, cubic).
#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

struct Resampling {
  std::string mode = "nearest";  // nearest, linear, cubic
  std::string coordinates = "half_pixel";
  std::string nearest = "round_prefer_floor";
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  double extrapolation = 0;
  std::vector<double> roi;     // starts, then ends, as fractions of the input
  std::vector<double> scales;  // one per dimension
  bool by_scales = false;      // the file gives factors, not sizes
  graph::Shape sizes;          // of the output
};

// The position in the input of `in` elements that corresponds to element `x` of the output.
double SourceOf(const Resampling& r, int dim, int rank, int64_t in, int64_t out, int64_t x) {
  const double scale = r.scales[dim], at = static_cast<double>(x);
  if (r.coordinates == "asymmetric") return at / scale;
  if (r.coordinates == "align_corners") {
    const double width = scale * static_cast<double>(in);
    return width == 1 ? 0 : at * static_cast<double>(in - 1) / (width - 1);
  }
  if (r.coordinates == "pytorch_half_pixel") return out > 1 ? (at + 0.5) / scale - 0.5 : 0;
  if (r.coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (r.coordinates == "half_pixel_symmetric") {  // the middle of the input lies in the middle of the output
    const double exact = scale * static_cast<double>(in);
    const double offset = static_cast<double>(in) / 2 * (1 - static_cast<double>(out) / exact);
    return offset + (at + 0.5) / scale - 0.5;
  }
  if (r.coordinates == "tf_crop_and_resize") {
    const double start = r.roi[dim], end = r.roi[rank + dim], last = static_cast<double>(in - 1);
    return out > 1 ? start * last + at * (end - start) * last / static_cast<double>(out - 1)
                   : 0.5 * (start + end) * last;
  }
  return (at + 0.5) / scale - 0.5;  // half_pixel
}

int64_t NearestTo(const Resampling& r, double x) {
  if (r.nearest == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  if (r.nearest == "floor") return static_cast<int64_t>(std::floor(x));
  if (r.nearest == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

// The weights of the neighbours of position `x`, which are the elements *first, *first + 1 and so
// on.
std::vector<double> NeighbourWeights(const Resampling& r, double x, int64_t* first) {
  const double floor = std::floor(x), t = x - floor;
  if (r.mode == "linear") {
    *first = static_cast<int64_t>(floor);
    return {1 - t, t};
  }
  *first = static_cast<int64_t>(floor) - 1;
  const double a = r.cubic_a, u = 1 - t;
  const auto far = [a](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  const auto near = [a](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  return {far(1 + t), near(t), near(u), far(1 + u)};
}

// The same where the output is smaller than the input and antialias is set: the window is wider by
// the same factor.
std::vector<double> WideWeights(const Resampling& r, double x, double scale, int64_t* first) {
  const double reach = (r.mode == "linear" ? 1 : 2) / scale, a = r.cubic_a;
  *first = static_cast<int64_t>(std::floor(x - reach)) + 1;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t i = *first; static_cast<double>(i) < x + reach; ++i) {
    const double d = std::abs(static_cast<double>(i) - x) * scale;
    const double cubic = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    weights.push_back(r.mode == "linear" ? 1 - d : cubic);
    sum += weights.back();
  }
  for (double& w : weights) w /= sum;
  return weights;
}

// Resizes one dimension: selects rows of the input or computes weighted sums of them. `inside` is 1
// where the source position lies within the input.
absl::StatusOr<TensorPtr> ResizeDimension(NodeContext& c, const Resampling& r, const TensorPtr& x, int dim,
                                          std::vector<double>* inside) {
  const int rank = x->type.rank();
  const int64_t in = x->type.shape[dim], out = r.sizes[dim];
  std::vector<int64_t> rows;
  COBRA_RETURN_IF_ERROR(c.CheckCount(r.mode == "nearest" ? out : Elements({in, out}, 0, 2) / 16));
  Values matrix(r.mode == "nearest" ? 0 : in * out, 0);
  inside->assign(out, 1);
  for (int64_t o = 0; o < out; ++o) {
    const double source = SourceOf(r, dim, rank, in, out, o);
    if (r.coordinates == "tf_crop_and_resize" && (source < 0 || source > static_cast<double>(in - 1))) (*inside)[o] = 0;
    if (r.mode == "nearest") {
      rows.push_back(std::clamp<int64_t>(NearestTo(r, source), 0, in - 1));
      continue;
    }
    int64_t first = 0;
    const bool wide = r.antialias && r.scales[dim] < 1;
    COBRA_RETURN_IF_ERROR(c.CheckCount(wide ? static_cast<int64_t>(std::min(4 / r.scales[dim], 1e15)) : 4));
    std::vector<double> weights =
        wide ? WideWeights(r, source, r.scales[dim], &first) : NeighbourWeights(r, source, &first);
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) {
      const int64_t row = first + static_cast<int64_t>(k);
      if (r.exclude_outside && (row < 0 || row >= in)) weights[k] = 0;
      sum += weights[k];
    }
    for (size_t k = 0; k < weights.size(); ++k) {
      const int64_t row = std::clamp<int64_t>(first + static_cast<int64_t>(k), 0, in - 1);
      matrix[row * out + o] += r.exclude_outside ? weights[k] / sum : weights[k];
    }
  }
  if (r.mode == "nearest") {
    COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.IntsConstant(rows));
    return c.Call(graph::Op::index_select, {{"dim", int64_t{dim}}}, {x, index});
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr weights, c.Constant({{in, out}, x->type.dtype}, std::move(matrix)));
  if (dim == rank - 1) return c.Binary(graph::Op::matmul, x, weights);
  COBRA_ASSIGN_OR_RETURN(TensorPtr turned,
                         c.Call(graph::Op::transpose, {{"dim0", int64_t{dim}}, {"dim1", int64_t{-1}}}, {x}));
  COBRA_ASSIGN_OR_RETURN(turned, c.Binary(graph::Op::matmul, turned, weights));
  return c.Call(graph::Op::transpose, {{"dim0", int64_t{dim}}, {"dim1", int64_t{-1}}}, {turned});
}

absl::StatusOr<TensorPtr> ByDefinition(NodeContext& c, const Resampling& r) {
  TensorPtr y = c.In(0);
  const int rank = y->type.rank();
  TensorPtr mask;
  for (int d = 0; d < rank; ++d) {
    const bool crops = r.coordinates == "tf_crop_and_resize" && (r.roi[d] != 0 || r.roi[rank + d] != 1);
    if (r.sizes[d] == y->type.shape[d] && r.scales[d] == 1 && !crops) continue;
    std::vector<double> inside;
    COBRA_ASSIGN_OR_RETURN(y, ResizeDimension(c, r, y, d, &inside));
    if (std::count(inside.begin(), inside.end(), 0.0) == 0) continue;
    graph::Shape shape(rank, 1);
    shape[d] = r.sizes[d];
    COBRA_ASSIGN_OR_RETURN(TensorPtr part, c.Constant({shape, graph::DType::bool_}, inside));
    if (mask == nullptr) {
      mask = part;
    } else {
      COBRA_ASSIGN_OR_RETURN(mask, c.Binary(graph::Op::logical_and, mask, part));
    }
  }
  if (mask == nullptr) return y;
  return c.Call(graph::Op::where, {{"other", r.extrapolation}}, {mask, y, nullptr});
}

// A larger output needs no wider windows.
bool Antialiases(const Resampling& r) {
  return r.antialias && std::any_of(r.scales.begin(), r.scales.end(), [](double scale) { return scale < 1; });
}

// The mode of PyTorch's interpolate that computes the same; empty if there is none.
std::string PyTorchMode(const NodeContext& c, const Resampling& r, bool* align_corners) {
  const int n = c.Rank(0) - 2;
  *align_corners = r.coordinates == "align_corners";
  if (n < 1 || n > 3 || r.sizes[0] != c.ShapeOf(0)[0] || r.sizes[1] != c.ShapeOf(0)[1]) return "";
  bool one = false;
  for (int i = 0; i < n; ++i) {
    const double exact = r.scales[2 + i] * static_cast<double>(c.ShapeOf(0)[2 + i]);
    if (*align_corners && std::abs(exact - static_cast<double>(r.sizes[2 + i])) > 1e-6) return "";
    one = one || r.sizes[2 + i] == 1;
  }
  if (r.mode == "nearest") return r.coordinates == "asymmetric" && r.nearest == "floor" ? "nearest" : "";
  // For an output of one element PyTorch samples the middle of the input, ONNX's pytorch_half_pixel
  // its first element.
  const bool half = r.coordinates == "half_pixel" || (r.coordinates == "pytorch_half_pixel" && !one);
  if (Antialiases(r)) {  // PyTorch leaves out what is outside
    if (n != 2 || !half || !r.exclude_outside) return "";
    return r.mode == "linear" ? "bilinear" : r.cubic_a == -0.5 ? "bicubic" : "";
  }
  if ((!half && !*align_corners) || r.exclude_outside) return "";
  if (r.mode == "cubic") return n == 2 && r.cubic_a == -0.75 ? "bicubic" : "";
  return n == 1 ? "linear" : n == 2 ? "bilinear" : "trilinear";
}

absl::StatusOr<Outputs> Resample(NodeContext& c, const Resampling& r) {
  if (r.mode != "nearest" && r.mode != "linear" && r.mode != "cubic") return Invalid("mode is ", r.mode);
  for (size_t d = 0; d < r.sizes.size(); ++d) {
    if (r.sizes[d] < 1 || c.ShapeOf(0)[d] < 1)
      return Invalid("an output of ", graph::ShapeText(r.sizes), " from ", graph::ShapeText(c.ShapeOf(0)));
  }
  bool align_corners = false;
  const std::string mode = PyTorchMode(c, r, &align_corners);
  if (mode.empty()) return c.Out(ByDefinition(c, r));
  graph::Attributes attributes{{"mode", mode}};
  std::vector<double> factors;
  bool has_factors = r.by_scales;
  for (size_t d = 2; d < r.scales.size(); ++d) {
    factors.push_back(Shortest(r.scales[d]));
    // PyTorch multiplies in double.
    const double size = std::floor(static_cast<double>(c.ShapeOf(0)[d]) * factors.back());
    has_factors = has_factors && size == static_cast<double>(r.sizes[d]);
  }
  if (has_factors) {
    attributes.Set("scale_factor", factors);
  } else {
    attributes.Set("size", std::vector<int64_t>(r.sizes.begin() + 2, r.sizes.end()));
  }
  if (mode != "nearest") attributes.Set("align_corners", align_corners);
  attributes.Set("antialias", Antialiases(r));
  return c.Out(c.Call(graph::Op::interpolate, attributes, {c.In(0)}));
}

absl::Status SizesFromScales(const NodeContext& c, std::vector<double> scales, Resampling* r) {
  const graph::Shape& in = c.ShapeOf(0);
  if (scales.size() != in.size()) return Invalid("scales has ", scales.size(), " entries, must have ", in.size());
  for (size_t d = 0; d < in.size(); ++d) {
    // In float32, as ONNX Runtime multiplies them: 9 * 2.4444444 is 22 and not a little less.
    const double size = std::floor(static_cast<float>(in[d]) * static_cast<float>(scales[d]));
    if (!(scales[d] > 0) || size > 1e9) return Invalid("a scale of ", scales[d]);
    r->sizes.push_back(static_cast<int64_t>(size));
  }
  r->scales = std::move(scales);
  r->by_scales = true;
  return absl::OkStatus();
}

absl::StatusOr<Outputs> Upsample(NodeContext& c) {
  Resampling r;
  r.mode = c.String("mode", "nearest");
  r.coordinates = "asymmetric";
  r.nearest = "floor";
  std::vector<double> scales = c.Floats("scales");
  if (c.opset() >= 9) {
    COBRA_ASSIGN_OR_RETURN(scales, c.Known(1, "scales"));
  }
  COBRA_RETURN_IF_ERROR(SizesFromScales(c, std::move(scales), &r));
  return Resample(c, r);
}

// The values of all dimensions, from those that the attribute `axes` lists; `rest` has those of the
// others.
absl::StatusOr<std::vector<double>> OfAllDimensions(NodeContext& c, const std::vector<double>& values,
                                                    std::vector<double> rest, absl::string_view what) {
  if (!c.HasAttr("axes")) {
    if (values.size() != rest.size()) return Invalid(what, " has ", values.size(), " entries, must have ", rest.size());
    return values;
  }
  const std::vector<int64_t> axes = c.Ints("axes");
  const size_t parts = rest.size() / c.ShapeOf(0).size();  // roi has starts and ends
  if (values.size() != axes.size() * parts)
    return Invalid(what, " has ", values.size(), " entries, must have ", axes.size() * parts);
  for (size_t i = 0; i < axes.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axes[i], c.Rank(0), "axes"));
    for (size_t part = 0; part < parts; ++part) rest[part * c.ShapeOf(0).size() + d] = values[part * axes.size() + i];
  }
  return rest;
}

// Sizes and scales from the sizes that the file wants, which keep the aspect ratio if the policy
// says so: one scale for all listed dimensions, the smallest or the largest.
absl::Status ReadSizes(NodeContext& c, std::vector<double> wanted, Resampling* r) {
  const graph::Shape& in = c.ShapeOf(0);
  const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    return Invalid("keep_aspect_ratio_policy is ", policy);
  COBRA_ASSIGN_OR_RETURN(const std::vector<double> sizes,
                         OfAllDimensions(c, wanted, std::vector<double>(in.begin(), in.end()), "sizes"));
  std::vector<bool> listed(in.size(), !c.HasAttr("axes"));
  for (int64_t axis : c.Ints("axes")) {
    COBRA_ASSIGN_OR_RETURN(const int d, WrapAxis(axis, c.Rank(0), "axes"));
    listed[d] = true;
  }
  double common = 0;
  for (size_t d = 0; d < in.size(); ++d) {
    if (!(sizes[d] >= 0 && sizes[d] <= 1e9)) return Invalid("a size of ", sizes[d]);
    const double scale = sizes[d] / static_cast<double>(std::max<int64_t>(in[d], 1));
    r->scales.push_back(scale);
    r->sizes.push_back(static_cast<int64_t>(sizes[d]));
    if (listed[d] && (common == 0 || (policy == "not_larger" ? scale < common : scale > common))) common = scale;
  }
  if (policy == "stretch") return absl::OkStatus();
  for (size_t d = 0; d < in.size(); ++d) {
    if (!listed[d]) continue;
    const double size = std::floor(common * static_cast<double>(in[d]) + 0.5);
    if (!(size <= 1e9)) return Invalid("a size of ", size);
    r->scales[d] = common;
    r->sizes[d] = static_cast<int64_t>(size);
  }
  return absl::OkStatus();
}

absl::StatusOr<Resampling> ReadResampling(NodeContext& c) {
  Resampling r;
  r.mode = c.String("mode", "nearest");
  r.coordinates = c.String("coordinate_transformation_mode", "half_pixel");
  static const auto* const kCoordinates =
      new std::set<std::string>{"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  if (kCoordinates->count(r.coordinates) == 0) return Invalid("coordinate_transformation_mode is ", r.coordinates);
  r.nearest = c.String("nearest_mode", "round_prefer_floor");
  r.cubic_a = c.Float("cubic_coeff_a", -0.75);
  r.exclude_outside = c.Int("exclude_outside") != 0;
  r.antialias = c.Int("antialias") != 0 && r.mode != "nearest";
  r.extrapolation = c.Float("extrapolation_value", 0);
  if (r.coordinates != "tf_crop_and_resize") return r;
  if (!c.Has(1)) return Invalid("roi is missing");
  COBRA_ASSIGN_OR_RETURN(r.roi, c.Known(1, "roi"));
  std::vector<double> whole(c.ShapeOf(0).size(), 0);
  whole.resize(2 * whole.size(), 1);
  COBRA_ASSIGN_OR_RETURN(r.roi, OfAllDimensions(c, r.roi, whole, "roi"));
  return r;
}

absl::StatusOr<Outputs> Resize(NodeContext& c) {
  if (c.opset() < 11) {
    Resampling old;
    old.mode = c.String("mode", "nearest");
    old.coordinates = "asymmetric";
    old.nearest = "floor";
    COBRA_ASSIGN_OR_RETURN(std::vector<double> scales, c.Known(1, "scales"));
    COBRA_RETURN_IF_ERROR(SizesFromScales(c, std::move(scales), &old));
    return Resample(c, old);
  }
  COBRA_ASSIGN_OR_RETURN(Resampling r, ReadResampling(c));
  std::vector<double> scales;
  if (c.Has(2)) {
    COBRA_ASSIGN_OR_RETURN(scales, c.Known(2, "scales"));
  }
  if (!scales.empty()) {
    COBRA_ASSIGN_OR_RETURN(scales, OfAllDimensions(c, scales, std::vector<double>(c.ShapeOf(0).size(), 1), "scales"));
    COBRA_RETURN_IF_ERROR(SizesFromScales(c, std::move(scales), &r));
    return Resample(c, r);
  }
  if (!c.Has(3)) return Invalid("neither scales nor sizes");
  COBRA_ASSIGN_OR_RETURN(std::vector<double> sizes, c.Known(3, "sizes"));
  COBRA_RETURN_IF_ERROR(ReadSizes(c, std::move(sizes), &r));
  return Resample(c, r);
}

}  // namespace

void AddResizeOperators(Registry* registry) {
  registry->Add("Resize", {Resize, 1, false, "scales, sizes and roi are known beforehand"});
  registry->Add("Upsample", {Upsample, 1, false, "scales are known beforehand"});
}

}  // namespace cobra::onnx
