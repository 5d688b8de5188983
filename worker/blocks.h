// Blocks of published families, written as torchvision writes them.
#ifndef COBRA_WORKER_BLOCKS_H_
#define COBRA_WORKER_BLOCKS_H_

#include <cstdint>

#include "worker/net_builder.h"

namespace cobra::worker {

int64_t RoundTo8(double value);  // at least 8

// Pool, 1x1 convolution, activation, 1x1 convolution, gate, product.
graph::ValueRef SqueezeExcite(NetBuilder* b, graph::ValueRef x, int64_t squeeze, graph::Op activation, graph::Op gate);

struct ResNetConfig {
  bool bottleneck = false, excite = false;
  int64_t groups = 1, group_width = 64;  // as torchvision: width = planes * group_width / 64 * groups
};

graph::ValueRef ResidualBlock(NetBuilder* b, graph::ValueRef x, const ResNetConfig& c, int64_t planes, int64_t stride);

struct Mobile {
  int activation = 0;  // 0 relu, 1 relu6, 2 hardswish, 3 silu
  bool excite = false;
};

graph::ValueRef Activate(NetBuilder* b, graph::ValueRef x, int activation);
graph::ValueRef InvertedResidual(NetBuilder* b, graph::ValueRef x, const Mobile& m, int64_t out, int64_t stride,
                                 int64_t kernel, double expand);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_BLOCKS_H_
