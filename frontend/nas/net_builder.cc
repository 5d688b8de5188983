#include "frontend/nas/net_builder.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"

namespace cobra::nas {
namespace {

std::vector<int64_t> List(const Pair& pair) { return {pair[0], pair[1]}; }

// A shape rule speaks of the call; the user needs to know which.
absl::Status AtModule(absl::string_view path, const absl::Status& status) {
  Diagnostic diagnostic;
  diagnostic.kind = absl::IsResourceExhausted(status) ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kModelError;
  diagnostic.message = absl::StrCat(path.empty() ? "the network" : path, ": ", status.message());
  diagnostic.hint = "does --input have the size that this architecture wants?";
  return DiagnosticToStatus(diagnostic);
}

}  // namespace

int64_t NetBuilder::Dim(ValueRef x, int dim) const {
  if (!status_.ok() || x.is_none()) return 0;
  const Shape& shape = graph_.TypeOf(x).shape;
  return dim < static_cast<int>(shape.size()) ? shape[dim] : 0;
}

ValueRef NetBuilder::Call(Op op, absl::string_view path, Attributes attributes, std::vector<ValueRef> inputs,
                          bool inplace) {
  if (!status_.ok()) return ValueRef::None();
  Origin origin;
  origin.module_path = std::string(path);
  const absl::StatusOr<int32_t> node =
      graph_.Add(op, std::move(attributes), std::move(inputs), std::move(origin), inplace);
  if (!node.ok()) {
    status_ = AtModule(path, node.status());
    return ValueRef::None();
  }
  return ValueRef::Node(*node);
}

ValueRef NetBuilder::Conv2d(const std::string& path, ValueRef x, const Conv& conv) {
  if (!status_.ok()) return x;
  const Shape weight{conv.out, Channels(x) / conv.groups, conv.kernel[0], conv.kernel[1]};
  const ValueRef w = Parameter(absl::StrCat(path, ".weight"), weight);
  const ValueRef b = conv.bias ? Parameter(absl::StrCat(path, ".bias"), {conv.out}) : ValueRef::None();
  return Call(Op::conv2d, path,
              {{"stride", List(conv.stride)},
               {"padding", List(conv.padding)},
               {"dilation", std::vector<int64_t>{conv.dilation, conv.dilation}},
               {"groups", conv.groups}},
              {x, w, b});
}

ValueRef NetBuilder::BatchNorm2d(const std::string& path, ValueRef x) {
  if (!status_.ok()) return x;
  const Shape shape{Channels(x)};
  const ValueRef weight = Parameter(absl::StrCat(path, ".weight"), shape);
  const ValueRef bias = Parameter(absl::StrCat(path, ".bias"), shape);
  const ValueRef mean = graph_.AddBuffer(absl::StrCat(path, ".running_mean"), {shape});
  const ValueRef var = graph_.AddBuffer(absl::StrCat(path, ".running_var"), {shape});
  graph_.AddBuffer(absl::StrCat(path, ".num_batches_tracked"), {{}, DType::int64});
  return Call(Op::batch_norm, path, {{"eps", 1e-5}}, {x, mean, var, weight, bias});
}

ValueRef NetBuilder::LayerNorm(const std::string& path, ValueRef x, int64_t size) {
  if (!status_.ok()) return x;
  const ValueRef weight = Parameter(absl::StrCat(path, ".weight"), {size});
  const ValueRef bias = Parameter(absl::StrCat(path, ".bias"), {size});
  return Call(Op::layer_norm, path, {{"normalized_shape", std::vector<int64_t>{size}}, {"eps", 1e-5}},
              {x, weight, bias});
}

ValueRef NetBuilder::Linear(const std::string& path, ValueRef x, int64_t out) {
  if (!status_.ok()) return x;
  const ValueRef weight = Parameter(absl::StrCat(path, ".weight"), {out, graph_.TypeOf(x).shape.back()});
  const ValueRef bias = Parameter(absl::StrCat(path, ".bias"), {out});
  return Call(Op::linear, path, {}, {x, weight, bias});
}

ValueRef NetBuilder::AvgPool2d(absl::string_view path, ValueRef x, int64_t kernel, int64_t stride, int64_t padding,
                               bool count_include_pad) {
  return Call(Op::avg_pool2d, path,
              {{"kernel_size", std::vector<int64_t>{kernel, kernel}},
               {"stride", std::vector<int64_t>{stride, stride}},
               {"padding", std::vector<int64_t>{padding, padding}},
               {"ceil_mode", false},
               {"count_include_pad", count_include_pad}},
              {x});
}

ValueRef NetBuilder::MaxPool2d(absl::string_view path, ValueRef x, int64_t kernel, int64_t stride, int64_t padding) {
  return Call(Op::max_pool2d, path,
              {{"kernel_size", std::vector<int64_t>{kernel, kernel}},
               {"stride", std::vector<int64_t>{stride, stride}},
               {"padding", std::vector<int64_t>{padding, padding}},
               {"dilation", std::vector<int64_t>{1, 1}},
               {"ceil_mode", false}},
              {x});
}

ValueRef NetBuilder::GlobalAvgPool2d(absl::string_view path, ValueRef x) {
  return Call(Op::adaptive_avg_pool2d, path, {{"output_size", std::vector<int64_t>{1, 1}}}, {x});
}

ValueRef NetBuilder::Dropout(absl::string_view path, ValueRef x, double p) {
  Call(Op::dropout, path, {{"p", p}}, {x});
  return x;
}

ValueRef NetBuilder::Contiguous(absl::string_view path, ValueRef x) {
  if (!status_.ok()) return x;
  layout_.Update();
  const bool already = IsContiguous(graph_.TypeOf(x).shape, layout_.Of(x));
  const ValueRef copy = Call(Op::contiguous, path, {}, {x});
  return already ? x : copy;
}

absl::StatusOr<Graph> NetBuilder::Finish(std::vector<ValueRef> outputs) && {
  if (!status_.ok()) return status_;
  return std::move(graph_).Build(std::move(outputs));
}

}  // namespace cobra::nas
