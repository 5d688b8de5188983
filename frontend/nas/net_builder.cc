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

int64_t NetBuilder::Dim(graph::ValueRef x, int dim) const {
  if (!status_.ok() || x.is_none()) return 0;
  const graph::Shape& shape = graph_.TypeOf(x).shape;
  return dim < static_cast<int>(shape.size()) ? shape[dim] : 0;
}

graph::ValueRef NetBuilder::Call(graph::Op op, absl::string_view path, graph::Attributes attributes,
                                 std::vector<graph::ValueRef> inputs, bool inplace) {
  if (!status_.ok()) return graph::ValueRef::None();
  graph::Origin origin;
  origin.module_path = std::string(path);
  const absl::StatusOr<int32_t> node =
      graph_.Add(op, std::move(attributes), std::move(inputs), std::move(origin), inplace);
  if (!node.ok()) {
    status_ = AtModule(path, node.status());
    return graph::ValueRef::None();
  }
  return graph::ValueRef::Node(*node);
}

graph::ValueRef NetBuilder::Conv2d(const std::string& path, graph::ValueRef x, const Conv& conv) {
  if (!status_.ok()) return x;
  const graph::Shape weight{conv.out, Channels(x) / conv.groups, conv.kernel[0], conv.kernel[1]};
  const graph::ValueRef w = Parameter(absl::StrCat(path, ".weight"), weight);
  const graph::ValueRef b = conv.bias ? Parameter(absl::StrCat(path, ".bias"), {conv.out}) : graph::ValueRef::None();
  return Call(graph::Op::conv2d, path,
              {{"stride", List(conv.stride)},
               {"padding", List(conv.padding)},
               {"dilation", std::vector<int64_t>{conv.dilation, conv.dilation}},
               {"groups", conv.groups}},
              {x, w, b});
}

graph::ValueRef NetBuilder::BatchNorm2d(const std::string& path, graph::ValueRef x) {
  if (!status_.ok()) return x;
  const graph::Shape shape{Channels(x)};
  const graph::ValueRef weight = Parameter(absl::StrCat(path, ".weight"), shape);
  const graph::ValueRef bias = Parameter(absl::StrCat(path, ".bias"), shape);
  const graph::ValueRef mean = graph_.AddBuffer(absl::StrCat(path, ".running_mean"), {shape});
  const graph::ValueRef var = graph_.AddBuffer(absl::StrCat(path, ".running_var"), {shape});
  graph_.AddBuffer(absl::StrCat(path, ".num_batches_tracked"), {{}, graph::DType::int64});
  return Call(graph::Op::batch_norm, path, {{"eps", 1e-5}}, {x, mean, var, weight, bias});
}

graph::ValueRef NetBuilder::LayerNorm(const std::string& path, graph::ValueRef x, int64_t size) {
  if (!status_.ok()) return x;
  const graph::ValueRef weight = Parameter(absl::StrCat(path, ".weight"), {size});
  const graph::ValueRef bias = Parameter(absl::StrCat(path, ".bias"), {size});
  return Call(graph::Op::layer_norm, path, {{"normalized_shape", std::vector<int64_t>{size}}, {"eps", 1e-5}},
              {x, weight, bias});
}

graph::ValueRef NetBuilder::Linear(const std::string& path, graph::ValueRef x, int64_t out) {
  if (!status_.ok()) return x;
  const graph::ValueRef weight = Parameter(absl::StrCat(path, ".weight"), {out, graph_.TypeOf(x).shape.back()});
  const graph::ValueRef bias = Parameter(absl::StrCat(path, ".bias"), {out});
  return Call(graph::Op::linear, path, {}, {x, weight, bias});
}

graph::ValueRef NetBuilder::AvgPool2d(absl::string_view path, graph::ValueRef x, int64_t kernel, int64_t stride,
                                      int64_t padding, bool count_include_pad) {
  return Call(graph::Op::avg_pool2d, path,
              {{"kernel_size", std::vector<int64_t>{kernel, kernel}},
               {"stride", std::vector<int64_t>{stride, stride}},
               {"padding", std::vector<int64_t>{padding, padding}},
               {"ceil_mode", false},
               {"count_include_pad", count_include_pad}},
              {x});
}

graph::ValueRef NetBuilder::MaxPool2d(absl::string_view path, graph::ValueRef x, int64_t kernel, int64_t stride,
                                      int64_t padding) {
  return Call(graph::Op::max_pool2d, path,
              {{"kernel_size", std::vector<int64_t>{kernel, kernel}},
               {"stride", std::vector<int64_t>{stride, stride}},
               {"padding", std::vector<int64_t>{padding, padding}},
               {"dilation", std::vector<int64_t>{1, 1}},
               {"ceil_mode", false}},
              {x});
}

graph::ValueRef NetBuilder::GlobalAvgPool2d(absl::string_view path, graph::ValueRef x) {
  return Call(graph::Op::adaptive_avg_pool2d, path, {{"output_size", std::vector<int64_t>{1, 1}}}, {x});
}

graph::ValueRef NetBuilder::Dropout(absl::string_view path, graph::ValueRef x, double p) {
  Call(graph::Op::dropout, path, {{"p", p}}, {x});
  return x;
}

graph::ValueRef NetBuilder::Contiguous(absl::string_view path, graph::ValueRef x) {
  if (!status_.ok()) return x;
  layout_.Update();
  const bool already = graph::IsContiguous(graph_.TypeOf(x).shape, layout_.Of(x));
  const graph::ValueRef copy = Call(graph::Op::contiguous, path, {}, {x});
  return already ? x : copy;
}

absl::StatusOr<graph::Graph> NetBuilder::Finish(std::vector<graph::ValueRef> outputs) && {
  if (!status_.ok()) return status_;
  return std::move(graph_).Build(std::move(outputs));
}

}  // namespace cobra::nas
