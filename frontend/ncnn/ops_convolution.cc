// Convolutions over one to three dimensions. PyTorch's pad equally on both sides and with zeros:
// other padding is a `pad` and a convolution without.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"
#include "frontend/ncnn/window.h"

namespace cobra::ncnn {
namespace {

constexpr graph::Op kConv[] = {graph::Op::conv1d, graph::Op::conv2d, graph::Op::conv3d};
constexpr graph::Op kConvTranspose[] = {graph::Op::conv_transpose1d, graph::Op::conv_transpose2d,
                                        graph::Op::conv_transpose3d};

// What all convolutions have in common.
struct Convolved {
  Window window;
  int64_t in = 0, out = 0, groups = 1;
  bool bias = false;
};

absl::StatusOr<Convolved> ReadConvolution(const Importer& im, const Layer& layer, int n, bool grouped) {
  Convolved conv;
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, n + 1));
  COBRA_ASSIGN_OR_RETURN(conv.window, ReadWindow(im, layer, n, kConvolutionKeys));
  conv.in = im.InShape(layer)[1];
  conv.out = layer.Int(0, 0);
  conv.groups = grouped ? layer.Int(7, 1) : 1;
  conv.bias = layer.Int(5, 0) != 0;
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of outputs (0=)", {conv.out}));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of groups (7=)", {conv.groups}));
  if (conv.in % conv.groups != 0 || conv.out % conv.groups != 0) {
    return im.Wrong(layer, absl::StrCat(conv.in, " inputs and ", conv.out, " outputs in ", conv.groups, " groups"));
  }
  return conv;
}

absl::StatusOr<graph::ValueRef> BiasOf(Importer& im, const Layer& layer, bool has_bias, int64_t out) {
  if (!has_bias) return graph::ValueRef::None();
  return im.Weight(layer, {"bias", {out}});
}

// Weight and bias of a layer that gets them as inputs: blobs without a batch.
absl::StatusOr<Tensors> DynamicWeights(Importer& im, const Layer& layer, const graph::Shape& shape, bool has_bias) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, has_bias ? 3 : 2, has_bias ? 3 : 2));
  if (im.batch() != 1) return im.Unsupported(layer, "a weight that the network computes, in a batch,");
  const graph::Shape& in = im.InShape(layer, 1);
  if (graph::Shape(in.begin() + 1, in.end()) != shape) {
    return im.Wrong(layer, absl::StrCat("its weight is ", graph::ShapeText(in), ", ", graph::ShapeText(shape),
                                        " expected behind the batch"));
  }
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight,
                         im.Reshape(layer, im.In(layer, 1), std::vector<int64_t>(shape.begin(), shape.end())));
  if (!has_bias) return Tensors{weight, graph::ValueRef::None()};
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 2, 1));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, im.Reshape(layer, im.In(layer, 2), {im.InShape(layer, 2)[1]}));
  return Tensors{weight, bias};
}

// A 1x1 convolution of a blob of one dimension is a product, as in ncnn.
absl::Status AsProduct(Importer& im, const Layer& layer) {
  const int64_t in = im.InShape(layer)[1], out = layer.Int(0, 0);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of outputs (0=)", {out}));
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 6, {out, in}));
  return InnerProductOf(im, layer, {.in = in, .out = out, .bias_key = 5, .weight_shape = {out, in, 1, 1}});
}

absl::Status Convolve(Importer& im, const Layer& layer, int n, bool grouped) {
  if (n == 2 && !grouped && im.Dims(layer) == 1 && layer.Int(1, 0) == 1 && layer.Int(11, 1) == 1 &&
      layer.Int(19, 0) == 0) {
    return AsProduct(im, layer);
  }
  COBRA_ASSIGN_OR_RETURN(Convolved conv, ReadConvolution(im, layer, n, grouped));
  graph::ValueRef x = im.In(layer, 0);
  COBRA_RETURN_IF_ERROR(ResolvePadding(im, layer, LastDims(im.ShapeOf(x), n), &conv.window));
  graph::Shape shape{conv.out, conv.in / conv.groups};
  shape.insert(shape.end(), conv.window.kernel.begin(), conv.window.kernel.end());
  const int64_t int8_scales = layer.Int(8, 0);
  Tensors weights;
  if (layer.Int(19, 0) != 0) {
    if (int8_scales != 0) return im.Unsupported(layer, "a weight that the network computes, in int8,");
    COBRA_ASSIGN_OR_RETURN(weights, DynamicWeights(im, layer, shape, conv.bias));
  } else {
    COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
    COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 6, shape));
    const graph::DType dtype = int8_scales != 0 ? graph::DType::int8 : graph::DType::float32;
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {"weight", shape, true, dtype}));
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, BiasOf(im, layer, conv.bias, conv.out));
    weights = {weight, bias};
    SkipInt8Scales(im, grouped ? conv.groups : conv.out, int8_scales);
  }
  graph::Attributes attributes{{"stride", conv.window.stride},
                               {"padding", conv.window.before},
                               {"dilation", conv.window.dilation},
                               {"groups", conv.groups}};
  if (int8_scales != 0) {
    COBRA_ASSIGN_OR_RETURN(x, Quantized(im, layer, x));
    attributes.Set("quantized", std::string(int8_scales > 100 ? "int8" : "float32"));
  }
  const double pad_value = layer.Real(18, 0);
  if (!conv.window.PadsEqually() || (pad_value != 0 && conv.window.HasPadding())) {
    COBRA_ASSIGN_OR_RETURN(x, im.Pad(layer, x, conv.window.PadAmounts(), pad_value));
    attributes.Set("padding", std::vector<int64_t>(n, 0));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, kConv[n - 1], std::move(attributes), {x, weights[0], weights[1]}));
  return im.Set(layer, 0, im.Activate(layer, x));
}

// The result of a deconvolution before it is cut: of each dimension, what is cut off before and
// after.
absl::Status CutsOf(const Importer& im, const Layer& layer, const graph::Shape& whole, Window* window) {
  const size_t n = window->size();
  bool positive = false;
  for (size_t i = 0; i < n; ++i) positive = positive || window->before[i] > 0 || window->after[i] > 0;
  // Width, height and depth of the result may be given: they count with padding by a rule.
  const int first = n == 3 ? 25 : 20;
  const int64_t width = layer.Int(first, 0);
  const bool lower = window->before.back() == -234;
  for (size_t i = 0; i < n; ++i) {
    const int64_t wanted = layer.Int(first + static_cast<int>(n - 1 - i), width);
    int64_t& before = window->before[i];
    int64_t& after = window->after[i];
    if (positive ? before < 0 || after < 0 : (before != after || (before != 0 && before != -233 && before != -234)))
      return im.Wrong(layer, absl::StrCat("padding of ", before, " and ", after));
    if (positive) continue;
    if (before == 0 || width == 0) {
      before = after = 0;
      continue;
    }
    const int64_t total = whole[i] - wanted;
    if (wanted < 1 || total < 0)
      return im.Wrong(layer, absl::StrCat("an output of ", wanted, " from one of ", whole[i]));
    before = lower ? total - total / 2 : total / 2;
    after = total - before;
  }
  return absl::OkStatus();
}

// x without `before` and `after` of its last dimensions.
absl::StatusOr<graph::ValueRef> CutBorder(Importer& im, const Layer& layer, graph::ValueRef x, const Window& window) {
  const graph::Shape sizes = LastDims(im.ShapeOf(x), window.size());
  std::string index = ":, :";
  for (size_t i = 0; i < window.size(); ++i) {
    if (window.before[i] + window.after[i] >= sizes[i]) return im.Wrong(layer, "its padding leaves nothing over");
    absl::StrAppend(&index, ", ", window.before[i], ":", sizes[i] - window.after[i]);
  }
  return im.Call(layer, graph::Op::getitem, {{"index", index}}, {x});
}

// ncnn: [groups, outputs of a group, inputs of a group, kernel]. PyTorch: [inputs, outputs of a
// group, kernel].
absl::StatusOr<graph::ValueRef> DeconvolutionWeight(Importer& im, const Layer& layer, const Convolved& conv) {
  Importer::Array array{
      "weight", {conv.groups, conv.out / conv.groups, conv.in / conv.groups}, true, graph::DType::float32, {0, 2, 1}};
  array.as = {conv.in, conv.out / conv.groups};
  for (const int64_t k : conv.window.kernel) {
    array.permutation.push_back(static_cast<int>(array.shape.size()));
    array.shape.push_back(k);
    array.as.push_back(k);
  }
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 6, array.shape));
  return im.Weight(layer, std::move(array));
}

absl::Status Deconvolve(Importer& im, const Layer& layer, int n, bool grouped) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_ASSIGN_OR_RETURN(Convolved conv, ReadConvolution(im, layer, n, grouped));
  graph::ValueRef x = im.In(layer, 0);
  const graph::Shape in = LastDims(im.ShapeOf(x), n);
  std::vector<int64_t> extra;  // elements that are added at the end
  graph::Shape whole;
  for (int i = 0; i < n; ++i) {
    const int key = 18 + n - 1 - i;  // right, bottom, behind; 18 is the default of the others
    extra.push_back(layer.Int(key, layer.Int(18, 0)));
    if (extra[i] < 0 || extra[i] >= std::max(conv.window.stride[i], conv.window.dilation[i]))
      return im.Unsupported(layer, absl::StrCat("an output padding of ", extra[i]));
    whole.push_back((in[i] - 1) * conv.window.stride[i] + conv.window.Reach(i) + extra[i]);
  }
  COBRA_RETURN_IF_ERROR(CutsOf(im, layer, whole, &conv.window));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, DeconvolutionWeight(im, layer, conv));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, BiasOf(im, layer, conv.bias, conv.out));
  const bool symmetric = conv.window.PadsEqually();
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, kConvTranspose[n - 1],
                                    {{"stride", conv.window.stride},
                                     {"padding", symmetric ? conv.window.before : std::vector<int64_t>(n, 0)},
                                     {"output_padding", extra},
                                     {"groups", conv.groups},
                                     {"dilation", conv.window.dilation}},
                                    {x, weight, bias}));
  if (!symmetric) {
    COBRA_ASSIGN_OR_RETURN(x, CutBorder(im, layer, x, conv.window));
  }
  return im.Set(layer, 0, im.Activate(layer, x));
}

}  // namespace

namespace handlers {

absl::Status Convolution(Importer& im, const Layer& layer) { return Convolve(im, layer, 2, false); }
absl::Status Convolution1D(Importer& im, const Layer& layer) { return Convolve(im, layer, 1, false); }
absl::Status Convolution3D(Importer& im, const Layer& layer) { return Convolve(im, layer, 3, false); }
absl::Status ConvolutionDepthWise(Importer& im, const Layer& layer) { return Convolve(im, layer, 2, true); }
absl::Status ConvolutionDepthWise1D(Importer& im, const Layer& layer) { return Convolve(im, layer, 1, true); }
absl::Status ConvolutionDepthWise3D(Importer& im, const Layer& layer) { return Convolve(im, layer, 3, true); }
absl::Status Deconvolution(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 2, false); }
absl::Status Deconvolution1D(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 1, false); }
absl::Status Deconvolution3D(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 3, false); }
absl::Status DeconvolutionDepthWise(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 2, true); }
absl::Status DeconvolutionDepthWise1D(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 1, true); }
absl::Status DeconvolutionDepthWise3D(Importer& im, const Layer& layer) { return Deconvolve(im, layer, 3, true); }

// Inputs: x, where the window's points are taken, and, if there are three, a weight for each of
// them.
absl::Status DeformableConv2D(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 3));
  COBRA_ASSIGN_OR_RETURN(Convolved conv, ReadConvolution(im, layer, 2, false));
  graph::ValueRef x = im.In(layer, 0);
  COBRA_RETURN_IF_ERROR(ResolvePadding(im, layer, LastDims(im.ShapeOf(x), 2), &conv.window));
  if (!conv.window.PadsEqually()) return im.Unsupported(layer, "padding that differs at the two ends");
  const graph::Shape shape{conv.out, conv.in, conv.window.kernel[0], conv.window.kernel[1]};
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 6, shape));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {"weight", shape, true}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, BiasOf(im, layer, conv.bias, conv.out));
  const bool masked = layer.bottoms.size() == 3;
  COBRA_ASSIGN_OR_RETURN(
      x, im.Call(layer, graph::Op::deform_conv2d,
                 {{"stride", conv.window.stride},
                  {"padding", conv.window.before},
                  {"dilation", conv.window.dilation},
                  {"n_weight_grps", int64_t{1}},
                  {"n_offset_grps", int64_t{1}},
                  {"use_mask", masked}},
                 {x, weight, im.In(layer, 1), masked ? im.In(layer, 2) : graph::ValueRef::None(), bias}));
  return im.Set(layer, 0, im.Activate(layer, x));
}

}  // namespace handlers
}  // namespace cobra::ncnn
