// PyTorch's layers as one-line calls on a GraphBuilder, so that code which builds a network reads
// like its `forward`. Parameters and buffers are created with PyTorch's defaults. After the first
// error, calls do nothing and return None, and Finish() returns the error.
//
// The last argument of a layer is its module path ("layer1.0.conv2"): it names the layer's
// parameters and its call. It is omitted if the modules have no names. Then parameters are numbered
// (p0, p1 ...), and a batch norm has no num_batches_tracked, which nothing reads.
#ifndef COBRA_GRAPH_BUILDER_NET_BUILDER_H_
#define COBRA_GRAPH_BUILDER_NET_BUILDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/block_cache.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"
#include "graph/shape/layout.h"

namespace cobra::graph {

// Height and width. One number sets both, as in PyTorch's kernel_size=3.
struct Size2d {
  constexpr Size2d(int64_t both) : height(both), width(both) {}  // NOLINT(google-explicit-constructor)
  constexpr Size2d(int64_t height, int64_t width) : height(height), width(width) {}

  int64_t height, width;
};

// nn.Conv2d. The number of input channels is that of the input; `bias` is false as before a batch
// norm.
struct Conv2dOptions {
  int64_t out_channels = 0;
  Size2d kernel_size = 1;
  Size2d stride = 1;
  Size2d padding = 0;
  Size2d dilation = 1;
  int64_t groups = 1;
  bool bias = false;
};

// nn.MaxPool2d. Unlike in PyTorch, `stride` is required.
struct MaxPool2dOptions {
  Size2d kernel_size = 1;
  Size2d stride = 1;
  Size2d padding = 0;
  bool ceil_mode = false;
};

// nn.AvgPool2d. Unlike in PyTorch, `stride` is required.
struct AvgPool2dOptions {
  Size2d kernel_size = 1;
  Size2d stride = 1;
  Size2d padding = 0;
  bool count_include_pad = true;
};

struct NetBuilderOptions {
  GraphLimits limits;
  // Hint for an error in a call (Diagnostic::hint): what the user can do about it.
  std::string hint;
  // Of blocks: whether their calls have module paths and their tensors names. Without them a
  // network is built faster; predictions do not depend on them.
  bool names_blocks = true;
};

class NetBuilder {
 public:
  explicit NetBuilder(NetBuilderOptions options = {});
  // The layout refers to the graph.
  NetBuilder(const NetBuilder&) = delete;
  NetBuilder& operator=(const NetBuilder&) = delete;

  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  // ---- tensors that are not computed by a call; unnamed ones are numbered ----
  ValueRef Input(Shape shape, DType dtype = DType::float32, absl::string_view name = "");
  ValueRef Parameter(Shape shape, absl::string_view name = "");
  ValueRef Constant(Shape shape, absl::string_view name) { return graph_.AddConstant(name, {std::move(shape)}); }

  // ---- sizes; empty and 1 after an error ----
  const Shape& ShapeOf(ValueRef x) const;
  int64_t Dim(ValueRef x, size_t dim) const;
  int64_t Channels(ValueRef x) const { return Dim(x, 1); }

  // ---- any call; its first output ----
  ValueRef Call(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path = "");
  // As PyTorch's relu_(): the result overwrites the first input.
  ValueRef CallInPlace(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path = "");

  // ---- modules ----
  ValueRef Conv2d(ValueRef x, const Conv2dOptions& options, absl::string_view path = "");
  ValueRef BatchNorm2d(ValueRef x, absl::string_view path = "");
  // Over the last dimension.
  ValueRef LayerNorm(ValueRef x, absl::string_view path = "");
  ValueRef Linear(ValueRef x, int64_t out_features, absl::string_view path = "");
  ValueRef Relu(ValueRef x, absl::string_view path = "") { return Call(Op::relu, {}, {x}, path); }
  ValueRef ReluInPlace(ValueRef x, absl::string_view path = "") { return CallInPlace(Op::relu, {}, {x}, path); }
  // nn.ReLU6(inplace=True): PyTorch runs hardtanh_.
  ValueRef Relu6InPlace(ValueRef x, absl::string_view path = "");
  ValueRef MaxPool2d(ValueRef x, const MaxPool2dOptions& options, absl::string_view path = "");
  ValueRef AvgPool2d(ValueRef x, const AvgPool2dOptions& options, absl::string_view path = "");
  ValueRef AdaptiveAvgPool2d(ValueRef x, int64_t output_size, absl::string_view path = "");
  // The call's result. In eval mode PyTorch returns `x` itself; code for such a `forward` continues
  // with `x`.
  ValueRef Dropout(ValueRef x, double p, absl::string_view path = "");
  // A convolution without bias, its batch norm, a ReLU in place.
  ValueRef ConvBn(ValueRef x, const Conv2dOptions& options) { return BatchNorm2d(Conv2d(x, options)); }
  ValueRef ConvBnRelu(ValueRef x, const Conv2dOptions& options) { return ReluInPlace(ConvBn(x, options)); }

  // ---- blocks ----
  // Builds a block on `net`: its calls on `inputs`, with module paths and names that begin with
  // `path`. Its result depends only on the block's text and the types of the inputs.
  using BuildBlock =
      absl::FunctionRef<ValueRef(NetBuilder& net, const std::string& path, absl::Span<const ValueRef> inputs)>;
  // The block that `text` describes: built once in this process for inputs of these types,
  // afterwards copied. `text` names its search space.
  ValueRef Block(absl::string_view text, const std::string& path, absl::Span<const ValueRef> inputs, BuildBlock build);

  // ---- functions, called in the forward of module `path` ----
  ValueRef Add(ValueRef x, ValueRef y, absl::string_view path = "") { return Call(Op::add, {}, {x, y}, path); }
  ValueRef AddInPlace(ValueRef x, ValueRef y, absl::string_view path = "") {
    return CallInPlace(Op::add, {}, {x, y}, path);
  }
  ValueRef Cat(std::vector<ValueRef> tensors, int64_t dim, absl::string_view path = "");
  // torch.flatten(x, 1)
  ValueRef Flatten(ValueRef x, absl::string_view path = "");
  // x[index]
  ValueRef GetItem(ValueRef x, absl::string_view index, absl::string_view path = "");
  ValueRef View(ValueRef x, std::vector<int64_t> size, absl::string_view path = "");
  // x.view(x.size(0), -1)
  ValueRef FlattenView(ValueRef x, absl::string_view path = "") { return View(x, {Dim(x, 0), -1}, path); }
  // x.contiguous(): x itself if its strides are already contiguous.
  ValueRef Contiguous(ValueRef x, absl::string_view path = "");

  absl::StatusOr<Graph> Finish(std::vector<ValueRef> outputs) &&;

 private:
  ValueRef AddCall(Op op, Attributes attributes, ValueRefs inputs, absl::string_view path, bool inplace);
  // Built or found in the cache; null if it cannot be built by itself.
  std::shared_ptr<const graph::Block> BlockOf(absl::string_view text, absl::Span<const ValueRef> inputs,
                                              BuildBlock build);
  bool AreContiguous(absl::Span<const ValueRef> values);
  // `path`.`name`, or `letter` and the next number if there is no path.
  std::string NameOf(absl::string_view path, absl::string_view name, char letter);
  TensorType Checked(TensorType type, absl::string_view name);
  ValueRef ParameterOf(absl::string_view path, absl::string_view name, Shape shape);
  ValueRef BufferOf(absl::string_view path, absl::string_view name, Shape shape);

  const NetBuilderOptions options_;
  GraphBuilder graph_;
  LayoutTracker layout_;
  absl::Status status_;
  int numbered_ = 0;
};

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_BUILDER_NET_BUILDER_H_
