// Arithmetic on two tensors, or on a tensor and a number. Blobs with the same number of dimensions
// broadcast as PyTorch's tensors do; ncnn has another rule for blobs with fewer dimensions, which
// is never used.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "export/ncnn/handlers.h"
#include "export/weights.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::Op;

// Sizes of two tensors that broadcast, as those of two blobs of as many dimensions; none if that
// takes more than four.
std::vector<Ints> Aligned(const Shape& a, const Shape& b) {
  const size_t rank = std::max({a.size(), b.size(), size_t{1}});
  Ints x(rank - a.size(), 1), y(rank - b.size(), 1);
  x.insert(x.end(), a.begin(), a.end());
  y.insert(y.end(), b.begin(), b.end());
  if (rank > 1 && x[0] == 1 && y[0] == 1) {  // the batch
    x.erase(x.begin());
    y.erase(y.begin());
  }
  // Neighbours that both broadcast, or both do not, are one dimension.
  for (size_t d = x.size() - 1; d > 0 && x.size() > 4; --d) {
    const bool same = x[d] == y[d] && x[d - 1] == y[d - 1];
    const bool left = x[d] == 1 && x[d - 1] == 1, right = y[d] == 1 && y[d - 1] == 1;
    if (!same && !left && !right) continue;
    x[d - 1] *= x[d];
    y[d - 1] *= y[d];
    x.erase(x.begin() + static_cast<std::ptrdiff_t>(d));
    y.erase(y.begin() + static_cast<std::ptrdiff_t>(d));
  }
  if (x.size() > 4) return {};
  return {x, y};
}

float NumberIn(const std::string& bytes) {
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

// The operation with its operands exchanged.
int64_t Turned(int64_t type) {
  switch (type) {
    case kSub: return kRSub;
    case kRSub: return kSub;
    case kDiv: return kRDiv;
    case kRDiv: return kDiv;
    case kPow: return kRPow;
    default: return type;
  }
}

int64_t TypeOf(Op op) {
  switch (op) {
    case Op::add: return kAdd;
    case Op::sub: return kSub;
    case Op::rsub: return kRSub;
    case Op::mul: return kMul;
    case Op::rdiv: return kRDiv;
    case Op::pow: return kPow;
    case Op::rpow: return kRPow;
    case Op::maximum:
    case Op::fmax: return kMax;
    case Op::minimum:
    case Op::fmin: return kMin;
    case Op::atan2:
    case Op::arctan2: return kATan2;
    default: return kDiv;
  }
}

// ncnn's powers are those of positive numbers; these are the others that networks take.
std::string Power(CallWriter& c, const std::string& x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return c.Unary(kSquare, x);
  if (exponent == 3) return c.WithBlob(kMul, c.Unary(kSquare, x), x);
  if (exponent == 4) return c.Unary(kSquare, c.Unary(kSquare, x));
  if (exponent == -1) return c.Unary(kReciprocal, x);
  if (exponent == 0.5) return c.Unary(kSqrt, x);
  if (exponent == -0.5) return c.Unary(kRsqrt, x);
  return c.WithNumber(kPow, x, exponent);
}

// x op y as PyTorch's shapes say.
absl::StatusOr<std::string> Combined(CallWriter& c, int64_t type, size_t i, size_t j, const std::string* right) {
  const auto is_number = [&](size_t k) { return c.IsConstant(k) && c.Type(k).num_elements() == 1; };
  if (right == nullptr && is_number(j) && c.ShapeOf(i) == c.Out().shape) {
    if (type == kPow) return Power(c, c.In(i), NumberIn(c.Numbers(j)));
    return c.WithNumber(type, c.In(i), NumberIn(c.Numbers(j)));
  }
  if (is_number(i) && c.ShapeOf(j) == c.Out().shape && type != kATan2)
    return c.WithNumber(Turned(type), right != nullptr ? *right : c.In(j), NumberIn(c.Numbers(i)));
  const std::vector<Ints> dims = Aligned(c.ShapeOf(i), c.ShapeOf(j));
  if (dims.empty()) return Refused("operands that broadcast in more than four dimensions");
  // Two blobs of one tensor's sizes may keep whatever sizes they have.
  if (dims[0] == dims[1] && !c.IsConstant(i) && !c.IsConstant(j)) {
    const std::string a = c.In(i), b = right != nullptr ? *right : c.In(j);
    if (c.DimsOf(a) == c.DimsOf(b)) return c.WithBlob(type, a, b);
  }
  const std::string b = right != nullptr ? c.Reshaped(*right, dims[1]) : c.In(j, dims[1]);
  return c.WithBlob(type, c.In(i, dims[0]), b);
}

}  // namespace

absl::StatusOr<Names> WriteBinary(CallWriter& c) {
  const int64_t type = TypeOf(c.op());
  const bool power = c.op() == Op::pow || c.op() == Op::float_power;
  const double alpha = c.Double("alpha", 1);
  std::string y;
  if (!c.Has(1)) {
    if (c.op() == Op::rsub && alpha != 1) return Refused("alpha");
    const double other = c.Double(power ? "exponent" : "other") * alpha;
    if (!std::isfinite(other)) return Refused("a number that is not finite, which its file cannot hold");
    y = type == kPow ? Power(c, c.In(0), other) : c.WithNumber(type, c.In(0), other);
  } else if (!c.Has(0)) {
    y = c.WithNumber(Turned(type), c.In(1), c.Double("input"));
  } else if (alpha != 1) {
    const std::string scaled = c.WithNumber(kMul, c.In(1), alpha);
    COBRA_ASSIGN_OR_RETURN(y, Combined(c, type, 0, 1, &scaled));
  } else {
    COBRA_ASSIGN_OR_RETURN(y, Combined(c, type, 0, 1, nullptr));
  }
  const std::string mode = c.op() == Op::floor_divide ? "floor" : c.String("rounding_mode");
  if (mode == "floor") y = c.Unary(kFloor, y);
  if (mode == "trunc") y = c.Unary(kTrunc, y);
  return Names{y};
}

// What the mask does not hide, plus the value where it does. An infinite value is added to what is
// there.
absl::StatusOr<Names> WriteMaskedFill(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(c.NeedConstant(1, "a mask"));
  if (c.Has(2) && !c.IsConstant(2)) return Refused("a value that the network computes");
  const double value = c.Has(2) ? NumberIn(c.Numbers(2)) : c.Double("value");
  const std::vector<Ints> dims = Aligned(c.ShapeOf(0), c.ShapeOf(1));
  if (dims.empty() || c.ShapeOf(0) != c.Out().shape) return Refused("operands that broadcast so");
  std::vector<float> kept, added;
  for (const double hidden : ValuesOf(DType::float32, c.Numbers(1))) {
    kept.push_back(hidden != 0 ? 0 : 1);
    added.push_back(hidden != 0 ? static_cast<float>(value) : 0);
  }
  std::string x = c.In(0, dims[0]);
  if (std::isfinite(value)) x = c.WithBlob(kMul, x, c.Data(dims[1], Floats(kept)));
  return Names{value == 0 ? x : c.WithBlob(kAdd, x, c.Data(dims[1], Floats(added)))};
}

}  // namespace cobra::exporting::ncnn
