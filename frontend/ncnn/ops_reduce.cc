// Reductions over axes, and scans.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

enum ReduceType { kSum, kAbsSum, kSquareSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp };

absl::StatusOr<graph::ValueRef> Reduced(Importer& im, const Layer& layer, int64_t type, graph::ValueRef x,
                                        const std::vector<int64_t>& dims, bool keep) {
  const graph::Attributes attributes{{"dim", dims}, {"keepdim", keep}};
  graph::Attributes with_power = attributes;
  switch (type) {
    case kAbsSum:
    case kL1: with_power.Set("p", 1.0); return im.Call(layer, graph::Op::norm, std::move(with_power), {x});
    case kL2: with_power.Set("p", 2.0); return im.Call(layer, graph::Op::norm, std::move(with_power), {x});
    case kMean: return im.Call(layer, graph::Op::mean, attributes, {x});
    case kMax: return im.Call(layer, graph::Op::amax, attributes, {x});
    case kMin: return im.Call(layer, graph::Op::amin, attributes, {x});
    case kLogSumExp: return im.Call(layer, graph::Op::logsumexp, attributes, {x});
    case kSum: return im.Call(layer, graph::Op::sum, attributes, {x});
    case kProd: {  // PyTorch's takes one dimension at a time
      for (size_t i = dims.size(); i-- > 0;) {
        COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::prod, {{"dim", dims[i]}, {"keepdim", keep}}, {x}));
      }
      return x;
    }
    case kSquareSum: {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::square, {}, {x}));
      return im.Call(layer, graph::Op::sum, attributes, {x});
    }
    case kLogSum: {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::sum, attributes, {x}));
      return im.Call(layer, graph::Op::log, {}, {x});
    }
    default: return im.Wrong(layer, absl::StrCat("operation ", type));
  }
}

}  // namespace

namespace handlers {

absl::Status Reduction(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const int dims = im.Dims(layer);
  const std::vector<int64_t> axes = layer.Ints(3);
  // ncnn refuses such a file: the meaning of the axes has changed since it was written.
  if (!axes.empty() && layer.Int(5, 0) == 0)
    return im.Wrong(layer, "it was written by an old ncnn (5=1 is missing), whose axes differ; convert it again");
  std::vector<int64_t> reduced;
  for (const int64_t axis : axes) {
    COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, axis, dims));
    reduced.push_back(dim);
  }
  std::sort(reduced.begin(), reduced.end());
  reduced.erase(std::unique(reduced.begin(), reduced.end()), reduced.end());
  if (layer.Int(1, 1) != 0) {
    reduced.clear();
    for (int64_t d = 1; d <= dims; ++d) reduced.push_back(d);
  }
  if (reduced.empty()) return im.Unsupported(layer, "a reduction over no axis");
  const bool keep = layer.Int(4, 0) != 0;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, Reduced(im, layer, layer.Int(0, 0), im.In(layer, 0), reduced, keep));
  if (im.ShapeOf(x).size() == 1) {  // a blob has a dimension at least
    COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {im.batch(), 1}));
  }
  if (layer.Real(2, 1) != 1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::mul, {{"other", layer.Real(2, 1)}}, {x}));
  }
  return im.Set(layer, 0, x);
}

// Mean and, with 0=1, standard deviation of each channel. A blob of fewer than three dimensions has
// one channel.
absl::Status StatisticsPooling(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const graph::Shape s = im.InShape(layer);
  const int64_t channels = im.Dims(layer) > 2 ? s[1] : 1;
  int64_t elements = 1;
  for (size_t d = 1; d < s.size(); ++d) elements *= s[d];
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x,
                         im.Reshape(layer, im.In(layer, 0), {s[0], channels, elements / channels}));
  const std::vector<int64_t> dim{2};
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef mean,
                         im.Call(layer, graph::Op::mean, {{"dim", dim}, {"keepdim", false}}, {x}));
  if (layer.Int(0, 0) == 0) return im.Set(layer, 0, mean);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef deviation,
                         im.Call(layer, graph::Op::std, {{"dim", dim}, {"unbiased", false}, {"keepdim", false}}, {x}));
  return im.Set(layer, 0, im.Call(layer, graph::Op::cat, {{"dim", int64_t{1}}}, {mean, deviation}));
}

// The places of the largest elements of the whole blob as real numbers, with 0=1 below the
// elements: [1 or 2, count].
absl::Status ArgMax(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const graph::Shape s = im.InShape(layer);
  const int64_t count = layer.Int(1, 1);
  const int64_t channels = im.Dims(layer) > 2 ? s[1] : 1;
  int64_t elements = 1;
  for (size_t d = 1; d < s.size(); ++d) elements *= s[d];
  // In memory each channel of a blob ends at a multiple of 16 bytes. ArgMax searches what lies
  // between them too.
  if (const int64_t plane = elements / channels; plane % 4 != 0)
    return im.Unsupported(layer, absl::StrCat("a blob of ", plane, " elements a channel, which 4 does not divide,"));
  if (count < 1 || count > elements)
    return im.Wrong(layer, absl::StrCat("the ", count, " largest of ", elements, " elements"));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.Reshape(layer, im.In(layer, 0), {s[0], elements}));
  COBRA_ASSIGN_OR_RETURN(const Tensors best,
                         im.CallAll(layer, graph::Op::topk,
                                    {{"k", count}, {"dim", int64_t{1}}, {"largest", true}, {"sorted", true}}, {x}));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef out,
                         im.Call(layer, graph::Op::to, {{"dtype", std::string("float32")}}, {best[1]}));
  if (layer.Int(0, 0) != 0) {
    COBRA_ASSIGN_OR_RETURN(out, im.Call(layer, graph::Op::stack, {{"dim", int64_t{1}}}, {best[0], out}));
  } else {
    COBRA_ASSIGN_OR_RETURN(out, im.Call(layer, graph::Op::unsqueeze, {{"dim", int64_t{1}}}, {out}));
  }
  return im.Set(layer, 0, out);
}

absl::Status CumulativeSum(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const int64_t dim, im.Dim(layer, layer.Int(0, 0), im.Dims(layer)));
  return im.Set(layer, 0, im.Call(layer, graph::Op::cumsum, {{"dim", dim}}, {im.In(layer, 0)}));
}

}  // namespace handlers
}  // namespace cobra::ncnn
