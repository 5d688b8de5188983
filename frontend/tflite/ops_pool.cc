// Pooling, resizing and the operators that move pixels to channels or back.
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"

namespace cobra::tflite::handlers {
namespace {

// PyTorch's output size for one pooled dimension.
int64_t PooledSize(int64_t in, int64_t kernel, int64_t stride, int64_t padding, bool ceil) {
  int64_t out = (in + 2 * padding - kernel + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + padding) --out;
  return out;
}

struct PoolPlan {
  std::vector<int64_t> kernel, stride, padding;
  bool ceil = false;
  bool fits = false;  // PyTorch's pooling with these values gives TensorFlow's result
};

// Both libraries ignore pixels beyond the end, so SAME padding with an odd pixel at the end is
// PyTorch's ceil_mode.
PoolPlan Plan(const schema::Pool2DOptions& o, const graph::Shape& in, const Window (&window)[2]) {
  PoolPlan plan;
  plan.kernel = {o.filter_height(), o.filter_width()};
  plan.stride = {o.stride_h(), o.stride_w()};
  plan.padding = {window[0].before, window[1].before};
  for (const bool ceil : {false, true}) {
    plan.ceil = ceil;
    plan.fits = true;
    for (int i = 0; i < 2; ++i) {
      plan.fits =
          plan.fits && PooledSize(in[1 + i], plan.kernel[i], plan.stride[i], plan.padding[i], ceil) == window[i].out;
    }
    if (plan.fits) return plan;
  }
  return plan;
}

}  // namespace

absl::Status Pool(Importer& im, const OpCall& call) {
  if (im.Rank(call.inputs[0]) != 4) return im.Wrong(call, "an image of four dimensions expected");
  COBRA_ASSIGN_OR_RETURN(const auto* o, im.OptionsOf<schema::Pool2DOptions>(call));
  constexpr int kMost = 1 << 20;
  for (int v : {o->filter_height(), o->filter_width(), o->stride_h(), o->stride_w()}) {
    if (v < 1 || v > kMost) return im.Wrong(call, absl::StrCat("a window or stride of ", v));
  }
  const graph::Shape in = im.ShapeOf(call.inputs[0]);
  const Window window[2] = {WindowOf(o->padding(), in[1], o->filter_height(), o->stride_h()),
                            WindowOf(o->padding(), in[2], o->filter_width(), o->stride_w())};
  PoolPlan plan = Plan(*o, in, window);
  const bool average = call.code == schema::BuiltinOperator_AVERAGE_POOL_2D;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Image(call.inputs[0]));
  if (!plan.fits) {
    if (average) return im.Unsupported(call, "SAME padding of an even window that moves by one");
    COBRA_ASSIGN_OR_RETURN(
        x, im.Move(call, graph::Op::pad,
                   {{"pad", std::vector<int64_t>{window[1].before, window[1].after, window[0].before, window[0].after}},
                    {"mode", std::string("constant")},
                    {"value", -std::numeric_limits<double>::infinity()}},
                   {x}));
    plan.padding = {0, 0};
    plan.ceil = false;
  }
  graph::Attributes attributes{
      {"kernel_size", plan.kernel}, {"stride", plan.stride}, {"padding", plan.padding}, {"ceil_mode", plan.ceil}};
  if (average) {
    attributes.Set("count_include_pad", false);
  } else {
    attributes.Set("dilation", std::vector<int64_t>{1, 1});
  }
  COBRA_ASSIGN_OR_RETURN(
      x, im.Compute(call, average ? graph::Op::avg_pool2d : graph::Op::max_pool2d, std::move(attributes), {x}));
  return im.SetImage(call, 0, im.Activate(call, x, o->fused_activation_function()));
}

absl::Status Resize(Importer& im, const OpCall& call) {
  if (im.Rank(call.inputs[0]) != 4) return im.Wrong(call, "an image of four dimensions expected");
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, im.Ints(call, 1, "the new size"));
  if (size.size() != 2) return im.Wrong(call, "a size of two numbers expected");
  graph::Attributes attributes{{"size", size}};
  if (call.code == schema::BuiltinOperator_RESIZE_BILINEAR) {
    const auto* options = call.op->builtin_options_as<schema::ResizeBilinearOptions>();
    attributes.Set("mode", std::string("bilinear"));
    attributes.Set("align_corners", options != nullptr && options->align_corners());
  } else {
    const auto* options = call.op->builtin_options_as<schema::ResizeNearestNeighborOptions>();
    attributes.Set("mode",
                   std::string(options != nullptr && options->half_pixel_centers() ? "nearest-exact" : "nearest"));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Image(call.inputs[0]));
  return im.SetImage(call, 0, im.Compute(call, graph::Op::interpolate, std::move(attributes), {x}));
}

namespace {

// reshape to `split`, permute, reshape to `out`: exchanges blocks and channels.
absl::Status Rearrange(Importer& im, const OpCall& call, graph::ValueRef x, std::vector<int64_t> split,
                       std::vector<int64_t> dims, std::vector<int64_t> out) {
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::reshape, {{"shape", std::move(split)}}, {x}));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::permute, {{"dims", std::move(dims)}}, {x}));
  return im.SetFile(call, 0, im.Move(call, graph::Op::reshape, {{"shape", std::move(out)}}, {x}));
}

absl::Status CheckBlock(Importer& im, const OpCall& call, int64_t block) {
  if (im.Rank(call.inputs[0]) != 4) return im.Wrong(call, "an image of four dimensions expected");
  if (block < 1 || block > 4096) return im.Wrong(call, absl::StrCat("a block of ", block));
  return absl::OkStatus();
}

}  // namespace

absl::Status SpaceToDepth(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::SpaceToDepthOptions>(call));
  const int64_t b = options->block_size();
  COBRA_RETURN_IF_ERROR(CheckBlock(im, call, b));
  const graph::Shape s = im.ShapeOf(call.inputs[0]);
  if (s[1] % b != 0 || s[2] % b != 0)
    return im.Wrong(call, absl::StrCat(graph::ShapeText(s), " has no whole blocks of ", b));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.File(call.inputs[0]));
  return Rearrange(im, call, x, {s[0], s[1] / b, b, s[2] / b, b, s[3]}, {0, 1, 3, 2, 4, 5},
                   {s[0], s[1] / b, s[2] / b, b * b * s[3]});
}

absl::Status DepthToSpace(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* options, im.OptionsOf<schema::DepthToSpaceOptions>(call));
  const int64_t b = options->block_size();
  COBRA_RETURN_IF_ERROR(CheckBlock(im, call, b));
  const graph::Shape s = im.ShapeOf(call.inputs[0]);
  if (s[3] % (b * b) != 0) return im.Wrong(call, absl::StrCat(s[3], " channels are not blocks of ", b, "x", b));
  const int64_t c = s[3] / (b * b);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.File(call.inputs[0]));
  return Rearrange(im, call, x, {s[0], s[1], s[2], b, b, c}, {0, 1, 3, 2, 4, 5}, {s[0], s[1] * b, s[2] * b, c});
}

// SpaceToBatch and BatchToSpace take block sizes and, for each blocked dimension, two numbers for
// its beginning and end. Dimensions after the first `blocks` + 1 do not change.
absl::Status SpaceToBatch(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> block, im.Ints(call, 1, "the block's shape"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, im.Ints(call, 2, "the padding"));
  graph::Shape s = im.ShapeOf(call.inputs[0]);
  const size_t blocks = block.size();
  if (blocks == 0 || blocks + 1 > s.size() || pads.size() != 2 * blocks)
    return im.Wrong(call, "its block does not fit its input");
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  std::vector<int64_t> pad;  // PyTorch starts with the last dimension
  for (size_t d = s.size(); d-- > 1;) {
    const bool blocked = d <= blocks;
    pad.push_back(blocked ? pads[2 * (d - 1)] : 0);
    pad.push_back(blocked ? pads[2 * (d - 1) + 1] : 0);
  }
  COBRA_ASSIGN_OR_RETURN(
      x, im.Move(call, graph::Op::pad, {{"pad", pad}, {"mode", std::string("constant")}, {"value", 0.0}}, {x}));
  s = im.TypeOf(x).shape;
  std::vector<int64_t> split{s[0]}, dims, out{s[0]};
  for (size_t i = 0; i < blocks; ++i) {
    if (block[i] < 1 || block[i] > 4096 || s[1 + i] % block[i] != 0)
      return im.Wrong(call, "its block does not divide its input");
    split.push_back(s[1 + i] / block[i]);
    split.push_back(block[i]);
    dims.push_back(static_cast<int64_t>(2 + 2 * i));
    out[0] *= block[i];
    out.push_back(s[1 + i] / block[i]);
  }
  dims.push_back(0);
  for (size_t i = 0; i < blocks; ++i) dims.push_back(static_cast<int64_t>(1 + 2 * i));
  for (size_t d = blocks + 1; d < s.size(); ++d) {
    dims.push_back(static_cast<int64_t>(split.size()));
    split.push_back(s[d]);
    out.push_back(s[d]);
  }
  return Rearrange(im, call, x, split, dims, out);
}

absl::Status BatchToSpace(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> block, im.Ints(call, 1, "the block's shape"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> crops, im.Ints(call, 2, "the crops"));
  const graph::Shape s = im.ShapeOf(call.inputs[0]);
  const size_t blocks = block.size();
  if (blocks == 0 || blocks + 1 > s.size() || crops.size() != 2 * blocks)
    return im.Wrong(call, "its block does not fit its input");
  std::vector<int64_t> split, dims, out;
  int64_t batch = s[0];
  for (int64_t b : block) {
    if (b < 1 || b > 4096 || batch % b != 0) return im.Wrong(call, "its block does not divide its batch");
    batch /= b;
    split.push_back(b);
  }
  const auto count = static_cast<int64_t>(blocks);
  split.push_back(batch);
  dims.push_back(count);
  out.push_back(batch);
  std::string index = ":";
  for (int64_t i = 0; i < count; ++i) {
    split.push_back(s[1 + i]);
    dims.push_back(count + 1 + i);
    dims.push_back(i);
    out.push_back(s[1 + i] * block[i]);
    absl::StrAppend(&index, ", ", crops[2 * i], ":", out.back() - crops[2 * i + 1]);
  }
  for (size_t d = blocks + 1; d < s.size(); ++d) {
    dims.push_back(static_cast<int64_t>(split.size()));
    split.push_back(s[d]);
    out.push_back(s[d]);
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.File(call.inputs[0]));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::reshape, {{"shape", split}}, {x}));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::permute, {{"dims", dims}}, {x}));
  COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::reshape, {{"shape", out}}, {x}));
  return im.SetFile(call, 0, im.Move(call, graph::Op::getitem, {{"index", index}}, {x}));
}

}  // namespace cobra::tflite::handlers
