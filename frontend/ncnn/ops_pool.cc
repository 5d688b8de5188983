// Pooling and resampling. ncnn's default padding ("full") lengthens the input so that no element is
// left out, which is PyTorch's ceil_mode but for windows that begin behind the input: those need a
// `pad` of their own.
#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"
#include "frontend/ncnn/window.h"

namespace cobra::ncnn {
namespace {

constexpr graph::Op kMaxPool[] = {graph::Op::max_pool1d, graph::Op::max_pool2d, graph::Op::max_pool3d};
constexpr graph::Op kAvgPool[] = {graph::Op::avg_pool1d, graph::Op::avg_pool2d, graph::Op::avg_pool3d};
constexpr graph::Op kAdaptiveMax[] = {graph::Op::adaptive_max_pool1d, graph::Op::adaptive_max_pool2d,
                                      graph::Op::adaptive_max_pool3d};
constexpr graph::Op kAdaptiveAvg[] = {graph::Op::adaptive_avg_pool1d, graph::Op::adaptive_avg_pool2d,
                                      graph::Op::adaptive_avg_pool3d};

constexpr int64_t kKeep = -233;  // an output size: the input's

// Makes the padding explicit: all that ncnn adds at the end too. Returns whether some of it is only
// there to fill up the last window.
absl::StatusOr<bool> PadForMode(const Importer& im, const Layer& layer, const graph::Shape& in, Window* window) {
  const int64_t mode = layer.Int(5, 0);
  if (mode < 0 || mode > 3) return im.Wrong(layer, absl::StrCat("pad mode ", mode));
  if (mode >= 2) {
    COBRA_RETURN_IF_ERROR(PadLikeSame(im, layer, in, mode == 3, window));
    // ncnn has the odd element of the depth at the end in both modes.
    if (mode == 3 && window->size() == 3) std::swap(window->before[0], window->after[0]);
    return false;
  }
  bool filled_up = false;
  for (size_t i = 0; i < window->size(); ++i) {
    if (window->before[i] < 0 || window->after[i] < 0) return im.Wrong(layer, "negative padding");
    const int64_t whole = in[i] + window->before[i] + window->after[i];
    if (whole < window->kernel[i])
      return im.Wrong(layer, absl::StrCat("a window of ", window->kernel[i], " over ", whole));
    const int64_t rest = (whole - window->kernel[i]) % window->stride[i];
    if (mode == 1 || rest == 0) continue;
    window->after[i] += window->stride[i] - rest;
    filled_up = true;
  }
  return filled_up;
}

// PyTorch's rule for the size of a pooled dimension.
int64_t PooledSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding, bool ceil) {
  const int64_t span = in + 2 * padding - kernel;
  if (span < 0) return 0;
  int64_t out = (span + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + padding) --out;
  return out;
}

// Whether PyTorch's pooling with padding `before` gives the same windows. What it does not look at
// behind the input makes no difference to a maximum, nor to an average of the elements that are
// there.
bool FitsPyTorch(const graph::Shape& in, const Window& window, bool ceil) {
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t out = (in[i] + window.before[i] + window.after[i] - window.kernel[i]) / window.stride[i] + 1;
    if (window.before[i] > window.kernel[i] / 2) return false;
    if (PooledSize(in[i], window.kernel[i], window.stride[i], window.before[i], ceil) != out) return false;
  }
  return true;
}

absl::Status GlobalPool(Importer& im, const Layer& layer, int n, bool average) {
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, (average ? kAdaptiveAvg : kAdaptiveMax)[n - 1],
                                                    {{"output_size", std::vector<int64_t>(n, 1)}}, {im.In(layer, 0)}));
  COBRA_ASSIGN_OR_RETURN(
      x, im.Call(layer, graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x}));
  return im.Set(layer, 0, x);
}

absl::Status AdaptivePool(Importer& im, const Layer& layer, int n, bool average) {
  const graph::Shape in = LastDims(im.InShape(layer), n);
  const int keys[] = {8, 18, 28};
  std::vector<int64_t> size;
  for (int i = 0; i < n; ++i) {
    const int64_t wanted = layer.Int(keys[n - 1 - i], layer.Int(8, 0));
    size.push_back(wanted == kKeep && n > 1 ? in[i] : wanted);
  }
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "an output size", size));
  if (graph::Shape(size.begin(), size.end()) == in) return im.Set(layer, 0, im.In(layer, 0));
  return im.Set(
      layer, 0,
      im.Call(layer, (average ? kAdaptiveAvg : kAdaptiveMax)[n - 1], {{"output_size", size}}, {im.In(layer, 0)}));
}

absl::Status Pool(Importer& im, const Layer& layer, int n) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, n + 1));
  const bool average = layer.Int(0, 0) == 1;
  if (layer.Int(0, 0) < 0 || layer.Int(0, 0) > 1)
    return im.Wrong(layer, absl::StrCat("pooling type ", layer.Int(0, 0)));
  if (layer.tops.size() != 1) return im.Unsupported(layer, "a second output");
  if (layer.Int(4, 0) != 0) return GlobalPool(im, layer, n, average);
  if (layer.Int(7, 0) != 0) return AdaptivePool(im, layer, n, average);
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(im, layer, n, kPoolingKeys));
  graph::ValueRef x = im.In(layer, 0);
  const graph::Shape in = LastDims(im.ShapeOf(x), n);
  const Window said = window;
  COBRA_ASSIGN_OR_RETURN(const bool filled_up, PadForMode(im, layer, in, &window));
  // Where padding counts as zeros, all of it counts. Leaving it out, ncnn goes by the amounts in
  // the file, not by those of the rule.
  const bool by_rule = layer.Int(5, 0) >= 2;
  if (average && by_rule && said.HasPadding())
    return im.Unsupported(layer, "an average with padding beside a pad mode");
  const bool count_padding = average && (layer.Int(6, 0) != 0 || by_rule) && window.HasPadding();
  bool ceil = !FitsPyTorch(in, window, false);
  bool fits = !ceil || FitsPyTorch(in, window, true);
  if (count_padding) {
    fits = !filled_up && window.PadsEqually() && FitsPyTorch(in, window, false);
    ceil = false;
  }
  if (!fits) {
    if (average && !count_padding) return im.Unsupported(layer, "an average without its padding over such windows");
    const double value = average ? 0 : -std::numeric_limits<double>::infinity();
    COBRA_ASSIGN_OR_RETURN(x, im.Pad(layer, x, window.PadAmounts(), value));
    window.before.assign(n, 0);
    ceil = false;
  }
  graph::Attributes attributes{
      {"kernel_size", window.kernel}, {"stride", window.stride}, {"padding", window.before}, {"ceil_mode", ceil}};
  if (average) {
    attributes.Set("count_include_pad", count_padding || !window.HasPadding());
  } else {
    attributes.Set("dilation", window.dilation);
  }
  return im.Set(layer, 0, im.Call(layer, (average ? kAvgPool : kMaxPool)[n - 1], std::move(attributes), {x}));
}

struct Target {
  int64_t height, width;
};

// The size that Interp resizes to. ncnn multiplies as float and cuts off.
absl::StatusOr<Target> TargetOf(const Importer& im, const Layer& layer, int64_t h, int64_t w) {
  const bool by_expression = layer.Find(9) != nullptr;
  if (by_expression && layer.Int(5, 0) != 0)
    return im.Unsupported(layer, "a size as of its second input (5=1) beside an expression (9=)");
  if (layer.Int(5, 0) != 0) {
    COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
    const graph::Shape& like = im.InShape(layer, 1);
    return Target{like.size() > 2 ? like[like.size() - 2] : 1, like.back()};
  }
  if (!by_expression) COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  Target target{layer.Int(3, 0), layer.Int(4, 0)};
  if (by_expression) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, im.Sizes(layer, 9));
    if (sizes.size() != 2 && (sizes.size() != 1 || im.Dims(layer) != 2))
      return im.Wrong(layer, absl::StrCat(sizes.size(), " sizes (9=); a width and a height are expected"));
    target = {sizes.back(), sizes[0]};
  } else if (target.height == 0 || target.width == 0) {
    const float heights = static_cast<float>(h) * static_cast<float>(layer.Real(1, 1));
    const float widths = static_cast<float>(w) * static_cast<float>(layer.Real(2, 1));
    if (!(heights >= 0 && heights < 1e9f && widths >= 0 && widths < 1e9f))
      return im.Wrong(layer, "a scale that gives no size");
    target = {static_cast<int64_t>(heights), static_cast<int64_t>(widths)};
  }
  if (im.Dims(layer) == 2) target.height = 1;  // ncnn does not look at it
  if (target.height < 1 || target.width < 1)
    return im.Wrong(layer, absl::StrCat("a size of ", target.height, "x", target.width));
  return target;
}

// A blob of one dimension is its channels: every pixel of a channel gets the channel's number.
absl::Status Spread(Importer& im, const Layer& layer, const Target& target) {
  const graph::Shape s = im.InShape(layer);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Reshape(layer, im.In(layer, 0), {s[0], s[1], 1, 1}));
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::expand,
                        {{"size", std::vector<int64_t>{s[0], s[1], target.height, target.width}}}, {x}));
}

}  // namespace

namespace handlers {

absl::Status Pooling(Importer& im, const Layer& layer) { return Pool(im, layer, 2); }
absl::Status Pooling1D(Importer& im, const Layer& layer) { return Pool(im, layer, 1); }
absl::Status Pooling3D(Importer& im, const Layer& layer) { return Pool(im, layer, 3); }

absl::Status Interp(Importer& im, const Layer& layer) {
  const int64_t type = layer.Int(0, 0);
  const graph::Shape s = im.InShape(layer);
  const int dims = im.Dims(layer);
  if (type < 1 || type > 3) return im.Wrong(layer, absl::StrCat("resize type ", type));
  if (dims > 3) return im.Unsupported(layer, "an input of four dimensions");
  COBRA_ASSIGN_OR_RETURN(const Target target, TargetOf(im, layer, dims == 3 ? s[2] : 1, dims == 1 ? 1 : s.back()));
  if (dims == 1) return Spread(im, layer, target);
  const graph::ValueRef x = im.In(layer, 0);
  if (s.back() == target.width && (dims == 2 || s[2] == target.height)) return im.Set(layer, 0, x);
  if (dims == 2 && type == 3) return im.Unsupported(layer, "bicubic interpolation of rows");
  // Of a blob of two dimensions only the width changes.
  std::vector<int64_t> size{target.width};
  if (dims == 3) size.insert(size.begin(), target.height);
  const char* mode = type == 1 ? "nearest" : dims == 2 ? "linear" : type == 2 ? "bilinear" : "bicubic";
  graph::Attributes attributes{{"size", std::move(size)}, {"mode", std::string(mode)}};
  if (type != 1) attributes.Set("align_corners", layer.Int(6, 0) != 0);
  return im.Set(layer, 0, im.Call(layer, graph::Op::interpolate, std::move(attributes), {x}));
}

absl::Status GridSample(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  const int64_t type = layer.Int(0, 1), padding = layer.Int(1, 1);
  if (type < 1 || type > 3 || padding < 1 || padding > 3)
    return im.Wrong(layer, absl::StrCat("sample type ", type, ", padding mode ", padding));
  graph::ValueRef grid = im.In(layer, 1);
  if (layer.Int(3, 0) != 0) {  // the grid's two or three coordinates come first: pnnx has put its permutation in here
    std::vector<int64_t> dims{0};
    for (size_t d = 2; d < im.ShapeOf(grid).size(); ++d) dims.push_back(static_cast<int64_t>(d));
    dims.push_back(1);
    COBRA_ASSIGN_OR_RETURN(grid, im.Permute(layer, grid, std::move(dims)));
  }
  constexpr const char* kModes[] = {"bilinear", "nearest", "bicubic"};
  constexpr const char* kPaddings[] = {"zeros", "border", "reflection"};
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::grid_sample,
                        {{"mode", std::string(kModes[type - 1])},
                         {"padding_mode", std::string(kPaddings[padding - 1])},
                         {"align_corners", layer.Int(2, 0) != 0}},
                        {im.In(layer, 0), grid}));
}

absl::Status Unfold(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  COBRA_ASSIGN_OR_RETURN(Window window, ReadWindow(im, layer, 2, kConvolutionKeys));
  graph::ValueRef x = im.In(layer, 0);
  COBRA_RETURN_IF_ERROR(ResolvePadding(im, layer, LastDims(im.ShapeOf(x), 2), &window));
  if (!window.PadsEqually() || layer.Real(18, 0) != 0) {
    COBRA_ASSIGN_OR_RETURN(x, im.Pad(layer, x, window.PadAmounts(), layer.Real(18, 0)));
    window.before = {0, 0};
  }
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::unfold,
                        {{"kernel_size", window.kernel},
                         {"dilation", window.dilation},
                         {"padding", window.before},
                         {"stride", window.stride}},
                        {x}));
}

absl::Status Fold(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 2));
  COBRA_ASSIGN_OR_RETURN(const Window window, ReadWindow(im, layer, 2, kConvolutionKeys));
  if (!window.PadsEqually() || window.before[0] < 0 || window.before[1] < 0)
    return im.Unsupported(layer, "padding that differs at the two ends");
  const int64_t width = layer.Int(20, 0);
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::fold,
                        {{"output_size", std::vector<int64_t>{layer.Int(21, width), width}},
                         {"kernel_size", window.kernel},
                         {"dilation", window.dilation},
                         {"padding", window.before},
                         {"stride", window.stride}},
                        {im.In(layer, 0)}));
}

}  // namespace handlers
}  // namespace cobra::ncnn
