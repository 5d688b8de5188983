// Boxes: the part of an image in one, and the ends of object detectors. Which boxes remain there
// depends on the values: how many there are, and the work of suppressing those that overlap. What
// is computed for every box is in the graph: coordinates, scores, the best candidates. They are
// outputs of the graph in place of the layer's.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

using graph::Op;
using graph::ValueRef;

absl::StatusOr<ValueRef> At(Importer& im, const Layer& layer, ValueRef x, absl::string_view index) {
  return im.Call(layer, Op::getitem, {{"index", std::string(index)}}, {x});
}

absl::StatusOr<ValueRef> Last(Importer& im, const Layer& layer, ValueRef x, int from, int to) {
  return At(im, layer, x, absl::StrCat("..., ", from, ":", to));
}

// Boxes as corners, [batch, boxes, 4], from the network's offsets and the prior boxes with their
// variances.
absl::StatusOr<ValueRef> DecodedBoxes(Importer& im, const Layer& layer, ValueRef offsets, ValueRef priors) {
  COBRA_ASSIGN_OR_RETURN(const ValueRef corners, At(im, layer, priors, ":, 0"));
  COBRA_ASSIGN_OR_RETURN(const ValueRef variances, At(im, layer, priors, ":, 1"));
  COBRA_ASSIGN_OR_RETURN(const ValueRef low, Last(im, layer, corners, 0, 2));
  COBRA_ASSIGN_OR_RETURN(const ValueRef high, Last(im, layer, corners, 2, 4));
  COBRA_ASSIGN_OR_RETURN(const ValueRef size, im.Call(layer, Op::sub, {}, {high, low}));
  COBRA_ASSIGN_OR_RETURN(ValueRef center, im.Call(layer, Op::add, {}, {low, high}));
  COBRA_ASSIGN_OR_RETURN(center, im.Call(layer, Op::mul, {{"other", 0.5}}, {center}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef scaled, im.Call(layer, Op::mul, {}, {offsets, variances}));
  COBRA_ASSIGN_OR_RETURN(ValueRef shift, Last(im, layer, scaled, 0, 2));
  COBRA_ASSIGN_OR_RETURN(shift, im.Call(layer, Op::mul, {}, {shift, size}));
  COBRA_ASSIGN_OR_RETURN(center, im.Call(layer, Op::add, {}, {shift, center}));
  COBRA_ASSIGN_OR_RETURN(ValueRef half, Last(im, layer, scaled, 2, 4));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::exp, {}, {half}));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::mul, {}, {half, size}));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::mul, {{"other", 0.5}}, {half}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef first, im.Call(layer, Op::sub, {}, {center, half}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef second, im.Call(layer, Op::add, {}, {center, half}));
  return im.Call(layer, Op::cat, {{"dim", int64_t{2}}}, {first, second});
}

// Boxes as corners, [batch, boxes, 2, 2], from offsets [batch, boxes, 4] and anchors [boxes, 4],
// both as a center and a size.
absl::StatusOr<ValueRef> AnchoredBoxes(Importer& im, const Layer& layer, ValueRef offsets, ValueRef anchors) {
  COBRA_ASSIGN_OR_RETURN(const ValueRef center, Last(im, layer, anchors, 0, 2));
  COBRA_ASSIGN_OR_RETURN(const ValueRef size, Last(im, layer, anchors, 2, 4));
  COBRA_ASSIGN_OR_RETURN(ValueRef shift, Last(im, layer, offsets, 0, 2));
  COBRA_ASSIGN_OR_RETURN(shift, im.Call(layer, Op::mul, {}, {shift, size}));
  COBRA_ASSIGN_OR_RETURN(shift, im.Call(layer, Op::add, {}, {shift, center}));
  COBRA_ASSIGN_OR_RETURN(ValueRef half, Last(im, layer, offsets, 2, 4));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::exp, {}, {half}));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::mul, {}, {half, size}));
  COBRA_ASSIGN_OR_RETURN(half, im.Call(layer, Op::mul, {{"other", 0.5}}, {half}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef low, im.Call(layer, Op::sub, {}, {shift, half}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef high, im.Call(layer, Op::add, {}, {shift, half}));
  return im.Call(layer, Op::stack, {{"dim", int64_t{2}}}, {low, high});
}

// Boxes as corners within an image, whose height and width begin `info`.
absl::StatusOr<ValueRef> WithinImage(Importer& im, const Layer& layer, ValueRef boxes, ValueRef info) {
  COBRA_ASSIGN_OR_RETURN(ValueRef most, Last(im, layer, info, 0, 2));
  COBRA_ASSIGN_OR_RETURN(most, im.Call(layer, Op::flip, {{"dims", std::vector<int64_t>{1}}}, {most}));
  COBRA_ASSIGN_OR_RETURN(most, im.Call(layer, Op::sub, {{"other", int64_t{1}}}, {most}));
  COBRA_ASSIGN_OR_RETURN(most, im.Reshape(layer, most, {im.batch(), 1, 1, 2}));
  COBRA_ASSIGN_OR_RETURN(boxes, im.Call(layer, Op::minimum, {}, {boxes, most}));
  return im.Call(layer, Op::clamp, {{"min", 0.0}}, {boxes});
}

// The box of each image, which is the layer's input `k`, with the image's number in front: [batch,
// 5].
absl::StatusOr<ValueRef> NumberedBoxes(Importer& im, const Layer& layer, size_t k) {
  const int64_t n = im.batch();
  COBRA_ASSIGN_OR_RETURN(const ValueRef boxes, im.Reshape(layer, im.In(layer, k), {n, 4}));
  if (n == 1) return im.Pad(layer, boxes, {1, 0}, 0);
  COBRA_ASSIGN_OR_RETURN(const ValueRef numbers, im.Constant(layer, {n, 1}));
  return im.Call(layer, Op::cat, {{"dim", int64_t{1}}}, {numbers, boxes});
}

// Center and size of the boxes of one map from the four numbers in front of each box's scores.
absl::StatusOr<ValueRef> YoloBoxes(Importer& im, const Layer& layer, ValueRef boxes) {
  COBRA_ASSIGN_OR_RETURN(ValueRef center, At(im, layer, boxes, ":, :, 0:2"));
  COBRA_ASSIGN_OR_RETURN(center, im.Call(layer, Op::sigmoid, {}, {center}));
  COBRA_ASSIGN_OR_RETURN(ValueRef size, At(im, layer, boxes, ":, :, 2:4"));
  COBRA_ASSIGN_OR_RETURN(size, im.Call(layer, Op::exp, {}, {size}));
  return im.Call(layer, Op::cat, {{"dim", int64_t{2}}}, {center, size});
}

// Both layers for YOLO: each input is a map [boxes of a pixel x (4 + 1 + classes), height, width].
absl::Status Yolo(Importer& im, const Layer& layer, bool softmax) {
  const int64_t classes = layer.Int(0, 20), boxes = layer.Int(1, 5);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of classes or boxes", {classes, boxes}));
  Tensors candidates;
  for (size_t k = 0; k < layer.bottoms.size(); ++k) {
    COBRA_RETURN_IF_ERROR(im.CheckDims(layer, k, 3));
    const graph::Shape s = im.InShape(layer, k);
    if (s[1] != boxes * (5 + classes)) {
      return im.Wrong(layer, absl::StrCat(s[1], " channels for ", boxes, " boxes of 5 + ", classes, " numbers"));
    }
    COBRA_ASSIGN_OR_RETURN(const ValueRef x,
                           im.Reshape(layer, im.In(layer, k), {s[0], boxes, 5 + classes, s[2] * s[3]}));
    COBRA_ASSIGN_OR_RETURN(ValueRef scores, At(im, layer, x, ":, :, 5:"));
    if (softmax) {
      COBRA_ASSIGN_OR_RETURN(scores, im.Call(layer, Op::softmax, {{"dim", int64_t{2}}}, {scores}));
    }
    COBRA_ASSIGN_OR_RETURN(Tensors best,
                           im.CallAll(layer, Op::max, {{"dim", int64_t{2}}, {"keepdim", true}}, {scores}));
    if (!softmax) {
      COBRA_ASSIGN_OR_RETURN(best[0], im.Call(layer, Op::sigmoid, {}, {best[0]}));
    }
    COBRA_ASSIGN_OR_RETURN(ValueRef object, At(im, layer, x, ":, :, 4:5"));
    COBRA_ASSIGN_OR_RETURN(object, im.Call(layer, Op::sigmoid, {}, {object}));
    COBRA_ASSIGN_OR_RETURN(const ValueRef confidence, im.Call(layer, Op::mul, {}, {object, best[0]}));
    COBRA_ASSIGN_OR_RETURN(const ValueRef box, YoloBoxes(im, layer, x));
    COBRA_ASSIGN_OR_RETURN(ValueRef out, im.Call(layer, Op::cat, {{"dim", int64_t{2}}}, {confidence, box}));
    COBRA_ASSIGN_OR_RETURN(out, im.Permute(layer, out, {0, 1, 3, 2}));
    COBRA_ASSIGN_OR_RETURN(out, im.Reshape(layer, out, {s[0], boxes * s[2] * s[3], 5}));
    candidates.push_back(out);
  }
  ValueRef all = candidates[0];
  if (candidates.size() > 1) {
    COBRA_ASSIGN_OR_RETURN(all, im.Call(layer, Op::cat, {{"dim", int64_t{1}}}, std::move(candidates)));
  }
  return im.SetOpenEnded(layer, 0, all);
}

}  // namespace

namespace handlers {

// A table that depends on sizes alone.
absl::Status PriorBox(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 2));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const auto smaller = static_cast<int64_t>(layer.Reals(0).size()),
             larger = static_cast<int64_t>(layer.Reals(1).size());
  const auto ratios = static_cast<int64_t>(layer.Reals(2).size());
  const graph::Shape s = im.InShape(layer);
  // MXNet's boxes have no variances.
  const bool mxnet = layer.bottoms.size() == 1 && layer.Int(9, 0) == -233 && layer.Int(10, 0) == -233 && larger == 0;
  const int64_t boxes = mxnet ? smaller - 1 + ratios : smaller * (1 + ratios * (layer.Int(7, 1) != 0 ? 2 : 1)) + larger;
  if (smaller < 1 || boxes < 1 || larger > smaller)
    return im.Wrong(layer, absl::StrCat(smaller, " sizes, ", larger, " larger ones, ", ratios, " ratios"));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of boxes", {boxes}));
  graph::Shape shape{im.batch(), 2, 4 * s[2] * s[3] * boxes};
  if (mxnet) shape.erase(shape.begin() + 1);
  return im.Set(layer, 0, im.Constant(layer, std::move(shape)));
}

// Inputs: offsets [boxes * 4], scores [boxes * classes] in any shape, prior boxes [2, boxes * 4].
absl::Status DetectionOutput(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 3, 3));
  const int64_t classes = layer.Int(0, 0), most = layer.Int(2, 300);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of classes or candidates", {classes, most}));
  const graph::Shape priors = im.InShape(layer, 2);
  if (priors.size() != 3 || priors[1] != 2 || priors[2] % 4 != 0)
    return im.Unsupported(layer, absl::StrCat("prior boxes of ", graph::ShapeText(priors)));
  const int64_t n = im.batch(), boxes = priors[2] / 4;
  COBRA_ASSIGN_OR_RETURN(const ValueRef offsets, im.Reshape(layer, im.In(layer, 0), {n, boxes, 4}));
  COBRA_ASSIGN_OR_RETURN(ValueRef scores, im.Reshape(layer, im.In(layer, 1), {n, boxes, classes}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef table, im.Reshape(layer, im.In(layer, 2), {n, 2, boxes, 4}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef decoded, DecodedBoxes(im, layer, offsets, table));
  im.AddOutput(decoded);
  COBRA_ASSIGN_OR_RETURN(scores, im.Permute(layer, scores, {0, 2, 1}));
  COBRA_ASSIGN_OR_RETURN(
      const Tensors best,
      im.CallAll(layer, Op::topk,
                 {{"k", std::min(most, boxes)}, {"dim", int64_t{2}}, {"largest", true}, {"sorted", true}}, {scores}));
  im.AddOutput(best[1]);
  return im.SetOpenEnded(layer, 0, best[0]);
}

// Inputs: scores [2 * anchors, height, width], offsets [4 * anchors, height, width], height, width
// and scale of the image. Its nine anchors are ncnn's.
absl::Status Proposal(Importer& im, const Layer& layer) {
  constexpr int64_t kAnchors = 9;
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 3, 3));
  for (size_t k = 0; k < 2; ++k) COBRA_RETURN_IF_ERROR(im.CheckDims(layer, k, 3));
  const graph::Shape s = im.InShape(layer, 0);
  const int64_t n = s[0], places = s[2] * s[3], boxes = kAnchors * places, most = layer.Int(2, 6000);
  if (s[1] != 2 * kAnchors || im.InShape(layer, 1) != graph::Shape{n, 4 * kAnchors, s[2], s[3]} ||
      im.InShape(layer, 2) != graph::Shape{n, 3}) {
    return im.Wrong(layer, absl::StrCat("scores of ", graph::ShapeText(s), ", offsets of ",
                                        graph::ShapeText(im.InShape(layer, 1)), ", an image's sizes of ",
                                        graph::ShapeText(im.InShape(layer, 2)), " for ", kAnchors, " anchors"));
  }
  COBRA_ASSIGN_OR_RETURN(ValueRef offsets, im.Reshape(layer, im.In(layer, 1), {n, kAnchors, 4, places}));
  COBRA_ASSIGN_OR_RETURN(offsets, im.Permute(layer, offsets, {0, 1, 3, 2}));
  COBRA_ASSIGN_OR_RETURN(offsets, im.Reshape(layer, offsets, {n, boxes, 4}));
  COBRA_ASSIGN_OR_RETURN(const ValueRef anchors, im.Constant(layer, {boxes, 4}));
  COBRA_ASSIGN_OR_RETURN(ValueRef corners, AnchoredBoxes(im, layer, offsets, anchors));
  COBRA_ASSIGN_OR_RETURN(corners, WithinImage(im, layer, corners, im.In(layer, 2)));
  COBRA_ASSIGN_OR_RETURN(corners, im.Reshape(layer, corners, {n, boxes, 4}));
  COBRA_ASSIGN_OR_RETURN(ValueRef scores, im.Cut(layer, im.In(layer, 0), 0, kAnchors, 2 * kAnchors));
  COBRA_ASSIGN_OR_RETURN(scores, im.Reshape(layer, scores, {n, boxes}));
  const int64_t kept = most > 0 ? std::min(most, boxes) : boxes;
  COBRA_ASSIGN_OR_RETURN(
      const Tensors best,
      im.CallAll(layer, Op::topk, {{"k", kept}, {"dim", int64_t{1}}, {"largest", true}, {"sorted", true}}, {scores}));
  COBRA_RETURN_IF_ERROR(im.SetOpenEnded(layer, 0, corners));
  im.AddOutput(best[1]);
  if (layer.tops.size() > 1) return im.SetOpenEnded(layer, 1, best[0]);
  im.AddOutput(best[0]);
  return absl::OkStatus();
}

// Version 1 is PyTorch's. In version 0 each bin of a box ends at the edge of the image.
absl::Status ROIAlign(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const int64_t width = layer.Int(0, 0), height = layer.Int(1, 0), version = layer.Int(5, 0);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a size (0=, 1=)", {width, height}));
  if (version < 0 || version > 1) return im.Wrong(layer, absl::StrCat("version ", version));
  if (version == 0) return im.Unsupported(layer, "version 0, whose bins end at the edges of the image,");
  int64_t numbers = 1;
  for (size_t d = 1; d < im.InShape(layer, 1).size(); ++d) numbers *= im.InShape(layer, 1)[d];
  if (numbers != 4) return im.Wrong(layer, absl::StrCat(numbers, " numbers for a box, which has 4"));
  COBRA_ASSIGN_OR_RETURN(const ValueRef boxes, NumberedBoxes(im, layer, 1));
  return im.Set(layer, 0,
                im.Call(layer, Op::roi_align,
                        {{"spatial_scale", layer.Real(2, 1)},
                         {"pooled_height", height},
                         {"pooled_width", width},
                         {"sampling_ratio", layer.Int(3, 0)},
                         {"aligned", layer.Int(4, 0) != 0}},
                        {im.In(layer, 0), boxes}));
}

absl::Status YoloDetectionOutput(Importer& im, const Layer& layer) { return Yolo(im, layer, true); }
absl::Status Yolov3DetectionOutput(Importer& im, const Layer& layer) { return Yolo(im, layer, false); }

}  // namespace handlers
}  // namespace cobra::ncnn
