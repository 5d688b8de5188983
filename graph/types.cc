#include "graph/types.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/user_error.h"

namespace cobra::graph {
namespace {

constexpr absl::string_view kNames[] = {
#define COBRA_DTYPE_NAME(name, bytes) #name,
    COBRA_DTYPES(COBRA_DTYPE_NAME)
#undef COBRA_DTYPE_NAME
};
constexpr int kBytes[] = {
#define COBRA_DTYPE_BYTES(name, bytes) bytes,
    COBRA_DTYPES(COBRA_DTYPE_BYTES)
#undef COBRA_DTYPE_BYTES
};

absl::Status Usage(std::string message) {
  return UserError(Diagnostic::Kind::kUsage, std::move(message),
                   "write dimensions and optionally a dtype, as in 1x3x224x224 or 1x128:int64");
}

// "float32, float16, ..."
std::string DTypeNames() {
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < std::size(kNames); ++i) names.push_back(DTypeName(static_cast<DType>(i)));
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::string_view DTypeName(DType dtype) {
  absl::string_view name = kNames[static_cast<int>(dtype)];
  if (name.back() == '_') name.remove_suffix(1);
  return name;
}

std::optional<DType> DTypeFromName(absl::string_view name) {
  static constexpr std::pair<absl::string_view, DType> kAliases[] = {
      {"float", DType::float32}, {"half", DType::float16}, {"double", DType::float64},   {"long", DType::int64},
      {"int", DType::int32},     {"short", DType::int16},  {"cfloat", DType::complex64}, {"cdouble", DType::complex128},
  };
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (DTypeName(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  for (const auto& [alias, dtype] : kAliases) {
    if (alias == name) return dtype;
  }
  return std::nullopt;
}

int DTypeBytes(DType dtype) { return kBytes[static_cast<int>(dtype)]; }
bool IsComplex(DType dtype) { return dtype == DType::complex64 || dtype == DType::complex128; }
bool IsFloatingPoint(DType dtype) { return dtype <= DType::float64; }
bool IsIntegral(DType dtype) { return dtype >= DType::int64 && dtype <= DType::uint8; }

DType PromoteDTypes(DType a, DType b) {
  if (a == b) return a;
  if (IsComplex(a) || IsComplex(b)) {
    const bool wide = a == DType::complex128 || b == DType::complex128 || a == DType::float64 || b == DType::float64;
    return wide ? DType::complex128 : DType::complex64;
  }
  if (IsFloatingPoint(a) || IsFloatingPoint(b)) {
    if (!IsFloatingPoint(a)) return b;
    if (!IsFloatingPoint(b)) return a;
    if (a == DType::float64 || b == DType::float64) return DType::float64;
    return DType::float32;  // also float16 with bfloat16
  }
  if (a == DType::bool_) return b;
  if (b == DType::bool_) return a;
  if (a == DType::uint8 || b == DType::uint8) {  // unsigned with signed: the next signed type that holds both
    const DType other = a == DType::uint8 ? b : a;
    return other == DType::int8 ? DType::int16 : other;
  }
  return DTypeBytes(a) >= DTypeBytes(b) ? a : b;
}

int64_t TensorType::num_elements() const {
  int64_t n = 1;
  for (int64_t d : shape) {
    if (d == 0) return 0;
    if (__builtin_mul_overflow(n, d, &n)) n = std::numeric_limits<int64_t>::max();
  }
  // Saturates so that 16 bytes per element cannot overflow: such a tensor exceeds every limit
  // anyway.
  return std::min(n, std::numeric_limits<int64_t>::max() / 16);
}

std::string ShapeText(const Shape& shape) { return shape.empty() ? "scalar" : absl::StrJoin(shape, "x"); }

std::string TypeText(const TensorType& type) { return absl::StrCat(ShapeText(type.shape), ":", DTypeName(type.dtype)); }

namespace {

// Of what Python writes: ", as in 1x3x224x224" of "(1, 3, 224, 224)"; empty if it is nothing like
// that.
std::string ProbablyMeant(absl::string_view text) {
  std::string shape;
  for (const absl::string_view size : absl::StrSplit(text, absl::ByAnyChar("()[],*; "), absl::SkipEmpty())) {
    int64_t value;
    if (!absl::SimpleAtoi(size, &value) || value < 0) return "";
    absl::StrAppend(&shape, shape.empty() ? "" : "x", value);
  }
  return shape.empty() ? "" : absl::StrCat(", as in ", shape);
}

}  // namespace

absl::StatusOr<TensorType> ParseTensorType(absl::string_view text) {
  TensorType type;
  absl::string_view dims = text;
  if (const size_t colon = text.find(':'); colon != absl::string_view::npos) {
    std::optional<DType> dtype = DTypeFromName(text.substr(colon + 1));
    if (!dtype) {
      return Usage(absl::StrCat("\"", text, "\": \"", text.substr(colon + 1), "\" is not a dtype: ", DTypeNames()));
    }
    type.dtype = *dtype;
    dims = text.substr(0, colon);
  }
  if (dims == "scalar") return type;
  for (absl::string_view dim : absl::StrSplit(dims, 'x')) {
    int64_t value;
    if (!absl::SimpleAtoi(dim, &value) || value < 0) {
      const std::string which = dim == dims ? "" : absl::StrCat("\"", dim, "\" is not a size, ");
      return Usage(
          absl::StrCat("\"", text, "\" is not a shape: ", which, "sizes are joined by x", ProbablyMeant(text)));
    }
    type.shape.push_back(value);
  }
  return type;
}

}  // namespace cobra::graph
