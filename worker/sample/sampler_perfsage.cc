// PerfSAGE's four design spaces ("PerfSAGE: Generalized Inference Performance Predictor for
// Arbitrary Deep Learning Models on Edge Devices", Chai et al., section 3.2 and Table 2),
// re-created: every option is drawn uniformly and independently (section 3.1). The paper gives the
// structure but not all numbers. The missing ones are chosen so that the networks have the
// published sizes (Table 2: megabytes of int8 weights) and, for keyword spotting, the published
// numbers of operators. docs/nas_spaces.md states which numbers are the paper's and which are ours.
// The paper's networks are int8 TFLite graphs with batch norms folded away; these are what PyTorch
// runs in eval mode, float32, batch 1.
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/net_builder.h"
#include "worker/sample/blocks.h"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// The spaces have no dense layer: the classifier is a 1x1 convolution.
graph::ValueRef PoolAndClassify(graph::NetBuilder* b, graph::ValueRef x, int64_t classes) {
  return b->Flatten(b->Conv2d(b->AdaptiveAvgPool2d(x, 1), {.out_channels = classes, .kernel_size = 1, .bias = true}));
}

// --- CNN-ImageNet, CNN-CIFAR10: blocks of five nodes, after EfficientNet-EdgeTPU
struct CnnConfig {
  int64_t size = 224, stem = 32, stem_stride = 2;
  Ints widths, strides;  // of the blocks; a node's width is one of six multiples
  int64_t head = 1280, classes = 1000;
};

constexpr int kNodesPerBlock = 5;
constexpr int64_t kExpansion = 3;

// Inverted bottleneck (1x1, depthwise, 1x1) or fused MBConv (k x k, 1x1).
graph::ValueRef MbConv(graph::NetBuilder* b, graph::ValueRef x, bool fused, int64_t width, int64_t kernel,
                       int64_t stride) {
  const int64_t hidden = b->Channels(x) * kExpansion;
  if (fused) {
    x = b->ConvBnRelu(x, {.out_channels = hidden, .kernel_size = kernel, .stride = stride, .padding = kernel / 2});
  } else {
    x = b->ConvBnRelu(
        b->ConvBnRelu(x, {.out_channels = hidden, .kernel_size = 1}),
        {.out_channels = hidden, .kernel_size = kernel, .stride = stride, .padding = kernel / 2, .groups = hidden});
  }
  return b->ConvBn(x, {.out_channels = width, .kernel_size = 1});
}

// The block's input in the shape of its output: pooled where the block strides, padded with zero
// channels where it widens, projected where it narrows.
graph::ValueRef Shortcut(graph::NetBuilder* b, graph::ValueRef x, graph::ValueRef y) {
  if (b->Dim(x, 2) != b->Dim(y, 2)) {
    const int64_t stride = b->Dim(x, 2) / b->Dim(y, 2);
    x = b->AvgPool2d(x, {.kernel_size = stride, .stride = stride});
  }
  const int64_t more = b->Channels(y) - b->Channels(x);
  if (more < 0) return b->ConvBn(x, {.out_channels = b->Channels(y), .kernel_size = 1});
  if (more == 0) return x;
  return b->Call(graph::Op::pad,
                 {{"pad", Ints{0, 0, 0, 0, 0, more}}, {"mode", std::string("constant")}, {"value", 0.0}}, {x});
}

absl::StatusOr<graph::Graph> Cnn(Random* r, const CnnConfig& c) {
  graph::NetBuilder b;
  graph::ValueRef x = b.ConvBnRelu(b.Input({1, 3, c.size, c.size}),
                                   {.out_channels = c.stem, .kernel_size = 3, .stride = c.stem_stride, .padding = 1});
  for (size_t block = 0; block < c.widths.size(); ++block) {
    const graph::ValueRef input = x;
    int64_t stride = c.strides[block];  // of the first node that computes something
    for (int node = 0; node < kNodesPerBlock; ++node) {
      const int64_t kind = r->Between(0, 2);
      const double width =
          static_cast<double>(c.widths[block]) * r->Pick<double>({1.0 / 2, 2.0 / 3, 5.0 / 6, 1, 7.0 / 6, 4.0 / 3});
      const int64_t kernel = r->Pick<int64_t>({3, 5});
      if (kind == 2) continue;  // identity
      x = MbConv(&b, x, kind == 1, RoundTo8(width), kernel, std::exchange(stride, 1));
    }
    if (r->Chance(0.5) && !(x == input)) x = b.Add(x, Shortcut(&b, input, x));
  }
  return std::move(b).Finish(
      {PoolAndClassify(&b, b.ConvBnRelu(x, {.out_channels = c.head, .kernel_size = 1}), c.classes)});
}

absl::StatusOr<graph::Graph> CnnImageNet(Random* r) {
  return Cnn(r, {.size = 224,
                 .stem = 32,
                 .stem_stride = 2,
                 .widths = {24, 32, 48, 96, 144, 192},
                 .strides = {1, 2, 2, 2, 1, 2},
                 .head = 1280,
                 .classes = 1000});
}

// The last three blocks, channels divided by three.
absl::StatusOr<graph::Graph> CnnCifar10(Random* r) {
  return Cnn(r, {.size = 32,
                 .stem = 16,
                 .stem_stride = 1,
                 .widths = {96 / 3, 144 / 3, 192 / 3},
                 .strides = {1, 2, 2},
                 .head = 424,
                 .classes = 10});
}

// --- CNN-KWS: DS-CNN on 49 x 10 MFCC features of a second of speech The output has half the size,
// rounded up, at stride 2, and the same size at stride 1, where kernels are odd.
graph::ValueRef KwsConvBnRelu(graph::NetBuilder* b, graph::ValueRef x, const graph::Conv2dOptions& conv) {
  graph::Conv2dOptions padded = conv;
  padded.padding = {conv.kernel_size.height / 2, (conv.kernel_size.width - 1) / 2};
  return b->ConvBnRelu(x, padded);
}

absl::StatusOr<graph::Graph> CnnKws(Random* r) {
  const auto width = [r] { return 100 * r->Between(1, 10); };  // 100 to 1,000
  graph::NetBuilder b;
  graph::ValueRef x = b.Call(graph::Op::reshape, {{"shape", Ints{1, 1, 49, 10}}}, {b.Input({1, 490})});
  const graph::Size2d stem_kernel = r->Pick<graph::Size2d>({{10, 4}, {8, 4}, {5, 4}, {5, 5}, {3, 3}});
  x = KwsConvBnRelu(&b, x, {.out_channels = width(), .kernel_size = stem_kernel, .stride = 2});
  for (int block = 0; block < 8; ++block) {
    if (block > 0 && r->Chance(0.5)) continue;
    const int64_t channels = b.Channels(x);
    const graph::Size2d kernel = r->Pick<graph::Size2d>({{3, 3}, {3, 5}, {5, 3}, {5, 5}});
    x = KwsConvBnRelu(&b, x, {.out_channels = channels, .kernel_size = kernel, .groups = channels});
    x = b.ConvBnRelu(x, {.out_channels = width(), .kernel_size = 1});
  }
  return std::move(b).Finish({PoolAndClassify(&b, x, 12)});
}

// --- ViT-CIFAR100: patches of 4 x 4 pixels and a class token
struct VitConfig {
  int64_t width, heads, head_width, ratio, depth;
};

graph::ValueRef WithOther(graph::NetBuilder* b, graph::Op op, graph::ValueRef x, double other) {
  return b->Call(op, {{"other", other}}, {x});
}

// The tanh form as separate calls, like the operators in Table 2 (POW, MUL, ADD, TANH).
graph::ValueRef Gelu(graph::NetBuilder* b, graph::ValueRef x) {
  const graph::ValueRef cube = b->Call(graph::Op::pow, {{"exponent", 3.0}}, {x});
  const graph::ValueRef inner =
      WithOther(b, graph::Op::mul, b->Add(x, WithOther(b, graph::Op::mul, cube, 0.044715)), std::sqrt(2 / M_PI));
  const graph::ValueRef gate = WithOther(b, graph::Op::add, b->Call(graph::Op::tanh, {}, {inner}), 1.0);
  return b->Call(graph::Op::mul, {}, {WithOther(b, graph::Op::mul, x, 0.5), gate});
}

graph::ValueRef Attention(graph::NetBuilder* b, graph::ValueRef x, const VitConfig& c) {
  const int64_t batch = b->Dim(x, 0), tokens = b->Dim(x, 1), inner = c.heads * c.head_width;
  graph::ValueRef qkv = b->Linear(x, 3 * inner);
  qkv = b->Call(graph::Op::reshape, {{"shape", Ints{batch, tokens, 3, c.heads, c.head_width}}}, {qkv});
  qkv = b->Call(graph::Op::permute, {{"dims", Ints{2, 0, 3, 1, 4}}}, {qkv});
  const auto part = [&](int64_t i) { return b->Call(graph::Op::select, {{"dim", int64_t{0}}, {"index", i}}, {qkv}); };
  const graph::ValueRef q = WithOther(b, graph::Op::mul, part(0), 1 / std::sqrt(static_cast<double>(c.head_width))),
                        k = part(1), v = part(2);
  graph::ValueRef y = b->Call(graph::Op::matmul, {},
                              {q, b->Call(graph::Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {k})});
  y = b->Call(graph::Op::matmul, {}, {b->Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {y}), v});
  y = b->Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {y});
  return b->Linear(b->Call(graph::Op::reshape, {{"shape", Ints{batch, tokens, inner}}}, {y}), c.width);
}

absl::StatusOr<graph::Graph> VitCifar100(Random* r) {
  VitConfig c;
  c.width = r->Pick<int64_t>({256, 320, 384, 448, 512});
  c.heads = r->Pick<int64_t>({4, 6, 8});
  c.head_width = r->Pick<int64_t>({16, 32, 48, 64});
  c.ratio = r->Pick<int64_t>({2, 3, 4});
  c.depth = r->Pick<int64_t>({6, 8, 10, 12, 14, 16});
  graph::NetBuilder b;
  // No convolution in this space: patches are cut out by reshaping.
  graph::ValueRef x = b.Call(graph::Op::reshape, {{"shape", Ints{1, 3, 8, 4, 8, 4}}}, {b.Input({1, 3, 32, 32})});
  x = b.Call(graph::Op::permute, {{"dims", Ints{0, 2, 4, 1, 3, 5}}}, {x});
  x = b.Linear(b.Call(graph::Op::reshape, {{"shape", Ints{1, 64, 48}}}, {x}), c.width);
  x = b.Cat({b.Parameter({1, 1, c.width}), x}, 1);
  x = b.Add(x, b.Parameter({1, 65, c.width}));
  for (int64_t layer = 0; layer < c.depth; ++layer) {
    x = b.Add(x, Attention(&b, b.LayerNorm(x), c));
    x = b.Add(x, b.Linear(Gelu(&b, b.Linear(b.LayerNorm(x), c.width * c.ratio)), c.width));
  }
  x = b.Call(graph::Op::select, {{"dim", int64_t{1}}, {"index", int64_t{0}}}, {b.LayerNorm(x)});
  return std::move(b).Finish({b.Linear(x, 100)});
}

struct DesignSpace {
  absl::string_view name;
  absl::StatusOr<graph::Graph> (*draw)(Random*);
};
constexpr DesignSpace kDesignSpaces[] = {
    {"perfsage-cnn-cifar10", CnnCifar10},
    {"perfsage-cnn-imagenet", CnnImageNet},
    {"perfsage-cnn-kws", CnnKws},
    {"perfsage-vit-cifar100", VitCifar100},
};

class PerfSageSampler final : public Sampler {
 public:
  PerfSageSampler(const DesignSpace& design, const SamplerOptions& options) : design_(design), options_(options) {}
  absl::string_view space() const override { return design_.name; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    for (int tries = 0; tries < 100; ++tries) {
      absl::StatusOr<graph::Graph> graph = design_.draw(&random);
      if (!graph.ok()) return graph.status();
      if (CheckCaps(*graph, true, options_.caps).ok()) return Sample{true, std::string(space()), *std::move(graph)};
    }
    return absl::NotFoundError(absl::StrCat(space(), "/", index, ": nothing within the caps"));
  }

 private:
  const DesignSpace design_;
  const SamplerOptions options_;
};

}  // namespace

std::unique_ptr<Sampler> MakePerfSageSampler(absl::string_view space, const SamplerOptions& options) {
  for (const DesignSpace& design : kDesignSpaces) {
    if (design.name == space) return std::make_unique<PerfSageSampler>(design, options);
  }
  return nullptr;
}

}  // namespace cobra::worker
