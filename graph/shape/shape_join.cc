// Joining, copying, casting.
#include <algorithm>
#include <cmath>

#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {

ShapeResult Cat(const Call& call) {
  if (call.inputs.empty()) return ShapeError("torch.cat(): expected a non-empty list of Tensors");
  // A 1-D tensor without elements is skipped, whatever the shape of the others: an old rule that
  // code relies on.
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
  return TensorTypes{out};
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
  return TensorTypes{out};
}

namespace {

// What is larger is a mistake or an attack, and sums with it could overflow.
constexpr int64_t kMostOffset = int64_t{1} << 40;

// Of a diagonal, from the main one.
absl::StatusOr<int64_t> OffsetOf(const Call& call, absl::string_view name) {
  const int64_t offset = call.attributes.Int(name, 0);
  if (offset > kMostOffset || offset < -kMostOffset) return ShapeError(name, " of ", offset, " is out of range");
  return offset;
}

}  // namespace

namespace {

// hstack and vstack: cat along one dimension after atleast_1d or atleast_2d.
ShapeResult JoinAlong(const Call& call, int least_rank) {
  if (call.inputs.empty()) return ShapeError(call.name(), " expects a non-empty TensorList");
  TensorTypes raised;
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

namespace {

// atleast_3d adds dimensions on both sides: [n] -> [1, n, 1], [m, n] -> [m, n, 1].
Shape Raised(Shape shape, int least_rank) {
  if (least_rank < 3) {
    while (static_cast<int>(shape.size()) < least_rank) shape.insert(shape.begin(), 1);
    return shape;
  }
  if (shape.size() < 2) shape.insert(shape.begin(), 1);
  while (shape.size() < 3) shape.push_back(1);
  return shape;
}

ShapeResult JoinShapes(const Call& call, const TensorTypes& types, int64_t dim) {
  std::vector<const TensorType*> pointers;
  for (const TensorType& type : types) pointers.push_back(&type);
  Attributes attributes;
  attributes.Set("dim", dim);
  return Cat(Call{Op::cat, attributes, pointers});
}

}  // namespace

ShapeResult Dstack(const Call& call) {
  if (call.inputs.empty()) return ShapeError("dstack expects a non-empty TensorList");
  TensorTypes raised;
  for (const TensorType* input : call.inputs) raised.push_back({Raised(input->shape, 3), input->dtype});
  return JoinShapes(call, raised, 2);
}

ShapeResult ColumnStack(const Call& call) {
  if (call.inputs.empty()) return ShapeError("column_stack expects a non-empty TensorList");
  TensorTypes columns;
  for (const TensorType* input : call.inputs) {
    columns.push_back(input->rank() > 1 ? *input : TensorType{{input->num_elements(), 1}, input->dtype});
  }
  return JoinShapes(call, columns, 1);
}

ShapeResult AtLeast(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int rank, DimsInName(call));
  TensorTypes out;
  for (const TensorType* input : call.inputs) out.push_back({Raised(input->shape, rank), input->dtype});
  return out;
}

ShapeResult BlockDiag(const Call& call) {
  TensorType out{{0, 0}, ResultDType(call.inputs)};
  if (call.inputs.empty()) return One({1, 0}, DType::float32);
  for (const TensorType* input : call.inputs) {
    if (input->rank() > 2)
      return ShapeError("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input 0 has ", input->rank(),
                        " dimensions");
    const Shape matrix = Raised(input->shape, 2);
    out.shape[0] += matrix[0];
    out.shape[1] += matrix[1];
  }
  return TensorTypes{out};
}

ShapeResult CartesianProd(const Call& call) {
  if (call.inputs.empty()) return ShapeError("meshgrid expects a non-empty TensorList");
  int64_t rows = 1;
  for (const TensorType* input : call.inputs) {
    if (input->rank() != 1) return ShapeError("Expect a 1D vector, but got shape ", SizesText(input->shape));
    if (__builtin_mul_overflow(rows, input->shape[0], &rows)) return TooManyElements("cartesian_prod");
    if (call.inputs.size() > 1 && input->dtype != call.in(0).dtype)
      return ShapeError("torch.meshgrid expects all tensors to have the same dtype");
  }
  if (call.inputs.size() == 1) return TensorTypes{call.in(0)};
  return One({rows, static_cast<int64_t>(call.inputs.size())}, call.in(0).dtype);
}

ShapeResult Combinations(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t r = call.attributes.Int("r", 2);
  if (input.rank() != 1) return ShapeError("Expect a 1D vector, but got shape ", SizesText(input.shape));
  if (r < 0) return ShapeError("Expect a non-negative number, but got ", r);
  if (r == 0) return One({0}, input.dtype);
  // n choose r; with replacement, n + r - 1 choose r
  const int64_t n = input.shape[0] + (call.attributes.Bool("with_replacement") ? r - 1 : 0);
  double rows = n < r ? 0 : 1;
  for (int64_t i = 1; i <= r && rows < 1e15; ++i) rows = rows * static_cast<double>(n - r + i) / static_cast<double>(i);
  constexpr int64_t kMostRows = 1'000'000'000'000;
  if (rows > static_cast<double>(kMostRows))
    return absl::ResourceExhaustedError(LimitMessage("torch.combinations", kMostRows, "rows"));
  return One({std::llround(rows), r}, input.dtype);
}

ShapeResult PadSequence(const Call& call) {
  if (call.inputs.empty() || call.in(0).rank() == 0)
    return ShapeError("pad_sequence: received an empty list of sequences");
  int64_t longest = 0;
  for (const TensorType* input : call.inputs) {
    if (input->rank() == 0) return ShapeError("pad_sequence: a sequence has no dimension");
    longest = std::max(longest, input->shape[0]);
    if (!std::equal(input->shape.begin() + 1, input->shape.end(), call.in(0).shape.begin() + 1, call.in(0).shape.end()))
      return ShapeError("The sizes of the sequences after the first dimension must match: ",
                        SizesText(call.in(0).shape), " and ", SizesText(input->shape));
  }
  const int64_t n = static_cast<int64_t>(call.inputs.size());
  Shape out = call.attributes.Bool("batch_first") ? Shape{n, longest} : Shape{longest, n};
  out.insert(out.end(), call.in(0).shape.begin() + 1, call.in(0).shape.end());
  return One(out, call.in(0).dtype);
}

absl::StatusOr<int64_t> PackedSteps(const Call& call) {
  const std::vector<int64_t> sizes = call.attributes.Ints("batch_sizes");
  if (sizes.empty()) return ShapeError(call.name(), ": batch_sizes of a packed batch are missing");
  int64_t total = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || (i > 0 && sizes[i] > sizes[i - 1]))
      return ShapeError(call.name(), ": batch_sizes must be positive and must not grow, but step ", i, " has ",
                        sizes[i]);
    if (__builtin_add_overflow(total, sizes[i], &total)) return ShapeError(call.name(), ": batch_sizes are too large");
  }
  return total;
}

// Returns [batch, time, ...] or [time, batch, ...] without the padding, step by step, and the
// sequences of each step.
ShapeResult PackPaddedSequence(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& lengths = call.in(1);
  if (input.rank() < 2)
    return ShapeError("pack_padded_sequence: expected a batch of sequences, got ", SizesText(input.shape));
  const bool batch_first = call.attributes.Bool("batch_first");
  const int64_t batch = input.shape[batch_first ? 0 : 1], time = input.shape[batch_first ? 1 : 0];
  if (lengths.shape != Shape{batch} || lengths.dtype != DType::int64) {
    return ShapeError("Expected `len(lengths)` to be equal to batch_size, but got ", lengths.num_elements(),
                      " (batch_size=", batch, ")");
  }
  COBRA_ASSIGN_OR_RETURN(const int64_t total, PackedSteps(call));
  const std::vector<int64_t> sizes = call.attributes.Ints("batch_sizes");
  const int64_t steps = static_cast<int64_t>(sizes.size());
  if (sizes[0] != batch)
    return ShapeError("pack_padded_sequence: the first step has ", sizes[0], " sequences of ", batch);
  if (steps > time)
    return ShapeError("pack_padded_sequence: a sequence of length ", steps, " in a batch of ", time, " steps");
  Shape data{total};
  data.insert(data.end(), input.shape.begin() + 2, input.shape.end());
  return TensorTypes{{data, input.dtype}, {{steps}, DType::int64}};
}

// Returns the padded batch and the length of each sequence.
ShapeResult PadPackedSequence(const Call& call) {
  const TensorType& data = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int64_t total, PackedSteps(call));
  const std::vector<int64_t> sizes = call.attributes.Ints("batch_sizes");
  const int64_t batch = sizes[0], steps = static_cast<int64_t>(sizes.size());
  if (data.rank() < 1 || data.shape[0] != total)
    return ShapeError("pad_packed_sequence: packed data of size ", SizesText(data.shape),
                      ", where batch_sizes add up to ", total);
  if (call.in(1).shape != Shape{steps})
    return ShapeError("pad_packed_sequence: batch_sizes of ", steps, " steps, but a tensor of size ",
                      SizesText(call.in(1).shape));
  const int64_t time = call.attributes.Find("total_length") == nullptr ? steps : call.attributes.Int("total_length");
  if (time < steps) {
    return ShapeError(
        "Expected total_length to be at least the length of the longest sequence in input, but got total_length=", time,
        " and max sequence length being ", steps);
  }
  Shape padded = call.attributes.Bool("batch_first") ? Shape{batch, time} : Shape{time, batch};
  padded.insert(padded.end(), data.shape.begin() + 1, data.shape.end());
  return TensorTypes{{padded, data.dtype}, {{batch}, DType::int64}};
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
  if (mode != "constant") {
    if (mode != "reflect" && mode != "replicate" && mode != "circular")
      return ShapeError("Unrecognised padding mode ", mode);
    const int padded = static_cast<int>(pad.size() / 2);
    const bool batchless = mode != "circular" && out.rank() == padded + 1;
    if (padded < 1 || padded > 3 || (out.rank() != padded + 2 && !batchless))
      return ShapeError("Only 2D, 3D, 4D, 5D padding with non-constant padding are supported for now");
    if (call.attributes.Find("value") != nullptr && call.attributes.Double("value") != 0)
      return ShapeError("Padding mode \"", mode, "\" doesn't take in value argument");
    if (mode != "circular" && Category(out.dtype) < 2) return NotImplementedFor(call, out.dtype);
  }
  for (int64_t p : pad) {
    if (p > kMostOffset || p < -kMostOffset) return ShapeError("padding of ", p, " is out of range");
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    int64_t& size = out.shape[out.rank() - 1 - i];
    if (mode == "reflect" && (pad[2 * i] >= size || pad[2 * i + 1] >= size)) {
      return ShapeError("Padding size should be less than the corresponding input dimension, but got: padding (",
                        pad[2 * i], ", ", pad[2 * i + 1], ") at dimension ", out.rank() - 1 - i, " of input ",
                        SizesText(call.in(0).shape));
    }
    if (mode == "circular" && (pad[2 * i] > size || pad[2 * i + 1] > size))
      return ShapeError("Padding value causes wrapping around more than once.");
    size += pad[2 * i] + pad[2 * i + 1];
    if (mode != "constant" && size < (mode == "circular" ? 0 : 1))
      return ShapeError("pad: negative or empty output size");
    // A padding that only removes elements may remove all of them.
    const bool only_cuts = std::all_of(pad.begin(), pad.end(), [](int64_t p) { return p <= 0; });
    if (size < (only_cuts ? 0 : 1))
      return ShapeError("The input size ", SizesText(call.in(0).shape),
                        " plus padding resulted in a negative output size");
  }
  return TensorTypes{out};
}

ShapeResult Rot90(const Call& call) {
  TensorType out = call.in(0);
  std::vector<int64_t> dims = call.attributes.Ints("dims");
  if (dims.empty()) dims = {0, 1};
  if (dims.size() != 2) return ShapeError("expected total rotation dims == 2, but got dims = ", dims.size());
  if (out.rank() < 2) return ShapeError("expected total dims >= 2, but got total dims = ", out.rank());
  COBRA_ASSIGN_OR_RETURN(const int a, WrapDim(dims[0], out.rank()));
  COBRA_ASSIGN_OR_RETURN(const int b, WrapDim(dims[1], out.rank()));
  if (a == b)
    return ShapeError("expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  if (call.attributes.Int("k", 1) % 2 != 0 && out.rank() > 1) std::swap(out.shape[a], out.shape[b]);
  return TensorTypes{out};
}

namespace {

ShapeResult Repeated(const TensorType& input, std::vector<int64_t> repeats) {
  Shape out = input.shape;
  if (out.size() < repeats.size()) out.insert(out.begin(), repeats.size() - out.size(), 1);
  for (size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) return ShapeError("Trying to create tensor with negative dimension ", repeats[i]);
    if (__builtin_mul_overflow(out[i], repeats[i], &out[i])) return TooManyElements("repeat");
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
  const auto rank = static_cast<size_t>(call.in(0).rank());
  if (dims.size() < rank) dims.insert(dims.begin(), rank - dims.size(), 1);
  return Repeated(call.in(0), dims);
}

ShapeResult RepeatInterleave(const Call& call) {
  TensorType out = call.in(0);
  if (call.has(1)) {
    // The size is the sum of the values of `repeats`: the reader sets it as output_size if it knows
    // the values.
    if (call.attributes.Find("output_size") == nullptr)
      return absl::UnimplementedError("the shape of repeat_interleave() by a tensor");
    const int64_t size = call.attributes.Int("output_size");
    if (call.in(1).rank() > 1) return ShapeError("repeats must be 0-dim or 1-dim tensor");
    const int64_t repeated = call.in(1).num_elements();
    const auto fits = [&](int64_t n) { return call.in(1).rank() == 0 || repeated == 1 || repeated == n; };
    constexpr absl::string_view kMisfit = "repeats must have the same size as input along dim, but got ";
    if (call.attributes.Find("dim") == nullptr) {
      if (!fits(out.num_elements()))
        return ShapeError(kMisfit, "repeats.size(0) = ", repeated, " and input.size(0) = ", out.num_elements());
      return One({size}, out.dtype);
    }
    COBRA_ASSIGN_OR_RETURN(const int along, WrapDim(call.attributes.Int("dim"), out.rank()));
    if (out.rank() == 0) return absl::OutOfRangeError("Dimension specified as 0 but tensor has no dimensions");
    if (!fits(out.shape[along]))
      return ShapeError(kMisfit, "repeats.size(0) = ", repeated, " and input.size(", along, ") = ", out.shape[along]);
    out.shape[along] = size;
    return TensorTypes{out};
  }
  const int64_t repeats = call.attributes.Int("repeats", -1);
  if (repeats > kMaxDimension) return TooManyElements("repeat_interleave");
  if (repeats < 0 && call.attributes.Find("repeats") != nullptr) return ShapeError("repeats can not be negative");
  if (repeats < 0) return absl::UnimplementedError("the shape of repeat_interleave() by a tensor");
  if (call.attributes.Find("dim") == nullptr) return One({out.num_elements() * repeats}, out.dtype);
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim"), out.rank()));
  if (out.rank() == 0) return absl::OutOfRangeError("Dimension specified as 0 but tensor has no dimensions");
  out.shape[dim] *= repeats;
  return TensorTypes{out};
}

ShapeResult Triangle(const Call& call) {
  if (call.in(0).rank() < 2) return ShapeError(call.name(), ": input tensor must have at least 2 dimensions");
  return TensorTypes{call.in(0)};
}

ShapeResult Diag(const Call& call) {
  const TensorType& input = call.in(0);
  COBRA_ASSIGN_OR_RETURN(const int64_t diagonal, OffsetOf(call, "diagonal"));
  if (input.rank() == 1) {
    const int64_t n = input.shape[0] + std::abs(diagonal);
    return One({n, n}, input.dtype);
  }
  if (input.rank() != 2) return ShapeError("matrix or a vector expected");
  const int64_t length = diagonal >= 0 ? std::min(input.shape[0], input.shape[1] - diagonal)
                                       : std::min(input.shape[0] + diagonal, input.shape[1]);
  return One({std::max<int64_t>(length, 0)}, input.dtype);
}

namespace {

ShapeResult CastTo(const Call& call, DType dtype) { return One(call.in(0).shape, dtype); }

}  // namespace

ShapeResult Cast(const Call& call) {
  if (call.has(1)) return CastTo(call, call.in(1).dtype);
  COBRA_ASSIGN_OR_RETURN(const DType dtype, DTypeAttribute(call, call.in(0).dtype));
  return CastTo(call, dtype);
}

ShapeResult CastAs(const Call& call) { return CastTo(call, call.in(1).dtype); }
ShapeResult Quantize(const Call& call) {
  const std::string name = call.attributes.String("dtype");
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype || (*dtype != DType::int8 && *dtype != DType::uint8 && *dtype != DType::int16)) {
    return ShapeError("quantize_per_tensor: dtype must be int8, uint8 or int16, got '", name, "'");
  }
  return One(call.in(0).shape, *dtype);
}
ShapeResult CastFloat32(const Call& call) { return CastTo(call, DType::float32); }
ShapeResult CastFloat16(const Call& call) { return CastTo(call, DType::float16); }
ShapeResult CastBFloat16(const Call& call) { return CastTo(call, DType::bfloat16); }
ShapeResult CastFloat64(const Call& call) { return CastTo(call, DType::float64); }
ShapeResult CastInt64(const Call& call) { return CastTo(call, DType::int64); }
ShapeResult CastInt32(const Call& call) { return CastTo(call, DType::int32); }
ShapeResult CastBool(const Call& call) { return CastTo(call, DType::bool_); }

ShapeResult CastUInt8(const Call& call) { return CastTo(call, DType::uint8); }
ShapeResult CastInt8(const Call& call) { return CastTo(call, DType::int8); }
ShapeResult CastInt16(const Call& call) { return CastTo(call, DType::int16); }
ShapeResult CastComplex64(const Call& call) { return CastTo(call, DType::complex64); }
ShapeResult CastComplex128(const Call& call) { return CastTo(call, DType::complex128); }

ShapeResult DiagEmbed(const Call& call) {
  const TensorType& input = call.in(0);
  const int rank = input.rank() + 1;
  if (input.rank() == 0) return ShapeError("diag_embed: input has no dimension");
  COBRA_ASSIGN_OR_RETURN(const int a, WrapDim(call.attributes.Int("dim1", -2), rank));
  COBRA_ASSIGN_OR_RETURN(const int b, WrapDim(call.attributes.Int("dim2", -1), rank));
  if (a == b) return ShapeError("diagonal dimensions cannot be identical ", a, ", ", b);
  COBRA_ASSIGN_OR_RETURN(const int64_t offset, OffsetOf(call, "offset"));
  const int64_t n = input.shape.back() + std::abs(offset);
  Shape out(input.shape.begin(), input.shape.end() - 1);
  out.insert(out.begin() + std::min(a, b), n);
  out.insert(out.begin() + std::max(a, b), n);
  return One(out, input.dtype);
}

ShapeResult DiagFlat(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(const int64_t offset, OffsetOf(call, "offset"));
  const int64_t n = call.in(0).num_elements() + std::abs(offset);
  return One({n, n}, call.in(0).dtype);
}

ShapeResult FillDiagonal(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() < 2) return ShapeError("dimensions must larger than 1");
  for (int64_t d : input.shape) {
    if (input.rank() > 2 && d != input.shape[0]) return ShapeError("all dimensions of input must be of equal length");
  }
  return TensorTypes{input};
}

ShapeResult Resize(const Call& call) {
  const std::vector<int64_t> size = call.attributes.Ints("size");
  for (int64_t s : size) {
    if (s < 0) return ShapeError("Trying to create tensor with negative dimension ", s);
  }
  return One(Shape(size.begin(), size.end()), call.in(0).dtype);
}

ShapeResult Created(const Call& call) {
  const std::vector<int64_t> size = call.attributes.Ints("size");
  for (int64_t s : size) {
    if (s < 0) return ShapeError("Trying to create tensor with negative dimension ", s);
  }
  const std::string name = call.attributes.String("dtype", "float32");
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype.has_value()) return ShapeError(name, ": is not a type of tensors");
  return One(Shape(size.begin(), size.end()), *dtype);
}

ShapeResult Flip(const Call& call) {  // flip, fliplr, flipud
  const TensorType& input = call.in(0);
  if (call.op == Op::fliplr && input.rank() < 2) return ShapeError("Input must be >= 2-d.");
  if (call.op == Op::flipud && input.rank() < 1) return ShapeError("Input must be >= 1-d.");
  std::vector<bool> seen(std::max(input.rank(), 1));
  for (int64_t d : call.attributes.Ints("dims")) {
    COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(d, input.rank()));
    if (seen[dim]) return ShapeError("dim ", dim, " appears multiple times in the list of dims");
    seen[dim] = true;
  }
  return TensorTypes{input};
}

ShapeResult Roll(const Call& call) {
  const TensorType& input = call.in(0);
  const std::vector<int64_t> shifts = call.attributes.Ints("shifts"), dims = call.attributes.Ints("dims");
  if (input.num_elements() == 0 && dims.size() == 1 && shifts.size() == 1) return TensorTypes{input};
  if (shifts.empty()) return ShapeError("`shifts` required");
  if (!(dims.empty() && shifts.size() == 1) && shifts.size() != dims.size())
    return ShapeError("shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  for (int64_t d : dims) {
    COBRA_RETURN_IF_ERROR(WrapDim(d, input.rank()).status());
    if (input.rank() == 0) return absl::OutOfRangeError("Dimension specified as 0 but tensor has no dimensions");
  }
  return TensorTypes{input};
}

ShapeResult Normal(const Call& call) {  // x.normal_(), torch.normal(mean, std)
  Shape shape;
  DType dtype = DType::float32;
  bool first = true;
  for (int i = 0; i < 2; ++i) {
    if (!call.has(i)) continue;
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, call.in(i).shape));
    dtype = first ? call.in(i).dtype : dtype;
    first = false;
  }
  if (Category(dtype) < 2) return NotImplementedFor(call, dtype);
  return One(shape, dtype);
}

}  // namespace cobra::graph::shape_rules
