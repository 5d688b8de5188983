// Matrix products.
#include <algorithm>
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// Runtimes multiply matrices of these types only; others are computed as the nearest of them.
DType ProductType(DType dtype) { return ArithmeticType(dtype); }

std::string Product(CallWriter& c, const std::string& a, const std::string& b, DType dtype) {
  const DType wide = ProductType(dtype);
  return c.Cast(c.Node("MatMul", {c.Cast(a, dtype, wide), c.Cast(b, dtype, wide)}), wide, dtype);
}

}  // namespace

absl::StatusOr<Names> WriteLinear(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  if (c.Rank(0) == 2 && c.Rank(1) == 2 && graph::IsFloatingPoint(dtype) && (!c.Has(2) || c.Rank(2) == 1))
    return Names{c.Node("Gemm", {c.In(0), c.In(1), c.In(2)}, {{"transB", 1}})};
  const std::string weight = c.Rank(1) == 2 ? c.Transposed(c.In(1), {1, 0}) : c.In(1);
  const std::string y = Product(c, c.In(0), weight, dtype);
  return Names{c.Has(2) ? c.Arithmetic("Add", {y, c.In(2)}, dtype) : y};
}

// sum over i, j of x1[i] weight[out, i, j] x2[j]
absl::StatusOr<Names> WriteBilinear(CallWriter& c) {
  const int64_t rows = c.Type(0).num_elements() / std::max<int64_t>(1, c.ShapeOf(0).back());
  const std::string a = c.Reshaped(c.In(0), {rows, c.ShapeOf(0).back()});
  const std::string b = c.Reshaped(c.In(1), {rows, c.ShapeOf(1).back()});
  std::string y = c.Node("Einsum", {a, c.In(2), b}, {{"equation", "bi,oij,bj->bo"}});
  if (c.Has(3)) y = c.Node("Add", {y, c.In(3)});
  return Names{c.Reshaped(y, c.Out().shape)};
}

// matmul, mm, bmm, mv, dot
absl::StatusOr<Names> WriteMatMul(CallWriter& c) { return Names{Product(c, c.In(0), c.In(1), c.Out().dtype)}; }

absl::StatusOr<Names> WriteOuter(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  return Names{
      c.Arithmetic("Mul", {c.Unsqueezed(c.Input(0, dtype), {1}), c.Unsqueezed(c.Input(1, dtype), {0})}, dtype)};
}

// The last dimensions of both are summed over.
absl::StatusOr<Names> WriteInner(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  if (c.Rank(0) == 0 || c.Rank(1) == 0) return Names{c.Arithmetic("Mul", {c.In(0), c.In(1)}, dtype)};
  const int64_t width = c.ShapeOf(0).back();
  const std::string a = c.Reshaped(c.In(0), {c.Type(0).num_elements() / std::max<int64_t>(width, 1), width});
  const std::string b = c.Reshaped(c.In(1), {c.Type(1).num_elements() / std::max<int64_t>(width, 1), width});
  return Names{c.Reshaped(Product(c, a, c.Transposed(b, {1, 0}), dtype), c.Out().shape)};
}

// beta * input + alpha * (a @ b)
absl::StatusOr<Names> WriteAddmm(CallWriter& c) {
  const double beta = c.Double("beta", 1), alpha = c.Double("alpha", 1);
  const DType dtype = c.Out().dtype;
  const bool matrices = c.Rank(1) == 2 && c.Rank(2) == 2;
  if (matrices && c.Rank(0) <= 2 && c.op() == graph::Op::addmm && graph::IsFloatingPoint(dtype)) {
    return Names{c.Node("Gemm", {c.In(1), c.In(2), beta == 0 ? "" : c.In(0)}, {{"alpha", alpha}, {"beta", beta}})};
  }
  std::string product = Product(c, c.In(1), c.In(2), dtype);
  if (c.op() == graph::Op::addbmm) product = c.Summed(product, {0}, false);
  return Names{c.Combined(c.In(0), beta, product, alpha, dtype)};
}

absl::StatusOr<Names> WriteAddr(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string outer =
      c.Arithmetic("Mul", {c.Unsqueezed(c.Input(1, dtype), {1}), c.Unsqueezed(c.Input(2, dtype), {0})}, dtype);
  return Names{c.Combined(c.Input(0, dtype), c.Double("beta", 1), outer, c.Double("alpha", 1), dtype)};
}

absl::StatusOr<Names> WriteEinsum(CallWriter& c) {
  Names inputs;
  for (size_t i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.Input(i, c.Out().dtype));
  return Names{c.Node("Einsum", std::move(inputs), {{"equation", c.String("equation")}})};
}

absl::StatusOr<Names> WriteMultiDot(CallWriter& c) {
  std::string y = c.In(0);
  for (size_t i = 1; i < c.num_inputs(); ++i) y = Product(c, y, c.In(i), c.Out().dtype);
  return Names{y};
}

absl::StatusOr<Names> WriteKron(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  Shape a = c.ShapeOf(0), b = c.ShapeOf(1), wide_a, wide_b;
  while (a.size() < b.size()) a.insert(a.begin(), 1);
  while (b.size() < a.size()) b.insert(b.begin(), 1);
  for (size_t d = 0; d < a.size(); ++d) {
    wide_a.insert(wide_a.end(), {a[d], 1});
    wide_b.insert(wide_b.end(), {1, b[d]});
  }
  const std::string y =
      c.Arithmetic("Mul", {c.Reshaped(c.Input(0, dtype), wide_a), c.Reshaped(c.Input(1, dtype), wide_b)}, dtype);
  return Names{c.Reshaped(y, c.Out().shape)};
}

absl::StatusOr<Names> WriteTensordot(CallWriter& c) {
  const int ra = c.Rank(0), rb = c.Rank(1);
  Ints left, right;
  if (c.HasValue("axes")) {
    const Ints axes = c.IntList("axes");
    left.assign(axes.begin(), axes.begin() + static_cast<int64_t>(axes.size() / 2));
    right.assign(axes.begin() + static_cast<int64_t>(axes.size() / 2), axes.end());
  } else {
    const int64_t n = c.Int("dims", 2);
    left = Range(ra - n, ra);
    right = Range(0, n);
  }
  left = Wrapped(left, ra);
  right = Wrapped(right, rb);
  const auto others = [](const Ints& dims, int rank) {
    Ints rest;
    for (int d = 0; d < rank; ++d) {
      if (std::count(dims.begin(), dims.end(), d) == 0) rest.push_back(d);
    }
    return rest;
  };
  Ints first = others(left, ra), second = right;
  const Ints rest = others(right, rb);
  int64_t rows = 1, shared = 1, columns = 1;
  for (int64_t d : first) rows *= c.ShapeOf(0)[static_cast<size_t>(d)];
  for (size_t i = 0; i < left.size(); ++i) {
    if (c.ShapeOf(0)[static_cast<size_t>(left[i])] != c.ShapeOf(1)[static_cast<size_t>(right[i])])
      return Refused("a dimension of one element that is broadcast");
    shared *= c.ShapeOf(0)[static_cast<size_t>(left[i])];
  }
  for (int64_t d : rest) columns *= c.ShapeOf(1)[static_cast<size_t>(d)];
  first.insert(first.end(), left.begin(), left.end());
  second.insert(second.end(), rest.begin(), rest.end());
  const std::string a = c.Reshaped(c.Transposed(c.In(0), first), {rows, shared});
  const std::string b = c.Reshaped(c.Transposed(c.In(1), second), {shared, columns});
  return Names{c.Reshaped(Product(c, a, b, c.Out().dtype), c.Out().shape)};
}

absl::StatusOr<Names> WriteVecdot(CallWriter& c) {
  const int rank = std::max(c.Rank(0), c.Rank(1));
  return Names{c.Summed(c.Node("Mul", {c.In(0), c.In(1)}), {c.Dim("dim", -1, rank)}, false)};
}

// If each group has its own matrices, this is bmm; rows in groups depend on the values of `offs`.
absl::StatusOr<Names> WriteGroupedMm(CallWriter& c) {
  if (c.Rank(0) != 3 || c.Rank(1) != 3 || c.Has(2)) return Refused("groups whose sizes are values of a tensor");
  const std::string y = Product(c, c.In(0), c.In(1), c.Out().dtype);
  return Names{c.Has(3) ? c.Node("Add", {y, c.Unsqueezed(c.In(3), {1})}) : y};
}

absl::StatusOr<Names> WriteMatrixPower(CallWriter& c) {
  const int64_t n = c.Int("n");
  if (n < 1 || n > 64) return Refused("n=", n, "; powers from 1 to 64 are products");
  std::string y = c.In(0);
  for (int64_t i = 1; i < n; ++i) y = c.Node("MatMul", {y, c.In(0)});
  return Names{y};
}

absl::StatusOr<Names> WriteDet(CallWriter& c) { return Names{c.Node("Det", {c.In(0)})}; }

// x^0, x^1 ... in the last dimension; vander() begins with the highest power.
absl::StatusOr<Names> WriteVander(CallWriter& c) {
  const int64_t n = c.Out().shape.back();
  const DType dtype = c.Out().dtype;
  std::vector<double> powers;
  for (int64_t i = 0; i < n; ++i) powers.push_back(static_cast<double>(i));
  if (c.op() == graph::Op::vander && !c.Bool("increasing")) std::reverse(powers.begin(), powers.end());
  const std::string x = c.Unsqueezed(c.Input(0, dtype), {c.Rank(0)});
  return Names{c.Arithmetic("Pow", {x, c.Numbers({{n}, dtype}, powers)}, dtype)};
}

}  // namespace cobra::exporting
