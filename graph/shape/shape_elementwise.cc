// Broadcasting and type promotion, and the helpers every family uses.
#include <cmath>

#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/op_rules.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {

std::string SizesText(const Shape& shape) { return absl::StrCat("[", absl::StrJoin(shape, ", "), "]"); }

absl::StatusOr<int> WrapDim(int64_t dim, int rank) {
  const int range = std::max(rank, 1);
  if (dim < -range || dim >= range) {
    return absl::OutOfRangeError(absl::StrCat("Dimension out of range (expected to be in range of [", -range, ", ",
                                              range - 1, "], but got ", dim, ")"));
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

absl::StatusOr<int> DimsInName(const Call& call) {
  const absl::string_view name = call.name();
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    if (name[i] >= '1' && name[i] <= '3' && name[i + 1] == 'd') return name[i] - '0';
  }
  return absl::InternalError(absl::StrCat(name, ": the name does not tell its dimensions"));
}

absl::StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (size_t i = 0; i < rank; ++i) {  // i counts from the right
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return ShapeError("The size of tensor a (", da, ") must match the size of tensor b (", db,
                        ") at non-singleton dimension ", rank - 1 - i);
    }
    out[rank - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

int Category(DType dtype) { return IsComplex(dtype) ? 3 : IsFloatingPoint(dtype) ? 2 : IsIntegral(dtype) ? 1 : 0; }

DType ToFloat(DType dtype) { return IsFloatingPoint(dtype) || IsComplex(dtype) ? dtype : DType::float32; }
DType RealOf(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}
DType ComplexOf(DType dtype) {
  return dtype == DType::float64 || dtype == DType::complex128 ? DType::complex128 : DType::complex64;
}

absl::Status TooManyElements(absl::string_view name) {
  return absl::ResourceExhaustedError(
      LimitMessage(absl::StrCat("the result of ", name), kMaxDimension, "elements in a dimension"));
}

absl::Status NotImplementedFor(const Call& call, DType dtype) {
  return ShapeError("\"", call.name(), "_cpu\" not implemented for '", DTypeName(dtype), "'");
}

// As torch.result_type: tensors with dimensions decide. A dimensionless tensor, and last a Python
// number, counts only if its category is higher.
DType ResultDType(absl::Span<const TensorType* const> inputs, const AttributeValue* number) {
  std::optional<DType> dims, scalars;
  for (const TensorType* input : inputs) {
    if (input == nullptr) continue;
    std::optional<DType>& slot = input->rank() > 0 ? dims : scalars;
    slot = slot ? PromoteDTypes(*slot, input->dtype) : input->dtype;
  }
  DType result = dims.value_or(scalars.value_or(DType::bool_));
  if (dims && scalars && Category(*scalars) > Category(*dims))
    result = IsFloatingPoint(*dims) ? ComplexOf(*dims) : *scalars;  // a complex scalar does not widen real numbers
  std::optional<DType> from_number;
  if (number != nullptr) {
    if (std::holds_alternative<double>(*number)) from_number = DType::float32;
    if (std::holds_alternative<int64_t>(*number)) from_number = DType::int64;
  }
  if (from_number && Category(*from_number) > Category(result)) result = *from_number;
  return result;
}

absl::StatusOr<IntTuple> IntList(const Call& call, absl::string_view name, int n, int64_t fallback) {
  const AttributeValue* value = call.attributes.Find(name);
  if (value == nullptr || std::holds_alternative<NoneValue>(*value)) return IntTuple(n, fallback);
  const absl::Span<const int64_t> given = call.attributes.IntSpan(name);
  IntTuple list(given.begin(), given.end());
  if (list.empty())
    return ShapeError(call.name(), "(): argument '", name, "' must be tuple of ints, not ", AttributeText(*value));
  if (list.size() == 1) list.resize(n, list[0]);
  if (static_cast<int>(list.size()) != n) {
    return ShapeError("expected ", name, " to be a single integer value or a list of ", n,
                      " values to match the dimensions of ", call.name(), ", but got ", AttributeText(*value));
  }
  return list;
}

absl::Status CheckInplace(absl::string_view name, absl::Span<const TensorType* const> inputs, TensorTypes* outputs) {
  if (inputs.empty() || inputs[0] == nullptr || outputs->empty())
    return ShapeError(name, "_: there is no tensor to write to");
  const TensorType& self = *inputs[0];
  TensorType& out = (*outputs)[0];
  // x.unsqueeze_(0), x.t_(): the same storage under another shape.
  const std::optional<Op> op = OpFromName(name);
  const bool reshapes =
      op && (GetOpInfo(*op).cost_class == CostClass::kView || RulesOf(*op).storage == Storage::kResizes);
  if (out.shape != self.shape && !reshapes) {
    return ShapeError("output with shape ", SizesText(self.shape), " doesn't match the broadcast shape ",
                      SizesText(out.shape));
  }
  const bool has_own_type = reshapes || name == "abs" || name == "float_power";
  if (has_own_type && out.dtype != self.dtype)
    return ShapeError("the result of ", name, "_ has dtype ", DTypeName(out.dtype), ", which ", DTypeName(self.dtype),
                      " cannot hold");
  if (Category(out.dtype) > Category(self.dtype)) {
    return ShapeError("result type ", DTypeName(out.dtype), " can't be cast to the desired output type ",
                      DTypeName(self.dtype));
  }
  out.dtype = self.dtype;
  return absl::OkStatus();
}

namespace {

absl::StatusOr<Shape> BroadcastAll(const Call& call) {
  Shape shape;
  for (const TensorType* input : call.inputs) {
    if (input == nullptr) continue;
    COBRA_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, input->shape));
  }
  return shape;
}

// The Python number given instead of a tensor: `other`, or pow's `exponent` or `input`.
const AttributeValue* Number(const Call& call) {
  for (absl::string_view name : {"other", "exponent", "input", "elements", "test_elements"}) {
    if (const AttributeValue* value = call.attributes.Find(name)) return value;
  }
  return nullptr;
}

// Checks that every operand is given, as a tensor or as a number.
absl::Status CheckOperands(const Call& call) {
  const OpInfo& info = GetOpInfo(call.op);
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    if (info.inputs[i].optional && !call.has(static_cast<int>(i)) &&
        call.attributes.Find(info.inputs[i].name) == nullptr) {
      return ShapeError(call.name(), "() missing 1 required positional arguments: \"", info.inputs[i].name, "\"");
    }
  }
  return absl::OkStatus();
}

}  // namespace

ShapeResult SameType(const Call& call) {
  if (call.op == Op::nan_to_num && IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}
// Operators whose kernels exist for some dtypes only, on every device.
ShapeResult FloatOnly(const Call& call) {
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}
ShapeResult Gelu(const Call& call) {
  const std::string approximate = call.attributes.String("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    return ShapeError("approximate argument must be either none or tanh.");
  return FloatOnly(call);
}
ShapeResult FloatNotBool(const Call& call) {
  if (call.in(0).dtype == DType::bool_) return NotImplementedFor(call, call.in(0).dtype);
  return FloatUnary(call);
}
ShapeResult RealToFloat(const Call& call) {
  if (IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  return FloatUnary(call);
}
ShapeResult RealCompare(const Call& call) {
  if (IsComplex(call.in(0).dtype)) return ShapeError(call.name(), " does not support complex inputs.");
  return Compare(call);
}
ShapeResult NotBool(const Call& call) {
  const bool orders = call.op != Op::neg && call.op != Op::positive;
  if (orders && IsComplex(call.in(0).dtype)) return ShapeError(call.name(), " is not supported for complex types");
  if (call.op == Op::hardtanh && call.in(0).dtype == DType::uint8 && call.attributes.Double("min_val", -1) < 0)
    return ShapeError("cannot do hardtanh on an unsigned type with negative limits");
  if (call.in(0).dtype == DType::bool_ && call.op != Op::sign)
    return ShapeError("Boolean inputs not supported for ", call.name());
  return TensorTypes{call.in(0)};
}
ShapeResult Rounded(const Call& call) {
  if (call.in(0).dtype == DType::bool_ || IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}
ShapeResult Square(const Call& call) {  // pow(x, 2)
  return One(call.in(0).shape, call.in(0).dtype == DType::bool_ ? DType::int64 : call.in(0).dtype);
}
ShapeResult Bits(const Call& call) {
  if (Category(call.in(0).dtype) > 1) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}

ShapeResult Prelu(const Call& call) {
  const TensorType& input = call.in(0);
  const TensorType& weight = call.in(1);
  if (Category(input.dtype) != 2) return NotImplementedFor(call, input.dtype);
  if (weight.num_elements() != 1) {
    if (input.rank() == 0) return ShapeError("Not allow zero-dim input tensor.");
    const int64_t channels = input.rank() > 1 ? input.shape[1] : 1;
    if (weight.num_elements() != channels)
      return ShapeError("Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
                        weight.num_elements(), " and channel size = ", channels, ".");
  }
  if (weight.rank() > 1)
    return ShapeError("prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = ", weight.rank());
  return TensorTypes{input};
}

ShapeResult ChannelShuffle(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t groups = call.attributes.Int("groups", 1);
  if (input.rank() < 3)
    return ShapeError("channel_shuffle expects input with > 2 dims, but got input with sizes ", SizesText(input.shape));
  if (groups <= 0)
    return ShapeError("Number of groups to divide channels in must be positive. Value of groups:", groups);
  if (input.shape[1] % groups != 0)
    return ShapeError("Number of channels must be divisible by groups. Got ", input.shape[1], " channels and ", groups,
                      " groups.");
  return TensorTypes{input};
}

ShapeResult FloatUnary(const Call& call) {
  if (call.op == Op::local_response_norm && call.in(0).rank() < 3)
    return ShapeError("Expected 3D or higher dimensionality input (got ", call.in(0).rank(), " dimensions)");
  return One(call.in(0).shape, ToFloat(call.in(0).dtype));
}
ShapeResult RealUnary(const Call& call) {
  if (call.in(0).dtype == DType::bool_) return NotImplementedFor(call, call.in(0).dtype);
  return One(call.in(0).shape, RealOf(call.in(0).dtype));
}
ShapeResult RealFloatUnary(const Call& call) { return One(call.in(0).shape, ToFloat(RealOf(call.in(0).dtype))); }

ShapeResult Binary(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  DType dtype = ResultDType(call.inputs, Number(call));
  if (call.op == Op::pow && Category(dtype) < 2 && call.attributes.Find("exponent") != nullptr &&
      call.attributes.Double("exponent") < 0)
    return ShapeError("Integers to negative integer powers are not allowed.");
  if (call.op == Op::pow && dtype == DType::bool_) return NotImplementedFor(call, dtype);
  const AttributeValue* alpha = call.attributes.Find("alpha");
  if (alpha != nullptr && std::holds_alternative<double>(*alpha) && Category(dtype) < 2) {
    return ShapeError("For integral input tensors, argument alpha must not be a floating point number.");
  }
  return One(shape, dtype);
}

ShapeResult FloatBinary(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, ToFloat(ResultDType(call.inputs, Number(call))));
}

ShapeResult BitsBinary(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorTypes out, Binary(call));
  const bool no_bool = call.op != Op::bitwise_and && call.op != Op::bitwise_or && call.op != Op::bitwise_xor;
  if (Category(out[0].dtype) > 1 || (no_bool && out[0].dtype == DType::bool_))
    return NotImplementedFor(call, out[0].dtype);
  return out;
}

ShapeResult Subtract(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorTypes out, Binary(call));
  bool any_bool = call.in(0).dtype == DType::bool_ || (call.has(1) && call.in(1).dtype == DType::bool_);
  const AttributeValue* number = call.attributes.Find("other");
  any_bool = any_bool || (number != nullptr && std::holds_alternative<bool>(*number));
  if (any_bool)
    return ShapeError(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
        "the `~` or `logical_not()` operator instead.");
  return out;
}

ShapeResult NoBoolBinary(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(TensorTypes out, Binary(call));
  if (out[0].dtype == DType::bool_ || IsComplex(out[0].dtype)) return NotImplementedFor(call, out[0].dtype);
  return out;
}

ShapeResult SameDTypeBinary(const Call& call) {
  if (call.in(0).dtype != call.in(1).dtype)
    return ShapeError(call.name(), " is not yet implemented for tensors with different dtypes.");
  return Binary(call);
}

ShapeResult Close(const Call& call) {
  if (call.in(0).dtype != call.in(1).dtype)
    return ShapeError(DTypeName(call.in(0).dtype), " did not match ", DTypeName(call.in(1).dtype));
  return Compare(call);
}

// Real floating point types only.
ShapeResult FloatSame(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  const DType dtype = ResultDType(call.inputs);
  if (Category(dtype) != 2) return NotImplementedFor(call, dtype);
  return One(shape, dtype);
}

ShapeResult Frexp(const Call& call) {
  const TensorType& input = call.in(0);
  if (Category(input.dtype) != 2) return ShapeError("torch.frexp() only supports floating-point dtypes");
  return TensorTypes{input, {input.shape, DType::int32}};
}

ShapeResult FakeQuantize(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.dtype != DType::float32 && input.dtype != DType::float16 && input.dtype != DType::float64)
    return ShapeError("expected a float tensor, but got ", DTypeName(input.dtype));
  if (call.attributes.Int("quant_min") > call.attributes.Int("quant_max"))
    return ShapeError("`quant_min` should be less than or         equal to `quant_max`.");
  if (call.op == Op::fake_quantize_per_channel_affine) {
    const int64_t axis = call.attributes.Int("axis");
    if (axis < 0 || axis >= input.rank())
      return ShapeError("`axis` must be between 0 and number of dimensions of input");
    if (call.in(1).rank() != 1) return ShapeError("scale should be a 1-D tensor");
    if (call.in(2).rank() != 1) return ShapeError("zero point should be a 1-D tensor");
    if (call.in(1).shape[0] != call.in(2).shape[0])
      return ShapeError("scale and zero-point need to have the same dimensions");
    if (call.in(1).shape[0] != input.shape[axis])
      return ShapeError("dimensions of scale and zero-point are not consistent with input tensor");
  }
  return TensorTypes{input};
}

ShapeResult FloatPower(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, IsComplex(ResultDType(call.inputs)) ? DType::complex128 : DType::float64);
}

ShapeResult Ldexp(const Call& call) {  // input * 2.0 ** other
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  TensorType power = call.in(1);
  power.dtype = ToFloat(power.dtype);
  const TensorType* inputs[] = {call.inputs[0], &power};
  return One(shape, ResultDType(inputs));
}

ShapeResult Complex(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  const DType dtype = call.in(0).dtype;
  const bool known = dtype == DType::float32 || dtype == DType::float64 || dtype == DType::float16;
  if (!known) return ShapeError("Expected both inputs to be Half, Float or Double tensors but got ", DTypeName(dtype));
  if (call.in(1).dtype != dtype)
    return ShapeError("Expected object of scalar type ", DTypeName(dtype), " but got scalar type ",
                      DTypeName(call.in(1).dtype), " for second argument");
  return One(shape, ComplexOf(dtype));
}

ShapeResult IsIn(const Call& call) { return One(call.has(0) ? call.in(0).shape : Shape(), DType::bool_); }

ShapeResult GumbelSoftmax(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  if (Category(call.in(0).dtype) != 2) return NotImplementedFor(call, call.in(0).dtype);
  return TensorTypes{call.in(0)};
}

ShapeResult TrueDivide(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  const DType dtype = ResultDType(call.inputs, Number(call));
  const std::string rounding = call.attributes.String("rounding_mode");
  if (!rounding.empty() && (dtype == DType::bool_ || IsComplex(dtype))) return NotImplementedFor(call, dtype);
  if (!rounding.empty() && rounding != "floor" && rounding != "trunc")
    return ShapeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", rounding, "'");
  return One(shape, rounding.empty() ? ToFloat(dtype) : dtype);
}

ShapeResult Broadcast(const Call& call) {  // clamp, lerp, addcmul: numbers never change the category
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  DType dtype = ResultDType(call.inputs);
  if (call.op == Op::clamp && !call.has(1) && !call.has(2) && call.attributes.Find("min") == nullptr &&
      call.attributes.Find("max") == nullptr) {
    return ShapeError("torch.clamp: At least one of 'min' or 'max' must not be None");
  }
  if (call.op == Op::lerp) {
    for (int i = 1; i < 3; ++i) {
      if (call.has(i) && call.in(i).dtype != call.in(0).dtype)
        return ShapeError("expected dtype ", DTypeName(call.in(0).dtype), " for `", i == 1 ? "end" : "weight",
                          "` but got dtype ", DTypeName(call.in(i).dtype));
    }
  }
  if (call.op == Op::addcdiv && Category(call.in(1).dtype) < 2 && Category(call.in(2).dtype) < 2)
    return ShapeError("Integer division with addcdiv is no longer supported");
  if (call.op == Op::clamp || call.op == Op::clamp_min || call.op == Op::clamp_max) {
    for (absl::string_view name : {"min", "max"}) {
      if (const AttributeValue* number = call.attributes.Find(name)) {
        const TensorType so_far{{1}, dtype};
        const TensorType* inputs[] = {&so_far};
        dtype = ResultDType(inputs, number);
      }
    }
  }
  return One(shape, dtype);
}

ShapeResult Polar(const Call& call) { return Complex(call); }

ShapeResult Compare(const Call& call) {
  if (call.op == Op::signbit && IsComplex(call.in(0).dtype)) return NotImplementedFor(call, call.in(0).dtype);
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, DType::bool_);
}

ShapeResult Where(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  if (call.in(0).dtype != DType::bool_ && call.in(0).dtype != DType::uint8)
    return ShapeError("where expected condition to be a boolean tensor, but got a tensor with dtype ",
                      DTypeName(call.in(0).dtype));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  const AttributeValue* input = call.attributes.Find("input");
  const AttributeValue* other = call.attributes.Find("other");
  DType dtype = ResultDType(call.inputs.subspan(1), input != nullptr ? input : other);
  if (input != nullptr && other != nullptr) {
    const bool any_float = std::holds_alternative<double>(*input) || std::holds_alternative<double>(*other);
    const bool any_int = std::holds_alternative<int64_t>(*input) || std::holds_alternative<int64_t>(*other);
    dtype = any_float ? DType::float32 : any_int ? DType::int64 : DType::bool_;
  }
  return One(shape, dtype);
}

ShapeResult MaskedFill(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  if (call.in(1).dtype != DType::bool_ && call.in(1).dtype != DType::uint8) {
    return ShapeError("expected mask dtype to be Bool but got ", DTypeName(call.in(1).dtype));
  }
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  if (call.has(2) && call.in(2).rank() > 0)
    return ShapeError("masked_fill only supports a 0-dimensional value tensor, but got tensor with ", call.in(2).rank(),
                      " dimension(s).");
  const DType dtype = call.in(0).dtype;
  const AttributeValue* number = call.attributes.Find("value");
  if (number != nullptr && Category(dtype) == 1) {
    const double value = call.attributes.Double("value");
    const double most = std::ldexp(1.0, 8 * DTypeBytes(dtype) - (dtype == DType::uint8 ? 0 : 1)) - 1;
    // Negative integers wrap around in an unsigned type, negative floats do not.
    const bool wraps = dtype == DType::uint8 && std::holds_alternative<int64_t>(*number);
    const double least = dtype != DType::uint8 ? -most - 1 : wraps ? -most : 0;
    if (!(value >= least && value <= most))
      return ShapeError("value cannot be converted to type ", DTypeName(dtype), " without overflow");
  }
  return One(shape, call.in(0).dtype);
}

ShapeResult Glu(const Call& call) {
  TensorType out = call.in(0);
  if (out.rank() == 0) return ShapeError("glu does not support 0-dimensional tensors");
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", -1), out.rank()));
  if (out.shape[dim] % 2 != 0)
    return ShapeError("Halving dimension must be even, but dimension ", dim, " is size ", out.shape[dim]);
  out.shape[dim] /= 2;
  return TensorTypes{out};
}

ShapeResult CosineSimilarity(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  COBRA_ASSIGN_OR_RETURN(const int dim, WrapDim(call.attributes.Int("dim", 1), static_cast<int>(shape.size())));
  if (!shape.empty()) shape.erase(shape.begin() + dim);
  return One(shape, ResultDType(call.inputs));
}

ShapeResult PairwiseDistance(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  if (shape.empty()) return ShapeError("pairwise_distance: inputs have no dimension");
  if (call.attributes.Bool("keepdim")) {
    shape.back() = 1;
  } else {
    shape.pop_back();
  }
  return One(shape, ResultDType(call.inputs));
}

}  // namespace cobra::graph::shape_rules
