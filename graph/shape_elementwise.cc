// Broadcasting and type promotion, and the helpers every family uses.
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "graph/shape_rules.h"

namespace cobra::shape_rules {

std::string SizesText(const Shape& shape) { return absl::StrCat("[", absl::StrJoin(shape, ", "), "]"); }

absl::StatusOr<int> WrapDim(int64_t dim, int rank) {
  const int range = std::max(rank, 1);
  if (dim < -range || dim >= range) {
    return absl::OutOfRangeError(absl::StrCat("Dimension out of range (expected to be in range of [", -range, ", ",
                                              range - 1, "], but got ", dim, ")"));
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
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

namespace {

int Category(DType dtype) { return IsComplex(dtype) ? 3 : IsFloatingPoint(dtype) ? 2 : IsIntegral(dtype) ? 1 : 0; }

}  // namespace

// torch.result_type: tensors with dimensions decide; a dimensionless tensor, and last a Python number, only where its
// category is higher.
DType ResultDType(absl::Span<const TensorType* const> inputs, const AttributeValue* number) {
  std::optional<DType> dims, scalars;
  for (const TensorType* input : inputs) {
    if (input == nullptr) continue;
    std::optional<DType>& slot = input->rank() > 0 ? dims : scalars;
    slot = slot ? PromoteDTypes(*slot, input->dtype) : input->dtype;
  }
  DType result = dims.value_or(scalars.value_or(DType::bool_));
  if (dims && scalars && Category(*scalars) > Category(*dims)) result = *scalars;
  std::optional<DType> from_number;
  if (number != nullptr) {
    if (std::holds_alternative<double>(*number)) from_number = DType::float32;
    if (std::holds_alternative<int64_t>(*number)) from_number = DType::int64;
  }
  if (from_number && Category(*from_number) > Category(result)) result = *from_number;
  return result;
}

absl::StatusOr<std::vector<int64_t>> IntList(const Call& call, absl::string_view name, int n, int64_t fallback) {
  const AttributeValue* value = call.attributes.Find(name);
  if (value == nullptr || std::holds_alternative<NoneValue>(*value)) return std::vector<int64_t>(n, fallback);
  std::vector<int64_t> list = call.attributes.Ints(name);
  if (list.empty())
    return ShapeError(call.name(), "(): argument '", name, "' must be tuple of ints, not ", AttributeText(*value));
  if (list.size() == 1) list.resize(n, list[0]);
  if (static_cast<int>(list.size()) != n) {
    return ShapeError("expected ", name, " to be a single integer value or a list of ", n,
                      " values to match the dimensions of ", call.name(), ", but got ", AttributeText(*value));
  }
  return list;
}

absl::Status CheckInplace(absl::string_view name, absl::Span<const TensorType* const> inputs,
                          std::vector<TensorType>* outputs) {
  if (inputs.empty() || inputs[0] == nullptr || outputs->empty())
    return ShapeError(name, "_: there is no tensor to write to");
  const TensorType& self = *inputs[0];
  TensorType& out = (*outputs)[0];
  if (out.shape != self.shape) {
    return ShapeError("output with shape ", SizesText(self.shape), " doesn't match the broadcast shape ",
                      SizesText(out.shape));
  }
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

DType ToFloat(DType dtype) { return IsFloatingPoint(dtype) || IsComplex(dtype) ? dtype : DType::float32; }
DType ToReal(DType dtype) {
  return dtype == DType::complex64 ? DType::float32 : dtype == DType::complex128 ? DType::float64 : dtype;
}

// The Python number that stands for a missing tensor: `other`, or pow's `exponent` or `input`.
const AttributeValue* Number(const Call& call) {
  for (absl::string_view name : {"other", "exponent", "input"}) {
    if (const AttributeValue* value = call.attributes.Find(name)) return value;
  }
  return nullptr;
}

// Every operand is there, as a tensor or as a number.
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

ShapeResult SameType(const Call& call) { return std::vector<TensorType>{call.in(0)}; }
ShapeResult FloatUnary(const Call& call) { return One(call.in(0).shape, ToFloat(call.in(0).dtype)); }
ShapeResult RealUnary(const Call& call) { return One(call.in(0).shape, ToReal(call.in(0).dtype)); }
ShapeResult RealFloatUnary(const Call& call) { return One(call.in(0).shape, ToFloat(ToReal(call.in(0).dtype))); }

ShapeResult Binary(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  DType dtype = ResultDType(call.inputs, Number(call));
  const AttributeValue* alpha = call.attributes.Find("alpha");
  if (alpha != nullptr && std::holds_alternative<double>(*alpha) && Category(dtype) < 2) {
    return ShapeError("For integral input tensors, argument alpha must not be a floating point number.");
  }
  return One(shape, dtype);
}

ShapeResult FloatBinary(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, ToFloat(ResultDType(call.inputs)));
}

ShapeResult TrueDivide(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  const DType dtype = ResultDType(call.inputs, Number(call));
  return One(shape, call.attributes.String("rounding_mode").empty() ? ToFloat(dtype) : dtype);
}

ShapeResult Broadcast(const Call& call) {  // clamp, lerp, addcmul: numbers never change the category
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  DType dtype = ResultDType(call.inputs);
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

ShapeResult Polar(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, call.in(0).dtype == DType::float64 ? DType::complex128 : DType::complex64);
}

ShapeResult Compare(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastAll(call));
  return One(shape, DType::bool_);
}

ShapeResult Where(const Call& call) {
  COBRA_RETURN_IF_ERROR(CheckOperands(call));
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
  return One(shape, call.in(0).dtype);
}

ShapeResult Loss(const Call& call) {
  COBRA_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(call.in(0).shape, call.in(1).shape));
  if (call.attributes.String("reduction", "mean") != "none") shape.clear();
  return One(shape, ResultDType(call.inputs));
}

ShapeResult CrossEntropy(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() < 1) return ShapeError("cross_entropy: input has no class dimension");
  Shape shape;
  if (call.attributes.String("reduction", "mean") == "none") {
    shape = input.shape;
    shape.erase(shape.begin() + (input.rank() == 1 ? 0 : 1));
  }
  return One(shape, input.dtype);
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

}  // namespace cobra::shape_rules
