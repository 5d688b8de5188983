// PyTorch's layers as one-line calls on a GraphBuilder: what a space's code writes as nn.Conv2d, nn.BatchNorm2d ... A
// `path` is the module path that the layer has in the published code; its parameters and its call are named by it.
// The first error sticks: later calls do nothing, Finish() returns it. So the builders of the spaces read like the
// `forward` that they stand for.
#ifndef COBRA_FRONTEND_NAS_NET_BUILDER_H_
#define COBRA_FRONTEND_NAS_NET_BUILDER_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "graph/layout.h"

namespace cobra::nas {

using Pair = std::array<int64_t, 2>;  // height, width

struct Conv {
  int64_t out = 0;
  Pair kernel{1, 1};
  Pair stride{1, 1};
  Pair padding{0, 0};
  int64_t dilation = 1;
  int64_t groups = 1;
  bool bias = false;
};
// nn.Conv2d(in, out, kernel, stride, padding): square ones.
inline Conv Square(int64_t out, int64_t kernel, int64_t stride = 1, int64_t padding = 0) {
  return {out, {kernel, kernel}, {stride, stride}, {padding, padding}};
}

class NetBuilder {
 public:
  explicit NetBuilder(const GraphLimits& limits) : graph_(limits), layout_(graph_.graph()) {}
  NetBuilder(const NetBuilder&) = delete;  // the layout watches the graph
  NetBuilder& operator=(const NetBuilder&) = delete;

  const absl::Status& status() const { return status_; }
  ValueRef Input(absl::string_view name, TensorType type) { return graph_.AddInput(name, std::move(type)); }
  ValueRef Parameter(absl::string_view name, Shape shape) { return graph_.AddParameter(name, {std::move(shape)}); }
  ValueRef Constant(absl::string_view name, Shape shape) { return graph_.AddConstant(name, {std::move(shape)}); }
  int64_t Dim(ValueRef x, int dim) const;  // 0 after an error
  int64_t Channels(ValueRef x) const { return Dim(x, 1); }

  // Any call; an empty `path` is the network itself. The first output.
  ValueRef Call(Op op, absl::string_view path, Attributes attributes, std::vector<ValueRef> inputs,
                bool inplace = false);

  // Modules: parameters `path`.weight ..., the call made by module `path`.
  ValueRef Conv2d(const std::string& path, ValueRef x, const Conv& conv);
  ValueRef BatchNorm2d(const std::string& path, ValueRef x);
  ValueRef LayerNorm(const std::string& path, ValueRef x, int64_t size);
  ValueRef Linear(const std::string& path, ValueRef x, int64_t out);
  ValueRef Relu(absl::string_view path, ValueRef x, bool inplace) { return Call(Op::relu, path, {}, {x}, inplace); }
  ValueRef AvgPool2d(absl::string_view path, ValueRef x, int64_t kernel, int64_t stride, int64_t padding,
                     bool count_include_pad);
  ValueRef MaxPool2d(absl::string_view path, ValueRef x, int64_t kernel, int64_t stride, int64_t padding);
  ValueRef GlobalAvgPool2d(absl::string_view path, ValueRef x);    // nn.AdaptiveAvgPool2d(1)
  ValueRef Dropout(absl::string_view path, ValueRef x, double p);  // in eval: x itself

  // Functions, called in the forward of module `path`.
  ValueRef Add(absl::string_view path, ValueRef a, ValueRef b, bool inplace = false) {
    return Call(Op::add, path, {}, {a, b}, inplace);
  }
  ValueRef Cat(absl::string_view path, std::vector<ValueRef> tensors, int64_t dim) {
    return Call(Op::cat, path, {{"dim", dim}}, std::move(tensors));
  }
  ValueRef GetItem(absl::string_view path, ValueRef x, absl::string_view index) {
    return Call(Op::getitem, path, {{"index", std::string(index)}}, {x});
  }
  ValueRef View(absl::string_view path, ValueRef x, std::vector<int64_t> size) {
    return Call(Op::view, path, {{"size", std::move(size)}}, {x});
  }
  // x.contiguous(): x itself where its strides are contiguous already.
  ValueRef Contiguous(absl::string_view path, ValueRef x);
  ValueRef FlattenView(absl::string_view path, ValueRef x) { return View(path, x, {Dim(x, 0), -1}); }

  absl::StatusOr<Graph> Finish(std::vector<ValueRef> outputs) &&;

 private:
  GraphBuilder graph_;
  LayoutTracker layout_;
  absl::Status status_;
};

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_NET_BUILDER_H_
