// One small file for every operator, with float32 inputs: { name, file }. Shapes are what
// TensorFlow gives; the reader compares them.
#ifndef COBRA_TESTS_FRONTEND_TFLITE_OPERATOR_FILES_H_
#define COBRA_TESTS_FRONTEND_TFLITE_OPERATOR_FILES_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/frontend/tflite/networks.h"

namespace cobra::tflite {

struct OperatorFile {
  std::string name;
  std::string bytes;
  std::string calls;  // what the graph must be, views on the way in and out left out
};

namespace operator_files {

using B = schema::BuiltinOperator;
constexpr auto kSame = schema::Padding_SAME;
constexpr auto kValid = schema::Padding_VALID;
constexpr auto kNone = schema::ActivationFunctionType_NONE;

// `body` gets the net and its input and returns the output.
inline OperatorFile Make(std::string name, std::vector<int> input, std::string calls,
                         const std::function<int(TfliteNet&, int)>& body) {
  TfliteNet net(false, std::hash<std::string>()(name));
  const int x = net.file.Input(std::move(input));
  net.file.Output(body(net, x));
  return {std::move(name), net.file.Finish(), std::move(calls)};
}

// An operator without options that needs more inputs (constants made by `more`).
inline int Plain(TfliteNet& net, B code, std::vector<int> inputs, std::vector<int> shape,
                 schema::TensorType type = schema::TensorType_FLOAT32) {
  const int y = net.file.Tensor(std::move(shape), type);
  net.file.AddPlain(code, std::move(inputs), {y});
  return y;
}
template <typename Options>
int With(TfliteNet& net, B code, std::vector<int> inputs, std::vector<int> shape, Options options,
         schema::TensorType type = schema::TensorType_FLOAT32) {
  const int y = net.file.Tensor(std::move(shape), type);
  net.file.Add(code, std::move(inputs), {y}, std::move(options));
  return y;
}

// ADD, SUB, MUL and DIV always carry options; the others have none that anybody reads.
inline int Arithmetic(TfliteNet& net, B code, std::vector<int> inputs, std::vector<int> shape) {
  switch (code) {
    case schema::BuiltinOperator_ADD:
      return With(net, code, std::move(inputs), std::move(shape), schema::AddOptionsT());
    case schema::BuiltinOperator_SUB:
      return With(net, code, std::move(inputs), std::move(shape), schema::SubOptionsT());
    case schema::BuiltinOperator_MUL:
      return With(net, code, std::move(inputs), std::move(shape), schema::MulOptionsT());
    case schema::BuiltinOperator_DIV:
      return With(net, code, std::move(inputs), std::move(shape), schema::DivOptionsT());
    default: return Plain(net, code, std::move(inputs), std::move(shape));
  }
}

inline int Matrix(TfliteNet& net, int rows, int columns, std::vector<int32_t> values) {
  return net.file.Constant({rows, columns}, schema::TensorType_INT32, values);
}

inline void AddConvolutions(std::vector<OperatorFile>* out) {
  for (int size : {7, 8}) {
    for (int stride : {1, 2, 3}) {
      for (int kernel : {1, 2, 3, 5}) {
        for (auto padding : {kSame, kValid}) {
          const std::string tail = std::to_string(size) + "_k" + std::to_string(kernel) + "_s" +
                                   std::to_string(stride) + (padding == kSame ? "_same" : "_valid");
          out->push_back(Make("conv" + tail, {2, size, size, 3}, "", [=](TfliteNet& net, int x) {
            return net.Conv(x, 4, kernel, stride, schema::ActivationFunctionType_RELU, padding);
          }));
          out->push_back(Make("depthwise" + tail, {1, size, size, 3}, "", [=](TfliteNet& net, int x) {
            return net.Depthwise(x, kernel, stride, schema::ActivationFunctionType_RELU6, padding, 2);
          }));
          out->push_back(Make("max_pool" + tail, {1, size, size, 2}, "", [=](TfliteNet& net, int x) {
            return net.Pool(schema::BuiltinOperator_MAX_POOL_2D, x, kernel, stride, padding);
          }));
          if (padding == kSame && stride == 1 && kernel == 2) continue;
          out->push_back(Make("average_pool" + tail, {1, size, size, 2}, "", [=](TfliteNet& net, int x) {
            return net.Pool(schema::BuiltinOperator_AVERAGE_POOL_2D, x, kernel, stride, padding);
          }));
        }
      }
    }
  }
  out->push_back(Make("dilated_conv", {1, 9, 9, 2}, "conv2d",
                      [](TfliteNet& net, int x) { return net.Conv(x, 3, 3, 1, kNone, kSame, 2); }));
  for (int stride : {1, 2, 3}) {
    for (int kernel : {2, 3, 4}) {
      for (auto padding : {kSame, kValid}) {
        const int size = padding == kSame ? 4 * stride : (4 - 1) * stride + kernel;
        out->push_back(Make("transpose_conv_k" + std::to_string(kernel) + "_s" + std::to_string(stride) +
                                (padding == kSame ? "_same" : "_valid"),
                            {1, 4, 4, 3}, "", [=](TfliteNet& net, int x) {
                              schema::TransposeConvOptionsT options;
                              options.padding = padding;
                              options.stride_h = options.stride_w = stride;
                              return With(
                                  net, schema::BuiltinOperator_TRANSPOSE_CONV,
                                  {net.file.Ints({1, size, size, 5}), net.file.Weights({5, kernel, kernel, 3}), x},
                                  {1, size, size, 5}, options);
                            }));
      }
    }
  }
  out->push_back(Make("fully_connected", {2, 6}, "linear", [](TfliteNet& net, int x) { return net.Dense(x, 4); }));
  out->push_back(Make("fully_connected_of_an_image", {2, 1, 1, 6}, "reshape linear relu", [](TfliteNet& net, int x) {
    schema::FullyConnectedOptionsT options;
    options.fused_activation_function = schema::ActivationFunctionType_RELU;
    return With(net, schema::BuiltinOperator_FULLY_CONNECTED, {x, net.file.Weights({4, 6}), net.file.Bias(4)}, {2, 4},
                options);
  }));
  out->push_back(Make("batch_matmul", {2, 3, 4}, "transpose matmul", [](TfliteNet& net, int x) {
    schema::BatchMatMulOptionsT options;
    options.adj_y = true;
    return With(net, schema::BuiltinOperator_BATCH_MATMUL, {x, x}, {2, 3, 3}, options);
  }));
}

// Long because it is a list of files, one an operator.
inline void AddElementwise(std::vector<OperatorFile>* out) {
  const std::pair<B, const char*> unary[] = {{schema::BuiltinOperator_RELU, "relu"},
                                             {schema::BuiltinOperator_RELU6, "relu6"},
                                             {schema::BuiltinOperator_RELU_N1_TO_1, "hardtanh"},
                                             {schema::BuiltinOperator_RELU_0_TO_1, "hardtanh"},
                                             {schema::BuiltinOperator_LOGISTIC, "sigmoid"},
                                             {schema::BuiltinOperator_TANH, "tanh"},
                                             {schema::BuiltinOperator_ELU, "elu"},
                                             {schema::BuiltinOperator_HARD_SWISH, "hardswish"},
                                             {schema::BuiltinOperator_EXP, "exp"},
                                             {schema::BuiltinOperator_SQUARE, "square"},
                                             {schema::BuiltinOperator_NEG, "neg"},
                                             {schema::BuiltinOperator_ABS, "abs"},
                                             {schema::BuiltinOperator_SIN, "sin"},
                                             {schema::BuiltinOperator_COS, "cos"},
                                             {schema::BuiltinOperator_FLOOR, "floor"},
                                             {schema::BuiltinOperator_CEIL, "ceil"},
                                             {schema::BuiltinOperator_ROUND, "round"},
                                             {schema::BuiltinOperator_SIGN, "sign"},
                                             {schema::BuiltinOperator_LOG, "log"},
                                             {schema::BuiltinOperator_SQRT, "sqrt"},
                                             {schema::BuiltinOperator_RSQRT, "rsqrt"},
                                             {schema::BuiltinOperator_GELU, "gelu"}};
  for (const auto& [code, call] : unary) {
    out->push_back(Make(std::string("unary_") + schema::EnumNameBuiltinOperator(code), {1, 3, 4, 5}, call,
                        [code = code](TfliteNet& net, int x) { return net.Unary(code, x); }));
  }
  const std::pair<B, const char*> binary[] = {{schema::BuiltinOperator_ADD, "add"},
                                              {schema::BuiltinOperator_SUB, "sub"},
                                              {schema::BuiltinOperator_MUL, "mul"},
                                              {schema::BuiltinOperator_DIV, "div"},
                                              {schema::BuiltinOperator_MAXIMUM, "maximum"},
                                              {schema::BuiltinOperator_MINIMUM, "minimum"},
                                              {schema::BuiltinOperator_SQUARED_DIFFERENCE, "sub square"},
                                              {schema::BuiltinOperator_POW, "pow"},
                                              {schema::BuiltinOperator_FLOOR_DIV, "floor_divide"},
                                              {schema::BuiltinOperator_FLOOR_MOD, "remainder"},
                                              {schema::BuiltinOperator_ATAN2, "atan2"}};
  for (const auto& [code, call] : binary) {
    // With a vector over channels, after a convolution: on images.
    out->push_back(Make(std::string("binary_channels_") + schema::EnumNameBuiltinOperator(code), {1, 3, 4, 5},
                        std::string("conv2d ") + call, [code = code](TfliteNet& net, int x) {
                          x = net.Conv(x, 6, 1, 1);
                          return Arithmetic(net, code, {x, net.file.Weights({6})}, {1, 3, 4, 6});
                        }));
  }
  out->push_back(Make("add_relu", {1, 3, 4, 5}, "add relu",
                      [](TfliteNet& net, int x) { return net.Add(x, x, schema::ActivationFunctionType_RELU); }));
  for (B code : {schema::BuiltinOperator_ADD, schema::BuiltinOperator_SUB, schema::BuiltinOperator_MUL,
                 schema::BuiltinOperator_DIV, schema::BuiltinOperator_POW, schema::BuiltinOperator_MAXIMUM,
                 schema::BuiltinOperator_MINIMUM}) {
    const std::string call = code == schema::BuiltinOperator_ADD   ? "add"
                             : code == schema::BuiltinOperator_SUB ? "sub"
                             : code == schema::BuiltinOperator_MUL ? "mul"
                             : code == schema::BuiltinOperator_DIV ? "div"
                             : code == schema::BuiltinOperator_POW ? "pow"
                                                                   : "clamp";
    out->push_back(Make(
        std::string("binary_number_") + schema::EnumNameBuiltinOperator(code), {2, 5}, call,
        [code](TfliteNet& net, int x) {
          return Arithmetic(net, code,
                            {x, net.file.Constant({1}, schema::TensorType_FLOAT32, std::vector<float>{2.0f})}, {2, 5});
        }));
  }
  out->push_back(Make("number_minus", {2, 5}, "rsub", [](TfliteNet& net, int x) {
    return Arithmetic(net, schema::BuiltinOperator_SUB,
                      {net.file.Constant({1}, schema::TensorType_FLOAT32, std::vector<float>{1.0f}), x}, {2, 5});
  }));
  out->push_back(Make("add_n", {2, 5}, "add add", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_ADD_N, {x, net.file.Weights({2, 5}), x}, {2, 5});
  }));
  out->push_back(Make("leaky_relu", {1, 3, 3, 2}, "leaky_relu", [](TfliteNet& net, int x) {
    schema::LeakyReluOptionsT options;
    options.alpha = 0.2f;
    return With(net, schema::BuiltinOperator_LEAKY_RELU, {x}, {1, 3, 3, 2}, options);
  }));
  out->push_back(Make("prelu", {1, 3, 3, 2}, "prelu", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_PRELU, {x, net.file.Weights({1, 1, 2})}, {1, 3, 3, 2});
  }));
  out->push_back(Make("softmax", {2, 5}, "softmax", [](TfliteNet& net, int x) { return net.Softmax(x); }));
  out->push_back(Make("softmax_of_channels", {1, 3, 4, 5}, "conv2d softmax",
                      [](TfliteNet& net, int x) { return net.Softmax(net.Conv(x, 4, 1, 1)); }));
  out->push_back(Make("log_softmax", {2, 5}, "log_softmax", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_LOG_SOFTMAX, {x}, {2, 5});
  }));
  out->push_back(Make("l2_normalization", {1, 3, 4, 5}, "normalize", [](TfliteNet& net, int x) {
    return With(net, schema::BuiltinOperator_L2_NORMALIZATION, {x}, {1, 3, 4, 5}, schema::L2NormOptionsT());
  }));
  out->push_back(Make("local_response_normalization", {1, 3, 4, 5}, "local_response_norm", [](TfliteNet& net, int x) {
    schema::LocalResponseNormalizationOptionsT options;
    options.radius = 1;
    options.bias = 1;
    options.alpha = 0.1f;
    options.beta = 0.5f;
    return With(net, schema::BuiltinOperator_LOCAL_RESPONSE_NORMALIZATION, {x}, {1, 3, 4, 5}, options);
  }));
  out->push_back(Make("select_where_greater", {2, 5}, "gt where", [](TfliteNet& net, int x) {
    const int y = net.file.Weights({2, 5});
    const int condition = Plain(net, schema::BuiltinOperator_GREATER, {x, y}, {2, 5}, schema::TensorType_BOOL);
    return Plain(net, schema::BuiltinOperator_SELECT_V2, {condition, x, y}, {2, 5});
  }));
  out->push_back(Make("quantize_and_back", {2, 5}, "quantize_per_tensor dequantize", [](TfliteNet& net, int x) {
    const int q = net.file.Tensor({2, 5}, schema::TensorType_INT8, 0.1f);
    net.file.AddPlain(schema::BuiltinOperator_QUANTIZE, {x}, {q});
    return Plain(net, schema::BuiltinOperator_DEQUANTIZE, {q}, {2, 5});
  }));
}

inline void AddReductions(std::vector<OperatorFile>* out) {
  for (const auto& axes : std::vector<std::vector<int32_t>>{{1, 2}, {3}, {1}, {-1}, {0, 1, 2, 3}}) {
    for (bool keep : {false, true}) {
      for (B code : {schema::BuiltinOperator_MEAN, schema::BuiltinOperator_SUM, schema::BuiltinOperator_REDUCE_MAX}) {
        std::string name = std::string(schema::EnumNameBuiltinOperator(code)) + (keep ? "_keep" : "");
        for (int32_t a : axes) name += "_" + std::to_string(a);
        out->push_back(Make(name, {2, 3, 4, 5}, "", [=](TfliteNet& net, int x) {
          x = net.Conv(x, 6, 1, 1);
          std::vector<int> shape;
          for (int d = 0; d < 4; ++d) {
            bool gone = false;
            for (int32_t a : axes) gone = gone || (a < 0 ? a + 4 : a) == d;
            if (!gone) shape.push_back(net.file.ShapeOf(x)[d]);
            if (gone && keep) shape.push_back(1);
          }
          schema::ReducerOptionsT options;
          options.keep_dims = keep;
          return With(net, code, {x, net.file.Ints(axes)}, shape, options);
        }));
      }
    }
  }
  out->push_back(Make("cumsum", {2, 5}, "cumsum", [](TfliteNet& net, int x) {
    return With(net, schema::BuiltinOperator_CUMSUM, {x, net.file.Scalar(1)}, {2, 5}, schema::CumsumOptionsT());
  }));
  out->push_back(Make("arg_max", {2, 5}, "argmax int float", [](TfliteNet& net, int x) {
    const int y = Plain(net, schema::BuiltinOperator_ARG_MAX, {x, net.file.Scalar(-1)}, {2}, schema::TensorType_INT32);
    return Plain(net, schema::BuiltinOperator_CAST, {y}, {2});
  }));
}

// Long because it is a list of files, one an operator.
inline void AddShapes(std::vector<OperatorFile>* out) {
  const auto image = [](TfliteNet& net, int x) { return net.Conv(x, 4, 1, 1); };
  out->push_back(Make("reshape_of_an_image", {1, 3, 4, 5}, "conv2d reshape", [=](TfliteNet& net, int x) {
    return net.Reshape(image(net, x), {1, 48});
  }));
  out->push_back(Make("squeeze", {1, 1, 4, 5}, "reshape", [](TfliteNet& net, int x) {
    schema::SqueezeOptionsT options;
    options.squeeze_dims = {0, 1};
    return With(net, schema::BuiltinOperator_SQUEEZE, {x}, {4, 5}, options);
  }));
  out->push_back(Make("expand_dims", {4, 5}, "unsqueeze", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_EXPAND_DIMS, {x, net.file.Scalar(1)}, {4, 1, 5});
  }));
  out->push_back(Make("transpose_of_an_image", {1, 3, 4, 5}, "conv2d permute", [=](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_TRANSPOSE, {image(net, x), net.file.Ints({0, 2, 3, 1})}, {1, 4, 4, 3});
  }));
  for (int axis : {1, 2, 3}) {
    out->push_back(
        Make("concatenation_" + std::to_string(axis), {1, 4, 4, 4}, "conv2d conv2d cat", [=](TfliteNet& net, int x) {
          return net.Concat({image(net, x), image(net, x)}, axis);
        }));
  }
  out->push_back(Make("pack", {3, 4}, "stack", [](TfliteNet& net, int x) {
    schema::PackOptionsT options;
    options.values_count = 2;
    options.axis = 1;
    return With(net, schema::BuiltinOperator_PACK, {x, x}, {3, 2, 4}, options);
  }));
  out->push_back(Make("unpack", {3, 2, 4}, "unbind add", [](TfliteNet& net, int x) {
    schema::UnpackOptionsT options;
    options.num = 2;
    options.axis = 1;
    const int a = net.file.Activation({3, 4}), b = net.file.Activation({3, 4});
    net.file.Add(schema::BuiltinOperator_UNPACK, {x}, {a, b}, options);
    return net.Add(a, b);
  }));
  out->push_back(Make("split_of_an_image", {1, 3, 4, 5}, "conv2d split add", [=](TfliteNet& net, int x) {
    schema::SplitOptionsT options;
    options.num_splits = 2;
    const int a = net.file.Activation({1, 3, 4, 2}), b = net.file.Activation({1, 3, 4, 2});
    net.file.Add(schema::BuiltinOperator_SPLIT, {net.file.Scalar(3), image(net, x)}, {a, b}, options);
    return net.Add(a, b);
  }));
  out->push_back(Make("split_v", {2, 6}, "split", [](TfliteNet& net, int x) {
    schema::SplitVOptionsT options;
    options.num_splits = 2;
    const int a = net.file.Activation({2, 4}), b = net.file.Activation({2, 2});
    net.file.Add(schema::BuiltinOperator_SPLIT_V, {x, net.file.Ints({4, -1}), net.file.Scalar(1)}, {a, b}, options);
    return a;
  }));
  out->push_back(Make("slice_of_an_image", {1, 5, 6, 5}, "conv2d getitem", [=](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_SLICE,
                 {image(net, x), net.file.Ints({0, 1, 2, 1}), net.file.Ints({1, 3, -1, 2})}, {1, 3, 4, 2});
  }));
  out->push_back(Make("strided_slice", {4, 6, 5}, "getitem", [](TfliteNet& net, int x) {
    schema::StridedSliceOptionsT options;
    options.begin_mask = 2;
    options.end_mask = 4;
    options.shrink_axis_mask = 1;
    return With(net, schema::BuiltinOperator_STRIDED_SLICE,
                {x, net.file.Ints({-1, 3, 1}), net.file.Ints({0, 5, 0}), net.file.Ints({1, 2, 1})}, {3, 4}, options);
  }));
  out->push_back(Make("pad_image", {1, 3, 4, 5}, "pad", [](TfliteNet& net, int x) { return net.Pad(x, 1, 2); }));
  out->push_back(Make("pad_channels", {1, 3, 4, 5}, "pad", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_PAD, {x, Matrix(net, 4, 2, {0, 0, 1, 0, 0, 0, 2, 1})}, {1, 4, 4, 8});
  }));
  out->push_back(Make("mirror_pad", {1, 4, 4, 2}, "pad", [](TfliteNet& net, int x) {
    schema::MirrorPadOptionsT options;
    return With(net, schema::BuiltinOperator_MIRROR_PAD, {x, Matrix(net, 4, 2, {0, 0, 1, 2, 2, 1, 0, 0})}, {1, 7, 7, 2},
                options);
  }));
  out->push_back(Make("gather", {4, 5}, "index_select", [](TfliteNet& net, int x) {
    return With(net, schema::BuiltinOperator_GATHER, {x, net.file.Ints({2, 0, 3})}, {3, 5}, schema::GatherOptionsT());
  }));
  out->push_back(Make("tile", {2, 3}, "repeat", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_TILE, {x, net.file.Ints({2, 3})}, {4, 9});
  }));
  out->push_back(Make("reverse", {2, 3}, "flip", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_REVERSE_V2, {x, net.file.Ints({1})}, {2, 3});
  }));
  out->push_back(Make("broadcast_to", {1, 3}, "expand", [](TfliteNet& net, int x) {
    return Plain(net, schema::BuiltinOperator_BROADCAST_TO, {x, net.file.Ints({4, 3})}, {4, 3});
  }));
  out->push_back(Make("space_to_depth", {1, 4, 6, 3}, "reshape permute reshape", [](TfliteNet& net, int x) {
    schema::SpaceToDepthOptionsT options;
    options.block_size = 2;
    return With(net, schema::BuiltinOperator_SPACE_TO_DEPTH, {x}, {1, 2, 3, 12}, options);
  }));
  out->push_back(Make("depth_to_space", {1, 2, 3, 12}, "reshape permute reshape", [](TfliteNet& net, int x) {
    schema::DepthToSpaceOptionsT options;
    options.block_size = 2;
    return With(net, schema::BuiltinOperator_DEPTH_TO_SPACE, {x}, {1, 4, 6, 3}, options);
  }));
  out->push_back(Make("space_to_batch_and_back", {1, 5, 6, 3}, "", [](TfliteNet& net, int x) {
    const int y = Plain(net, schema::BuiltinOperator_SPACE_TO_BATCH_ND,
                        {x, net.file.Ints({2, 2}), Matrix(net, 2, 2, {0, 1, 1, 1})}, {4, 3, 4, 3});
    const int z = net.Unary(schema::BuiltinOperator_RELU, y);
    return Plain(net, schema::BuiltinOperator_BATCH_TO_SPACE_ND,
                 {z, net.file.Ints({2, 2}), Matrix(net, 2, 2, {0, 1, 1, 1})}, {1, 5, 6, 3});
  }));
  for (bool align : {false, true}) {
    out->push_back(Make(
        align ? "resize_bilinear_align" : "resize_bilinear", {1, 4, 4, 2}, "interpolate",
        [align](TfliteNet& net, int x) {
          schema::ResizeBilinearOptionsT options;
          options.align_corners = align;
          options.half_pixel_centers = !align;
          return With(net, schema::BuiltinOperator_RESIZE_BILINEAR, {x, net.file.Ints({7, 6})}, {1, 7, 6, 2}, options);
        }));
  }
  out->push_back(Make("resize_nearest", {1, 4, 4, 2}, "interpolate", [](TfliteNet& net, int x) {
    return With(net, schema::BuiltinOperator_RESIZE_NEAREST_NEIGHBOR, {x, net.file.Ints({8, 8})}, {1, 8, 8, 2},
                schema::ResizeNearestNeighborOptionsT());
  }));
  // A reshape whose shape the network computes from the input's shape, as Keras writes Flatten.
  out->push_back(Make("flatten_by_shape", {2, 3, 4, 5}, "reshape", [](TfliteNet& net, int x) {
    const int shape = Plain(net, schema::BuiltinOperator_SHAPE, {x}, {4}, schema::TensorType_INT32);
    schema::StridedSliceOptionsT slice;
    slice.shrink_axis_mask = 1;
    const int batch =
        With(net, schema::BuiltinOperator_STRIDED_SLICE,
             {shape, net.file.Ints({0}), net.file.Ints({1}), net.file.Ints({1})}, {}, slice, schema::TensorType_INT32);
    schema::PackOptionsT pack;
    pack.values_count = 2;
    const int target =
        With(net, schema::BuiltinOperator_PACK, {batch, net.file.Scalar(-1)}, {2}, pack, schema::TensorType_INT32);
    return Plain(net, schema::BuiltinOperator_RESHAPE, {x, target}, {2, 60});
  }));
}

}  // namespace operator_files

inline std::vector<OperatorFile> OperatorFiles() {
  std::vector<OperatorFile> files;
  operator_files::AddConvolutions(&files);
  operator_files::AddElementwise(&files);
  operator_files::AddReductions(&files);
  operator_files::AddShapes(&files);
  return files;
}

}  // namespace cobra::tflite

#endif  // COBRA_TESTS_FRONTEND_TFLITE_OPERATOR_FILES_H_
