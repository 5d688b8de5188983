// Normalization: shapes are unchanged, channels must fit.
#include <algorithm>

#include "base/status_macros.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph::shape_rules {
namespace {

// Parameters have the input's type. Of an input with 16 bits they may be in float32.
absl::Status CheckParameterTypes(const Call& call) {
  const DType dtype = call.in(0).dtype;
  const bool is_low = dtype == DType::float16 || dtype == DType::bfloat16;
  for (int i = 1; i < static_cast<int>(call.inputs.size()); ++i) {
    if (!call.has(i) || !IsFloatingPoint(dtype) || call.in(i).dtype == dtype ||
        (is_low && call.in(i).dtype == DType::float32))
      continue;
    if (dtype == DType::float64 && call.in(i).dtype == DType::float32)
      return ShapeError("mixed dtype (CPU): all inputs must share same datatype.");
    return ShapeError("mixed dtype (CPU): expect parameter to have scalar type of Float");
  }
  return absl::OkStatus();
}

absl::Status CheckChannels(const Call& call, int64_t channels) {
  static constexpr absl::string_view kNames[] = {"", "running_mean", "running_var", "weight", "bias"};
  for (int i = 1; i < static_cast<int>(call.inputs.size()); ++i) {
    if (call.has(i) && call.in(i).num_elements() != channels) {
      return ShapeError(kNames[i], " should contain ", channels, " elements not ", call.in(i).num_elements());
    }
    if (call.has(i) && Category(call.in(i).dtype) < 2)
      return ShapeError("mixed dtype (CPU): expect parameter to have scalar type of Float");
  }
  return CheckParameterTypes(call);
}

ShapeResult SameFloat(const Call& call) {
  const DType dtype = call.in(0).dtype;
  if (!IsFloatingPoint(dtype) && !IsComplex(dtype)) {
    return ShapeError("\"", call.name(), "\" not implemented for '", DTypeName(dtype), "'");
  }
  return TensorTypes{call.in(0)};
}

}  // namespace

ShapeResult BatchNorm(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() < 2)
    return ShapeError("Expected more than 1 dimension for batch_norm, got ", SizesText(input.shape));
  COBRA_RETURN_IF_ERROR(CheckChannels(call, input.shape[1]));
  return SameFloat(call);
}

ShapeResult InstanceNorm(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() < 2)
    return ShapeError("Expected more than 1 dimension for instance_norm, got ", SizesText(input.shape));
  COBRA_RETURN_IF_ERROR(CheckChannels(call, input.shape[1]));
  return SameFloat(call);
}

ShapeResult GroupNorm(const Call& call) {
  const TensorType& input = call.in(0);
  const int64_t groups = call.attributes.Int("num_groups", 1);
  if (input.rank() < 2)
    return ShapeError("Expected at least 2 dimensions for input tensor but received ", input.rank());
  if (groups <= 0 || input.shape[1] % groups != 0) {
    return ShapeError("Expected number of channels in input to be divisible by num_groups, but got input of shape ",
                      SizesText(input.shape), " and num_groups=", groups);
  }
  for (int i = 1; i < 3; ++i) {
    if (call.has(i) && (call.in(i).rank() != 1 || call.in(i).shape[0] != input.shape[1])) {
      return ShapeError("Expected ", i == 1 ? "weight" : "bias",
                        " to be a vector of size equal to the number of channels in input, but got ",
                        i == 1 ? "weight" : "bias", " of shape ", SizesText(call.in(i).shape), " and input of shape ",
                        SizesText(input.shape));
    }
  }
  COBRA_RETURN_IF_ERROR(CheckParameterTypes(call));
  return SameFloat(call);
}

ShapeResult LayerNorm(const Call& call) {  // and rms_norm
  const TensorType& input = call.in(0);
  const absl::Span<const int64_t> normalized = call.attributes.IntSpan("normalized_shape");
  const int n = static_cast<int>(normalized.size());
  const Shape wanted(normalized.begin(), normalized.end());
  bool fits = n > 0 && n <= input.rank();
  for (int i = 0; fits && i < n; ++i) fits = input.shape[input.rank() - n + i] == normalized[i];
  if (!fits) {
    return ShapeError("Given normalized_shape=", SizesText(wanted), ", expected input with shape [*, ",
                      SizesText(wanted).substr(1), ", but got input of size", SizesText(input.shape));
  }
  for (int i = 1; i < static_cast<int>(call.inputs.size()); ++i) {
    if (call.has(i) && call.in(i).shape != wanted) {
      return ShapeError("Expected ", i == 1 ? "weight" : "bias", " to be of same shape as normalized_shape, but got ",
                        SizesText(call.in(i).shape), " and normalized_shape = ", SizesText(wanted));
    }
  }
  if (call.op != Op::rms_norm) COBRA_RETURN_IF_ERROR(CheckParameterTypes(call));  // which multiplies as `mul` does
  return SameFloat(call);
}

ShapeResult LocalResponseNorm(const Call& call) {
  const TensorType& input = call.in(0);
  if (input.rank() < 3)
    return ShapeError("Expected 3D or higher dimensionality                          input (got ", input.rank(),
                      " dimensions)");
  if (call.attributes.Int("size", 1) <= 0 && input.num_elements() > 0)
    return ShapeError("kernel size should be greater than zero, but got ", call.attributes.Int("size"));
  if (Category(input.dtype) < 2) return NotImplementedFor(call, input.dtype);
  return TensorTypes{input};
}

// Masks whole channels where the operator's name says so.
ShapeResult Dropout(const Call& call) {
  const TensorType& input = call.in(0);
  const double p = call.attributes.Double("p", 0.5);
  if (!(p >= 0 && p <= 1)) return ShapeError("dropout probability has to be between 0 and 1, but got ", p);
  if (call.op == Op::dropout1d && input.rank() != 2 && input.rank() != 3)
    return ShapeError("dropout1d: Expected 2D or 3D input, but received a ", input.rank(), "D input.");
  if (!call.attributes.Bool("training") || p == 0 || p == 1 || input.num_elements() == 0) return TensorTypes{input};
  const bool whole = call.op != Op::dropout && call.op != Op::alpha_dropout;
  if (whole && input.rank() < 2) return ShapeError("Feature dropout requires at least 2 dimensions in the input");
  if (Category(input.dtype) < 2)
    return ShapeError("result type Float can't be cast to the desired output type ", DTypeName(input.dtype));
  return TensorTypes{input};
}

ShapeResult Normalize(const Call& call) {
  const AttributeValue* dim = call.attributes.Find("dim");
  if (dim != nullptr) {
    std::vector<int> seen;
    for (int64_t d : call.attributes.Ints("dim")) {
      COBRA_ASSIGN_OR_RETURN(const int at, WrapDim(d, call.in(0).rank()));
      if (std::count(seen.begin(), seen.end(), at) > 0)
        return ShapeError("dim ", at, " appears multiple times in the list of dims");
      seen.push_back(at);
    }
  }
  return SameFloat(call);
}

ShapeResult Softmax(const Call& call) {
  COBRA_RETURN_IF_ERROR(WrapDim(call.attributes.Int("dim", -1), call.in(0).rank()).status());
  if (call.op == Op::softmin && call.in(0).dtype == DType::bool_) return NotImplementedFor(call, DType::bool_);
  TensorType out = call.in(0);
  if (const std::string name = call.attributes.String("dtype"); !name.empty()) {
    const std::optional<DType> dtype = DTypeFromName(name);
    if (!dtype) return ShapeError("unknown dtype ", name);
    out.dtype = *dtype;
  }
  if (!IsFloatingPoint(out.dtype) && out.num_elements() > 0)
    return ShapeError("\"", call.name(), "\" not implemented for '", DTypeName(out.dtype), "'");
  return TensorTypes{out};
}

}  // namespace cobra::graph::shape_rules
