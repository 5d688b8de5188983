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
  graph::ValueRef Input(absl::string_view name, graph::TensorType type) {
    return graph_.AddInput(name, std::move(type));
  }
  graph::ValueRef Parameter(absl::string_view name, graph::Shape shape) {
    return graph_.AddParameter(name, {std::move(shape)});
  }
  graph::ValueRef Constant(absl::string_view name, graph::Shape shape) {
    return graph_.AddConstant(name, {std::move(shape)});
  }
  int64_t Dim(graph::ValueRef x, int dim) const;  // 0 after an error
  int64_t Channels(graph::ValueRef x) const { return Dim(x, 1); }

  // Any call; an empty `path` is the network itself. The first output.
  graph::ValueRef Call(graph::Op op, absl::string_view path, graph::Attributes attributes,
                       std::vector<graph::ValueRef> inputs, bool inplace = false);

  // Modules: parameters `path`.weight ..., the call made by module `path`.
  graph::ValueRef Conv2d(const std::string& path, graph::ValueRef x, const Conv& conv);
  graph::ValueRef BatchNorm2d(const std::string& path, graph::ValueRef x);
  graph::ValueRef LayerNorm(const std::string& path, graph::ValueRef x, int64_t size);
  graph::ValueRef Linear(const std::string& path, graph::ValueRef x, int64_t out);
  graph::ValueRef Relu(absl::string_view path, graph::ValueRef x, bool inplace) {
    return Call(graph::Op::relu, path, {}, {x}, inplace);
  }
  graph::ValueRef AvgPool2d(absl::string_view path, graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding,
                            bool count_include_pad);
  graph::ValueRef MaxPool2d(absl::string_view path, graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding);
  graph::ValueRef GlobalAvgPool2d(absl::string_view path, graph::ValueRef x);    // nn.AdaptiveAvgPool2d(1)
  graph::ValueRef Dropout(absl::string_view path, graph::ValueRef x, double p);  // in eval: x itself

  // Functions, called in the forward of module `path`.
  graph::ValueRef Add(absl::string_view path, graph::ValueRef a, graph::ValueRef b, bool inplace = false) {
    return Call(graph::Op::add, path, {}, {a, b}, inplace);
  }
  graph::ValueRef Cat(absl::string_view path, std::vector<graph::ValueRef> tensors, int64_t dim) {
    return Call(graph::Op::cat, path, {{"dim", dim}}, std::move(tensors));
  }
  graph::ValueRef GetItem(absl::string_view path, graph::ValueRef x, absl::string_view index) {
    return Call(graph::Op::getitem, path, {{"index", std::string(index)}}, {x});
  }
  graph::ValueRef View(absl::string_view path, graph::ValueRef x, std::vector<int64_t> size) {
    return Call(graph::Op::view, path, {{"size", std::move(size)}}, {x});
  }
  // x.contiguous(): x itself where its strides are contiguous already.
  graph::ValueRef Contiguous(absl::string_view path, graph::ValueRef x);
  graph::ValueRef FlattenView(absl::string_view path, graph::ValueRef x) { return View(path, x, {Dim(x, 0), -1}); }

  absl::StatusOr<graph::Graph> Finish(std::vector<graph::ValueRef> outputs) &&;

 private:
  graph::GraphBuilder graph_;
  graph::LayoutTracker layout_;
  absl::Status status_;
};

}  // namespace cobra::nas

#endif  // COBRA_FRONTEND_NAS_NET_BUILDER_H_
