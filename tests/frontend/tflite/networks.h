// Networks of the kinds that are converted to TensorFlow Lite, written layer by layer: the blocks
// of PerfSAGE's search spaces.
#ifndef COBRA_TESTS_FRONTEND_TFLITE_NETWORKS_H_
#define COBRA_TESTS_FRONTEND_TFLITE_NETWORKS_H_

#include <algorithm>
#include <string>
#include <vector>

#include "tests/frontend/tflite/file_builder.h"

namespace cobra::tflite {

// Layers on a TfliteFileBuilder; sizes follow TensorFlow's rules.
class TfliteNet {
 public:
  explicit TfliteNet(bool quantized, uint64_t seed = 1) : file(quantized, seed) {}

  int Conv(int x, int out, int kernel, int stride,
           schema::ActivationFunctionType activation = schema::ActivationFunctionType_NONE,
           schema::Padding padding = schema::Padding_SAME, int dilation = 1) {
    const std::vector<int> in = file.ShapeOf(x);
    const int y = file.Activation(
        {in[0], Size(in[1], kernel, stride, padding, dilation), Size(in[2], kernel, stride, padding, dilation), out});
    schema::Conv2DOptionsT options;
    options.padding = padding;
    options.stride_h = options.stride_w = stride;
    options.dilation_h_factor = options.dilation_w_factor = dilation;
    options.fused_activation_function = activation;
    file.Add(schema::BuiltinOperator_CONV_2D, {x, file.Weights({out, kernel, kernel, in[3]}), file.Bias(out)}, {y},
             options);
    return y;
  }
  int Depthwise(int x, int kernel, int stride,
                schema::ActivationFunctionType activation = schema::ActivationFunctionType_NONE,
                schema::Padding padding = schema::Padding_SAME, int multiplier = 1) {
    const std::vector<int> in = file.ShapeOf(x);
    const int out = in[3] * multiplier;
    const int y =
        file.Activation({in[0], Size(in[1], kernel, stride, padding), Size(in[2], kernel, stride, padding), out});
    schema::DepthwiseConv2DOptionsT options;
    options.padding = padding;
    options.stride_h = options.stride_w = stride;
    options.depth_multiplier = multiplier;
    options.fused_activation_function = activation;
    file.Add(schema::BuiltinOperator_DEPTHWISE_CONV_2D, {x, file.Weights({1, kernel, kernel, out}), file.Bias(out)},
             {y}, options);
    return y;
  }
  int Dense(int x, int out, schema::ActivationFunctionType activation = schema::ActivationFunctionType_NONE) {
    const std::vector<int> in = file.ShapeOf(x);
    const int y = file.Activation({in[0], out});
    schema::FullyConnectedOptionsT options;
    options.fused_activation_function = activation;
    file.Add(schema::BuiltinOperator_FULLY_CONNECTED, {x, file.Weights({out, in[1]}), file.Bias(out)}, {y}, options);
    return y;
  }
  int Add(int a, int b, schema::ActivationFunctionType activation = schema::ActivationFunctionType_NONE) {
    const int y = file.Activation(file.ShapeOf(a));
    schema::AddOptionsT options;
    options.fused_activation_function = activation;
    file.Add(schema::BuiltinOperator_ADD, {a, b}, {y}, options);
    return y;
  }
  int Mul(int a, int b) {
    const int y = file.Activation(file.ShapeOf(a));
    file.Add(schema::BuiltinOperator_MUL, {a, b}, {y}, schema::MulOptionsT());
    return y;
  }
  int Unary(schema::BuiltinOperator code, int x) {
    const int y = file.Activation(file.ShapeOf(x));
    file.AddPlain(code, {x}, {y});
    return y;
  }
  int Pool(schema::BuiltinOperator code, int x, int kernel, int stride, schema::Padding padding) {
    const std::vector<int> in = file.ShapeOf(x);
    const int y =
        file.Activation({in[0], Size(in[1], kernel, stride, padding), Size(in[2], kernel, stride, padding), in[3]});
    schema::Pool2DOptionsT options;
    options.padding = padding;
    options.stride_h = options.stride_w = stride;
    options.filter_height = options.filter_width = kernel;
    file.Add(code, {x}, {y}, options);
    return y;
  }
  int GlobalMean(int x, bool keep) {
    const std::vector<int> in = file.ShapeOf(x);
    const int y = file.Activation(keep ? std::vector<int>{in[0], 1, 1, in[3]} : std::vector<int>{in[0], in[3]});
    schema::ReducerOptionsT options;
    options.keep_dims = keep;
    file.Add(schema::BuiltinOperator_MEAN, {x, file.Ints({1, 2})}, {y}, options);
    return y;
  }
  int Pad(int x, int before, int after) {
    const std::vector<int> in = file.ShapeOf(x);
    const int y = file.Activation({in[0], in[1] + before + after, in[2] + before + after, in[3]});
    const int pads = file.Ints({0, 0, before, after, before, after, 0, 0});
    file.net().tensors[pads]->shape = {4, 2};
    file.AddPlain(schema::BuiltinOperator_PAD, {x, pads}, {y});
    return y;
  }
  int Reshape(int x, std::vector<int> shape) {
    const int y = file.Activation(shape);
    schema::ReshapeOptionsT options;
    options.new_shape = shape;
    file.Add(schema::BuiltinOperator_RESHAPE, {x, file.Ints(shape)}, {y}, options);
    return y;
  }
  int Softmax(int x) {
    const int y = file.Activation(file.ShapeOf(x));
    schema::SoftmaxOptionsT options;
    options.beta = 1;
    file.Add(schema::BuiltinOperator_SOFTMAX, {x}, {y}, options);
    return y;
  }
  int Concat(std::vector<int> parts, int axis) {
    std::vector<int> shape = file.ShapeOf(parts[0]);
    shape[axis] = 0;
    for (int part : parts) shape[axis] += file.ShapeOf(part)[axis];
    const int y = file.Activation(shape);
    schema::ConcatenationOptionsT options;
    options.axis = axis;
    file.Add(schema::BuiltinOperator_CONCATENATION, parts, {y}, options);
    return y;
  }

  static int Size(int in, int kernel, int stride, schema::Padding padding, int dilation = 1) {
    if (padding == schema::Padding_SAME) return (in + stride - 1) / stride;
    return (in - ((kernel - 1) * dilation + 1)) / stride + 1;
  }

  TfliteFileBuilder file;
};

// MobileNetV1 (Howard et al. 2017), width 1.0: 569 M multiply-accumulates and 4.2 M weights at 224.
inline std::string MobileNetV1(int size, bool quantized, int width_percent = 100) {
  TfliteNet net(quantized);
  const auto relu6 = schema::ActivationFunctionType_RELU6;
  const auto width = [width_percent](int c) { return c * width_percent / 100; };
  const int input = net.file.Input({1, size, size, 3});
  int x = net.Conv(input, width(32), 3, 2, relu6);
  const int channels[] = {64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024};
  const int strides[] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
  for (int i = 0; i < 13; ++i) x = net.Conv(net.Depthwise(x, 3, strides[i], relu6), width(channels[i]), 1, 1, relu6);
  x = net.Pool(schema::BuiltinOperator_AVERAGE_POOL_2D, x, net.file.ShapeOf(x)[1], 1, schema::Padding_VALID);
  x = net.Conv(x, 1001, 1, 1);
  x = net.Softmax(net.Reshape(x, {1, 1001}));
  net.file.Output(x);
  return net.file.Finish();
}

// MobileNetV2 (Sandler et al. 2018): 301 M multiply-accumulates at 224.
inline std::string MobileNetV2(int size, bool quantized) {
  TfliteNet net(quantized);
  const auto relu6 = schema::ActivationFunctionType_RELU6;
  int x = net.Conv(net.file.Input({1, size, size, 3}), 32, 3, 2, relu6);
  const int table[][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                          {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& [expand, out, repeats, stride] : table) {
    for (int i = 0; i < repeats; ++i) {
      const int in = net.file.ShapeOf(x)[3], step = i == 0 ? stride : 1;
      int y = expand == 1 ? x : net.Conv(x, in * expand, 1, 1, relu6);
      y = net.Conv(net.Depthwise(y, 3, step, relu6), out, 1, 1);
      x = step == 1 && in == out ? net.Add(x, y) : y;
    }
  }
  x = net.GlobalMean(net.Conv(x, 1280, 1, 1, relu6), /*keep=*/false);
  net.file.Output(net.Softmax(net.Dense(x, 1000)));
  return net.file.Finish();
}

// ResNet-18 with explicit padding, as Keras writes it.
inline std::string ResNet18(int size, bool quantized) {
  TfliteNet net(quantized);
  const auto relu = schema::ActivationFunctionType_RELU;
  int x = net.Conv(net.Pad(net.file.Input({1, size, size, 3}), 3, 3), 64, 7, 2, relu, schema::Padding_VALID);
  x = net.Pool(schema::BuiltinOperator_MAX_POOL_2D, net.Pad(x, 1, 1), 3, 2, schema::Padding_VALID);
  for (int stage = 0; stage < 4; ++stage) {
    for (int i = 0; i < 2; ++i) {
      const int out = 64 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
      int y = net.Conv(stride == 2 ? net.Pad(x, 1, 1) : x, out, 3, stride, relu,
                       stride == 2 ? schema::Padding_VALID : schema::Padding_SAME);
      y = net.Conv(y, out, 3, 1);
      x = net.Add(y, stride == 2 ? net.Conv(x, out, 1, 2) : x, relu);
    }
  }
  net.file.Output(net.Dense(net.GlobalMean(x, false), 1000));
  return net.file.Finish();
}

// The blocks of EfficientNet and its edge variants: fused and depthwise inverted bottlenecks,
// squeeze-excite, swish.
inline std::string EfficientNetLike(int size, bool quantized) {
  TfliteNet net(quantized);
  const auto swish = [&net](int x) { return net.Mul(x, net.Unary(schema::BuiltinOperator_LOGISTIC, x)); };
  int x = swish(net.Conv(net.file.Input({1, size, size, 3}), 16, 3, 2));
  const int table[][4] = {{3, 24, 2, 1}, {5, 40, 2, 0}, {3, 40, 1, 0}, {5, 80, 2, 0}};
  for (const auto& [kernel, out, stride, fused] : table) {
    const int in = net.file.ShapeOf(x)[3];
    int y = fused ? swish(net.Conv(x, in * 4, kernel, stride))
                  : swish(net.Depthwise(swish(net.Conv(x, in * 4, 1, 1)), kernel, stride));
    int gate = net.GlobalMean(y, /*keep=*/true);
    gate = net.Conv(swish(net.Conv(gate, std::max(4, in / 4), 1, 1)), in * 4, 1, 1);
    y = net.Mul(y, net.Unary(schema::BuiltinOperator_LOGISTIC, gate));
    y = net.Conv(y, out, 1, 1);
    x = stride == 1 && in == out ? net.Add(y, x) : y;
  }
  x = net.GlobalMean(swish(net.Conv(x, 320, 1, 1)), false);
  net.file.Output(net.Softmax(net.Dense(x, 100)));
  return net.file.Finish();
}

}  // namespace cobra::tflite

#endif  // COBRA_TESTS_FRONTEND_TFLITE_NETWORKS_H_
