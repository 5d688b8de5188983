#include "graph/builder/net_builder.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/text/limit_message.h"
#include "graph/builder/untrusted.h"

namespace cobra::graph {
namespace {

constexpr int64_t kBlockCacheBytes = int64_t{16} << 20;  // some 20,000 calls

void AppendNumber(int64_t number, std::string* key) {
  key->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::vector<int64_t> List(const Size2d& size) { return {size.height, size.width}; }

// The error of a shape rule does not name the module, which the user needs: add the module's path.
absl::Status AtModule(absl::string_view path, const absl::Status& status, const std::string& hint) {
  Diagnostic diagnostic;
  diagnostic.kind = absl::IsResourceExhausted(status) ? Diagnostic::Kind::kLimit : Diagnostic::Kind::kModelError;
  diagnostic.message = absl::StrCat(path.empty() ? "the network" : path, ": ", status.message());
  diagnostic.hint = hint;
  return DiagnosticToStatus(diagnostic);
}

}  // namespace

NetBuilder::NetBuilder(NetBuilderOptions options)
    : options_(std::move(options)), graph_(options_.limits), layout_(graph_.graph()) {}

// The shape rules check what calls make.
TensorType NetBuilder::Checked(TensorType type, absl::string_view name) {
  if (ok() && IsTooLarge(type, options_.limits.max_tensor_bytes))
    status_ = AtModule(
        name, absl::ResourceExhaustedError(LimitMessage(TypeText(type), options_.limits.max_tensor_bytes, "bytes")),
        options_.hint);
  return type;
}

std::string NetBuilder::NameOf(absl::string_view path, absl::string_view name, char letter) {
  return path.empty() ? absl::StrCat(std::string(1, letter), numbered_++) : absl::StrCat(path, ".", name);
}

ValueRef NetBuilder::ParameterOf(absl::string_view path, absl::string_view name, Shape shape) {
  const std::string whole = NameOf(path, name, 'p');
  return graph_.AddParameter(whole, Checked({std::move(shape)}, whole));
}

ValueRef NetBuilder::BufferOf(absl::string_view path, absl::string_view name, Shape shape) {
  const std::string whole = NameOf(path, name, 'b');
  return graph_.AddBuffer(whole, Checked({std::move(shape)}, whole));
}

ValueRef NetBuilder::Input(Shape shape, DType dtype, absl::string_view name) {
  return graph_.AddInput(name.empty() ? NameOf("", "", 'x') : std::string(name),
                         Checked({std::move(shape), dtype}, name));
}

ValueRef NetBuilder::Parameter(Shape shape, absl::string_view name) {
  return graph_.AddParameter(name.empty() ? NameOf("", "", 'p') : std::string(name), Checked({std::move(shape)}, name));
}

const Shape& NetBuilder::ShapeOf(ValueRef x) const {
  static const Shape* const kNone = new Shape;
  return x.is_none() ? *kNone : graph_.TypeOf(x).shape;
}

int64_t NetBuilder::Dim(ValueRef x, size_t dim) const {
  const Shape& shape = ShapeOf(x);
  return dim < shape.size() ? shape[dim] : 1;
}

ValueRef NetBuilder::AddCall(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path, bool inplace) {
  if (!ok()) return ValueRef::None();
  Origin origin;
  origin.module_path = std::string(path);
  const absl::StatusOr<int32_t> node =
      graph_.Add(op, std::move(attributes), std::move(inputs), std::move(origin), inplace);
  if (!node.ok()) {
    status_ = AtModule(path, node.status(), options_.hint);
    return ValueRef::None();
  }
  return ValueRef::Node(*node);
}

ValueRef NetBuilder::Call(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path) {
  return AddCall(op, std::move(attributes), std::move(inputs), path, /*inplace=*/false);
}

ValueRef NetBuilder::CallInPlace(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path) {
  return AddCall(op, std::move(attributes), std::move(inputs), path, /*inplace=*/true);
}

ValueRef NetBuilder::Conv2d(ValueRef x, const Conv2dOptions& options, absl::string_view path) {
  if (!ok()) return ValueRef::None();
  if (options.out_channels < 1 || options.groups < 1 || Channels(x) % options.groups != 0) {
    status_ =
        AtModule(path, absl::InvalidArgumentError("conv2d: the channels do not divide into the groups"), options_.hint);
    return ValueRef::None();
  }
  const ValueRef weight = ParameterOf(
      path, "weight",
      {options.out_channels, Channels(x) / options.groups, options.kernel_size.height, options.kernel_size.width});
  const ValueRef bias = options.bias ? ParameterOf(path, "bias", {options.out_channels}) : ValueRef::None();
  return Call(Op::conv2d,
              {{"stride", List(options.stride)},
               {"padding", List(options.padding)},
               {"dilation", List(options.dilation)},
               {"groups", options.groups}},
              {x, weight, bias}, path);
}

ValueRef NetBuilder::BatchNorm2d(ValueRef x, absl::string_view path) {
  if (!ok()) return ValueRef::None();
  const Shape shape = {Channels(x)};
  const ValueRef mean = BufferOf(path, "running_mean", shape), variance = BufferOf(path, "running_var", shape);
  if (!path.empty()) graph_.AddBuffer(absl::StrCat(path, ".num_batches_tracked"), {{}, DType::int64});
  const ValueRef weight = ParameterOf(path, "weight", shape), bias = ParameterOf(path, "bias", shape);
  return Call(Op::batch_norm, {{"eps", 1e-5}}, {x, mean, variance, weight, bias}, path);
}

ValueRef NetBuilder::LayerNorm(ValueRef x, absl::string_view path) {
  if (!ok()) return ValueRef::None();
  const int64_t width = ShapeOf(x).back();
  const ValueRef weight = ParameterOf(path, "weight", {width}), bias = ParameterOf(path, "bias", {width});
  return Call(Op::layer_norm, {{"normalized_shape", std::vector<int64_t>{width}}, {"eps", 1e-5}}, {x, weight, bias},
              path);
}

ValueRef NetBuilder::Linear(ValueRef x, int64_t out_features, absl::string_view path) {
  if (!ok()) return ValueRef::None();
  const ValueRef weight = ParameterOf(path, "weight", {out_features, ShapeOf(x).back()});
  const ValueRef bias = ParameterOf(path, "bias", {out_features});
  return Call(Op::linear, {}, {x, weight, bias}, path);
}

ValueRef NetBuilder::Relu6InPlace(ValueRef x, absl::string_view path) {
  return CallInPlace(Op::hardtanh, {{"min_val", 0.0}, {"max_val", 6.0}}, {x}, path);
}

ValueRef NetBuilder::MaxPool2d(ValueRef x, const MaxPool2dOptions& options, absl::string_view path) {
  return Call(Op::max_pool2d,
              {{"kernel_size", List(options.kernel_size)},
               {"stride", List(options.stride)},
               {"padding", List(options.padding)},
               {"dilation", List(1)},
               {"ceil_mode", options.ceil_mode}},
              {x}, path);
}

ValueRef NetBuilder::AvgPool2d(ValueRef x, const AvgPool2dOptions& options, absl::string_view path) {
  return Call(Op::avg_pool2d,
              {{"kernel_size", List(options.kernel_size)},
               {"stride", List(options.stride)},
               {"padding", List(options.padding)},
               {"ceil_mode", false},
               {"count_include_pad", options.count_include_pad}},
              {x}, path);
}

ValueRef NetBuilder::AdaptiveAvgPool2d(ValueRef x, int64_t output_size, absl::string_view path) {
  return Call(Op::adaptive_avg_pool2d, {{"output_size", List(output_size)}}, {x}, path);
}

ValueRef NetBuilder::Dropout(ValueRef x, double p, absl::string_view path) {
  return Call(Op::dropout, {{"p", p}}, {x}, path);
}

ValueRef NetBuilder::Cat(std::vector<ValueRef> tensors, int64_t dim, absl::string_view path) {
  return Call(Op::cat, {{"dim", dim}}, ValueRefs(tensors.begin(), tensors.end()), path);
}

ValueRef NetBuilder::Flatten(ValueRef x, absl::string_view path) {
  return Call(Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x}, path);
}

ValueRef NetBuilder::GetItem(ValueRef x, absl::string_view index, absl::string_view path) {
  return Call(Op::getitem, {{"index", std::string(index)}}, {x}, path);
}

ValueRef NetBuilder::View(ValueRef x, std::vector<int64_t> size, absl::string_view path) {
  return Call(Op::view, {{"size", std::move(size)}}, {x}, path);
}

ValueRef NetBuilder::Contiguous(ValueRef x, absl::string_view path) {
  if (!ok()) return ValueRef::None();
  layout_.Update();
  const bool already = IsContiguous(graph_.TypeOf(x).shape, layout_.Of(x));
  const ValueRef copy = Call(Op::contiguous, {}, {x}, path);
  return already ? x : copy;
}

// The layouts of a block's values follow from those of its inputs.
bool NetBuilder::AreContiguous(absl::Span<const ValueRef> values) {
  const Layout& layout = layout_.Update();
  return absl::c_all_of(values, [&](const ValueRef& value) {
    return !value.is_none() &&
           (layout.IsContiguous(graph_.graph(), value) || IsContiguous(graph_.TypeOf(value).shape, layout_.Of(value)));
  });
}

std::shared_ptr<const graph::Block> NetBuilder::BlockOf(absl::string_view text, absl::Span<const ValueRef> inputs,
                                                        BuildBlock build) {
  static auto* const cache = new BlockCache(kBlockCacheBytes);
  std::string key = absl::StrCat(text, options_.names_blocks ? "\n" : "\n\n");
  const GraphLimits& limits = options_.limits;
  for (const int64_t limit : {int64_t{limits.max_nodes}, int64_t{limits.max_results}, int64_t{limits.max_dimensions},
                              int64_t{limits.max_rank}, int64_t{limits.max_tensor_bytes}})
    AppendNumber(limit, &key);
  for (const ValueRef& input : inputs) {
    const TensorType& type = graph_.TypeOf(input);
    AppendNumber(static_cast<int64_t>(type.dtype), &key);
    AppendNumber(type.rank(), &key);
    for (const int64_t size : type.shape) AppendNumber(size, &key);
  }
  std::shared_ptr<const graph::Block> block = cache->Find(key);
  if (block != nullptr) return block;
  NetBuilder alone(options_);
  std::vector<ValueRef> own;
  for (const ValueRef& input : inputs) {
    const TensorType& type = graph_.TypeOf(input);
    own.push_back(alone.Input(type.shape, type.dtype, "x"));
  }
  const ValueRef output = build(alone, "", own);
  // Numbered names would have to be numbered anew.
  if (!alone.ok() || output.is_none() || alone.numbered_ > 0) return nullptr;
  alone.graph_.AddCallKeys();
  const bool is_contiguous = alone.layout_.Update().IsContiguous();
  block = std::make_shared<const graph::Block>(graph::Block{std::move(alone.graph_).Build({output}), is_contiguous});
  cache->Insert(key, block);
  return block;
}

ValueRef NetBuilder::Block(absl::string_view text, const std::string& path, absl::Span<const ValueRef> inputs,
                           BuildBlock build) {
  if (!ok()) return ValueRef::None();
  if (AreContiguous(inputs)) {
    if (const std::shared_ptr<const graph::Block> block = BlockOf(text, inputs, build); block != nullptr) {
      const absl::StatusOr<std::vector<ValueRef>> outputs = graph_.Append(
          block->graph, inputs, options_.names_blocks ? std::make_optional<absl::string_view>(path) : std::nullopt);
      if (outputs.ok() && block->is_contiguous) layout_.SkipContiguous();
      if (outputs.ok()) return (*outputs)[0];
    }
  }
  return build(*this, path, inputs);  // its errors name the module
}

absl::StatusOr<Graph> NetBuilder::Finish(std::vector<ValueRef> outputs) && {
  if (!ok()) return status_;
  return std::move(graph_).Build(std::move(outputs));
}

}  // namespace cobra::graph
