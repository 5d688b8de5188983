// Pools of windows, and resampling.
#include <algorithm>
#include <cmath>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

// Keys by dimension, the innermost first: width, height, depth.
constexpr int kKernel[] = {1, 11, 21}, kStride[] = {2, 12, 22}, kBefore[] = {3, 13, 23}, kAfter[] = {14, 15, 16},
              kSize[] = {8, 18, 28};
constexpr int64_t kMaximum = 0, kAverage = 1;

std::string LayerName(int n) { return n == 1 ? "Pooling1D" : n == 3 ? "Pooling3D" : "Pooling"; }

absl::StatusOr<Ints> Unbatched(const Shape& shape, int n) {
  if (static_cast<int>(shape.size()) == n + 2 && shape[0] != 1)
    return Refused("a batch of ", shape[0], ": ncnn's blobs have none; read the network with a batch of 1");
  return Ints(shape.end() - n - 1, shape.end());
}

void Append(Params* params, const int* keys, const Ints& values) {
  for (size_t i = values.size(); i-- > 0;) params->emplace_back(keys[values.size() - 1 - i], values[i]);
}

Names WithUnused(const CallWriter& c, std::string y) {
  Names names(c.node().outputs.size());
  names[0] = std::move(y);
  return names;
}

absl::StatusOr<Names> Pool(CallWriter& c, int64_t type) {
  const int n = c.WindowDims();
  if (c.node().outputs.size() > 1 && c.IsUsed(1)) return Refused("the places of the largest numbers");
  if (c.HasValue("divisor_override")) return Refused("divisor_override");
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), n));
  COBRA_ASSIGN_OR_RETURN(const Ints out, Unbatched(c.Out().shape, n));
  const Ints kernel = c.IntList("kernel_size", n, 1), before = c.IntList("padding", n, 0);
  const Ints stride = c.IntList("stride").empty() ? kernel : c.IntList("stride", n, 1);
  const Ints dilation = c.IntList("dilation", n, 1);
  if (Product(dilation) != 1) return Refused("a dilation");
  Ints after = before;
  bool beyond = false;  // a window reaches further than PyTorch's padding
  for (int i = 0; i < n; ++i) {
    const int64_t reach = (out[1 + i] - 1) * stride[i] + kernel[i] - in[1 + i] - before[i];
    beyond = beyond || reach > before[i];
    after[i] = std::max(reach, std::min(before[i], reach + stride[i] - 1));
    after[i] = std::max<int64_t>(after[i], 0);
  }
  const bool pads = Product(before) != 0 || std::count(before.begin(), before.end(), 0) < n;
  const bool counts = c.Bool("count_include_pad", true) && pads;
  if (type == kAverage && counts && beyond) return Refused("an average of padding that ceil_mode cuts off");
  Params params{{0, type}};
  Append(&params, kKernel, kernel);
  Append(&params, kStride, stride);
  Append(&params, kBefore, before);
  if (after != before) Append(&params, kAfter, after);
  params.emplace_back(5, int64_t{1});
  if (type == kAverage) params.emplace_back(6, int64_t{counts ? 1 : 0});
  return WithUnused(c, c.Layer(LayerName(n), {c.In(0, in)}, out, std::move(params)));
}

absl::StatusOr<Names> Adaptive(CallWriter& c, int n, int64_t type) {
  if (c.node().outputs.size() > 1 && c.IsUsed(1)) return Refused("the places of the largest numbers");
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), n));
  COBRA_ASSIGN_OR_RETURN(const Ints out, Unbatched(c.Out().shape, n));
  if (in == out) return WithUnused(c, c.In(0));
  const Ints size(out.begin() + 1, out.end());
  // What pools everything is a blob of the channels alone.
  if (Product(size) == 1)
    return WithUnused(c, c.Layer(LayerName(n), {c.In(0, in)}, {out[0]}, {{0, type}, {4, int64_t{1}}}));
  Params params{{0, type}, {7, int64_t{1}}};
  Append(&params, kSize, size);
  return WithUnused(c, c.Layer(LayerName(n), {c.In(0, in)}, out, std::move(params)));
}

// Whether PyTorch and ncnn compute the same places: the factors that PyTorch was given are those of
// the sizes.
bool FactorsFit(const CallWriter& c) {
  if (c.HasValue("size") || c.Bool("recompute_scale_factor") || c.Bool("align_corners")) return true;
  const graph::AttributeValue* value = c.node().attributes.Find("scale_factor");
  if (value == nullptr) return true;
  const int dims = c.Rank(0) - 2;
  std::vector<double> factors;
  if (const auto* list = std::get_if<std::vector<double>>(value)) factors = *list;
  if (const auto* list = std::get_if<Ints>(value)) factors.assign(list->begin(), list->end());
  if (factors.empty()) factors.assign(static_cast<size_t>(dims), c.Double("scale_factor", 1));
  for (int d = 0; d < dims; ++d) {
    const double exact = static_cast<double>(c.ShapeOf(0)[2 + d]) * factors[static_cast<size_t>(d)];
    if (std::abs(exact - static_cast<double>(c.Out().shape[2 + d])) > 1e-6) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Names> WriteMaxPool(CallWriter& c) { return Pool(c, kMaximum); }
absl::StatusOr<Names> WriteAvgPool(CallWriter& c) { return Pool(c, kAverage); }
absl::StatusOr<Names> WriteAdaptiveMaxPool(CallWriter& c) { return Adaptive(c, c.WindowDims(), kMaximum); }
absl::StatusOr<Names> WriteAdaptiveAvgPool(CallWriter& c) { return Adaptive(c, c.WindowDims(), kAverage); }

absl::StatusOr<Names> WriteInterpolate(CallWriter& c) {
  const std::string mode = c.String("mode", "nearest");
  const int dims = c.Rank(0) - 2;
  const int64_t type = mode == "nearest" ? 1 : mode == "bilinear" || (mode == "linear") ? 2 : mode == "bicubic" ? 3 : 0;
  if (mode == "area" && dims <= 2) return Adaptive(c, dims, kAverage);
  if (type == 0 || dims > 2) return Refused("mode='", mode, "' over ", dims, " dimensions");
  if (c.Bool("antialias")) return Refused("antialias");
  if (!FactorsFit(c)) return Refused("a scale_factor that is not the quotient of the sizes");
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), dims));
  COBRA_ASSIGN_OR_RETURN(const Ints out, Unbatched(c.Out().shape, dims));
  if (in == out) return Names{c.In(0)};
  if (type == 3 && c.Bool("align_corners") && std::count(out.begin() + 1, out.end(), 1) > 0)
    return Refused("mode='bicubic' with aligned corners to a size of 1, for which ncnn computes no number");
  const Ints rows{in[0], 1, in.back()}, to{out[0], 1, out.back()};
  const std::string x = c.In(0, dims == 1 ? rows : in);
  Params params{{0, type}, {3, dims == 1 ? 1 : out[1]}, {4, out.back()}};
  if (type != 1) params.emplace_back(6, int64_t{c.Bool("align_corners") ? 1 : 0});
  return Names{c.Layer("Interp", {x}, dims == 1 ? to : out, std::move(params))};
}

absl::StatusOr<Names> WritePixelShuffle(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), 2));
  COBRA_ASSIGN_OR_RETURN(const Ints out, Unbatched(c.Out().shape, 2));
  return Names{c.Layer("PixelShuffle", {c.In(0, in)}, out, {{0, c.Int("upscale_factor", 1)}})};
}

absl::StatusOr<Names> WritePixelUnshuffle(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), 2));
  COBRA_ASSIGN_OR_RETURN(const Ints out, Unbatched(c.Out().shape, 2));
  return Names{c.Layer("Reorg", {c.In(0, in)}, out, {{0, c.Int("downscale_factor", 1)}})};
}

absl::StatusOr<Names> WriteChannelShuffle(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(const Ints in, Unbatched(c.ShapeOf(0), 2));
  return Names{c.Layer("ShuffleChannel", {c.In(0, in)}, in, {{0, c.Int("groups", 1)}})};
}

}  // namespace cobra::exporting::ncnn
