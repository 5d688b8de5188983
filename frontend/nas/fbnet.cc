// FBNet (Wu et al., CVPR 2019), as GATECH-EIC/HW-NAS-Bench builds FBNet_Infer: a 3x3 stem of 16 channels, 22 searched
// blocks, a 1x1 header, global average, linear layer. Two networks have these blocks: ImageNet (224, stem of stride 2,
// second stage of stride 2, header 1984) and CIFAR (32, strides 1, header 1504), which is what HELP measured.
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/fbnet_config.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

graph::ValueRef ConvBnRelu(NetBuilder& net, const std::string& path, graph::ValueRef x, const Conv& conv) {
  x = net.Conv2d(absl::StrCat(path, ".conv"), x, conv);
  x = net.BatchNorm2d(absl::StrCat(path, ".bn"), x);
  return net.Relu(absl::StrCat(path, ".relu"), x, /*inplace=*/true);
}

graph::ValueRef Shuffle(NetBuilder& net, const std::string& path, graph::ValueRef x, int64_t groups) {
  const int64_t n = net.Dim(x, 0), c = net.Dim(x, 1), h = net.Dim(x, 2), w = net.Dim(x, 3);
  x = net.View(path, x, {n, groups, c / groups, h, w});
  x = net.Call(graph::Op::permute, path, {{"dims", std::vector<int64_t>{0, 2, 1, 3, 4}}}, {x});
  x = net.Contiguous(path, x);
  return net.View(path, x, {n, c, h, w});
}

graph::ValueRef RunBlock(NetBuilder& net, const std::string& path, const FbnetBlock& block, graph::ValueRef x,
                         int64_t out, int64_t stride) {
  const int64_t in = net.Channels(x);
  if (block.kernel == 0) return stride == 1 && in == out ? x : ConvBnRelu(net, path, x, Square(out, 1, stride));
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".", name); };
  const int64_t middle = in * block.expansion;
  Conv conv1 = Square(middle, 1), conv2 = Square(middle, block.kernel, stride, block.kernel / 2),
       conv3 = Square(out, 1);
  conv1.groups = conv3.groups = block.groups;
  conv2.groups = middle;
  graph::ValueRef y = net.Relu(part("nl"), net.BatchNorm2d(part("bn1"), net.Conv2d(part("conv1"), x, conv1)), true);
  if (block.groups > 1) y = Shuffle(net, part("shuffle"), y, block.groups);
  y = net.Relu(part("nl"), net.BatchNorm2d(part("bn2"), net.Conv2d(part("conv2"), y, conv2)), true);
  y = net.BatchNorm2d(part("bn3"), net.Conv2d(part("conv3"), y, conv3));
  return in == out && stride == 1 ? net.Add(path, y, x, /*inplace=*/true) : y;
}

}  // namespace

absl::StatusOr<graph::Graph> BuildFbnet(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(int dataset, request.options.Choice("dataset", 0, {"imagenet", "cifar100", "cifar10"}));
  // An image of CIFAR's size means CIFAR's network: the other would be down to one pixel before its last stage.
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

  NetBuilder net(request.limits);
  graph::ValueRef x = net.Input("input", image);
  x = ConvBnRelu(net, "stem", x, Square(16, 3, imagenet ? 2 : 1, 1));
  int cell = 0;
  for (size_t stage = 0; stage < std::size(kFbnetStageBlocks); ++stage) {
    for (int64_t i = 0; i < kFbnetStageBlocks[stage]; ++i, ++cell) {
      const int64_t stride = i > 0 ? 1 : (imagenet ? kFbnetImagenetStrides : kFbnetCifarStrides)[stage];
      x = RunBlock(net, absl::StrCat("cells.", cell), blocks[static_cast<size_t>(cell)], x, kFbnetStageChannels[stage],
                   stride);
    }
  }
  x = ConvBnRelu(net, "header", x, Square(imagenet ? 1984 : 1504, 1));
  x = net.GlobalAvgPool2d("avgpool", x);
  x = net.FlattenView("", x);
  x = net.Linear("fc", x, classes);
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas
