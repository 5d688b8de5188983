// Writing a network down in C++ in the words of torch.nn: makes the parameters, fills in PyTorch's defaults, keeps the
// first error.
#ifndef COBRA_WORKER_NET_BUILDER_H_
#define COBRA_WORKER_NET_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder.h"

namespace cobra::worker {

struct ConvSpec {
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t groups = 1;
  int64_t dilation = 1;
  bool bias = false;
};

class NetBuilder {
 public:
  graph::ValueRef Input(graph::Shape shape, graph::DType dtype = graph::DType::float32);
  graph::ValueRef Parameter(graph::Shape shape);
  graph::ValueRef Conv(graph::ValueRef x, const ConvSpec& spec);
  graph::ValueRef BatchNorm(graph::ValueRef x);
  graph::ValueRef LayerNorm(graph::ValueRef x);  // over the last dimension
  graph::ValueRef Linear(graph::ValueRef x, int64_t out, bool bias = true);
  graph::ValueRef Relu(graph::ValueRef x, bool inplace = true);
  graph::ValueRef Relu6(graph::ValueRef x);  // nn.ReLU6(inplace=True): PyTorch runs hardtanh_
  graph::ValueRef MaxPool(graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding = 0,
                          bool ceil_mode = false);
  graph::ValueRef AvgPool(graph::ValueRef x, int64_t kernel, int64_t stride, int64_t padding = 0);
  graph::ValueRef AdaptiveAvgPool(graph::ValueRef x, int64_t size);
  graph::ValueRef Add(graph::ValueRef x, graph::ValueRef y, bool inplace = false);
  graph::ValueRef Cat(std::vector<graph::ValueRef> parts, int64_t dim = 1);
  graph::ValueRef Flatten(graph::ValueRef x);  // from dimension 1
  graph::ValueRef Dropout(graph::ValueRef x, double p);
  // Any other call.
  graph::ValueRef Call(graph::Op op, graph::Attributes attributes, std::vector<graph::ValueRef> inputs,
                       bool inplace = false);

  // As the families write it: convolution, batch norm, activation in place.
  graph::ValueRef ConvBn(graph::ValueRef x, const ConvSpec& spec) { return BatchNorm(Conv(x, spec)); }
  graph::ValueRef ConvBnRelu(graph::ValueRef x, const ConvSpec& spec) { return Relu(ConvBn(x, spec)); }

  const graph::Shape& ShapeOf(graph::ValueRef x) const;
  int64_t Channels(graph::ValueRef x) const { return Dim(x, 1); }
  int64_t Dim(graph::ValueRef x, size_t i) const;
  bool ok() const { return status_.ok(); }

  absl::StatusOr<graph::Graph> Finish(graph::ValueRef output) &&;

 private:
  graph::GraphBuilder builder_;
  absl::Status status_;
  int names_ = 0;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_NET_BUILDER_H_
