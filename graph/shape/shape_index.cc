// Gathering and scattering.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {

ShapeResult Gather(const Call& call) {
  const TensorType& self = call.in(0);
  const TensorType& index = call.in(1);
  if (call.op == Op::take_along_dim) {
    if (index.dtype != DType::int64)
      return ShapeError("torch.take_along_dim(): dtype of indices should be Long but got ", DTypeName(index.dtype));
    if (call.attributes.Find("dim") == nullptr) return One({index.num_elements()}, self.dtype);
    if (index.rank() != self.rank())
      return ShapeError("torch.take_along_dim(): input and indices should have the same number of dimensions, but got ",
                        self.rank(), " dimensions for input, and ", index.rank(), " dimensions for indices");
    COBRA_ASSIGN_OR_RETURN(const int along, WrapDim(call.attributes.Int("dim"), self.rank()));
    Shape a = self.shape, b = index.shape;
    if (!a.empty()) a[along] = b[along];
    COBRA_ASSIGN_OR_RETURN(Shape joined, BroadcastShapes(a, b));
    if (!joined.empty()) joined[along] = index.shape[along];
    return One(joined, self.dtype);
  }
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), self.rank()));
  if (index.num_elements() > 0) {
    if (index.dtype != DType::int64) return ShapeError("gather(): Expected dtype int64 for index");
    const Shape sizes = index.shape.empty() ? Shape{1} : index.shape;
    const Shape of = self.shape.empty() ? Shape{1} : self.shape;
    if (sizes.size() != of.size())
      return ShapeError("Index tensor must have the same number of dimensions as input tensor");
    for (int d = 0; d < static_cast<int>(of.size()); ++d) {
      if (d != dim && sizes[d] > of[d])
        return ShapeError("Size does not match at dimension ", d, " expected index ", SizesText(index.shape),
                          " to be smaller than self ", SizesText(self.shape), " apart from dimension ", dim);
    }
  }
  return One(index.shape, self.dtype);
}

ShapeResult IndexSelect(const Call& call) {
  TensorType out = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank()));
  if (call.in(1).rank() > 1) return ShapeError("index_select(): Index is supposed to be a vector");
  if (call.in(1).dtype != DType::int64 && call.in(1).dtype != DType::int32)
    return ShapeError("index_select(): Expected dtype int32/int64 for index");
  if (out.rank() > 0) out.shape[dim] = call.in(1).num_elements();
  return TensorTypes{out};
}

ShapeResult Bucketize(const Call& call) {
  if (call.in(1).rank() != 1)
    return ShapeError("boundaries tensor must be 1 dimension, but got dim(", call.in(1).rank(), ")");
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
  const int64_t rows = weight.shape[0];
  const int64_t padding = call.attributes.Int("padding_idx", -1);
  if (rows > 0 && (padding >= rows || padding < -rows)) return ShapeError("Padding_idx must be within num_embeddings");
  Shape out = indices.shape;
  out.push_back(weight.shape[1]);
  return One(out, weight.dtype);
}

ShapeResult OneHot(const Call& call) {
  const int64_t classes = call.attributes.Int("num_classes", -1);
  if (call.in(0).dtype != DType::int64) return ShapeError("one_hot is only applicable to index tensor.");
  if (classes <= 0) return absl::UnimplementedError("the shape of one_hot() without num_classes");
  Shape out = call.in(0).shape;
  out.push_back(classes);
  return One(out, DType::int64);
}

namespace {

absl::Status IndexType(const Call& call, int i) {
  if (call.in(i).dtype == DType::int64) return absl::OkStatus();
  return ShapeError(call.name(), "(): Expected dtype int64 for index");
}

Shape AtLeastOne(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

// Checks that `index` is no larger than `self` in every dimension except `dim`; a negative `dim`
// excepts none.
absl::Status CheckIndexFits(const Call& call, const Shape& index, const Shape& self, int dim, absl::string_view of) {
  if (index.size() != self.size())
    return ShapeError("Index tensor must have the same number of dimensions as ", of, " tensor");
  for (int d = 0; d < static_cast<int>(index.size()); ++d) {
    if (d != dim && index[d] > self[d]) {
      return ShapeError("Expected index ", SizesText(index), " to be smaller than ", of, " ", SizesText(self),
                        dim < 0 ? "" : absl::StrCat(" apart from dimension ", dim));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ShapeResult Scatter(const Call& call) {  // scatter, scatter_add, scatter_reduce
  const TensorType& self = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), self.rank()));
  if (call.op == Op::scatter && !call.has(2) && call.attributes.Find("value") == nullptr)
    return ShapeError("scatter() missing 1 required positional argument: \"src\"");
  if (call.has(2) && call.in(2).dtype != self.dtype)
    return ShapeError(call.name(), "(): Expected self.dtype to be equal to src.dtype");
  const std::string reduce = call.attributes.String("reduce");
  if (call.op == Op::scatter_reduce) {
    if (reduce != "sum" && reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
      return ShapeError("reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
  } else if (!reduce.empty() && reduce != "add" && reduce != "multiply") {
    return ShapeError("reduce argument must be either add or multiply.");
  }
  if (call.in(1).num_elements() == 0) return TensorTypes{self};
  COBRA_RETURN_IF_ERROR(IndexType(call, 1));
  const Shape index = AtLeastOne(call.in(1).shape);
  COBRA_RETURN_IF_ERROR(CheckIndexFits(call, index, AtLeastOne(self.shape), dim, "self"));
  if (call.has(2)) COBRA_RETURN_IF_ERROR(CheckIndexFits(call, index, AtLeastOne(call.in(2).shape), -1, "src"));
  return TensorTypes{self};
}

namespace {

// index_add, index_copy: slices of `source` along `dim`, one for each element of a vector `index`.
absl::Status SlicesFit(const Call& call, int dim) {
  const TensorType& self = call.in(0);
  const TensorType& index = call.in(1);
  const TensorType& source = call.in(2);
  if (index.rank() > 1) return ShapeError(call.name(), "(): Index is supposed to be a vector");
  if (index.dtype != DType::int64 && (index.dtype != DType::int32 || call.op == Op::index_copy))
    return ShapeError(call.name(), "(): Expected dtype int32/int64 for index");
  if (source.dtype != self.dtype)
    return ShapeError(call.name(), "(): self and source expected to have the same dtype, but got (self) ",
                      DTypeName(self.dtype), " and (source) ", DTypeName(source.dtype));
  const int64_t slices = source.rank() == 0 ? 1 : dim < source.rank() ? source.shape[dim] : 0;
  if (slices != index.num_elements())
    return ShapeError(call.name(), "(): Number of indices (", index.num_elements(),
                      ") should be equal to source.size(dim) (", slices, ")");
  if (self.rank() == source.rank() && self.rank() > 0) {
    for (int d = 0; d < self.rank(); ++d) {
      if (d != dim && self.shape[d] != source.shape[d])
        return ShapeError(call.name(), "(): Source/destination tensor must have same slice shapes. Destination ",
                          SizesText(self.shape), " and source ", SizesText(source.shape));
    }
  } else if (self.rank() > 0 && source.rank() > 0) {
    return ShapeError(call.name(), "(): When source and destination are not scalars, their dimensionality must match");
  }
  return absl::OkStatus();
}

}  // namespace

ShapeResult IndexAdd(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), call.in(0).rank()));
  COBRA_RETURN_IF_ERROR(SlicesFit(call, dim));
  if (call.op == Op::index_reduce) {
    const std::string reduce = call.attributes.String("reduce");
    if (reduce != "prod" && reduce != "mean" && reduce != "amax" && reduce != "amin")
      return ShapeError("reduce argument must be either prod, mean, amax or amin, got ", reduce, ".");
  }
  return TensorTypes{call.in(0)};
}

ShapeResult IndexCopy(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), call.in(0).rank()));
  COBRA_RETURN_IF_ERROR(SlicesFit(call, dim));
  return TensorTypes{call.in(0)};
}

ShapeResult IndexFill(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim"), call.in(0).rank()).status());
  COBRA_RETURN_IF_ERROR(IndexType(call, 1));
  if (call.in(1).rank() > 1) return ShapeError("Index has to be a vector/scalar");
  if (call.has(2) && call.in(2).rank() != 0)
    return ShapeError("index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", call.in(2).rank(),
                      " dimension(s).");
  return TensorTypes{call.in(0)};
}

ShapeResult IndexPut(const Call& call) {  // x[indices] = values
  const TensorType& self = call.in(0);
  const int count = static_cast<int>(call.inputs.size()) - 2;
  if (count > self.rank())
    return absl::OutOfRangeError(
        absl::StrCat("too many indices for tensor of dimension ", self.rank(), " (got ", count, ")"));
  if (call.in(1).dtype != self.dtype)
    return ShapeError("Index put requires the source and destination dtypes match, got ", DTypeName(self.dtype),
                      " for the destination and ", DTypeName(call.in(1).dtype), " for the source.");
  Shape shape;
  for (int i = 2; i < count + 2; ++i) {
    if (call.in(i).dtype == DType::bool_ || call.in(i).dtype == DType::uint8) return TensorTypes{self};
    if (call.in(i).dtype != DType::int64)
      return absl::OutOfRangeError("tensors used as indices must be long, byte or bool tensors");
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, call.in(i).shape));
  }
  shape.insert(shape.end(), self.shape.begin() + count, self.shape.end());
  COBRA_ASSIGN_OR_RETURN(const Shape joined, BroadcastShapes(shape, call.in(1).shape));
  if (joined != shape)
    return ShapeError("shape mismatch: value tensor of shape ", SizesText(call.in(1).shape),
                      " cannot be broadcast to indexing result of shape ", SizesText(shape));
  return TensorTypes{self};
}

ShapeResult Take(const Call& call) {
  COBRA_RETURN_IF_ERROR(IndexType(call, 1));
  return One(call.in(1).shape, call.in(0).dtype);
}

ShapeResult Put(const Call& call) {
  COBRA_RETURN_IF_ERROR(IndexType(call, 1));
  if (call.in(1).num_elements() != call.in(2).num_elements())
    return ShapeError("put_(): Expected source and index to have the same number of elements");
  if (call.in(2).dtype != call.in(0).dtype)
    return ShapeError("put_(): self and source expected to have the same dtype");
  return TensorTypes{call.in(0)};
}

ShapeResult MaskedScatter(const Call& call) {
  if (call.in(1).dtype != DType::bool_ && call.in(1).dtype != DType::uint8)
    return ShapeError("masked_scatter: expected BoolTensor or ByteTensor for mask");
  if (call.in(0).dtype != call.in(2).dtype)
    return ShapeError("masked_scatter: expected self and source to have same dtypes");
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  return One(shape, call.in(0).dtype);
}

namespace {

ShapeResult ScatterResult(const Call& call, const ShapeResult& part) {
  if (!part.ok()) return part.status();
  if ((*part)[0].shape != call.in(1).shape)
    return ShapeError("expected src to have a size equal to the slice of self. src size = ",
                      SizesText(call.in(1).shape), ", slice size = ", SizesText((*part)[0].shape));
  return TensorTypes{call.in(0)};
}

}  // namespace

ShapeResult SelectScatter(const Call& call) { return ScatterResult(call, Select(call)); }
ShapeResult DiagonalScatter(const Call& call) { return ScatterResult(call, Diagonal(call)); }

ShapeResult SliceScatter(const Call& call) {
  TensorType part = call.in(0);
  if (part.rank() == 0) return ShapeError("slice() cannot be applied to a 0-dim tensor.");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), part.rank()));
  const int64_t size = part.shape[dim], step = call.attributes.Int("step", 1);
  if (step <= 0) return ShapeError("slice step must be positive");
  const auto clip = [size](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size); };
  const int64_t start = clip(call.attributes.Int("start", 0)), end = clip(call.attributes.Int("end", size));
  part.shape[dim] = end <= start ? 0 : (end - start - 1) / step + 1;
  return ScatterResult(call, TensorTypes{part});
}

ShapeResult Searchsorted(const Call& call) {
  const TensorType& sorted = call.in(0);
  const DType dtype = call.attributes.Bool("out_int32") ? DType::int32 : DType::int64;
  const std::string side = call.attributes.String("side");
  if (!side.empty() && side != "left" && side != "right")
    return ShapeError("torch.searchsorted(): side can only be 'left' or 'right' but got ", side);
  if (side == "left" && call.attributes.Bool("right"))
    return ShapeError(
        "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True");
  if (sorted.rank() == 0)
    return ShapeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1");
  if (call.has(2)) {
    if (call.in(2).shape != sorted.shape)
      return ShapeError("torch.searchsorted(): boundary and sorter must have the same size");
    if (call.in(2).dtype != DType::int64)
      return ShapeError("torch.searchsorted(): sorter must be a tensor of long dtype");
  }
  if (!call.has(1)) {
    if (call.attributes.Find("input") == nullptr || sorted.rank() != 1)
      return ShapeError(
          "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
          "boundaries tensor dim(",
          sorted.rank(), ")");
    return One({}, dtype);
  }
  const TensorType& input = call.in(1);
  const bool same_rows =
      sorted.rank() == input.rank() && std::equal(sorted.shape.begin(), sorted.shape.end() - 1, input.shape.begin());
  if (sorted.rank() != 1 && !same_rows)
    return ShapeError(
        "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
        "tensor and input value tensor must match, but we got boundaries tensor ",
        SizesText(sorted.shape), " and input value tensor ", SizesText(input.shape));
  return One(input.shape, dtype);
}

ShapeResult EmbeddingBag(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  if (weight.rank() != 2)
    return ShapeError("weight has to be a 2D Tensor, but got Tensor of dimension ", weight.rank());
  if (input.dtype != DType::int64 && input.dtype != DType::int32)
    return ShapeError(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got ",
        DTypeName(input.dtype));
  const std::string mode = call.attributes.String("mode", "mean");
  if (mode != "sum" && mode != "mean" && mode != "max") return ShapeError("mode has to be one of sum, mean or max");
  if (mode == "max" && call.attributes.Bool("scale_grad_by_freq"))
    return ShapeError("max mode does not support scaling the gradient by the frequency");
  if (mode == "max" && call.attributes.Bool("sparse")) return ShapeError("max mode does not support sparse weights");
  const bool last = call.attributes.Bool("include_last_offset");
  if (call.has(3) && call.in(3).shape != input.shape)
    return ShapeError(
        "embedding_bag: If per_sample_weights is not None, then it must have the same shape as the input");
  if (call.has(3) && mode != "sum")
    return ShapeError(
        "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum'");
  if (input.rank() == 2) {
    if (call.has(2))
      return ShapeError(
          "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
          "sequences.");
    if (input.shape[1] == 0) return ShapeError("step must be nonzero");
    if (last && input.shape[0] == 0) return ShapeError("include_last_offset: number of offset should be at least 1");
    return One({input.shape[0] - (last ? 1 : 0), weight.shape[1]}, weight.dtype);
  }
  if (input.rank() != 1)
    return ShapeError("input has to be 1D or 2D Tensor, but got Tensor of dimension ", input.rank());
  if (!call.has(2)) return ShapeError("offsets has to be a 1D Tensor but got None");
  if (call.in(2).rank() != 1) return ShapeError("offsets has to be a 1D Tensor");
  if (call.in(2).dtype != DType::int64 && call.in(2).dtype != DType::int32)
    return ShapeError(
        "Expected tensor for argument #1 'offsets' to have one of the following scalar types: Long, Int; but got ",
        DTypeName(call.in(2).dtype));
  if (last && call.in(2).shape[0] == 0) return ShapeError("include_last_offset: number of offset should be at least 1");
  const int64_t bags = call.in(2).shape[0] - (last ? 1 : 0);
  return One({bags, weight.shape[1]}, weight.dtype);
}

ShapeResult Multinomial(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t samples = call.attributes.Int("num_samples");
  if (Category(input.dtype) != 2)
    return ShapeError("multinomial only supports floating-point dtypes for input, got: ", DTypeName(input.dtype));
  if (input.rank() != 1 && input.rank() != 2) return ShapeError("prob_dist must be 1 or 2 dim");
  if (samples <= 0) return ShapeError("cannot sample n_sample <= 0 samples");
  if (!call.attributes.Bool("replacement") && samples > input.shape.back())
    return ShapeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  Shape out = input.shape;
  out.back() = samples;
  return One(out, DType::int64);
}

}  // namespace cobra::graph::shape_rules
