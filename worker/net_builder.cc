#include "worker/net_builder.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

using Ints = std::vector<int64_t>;
Ints Two(int64_t value) { return {value, value}; }

}  // namespace

ValueRef NetBuilder::Input(Shape shape, DType dtype) {
  return builder_.AddInput(absl::StrCat("x", names_++), TensorType{std::move(shape), dtype});
}

ValueRef NetBuilder::Parameter(Shape shape) {
  return builder_.AddParameter(absl::StrCat("p", names_++), TensorType{std::move(shape), DType::float32});
}

const Shape& NetBuilder::ShapeOf(ValueRef x) const {
  static const Shape* const kNone = new Shape;
  return x.is_none() ? *kNone : builder_.TypeOf(x).shape;
}

int64_t NetBuilder::Dim(ValueRef x, size_t i) const {
  const Shape& shape = ShapeOf(x);
  return i < shape.size() ? shape[i] : 1;
}

ValueRef NetBuilder::Call(Op op, Attributes attributes, std::vector<ValueRef> inputs, bool inplace) {
  if (!status_.ok()) return ValueRef::None();
  absl::StatusOr<int32_t> node = builder_.Add(op, std::move(attributes), std::move(inputs), {}, inplace);
  if (!node.ok()) {
    status_ = node.status();
    return ValueRef::None();
  }
  return ValueRef::Node(*node);
}

ValueRef NetBuilder::Conv(ValueRef x, const ConvSpec& s) {
  if (!ok()) return ValueRef::None();
  if (s.out < 1 || s.groups < 1 || Channels(x) % s.groups != 0) {
    status_ = absl::InvalidArgumentError("conv: channels do not divide into groups");
    return ValueRef::None();
  }
  const ValueRef weight = Parameter({s.out, Channels(x) / s.groups, s.kernel, s.kernel});
  const ValueRef bias = s.bias ? Parameter({s.out}) : ValueRef::None();
  return Call(
      Op::conv2d,
      {{"stride", Two(s.stride)}, {"padding", Two(s.padding)}, {"dilation", Two(s.dilation)}, {"groups", s.groups}},
      {x, weight, bias});
}

ValueRef NetBuilder::BatchNorm(ValueRef x) {
  if (!ok()) return ValueRef::None();
  const Shape shape = {Channels(x)};
  const ValueRef mean = builder_.AddBuffer(absl::StrCat("b", names_++), TensorType{shape, DType::float32});
  const ValueRef variance = builder_.AddBuffer(absl::StrCat("b", names_++), TensorType{shape, DType::float32});
  const ValueRef weight = Parameter(shape), bias = Parameter(shape);
  return Call(Op::batch_norm, {{"eps", 1e-5}}, {x, mean, variance, weight, bias});
}

ValueRef NetBuilder::LayerNorm(ValueRef x) {
  if (!ok()) return ValueRef::None();
  const int64_t width = ShapeOf(x).back();
  const ValueRef weight = Parameter({width}), bias = Parameter({width});
  return Call(Op::layer_norm, {{"normalized_shape", Ints{width}}, {"eps", 1e-5}}, {x, weight, bias});
}

ValueRef NetBuilder::Linear(ValueRef x, int64_t out, bool bias) {
  if (!ok()) return ValueRef::None();
  const ValueRef weight = Parameter({out, ShapeOf(x).back()});
  return Call(Op::linear, {}, {x, weight, bias ? Parameter({out}) : ValueRef::None()});
}

ValueRef NetBuilder::Relu(ValueRef x, bool inplace) { return Call(Op::relu, {}, {x}, inplace); }

ValueRef NetBuilder::Relu6(ValueRef x) {
  return Call(Op::hardtanh, {{"min_val", 0.0}, {"max_val", 6.0}}, {x}, /*inplace=*/true);
}

ValueRef NetBuilder::MaxPool(ValueRef x, int64_t kernel, int64_t stride, int64_t padding, bool ceil_mode) {
  return Call(Op::max_pool2d,
              {{"kernel_size", Two(kernel)},
               {"stride", Two(stride)},
               {"padding", Two(padding)},
               {"dilation", Two(1)},
               {"ceil_mode", ceil_mode}},
              {x});
}

ValueRef NetBuilder::AvgPool(ValueRef x, int64_t kernel, int64_t stride, int64_t padding) {
  return Call(Op::avg_pool2d,
              {{"kernel_size", Two(kernel)},
               {"stride", Two(stride)},
               {"padding", Two(padding)},
               {"ceil_mode", false},
               {"count_include_pad", true}},
              {x});
}

ValueRef NetBuilder::AdaptiveAvgPool(ValueRef x, int64_t size) {
  return Call(Op::adaptive_avg_pool2d, {{"output_size", Two(size)}}, {x});
}

ValueRef NetBuilder::Add(ValueRef x, ValueRef y, bool inplace) { return Call(Op::add, {}, {x, y}, inplace); }
ValueRef NetBuilder::Cat(std::vector<ValueRef> parts, int64_t dim) {
  return Call(Op::cat, {{"dim", dim}}, std::move(parts));
}

ValueRef NetBuilder::Flatten(ValueRef x) {
  return Call(Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x});
}

ValueRef NetBuilder::Dropout(ValueRef x, double p) { return Call(Op::dropout, {{"p", p}}, {x}); }

absl::StatusOr<Graph> NetBuilder::Finish(ValueRef output) && {
  if (!status_.ok()) return status_;
  return std::move(builder_).Build({output});
}

}  // namespace cobra
