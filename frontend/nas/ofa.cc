// Once-for-all MobileNetV3 (Cai et al., ICLR 2020), as mit-han-lab/once-for-all's
// get_active_subnet() returns it: the sub-network on its own, width 1.0. String: "ks:<20> e:<20>
// d:<5> r:<1>", kernel size and expansion of the four block places of each of five stages, depth of
// each stage, input resolution; places beyond a stage's depth are not used.
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

// relu6(x + 3), with the same calls as the original code. Divided by six it is h-sigmoid; h-swish
// also multiplies by x.
graph::ValueRef ShiftedRelu6(graph::NetBuilder& net, const std::string& path, graph::ValueRef x, bool inplace) {
  x = net.Call(graph::Op::add, {{"other", 3.0}}, {x}, path);
  return inplace ? net.CallInPlace(graph::Op::relu6, {}, {x}, path) : net.Call(graph::Op::relu6, {}, {x}, path);
}
graph::ValueRef Sixth(graph::NetBuilder& net, const std::string& path, graph::ValueRef x) {
  return net.Call(graph::Op::div, {{"other", 6.0}}, {x}, path);
}

graph::ValueRef Activation(graph::NetBuilder& net, const std::string& path, bool h_swish, graph::ValueRef x,
                           bool inplace = true) {
  if (!h_swish) return inplace ? net.ReluInPlace(x, path) : net.Relu(x, path);
  return Sixth(net, path, net.Call(graph::Op::mul, {}, {x, ShiftedRelu6(net, path, x, inplace)}, path));
}

graph::ValueRef GlobalMean(graph::NetBuilder& net, const std::string& path, graph::ValueRef x) {
  for (const int64_t dim : {3, 2}) {
    x = net.Call(graph::Op::mean, {{"dim", std::vector<int64_t>{dim}}, {"keepdim", true}}, {x}, path);
  }
  return x;
}

graph::ValueRef SqueezeExcite(graph::NetBuilder& net, const std::string& path, graph::ValueRef x) {
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".fc.", name); };
  const int64_t channels = net.Channels(x);
  const graph::Conv2dOptions reduce = {.out_channels = MakeDivisible(channels / 4, 8), .kernel_size = 1, .bias = true};
  const graph::Conv2dOptions expand = {.out_channels = channels, .kernel_size = 1, .bias = true};
  graph::ValueRef y = GlobalMean(net, path, x);
  y = net.ReluInPlace(net.Conv2d(y, reduce, part("reduce")), part("relu"));
  y = net.Conv2d(y, expand, part("expand"));
  y = Sixth(net, part("h_sigmoid"), ShiftedRelu6(net, part("h_sigmoid"), y, /*inplace=*/true));
  return net.Call(graph::Op::mul, {}, {x, y}, path);
}

struct MbConv {
  int64_t out_channels, kernel_size, stride, expansion;
  bool h_swish, squeeze_excite;
};

graph::ValueRef RunBlock(graph::NetBuilder& net, const std::string& path, const MbConv& block, graph::ValueRef x) {
  const int64_t in = net.Channels(x), middle = in * block.expansion;
  const auto part = [&path](absl::string_view name) { return absl::StrCat(path, ".conv.", name); };
  graph::ValueRef y = x;
  if (block.expansion > 1) {
    y = net.Conv2d(y, {.out_channels = middle, .kernel_size = 1}, part("inverted_bottleneck.conv"));
    y = net.BatchNorm2d(y, part("inverted_bottleneck.bn"));
    y = Activation(net, part("inverted_bottleneck.act"), block.h_swish, y);
  }
  const graph::Conv2dOptions depthwise = {.out_channels = middle,
                                          .kernel_size = block.kernel_size,
                                          .stride = block.stride,
                                          .padding = block.kernel_size / 2,
                                          .groups = middle};
  y = net.Conv2d(y, depthwise, part("depth_conv.conv"));
  y = net.BatchNorm2d(y, part("depth_conv.bn"));
  y = Activation(net, part("depth_conv.act"), block.h_swish, y);
  if (block.squeeze_excite) y = SqueezeExcite(net, part("depth_conv.se"), y);
  y = net.Conv2d(y, {.out_channels = block.out_channels, .kernel_size = 1}, part("point_linear.conv"));
  y = net.BatchNorm2d(y, part("point_linear.bn"));
  return block.stride == 1 && in == block.out_channels ? net.Add(y, x, path) : y;
}

graph::ValueRef CachedBlock(graph::NetBuilder& net, const std::string& path, const MbConv& block, graph::ValueRef x) {
  const auto run = [&block](graph::NetBuilder& alone, const std::string& own, absl::Span<const graph::ValueRef> in) {
    return RunBlock(alone, own, block, in[0]);
  };
  return net.Block(absl::StrCat("ofa ", block.out_channels, " ", block.kernel_size, " ", block.stride, " ",
                                block.expansion, " ", block.h_swish, " ", block.squeeze_excite),
                   path, {x}, run);
}

}  // namespace

absl::StatusOr<graph::Graph> BuildOfa(SpaceRequest request) {
  COBRA_ASSIGN_OR_RETURN(const int64_t classes, request.options.Int("classes", 1000, 1, 1000000));
  COBRA_ASSIGN_OR_RETURN(const OfaConfig arch, ParseOfaConfig(request.text));
  COBRA_ASSIGN_OR_RETURN(const graph::TensorType image, request.Image({1, 3, arch.resolution, arch.resolution}));

  graph::NetBuilder net(request.BuilderOptions());
  graph::ValueRef x = net.Input(image.shape, image.dtype, "x");
  x = net.Conv2d(x, {.out_channels = 16, .kernel_size = 3, .stride = 2, .padding = 1}, "first_conv.conv");
  x = net.BatchNorm2d(x, "first_conv.bn");
  x = Activation(net, "first_conv.act", /*h_swish=*/true, x);
  x = RunBlock(
      net, "blocks.0",
      {.out_channels = 16, .kernel_size = 3, .stride = 1, .expansion = 1, .h_swish = false, .squeeze_excite = false},
      x);
  int block = 1;
  for (int s = 0; s < kOfaStages; ++s) {
    const OfaStage& stage = kOfaStageTable[s];
    for (int64_t i = 0; i < arch.depths[s]; ++i) {
      const int place = s * kOfaPlaces + static_cast<int>(i);
      x = CachedBlock(net, absl::StrCat("blocks.", block++),
                      {.out_channels = stage.width,
                       .kernel_size = arch.kernels[place],
                       .stride = i == 0 ? stage.stride : 1,
                       .expansion = arch.expansions[place],
                       .h_swish = stage.h_swish,
                       .squeeze_excite = stage.se},
                      x);
    }
  }
  x = net.Conv2d(x, {.out_channels = 960, .kernel_size = 1}, "final_expand_layer.conv");
  x = net.BatchNorm2d(x, "final_expand_layer.bn");
  x = Activation(net, "final_expand_layer.act", /*h_swish=*/true, x);
  x = GlobalMean(net, "global_avg_pool", x);
  x = net.Conv2d(x, {.out_channels = 1280, .kernel_size = 1}, "feature_mix_layer.conv");
  x = Activation(net, "feature_mix_layer.act", /*h_swish=*/true, x, /*inplace=*/false);  // a layer without batch norm
  x = net.FlattenView(x);
  net.Dropout(x, 0.1, "classifier.dropout");  // in eval mode the result is x itself
  x = net.Linear(x, classes, "classifier.linear");
  return std::move(net).Finish({x});
}

}  // namespace cobra::nas
