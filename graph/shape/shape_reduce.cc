// Reductions, scans and sorting.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {

absl::StatusOr<Shape> ReducedShape(const Call& call, const TensorType& input, bool keepdim) {
  const int rank = input.rank();
  std::vector<bool> reduced(std::max(rank, 1), true);
  const absl::Span<const int64_t> dims = call.attributes.IntSpan("dim");
  if (!dims.empty()) {
    std::fill(reduced.begin(), reduced.end(), false);
    for (int64_t d : dims) {
      COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(d, rank));
      if (reduced[dim]) return ShapeError("dim ", dim, " appears multiple times in the list of dims");
      reduced[dim] = true;
    }
  }
  Shape out;
  for (int i = 0; i < rank; ++i) {
    if (!reduced[i]) out.push_back(input.shape[i]);
    if (reduced[i] && keepdim) out.push_back(1);
  }
  return out;
}

absl::StatusOr<DType> DTypeAttribute(const Call& call, DType fallback) {
  const std::string name = call.attributes.String("dtype");
  if (name.empty()) return fallback;
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) return ShapeError("unknown dtype ", name);
  return *dtype;
}

namespace {

DType SumDType(DType dtype) { return IsIntegral(dtype) || dtype == DType::bool_ ? DType::int64 : dtype; }

bool Keep(const Call& call) { return call.attributes.Bool("keepdim"); }

}  // namespace

namespace {

// An empty tensor has no maximum.
absl::Status NotEmpty(const Call& call, const TensorType& input) {
  if (input.num_elements() > 0) return absl::OkStatus();
  if (call.attributes.Find("dim") == nullptr || (call.attributes.Ints("dim").empty()))
    return ShapeError(call.name(),
                      "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                      "with the 'dim' argument.");
  for (int64_t d : call.attributes.Ints("dim")) {
    COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(d, input.rank()));
    if (input.rank() > 0 && input.shape[dim] == 0)
      return absl::OutOfRangeError(
          absl::StrCat(call.name(), "(): Expected reduction dim ", dim, " to have non-zero size."));
  }
  return absl::OkStatus();
}

}  // namespace

ShapeResult Reduce(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, call.in(0).dtype));
  const bool any_dtype = call.op == Op::amax || call.op == Op::amin;
  if (any_dtype) COBRA_RETURN_IF_ERROR(NotEmpty(call, call.in(0)));
  if (!any_dtype && !IsFloatingPoint(dtype) && !IsComplex(dtype)) {
    return ShapeError(
        call.name(),
        "(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: ",
        DTypeName(dtype));
  }
  const bool spread = call.op == Op::std || call.op == Op::var;  // of complex numbers it is real
  return One(shape, spread ? RealOf(dtype) : dtype);
}

ShapeResult Sum(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, SumDType(call.in(0).dtype)));
  return One(shape, dtype);
}

ShapeResult ReducePair(const Call& call) {
  if (call.op == Op::aminmax) {
    COBRA_RETURN_IF_ERROR(NotEmpty(call, call.in(0)));
    // A quirk of PyTorch: with keepdim and dim, the result of a scalar has one dimension.
    if (call.in(0).rank() == 0 && Keep(call) && call.attributes.Find("dim") != nullptr)
      return TensorTypes(2, TensorType{{1}, call.in(0).dtype});
  } else if (Category(call.in(0).dtype) < 2) {
    return ShapeError(call.name(), " only support floating point and complex dtypes");
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  TensorTypes out(2, TensorType{shape, call.in(0).dtype});
  if (call.op == Op::std_mean || call.op == Op::var_mean) out[0].dtype = RealOf(out[0].dtype);
  return out;
}

ShapeResult MaxMin(const Call& call) {
  const TensorType& input = call.in(0);
  if (call.has(1)) {
    COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(input.shape, call.in(1).shape));
    return One(shape, ResultDType(call.inputs));
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, input, Keep(call)));
  const bool quantile = call.op == Op::median || call.op == Op::nanmedian || call.op == Op::kthvalue;
  if (IsComplex(input.dtype) || (quantile && input.dtype == DType::bool_)) return NotImplementedFor(call, input.dtype);
  const bool whole_median =
      (call.op == Op::median || call.op == Op::nanmedian) && call.attributes.Find("dim") == nullptr;
  if (!whole_median) COBRA_RETURN_IF_ERROR(NotEmpty(call, input));
  if (call.op == Op::kthvalue) {
    COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), input.rank()));
    const int64_t k = call.attributes.Int("k", 1), size = input.rank() == 0 ? 1 : input.shape[dim];
    if (k < 1 || k > size) return ShapeError("kthvalue(): selected number k out of range for dimension ", dim);
  }
  TensorTypes out{{shape, input.dtype}};
  if (call.attributes.Find("dim") != nullptr) out.push_back({shape, DType::int64});
  return out;
}

ShapeResult ArgReduce(const Call& call) {
  if (call.op != Op::count_nonzero) {
    COBRA_RETURN_IF_ERROR(NotEmpty(call, call.in(0)));
    if (call.in(0).dtype == DType::bool_ || IsComplex(call.in(0).dtype))
      return NotImplementedFor(call, call.in(0).dtype);
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  return One(shape, DType::int64);
}

ShapeResult BoolReduce(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  return One(shape, call.in(0).dtype == DType::uint8 ? DType::uint8 : DType::bool_);
}

namespace {

// An order that is a text is the name of a norm of matrices.
absl::Status CheckOrder(const Call& call, int rank) {
  const char* const name = call.op == Op::norm ? "p" : "ord";
  const std::string order = call.attributes.String(name);
  if (order.empty()) return absl::OkStatus();
  if (order != "fro" && order != "nuc") return ShapeError("linalg.matrix_norm: Order ", order, " not supported.");
  const size_t dims = call.attributes.Ints("dim").size();
  if (order == "nuc" && dims != 2 && (dims != 0 || rank != 2) && call.op == Op::norm)
    return ShapeError("linalg.matrix_norm: dim must be a 2-tuple of ints");
  return absl::OkStatus();
}

}  // namespace

ShapeResult Norm(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOrder(call, call.in(0).rank()));
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  if (call.op == Op::norm && call.attributes.String("p") == "fro" && call.attributes.Ints("dim").size() > 2)
    return ShapeError("Expected at most 2 dimensions, but got ", call.attributes.Ints("dim").size(),
                      " dimensions instead.");
  if (call.op == Op::linalg_norm && call.attributes.Find("ord") != nullptr) {
    const int rank = call.in(0).rank();
    const bool text = !call.attributes.String("ord").empty();
    if (call.attributes.Find("dim") == nullptr && rank != 1 && rank != 2)
      return ShapeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got ", rank,
                        "D.");
    const size_t reduced = call.attributes.Find("dim") == nullptr ? rank : call.attributes.Ints("dim").size();
    if (text && reduced != 2)
      return ShapeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.");
  }
  if (call.op == Op::linalg_norm && call.attributes.Ints("dim").size() > 2)
    return ShapeError("linalg.norm: If dim is specified, it must be of length 1 or 2. Got ",
                      AttributeText(call.attributes.Ints("dim")));
  DType dtype = call.in(0).dtype;
  if (dtype == DType::complex64) dtype = DType::float32;
  if (dtype == DType::complex128) dtype = DType::float64;
  COBRA_ASSIGN_OR_RETURN(dtype, DTypeAttribute(call, dtype));
  if (!IsFloatingPoint(dtype))
    return ShapeError("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
                      DTypeName(dtype));
  return One(shape, dtype);
}

ShapeResult Scan(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim"), call.in(0).rank()).status());
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, SumDType(call.in(0).dtype)));
  return One(call.in(0).shape, dtype);
}

ShapeResult Diff(const Call& call) {
  TensorType out = call.in(0);
  if (out.rank() == 0) return ShapeError("diff expects input to be at least one-dimensional");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), out.rank()));
  const int64_t n = call.attributes.Int("n", 1);
  if (n < 0) return ShapeError("order must be non-negative but got ", n);
  if (n == 0) return TensorTypes{out};
  for (int i = 1; i < 3; ++i) {
    if (!call.has(i)) continue;
    if (call.in(i).rank() != out.rank())
      return ShapeError("diff expects prepend or append to be the same dimension as input");
    for (int d = 0; d < out.rank(); ++d) {
      if (d != dim && call.in(i).shape[d] != out.shape[d])
        return ShapeError(
            "diff expects the shape of tensor to prepend or append to match that of input except along the "
            "differencing dimension");
    }
    out.shape[dim] += call.in(i).shape[dim];
  }
  out.dtype = ResultDType(call.inputs);
  out.shape[dim] = std::max<int64_t>(0, out.shape[dim] - n);
  return TensorTypes{out};
}

ShapeResult Gradient(const Call& call) {
  const TensorType& input = call.in(0);
  std::vector<int64_t> dims = call.attributes.Ints("dim");
  const bool all = dims.empty();
  for (int i = 0; all && i < input.rank(); ++i) dims.push_back(i);
  const int64_t order = call.attributes.Int("edge_order", 1);
  if (order != 1 && order != 2) return ShapeError("torch.gradient only supports edge_order=1 and edge_order=2.");
  const AttributeValue* spacing = call.attributes.Find("spacing");
  const auto* list = spacing == nullptr ? nullptr : std::get_if<std::vector<double>>(spacing);
  if (list != nullptr && list->size() != dims.size())
    return ShapeError(
        "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = ",
        input.rank(), "', since dim argument was not given, but got a list of length ", list->size());
  std::vector<bool> is_named(static_cast<size_t>(std::max(input.rank(), 1)));
  for (int64_t& dim : dims) {
    COBRA_ASSIGN_OR_RETURN(dim, WrapDim(dim, input.rank()));
    if (is_named[static_cast<size_t>(dim)])
      return ShapeError("dim ", dim, " appears multiple times in the list of dims");
    is_named[static_cast<size_t>(dim)] = true;
    if (input.rank() == 0 || input.shape[dim] < order + 1)
      return ShapeError("torch.gradient expected each dimension size to be at least edge_order+1");
  }
  if (Category(input.dtype) < 1) return NotImplementedFor(call, input.dtype);
  return TensorTypes(dims.size(), {input.shape, ToFloat(input.dtype)});
}

ShapeResult SumToSize(const Call& call) {
  const TensorType& input = call.in(0);
  const std::vector<int64_t> given = call.attributes.Ints("size");
  const Shape size(given.begin(), given.end());
  bool fits = static_cast<int>(size.size()) <= input.rank();
  for (size_t i = 0; fits && i < size.size(); ++i) {
    const int64_t have = input.shape[input.rank() - size.size() + i];
    fits = size[i] == have || size[i] == 1;
  }
  if (!fits)
    return ShapeError("size {", SizesText(size), "} is not expandable to size {", SizesText(input.shape), "}.");
  return One(size, input.dtype);
}

ShapeResult Trace(const Call& call) {
  if (call.in(0).rank() != 2)
    return ShapeError("trace: expected a matrix, but got tensor with dim ", call.in(0).rank());
  if (call.in(0).dtype == DType::bool_) return NotImplementedFor(call, DType::bool_);
  return One({}, SumDType(call.in(0).dtype));
}

ShapeResult Topk(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), out.rank()));
  const int64_t k = call.attributes.Int("k", 1);
  if (out.dtype == DType::bool_ || IsComplex(out.dtype)) return NotImplementedFor(call, out.dtype);
  if (k < 0 || k > (out.rank() == 0 ? 1 : out.shape[dim])) return ShapeError("selected index k out of range");
  if (out.rank() > 0) out.shape[dim] = k;
  return TensorTypes{out, {out.shape, DType::int64}};
}

ShapeResult Sort(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  return TensorTypes{call.in(0), {call.in(0).shape, DType::int64}};
}

ShapeResult Argsort(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  return One(call.in(0).shape, DType::int64);
}

ShapeResult Logsumexp(const Call& call) {
  if (call.attributes.Find("dim") == nullptr)
    return ShapeError("logsumexp() missing 1 required positional argument: dim");
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  if (IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  return One(shape, ToFloat(call.in(0).dtype));
}

// Returns one value for each q: a vector of q adds a first dimension.
ShapeResult Quantile(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.dtype != DType::float32 && input.dtype != DType::float64)
    return ShapeError("quantile() input tensor must be either float or double dtype");
  const std::string mode = call.attributes.String("interpolation", "linear");
  if (mode != "linear" && mode != "lower" && mode != "higher" && mode != "midpoint" && mode != "nearest")
    return ShapeError("quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got ",
                      mode);
  if (input.num_elements() == 0) return ShapeError("quantile() input tensor must be non-empty");
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, input, Keep(call)));
  if (call.has(1)) {
    if (call.in(1).rank() > 1) return ShapeError("quantile() q must be a scalar or 1D tensor");
    if (call.in(1).dtype != input.dtype)
      return ShapeError("quantile() q tensor must be same dtype as the input tensor");
    if (call.in(1).rank() == 1) shape.insert(shape.begin(), call.in(1).shape[0]);
  } else if (const double q = call.attributes.Double("q", -1); !(q >= 0 && q <= 1)) {
    return ShapeError("quantile() q must be in the range [0, 1] but got ", q);
  }
  return One(shape, input.dtype);
}

ShapeResult Renorm(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim"), input.rank()).status());
  if (Category(input.dtype) < 2) return NotImplementedFor(call, input.dtype);
  if (input.rank() < 2)
    return ShapeError("renorm: input needs at least 2 dimensions, got ", input.rank(), " dimensions");
  if (!(call.attributes.Double("p") > 0)) return ShapeError("renorm: non-positive-norm not supported");
  if (call.attributes.Double("maxnorm") < 0) return ShapeError("renorm: expected maxnorm to be >= 0");
  return TensorTypes{input};
}

ShapeResult ScanFloat(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim"), call.in(0).rank()).status());
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}

ShapeResult ScanPair(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim"), call.in(0).rank()).status());
  if (IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0), {call.in(0).shape, DType::int64}};
}

ShapeResult Trapezoid(const Call& call) {
  const TensorType& y = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), y.rank()));
  if (y.rank() == 0) return ShapeError("trapezoid: y has no dimension");
  Shape shape = y.shape;
  DType dtype = y.dtype;
  if (y.dtype == DType::bool_) return ShapeError("trapezoid: received a bool input for `y`, but bool is not supported");
  if (call.has(1)) {
    const TensorType& x = call.in(1);
    if (x.dtype == DType::bool_)
      return ShapeError("trapezoid: received a bool input for `x`, but bool is not supported");
    dtype = ResultDType(call.inputs);
    Shape steps = x.shape;
    if (x.rank() == 1) {
      if (x.shape[0] != y.shape[dim]) return ShapeError("trapezoid: There must be one `x` value for each sample point");
      steps = Shape(y.rank() - dim, 1);
      steps[0] = x.shape[0];
    }
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(steps, y.shape));
  }
  if (call.op == Op::cumulative_trapezoid) {
    shape[dim] = std::max<int64_t>(0, shape[dim] - 1);
    return One(shape, ToFloat(dtype));
  }
  shape.erase(shape.begin() + dim);
  return One(shape, ToFloat(dtype));
}

ShapeResult Histc(const Call& call) {
  const int64_t bins = call.attributes.Int("bins", 100);
  if (bins <= 0) return ShapeError("torch.histc(): bins must be > 0, but got ", bins);
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, call.in(0).dtype);
  return One({bins}, call.in(0).dtype);
}

ShapeResult MSort(const Call& call) { return TensorTypes{call.in(0)}; }

}  // namespace cobra::graph::shape_rules
