// Views: the shape changes, the data does not move.
#include <algorithm>

#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/getitem.h"
#include "graph/shape/indexed_shape.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

// Returns the sizes; a single -1 is replaced by the size that makes the number of elements fit.
absl::StatusOr<Shape> ResolveSizes(const std::vector<int64_t>& sizes, int64_t elements) {
  Shape out(sizes.begin(), sizes.end());
  int hole = -1;
  int64_t known = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == -1) {
      if (hole >= 0) return ShapeError("only one dimension can be inferred");
      hole = static_cast<int>(i);
    } else if (sizes[i] < 0) {
      return ShapeError("invalid shape dimension ", sizes[i]);
    } else if (__builtin_mul_overflow(known, sizes[i], &known)) {
      return ShapeError("shape '", SizesText(out), "' is too large");
    }
  }
  if (hole >= 0 && known > 0 && elements % known == 0) {
    out[hole] = elements / known;
    return out;
  }
  if (hole >= 0 && known == 0)
    return ShapeError("cannot reshape tensor of ", elements, " elements into shape ", SizesText(out),
                      " because the unspecified dimension size -1 can be any value and is ambiguous");
  if (hole >= 0 || known != elements)
    return ShapeError("shape '", SizesText(out), "' is invalid for input of size ", elements);
  return out;
}

ShapeResult Swap(const Call& call, int64_t dim0, int64_t dim1) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int a, WrapDim(dim0, out.rank()));
  COBRA_ASSIGN_OR_RETURN(const int b, WrapDim(dim1, out.rank()));
  if (out.rank() > 0) std::swap(out.shape[a], out.shape[b]);
  return TensorTypes{out};
}

}  // namespace

ShapeResult View(const Call& call) {
  const TensorType& input = call.in(0);
  if (const std::string name = call.attributes.String("dtype"); !name.empty()) {
    const std::optional<DType> dtype = DTypeFromName(name);
    if (!dtype) return ShapeError("unknown dtype ", name);
    TensorType out{input.shape, *dtype};
    const int64_t from = DTypeBytes(input.dtype), to = DTypeBytes(*dtype);
    if (from == to) return TensorTypes{out};
    if (out.shape.empty())
      return ShapeError("self.dim() cannot be 0 to view ", DTypeName(input.dtype), " as ", DTypeName(*dtype),
                        " (different element sizes)");
    if (out.shape.back() * from % to != 0) {
      return ShapeError("self.size(-1) must be divisible by ", to / from, " to view ", DTypeName(input.dtype), " as ",
                        DTypeName(*dtype), " (different element sizes), but got ", out.shape.back());
    }
    out.shape.back() = out.shape.back() * from / to;
    return TensorTypes{out};
  }
  COBRA_ASSIGN_OR_RETURN(
      Shape out, ResolveSizes(call.attributes.Ints(call.op == Op::view ? "size" : "shape"), input.num_elements()));
  return One(out, input.dtype);
}

ShapeResult ViewAs(const Call& call) {
  if (call.in(0).num_elements() != call.in(1).num_elements()) {
    return ShapeError("shape '", SizesText(call.in(1).shape), "' is invalid for input of size ",
                      call.in(0).num_elements());
  }
  return One(call.in(1).shape, call.in(0).dtype);
}

ShapeResult Flatten(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int start, WrapDim(call.attributes.Int("start_dim", 0), input.rank()));
  COBRA_ASSIGN_OR_RETURN(const int end, WrapDim(call.attributes.Int("end_dim", -1), input.rank()));
  if (start > end) return ShapeError("flatten() has invalid args: start_dim cannot come after end_dim");
  if (input.rank() == 0) return One({1}, input.dtype);
  Shape out(input.shape.begin(), input.shape.begin() + start);
  int64_t n = 1;
  for (int i = start; i <= end; ++i) n *= input.shape[i];
  out.push_back(n);
  out.insert(out.end(), input.shape.begin() + end + 1, input.shape.end());
  return One(out, input.dtype);
}

ShapeResult Unflatten(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), input.rank()));
  if (input.rank() == 0) return ShapeError("unflatten: input has no dimension");
  COBRA_ASSIGN_OR_RETURN(Shape sizes, ResolveSizes(call.attributes.Ints("sizes"), input.shape[dim]));
  Shape out(input.shape.begin(), input.shape.begin() + dim);
  out.insert(out.end(), sizes.begin(), sizes.end());
  out.insert(out.end(), input.shape.begin() + dim + 1, input.shape.end());
  return One(out, input.dtype);
}

ShapeResult Ravel(const Call& call) { return One({call.in(0).num_elements()}, call.in(0).dtype); }

ShapeResult Permute(const Call& call) {
  const TensorType& input = call.in(0);
  const absl::Span<const int64_t> dims = call.attributes.IntSpan("dims");
  if (static_cast<int>(dims.size()) != input.rank()) {
    return ShapeError(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
        "ordering of dimensions i.e. input.dim() = ",
        input.rank(), " is not equal to len(dims) = ", dims.size());
  }
  TensorType out = input;
  std::vector<bool> seen(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(dims[i], input.rank()));
    if (seen[dim]) return ShapeError("repeated dim in permute");
    seen[dim] = true;
    out.shape[i] = input.shape[dim];
  }
  return TensorTypes{out};
}

ShapeResult Transpose(const Call& call) { return Swap(call, call.attributes.Int("dim0"), call.attributes.Int("dim1")); }

ShapeResult T(const Call& call) {
  const TensorType& input = call.in(0);
  if (call.op == Op::t && input.rank() > 2)
    return ShapeError("t() expects a tensor with <= 2 dimensions, but self is ", input.rank(), "D");
  if (call.op == Op::H && input.rank() != 0 && input.rank() != 2)
    return ShapeError("tensor.H is only supported on matrices (2-D tensors). Got ", input.rank(), "-D tensor.");
  TensorType out = input;
  std::reverse(out.shape.begin(), out.shape.end());
  return TensorTypes{out};
}

ShapeResult MT(const Call& call) {
  if (call.in(0).rank() == 0) return TensorTypes{call.in(0)};
  if (call.in(0).rank() < 2)
    return ShapeError("tensor.", call.name(), " is only supported on matrices or batches of matrices. Got ",
                      call.in(0).rank(), "-D tensor.");
  return Swap(call, -2, -1);
}

ShapeResult Movedim(const Call& call) {
  const TensorType& input = call.in(0);
  const std::vector<int64_t> source = call.attributes.Ints("source");
  const std::vector<int64_t> destination = call.attributes.Ints("destination");
  if (source.size() != destination.size())
    return ShapeError(
        "movedim: Invalid source or destination dims: source and destination must have the same number of elements");
  std::vector<int> from(input.rank(), -1);
  std::vector<bool> used(input.rank());
  for (size_t i = 0; i < source.size(); ++i) {
    COBRA_ASSIGN_OR_RETURN(const int s, WrapDim(source[i], input.rank()));
    COBRA_ASSIGN_OR_RETURN(const int d, WrapDim(destination[i], input.rank()));
    if (input.rank() == 0) continue;
    if (used[s] || from[d] != -1) return ShapeError("movedim: repeated dim in `source` or `destination`");
    from[d] = s;
    used[s] = true;
  }
  int next = 0;
  TensorType out = input;
  for (int d = 0; d < input.rank(); ++d) {
    if (from[d] < 0) {
      while (used[next]) ++next;
      from[d] = next++;
    }
    out.shape[d] = input.shape[from[d]];
  }
  return TensorTypes{out};
}

ShapeResult GetItem(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(IndexList index, ParseIndex(call.attributes.String("index")));
  COBRA_ASSIGN_OR_RETURN(Shape shape, IndexedShape(call.in(0).shape, index, call.inputs.subspan(1)));
  return One(shape, call.in(0).dtype);
}

// x[index] = value: the value is broadcast to what the index selects.
ShapeResult SetItem(const Call& call) {
  const TensorType& self = call.in(0);
  const bool number = call.attributes.Find("value") != nullptr;
  if (!number && call.inputs.size() < 2) return ShapeError("setitem: no value");
  const absl::Span<const TensorType* const> tensors = call.inputs.subspan(1, call.inputs.size() - (number ? 1 : 2));
  COBRA_ASSIGN_OR_RETURN(IndexList index, ParseIndex(call.attributes.String("index")));
  const absl::StatusOr<Shape> shape = IndexedShape(self.shape, index, tensors);
  if (absl::IsUnimplemented(shape.status())) return TensorTypes{self};  // by a mask of unknown values
  if (!shape.ok()) return shape.status();
  if (number) return TensorTypes{self};
  const TensorType& value = *call.inputs.back();
  const bool gathers = std::any_of(index.begin(), index.end(), [&](const IndexItem& item) {
    return item.kind == IndexItem::Kind::kList || (item.kind == IndexItem::Kind::kBool && index.size() > 1) ||
           (item.kind == IndexItem::Kind::kTensor && tensors[item.value]->rank() > 0);
  });
  if (gathers && value.dtype != self.dtype)
    return ShapeError("Index put requires the source and destination dtypes match, got ", DTypeName(self.dtype),
                      " for the destination and ", DTypeName(value.dtype), " for the source.");
  Shape from = value.shape;
  while (from.size() > shape->size() && from.front() == 1) from.erase(from.begin());
  const absl::StatusOr<Shape> joined = BroadcastShapes(from, *shape);
  if (joined.ok() && *joined == *shape) return TensorTypes{self};
  return ShapeError("shape mismatch: value tensor of shape ", SizesText(value.shape),
                    " cannot be broadcast to indexing result of shape ", SizesText(*shape));
}

ShapeResult Select(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() == 0) return ShapeError("select() cannot be applied to a 0-dim tensor.");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), input.rank()));
  const int64_t index = call.attributes.Int("index");
  if (index < -input.shape[dim] || index >= input.shape[dim]) {
    return absl::OutOfRangeError(absl::StrCat("select(): index ", index, " out of range for tensor of size ",
                                              SizesText(input.shape), " at dimension ", dim));
  }
  TensorType out = input;
  out.shape.erase(out.shape.begin() + dim);
  return TensorTypes{out};
}

ShapeResult Narrow(const Call& call) {
  TensorType out = call.in(0);
  if (out.rank() == 0) return ShapeError("narrow() cannot be applied to a 0-dim tensor.");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank()));
  const int64_t size = out.shape[dim];
  int64_t start = call.attributes.Int("start");
  if (start < 0) start += size;
  const int64_t length = call.attributes.Int("length");
  if (start < 0 || length < 0 || start > size || length > size - start) {
    return ShapeError("start (", start, ") + length (", length, ") exceeds dimension size (", size, ").");
  }
  out.shape[dim] = length;
  return TensorTypes{out};
}

ShapeResult Diagonal(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim1, WrapDim(call.attributes.Int("dim1", 0), input.rank()));
  COBRA_ASSIGN_OR_RETURN(const int dim2, WrapDim(call.attributes.Int("dim2", 1), input.rank()));
  if (dim1 == dim2) return ShapeError("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t offset = call.attributes.Int("offset", 0);
  const int64_t length = offset >= 0 ? std::min(input.shape[dim1], input.shape[dim2] - offset)
                                     : std::min(input.shape[dim1] + offset, input.shape[dim2]);
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    if (i != dim1 && i != dim2) out.push_back(input.shape[i]);
  }
  out.push_back(std::max<int64_t>(0, length));
  return One(out, input.dtype);
}

ShapeResult TensorUnfold(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dimension"), out.rank()));
  const int64_t size = call.attributes.Int("size");
  const int64_t step = call.attributes.Int("step");
  if (out.rank() == 0 && size >= 0 && size <= 1 && step > 0) return One({size}, out.dtype);
  if (out.rank() == 0 || size < 0 || size > out.shape[dim]) {
    return ShapeError("maximum size for tensor at dimension ", dim, " is ", out.rank() == 0 ? 1 : out.shape[dim],
                      " but size is ", size);
  }
  if (step <= 0) return ShapeError("step is ", step, " but must be > 0");
  out.shape[dim] = (out.shape[dim] - size) / step + 1;
  out.shape.push_back(size);
  return TensorTypes{out};
}

ShapeResult AsBase(const Call& call) { return TensorTypes{call.in(1)}; }

ShapeResult AsStrided(const Call& call) {
  const std::vector<int64_t> size = call.attributes.Ints("size");
  for (int64_t s : size) {
    if (s < 0) return ShapeError("as_strided: Negative size");
  }
  for (int64_t s : call.attributes.Ints("stride")) {
    if (s < 0) return ShapeError("as_strided: Negative strides are not supported at the moment");
  }
  if (call.attributes.Ints("stride").size() != size.size())
    return ShapeError("mismatch in length of strides and shape");
  return One(Shape(size.begin(), size.end()), call.in(0).dtype);
}

namespace {

absl::Status CheckPieces(const Call& call, int64_t count) {
  constexpr int64_t kMostPieces = 100'000;
  if (count <= kMostPieces) return absl::OkStatus();
  return absl::ResourceExhaustedError(LimitMessage(call.name(), count, kMostPieces, "tensors"));
}

ShapeResult Pieces(const Call& call, const std::vector<int64_t>& sizes, int dim) {
  COBRA_RETURN_IF_ERROR(CheckPieces(call, static_cast<int64_t>(sizes.size())));
  TensorTypes out(sizes.size(), call.in(0));
  for (size_t i = 0; i < sizes.size(); ++i) out[i].shape[dim] = sizes[i];
  return out;
}

std::vector<int64_t> EqualPieces(int64_t size, int64_t piece) {
  std::vector<int64_t> sizes;
  for (int64_t start = 0; start < size && sizes.size() <= 100000; start += piece)
    sizes.push_back(std::min(piece, size - start));
  if (sizes.empty()) sizes.push_back(0);
  return sizes;
}

}  // namespace

ShapeResult Split(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() == 0) return ShapeError("split expects at least a 1-dimensional tensor");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), input.rank()));
  const AttributeValue* size = call.attributes.Find("split_size");
  if (size != nullptr && std::holds_alternative<std::vector<int64_t>>(*size)) {
    const std::vector<int64_t> sizes = call.attributes.Ints("split_size");
    int64_t sum = 0;
    for (int64_t s : sizes) {
      if (s < 0)
        return ShapeError("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=",
                          AttributeText(*size));
      sum += s;
    }
    if (sum != input.shape[dim]) {
      return ShapeError("split_with_sizes expects split_sizes to sum exactly to ", input.shape[dim],
                        " (input tensor's size at dimension ", dim, "), but got split_sizes=", AttributeText(*size));
    }
    return Pieces(call, sizes, dim);
  }
  const int64_t piece = call.attributes.Int("split_size");
  if (piece < 0 || (piece == 0 && input.shape[dim] != 0))
    return ShapeError("split expects split_size be non-negative, but got split_size=", piece);
  return Pieces(call, EqualPieces(input.shape[dim], piece), dim);
}

ShapeResult Chunk(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t chunks = call.attributes.Int("chunks", 1);
  if (input.rank() == 0) return ShapeError("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) return ShapeError("chunk expects `chunks` to be greater than 0, got: ", chunks);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), input.rank()));
  const int64_t size = input.shape[dim];
  if (size == 0) {
    COBRA_RETURN_IF_ERROR(CheckPieces(call, chunks));
    return Pieces(call, std::vector<int64_t>(chunks, 0), dim);
  }
  return Pieces(call, EqualPieces(size, size / chunks + (size % chunks != 0 ? 1 : 0)), dim);
}

ShapeResult TensorSplit(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() == 0) return ShapeError("tensor_split expected at least a 1-dimensional tensor");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), input.rank()));
  const int64_t size = input.shape[dim];
  std::vector<int64_t> sizes;
  if (const AttributeValue* indices = call.attributes.Find("indices"); indices != nullptr) {
    int64_t last = 0;
    for (int64_t i : call.attributes.Ints("indices")) {
      const int64_t stop = std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
      sizes.push_back(std::max<int64_t>(0, stop - last));
      last = stop;
    }
    sizes.push_back(size - last);
  } else {
    const int64_t sections = call.attributes.Int("sections", 1);
    if (sections <= 0) return ShapeError("number of sections must be larger than 0, got ", sections);
    COBRA_RETURN_IF_ERROR(CheckPieces(call, sections));
    for (int64_t i = 0; i < sections; ++i) sizes.push_back(size / sections + (i < size % sections ? 1 : 0));
  }
  return Pieces(call, sizes, dim);
}

ShapeResult Unbind(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() == 0) return ShapeError("Dimension specified as 0 but tensor has no dimensions");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 0), input.rank()));
  COBRA_RETURN_IF_ERROR(CheckPieces(call, input.shape[dim]));
  TensorType piece = input;
  piece.shape.erase(piece.shape.begin() + dim);
  return TensorTypes(input.shape[dim], piece);
}

ShapeResult Squeeze(const Call& call) {
  const TensorType& input = call.in(0);
  std::vector<bool> squeezed(input.rank(), true);
  if (call.attributes.Find("dim") != nullptr) {
    std::fill(squeezed.begin(), squeezed.end(), false);
    for (int64_t d : call.attributes.Ints("dim")) {
      COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(d, input.rank()));
      if (input.rank() > 0) squeezed[dim] = true;
    }
  }
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    if (!squeezed[i] || input.shape[i] != 1) out.push_back(input.shape[i]);
  }
  return One(out, input.dtype);
}

ShapeResult Unsqueeze(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank() + 1));
  out.shape.insert(out.shape.begin() + dim, 1);
  return TensorTypes{out};
}

namespace {

ShapeResult ExpandTo(const TensorType& input, absl::Span<const int64_t> size) {
  Shape out(size.begin(), size.end());
  const int lead = static_cast<int>(out.size()) - input.rank();
  if (lead < 0) {
    return ShapeError("The expanded size of the tensor ", SizesText(out),
                      " must be greater or equal to the number of dimensions in the tensor (", input.rank(), ")");
  }
  for (int i = 0; i < static_cast<int>(out.size()); ++i) {
    const int64_t have = i < lead ? 1 : input.shape[i - lead];
    if (out[i] == -1 && i >= lead) out[i] = have;
    if (out[i] < 0)
      return ShapeError("The expanded size of the tensor (", out[i],
                        ") isn't allowed in a leading, non-existing dimension ", i);
    if (have != 1 && have != out[i]) {
      return ShapeError("The expanded size of the tensor (", out[i], ") must match the existing size (", have,
                        ") at non-singleton dimension ", i,
                        ".  Target sizes: ", SizesText(Shape(size.begin(), size.end())),
                        ".  Tensor sizes: ", SizesText(input.shape));
    }
  }
  return One(out, input.dtype);
}

}  // namespace

ShapeResult Expand(const Call& call) { return ExpandTo(call.in(0), call.attributes.Ints("size")); }
ShapeResult ExpandAs(const Call& call) { return ExpandTo(call.in(0), call.in(1).shape); }

ShapeResult BroadcastTensors(const Call& call) {
  Shape shape;
  for (const TensorType* input : call.inputs) {
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, input->shape));
  }
  TensorTypes out;
  for (const TensorType* input : call.inputs) out.push_back({shape, input->dtype});
  return out;
}

ShapeResult Meshgrid(const Call& call) {
  // A result for each argument, with a dimension for each: thousands of them would take gigabytes.
  constexpr size_t kMostDimensions = 64;
  if (call.inputs.size() > kMostDimensions)
    return ShapeError("tensors of more than ", kMostDimensions, " dimensions are not supported");
  Shape shape;
  for (const TensorType* input : call.inputs) {
    if (input->rank() > 1)
      return ShapeError("torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ",
                        SizesText(input->shape));
    if (input->dtype != call.in(0).dtype) return ShapeError("meshgrid expects all tensors to have the same dtype");
    shape.push_back(input->num_elements());
  }
  if (call.attributes.String("indexing", "ij") == "xy" && shape.size() >= 2) std::swap(shape[0], shape[1]);
  return TensorTypes(call.inputs.size(), TensorType{shape, call.inputs.empty() ? DType::float32 : call.in(0).dtype});
}

ShapeResult RealPart(const Call& call) {
  if (call.op == Op::imag && !IsComplex(call.in(0).dtype))
    return ShapeError("imag is not implemented for tensors with non-complex dtypes.");
  TensorType out = call.in(0);
  if (out.dtype == DType::complex64) out.dtype = DType::float32;
  if (out.dtype == DType::complex128) out.dtype = DType::float64;
  return TensorTypes{out};
}

ShapeResult ViewAsReal(const Call& call) {
  if (!IsComplex(call.in(0).dtype)) return ShapeError("view_as_real is only supported for complex tensors");
  TensorType out{call.in(0).shape, call.in(0).dtype == DType::complex64 ? DType::float32 : DType::float64};
  out.shape.push_back(2);
  return TensorTypes{out};
}

ShapeResult ViewAsComplex(const Call& call) {
  const TensorType& input = call.in(0);
  if (Category(input.dtype) != 2 || input.dtype == DType::bfloat16)
    return ShapeError("view_as_complex is only supported for floating point tensors, but got a tensor of scalar type: ",
                      DTypeName(input.dtype));
  if (input.rank() == 0) return ShapeError("Input tensor must have one or more dimensions");
  if (input.shape.back() != 2) return ShapeError("Tensor must have a last dimension of size 2");
  TensorType out{input.shape, ComplexOf(input.dtype)};
  out.shape.pop_back();
  return TensorTypes{out};
}

ShapeResult AxisSplit(const Call& call) {  // hsplit, vsplit, dsplit
  const int rank = call.in(0).rank();
  const int least = call.op == Op::hsplit ? 1 : call.op == Op::vsplit ? 2 : 3;
  if (rank < least)
    return ShapeError("torch.", call.name(), " requires a tensor with at least ", least,
                      " dimension, but got a tensor with ", rank, " dimensions!");
  const int dim = call.op == Op::vsplit ? 0 : call.op == Op::dsplit ? 2 : rank == 1 ? 0 : 1;
  if (call.attributes.Find("indices") == nullptr) {
    const int64_t sections = call.attributes.Int("sections", 1);
    if (sections == 0 || call.in(0).shape[dim] % sections != 0)
      return ShapeError("torch.", call.name(), " attempted to split along dimension ", dim,
                        ", but the size of the dimension ", call.in(0).shape[dim],
                        " is not divisible by the split_size ", sections, "!");
  }
  Attributes attributes = call.attributes;
  attributes.Set("dim", int64_t{dim});
  return TensorSplit(Call{Op::tensor_split, attributes, call.inputs});
}

}  // namespace cobra::graph::shape_rules
