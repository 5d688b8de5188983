#include "worker/net_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;
Ints Two(int64_t value) { return {value, value}; }

}  // namespace

graph::ValueRef NetBuilder::Input(graph::Shape shape, graph::DType dtype) {
  return builder_.AddInput(absl::StrCat("x", names_++), graph::TensorType{std::move(shape), dtype});
}

graph::ValueRef NetBuilder::Parameter(graph::Shape shape) {
  return builder_.AddParameter(absl::StrCat("p", names_++), graph::TensorType{std::move(shape), graph::DType::float32});
}

const graph::Shape& NetBuilder::ShapeOf(graph::ValueRef x) const {
  static const graph::Shape* const kNone = new graph::Shape;
  return x.is_none() ? *kNone : builder_.TypeOf(x).shape;
}

int64_t NetBuilder::Dim(graph::ValueRef x, size_t i) const {
  const graph::Shape& shape = ShapeOf(x);
  return i < shape.size() ? shape[i] : 1;
}

graph::ValueRef NetBuilder::Call(graph::Op op, graph::Attributes attributes, std::vector<graph::ValueRef> inputs,
                                 bool inplace) {
  if (!status_.ok()) return graph::ValueRef::None();
  absl::StatusOr<int32_t> node = builder_.Add(op, std::move(attributes), std::move(inputs), {}, inplace);
  if (!node.ok()) {
    status_ = node.status();
    return graph::ValueRef::None();
  }
  return graph::ValueRef::Node(*node);
}

graph::ValueRef NetBuilder::Conv(graph::ValueRef x, const ConvSpec& s) {
  if (!ok()) return graph::ValueRef::None();
  if (s.out < 1 || s.groups < 1 || Channels(x) % s.groups != 0) {
    status_ = absl::InvalidArgumentError("conv: channels do not divide into groups");
    return graph::ValueRef::None();
  }
  const graph::ValueRef weight = Parameter({s.out, Channels(x) / s.groups, s.kernel, s.kernel});
  const graph::ValueRef bias = s.bias ? Parameter({s.out}) : graph::ValueRef::None();
  return Call(
      graph::Op::conv2d,
      {{"stride", Two(s.stride)}, {"padding", Two(s.padding)}, {"dilation", Two(s.dilation)}, {"groups", s.groups}},
      {x, weight, bias});
}

graph::ValueRef NetBuilder::BatchNorm(graph::ValueRef x) {
  if (!ok()) return graph::ValueRef::None();
  const graph::Shape shape = {Channels(x)};
  const graph::ValueRef mean =
      builder_.AddBuffer(absl::StrCat("b", names_++), graph::TensorType{shape, graph::DType::float32});
  const graph::ValueRef variance =
      builder_.AddBuffer(absl::StrCat("b", names_++), graph::TensorType{shape, graph::DType::float32});
  const graph::ValueRef weight = Parameter(shape), bias = Parameter(shape);
  return Call(graph::Op::batch_norm, {{"eps", 1e-5}}, {x, mean, variance, weight, bias});
}

graph::ValueRef NetBuilder::LayerNorm(graph::ValueRef x) {
  if (!ok()) return graph::ValueRef::None();
  const int64_t width = ShapeOf(x).back();
  const graph::ValueRef weight = Parameter({width}), bias = Parameter({width});
  return Call(graph::Op::layer_norm, {{"normalized_shape", Ints{width}}, {"eps", 1e-5}}, {x, weight, bias});
}

graph::ValueRef NetBuilder::Linear(graph::ValueRef x, int64_t out, bool bias) {
  if (!ok()) return graph::ValueRef::None();
  const graph::ValueRef weight = Parameter({out, ShapeOf(x).back()});
  return Call(graph::Op::linear, {}, {x, weight, bias ? Parameter({out}) : graph::ValueRef::None()});
}

graph::ValueRef NetBuilder::Relu(graph::ValueRef x, bool inplace) { return Call(graph::Op::relu, {}, {x}, inplace); }

graph::ValueRef NetBuilder::Relu6(graph::ValueRef x) {
  return Call(graph::Op::hardtanh, {{"min_val", 0.0}, {"max_val", 6.0}}, {x}, /*inplace=*/true);
}

graph::ValueRef NetBuilder::MaxPool(graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding,
                                    bool ceil_mode) {
  return Call(graph::Op::max_pool2d,
              {{"kernel_size", Two(kernel)},
               {"stride", Two(stride)},
               {"padding", Two(padding)},
               {"dilation", Two(1)},
               {"ceil_mode", ceil_mode}},
              {x});
}

graph::ValueRef NetBuilder::AvgPool(graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding) {
  return Call(graph::Op::avg_pool2d,
              {{"kernel_size", Two(kernel)},
               {"stride", Two(stride)},
               {"padding", Two(padding)},
               {"ceil_mode", false},
               {"count_include_pad", true}},
              {x});
}

graph::ValueRef NetBuilder::AdaptiveAvgPool(graph::ValueRef x, int64_t size) {
  return Call(graph::Op::adaptive_avg_pool2d, {{"output_size", Two(size)}}, {x});
}

graph::ValueRef NetBuilder::Add(graph::ValueRef x, graph::ValueRef y, bool inplace) {
  return Call(graph::Op::add, {}, {x, y}, inplace);
}
graph::ValueRef NetBuilder::Cat(std::vector<graph::ValueRef> parts, int64_t dim) {
  return Call(graph::Op::cat, {{"dim", dim}}, std::move(parts));
}

graph::ValueRef NetBuilder::Flatten(graph::ValueRef x) {
  return Call(graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x});
}

graph::ValueRef NetBuilder::Dropout(graph::ValueRef x, double p) { return Call(graph::Op::dropout, {{"p", p}}, {x}); }

absl::StatusOr<graph::Graph> NetBuilder::Finish(graph::ValueRef output) && {
  if (!status_.ok()) return status_;
  return std::move(builder_).Build({output});
}

}  // namespace cobra::worker
