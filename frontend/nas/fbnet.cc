// FBNet (Wu et al., CVPR 2019), as GATECH-EIC/HW-NAS-Bench builds FBNet_Infer: a 3x3 stem of 16
// channels, 22 searched blocks, a 1x1 header, global average, linear layer. Two networks have these
// blocks: ImageNet (224, stem of stride 2, second stage of stride 2, header 1984) and CIFAR (32,
// strides 1, header 1504), which is what HELP measured.
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/fbnet_config.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

graph::ValueRef ConvBnRelu(graph::NetBuilder& net, const std::string& path, graph::ValueRef x,
                           const graph::Conv2dOptions& conv) {
  x = net.Conv2d(x, conv, absl::StrCat(path, ".conv"));
  x = net.BatchNorm2d(x, absl::StrCat(path, ".bn"));
  return net.ReluInPlace(x, absl::StrCat(path, ".relu"));
}

graph::ValueRef Shuffle(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t groups) {
  const int64_t n = net.Dim(x, 0), c = net.Dim(x, 1), h = net.Dim(x, 2), w = net.Dim(x, 3);
  x = net.View(x, {n, groups, c / groups, h, w}, path);
  x = net.Call(graph::Op::permute, {{"dims", std::vector<int64_t>{0, 2, 1, 3, 4}}}, {x}, path);
  x = net.Contiguous(x, path);
  return net.View(x, {n, c, h, w}, path);
}

graph::ValueRef RunBlock(graph::NetBuilder& net, const std::string& path, const FbnetBlock& block, graph::ValueRef x,
                         int64_t out, int64_t stride) {
  const int64_t in = net.Channels(x);
  if (block.kernel == 0) {
    if (stride == 1 && in == out) return x;
    return ConvBnRelu(net, path, x, {.out_channels = out, .kernel_size = 1, .stride = stride});
  }
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".", name); };
  const int64_t middle = in * block.expansion;
  const graph::Conv2dOptions expand = {.out_channels = middle, .kernel_size = 1, .groups = block.groups};
  const graph::Conv2dOptions depthwise = {.out_channels = middle,
                                          .kernel_size = block.kernel,
                                          .stride = stride,
                                          .padding = block.kernel / 2,
                                          .groups = middle};
  const graph::Conv2dOptions project = {.out_channels = out, .kernel_size = 1, .groups = block.groups};
  graph::ValueRef y = net.ReluInPlace(net.BatchNorm2d(net.Conv2d(x, expand, part("conv1")), part("bn1")), part("nl"));
  if (block.groups > 1) y = Shuffle(net, part("shuffle"), y, block.groups);
  y = net.ReluInPlace(net.BatchNorm2d(net.Conv2d(y, depthwise, part("conv2")), part("bn2")), part("nl"));
  y = net.BatchNorm2d(net.Conv2d(y, project, part("conv3")), part("bn3"));
  return in == out && stride == 1 ? net.AddInPlace(y, x, path) : y;
}

}  // namespace

absl::StatusOr<graph::Graph> BuildFbnet(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(int dataset, request.options.Choice("dataset", 0, {"imagenet", "cifar100", "cifar10"}));
  // An input of CIFAR's size selects CIFAR's network: ImageNet's would reduce it to one pixel
  // before the last stage.
  if (!request.options.Has("dataset") && request.inputs.size() == 1 && request.inputs[0].rank() == 4 &&
      request.inputs[0].shape[2] <= 32) {
    dataset = 1;
  }
  constexpr int64_t kClasses[] = {1000, 100, 10};
  const bool imagenet = dataset == 0;
  const int64_t size = imagenet ? 224 : 32;
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", kClasses[dataset], 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, size, size}));
  COBRA_ASSIGN_OR_RETURN(const std::vector<FbnetBlock> blocks, ParseFbnetBlocks(request.text));

  graph::NetBuilder net(request.BuilderOptions());
  graph::ValueRef x = net.Input(image.shape, image.dtype, "input");
  x = ConvBnRelu(net, "stem", x, {.out_channels = 16, .kernel_size = 3, .stride = imagenet ? 2 : 1, .padding = 1});
  int cell = 0;
  for (size_t stage = 0; stage < std::size(kFbnetStageBlocks); ++stage) {
    for (int64_t i = 0; i < kFbnetStageBlocks[stage]; ++i, ++cell) {
      const int64_t stride = i > 0 ? 1 : (imagenet ? kFbnetImagenetStrides : kFbnetCifarStrides)[stage];
      const FbnetBlock& block = blocks[static_cast<size_t>(cell)];
      const int64_t out = kFbnetStageChannels[stage];
      const auto run = [&](graph::NetBuilder& alone, const std::string& path, absl::Span<const graph::ValueRef> in) {
        return RunBlock(alone, path, block, in[0], out, stride);
      };
      x = net.Block(
          absl::StrCat("fbnet ", block.kernel, " ", block.expansion, " ", block.groups, " ", out, " ", stride),
          absl::StrCat("cells.", cell), {x}, run);
    }
  }
  x = ConvBnRelu(net, "header", x, {.out_channels = imagenet ? 1984 : 1504, .kernel_size = 1});
  x = net.AdaptiveAvgPool2d(x, 1, "avgpool");
  x = net.FlattenView(x);
  x = net.Linear(x, classes, "fc");
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas
