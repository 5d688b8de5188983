#include "frontend/onnx/tensor_data.h"

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {
namespace {

using ::onnx::TensorProto;

// IEEE 754 binary16.
double FromHalf(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

double FromBFloat16(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

// ONNX specifies little-endian bytes, which is also the order on all our platforms.
template <typename T>
Values FromRaw(const std::string& raw) {
  Values values(raw.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

template <typename Field>
Values FromField(const Field& field) {
  return Values(field.begin(), field.end());
}

int BytesInFile(int32_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL: return 1;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: return 2;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32: return 4;
    case TensorProto::COMPLEX128: return 16;
    default: return 8;
  }
}

// The number of elements in the typed field that the proto's data type uses.
int64_t FieldSize(const TensorProto& proto) {
  switch (proto.data_type()) {
    case TensorProto::FLOAT: return proto.float_data_size();
    case TensorProto::COMPLEX64: return proto.float_data_size() / 2;
    case TensorProto::DOUBLE: return proto.double_data_size();
    case TensorProto::COMPLEX128: return proto.double_data_size() / 2;
    case TensorProto::INT64: return proto.int64_data_size();
    case TensorProto::UINT32:
    case TensorProto::UINT64: return proto.uint64_data_size();
    default: return proto.int32_data_size();
  }
}

Values DecodeRaw(const TensorProto& proto) {
  const std::string& raw = proto.raw_data();
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64: return FromRaw<float>(raw);
    case TensorProto::UINT8:
    case TensorProto::BOOL: return FromRaw<uint8_t>(raw);
    case TensorProto::INT8: return FromRaw<int8_t>(raw);
    case TensorProto::UINT16: return FromRaw<uint16_t>(raw);
    case TensorProto::INT16: return FromRaw<int16_t>(raw);
    case TensorProto::INT32: return FromRaw<int32_t>(raw);
    case TensorProto::UINT32: return FromRaw<uint32_t>(raw);
    case TensorProto::INT64: return FromRaw<int64_t>(raw);
    case TensorProto::UINT64: return FromRaw<uint64_t>(raw);
    default: return FromRaw<double>(raw);
  }
}

}  // namespace

absl::StatusOr<graph::DType> DTypeOf(int32_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::FLOAT: return graph::DType::float32;
    case TensorProto::FLOAT16: return graph::DType::float16;
    case TensorProto::BFLOAT16: return graph::DType::bfloat16;
    case TensorProto::DOUBLE: return graph::DType::float64;
    case TensorProto::INT64:
    case TensorProto::UINT32:
    case TensorProto::UINT64: return graph::DType::int64;
    case TensorProto::INT32:
    case TensorProto::UINT16: return graph::DType::int32;
    case TensorProto::INT16: return graph::DType::int16;
    case TensorProto::INT8: return graph::DType::int8;
    case TensorProto::UINT8: return graph::DType::uint8;
    case TensorProto::BOOL: return graph::DType::bool_;
    case TensorProto::COMPLEX64: return graph::DType::complex64;
    case TensorProto::COMPLEX128: return graph::DType::complex128;
    case TensorProto::STRING: return absl::UnimplementedError("tensors of strings are not supported");
    default: return absl::InvalidArgumentError(absl::StrCat(onnx_type, " is not an element type of ONNX"));
  }
}

int UnsignedBits(int32_t onnx_type) {
  return onnx_type == TensorProto::UINT16   ? 16
         : onnx_type == TensorProto::UINT32 ? 32
         : onnx_type == TensorProto::UINT64 ? 64
                                            : 0;
}

absl::StatusOr<graph::TensorType> TypeOf(const TensorProto& proto) {
  graph::TensorType type;
  COBRA_ASSIGN_OR_RETURN(type.dtype, DTypeOf(proto.data_type()));
  if (proto.data_location() == TensorProto::EXTERNAL || proto.external_data_size() > 0) {
    return absl::UnimplementedError(
        "its data is in another file; save the model with its weights inside (save_as_external_data=False)");
  }
  // The product of the dimensions may not exceed the number of elements in the data, so it cannot overflow.
  const int64_t elements = proto.has_raw_data()
                               ? static_cast<int64_t>(proto.raw_data().size()) / BytesInFile(proto.data_type())
                               : FieldSize(proto);
  int64_t product = 1;
  bool empty = false;
  for (int64_t d : proto.dims()) {
    if (d < 0 || d > int64_t{1} << 40) return absl::InvalidArgumentError(absl::StrCat("has a dimension of ", d));
    empty = empty || d == 0;
    type.shape.push_back(d);
  }
  for (int64_t d : proto.dims()) {
    if (empty || d > elements / product) {
      product = empty ? 0 : -1;
      break;
    }
    product *= d;
  }
  const bool whole = !proto.has_raw_data() || proto.raw_data().size() % BytesInFile(proto.data_type()) == 0;
  if (product != elements || !whole) {
    return absl::InvalidArgumentError(
        absl::StrCat("has data for ", elements, " elements, its shape is ", graph::ShapeText(type.shape)));
  }
  return type;
}

Values Decode(const TensorProto& proto) {
  const bool half = proto.data_type() == TensorProto::FLOAT16, brain = proto.data_type() == TensorProto::BFLOAT16;
  if (half || brain) {
    Values values = proto.has_raw_data() ? FromRaw<uint16_t>(proto.raw_data()) : FromField(proto.int32_data());
    for (double& v : values) v = half ? FromHalf(static_cast<uint16_t>(v)) : FromBFloat16(static_cast<uint16_t>(v));
    return values;
  }
  if (proto.has_raw_data()) return DecodeRaw(proto);
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64: return FromField(proto.float_data());
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX128: return FromField(proto.double_data());
    case TensorProto::INT64: return FromField(proto.int64_data());
    case TensorProto::UINT32:
    case TensorProto::UINT64: return FromField(proto.uint64_data());
    default: return FromField(proto.int32_data());
  }
}

}  // namespace cobra::onnx
