// Once-for-all MobileNetV3 (Cai et al., ICLR 2020), as mit-han-lab/once-for-all's get_active_subnet() returns it: the
// sub-network on its own, width 1.0. String: "ks:<20> e:<20> d:<5> r:<1>", kernel size and expansion of the four block
// places of each of five stages, depth of each stage, input resolution; places beyond a stage's depth are not used.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/ofa_config.h"
#include "frontend/nas/spaces.h"

namespace cobra::nas {
namespace {

int64_t MakeDivisible(int64_t value, int64_t divisor) {
  int64_t rounded = std::max(divisor, (value + divisor / 2) / divisor * divisor);
  if (rounded * 10 < value * 9) rounded += divisor;
  return rounded;
}

// relu6(x + 3): with the division by six, h-sigmoid; with x times it, h-swish. In the calls that the code makes.
graph::ValueRef ShiftedRelu6(NetBuilder& net, const std::string& path, graph::ValueRef x, bool inplace) {
  x = net.Call(graph::Op::add, path, {{"other", 3.0}}, {x});
  return net.Call(graph::Op::relu6, path, {}, {x}, inplace);
}
graph::ValueRef Sixth(NetBuilder& net, const std::string& path, graph::ValueRef x) {
  return net.Call(graph::Op::div, path, {{"other", 6.0}}, {x});
}

graph::ValueRef Activation(NetBuilder& net, const std::string& path, bool h_swish, graph::ValueRef x,
                           bool inplace = true) {
  if (!h_swish) return net.Relu(path, x, inplace);
  return Sixth(net, path, net.Call(graph::Op::mul, path, {}, {x, ShiftedRelu6(net, path, x, inplace)}));
}

graph::ValueRef GlobalMean(NetBuilder& net, const std::string& path, graph::ValueRef x) {
  for (const int64_t dim : {3, 2}) {
    x = net.Call(graph::Op::mean, path, {{"dim", std::vector<int64_t>{dim}}, {"keepdim", true}}, {x});
  }
  return x;
}

graph::ValueRef SqueezeExcite(NetBuilder& net, const std::string& path, graph::ValueRef x) {
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".fc.", name); };
  const int64_t channels = net.Channels(x);
  Conv reduce = Square(MakeDivisible(channels / 4, 8), 1), expand = Square(channels, 1);
  reduce.bias = expand.bias = true;
  graph::ValueRef y = GlobalMean(net, path, x);
  y = net.Relu(part("relu"), net.Conv2d(part("reduce"), y, reduce), /*inplace=*/true);
  y = net.Conv2d(part("expand"), y, expand);
  y = Sixth(net, part("h_sigmoid"), ShiftedRelu6(net, part("h_sigmoid"), y, /*inplace=*/true));
  return net.Call(graph::Op::mul, path, {}, {x, y});
}

struct MbConv {
  int64_t out, kernel, stride, expansion;
  bool h_swish, se;
};

graph::ValueRef RunBlock(NetBuilder& net, const std::string& path, const MbConv& block, graph::ValueRef x) {
  const int64_t in = net.Channels(x), middle = in * block.expansion;
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".conv.", name); };
  graph::ValueRef y = x;
  if (block.expansion > 1) {
    y = net.Conv2d(part("inverted_bottleneck.conv"), y, Square(middle, 1));
    y = net.BatchNorm2d(part("inverted_bottleneck.bn"), y);
    y = Activation(net, part("inverted_bottleneck.act"), block.h_swish, y);
  }
  Conv depthwise = Square(middle, block.kernel, block.stride, block.kernel / 2);
  depthwise.groups = middle;
  y = net.Conv2d(part("depth_conv.conv"), y, depthwise);
  y = net.BatchNorm2d(part("depth_conv.bn"), y);
  y = Activation(net, part("depth_conv.act"), block.h_swish, y);
  if (block.se) y = SqueezeExcite(net, part("depth_conv.se"), y);
  y = net.Conv2d(part("point_linear.conv"), y, Square(block.out, 1));
  y = net.BatchNorm2d(part("point_linear.bn"), y);
  return block.stride == 1 && in == block.out ? net.Add(path, y, x) : y;
}

}  // namespace

absl::StatusOr<graph::Graph> BuildOfa(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", 1000, 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(const OfaConfig arch, ParseOfaConfig(request.text));
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, arch.resolution, arch.resolution}));

  NetBuilder net(request.limits);
  graph::ValueRef x = net.Input("x", image);
  x = net.Conv2d("first_conv.conv", x, Square(16, 3, 2, 1));
  x = net.BatchNorm2d("first_conv.bn", x);
  x = Activation(net, "first_conv.act", /*h_swish=*/true, x);
  x = RunBlock(net, "blocks.0", {16, 3, 1, 1, false, false}, x);
  int block = 1;
  for (int s = 0; s < kOfaStages; ++s) {
    const OfaStage& stage = kOfaStageTable[s];
    for (int64_t i = 0; i < arch.depths[s]; ++i) {
      const int place = s * kOfaPlaces + static_cast<int>(i);
      x = RunBlock(net, absl::StrCat("blocks.", block++),
                   {stage.width, arch.kernels[place], i == 0 ? stage.stride : 1, arch.expansions[place], stage.h_swish,
                    stage.se},
                   x);
    }
  }
  x = net.Conv2d("final_expand_layer.conv", x, Square(960, 1));
  x = net.BatchNorm2d("final_expand_layer.bn", x);
  x = Activation(net, "final_expand_layer.act", /*h_swish=*/true, x);
  x = GlobalMean(net, "global_avg_pool", x);
  x = net.Conv2d("feature_mix_layer.conv", x, Square(1280, 1));
  x = Activation(net, "feature_mix_layer.act", /*h_swish=*/true, x, /*inplace=*/false);  // a layer without batch norm
  x = net.FlattenView("", x);
  x = net.Dropout("classifier.dropout", x, 0.1);
  x = net.Linear("classifier.linear", x, classes);
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas
