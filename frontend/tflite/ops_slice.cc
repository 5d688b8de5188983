// SLICE and STRIDED_SLICE as one getitem.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "frontend/tflite/handlers.h"

namespace cobra::tflite::handlers {
namespace {

struct Cut {
  int64_t begin = 0, end = 0, step = 1;  // 0 <= begin, end <= size; step -1: backwards through the whole dimension
  bool shrink = false;                   // takes one element and removes the dimension
};

std::string CutText(const Cut& cut, int64_t size) {
  if (cut.shrink) return absl::StrCat(cut.begin);
  std::string text =
      absl::StrCat(cut.begin == 0 ? "" : absl::StrCat(cut.begin), ":", cut.end == size ? "" : absl::StrCat(cut.end));
  if (cut.step != 1) absl::StrAppend(&text, ":", cut.step);
  return text;
}

// Selects elements of a constant of one dimension.
absl::Status CutConstant(Importer& im, const OpCall& call, const Cut& cut) {
  const TensorState& in = im.State(call.inputs[0]);
  const graph::DType dtype = in.type.dtype;
  Values out;
  for (int64_t i = cut.begin; i < cut.end; i += cut.step) out.push_back((*in.values)[static_cast<size_t>(i)]);
  const graph::Shape shape = cut.shrink ? graph::Shape{} : graph::Shape{static_cast<int64_t>(out.size())};
  return im.SetConstant(call, 0, {shape, dtype}, std::move(out));
}

absl::Status Apply(Importer& im, const OpCall& call, std::vector<Cut> cuts) {
  const TensorState& in = im.State(call.inputs[0]);
  const graph::Shape shape = in.type.shape;
  const bool backwards = std::any_of(cuts.begin(), cuts.end(), [](const Cut& c) { return c.step < 0; });
  if (in.constant && in.values != nullptr && shape.size() == 1 && !backwards) return CutConstant(im, call, cuts[0]);
  const bool shrinks = std::any_of(cuts.begin(), cuts.end(), [](const Cut& c) { return c.shrink; });
  const bool image = in.is_image && !shrinks;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, image ? im.Image(call.inputs[0]) : im.File(call.inputs[0]));
  std::vector<std::string> items(cuts.size());
  std::vector<int64_t> flips;
  for (size_t d = 0; d < cuts.size(); ++d) {
    const int to = image ? ImageDim(static_cast<int>(d)) : static_cast<int>(d);
    if (cuts[d].step < 0) {
      flips.push_back(to);
      cuts[d] = {0, shape[d], 1, false};
    }
    items[to] = CutText(cuts[d], shape[d]);
  }
  if (!flips.empty()) {
    std::sort(flips.begin(), flips.end());
    COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::flip, {{"dims", flips}}, {x}));
  }
  const bool cuts_something =
      std::any_of(items.begin(), items.end(), [](const std::string& item) { return item != ":"; });
  if (cuts_something || flips.empty()) {
    COBRA_ASSIGN_OR_RETURN(x, im.Move(call, graph::Op::getitem, {{"index", absl::StrJoin(items, ", ")}}, {x}));
  }
  return image ? im.SetImage(call, 0, x) : im.SetFile(call, 0, x);
}

}  // namespace

absl::Status Slice(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, im.Ints(call, 1, "the beginning"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> size, im.Ints(call, 2, "the size"));
  const graph::Shape shape = im.ShapeOf(call.inputs[0]);
  if (begin.size() != shape.size() || size.size() != shape.size() || shape.empty()) {
    return im.Wrong(call, "beginning and size do not fit the input");
  }
  std::vector<Cut> cuts;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t end = size[d] == -1 ? shape[d] : begin[d] + size[d];
    if (begin[d] < 0 || end < begin[d] || end > shape[d]) {
      return im.Wrong(call, absl::StrCat("it cuts ", begin[d], " to ", end, " out of ", shape[d]));
    }
    cuts.push_back({begin[d], end, 1, false});
  }
  return Apply(im, call, std::move(cuts));
}

absl::Status StridedSlice(Importer& im, const OpCall& call) {
  COBRA_ASSIGN_OR_RETURN(const auto* o, im.OptionsOf<schema::StridedSliceOptions>(call));
  if (o->ellipsis_mask() != 0 || o->new_axis_mask() != 0) return im.Unsupported(call, "an ellipsis or a new axis");
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, im.Ints(call, 1, "the beginning"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> end, im.Ints(call, 2, "the end"));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> stride, im.Ints(call, 3, "the stride"));
  const graph::Shape shape = im.ShapeOf(call.inputs[0]);
  if (begin.size() > shape.size() || end.size() != begin.size() || stride.size() != begin.size() || shape.empty()) {
    return im.Wrong(call, "beginning, end and stride do not fit the input");
  }
  std::vector<Cut> cuts;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = shape[d];
    if (d >= begin.size()) {
      cuts.push_back({0, size, 1, false});
      continue;
    }
    const auto masked = [d](int mask) { return (mask >> d & 1) != 0; };
    const auto inside = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
    if (masked(o->shrink_axis_mask())) {
      const int64_t i = begin[d] < 0 ? begin[d] + size : begin[d];
      if (i < 0 || i >= size) return im.Wrong(call, absl::StrCat("index ", begin[d], " of a dimension of ", size));
      cuts.push_back({i, i + 1, 1, true});
      continue;
    }
    if (stride[d] == -1 && masked(o->begin_mask()) && masked(o->end_mask())) {
      cuts.push_back({0, size, -1, false});
      continue;
    }
    if (stride[d] < 1) return im.Unsupported(call, absl::StrCat("a stride of ", stride[d]));
    Cut cut{masked(o->begin_mask()) ? 0 : inside(begin[d]),
            masked(o->end_mask()) ? size : inside(o->offset() ? begin[d] + end[d] : end[d]), stride[d], false};
    cut.end = std::max(cut.end, cut.begin);
    cuts.push_back(cut);
  }
  return Apply(im, call, std::move(cuts));
}

}  // namespace cobra::tflite::handlers
