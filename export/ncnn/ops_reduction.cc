// Reductions over dimensions: sums, means and the like.
#include <algorithm>
#include <cmath>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::Op;

enum ReduceType : int64_t { kSum, kAbsSum, kSquareSum, kMean, kLargest, kLeast, kProd, kL1, kL2, kLogSum, kLogSumExp };

int64_t TypeOf(Op op) {
  switch (op) {
    case Op::sum: return kSum;
    case Op::amax:
    case Op::max: return kLargest;
    case Op::amin:
    case Op::min: return kLeast;
    case Op::prod: return kProd;
    case Op::logsumexp: return kLogSumExp;
    default: return kMean;
  }
}

std::string Reduced(CallWriter& c, int64_t type, const std::string& x, Ints axes, bool keep) {
  Ints dims;
  for (size_t d = 0; d < c.DimsOf(x).size(); ++d) {
    const bool reduced = std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) > 0;
    if (reduced && keep) dims.push_back(1);
    if (!reduced) dims.push_back(c.DimsOf(x)[d]);
  }
  if (dims.empty()) dims.push_back(1);
  return c.Layer("Reduction", {x}, dims,
                 {{0, type}, {1, int64_t{0}}, {3, std::move(axes)}, {4, int64_t{keep ? 1 : 0}}, {5, int64_t{1}}});
}

// A blob of x and the axes that are reduced. Where the blob as a rule has not these dimensions,
// neighbours are joined.
struct Axes {
  Ints dims, axes;
};
absl::StatusOr<Axes> AxesOf(const Shape& shape, const Ints& reduced) {
  const Ints rule = BlobOf(shape);
  const int64_t dropped = static_cast<int64_t>(shape.size() - rule.size());
  Axes out{rule, {}};
  if (!rule.empty()) {
    for (const int64_t d : reduced) {
      if (d >= dropped) out.axes.push_back(d - dropped);
    }
    if (shape.empty()) out.axes = {0};
    return out;
  }
  bool last = false;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    const bool now = std::count(reduced.begin(), reduced.end(), d) > 0;
    if (d == 0 || now != last) {
      out.dims.push_back(1);
      if (now) out.axes.push_back(static_cast<int64_t>(out.dims.size()) - 1);
    }
    out.dims.back() *= shape[static_cast<size_t>(d)];
    last = now;
  }
  if (out.dims.size() > 4) return Refused("more than four dimensions");
  return out;
}

absl::StatusOr<std::string> Over(CallWriter& c, int64_t type, bool keep) {
  COBRA_ASSIGN_OR_RETURN(const Axes at, AxesOf(c.ShapeOf(0), c.Dims("dim", c.Rank(0))));
  const std::string x = c.In(0, at.dims);
  return at.axes.empty() ? x : Reduced(c, type, x, at.axes, keep);
}

}  // namespace

absl::StatusOr<Names> WriteReduction(CallWriter& c) {
  if ((c.op() == Op::max || c.op() == Op::min) && (c.num_inputs() > 1 || c.node().outputs.size() > 1)) {
    if (c.num_inputs() > 1 || c.IsUsed(1)) return Refused("the places of the numbers");
  }
  COBRA_ASSIGN_OR_RETURN(const std::string y, Over(c, TypeOf(c.op()), c.Bool("keepdim")));
  Names names(c.node().outputs.size());
  names[0] = y;
  return names;
}

absl::StatusOr<Names> WriteNorm(CallWriter& c) {
  const char* name = c.op() == Op::norm ? "p" : "ord";
  const graph::AttributeValue* value = c.node().attributes.Find(name);
  if (value != nullptr && std::holds_alternative<std::string>(*value) && c.String(name) != "fro")
    return Refused(name, "='", c.String(name), "'");
  const double p = c.Double(name, 2);
  if (p != 1 && p != 2) return Refused(name, "=", p);
  COBRA_ASSIGN_OR_RETURN(const std::string y, Over(c, p == 1 ? kL1 : kL2, c.Bool("keepdim")));
  return Names{y};
}

// var and std: the mean of the squared distances from the mean, corrected.
absl::StatusOr<Names> WriteVariance(CallWriter& c) {
  const Ints dims = c.Dims("dim", c.Rank(0));
  COBRA_ASSIGN_OR_RETURN(const Axes at, AxesOf(c.ShapeOf(0), dims));
  if (at.axes.empty()) return Refused("a variance of one number");
  double count = 1;
  for (const int64_t d : dims) count *= static_cast<double>(c.ShapeOf(0)[static_cast<size_t>(d)]);
  const double correction = c.HasValue("correction") ? c.Double("correction") : c.Bool("unbiased", true) ? 1 : 0;
  const std::string x = c.In(0, at.dims);
  const std::string centred = c.WithBlob(kSub, x, Reduced(c, kMean, x, at.axes, true));
  std::string y = Reduced(c, kMean, c.Unary(kSquare, centred), at.axes, c.Bool("keepdim"));
  if (correction != 0) y = c.WithNumber(kMul, y, count / (count - correction));
  return Names{c.op() == Op::std ? c.Unary(kSqrt, y) : y};
}

absl::StatusOr<Names> WriteCumsum(CallWriter& c) {
  const Axis at = AxisOf(c.ShapeOf(0), c.Dim("dim", 0, c.Rank(0)));
  return Names{c.Map("CumulativeSum", c.In(0, at.dims), {{0, at.axis}})};
}

}  // namespace cobra::exporting::ncnn
