// TensorProto in, types and numbers out. Checks for wrong sizes, missing data and unknown types.
#ifndef COBRA_FRONTEND_ONNX_TENSOR_DATA_H_
#define COBRA_FRONTEND_ONNX_TENSOR_DATA_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontend/onnx/value.h"
#include "graph/types.h"

namespace cobra::onnx {

// The type for a TensorProto::DataType. LibTorch has no unsigned integers of 16, 32 and 64 bits: they are carried as
// the next wider signed type (64: as int64). Unimplemented for strings.
absl::StatusOr<graph::DType> DTypeOf(int32_t onnx_type);
// Bits of an unsigned type that is represented by a wider one; 0 for all others.
int UnsignedBits(int32_t onnx_type);

// The type, after a check that the data has the size of the shape. Unimplemented for external data and strings.
absl::StatusOr<graph::TensorType> TypeOf(const ::onnx::TensorProto& proto);
// REQUIRES: TypeOf(proto) is OK.
Values Decode(const ::onnx::TensorProto& proto);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_TENSOR_DATA_H_
