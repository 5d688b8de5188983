// Reductions, scans, sorting, gathering, joining, casts, spectra.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape_rules.h"

namespace cobra::shape_rules {

absl::StatusOr<Shape> ReducedShape(const Call& call, const TensorType& input, bool keepdim) {
  const int rank = input.rank();
  std::vector<bool> reduced(rank, true);
  const std::vector<int64_t> dims = call.attributes.Ints("dim");
  if (!dims.empty()) {
    std::fill(reduced.begin(), reduced.end(), false);
    for (int64_t d : dims) {
      COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(d, rank));
      if (rank == 0) continue;
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

namespace {

absl::StatusOr<DType> DTypeAttribute(const Call& call, DType fallback) {
  const std::string name = call.attributes.String("dtype");
  if (name.empty()) return fallback;
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype) return ShapeError("unknown dtype ", name);
  return *dtype;
}

DType SumDType(DType dtype) { return IsIntegral(dtype) || dtype == DType::bool_ ? DType::int64 : dtype; }

ShapeResult CastTo(const Call& call, DType dtype) { return One(call.in(0).shape, dtype); }

bool Keep(const Call& call) { return call.attributes.Bool("keepdim"); }

}  // namespace

ShapeResult Reduce(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, call.in(0).dtype));
  const bool any_dtype = call.op == Op::amax || call.op == Op::amin;
  if (!any_dtype && !IsFloatingPoint(dtype) && !IsComplex(dtype)) {
    return ShapeError(
        call.name(),
        "(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: ",
        DTypeName(dtype));
  }
  return One(shape, dtype);
}

ShapeResult Sum(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, SumDType(call.in(0).dtype)));
  return One(shape, dtype);
}

ShapeResult ReducePair(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  return std::vector<TensorType>(2, TensorType{shape, call.in(0).dtype});
}

ShapeResult MaxMin(const Call& call) {
  const TensorType& input = call.in(0);
  if (call.has(1)) {
    COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(input.shape, call.in(1).shape));
    return One(shape, ResultDType(call.inputs));
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, input, Keep(call)));
  std::vector<TensorType> out{{shape, input.dtype}};
  if (call.attributes.Find("dim") != nullptr) out.push_back({shape, DType::int64});
  return out;
}

ShapeResult ArgReduce(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  return One(shape, DType::int64);
}

ShapeResult BoolReduce(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
  return One(shape, DType::bool_);
}

ShapeResult Norm(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, ReducedShape(call, call.in(0), Keep(call)));
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
  out.shape[dim] = std::max<int64_t>(0, out.shape[dim] - call.attributes.Int("n", 1));
  return std::vector<TensorType>{out};
}

ShapeResult Trace(const Call& call) {
  if (call.in(0).rank() != 2)
    return ShapeError("trace: expected a matrix, but got tensor with dim ", call.in(0).rank());
  return One({}, SumDType(call.in(0).dtype));
}

ShapeResult Topk(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), out.rank()));
  const int64_t k = call.attributes.Int("k", 1);
  if (k < 0 || k > (out.rank() == 0 ? 1 : out.shape[dim])) return ShapeError("selected index k out of range");
  if (out.rank() > 0) out.shape[dim] = k;
  return std::vector<TensorType>{out, {out.shape, DType::int64}};
}

ShapeResult Sort(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  return std::vector<TensorType>{call.in(0), {call.in(0).shape, DType::int64}};
}

ShapeResult Argsort(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  return One(call.in(0).shape, DType::int64);
}

ShapeResult Gather(const Call& call) {
  if (call.in(1).dtype != DType::int64) return ShapeError("gather(): Expected dtype int64 for index");
  if (call.in(0).rank() != call.in(1).rank() && call.attributes.Find("dim") != nullptr) {
    return ShapeError("Index tensor must have the same number of dimensions as input tensor");
  }
  return One(call.in(1).shape, call.in(0).dtype);
}

ShapeResult IndexSelect(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank()));
  if (call.in(1).rank() > 1) return ShapeError("index_select(): Index is supposed to be a vector");
  if (out.rank() > 0) out.shape[dim] = call.in(1).num_elements();
  return std::vector<TensorType>{out};
}

ShapeResult Bucketize(const Call& call) {
  return One(call.in(0).shape, call.attributes.Bool("out_int32") ? DType::int32 : DType::int64);
}

ShapeResult Embedding(const Call& call) {
  const TensorType& indices = call.in(0);
  const TensorType& weight = call.in(1);
  if (weight.rank() != 2) return ShapeError("'weight' must be 2-D");
  if (indices.dtype != DType::int64 && indices.dtype != DType::int32) {
    return ShapeError(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
        "torch.",
        DTypeName(indices.dtype), " instead (while checking arguments for embedding)");
  }
  Shape out = indices.shape;
  out.push_back(weight.shape[1]);
  return One(out, weight.dtype);
}

ShapeResult OneHot(const Call& call) {
  const int64_t classes = call.attributes.Int("num_classes", -1);
  if (classes <= 0) return absl::UnimplementedError("the shape of one_hot() without num_classes");
  Shape out = call.in(0).shape;
  out.push_back(classes);
  return One(out, DType::int64);
}

ShapeResult Cat(const Call& call) {
  if (call.inputs.empty()) return ShapeError("torch.cat(): expected a non-empty list of Tensors");
  // A 1-D tensor without elements is skipped, whatever the others look like: an old rule that code relies on.
  const auto skipped = [](const TensorType& t) { return t.rank() == 1 && t.shape[0] == 0; };
  const TensorType* first = nullptr;
  for (const TensorType* input : call.inputs) {
    if (input->rank() == 0) return ShapeError("zero-dimensional tensor (at position 0) cannot be concatenated");
    if (first == nullptr && !skipped(*input)) first = input;
  }
  if (first == nullptr) return One({0}, ResultDType(call.inputs));
  TensorType out{first->shape, ResultDType(call.inputs)};
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), out.rank()));
  out.shape[dim] = 0;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorType& input = *call.inputs[i];
    if (skipped(input)) continue;
    if (input.rank() != out.rank())
      return ShapeError("Tensors must have same number of dimensions: got ", out.rank(), " and ", input.rank());
    for (int d = 0; d < out.rank(); ++d) {
      if (d != dim && input.shape[d] != out.shape[d]) {
        return ShapeError("Sizes of tensors must match except in dimension ", dim, ". Expected size ", out.shape[d],
                          " but got size ", input.shape[d], " for tensor number ", i, " in the list.");
      }
    }
    out.shape[dim] += input.shape[dim];
  }
  return std::vector<TensorType>{out};
}

ShapeResult Stack(const Call& call) {
  if (call.inputs.empty()) return ShapeError("stack expects a non-empty TensorList");
  TensorType out{call.in(0).shape, ResultDType(call.inputs)};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i]->shape != out.shape) {
      return ShapeError("stack expects each tensor to be equal size, but got ", SizesText(out.shape),
                        " at entry 0 and ", SizesText(call.inputs[i]->shape), " at entry ", i);
    }
  }
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), out.rank() + 1));
  out.shape.insert(out.shape.begin() + dim, static_cast<int64_t>(call.inputs.size()));
  return std::vector<TensorType>{out};
}

namespace {

// hstack and vstack: cat along one dimension after atleast_1d or atleast_2d.
ShapeResult JoinAlong(const Call& call, int least_rank) {
  std::vector<TensorType> raised;
  for (const TensorType* input : call.inputs) {
    raised.push_back(*input);
    while (raised.back().rank() < least_rank) raised.back().shape.insert(raised.back().shape.begin(), 1);
  }
  std::vector<const TensorType*> pointers;
  for (const TensorType& type : raised) pointers.push_back(&type);
  Attributes attributes;
  attributes.Set("dim", int64_t{least_rank == 1 && !raised.empty() && raised[0].rank() > 1 ? 1 : 0});
  return Cat(Call{Op::cat, attributes, pointers});
}

}  // namespace

ShapeResult Hstack(const Call& call) { return JoinAlong(call, 1); }
ShapeResult Vstack(const Call& call) { return JoinAlong(call, 2); }

ShapeResult PadSequence(const Call& call) {
  if (call.inputs.empty() || call.in(0).rank() == 0)
    return ShapeError("pad_sequence: received an empty list of sequences");
  int64_t longest = 0;
  for (const TensorType* input : call.inputs) {
    if (input->rank() == 0) return ShapeError("pad_sequence: a sequence has no dimension");
    longest = std::max(longest, input->shape[0]);
  }
  const int64_t n = static_cast<int64_t>(call.inputs.size());
  Shape out = call.attributes.Bool("batch_first") ? Shape{n, longest} : Shape{longest, n};
  out.insert(out.end(), call.in(0).shape.begin() + 1, call.in(0).shape.end());
  return One(out, call.in(0).dtype);
}

ShapeResult Pad(const Call& call) {
  TensorType out = call.in(0);
  const std::vector<int64_t> pad = call.attributes.Ints("pad");
  if (pad.size() % 2 != 0) return ShapeError("Padding length must be divisible by 2");
  if (pad.size() / 2 > out.shape.size()) {
    return ShapeError(
        "Padding length should be less than or equal to two times the input dimension but got padding length ",
        pad.size(), " and input of dimension ", out.rank());
  }
  const std::string mode = call.attributes.String("mode", "constant");
  for (int64_t p : pad) {
    if (std::abs(p) > int64_t{1} << 40) return ShapeError("padding of ", p, " is out of range");
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = out.shape[out.rank() - 1 - i];
    if (mode == "reflect" && (pad[2 * i] >= size || pad[2 * i + 1] >= size)) {
      return ShapeError("Padding size should be less than the corresponding input dimension, but got: padding (",
                        pad[2 * i], ", ", pad[2 * i + 1], ") at dimension ", out.rank() - 1 - i, " of input ",
                        SizesText(call.in(0).shape));
    }
    size += pad[2 * i] + pad[2 * i + 1];
    if (size < 0)
      return ShapeError("The input size ", SizesText(call.in(0).shape),
                        " plus padding resulted in a negative output size");
  }
  return std::vector<TensorType>{out};
}

ShapeResult Rot90(const Call& call) {
  TensorType out = call.in(0);
  std::vector<int64_t> dims = call.attributes.Ints("dims");
  if (dims.empty()) dims = {0, 1};
  if (dims.size() != 2) return ShapeError("expected total rotation dims == 2, but got dims = ", dims.size());
  COBRA_ASSIGN_OR_RETURN(const int a, WrapDim(dims[0], out.rank()));
  COBRA_ASSIGN_OR_RETURN(const int b, WrapDim(dims[1], out.rank()));
  if (call.attributes.Int("k", 1) % 2 != 0 && out.rank() > 1) std::swap(out.shape[a], out.shape[b]);
  return std::vector<TensorType>{out};
}

namespace {

ShapeResult Repeated(const TensorType& input, std::vector<int64_t> repeats) {
  Shape out = input.shape;
  while (out.size() < repeats.size()) out.insert(out.begin(), 1);
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) return ShapeError("Trying to create tensor with negative dimension ", repeats[i]);
    if (__builtin_mul_overflow(out[i], repeats[i], &out[i])) return ShapeError("repeat: the result is too large");
  }
  return One(out, input.dtype);
}

}  // namespace

ShapeResult Repeat(const Call& call) {
  const std::vector<int64_t> repeats = call.attributes.Ints("repeats");
  if (static_cast<int>(repeats.size()) < call.in(0).rank()) {
    return ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  }
  return Repeated(call.in(0), repeats);
}

ShapeResult Tile(const Call& call) {
  std::vector<int64_t> dims = call.attributes.Ints("dims");
  while (static_cast<int>(dims.size()) < call.in(0).rank()) dims.insert(dims.begin(), 1);
  return Repeated(call.in(0), dims);
}

ShapeResult RepeatInterleave(const Call& call) {
  TensorType out = call.in(0);
  const int64_t repeats = call.attributes.Int("repeats", -1);
  if (repeats > int64_t{1} << 40) return ShapeError("repeat_interleave: the result is too large");
  if (repeats < 0) return absl::UnimplementedError("the shape of repeat_interleave() by a tensor");
  if (call.attributes.Find("dim") == nullptr) return One({out.num_elements() * repeats}, out.dtype);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank()));
  if (out.rank() > 0) out.shape[dim] *= repeats;
  return std::vector<TensorType>{out};
}

ShapeResult Triangle(const Call& call) {
  if (call.in(0).rank() < 2) return ShapeError(call.name(), ": input tensor must have at least 2 dimensions");
  return std::vector<TensorType>{call.in(0)};
}

ShapeResult Diag(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t diagonal = call.attributes.Int("diagonal", 0);
  if (input.rank() == 1) {
    const int64_t n = input.shape[0] + std::abs(diagonal);
    return One({n, n}, input.dtype);
  }
  if (input.rank() != 2) return ShapeError("matrix or a vector expected");
  const int64_t length = diagonal >= 0 ? std::min(input.shape[0], input.shape[1] - diagonal)
                                       : std::min(input.shape[0] + diagonal, input.shape[1]);
  return One({std::max<int64_t>(0, length)}, input.dtype);
}

ShapeResult Glu(const Call& call) {
  TensorType out = call.in(0);
  if (out.rank() == 0) return ShapeError("glu does not support 0-dimensional tensors");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), out.rank()));
  if (out.shape[dim] % 2 != 0)
    return ShapeError("Halving dimension must be even, but dimension ", dim, " is size ", out.shape[dim]);
  out.shape[dim] /= 2;
  return std::vector<TensorType>{out};
}

ShapeResult Cast(const Call& call) {
  if (call.has(1)) return CastTo(call, call.in(1).dtype);
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, call.in(0).dtype));
  return CastTo(call, dtype);
}

ShapeResult CastAs(const Call& call) { return CastTo(call, call.in(1).dtype); }
ShapeResult CastFloat32(const Call& call) { return CastTo(call, DType::float32); }
ShapeResult CastFloat16(const Call& call) { return CastTo(call, DType::float16); }
ShapeResult CastBFloat16(const Call& call) { return CastTo(call, DType::bfloat16); }
ShapeResult CastFloat64(const Call& call) { return CastTo(call, DType::float64); }
ShapeResult CastInt64(const Call& call) { return CastTo(call, DType::int64); }
ShapeResult CastInt32(const Call& call) { return CastTo(call, DType::int32); }
ShapeResult CastBool(const Call& call) { return CastTo(call, DType::bool_); }

namespace {

DType ComplexOf(DType dtype) {
  return dtype == DType::float64 || dtype == DType::complex128 ? DType::complex128 : DType::complex64;
}
DType RealOf(DType dtype) {
  return dtype == DType::complex128 || dtype == DType::float64 ? DType::float64 : DType::float32;
}

// The transformed dimensions with the sizes that `n` or `s` gives them; the last one is the one that real transforms
// halve.
absl::StatusOr<std::pair<Shape, int>> Transformed(const Call& call) {
  const TensorType& input = call.in(0);
  const bool one =
      call.op == Op::fft_fft || call.op == Op::fft_ifft || call.op == Op::fft_rfft || call.op == Op::fft_irfft;
  const bool all = call.op == Op::fft_fftn || call.op == Op::fft_ifftn;
  std::vector<int64_t> dims = call.attributes.Ints("dim");
  if (dims.empty()) {
    if (all) {
      for (int i = 0; i < input.rank(); ++i) dims.push_back(i);
    } else {
      dims = one ? std::vector<int64_t>{-1} : std::vector<int64_t>{-2, -1};
    }
  }
  const std::vector<int64_t> sizes = call.attributes.Ints(one ? "n" : "s");
  Shape shape = input.shape;
  int last = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(last, WrapDim(dims[i], input.rank()));
    if (input.rank() == 0) return ShapeError(call.name(), ": input has no dimension");
    if (i < sizes.size() && sizes[i] > 0) shape[last] = sizes[i];
  }
  return std::make_pair(shape, last);
}

}  // namespace

ShapeResult Fft(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(auto transformed, Transformed(call));
  return One(transformed.first, ComplexOf(call.in(0).dtype));
}

ShapeResult Rfft(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(auto transformed, Transformed(call));
  auto& [shape, last] = transformed;
  shape[last] = shape[last] / 2 + 1;
  return One(shape, ComplexOf(call.in(0).dtype));
}

ShapeResult Irfft(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(auto transformed, Transformed(call));
  auto& [shape, last] = transformed;
  const bool given = !call.attributes.Ints("n").empty() || !call.attributes.Ints("s").empty();
  if (!given) shape[last] = 2 * (shape[last] - 1);
  return One(shape, RealOf(call.in(0).dtype));
}

}  // namespace cobra::shape_rules
