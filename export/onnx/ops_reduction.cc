// Reductions and scans.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// What a call reduces over: no `dim`, or an empty one, is everything.
struct Reduction {
  Ints axes;
  bool keep = false;
};

Reduction ReductionOf(const CallWriter& c) {
  Reduction r;
  r.keep = c.Bool("keepdim");
  if (c.HasValue("dim")) r.axes = Wrapped(c.IntList("dim"), c.Rank(0));
  if (r.axes.empty()) r.axes = Range(0, c.Rank(0));
  if (c.Rank(0) == 0) r.axes.clear();
  return r;
}

int64_t CountOf(const CallWriter& c, const Reduction& r) {
  int64_t count = 1;
  for (int64_t axis : r.axes) count *= c.ShapeOf(0)[static_cast<size_t>(axis)];
  return count;
}

std::string Mean(CallWriter& c, const std::string& x, const Reduction& r, bool keep) {
  return c.Reduced("ReduceMean", x, r.axes, keep);
}

// The sum of squares around the mean, divided by the count less the correction; and the mean.
Names Spread(CallWriter& c, const Reduction& r, DType dtype) {
  const std::string x = c.In(0);
  int64_t correction = c.Bool("unbiased", true) ? 1 : 0;
  if (c.HasValue("correction")) correction = static_cast<int64_t>(c.Double("correction"));
  const int64_t count = CountOf(c, r);
  const std::string centred = c.Node("Sub", {x, Mean(c, x, r, true)});
  std::string y = c.Summed(c.Node("Mul", {centred, centred}), r.axes, r.keep);
  // PyTorch divides by 0 where there are no more elements than the correction.
  y = c.Node("Div", {y, c.Number(dtype, static_cast<double>(std::max<int64_t>(count - correction, 0)))});
  return {y, Mean(c, x, r, r.keep)};
}

// Both extremes are computed in a type that runtimes have them for.
std::string Extreme(CallWriter& c, const char* op_type, const std::string& x, DType dtype, const Reduction& r) {
  const DType wide = ArithmeticType(dtype);
  return c.Cast(c.Reduced(op_type, c.Cast(x, dtype, wide), r.axes, r.keep), wide, dtype);
}

// A scan in as many steps as the length has binary digits: each step joins every element with the
// one `distance` before it. `joined` gets (element, earlier element); the first elements have none
// before them.
template <typename F>
std::string Scanned(CallWriter& c, std::string x, int64_t axis, F joined) {
  const int64_t size = c.ShapeOf(0).empty() ? 1 : c.ShapeOf(0)[static_cast<size_t>(axis)];
  for (int64_t distance = 1; distance < size; distance *= 2) {
    const std::string head = c.Sliced(x, axis, 0, distance);
    const std::string tail = joined(c.Sliced(x, axis, distance, size), c.Sliced(x, axis, 0, size - distance));
    x = c.Joined({head, tail}, axis);
  }
  return x;
}

// A matrix's norm that is not a vector's.
bool IsMatrixNorm(const CallWriter& c, const Reduction& r) {
  return c.op() == graph::Op::linalg_matrix_norm ||
         (c.op() == graph::Op::linalg_norm && c.HasValue("ord") && r.axes.size() == 2);
}

}  // namespace

std::string VectorNorm(CallWriter& c, const std::string& x, double p, const Ints& axes, bool keep, DType dtype) {
  if (axes.empty()) return p == 0 ? c.Cast(c.Cast(x, dtype, DType::bool_), DType::bool_, dtype) : c.Node("Abs", {x});
  if (p == 1) return c.Reduced("ReduceL1", x, axes, keep);
  if (p == 2) return c.Reduced("ReduceL2", x, axes, keep);
  const std::string size = c.Node("Abs", {x});
  if (p == INFINITY) return c.Reduced("ReduceMax", size, axes, keep);
  if (p == -INFINITY) return c.Reduced("ReduceMin", size, axes, keep);
  if (p == 0) {
    const std::string zero = c.Node("Equal", {x, c.Number(dtype, 0)});
    return c.Summed(c.Cast(c.Node("Not", {zero}), DType::bool_, dtype), axes, keep);
  }
  const std::string sum = c.Summed(c.Node("Pow", {size, c.Number(dtype, p)}), axes, keep);
  return c.Node("Pow", {sum, c.Number(dtype, 1 / p)});
}

// sum, prod, nansum: of integers in int64.
absl::StatusOr<Names> WriteSum(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  std::string x = c.Input(0, wide);
  if (c.op() == graph::Op::nansum && graph::IsFloatingPoint(dtype))
    x = c.Node("Where", {c.Node("IsNaN", {x}), c.Number(dtype, 0), x});
  const std::string y =
      c.op() == graph::Op::prod ? c.Reduced("ReduceProd", x, r.axes, r.keep) : c.Summed(x, r.axes, r.keep);
  return Names{c.Cast(y, wide, dtype)};
}

absl::StatusOr<Names> WriteMean(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  const DType dtype = c.Out().dtype;
  const std::string x = c.Input(0, dtype);
  if (c.op() == graph::Op::mean) return Names{Mean(c, x, r, r.keep)};
  const std::string missing = c.Node("IsNaN", {x});  // nanmean
  const std::string sum = c.Summed(c.Node("Where", {missing, c.Number(dtype, 0), x}), r.axes, r.keep);
  const std::string count = c.Summed(c.Cast(c.Node("Not", {missing}), DType::bool_, dtype), r.axes, r.keep);
  return Names{c.Node("Div", {sum, count})};
}

// var, std, var_mean, std_mean
absl::StatusOr<Names> WriteSpread(CallWriter& c) {
  Names y = Spread(c, ReductionOf(c), c.Out().dtype);
  if (c.op() == graph::Op::std || c.op() == graph::Op::std_mean) y[0] = c.Node("Sqrt", {y[0]});
  y.resize(c.node().outputs.size());
  return y;
}

// amax, amin, aminmax
absl::StatusOr<Names> WriteExtreme(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  const DType dtype = c.Out().dtype;
  Names y;
  if (c.op() != graph::Op::amax) y.push_back(Extreme(c, "ReduceMin", c.In(0), dtype, r));
  if (c.op() != graph::Op::amin) y.push_back(Extreme(c, "ReduceMax", c.In(0), dtype, r));
  return y;
}

// max and min: of everything, of two tensors, or along a dimension with the places.
absl::StatusOr<Names> WriteMaxMin(CallWriter& c) {
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  const bool largest = c.op() == graph::Op::max;
  if (c.Has(1)) return Names{c.Arithmetic(largest ? "Max" : "Min", {c.Input(0, dtype), c.Input(1, dtype)}, dtype)};
  const Reduction r = ReductionOf(c);
  Names y{Extreme(c, largest ? "ReduceMax" : "ReduceMin", c.In(0), dtype, r)};
  if (c.node().outputs.size() == 1) return y;
  if (c.Rank(0) == 0) {
    y.push_back(c.Number(DType::int64, 0));
  } else {
    y.push_back(
        c.Node(largest ? "ArgMax" : "ArgMin", {c.Input(0, wide)}, {{"axis", r.axes[0]}, {"keepdims", r.keep ? 1 : 0}}));
  }
  return y;
}

// kthvalue, and the median, which is the one in the middle, of two the smaller one.
absl::StatusOr<Names> WriteKthValue(CallWriter& c) {
  const bool median = c.op() == graph::Op::median;
  std::string x = c.In(0);
  int64_t axis = c.Dim("dim", -1, c.Rank(0)), size = 1;
  const bool whole = median && !c.HasValue("dim");
  if (c.Rank(0) == 0 || whole) {
    size = c.Type(0).num_elements();
    x = c.Reshaped(x, {size});
    axis = 0;
  } else {
    size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  }
  const int64_t k = median ? (size + 1) / 2 : c.Int("k");
  Names y = c.Nodes("TopK", {x, c.IntsOf({k})}, 2, {{"axis", axis}, {"largest", 0}, {"sorted", 1}});
  y.resize(c.node().outputs.size());
  for (size_t i = 0; i < y.size(); ++i) y[i] = c.Reshaped(c.Sliced(y[i], axis, k - 1, k), c.Out(i).shape);
  return y;
}

absl::StatusOr<Names> WriteArgReduce(CallWriter& c) {
  const char* op_type = c.op() == graph::Op::argmax ? "ArgMax" : "ArgMin";
  const std::string x = c.Input(0, ArithmeticType(c.Type(0).dtype));
  if (c.HasValue("dim") && c.Rank(0) > 0) {
    return Names{
        c.Node(op_type, {x}, {{"axis", c.Dim("dim", -1, c.Rank(0))}, {"keepdims", c.Bool("keepdim") ? 1 : 0}})};
  }
  const std::string flat = c.Reshaped(x, {c.Type(0).num_elements()});
  return Names{c.Reshaped(c.Node(op_type, {flat}, {{"axis", 0}, {"keepdims", 0}}), c.Out().shape)};
}

// any, all
absl::StatusOr<Names> WriteAnyAll(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  const std::string x = c.Cast(c.Input(0, DType::bool_), DType::bool_, DType::int32);
  const std::string y = c.Reduced(c.op() == graph::Op::any ? "ReduceMax" : "ReduceMin", x, r.axes, r.keep);
  return Names{c.Cast(y, DType::int32, c.Out().dtype)};
}

absl::StatusOr<Names> WriteCountNonzero(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  return Names{c.Summed(c.Cast(c.Input(0, DType::bool_), DType::bool_, DType::int64), r.axes, false)};
}

absl::StatusOr<Names> WriteLogsumexp(CallWriter& c) {
  const Reduction r = ReductionOf(c);
  const std::string x = c.Input(0, c.Out().dtype);
  return Names{c.Reduced("ReduceLogSumExp", x, r.axes, r.keep)};
}

// norm, linalg_norm, linalg_vector_norm, frobenius_norm, linalg_matrix_norm
absl::StatusOr<Names> WriteNorm(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const char* name = c.op() == graph::Op::norm ? "p" : "ord";
  const std::string text = c.String(name);
  Reduction r = ReductionOf(c);
  if (c.op() == graph::Op::linalg_matrix_norm && !c.HasValue("dim")) r.axes = {c.Rank(0) - 2, c.Rank(0) - 1};
  if (!text.empty() && text != "fro") return Refused(name, "='", text, "'");
  const bool frobenius = text == "fro" || !c.HasValue(name);
  if (IsMatrixNorm(c, r) && !frobenius) return Refused(name, "=", c.Double(name), " of a matrix");
  return Names{VectorNorm(c, c.Input(0, dtype), frobenius ? 2 : c.Double(name, 2), r.axes, r.keep, dtype)};
}

absl::StatusOr<Names> WriteCumsum(CallWriter& c) {
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  const std::string x = c.Input(0, wide);
  if (c.Rank(0) == 0) return Names{c.Cast(x, wide, dtype)};
  const std::string axis = c.Number(DType::int64, static_cast<double>(c.Dim("dim", 0, c.Rank(0))));
  return Names{c.Cast(c.Node("CumSum", {x, axis}), wide, dtype)};
}

// cumprod, logcumsumexp
absl::StatusOr<Names> WriteScan(CallWriter& c) {
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  const int64_t axis = c.Dim("dim", 0, c.Rank(0));
  const std::string x = c.Input(0, wide);
  const bool product = c.op() == graph::Op::cumprod;
  const std::string y = Scanned(c, x, axis, [&](const std::string& a, const std::string& b) {
    if (product) return c.Node("Mul", {a, b});
    const std::string distance = c.Node("Abs", {c.Node("Sub", {a, b})});
    return c.Node("Add", {c.Node("Max", {a, b}), c.Node("Softplus", {c.Node("Neg", {distance})})});
  });
  return Names{c.Cast(y, wide, dtype)};
}

// cummax, cummin: the extreme so far, and the last place that has it.
absl::StatusOr<Names> WriteRunningExtreme(CallWriter& c) {
  const DType dtype = c.Out().dtype, wide = ArithmeticType(dtype);
  const int64_t axis = c.Dim("dim", 0, c.Rank(0));
  const bool largest = c.op() == graph::Op::cummax;
  const int64_t size = c.ShapeOf(0).empty() ? 1 : c.ShapeOf(0)[static_cast<size_t>(axis)];
  const std::string x = c.Input(0, wide);
  const std::string best = Scanned(c, x, axis, [&](const std::string& a, const std::string& b) {
    return c.Node(largest ? "Max" : "Min", {a, b});
  });
  Shape line(static_cast<size_t>(std::max(c.Rank(0), 1)), 1);
  line[static_cast<size_t>(axis)] = size;
  if (c.Rank(0) == 0) line.clear();
  std::vector<double> places;
  for (int64_t i = 0; i < size; ++i) places.push_back(static_cast<double>(i));
  const std::string own = c.Node(
      "Where", {c.Node("Equal", {x, best}), c.Numbers({line, DType::int64}, places), c.Number(DType::int64, -1)});
  const std::string place = Scanned(c, own, axis, [&](const std::string& a, const std::string& b) {
    return c.Node("Max", {a, b});
  });
  return Names{c.Cast(best, wide, dtype), place};
}

// Differences of neighbours, n times.
absl::StatusOr<Names> WriteDiff(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const int64_t axis = c.Dim("dim", -1, c.Rank(0));
  int64_t size = 0;
  Names parts;
  for (size_t i : {size_t{1}, size_t{0}, size_t{2}}) {  // prepend, input, append
    if (!c.Has(i)) continue;
    if (c.Rank(i) != c.Rank(0)) return Refused("what is prepended or appended has another number of dimensions");
    parts.push_back(c.Input(i, dtype));
    size += c.ShapeOf(i)[static_cast<size_t>(axis)];
  }
  std::string x = parts.size() == 1 ? parts[0] : c.Joined(parts, axis);
  for (int64_t i = 0; i < c.Int("n", 1); ++i, --size) {
    const std::string later = c.Sliced(x, axis, 1, size), earlier = c.Sliced(x, axis, 0, size - 1);
    if (dtype == DType::bool_) {
      x = c.Node("Xor", {later, earlier});
    } else {
      x = c.Arithmetic("Sub", {later, earlier}, dtype);
    }
  }
  return Names{x};
}

absl::StatusOr<Names> WriteSumToSize(CallWriter& c) {
  const Shape &in = c.ShapeOf(0), &out = c.Out().shape;
  const size_t lead = in.size() - out.size();
  Ints axes;
  for (size_t d = 0; d < in.size(); ++d) {
    if (d < lead || (out[d - lead] == 1 && in[d] != 1)) axes.push_back(static_cast<int64_t>(d));
  }
  return Names{c.Reshaped(c.Summed(c.In(0), axes, true), out)};
}

// Half of the sum of neighbours times their distance: dx, or the differences of x.
absl::StatusOr<Names> WriteTrapezoid(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const int rank = c.Rank(0);
  const int64_t axis = c.Dim("dim", -1, rank);
  const int64_t size = c.ShapeOf(0)[static_cast<size_t>(axis)];
  const std::string y = c.Input(0, dtype);
  std::string area = c.Arithmetic("Add", {c.Sliced(y, axis, 1, size), c.Sliced(y, axis, 0, size - 1)}, dtype);
  if (c.Has(1)) {
    const bool line = c.Rank(1) == 1;
    if (!line && c.Rank(1) != rank) return Refused("places with another number of dimensions");
    const int64_t own = line ? 0 : axis, count = c.ShapeOf(1)[static_cast<size_t>(own)];
    const std::string x = c.Input(1, dtype);
    std::string width = c.Node("Sub", {c.Sliced(x, own, 1, count), c.Sliced(x, own, 0, count - 1)});
    if (line) {
      Shape shape(static_cast<size_t>(rank), 1);
      shape[static_cast<size_t>(axis)] = count - 1;
      width = c.Reshaped(width, shape);
    }
    area = c.Node("Mul", {area, width});
  }
  area = c.Scaled(area, (c.Has(1) ? 1 : c.Double("dx", 1)) / 2, dtype);
  if (c.op() != graph::Op::cumulative_trapezoid) return Names{c.Summed(area, {axis}, false)};
  return Names{c.Node("CumSum", {area, c.Number(DType::int64, static_cast<double>(axis))})};
}

}  // namespace cobra::exporting
