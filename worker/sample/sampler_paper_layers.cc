// Table 4 of the COBRA paper: eight types in its proportions, every number uniform in its range,
// batch 1.
#include <numeric>

#include "graph/builder/net_builder.h"
#include "worker/sample/layer_kinds.h"
#include "worker/sample/random.h"

namespace cobra::worker {
namespace {

int64_t Size(Random* r) { return r->Between(1, 999); }  // Python's range(1, 1000)
graph::ValueRef Image(Random* r, graph::NetBuilder* b) {
  const int64_t h = Size(r), w = Size(r), c = Size(r);
  return b->Input({1, c, h, w});
}
graph::Size2d TwoOf(Random* r, int64_t low, int64_t high) {
  const int64_t height = r->Between(low, high);
  return {height, r->Between(low, high)};
}

graph::ValueRef Convolution(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = Image(r, b);
  const int64_t out_channels = Size(r);
  return b->Conv2d(x, {.out_channels = out_channels,
                       .kernel_size = TwoOf(r, 1, 9),
                       .stride = TwoOf(r, 1, 9),
                       .padding = TwoOf(r, 0, 9),
                       .dilation = TwoOf(r, 1, 4),
                       .groups = std::gcd(b->Channels(x), out_channels),
                       .bias = true});
}

graph::ValueRef BatchNormalization(Random* r, graph::NetBuilder* b) { return b->BatchNorm2d(Image(r, b)); }
graph::ValueRef Relu(Random* r, graph::NetBuilder* b) { return b->Relu(Image(r, b)); }

// M tensors of one shape: x1 + x2 + ... in the order of sum(), two at a time.
graph::ValueRef Add(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef first = Image(r, b);
  const graph::Shape shape = b->ShapeOf(first);
  graph::ValueRef sum = first;
  const int64_t tensors = r->Between(2, 9);
  for (int64_t i = 1; i < tensors; ++i) sum = b->Add(sum, b->Input(shape));
  return sum;
}

graph::ValueRef Linear(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = b->Input({1, Size(r)});
  return b->Linear(x, Size(r));
}

graph::ValueRef AveragePooling(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = Image(r, b);
  return b->AvgPool2d(x, {.kernel_size = TwoOf(r, 1, 9), .stride = TwoOf(r, 1, 9), .padding = TwoOf(r, 0, 9)});
}

graph::ValueRef MaxPooling(Random* r, graph::NetBuilder* b) {
  const graph::ValueRef x = Image(r, b);
  return b->MaxPool2d(x, {.kernel_size = TwoOf(r, 1, 9), .stride = TwoOf(r, 1, 9), .padding = TwoOf(r, 0, 9)});
}

graph::ValueRef GlobalAveragePooling(Random* r, graph::NetBuilder* b) { return b->AdaptiveAvgPool2d(Image(r, b), 1); }

// With the samples of the table.
constexpr LayerKind kTypes[] = {
    {"conv2d", 115192, Convolution},
    {"batch_norm", 38020, BatchNormalization},
    {"relu", 64734, Relu},
    {"add", 10000, Add},
    {"linear", 20164, Linear},
    {"avg_pool2d", 3806, AveragePooling},
    {"max_pool2d", 2108, MaxPooling},
    {"adaptive_avg_pool2d", 13934, GlobalAveragePooling},
};

}  // namespace

std::unique_ptr<Sampler> MakePaperLayerSampler(const SamplerOptions& options) {
  return MakeKindSampler("paper-layers", kTypes, options);
}

}  // namespace cobra::worker
