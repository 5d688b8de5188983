// Normalisation, and scales and biases by channel. The channel of a blob is its outermost
// dimension, PyTorch's second.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

constexpr graph::DType kReal = graph::DType::float32;

// A weight of every channel, in a shape that broadcasts with the layer's input.
absl::StatusOr<graph::ValueRef> ChannelWeight(Importer& im, const Layer& layer, std::string name, int64_t count) {
  graph::Shape as{count};
  for (int d = 1; d < im.Dims(layer); ++d) as.push_back(1);
  return im.Weight(layer, {std::move(name), {count}, false, kReal, {}, as});
}

absl::Status CheckChannels(const Importer& im, const Layer& layer, int64_t said) {
  if (said == im.InShape(layer)[1]) return absl::OkStatus();
  return im.Wrong(layer, absl::StrCat("it says ", said, " channels, its input has ", im.InShape(layer)[1]));
}

struct Affine {
  graph::ValueRef weight = graph::ValueRef::None(), bias = graph::ValueRef::None();
};
absl::StatusOr<Affine> AffineOf(Importer& im, const Layer& layer, bool affine, graph::Shape shape,
                                graph::Shape as = {}) {
  Affine out;
  if (!affine) return out;
  COBRA_ASSIGN_OR_RETURN(out.weight, im.Weight(layer, {"weight", shape, false, kReal, {}, as}));
  COBRA_ASSIGN_OR_RETURN(out.bias, im.Weight(layer, {"bias", shape, false, kReal, {}, as}));
  return out;
}

// The last dimensions that LayerNorm and RMSNorm normalise over: the width, or all but the
// channels.
absl::StatusOr<std::vector<int64_t>> NormalizedShape(const Importer& im, const Layer& layer, bool affine) {
  const graph::Shape& s = im.InShape(layer);
  const int64_t size = layer.Int(0, 0);
  if (im.Dims(layer) > 3) return im.Unsupported(layer, "an input of four dimensions");
  std::vector<int64_t> shape{s.back()};
  // ncnn decides by the size alone. It normalises blobs of one and two dimensions over the width
  // whatever it is.
  if (im.Dims(layer) == 3 && size != s[3]) shape = {s[2], s[3]};
  int64_t count = 1;
  for (const int64_t d : shape) count *= d;
  if ((affine || im.Dims(layer) == 3) && size != count)
    return im.Wrong(layer, absl::StrCat("a norm over ", size, " numbers (0=) of ", graph::ShapeText(s)));
  return shape;
}

// x / (k + alpha mean(x * x))^beta, with the mean over a window of the channel around each element.
absl::StatusOr<graph::ValueRef> WithinChannel(Importer& im, const Layer& layer, int64_t size, double alpha, double beta,
                                              double k) {
  const graph::ValueRef x = im.In(layer, 0);
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  if (size % 2 == 0) return im.Unsupported(layer, "an even window within a channel");
  const std::vector<int64_t> window{size, size}, one{1, 1}, padding{size / 2, size / 2};
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef sum, im.Call(layer, graph::Op::square, {}, {x}));
  COBRA_ASSIGN_OR_RETURN(sum, im.Call(layer, graph::Op::avg_pool2d,
                                      {{"kernel_size", window},
                                       {"stride", one},
                                       {"padding", padding},
                                       {"ceil_mode", false},
                                       {"count_include_pad", true}},
                                      {sum}));
  COBRA_ASSIGN_OR_RETURN(sum, im.Call(layer, graph::Op::mul, {{"other", alpha}}, {sum}));
  COBRA_ASSIGN_OR_RETURN(sum, im.Call(layer, graph::Op::add, {{"other", k}}, {sum}));
  COBRA_ASSIGN_OR_RETURN(sum, im.Call(layer, graph::Op::pow, {{"exponent", beta}}, {sum}));
  return im.Call(layer, graph::Op::div, {}, {x, sum});
}

}  // namespace

namespace handlers {

absl::Status BatchNorm(Importer& im, const Layer& layer) {
  const int64_t channels = layer.Int(0, 0);
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_RETURN_IF_ERROR(CheckChannels(im, layer, channels));
  Tensors w;
  for (const char* name : {"weight", "running_mean", "running_var", "bias"}) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {name, {channels}}));
    w.push_back(weight);
  }
  return im.Set(
      layer, 0,
      im.Call(layer, graph::Op::batch_norm, {{"eps", layer.Real(1, 0)}}, {im.In(layer, 0), w[1], w[2], w[0], w[3]}));
}

absl::Status Scale(Importer& im, const Layer& layer) {
  const int64_t size = layer.Int(0, 0);
  const bool from_input = size == -233;
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, from_input ? 2 : 1, from_input ? 2 : 1));
  const int64_t channels = im.InShape(layer)[1];
  graph::ValueRef scale = graph::ValueRef::None();
  if (from_input) {
    const graph::Shape s = im.InShape(layer, 1);
    if (s.size() != 2 || s[1] != channels)
      return im.Wrong(layer, absl::StrCat("a scale of ", graph::ShapeText(s), " for ", channels, " channels"));
    std::vector<int64_t> as{s[0], channels};
    for (int d = 1; d < im.Dims(layer); ++d) as.push_back(1);
    COBRA_ASSIGN_OR_RETURN(scale, im.Reshape(layer, im.In(layer, 1), std::move(as)));
  } else {
    COBRA_RETURN_IF_ERROR(CheckChannels(im, layer, size));
    COBRA_ASSIGN_OR_RETURN(scale, ChannelWeight(im, layer, "weight", size));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::mul, {}, {im.In(layer, 0), scale}));
  if (layer.Int(1, 0) != 0) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, ChannelWeight(im, layer, "bias", channels));
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::add, {}, {x, bias}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Bias(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(CheckChannels(im, layer, layer.Int(0, 0)));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, ChannelWeight(im, layer, "bias", layer.Int(0, 0)));
  return im.Set(layer, 0, im.Call(layer, graph::Op::add, {}, {im.In(layer, 0), bias}));
}

absl::Status LayerNorm(Importer& im, const Layer& layer) {
  const bool affine = layer.Int(2, 1) != 0;
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, NormalizedShape(im, layer, affine));
  COBRA_ASSIGN_OR_RETURN(const Affine w,
                         AffineOf(im, layer, affine, {layer.Int(0, 0)}, graph::Shape(shape.begin(), shape.end())));
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::layer_norm, {{"normalized_shape", shape}, {"eps", layer.Real(1, 0.001)}},
                        {im.In(layer, 0), w.weight, w.bias}));
}

absl::Status RMSNorm(Importer& im, const Layer& layer) {
  const bool affine = layer.Int(2, 1) != 0;
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, NormalizedShape(im, layer, affine));
  graph::ValueRef weight = graph::ValueRef::None();
  if (affine) {
    COBRA_ASSIGN_OR_RETURN(
        weight,
        im.Weight(layer, {"weight", {layer.Int(0, 0)}, false, kReal, {}, graph::Shape(shape.begin(), shape.end())}));
  }
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::rms_norm, {{"normalized_shape", shape}, {"eps", layer.Real(1, 0.001)}},
                        {im.In(layer, 0), weight}));
}

absl::Status GroupNorm(Importer& im, const Layer& layer) {
  const int64_t groups = layer.Int(0, 1), channels = layer.Int(1, 0);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of groups", {groups}));
  COBRA_RETURN_IF_ERROR(CheckChannels(im, layer, channels));
  COBRA_ASSIGN_OR_RETURN(const Affine w, AffineOf(im, layer, layer.Int(3, 1) != 0, {channels}));
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::group_norm, {{"num_groups", groups}, {"eps", layer.Real(2, 0.001)}},
                        {im.In(layer, 0), w.weight, w.bias}));
}

absl::Status InstanceNorm(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const bool affine = layer.Int(2, 1) != 0;
  if (affine) COBRA_RETURN_IF_ERROR(CheckChannels(im, layer, layer.Int(0, 0)));
  COBRA_ASSIGN_OR_RETURN(const Affine w, AffineOf(im, layer, affine, {layer.Int(0, 0)}));
  const graph::ValueRef none = graph::ValueRef::None();
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::instance_norm, {{"eps", layer.Real(1, 0.001)}},
                        {im.In(layer, 0), none, none, w.weight, w.bias}));
}

// Mean and variance over each channel, or over the whole blob.
absl::Status MVN(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  if (layer.Int(0, 0) == 0) {
    std::vector<int64_t> dims = layer.Int(1, 0) != 0 ? std::vector<int64_t>{1, 2, 3} : std::vector<int64_t>{2, 3};
    COBRA_ASSIGN_OR_RETURN(graph::ValueRef mean,
                           im.Call(layer, graph::Op::mean, {{"dim", dims}, {"keepdim", true}}, {im.In(layer, 0)}));
    return im.Set(layer, 0, im.Call(layer, graph::Op::sub, {}, {im.In(layer, 0), mean}));
  }
  const graph::ValueRef none = graph::ValueRef::None();
  const int64_t groups = layer.Int(1, 0) != 0 ? 1 : im.InShape(layer)[1];
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::group_norm, {{"num_groups", groups}, {"eps", layer.Real(2, 0.0001)}},
                        {im.In(layer, 0), none, none}));
}

absl::Status LRN(Importer& im, const Layer& layer) {
  const int64_t region = layer.Int(0, 0), size = layer.Int(1, 5);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a window", {size}));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const double alpha = layer.Real(2, 1), beta = layer.Real(3, 0.75), k = layer.Real(4, 1);
  if (region == 1) {
    return im.Set(layer, 0, WithinChannel(im, layer, size, alpha, beta, k));
  }
  if (region != 0) return im.Wrong(layer, absl::StrCat("region ", region));
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::local_response_norm,
                        {{"size", size}, {"alpha", alpha}, {"beta", beta}, {"k", k}}, {im.In(layer, 0)}));
}

// Divides by the norm of every position over the channels, of every channel, or of the whole blob.
absl::Status Normalize(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const bool over_space = layer.Int(0, 0) != 0, over_channels = layer.Int(4, 0) != 0;
  const bool shared = layer.Int(1, 0) != 0;
  const int64_t count = layer.Int(3, 0);
  if (!over_space && !over_channels) return im.Unsupported(layer, "a norm over neither space nor channels");
  if (count != (shared ? 1 : im.InShape(layer)[1]))
    return im.Wrong(layer, absl::StrCat("it says ", count, " scales for ", im.InShape(layer)[1], " channels"));
  const graph::Shape s = im.InShape(layer);
  graph::ValueRef x = im.In(layer, 0);
  const double eps = layer.Real(2, 0.0001);
  int64_t dim = 1;
  if (over_space) {
    dim = over_channels ? 1 : 2;
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::flatten, {{"start_dim", dim}, {"end_dim", int64_t{-1}}}, {x}));
  }
  // Where it adds eps to the square, PyTorch's bound of the norm is its root.
  COBRA_ASSIGN_OR_RETURN(
      x, im.Call(layer, graph::Op::normalize,
                 {{"p", 2.0}, {"dim", dim}, {"eps", layer.Int(9, 0) == 1 ? eps : std::sqrt(eps)}}, {x}));
  COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, std::vector<int64_t>(s.begin(), s.end())));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef scale,
                         im.Weight(layer, {"weight", {count}, false, kReal, {}, {count, 1, 1}}));
  return im.Set(layer, 0, im.Call(layer, graph::Op::mul, {}, {x, scale}));
}

}  // namespace handlers
}  // namespace cobra::ncnn
