// Blocks of published families, written as torchvision writes them.
#ifndef COBRA_WORKER_SAMPLE_BLOCKS_H_
#define COBRA_WORKER_SAMPLE_BLOCKS_H_

#include <cstdint>

#include "graph/builder/net_builder.h"

namespace cobra::worker {

// At least 8.
int64_t RoundTo8(double value);

// Pool, 1x1 convolution, activation, 1x1 convolution, gate, product.
graph::ValueRef SqueezeExcite(graph::NetBuilder* b, graph::ValueRef x, int64_t squeeze, graph::Op activation,
                              graph::Op gate);

struct ResNetConfig {
  bool bottleneck = false, excite = false;
  // As torchvision: width = planes * group_width / 64 * groups.
  int64_t groups = 1, group_width = 64;
};

graph::ValueRef ResidualBlock(graph::NetBuilder* b, graph::ValueRef x, const ResNetConfig& c, int64_t planes,
                              int64_t stride);

struct Mobile {
  // 0 relu, 1 relu6, 2 hardswish, 3 silu.
  int activation = 0;
  bool excite = false;
};

graph::ValueRef Activate(graph::NetBuilder* b, graph::ValueRef x, int activation);
graph::ValueRef InvertedResidual(graph::NetBuilder* b, graph::ValueRef x, const Mobile& m, int64_t out, int64_t stride,
                                 int64_t kernel, double expand);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLE_BLOCKS_H_
