// Tensor types: what the shape rules compute with. Batch is an ordinary dimension everywhere.
#ifndef COBRA_GRAPH_TYPES_H_
#define COBRA_GRAPH_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::graph {

// name as PyTorch prints it without "torch.", bytes per element
#define COBRA_DTYPES(X) \
  X(float32, 4)         \
  X(float16, 2)         \
  X(bfloat16, 2)        \
  X(float64, 8)         \
  X(int64, 8)           \
  X(int32, 4)           \
  X(int16, 2)           \
  X(int8, 1)            \
  X(uint8, 1)           \
  X(bool_, 1)           \
  X(complex64, 8)       \
  X(complex128, 16)

enum class DType : uint8_t {
#define COBRA_DTYPE_ENUM(name, bytes) name,
  COBRA_DTYPES(COBRA_DTYPE_ENUM)
#undef COBRA_DTYPE_ENUM
};

absl::string_view DTypeName(DType dtype);  // "float32", "bool"
std::optional<DType> DTypeFromName(absl::string_view name);
int DTypeBytes(DType dtype);
bool IsFloatingPoint(DType dtype);
bool IsComplex(DType dtype);
bool IsIntegral(DType dtype);  // bool excluded
// torch.promote_types for two tensors that both have dimensions.
DType PromoteDTypes(DType a, DType b);

using Shape = absl::InlinedVector<int64_t, 6>;

struct TensorType {
  Shape shape;
  DType dtype = DType::float32;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t num_elements() const;  // 1 for a scalar, 0 if a dimension is 0
  int64_t num_bytes() const { return num_elements() * DTypeBytes(dtype); }
  friend bool operator==(const TensorType& a, const TensorType& b) { return a.dtype == b.dtype && a.shape == b.shape; }
  friend bool operator!=(const TensorType& a, const TensorType& b) { return !(a == b); }
};

using TensorTypes = absl::InlinedVector<TensorType, 1>;  // of the results of a call

std::string ShapeText(const Shape& shape);     // "1x3x224x224", "scalar" for rank 0
std::string TypeText(const TensorType& type);  // "1x3x224x224:float32"
// Parses "1x3x224x224", "1x128:int64", "scalar"; usage error otherwise.
absl::StatusOr<TensorType> ParseTensorType(absl::string_view text);

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_TYPES_H_
