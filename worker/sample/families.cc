#include "worker/sample/families.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/nas/reader.h"
#include "graph/builder/net_builder.h"
#include "worker/sample/blocks.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using Ints = std::vector<int64_t>;

// Every third network at ImageNet's own size, the others from 64 to 256.
int64_t ImageSize(Random* r) { return r->Chance(0.35) ? 224 : r->LogBetween(2, 8) * 32; }
graph::ValueRef Image(Random* r, graph::NetBuilder* b) {
  const int64_t size = ImageSize(r);
  return b->Input({r->Chance(0.1) ? r->Pick<int64_t>({2, 4}) : 1, 3, size, size});
}

graph::ValueRef Classifier(Random* r, graph::NetBuilder* b, graph::ValueRef x, double dropout = 0) {
  x = b->Flatten(b->AdaptiveAvgPool2d(x, 1));
  if (dropout > 0) x = b->Dropout(x, dropout);
  return b->Linear(x, r->Pick<int64_t>({10, 100, 1000, 1000}));
}

// --- ResNet, ResNeXt, Wide ResNet, with or without squeeze and excitation
absl::StatusOr<graph::Graph> ResNet(Random* r) {
  graph::NetBuilder b;
  ResNetConfig c;
  c.bottleneck = r->Chance(0.5);
  c.excite = r->Chance(0.12);
  if (c.bottleneck && r->Chance(0.3)) {
    c.groups = r->Pick<int64_t>({2, 4, 8, 16, 32});
    c.group_width = r->Pick<int64_t>({4, 8, 16, 64 / c.groups + 1});
  } else if (c.bottleneck && r->Chance(0.15)) {
    c.group_width = 128;
  }
  const int64_t width = r->Chance(0.4) ? 64 : r->LogBetween(2, 14) * 8;
  graph::ValueRef x = Image(r, &b);
  if (r->Chance(0.85)) {
    x = b.MaxPool2d(b.ConvBnRelu(x, {.out_channels = width, .kernel_size = 7, .stride = 2, .padding = 3}),
                    {.kernel_size = 3, .stride = 2, .padding = 1});
  } else {
    x = b.ConvBnRelu(x, {.out_channels = width, .kernel_size = 3, .stride = r->Pick<int64_t>({1, 2}), .padding = 1});
  }
  const int stages = static_cast<int>(r->Between(2, 4));
  double planes = static_cast<double>(width);
  for (int stage = 0; stage < stages; ++stage) {
    const int64_t blocks = stages == 4 && stage == 2 ? r->Between(1, 7) : r->Between(1, 4);
    for (int64_t i = 0; i < blocks; ++i) x = ResidualBlock(&b, x, c, RoundTo8(planes), stage > 0 && i == 0 ? 2 : 1);
    planes *= r->Chance(0.7) ? 2 : r->Uniform(1.2, 2.2);
  }
  return std::move(b).Finish({Classifier(r, &b, x)});
}

// --- VGG, AlexNet: plain convolutions with bias, fully connected layers
absl::StatusOr<graph::Graph> Vgg(Random* r) {
  graph::NetBuilder b;
  graph::ValueRef x = Image(r, &b);
  const bool norm = r->Chance(0.3);
  double width = static_cast<double>(r->Chance(0.4) ? 64 : r->LogBetween(1, 8) * 8);
  const int stages = static_cast<int>(r->Between(3, 5));
  const double most = r->Pick<double>({256, 512, 512, 640});
  for (int stage = 0; stage < stages; ++stage) {
    const int64_t layers = r->Between(1, stage < 2 ? 2 : 4);
    for (int64_t i = 0; i < layers; ++i) {
      const int64_t kernel = r->Chance(0.9) ? 3 : 5;
      x = b.Conv2d(x, {.out_channels = RoundTo8(width), .kernel_size = kernel, .padding = kernel / 2, .bias = true});
      if (norm) x = b.BatchNorm2d(x);
      x = b.ReluInPlace(x);
    }
    x = b.MaxPool2d(x, {.kernel_size = 2, .stride = 2});
    width = std::min(most, width * 2);
  }
  const int64_t pooled = r->Pick<int64_t>({1, 2, 4, 7, 7});
  x = b.Flatten(b.AdaptiveAvgPool2d(x, pooled));
  const int64_t hidden = r->Pick<int64_t>({256, 512, 1024, 2048, 4096, 4096});
  for (int i = 0; i < 2; ++i) x = b.Dropout(b.ReluInPlace(b.Linear(x, hidden)), 0.5);
  return std::move(b).Finish({b.Linear(x, r->Pick<int64_t>({10, 100, 1000}))});
}

absl::StatusOr<graph::Graph> AlexNet(Random* r) {
  graph::NetBuilder b;
  const double scale = r->Uniform(0.4, 1.6);
  graph::ValueRef x = b.Input({1, 3, r->Between(5, 8) * 32, r->Between(5, 8) * 32});
  x = b.MaxPool2d(
      b.ReluInPlace(b.Conv2d(
          x, {.out_channels = RoundTo8(64 * scale), .kernel_size = 11, .stride = 4, .padding = 2, .bias = true})),
      {.kernel_size = 3, .stride = 2});
  x = b.MaxPool2d(
      b.ReluInPlace(b.Conv2d(x, {.out_channels = RoundTo8(192 * scale), .kernel_size = 5, .padding = 2, .bias = true})),
      {.kernel_size = 3, .stride = 2});
  const int64_t layers = r->Between(1, 4);
  for (int64_t i = 0; i < layers; ++i) {
    x = b.ReluInPlace(
        b.Conv2d(x, {.out_channels = RoundTo8((384 - 64 * i) * scale), .kernel_size = 3, .padding = 1, .bias = true}));
  }
  x = b.Flatten(b.AdaptiveAvgPool2d(b.MaxPool2d(x, {.kernel_size = 3, .stride = 2}), 6));
  const int64_t hidden = r->Pick<int64_t>({1024, 2048, 4096});
  for (int i = 0; i < 2; ++i) x = b.ReluInPlace(b.Linear(b.Dropout(x, 0.5), hidden));
  return std::move(b).Finish({b.Linear(x, 1000)});
}

// --- MobileNetV1/V2/V3, EfficientNet, MnasNet: inverted residuals
absl::StatusOr<graph::Graph> MobileNet(Random* r) {
  graph::NetBuilder b;
  Mobile m;
  m.activation = static_cast<int>(r->Pick<int64_t>({0, 1, 1, 1, 2, 3}));
  m.excite = m.activation >= 2 && r->Chance(0.7);
  const double scale = r->Chance(0.35) ? 1.0 : r->Uniform(0.35, 1.8);
  graph::ValueRef x = Image(r, &b);
  x = Activate(&b, b.ConvBn(x, {.out_channels = RoundTo8(32 * scale), .kernel_size = 3, .stride = 2, .padding = 1}),
               m.activation);
  const std::array<double, 7> widths = {16, 24, 32, 64, 96, 160, 320};
  const std::array<int64_t, 7> strides = {1, 2, 2, 2, 1, 2, 1};
  const size_t stages = static_cast<size_t>(r->Between(4, 7));
  for (size_t s = 0; s < stages; ++s) {
    const int64_t blocks = r->Between(1, s == 0 ? 2 : 4);
    const double expand = s == 0 ? 1 : r->Pick<double>({3, 4, 6, 6});
    const int64_t kernel = r->Pick<int64_t>({3, 3, 3, 5});
    const int64_t out = RoundTo8(widths[s] * scale * r->Uniform(0.8, 1.25));
    for (int64_t i = 0; i < blocks; ++i) x = InvertedResidual(&b, x, m, out, i == 0 ? strides[s] : 1, kernel, expand);
  }
  x = Activate(&b,
               b.ConvBn(x, {.out_channels = RoundTo8(r->Pick<double>({640, 1280, 1280}) * std::max(1.0, scale)),
                            .kernel_size = 1}),
               m.activation);
  return std::move(b).Finish({Classifier(r, &b, x, 0.2)});
}

absl::StatusOr<graph::Graph> MobileNetV1(Random* r) {
  graph::NetBuilder b;
  double width = static_cast<double>(r->Between(2, 6) * 8);
  graph::ValueRef x =
      b.ConvBnRelu(Image(r, &b), {.out_channels = RoundTo8(width), .kernel_size = 3, .stride = 2, .padding = 1});
  const int64_t blocks = r->Between(5, 13);
  for (int64_t i = 0; i < blocks; ++i) {
    const bool down = i % 3 == 1;
    if (down || i == 0) width = std::min(width * 2, 1024.0);
    x = b.ConvBnRelu(x, {.out_channels = b.Channels(x),
                         .kernel_size = 3,
                         .stride = down ? 2 : 1,
                         .padding = 1,
                         .groups = b.Channels(x)});
    x = b.ConvBnRelu(x, {.out_channels = RoundTo8(width), .kernel_size = 1});
  }
  return std::move(b).Finish({Classifier(r, &b, x)});
}

// --- DenseNet: every layer concatenates all before it
absl::StatusOr<graph::Graph> DenseNet(Random* r) {
  graph::NetBuilder b;
  const int64_t growth = r->Chance(0.4) ? 32 : r->Between(1, 6) * 8;
  const int64_t bottleneck = r->Pick<int64_t>({2, 4, 4}) * growth;
  graph::ValueRef x =
      b.MaxPool2d(b.ConvBnRelu(Image(r, &b), {.out_channels = growth * 2, .kernel_size = 7, .stride = 2, .padding = 3}),
                  {.kernel_size = 3, .stride = 2, .padding = 1});
  const int stages = static_cast<int>(r->Between(2, 4));
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<graph::ValueRef> features = {x};
    const int64_t layers = r->Between(2, 6 + 6 * std::min(stage, 2));
    for (int64_t i = 0; i < layers; ++i) {
      graph::ValueRef y = b.ReluInPlace(b.BatchNorm2d(b.Cat(features, 1)));
      y = b.ReluInPlace(b.ConvBn(y, {.out_channels = bottleneck, .kernel_size = 1}));
      features.push_back(b.Conv2d(y, {.out_channels = growth, .kernel_size = 3, .padding = 1}));
    }
    x = b.Cat(features, 1);
    if (stage + 1 < stages)
      x = b.AvgPool2d(b.Conv2d(b.ReluInPlace(b.BatchNorm2d(x)), {.out_channels = b.Channels(x) / 2, .kernel_size = 1}),
                      {.kernel_size = 2, .stride = 2});
  }
  return std::move(b).Finish({Classifier(r, &b, b.ReluInPlace(b.BatchNorm2d(x)))});
}

// --- SqueezeNet and GoogLeNet: branches that are concatenated
absl::StatusOr<graph::Graph> SqueezeNet(Random* r) {
  graph::NetBuilder b;
  const double scale = r->Uniform(0.5, 2);
  const int64_t kernel = r->Pick<int64_t>({3, 7});
  graph::ValueRef x = Image(r, &b);
  x = b.ReluInPlace(
      b.Conv2d(x, {.out_channels = RoundTo8(64 * scale), .kernel_size = kernel, .stride = 2, .bias = true}));
  x = b.MaxPool2d(x, {.kernel_size = 3, .stride = 2, .ceil_mode = true});
  const int64_t fires = r->Between(3, 8);
  for (int64_t i = 0; i < fires; ++i) {
    const int64_t squeeze = RoundTo8(16 * (1 + i / 2) * scale), expand = squeeze * 4;
    const graph::ValueRef s = b.ReluInPlace(b.Conv2d(x, {.out_channels = squeeze, .kernel_size = 1, .bias = true}));
    const graph::ValueRef narrow = b.ReluInPlace(b.Conv2d(s, {.out_channels = expand, .kernel_size = 1, .bias = true}));
    x = b.Cat(
        {narrow, b.ReluInPlace(b.Conv2d(s, {.out_channels = expand, .kernel_size = 3, .padding = 1, .bias = true}))},
        1);
    if (i == 1 || i == 3) x = b.MaxPool2d(x, {.kernel_size = 3, .stride = 2, .ceil_mode = true});
  }
  x = b.ReluInPlace(b.Conv2d(b.Dropout(x, 0.5), {.out_channels = 1000, .kernel_size = 1, .bias = true}));
  return std::move(b).Finish({b.Flatten(b.AdaptiveAvgPool2d(x, 1))});
}

absl::StatusOr<graph::Graph> GoogLeNet(Random* r) {
  graph::NetBuilder b;
  const double scale = r->Uniform(0.4, 1.4);
  graph::ValueRef x = b.MaxPool2d(
      b.ConvBnRelu(Image(r, &b), {.out_channels = RoundTo8(64 * scale), .kernel_size = 7, .stride = 2, .padding = 3}),
      {.kernel_size = 3, .stride = 2, .ceil_mode = true});
  x = b.ConvBnRelu(b.ConvBnRelu(x, {.out_channels = RoundTo8(64 * scale), .kernel_size = 1}),
                   {.out_channels = RoundTo8(192 * scale), .kernel_size = 3, .padding = 1});
  const int64_t cells = r->Between(2, 8);
  for (int64_t i = 0; i < cells; ++i) {
    if (i % 3 == 0) x = b.MaxPool2d(x, {.kernel_size = 3, .stride = 2, .ceil_mode = true});
    const double w = scale * (1 + 0.25 * i) * r->Uniform(0.7, 1.4);
    const graph::ValueRef one = b.ConvBnRelu(x, {.out_channels = RoundTo8(96 * w), .kernel_size = 1});
    const graph::ValueRef three = b.ConvBnRelu(b.ConvBnRelu(x, {.out_channels = RoundTo8(64 * w), .kernel_size = 1}),
                                               {.out_channels = RoundTo8(128 * w), .kernel_size = 3, .padding = 1});
    const int64_t kernel = r->Pick<int64_t>({3, 5});
    const graph::ValueRef five =
        b.ConvBnRelu(b.ConvBnRelu(x, {.out_channels = RoundTo8(16 * w), .kernel_size = 1}),
                     {.out_channels = RoundTo8(48 * w), .kernel_size = kernel, .padding = kernel / 2});
    const graph::ValueRef pool =
        b.ConvBnRelu(b.MaxPool2d(x, {.kernel_size = 3, .stride = 1, .padding = 1, .ceil_mode = true}),
                     {.out_channels = RoundTo8(48 * w), .kernel_size = 1});
    x = b.Cat({one, three, five, pool}, 1);
  }
  return std::move(b).Finish({Classifier(r, &b, x, 0.2)});
}

// --- NAS-Bench-201: any cell at any width and depth; the space's own networks are the sampler
// nas-bench-201
absl::StatusOr<graph::Graph> NasBench201(Random* r) {
  const int64_t cell = r->Between(0, kNasBench201Cells - 1);
  const int64_t channels = r->Chance(0.5) ? 16 : r->Between(1, 6) * 8, cells = r->Between(1, 5);
  const int64_t classes = r->Pick<int64_t>({10, 100, 1000, 1000});
  return nas::ReadArchitecture({absl::StrCat("nasbench201,channels=", channels, ",cells=", cells, ",classes=", classes,
                                             ":", NasBench201Cell(cell)),
                                {}});
}

// --- U-Net: transposed convolutions or interpolation on the way up
absl::StatusOr<graph::Graph> UNet(Random* r) {
  graph::NetBuilder b;
  const int64_t base = r->Between(1, 5) * 8, depth = r->Between(2, 4), size = r->Between(2, 8) * 32;
  const bool transposed = r->Chance(0.5);
  const auto twice = [&](graph::ValueRef x, int64_t c) {
    return b.ConvBnRelu(b.ConvBnRelu(x, {.out_channels = c, .kernel_size = 3, .padding = 1}),
                        {.out_channels = c, .kernel_size = 3, .padding = 1});
  };
  std::vector<graph::ValueRef> skips;
  graph::ValueRef x = b.Input({1, 3, size, size});
  for (int64_t i = 0; i < depth; ++i) {
    x = twice(x, base << i);
    skips.push_back(x);
    x = b.MaxPool2d(x, {.kernel_size = 2, .stride = 2});
  }
  x = twice(x, base << depth);
  for (int64_t i = depth - 1; i >= 0; --i) {
    if (transposed) {
      const graph::ValueRef weight = b.Parameter({b.Channels(x), base << i, 2, 2});
      x = b.Call(graph::Op::conv_transpose2d,
                 {{"stride", Ints{2, 2}},
                  {"padding", Ints{0, 0}},
                  {"output_padding", Ints{0, 0}},
                  {"groups", int64_t{1}},
                  {"dilation", Ints{1, 1}}},
                 {x, weight, b.Parameter({base << i})});
    } else {
      x = b.Call(graph::Op::interpolate,
                 {{"size", Ints{b.Dim(x, 2) * 2, b.Dim(x, 3) * 2}}, {"mode", std::string("nearest")}}, {x});
    }
    x = twice(b.Cat({skips[i], x}, 1), base << i);
  }
  return std::move(b).Finish({b.Conv2d(x, {.out_channels = r->Between(1, 21), .kernel_size = 1, .bias = true})});
}

// --- Vision transformer and ConvNeXt
graph::ValueRef TransformerBlock(graph::NetBuilder* b, graph::ValueRef x, int64_t heads, int64_t hidden) {
  const int64_t tokens = b->Dim(x, 1), width = b->Dim(x, 2), batch = b->Dim(x, 0);
  graph::ValueRef qkv = b->Linear(b->LayerNorm(x), width * 3);
  qkv = b->Call(graph::Op::reshape, {{"shape", Ints{batch, tokens, 3, heads, width / heads}}}, {qkv});
  qkv = b->Call(graph::Op::permute, {{"dims", Ints{2, 0, 3, 1, 4}}}, {qkv});
  const auto part = [&](int64_t i) { return b->Call(graph::Op::select, {{"dim", int64_t{0}}, {"index", i}}, {qkv}); };
  const graph::ValueRef q = part(0), k = part(1), v = part(2);
  graph::ValueRef scores = b->Call(
      graph::Op::matmul, {}, {q, b->Call(graph::Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {k})});
  scores = b->Call(graph::Op::mul, {{"other", 0.125}}, {scores});
  scores = b->Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {scores});
  graph::ValueRef y = b->Call(graph::Op::matmul, {}, {scores, v});
  y = b->Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {y});
  y = b->Call(graph::Op::reshape, {{"shape", Ints{batch, tokens, width}}}, {y});
  x = b->Add(x, b->Linear(y, width));
  y = b->Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {b->Linear(b->LayerNorm(x), hidden)});
  return b->Add(x, b->Linear(y, width));
}

absl::StatusOr<graph::Graph> VisionTransformer(Random* r) {
  graph::NetBuilder b;
  const int64_t heads = r->Between(2, 8), width = heads * r->Pick<int64_t>({32, 64, 64}),
                patch = r->Pick<int64_t>({16, 16, 32});
  const int64_t size = r->Between(4, 8) * 32;
  graph::ValueRef x = b.Conv2d(b.Input({1, 3, size, size}),
                               {.out_channels = width, .kernel_size = patch, .stride = patch, .bias = true});
  x = b.Call(graph::Op::flatten, {{"start_dim", int64_t{2}}, {"end_dim", int64_t{-1}}}, {x});
  x = b.Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x});
  x = b.Add(x, b.Parameter({1, b.Dim(x, 1), width}));
  const int64_t blocks = r->Between(2, 10), hidden = width * r->Pick<int64_t>({2, 4, 4});
  for (int64_t i = 0; i < blocks; ++i) x = TransformerBlock(&b, x, heads, hidden);
  x = b.Call(graph::Op::mean, {{"dim", Ints{1}}, {"keepdim", false}}, {b.LayerNorm(x)});
  return std::move(b).Finish({b.Linear(x, 1000)});
}

absl::StatusOr<graph::Graph> ConvNext(Random* r) {
  graph::NetBuilder b;
  const int64_t base = r->Between(3, 12) * 8;
  const auto permuted = [&](graph::ValueRef x, Ints dims) {
    return b.Call(graph::Op::permute, {{"dims", std::move(dims)}}, {x});
  };
  graph::ValueRef x = b.Conv2d(Image(r, &b), {.out_channels = base, .kernel_size = 4, .stride = 4, .bias = true});
  const int stages = static_cast<int>(r->Between(2, 4));
  for (int stage = 0; stage < stages; ++stage) {
    const int64_t width = base << stage, blocks = r->Between(1, 4);
    if (stage > 0) x = b.Conv2d(b.BatchNorm2d(x), {.out_channels = width, .kernel_size = 2, .stride = 2, .bias = true});
    for (int64_t i = 0; i < blocks; ++i) {
      graph::ValueRef y =
          permuted(b.Conv2d(x, {.out_channels = width, .kernel_size = 7, .padding = 3, .groups = width, .bias = true}),
                   {0, 2, 3, 1});
      y = b.Call(graph::Op::gelu, {{"approximate", std::string("none")}}, {b.Linear(b.LayerNorm(y), width * 4)});
      y = permuted(b.Linear(y, width), {0, 3, 1, 2});
      x = b.Add(x, y);
    }
  }
  return std::move(b).Finish({Classifier(r, &b, x)});
}

constexpr Family kFamilies[] = {
    {"resnet", 0.26, ResNet},           {"vgg", 0.14, Vgg},
    {"mobilenet", 0.17, MobileNet},     {"densenet", 0.13, DenseNet},
    {"nasbench201", 0.07, NasBench201}, {"googlenet", 0.04, GoogLeNet},
    {"squeezenet", 0.04, SqueezeNet},   {"mobilenet_v1", 0.03, MobileNetV1},
    {"alexnet", 0.03, AlexNet},         {"unet", 0.03, UNet},
    {"vit", 0.03, VisionTransformer},   {"convnext", 0.03, ConvNext},
};

}  // namespace

absl::Span<const Family> Families() { return kFamilies; }

}  // namespace cobra::worker
