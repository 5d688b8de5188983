// Where blobs come from, and layers that pass them on unchanged.
#include <algorithm>
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/ncnn/handlers.h"
#include "graph/builder/untrusted.h"

namespace cobra::ncnn {
namespace {

// Dimensions of w, h, d and c, the outermost first. The first of them that is 0 ends the list, as
// in ncnn.
absl::StatusOr<graph::Shape> SizeOf(const Importer& im, const Layer& layer) {
  const int64_t w = layer.Int(0, 0), h = layer.Int(1, 0), d = layer.Int(11, 0), c = layer.Int(2, 0);
  for (const int64_t size : {w, h, d, c}) {
    if (size < 0) return im.Wrong(layer, absl::StrCat("a size of ", size));
  }
  graph::Shape shape;
  if (d != 0) {
    shape = {c, d, h, w};
  } else if (c != 0) {
    shape = {c, h, w};
  } else if (h != 0) {
    shape = {h, w};
  } else if (w != 0) {
    shape = {w};
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return im.Wrong(layer,
                    absl::StrCat("w=", w, " h=", h, " d=", d, " c=", c, ": a dimension between them is missing"));
  return shape;
}

}  // namespace

// Whether a size is meant without a batch, as ncnn has none: a mask of 10x10 beside an image of
// 1x3x224x224.
bool Importer::HasNoBatch(const graph::TensorType& wanted) const {
  constexpr int kMostDims = 4;
  if (wanted.shape.empty() || wanted.shape[0] == 1 || wanted.rank() > kMostDims) return false;
  return std::any_of(requested_.begin(), requested_.end(), [](const auto& entry) {
    const absl::StatusOr<graph::TensorType> other = graph::ParseTensorType(entry.second);
    return other.ok() && !other->shape.empty() && other->shape[0] == 1;
  });
}

absl::Status BindInput(Importer& im, const Layer& layer) {
  if (!layer.bottoms.empty() || layer.tops.size() != 1) return im.Wrong(layer, "an input layer has one output alone");
  const std::string& name = im.file_.blobs[layer.tops[0]];
  COBRA_ASSIGN_OR_RETURN(graph::Shape shape, SizeOf(im, layer));
  if (shape.empty()) {
    const std::vector<int64_t> hint = layer.Ints(30);
    for (size_t d = hint.size() == 4 && hint[0] > 0 && hint[0] <= 3 ? static_cast<size_t>(hint[0]) : 0; d > 0; --d)
      shape.push_back(hint[d]);
  }
  graph::TensorType type{{1}, im.blobs_[layer.tops[0]].looks_up ? graph::DType::int32 : graph::DType::float32};
  type.shape.insert(type.shape.end(), shape.begin(), shape.end());
  const auto requested = im.requested_.find(name);
  if (requested == im.requested_.end()) {
    if (shape.empty()) {
      return UsageError(
          absl::StrCat(im.request_.name, ": the file does not say how large its input ", Quotable(name), " is"),
          absl::StrCat("give it: --input ", Quotable(name), "=1x3x224x224 (", kOrder, ")"));
    }
  } else {
    const std::string& text = requested->second;
    COBRA_ASSIGN_OR_RETURN(graph::TensorType wanted, graph::ParseTensorType(text));
    if (im.HasNoBatch(wanted)) wanted.shape.insert(wanted.shape.begin(), 1);
    const std::string given = absl::StrCat("--input ", Quotable(name), "=", Quotable(text));
    const int rank = wanted.rank();
    if (shape.empty() ? rank < 2 || rank > 5 : rank != type.rank()) {
      return UsageError(shape.empty() ? absl::StrCat(given, ": a batch and one to four dimensions expected")
                                      : absl::StrCat(given, ": the file has ", graph::ShapeText(type.shape)),
                        absl::StrCat("sizes are ", kOrder));
    }
    im.resized_ = im.resized_ || graph::Shape(wanted.shape.begin() + 1, wanted.shape.end()) != shape;
    type.shape = wanted.shape;
    if (absl::StrContains(text, ':')) type.dtype = wanted.dtype;
  }
  for (const int64_t size : type.shape) {
    if (size < 1 || size > std::numeric_limits<int32_t>::max())
      return UsageError(
          absl::StrCat("input ", Quotable(name), " of ", graph::ShapeText(type.shape), ": a size of ", size), "");
  }
  if (graph::IsTooLarge(type, im.limits_.graph.max_tensor_bytes))
    return im.LimitError(layer, LimitMessage("its output", im.limits_.graph.max_tensor_bytes, "bytes"));
  if (im.has_input_ && type.shape[0] != im.batch_) {
    return UsageError(
        absl::StrCat("--input ", Quotable(name), ": a batch of ", type.shape[0], " beside one of ", im.batch_),
        "all inputs of an ncnn network have the same batch");
  }
  im.has_input_ = true;
  im.batch_ = type.shape[0];
  const graph::ValueRef input = im.builder_.AddInput(Quotable(name), std::move(type));
  if (shape.empty()) im.unchecked_[input.index] = Quotable(absl::StrCat(name, "=", requested->second));
  return im.Set(layer, 0, input);
}

namespace handlers {

absl::Status Input(Importer& im, const Layer& layer) { return BindInput(im, layer); }

absl::Status MemoryData(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(graph::Shape shape, SizeOf(im, layer));
  if (shape.empty()) return im.Wrong(layer, "it has no size");
  if (layer.Int(21, 1) != 0 && layer.Int(21, 1) != 1) return im.Unsupported(layer, "data that is not float32 (21=)");
  graph::Shape with_batch = shape;
  with_batch.insert(with_batch.begin(), 1);
  COBRA_ASSIGN_OR_RETURN(
      graph::ValueRef x,
      im.Weight(layer,
                {.name = "data", .shape = std::move(shape), .has_flag = layer.Int(21, 1) == 0, .as = with_batch}));
  if (im.batch() > 1) {
    std::vector<int64_t> size(with_batch.begin(), with_batch.end());
    size[0] = im.batch();
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::expand, {{"size", std::move(size)}}, {x}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Split(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  for (size_t k = 0; k < layer.tops.size(); ++k) COBRA_RETURN_IF_ERROR(im.Set(layer, k, im.In(layer, 0)));
  return absl::OkStatus();
}

// Its outputs are its first inputs. The others are what a network keeps for its user.
absl::Status Noop(Importer& im, const Layer& layer) {
  if (layer.tops.size() > layer.bottoms.size()) return im.Wrong(layer, "more outputs than inputs");
  for (size_t k = 0; k < layer.bottoms.size(); ++k) {
    if (k < layer.tops.size()) {
      COBRA_RETURN_IF_ERROR(im.Set(layer, k, im.In(layer, k)));
    } else {
      im.AddOutput(im.In(layer, k));
    }
  }
  return absl::OkStatus();
}

// How ncnn lays a blob out in memory.
absl::Status Packing(Importer& im, const Layer& layer) { return im.Set(layer, 0, im.In(layer, 0)); }

absl::Status DeepCopy(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  return im.Set(layer, 0, im.Call(layer, graph::Op::clone, {}, {im.In(layer, 0)}));
}

absl::Status Dropout(Importer& im, const Layer& layer) {
  const double scale = layer.Real(0, 1);
  if (scale == 1) return im.Set(layer, 0, im.In(layer, 0));
  return im.Set(layer, 0, im.Call(layer, graph::Op::mul, {{"other", scale}}, {im.In(layer, 0)}));
}

absl::Status Cast(Importer& im, const Layer& layer) {
  graph::DType dtype;
  switch (layer.Int(1, 0)) {
    case 1: dtype = graph::DType::float32; break;
    case 2: dtype = graph::DType::float16; break;
    case 4: dtype = graph::DType::bfloat16; break;
    default: return im.Unsupported(layer, absl::StrCat("a cast to type ", layer.Int(1, 0)));
  }
  const graph::ValueRef in = im.In(layer, 0);
  if (im.TypeOf(in) == dtype) return im.Set(layer, 0, in);
  return im.Set(layer, 0, im.Call(layer, graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {in}));
}

}  // namespace handlers
}  // namespace cobra::ncnn
