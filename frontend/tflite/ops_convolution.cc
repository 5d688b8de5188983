// Convolutions and products. TensorFlow's SAME padding may be one pixel larger at the end than at
// the beginning. PyTorch's convolutions pad equally on both sides, so such a convolution is a `pad`
// and a convolution without padding.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"

namespace cobra::tflite::handlers {
namespace {

struct ConvOptions {
  schema::Padding padding;
  int64_t stride[2], dilation[2];  // height, width
  schema::ActivationFunctionType activation;
};

template <typename Options>
ConvOptions Read(const Options& o) {
  return {o.padding(),
          {o.stride_h(), o.stride_w()},
          {o.dilation_h_factor(), o.dilation_w_factor()},
          o.fused_activation_function()};
}

absl::Status CheckSteps(Importer& im, const OpCall& call, const int64_t (&stride)[2], const int64_t (&dilation)[2]) {
  constexpr int64_t kMost = 1 << 20;
  for (int64_t v : {stride[0], stride[1], dilation[0], dilation[1]}) {
    if (v < 1 || v > kMost) return im.Wrong(call, absl::StrCat("a stride or dilation of ", v));
  }
  return absl::OkStatus();
}

absl::StatusOr<graph::ValueRef> Bias(Importer& im, const OpCall& call, size_t input) {
  if (!call.has(input)) return graph::ValueRef::None();
  return im.File(call.inputs[input]);
}

}  // namespace

Window WindowOf(schema::Padding padding, int64_t in, int64_t reach, int64_t stride) {
  if (padding == schema::Padding_VALID) return {in < reach ? 0 : (in - reach) / stride + 1, 0, 0};
  Window window;
  window.out = (in + stride - 1) / stride;
  const int64_t total = std::max<int64_t>(0, (window.out - 1) * stride + reach - in);
  window.before = total / 2;
  window.after = total - window.before;
  return window;
}

absl::Status Conv2d(Importer& im, const OpCall& call) {
  if (!call.has(1) || im.Rank(call.inputs[0]) != 4 || im.Rank(call.inputs[1]) != 4) {
    return im.Wrong(call, "an image and a filter of four dimensions expected");
  }
  if (!im.State(call.inputs[1]).constant) return im.Unsupported(call, "a filter that the network computes");
  const bool depthwise = call.code == schema::BuiltinOperator_DEPTHWISE_CONV_2D;
  ConvOptions options;
  if (depthwise) {
    COBRA_ASSIGN_OR_RETURN(const auto* o, im.OptionsOf<schema::DepthwiseConv2DOptions>(call));
    options = Read(*o);
  } else {
    COBRA_ASSIGN_OR_RETURN(const auto* o, im.OptionsOf<schema::Conv2DOptions>(call));
    options = Read(*o);
  }
  COBRA_RETURN_IF_ERROR(CheckSteps(im, call, options.stride, options.dilation));
  const graph::Shape in = im.ShapeOf(call.inputs[0]), filter = im.ShapeOf(call.inputs[1]);
  // [out, height, width, in / groups], or [1, height, width, in * multiplier]
  const int64_t per_group = filter[3];
  if (!depthwise && (per_group == 0 || in[3] % per_group != 0)) {
    return im.Wrong(call, absl::StrCat("a filter of ", graph::ShapeText(filter), " does not fit ", in[3], " channels"));
  }
  const int64_t groups = depthwise ? in[3] : in[3] / per_group;
  Window window[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t reach = (filter[1 + i] - 1) * options.dilation[i] + 1;
    window[i] = WindowOf(options.padding, in[1 + i], reach, options.stride[i]);
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Image(call.inputs[0]));
  std::vector<int64_t> padding = {window[0].before, window[1].before};
  if (window[0].before != window[0].after || window[1].before != window[1].after) {
    COBRA_ASSIGN_OR_RETURN(
        x, im.Move(call, graph::Op::pad,
                   {{"pad", std::vector<int64_t>{window[1].before, window[1].after, window[0].before, window[0].after}},
                    {"mode", std::string("constant")},
                    {"value", 0.0}},
                   {x}));
    padding = {0, 0};
  }
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight,
                         depthwise ? im.Weight(call.inputs[1], {3, 0, 1, 2}) : im.Weight(call.inputs[1], {0, 3, 1, 2}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, Bias(im, call, 2));
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::conv2d,
                                       {{"stride", std::vector<int64_t>{options.stride[0], options.stride[1]}},
                                        {"padding", padding},
                                        {"dilation", std::vector<int64_t>{options.dilation[0], options.dilation[1]}},
                                        {"groups", groups}},
                                       {x, weight, bias}));
  return im.SetImage(call, 0, im.Activate(call, x, options.activation));
}

// Inputs: the size of the result, the filter [out, height, width, in], the image, a bias.
absl::Status TransposeConv(Importer& im, const OpCall& call) {
  if (!call.has(2) || im.Rank(call.inputs[1]) != 4 || im.Rank(call.inputs[2]) != 4) {
    return im.Wrong(call, "a filter and an image of four dimensions expected");
  }
  if (!im.State(call.inputs[1]).constant) return im.Unsupported(call, "a filter that the network computes");
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::TransposeConvOptions>(call));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, im.Ints(call, 0, "the output's shape"));
  if (size.size() != 4) return im.Wrong(call, "an output shape of four numbers expected");
  const int64_t stride[2] = {options->stride_h(), options->stride_w()}, dilation[2] = {1, 1};
  COBRA_RETURN_IF_ERROR(CheckSteps(im, call, stride, dilation));
  const graph::Shape in = im.ShapeOf(call.inputs[2]), filter = im.ShapeOf(call.inputs[1]);
  std::vector<int64_t> padding(2), extra(2);
  for (int i = 0; i < 2; ++i) {
    // The corresponding forward convolution pads `total` pixels; the odd pixel is at the end.
    const int64_t whole = (in[1 + i] - 1) * stride[i] + filter[1 + i];
    const int64_t total = std::max<int64_t>(0, options->padding() == schema::Padding_SAME ? whole - size[1 + i] : 0);
    padding[i] = total / 2;
    extra[i] = std::max<int64_t>(0, size[1 + i] - (whole - 2 * padding[i]));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Image(call.inputs[2]));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(call.inputs[1], {3, 0, 1, 2}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, Bias(im, call, 3));
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::conv_transpose2d,
                                       {{"stride", std::vector<int64_t>{stride[0], stride[1]}},
                                        {"padding", padding},
                                        {"output_padding", extra},
                                        {"groups", int64_t{1}},
                                        {"dilation", std::vector<int64_t>{1, 1}}},
                                       {x, weight, bias}));
  const graph::Shape made = im.TypeOf(x).shape;
  if (made[2] > size[1] || made[3] > size[2]) {
    COBRA_ASSIGN_OR_RETURN(
        x, im.Move(call, graph::Op::getitem, {{"index", absl::StrCat(":, :, :", size[1], ", :", size[2])}}, {x}));
  }
  return im.SetImage(call, 0, im.Activate(call, x, options->fused_activation_function()));
}

absl::Status FullyConnected(Importer& im, const OpCall& call) {
  if (!call.has(1) || im.Rank(call.inputs[1]) != 2) return im.Wrong(call, "weights of two dimensions expected");
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::FullyConnectedOptions>(call));
  if (options->weights_format() != schema::FullyConnectedOptionsWeightsFormat_DEFAULT) {
    return im.Unsupported(call, "a shuffled format of weights");
  }
  const int64_t features = im.ShapeOf(call.inputs[1])[1];
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  const graph::Shape in = im.ShapeOf(call.inputs[0]);
  if (features == 0 || im.State(call.inputs[0]).type.num_elements() % features != 0) {
    return im.Wrong(call, absl::StrCat("an input of ", graph::ShapeText(in), " has no rows of ", features));
  }
  const bool keep = options->keep_num_dims() && !in.empty() && in.back() == features;
  if (!keep && (in.size() != 2 || in[1] != features)) {
    COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::reshape, {{"shape", std::vector<int64_t>{-1, features}}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.File(call.inputs[1]));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, Bias(im, call, 2));
  COBRA_ASSIGN_OR_RETURN(x, im.Compute(call, graph::Op::linear, {}, {x, weight, bias}));
  return im.SetFile(call, 0, im.Activate(call, x, options->fused_activation_function()));
}

absl::Status BatchMatMul(Importer& im, const OpCall& call) {
  if (!call.has(1)) return im.Wrong(call, "two inputs expected");
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::BatchMatMulOptions>(call));
  graph::ValueRef operands[2];
  for (int i = 0; i < 2; ++i) {
    COBRA_ASSIGN_OR_RETURN(operands[i], im.File(call.inputs[i]));
    if (!(i == 0 ? options->adj_x() : options->adj_y())) continue;
    COBRA_ASSIGN_OR_RETURN(operands[i], im.Move(call, graph::Op::transpose,
                                                {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {operands[i]}));
  }
  return im.SetFile(call, 0, im.Compute(call, graph::Op::matmul, {}, {operands[0], operands[1]}));
}

}  // namespace cobra::tflite::handlers
