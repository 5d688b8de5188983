// Writing a network down in C++ in the words of torch.nn: makes the parameters, fills in PyTorch's defaults, keeps the
// first error.
#ifndef COBRA_WORKER_NET_BUILDER_H_
#define COBRA_WORKER_NET_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/builder.h"

namespace cobra {

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
  ValueRef Input(Shape shape, DType dtype = DType::float32);
  ValueRef Parameter(Shape shape);
  ValueRef Conv(ValueRef x, const ConvSpec& spec);
  ValueRef BatchNorm(ValueRef x);
  ValueRef LayerNorm(ValueRef x);  // over the last dimension
  ValueRef Linear(ValueRef x, int64_t out, bool bias = true);
  ValueRef Relu(ValueRef x, bool inplace = true);
  ValueRef Relu6(ValueRef x);  // nn.ReLU6(inplace=True): PyTorch runs hardtanh_
  ValueRef MaxPool(ValueRef x, int64_t kernel, int64_t stride, int64_t padding = 0, bool ceil_mode = false);
  ValueRef AvgPool(ValueRef x, int64_t kernel, int64_t stride, int64_t padding = 0);
  ValueRef AdaptiveAvgPool(ValueRef x, int64_t size);
  ValueRef Add(ValueRef x, ValueRef y, bool inplace = false);
  ValueRef Cat(std::vector<ValueRef> parts, int64_t dim = 1);
  ValueRef Flatten(ValueRef x);  // from dimension 1
  ValueRef Dropout(ValueRef x, double p);
  // Any other call.
  ValueRef Call(Op op, Attributes attributes, std::vector<ValueRef> inputs, bool inplace = false);

  // As the families write it: convolution, batch norm, activation in place.
  ValueRef ConvBn(ValueRef x, const ConvSpec& spec) { return BatchNorm(Conv(x, spec)); }
  ValueRef ConvBnRelu(ValueRef x, const ConvSpec& spec) { return Relu(ConvBn(x, spec)); }

  const Shape& ShapeOf(ValueRef x) const;
  int64_t Channels(ValueRef x) const { return Dim(x, 1); }
  int64_t Dim(ValueRef x, size_t i) const;
  bool ok() const { return status_.ok(); }

  absl::StatusOr<Graph> Finish(ValueRef output) &&;

 private:
  GraphBuilder builder_;
  absl::Status status_;
  int names_ = 0;
};

}  // namespace cobra

#endif  // COBRA_WORKER_NET_BUILDER_H_
