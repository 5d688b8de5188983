// Linear algebra: matrices are the last two dimensions, all dimensions before them are a batch.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

absl::Status IsMatrix(const Call& call, int i = 0) {
  if (call.in(i).rank() < 2) {
    return ShapeError(call.name(), ": The input tensor A must have at least 2 dimensions.");
  }
  if (Category(call.in(i).dtype) < 2 || call.in(i).dtype == DType::float16 || call.in(i).dtype == DType::bfloat16) {
    return ShapeError(call.name(), ": Expected a floating point or complex tensor as input. Got ",
                      DTypeName(call.in(i).dtype));
  }
  return absl::OkStatus();
}

absl::Status IsSquare(const Call& call, int i = 0) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call, i));
  const Shape& shape = call.in(i).shape;
  if (shape[shape.size() - 1] == shape[shape.size() - 2]) return absl::OkStatus();
  return ShapeError(call.name(), ": A must be batches of square matrices, but they are ", shape[shape.size() - 2],
                    " by ", shape[shape.size() - 1], " matrices");
}

Shape Batch(const TensorType& type) { return Shape(type.shape.begin(), type.shape.end() - 2); }
int64_t Rows(const TensorType& type) { return type.shape[type.rank() - 2]; }
int64_t Columns(const TensorType& type) { return type.shape[type.rank() - 1]; }

TensorType Matrix(Shape batch, int64_t rows, int64_t columns, DType dtype) {
  batch.push_back(rows);
  batch.push_back(columns);
  return {std::move(batch), dtype};
}
TensorType Vector(Shape batch, int64_t n, DType dtype) {
  batch.push_back(n);
  return {std::move(batch), dtype};
}

absl::Status SameDTypes(const Call& call) {
  if (call.in(0).dtype == call.in(1).dtype) return absl::OkStatus();
  return ShapeError(call.name(), ": Expected A and B to have the same dtype, but found A of type ",
                    DTypeName(call.in(0).dtype), " and B of type ", DTypeName(call.in(1).dtype), " instead");
}

}  // namespace

ShapeResult SquareSame(const Call& call) {
  if (call.op == Op::matrix_power || call.op == Op::linalg_matrix_power) {
    // Powers are products, which exist for every numeric dtype.
    const TensorType& input = call.in(0);
    if (input.rank() < 2 || Rows(input) != Columns(input))
      return ShapeError("linalg.matrix_power: A must be batches of square matrices, but they are ",
                        SizesText(input.shape));
    if (call.attributes.Int("n") < 0) COBRA_RETURN_IF_ERROR(IsSquare(call));
    return TensorTypes{input};
  }
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  return TensorTypes{call.in(0)};
}

ShapeResult SquareInfo(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  return TensorTypes{call.in(0), {Batch(call.in(0)), DType::int32}};
}

ShapeResult Det(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  return One(Batch(call.in(0)), call.in(0).dtype);
}

ShapeResult Slogdet(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  return TensorTypes{{Batch(call.in(0)), call.in(0).dtype}, {Batch(call.in(0)), RealOf(call.in(0).dtype)}};
}

ShapeResult Svd(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const TensorType& input = call.in(0);
  const int64_t m = Rows(input), n = Columns(input), k = std::min(m, n);
  const TensorType values = Vector(Batch(input), k, RealOf(input.dtype));
  if (call.op == Op::linalg_svdvals) return TensorTypes{values};
  const bool torch_svd = call.op == Op::svd;
  const bool full = torch_svd ? !call.attributes.Bool("some", true) || !call.attributes.Bool("compute_uv", true)
                              : call.attributes.Bool("full_matrices", true);
  const TensorType u = Matrix(Batch(input), m, full ? m : k, input.dtype);
  const TensorType v = torch_svd ? Matrix(Batch(input), n, full ? n : k, input.dtype)
                                 : Matrix(Batch(input), full ? n : k, n, input.dtype);
  return TensorTypes{u, values, v};
}

ShapeResult Qr(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const TensorType& input = call.in(0);
  const int64_t m = Rows(input), n = Columns(input), k = std::min(m, n);
  const std::string mode = call.op == Op::qr ? (call.attributes.Bool("some", true) ? "reduced" : "complete")
                                             : call.attributes.String("mode", "reduced");
  if (mode != "reduced" && mode != "complete" && mode != "r")
    return ShapeError("qr received unrecognized mode '", mode,
                      "' but expected one of 'reduced' (default), 'r', or 'complete'");
  TensorType q = Matrix(Batch(input), m, mode == "complete" ? m : k, input.dtype);
  if (mode == "r") q.shape = {0};
  return TensorTypes{q, Matrix(Batch(input), mode == "complete" ? m : k, n, input.dtype)};
}

ShapeResult Eigh(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  const TensorType& input = call.in(0);
  TensorTypes out{Vector(Batch(input), Rows(input), RealOf(input.dtype))};
  if (call.op == Op::linalg_eigh) out.push_back(input);
  return out;
}

ShapeResult Eig(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  const TensorType& input = call.in(0);
  const DType dtype = ComplexOf(input.dtype);
  TensorTypes out{Vector(Batch(input), Rows(input), dtype)};
  if (call.op == Op::linalg_eig) out.push_back({input.shape, dtype});
  return out;
}

ShapeResult Pinv(const Call& call) {
  COBRA_RETURN_IF_ERROR(call.attributes.Bool("hermitian") ? IsSquare(call) : IsMatrix(call));
  return TensorTypes{Matrix(Batch(call.in(0)), Columns(call.in(0)), Rows(call.in(0)), call.in(0).dtype)};
}

ShapeResult MatrixRank(const Call& call) {
  COBRA_RETURN_IF_ERROR(call.attributes.Bool("hermitian") ? IsSquare(call) : IsMatrix(call));
  return One(Batch(call.in(0)), DType::int64);
}

ShapeResult Cond(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const AttributeValue* p = call.attributes.Find("p");
  const bool by_values = p == nullptr || call.attributes.Double("p") == 2 || call.attributes.Double("p") == -2;
  if (!by_values) COBRA_RETURN_IF_ERROR(IsSquare(call));
  return One(Batch(call.in(0)), RealOf(call.in(0).dtype));
}

ShapeResult LuFactor(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const TensorType& input = call.in(0);
  return TensorTypes{input, Vector(Batch(input), std::min(Rows(input), Columns(input)), DType::int32)};
}

ShapeResult LuFactorEx(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorTypes out, LuFactor(call));
  if (call.op != Op::lu || call.attributes.Bool("get_infos")) out.push_back({Batch(call.in(0)), DType::int32});
  return out;
}

ShapeResult LuUnpack(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const TensorType& lu = call.in(0);
  if (call.in(1).dtype != DType::int32)
    return ShapeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.");
  const int64_t m = Rows(lu), n = Columns(lu), k = std::min(m, n);
  const bool data = call.attributes.Bool("unpack_data", true), pivots = call.attributes.Bool("unpack_pivots", true);
  const TensorType none{{0}, lu.dtype};
  return TensorTypes{pivots ? Matrix(Batch(lu), m, m, lu.dtype) : none, data ? Matrix(Batch(lu), m, k, lu.dtype) : none,
                     data ? Matrix(Batch(lu), k, n, lu.dtype) : none};
}

ShapeResult LdlFactor(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  return TensorTypes{call.in(0), Vector(Batch(call.in(0)), Rows(call.in(0)), DType::int32)};
}

ShapeResult HouseholderProduct(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& tau = call.in(1);
  if (input.rank() < 2) return ShapeError("torch.linalg.householder_product: input must have at least 2 dimensions.");
  if (Rows(input) < Columns(input))
    return ShapeError(
        "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to input.shape[-1]");
  if (tau.rank() != input.rank() - 1)
    return ShapeError(
        "torch.linalg.householder_product: Expected tau to have one dimension less than input, but got tau.ndim equal "
        "to ",
        tau.rank(), " and input.ndim is equal to ", input.rank());
  if (tau.shape.back() > Columns(input))
    return ShapeError(
        "torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]");
  if (Batch(input) != Shape(tau.shape.begin(), tau.shape.end() - 1))
    return ShapeError(
        "torch.linalg.householder_product: Expected batch dimensions of tau to be equal to those of input, but got ",
        SizesText(tau.shape));
  if (Category(input.dtype) < 2) return NotImplementedFor(call, input.dtype);
  if (input.dtype != tau.dtype)
    return ShapeError("torch.linalg.householder_product: tau dtype ", DTypeName(tau.dtype),
                      " does not match input dtype ", DTypeName(input.dtype));
  return TensorTypes{input};
}

ShapeResult TensorSolve(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  std::vector<int64_t> order;  // `dims` go last
  const std::vector<int64_t> dims = call.attributes.Ints("dims");
  for (int i = 0; i < a.rank(); ++i) {
    if (std::find(dims.begin(), dims.end(), i) == dims.end() &&
        std::find(dims.begin(), dims.end(), i - a.rank()) == dims.end())
      order.push_back(i);
  }
  order.insert(order.end(), dims.begin(), dims.end());
  Shape out;
  int64_t unknowns = 1;
  for (size_t i = b.rank(); i < order.size(); ++i) {
    const int64_t at = order[i] < 0 ? order[i] + a.rank() : order[i];
    if (at < 0 || at >= a.rank()) return ShapeError("linalg.tensorsolve: dims are out of range");
    out.push_back(a.shape[at]);
    unknowns *= a.shape[at];
  }
  if (unknowns != b.num_elements())
    return ShapeError(
        "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but "
        "got ",
        unknowns, " != ", b.num_elements());
  return One(out, a.dtype);
}

ShapeResult Lu(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  const TensorType& input = call.in(0);
  const int64_t m = Rows(input), n = Columns(input), k = std::min(m, n);
  TensorType p = Matrix(Batch(input), m, m, input.dtype);
  if (!call.attributes.Bool("pivot", true)) p.shape = {0};
  return TensorTypes{p, Matrix(Batch(input), m, k, input.dtype), Matrix(Batch(input), k, n, input.dtype)};
}

ShapeResult TensorInv(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t ind = call.attributes.Int("ind", 2);
  if (ind <= 0) return ShapeError("Expected a strictly positive integer for 'ind'");
  if (Category(input.dtype) < 2) return NotImplementedFor(call, input.dtype);
  int64_t before = 1, after = 1;
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    (i < ind ? before : after) *= input.shape[i];
    if (i >= ind) out.push_back(input.shape[i]);
  }
  if (before != after)
    return ShapeError(
        "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got ", after,
        " != ", before);
  for (int i = 0; i < std::min<int>(ind, input.rank()); ++i) out.push_back(input.shape[i]);
  return One(out, input.dtype);
}

ShapeResult Solve(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  const bool left = call.attributes.Bool("left", true);
  // Whether B is a vector, or a batch of vectors with exactly A's batch dimensions.
  const bool vectors =
      b.rank() == 1 || (a.rank() - 1 == b.rank() && Shape(a.shape.begin(), a.shape.end() - 1) == b.shape);
  if (b.rank() == 0) return ShapeError("linalg.solve: B must have a dimension");
  if (vectors) {
    if (!left)
      return ShapeError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False");
    Shape batch_of_b(b.shape.begin(), b.shape.end() - 1);
    COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(a), batch_of_b));
    if (b.shape.back() != Rows(a))
      return ShapeError("linalg.solve: Incompatible shapes of A and B for the equation AX = B");
    return TensorTypes{Vector(batch, b.shape.back(), a.dtype)};
  }
  if (Rows(a) != (left ? Rows(b) : Columns(b))) {
    return ShapeError("linalg.solve: Incompatible shapes of A and B for the equation ", left ? "AX = B" : "XA = B",
                      " (", Rows(a), "x", Columns(a), " and ", Rows(b), "x", Columns(b), ")");
  }
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(a), Batch(b)));
  return TensorTypes{Matrix(batch, Rows(b), Columns(b), a.dtype)};
}

ShapeResult SolveTriangular(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsSquare(call));
  COBRA_RETURN_IF_ERROR(IsMatrix(call, 1));
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (Rows(a) != (call.attributes.Bool("left", true) ? Rows(b) : Columns(b)))
    return ShapeError("linalg.solve_triangular: Incompatible shapes of A and B");
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(a), Batch(b)));
  return TensorTypes{Matrix(batch, Rows(b), Columns(b), a.dtype)};
}

ShapeResult TriangularSolve(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  COBRA_RETURN_IF_ERROR(IsSquare(call, 1));
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  const TensorType& b = call.in(0);
  const TensorType& a = call.in(1);
  if (Rows(a) != Rows(b)) return ShapeError("triangular_solve: Incompatible matrix sizes");
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(a), Batch(b)));
  return TensorTypes{Matrix(batch, Rows(b), Columns(b), a.dtype), Matrix(batch, Rows(a), Columns(a), a.dtype)};
}

ShapeResult CholeskySolve(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  COBRA_RETURN_IF_ERROR(IsSquare(call, 1));
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  const TensorType& b = call.in(0);
  const TensorType& u = call.in(1);
  if (Rows(u) != Rows(b)) return ShapeError("cholesky_solve: Incompatible matrix sizes");
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(b), Batch(u)));
  return TensorTypes{Matrix(batch, Rows(b), Columns(b), b.dtype)};
}

ShapeResult Lstsq(const Call& call) {
  COBRA_RETURN_IF_ERROR(IsMatrix(call));
  COBRA_RETURN_IF_ERROR(SameDTypes(call));
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (b.rank() != a.rank() || Rows(a) != Rows(b))
    return ShapeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)");
  COBRA_ASSIGN_OR_RETURN(Shape batch, BroadcastShapes(Batch(a), Batch(b)));
  const bool determined = Rows(a) > Columns(a);
  const std::string driver = call.attributes.String("driver", "gelsy");
  TensorType residuals{{0}, a.dtype};
  if (determined && driver != "gelsy") residuals = Vector(batch, Columns(b), RealOf(a.dtype));
  TensorType values{{0}, RealOf(a.dtype)};
  if (driver == "gelsd" || driver == "gelss") values = Vector(Batch(a), std::min(Rows(a), Columns(a)), RealOf(a.dtype));
  return TensorTypes{Matrix(batch, Columns(a), Columns(b), a.dtype), residuals,
                     driver == "gels" ? TensorType{{0}, DType::int64} : TensorType{Batch(a), DType::int64}, values};
}

ShapeResult Cross(const Call& call) {
  const TensorType& a = call.in(0);
  const TensorType& b = call.in(1);
  if (a.rank() != b.rank()) return ShapeError("linalg.cross: inputs must have the same number of dimensions.");
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(a.shape, b.shape));
  if (call.op == Op::cross && call.attributes.Find("dim") == nullptr) {
    if (std::find(shape.begin(), shape.end(), 3) == shape.end()) return ShapeError("no dimension of size 3 in input");
    const auto three = std::find(a.shape.begin(), a.shape.end(), 3);
    if (three == a.shape.end() || b.shape[three - a.shape.begin()] != 3)
      return ShapeError("linalg.cross: inputs dimension must have length 3.");
    return One(shape, ResultDType(call.inputs));
  }
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), a.rank()));
  if (a.rank() == 0 || a.shape[dim] != 3 || b.shape[dim] != 3)
    return ShapeError("linalg.cross: inputs dimension ", dim, " must have length 3. Got ", SizesText(a.shape), " and ",
                      SizesText(b.shape));
  return One(shape, ResultDType(call.inputs));
}

ShapeResult Vander(const Call& call) {
  const TensorType& input = call.in(0);
  if (call.op == Op::vander && input.rank() != 1) return ShapeError("x must be a one-dimensional tensor.");
  if (input.rank() == 0) return ShapeError("linalg.vander: input must have a dimension");
  const int64_t n = call.attributes.Int("N", input.shape.back());
  if (n < 0 || (call.op == Op::linalg_vander && n <= 1)) return ShapeError("N must be non-negative.");
  DType dtype = input.dtype;
  if (dtype == DType::bool_ || IsIntegral(dtype)) dtype = DType::int64;
  Shape out = input.shape;
  out.push_back(n);
  return One(out, dtype);
}

}  // namespace cobra::graph::shape_rules
