// TensorProto in, types and numbers out. Checks for wrong sizes, missing data and unknown types.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_TENSOR_DATA_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_TENSOR_DATA_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/value.h"
#include "graph/types.h"

namespace cobra::onnx {

// The type for a TensorProto::DataType. LibTorch has no unsigned integers of 16, 32 and 64 bits:
// they are carried as the next wider signed type (64: as int64); integers of 2 and 4 bits as those
// of 8. Unimplemented for strings and floating point numbers of 8 and fewer bits.
absl::StatusOr<graph::DType> DTypeOf(int32_t onnx_type);
// Bits of an unsigned type that is represented by a wider one; 0 for all others.
int UnsignedBits(int32_t onnx_type);
// The least and the largest integer of a type that QuantizeLinear gives. REQUIRES: an integer type
// of at most 32 bits.
struct IntegerRange {
  double low, high;
};
IntegerRange RangeOf(int32_t onnx_type);
bool IsNarrow(int32_t onnx_type);  // an integer of 2 or 4 bits
// The element type of a tensor as the format has it, which the tensor remembers if its own type
// does not say it.
int32_t OnnxTypeOf(const Tensor& tensor);

// The type, after a check that the data, if it is in the file, has the size of the shape.
// Unimplemented for strings.
absl::StatusOr<graph::TensorType> TypeOf(const ::onnx::TensorProto& proto);
// Bytes of the data of `elements` elements.
int64_t BytesOf(int32_t onnx_type, int64_t elements);
// Whether the tensor has its data elsewhere, in the file that LocationOf names (empty: it was left
// out, without_weights.h).
bool IsElsewhere(const ::onnx::TensorProto& proto);
std::string LocationOf(const ::onnx::TensorProto& proto);
// Marks a tensor whose `bytes` bytes of data are left out.
void MarkLeftOut(int64_t bytes, ::onnx::TensorProto* proto);
// REQUIRES: TypeOf(proto) is OK, and the data is here.
Values Decode(const ::onnx::TensorProto& proto);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_TENSOR_DATA_H_
