#include "frontend/onnx/importer/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/numbers.h"
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

// Newer than Debian's onnx.pb.h.
enum NewerType : int32_t {
  kFloat8E4M3Fn = 17,
  kFloat8E4M3Fnuz,
  kFloat8E5M2,
  kFloat8E5M2Fnuz,
  kUInt4,
  kInt4,
  kFloat4E2M1,
  kFloat8E8M0,
  kUInt2,
  kInt2,
};

// Of one element. Those of 2 and 4 bits share bytes.
int BitsInFile(int32_t onnx_type) {
  switch (onnx_type) {
    case kUInt2:
    case kInt2: return 2;
    case kUInt4:
    case kInt4: return 4;
    case TensorProto::UINT8:
    case TensorProto::INT8:
    case TensorProto::BOOL: return 8;
    case TensorProto::UINT16:
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16: return 16;
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32: return 32;
    case TensorProto::COMPLEX128: return 128;
    default: return 64;
  }
}

// The size of the typed field that the proto's data type uses, in bytes of raw data.
int64_t FieldBytes(const TensorProto& proto) {
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64: return 4 * int64_t{proto.float_data_size()};
    case TensorProto::DOUBLE:
    case TensorProto::COMPLEX128: return 8 * int64_t{proto.double_data_size()};
    case TensorProto::INT64: return 8 * int64_t{proto.int64_data_size()};
    case TensorProto::UINT32: return 4 * int64_t{proto.uint64_data_size()};
    case TensorProto::UINT64: return 8 * int64_t{proto.uint64_data_size()};
    default: return std::max(8, BitsInFile(proto.data_type())) / 8 * int64_t{proto.int32_data_size()};
  }
}

// Elements of 2 or 4 bits, the first in a byte's lowest bits.
Values OfFewBits(const Values& bytes, int32_t onnx_type, int64_t elements) {
  const int bits = BitsInFile(onnx_type), each = 8 / bits, high = 1 << bits;
  const bool is_signed = onnx_type == kInt4 || onnx_type == kInt2;
  Values values(elements);
  for (int64_t i = 0; i < elements; ++i) {
    int value = static_cast<uint8_t>(static_cast<int64_t>(bytes[i / each])) >> (i % each * bits) & (high - 1);
    if (is_signed && value >= high / 2) value -= high;
    values[i] = value;
  }
  return values;
}

Values DecodeRaw(const TensorProto& proto) {
  const std::string& raw = proto.raw_data();
  switch (proto.data_type()) {
    case TensorProto::FLOAT:
    case TensorProto::COMPLEX64: return FromRaw<float>(raw);
    case kUInt2:
    case kInt2:
    case kUInt4:
    case kInt4:
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
    case kInt2:
    case kInt4:
    case TensorProto::INT8: return graph::DType::int8;
    case kUInt2:
    case kUInt4:
    case TensorProto::UINT8: return graph::DType::uint8;
    case TensorProto::BOOL: return graph::DType::bool_;
    case TensorProto::COMPLEX64: return graph::DType::complex64;
    case TensorProto::COMPLEX128: return graph::DType::complex128;
    case TensorProto::STRING: return absl::UnimplementedError("tensors of strings are not supported");
    case kFloat8E4M3Fn:
    case kFloat8E4M3Fnuz:
    case kFloat8E5M2:
    case kFloat8E5M2Fnuz:
    case kFloat8E8M0:
    case kFloat4E2M1:
      return absl::UnimplementedError(
          "floating point numbers of 8 and fewer bits are not supported: LibTorch 1.13 has none");
    default: return absl::InvalidArgumentError(absl::StrCat(onnx_type, " is not an element type of ONNX"));
  }
}

int UnsignedBits(int32_t onnx_type) {
  return onnx_type == TensorProto::UINT16   ? 16
         : onnx_type == TensorProto::UINT32 ? 32
         : onnx_type == TensorProto::UINT64 ? 64
                                            : 0;
}

IntegerRange RangeOf(int32_t onnx_type) {
  const bool is_signed = onnx_type == TensorProto::INT8 || onnx_type == TensorProto::INT16 ||
                         onnx_type == TensorProto::INT32 || onnx_type == kInt4 || onnx_type == kInt2;
  const double count = std::ldexp(1.0, BitsInFile(onnx_type));
  return is_signed ? IntegerRange{-count / 2, count / 2 - 1} : IntegerRange{0, count - 1};
}

bool IsNarrow(int32_t onnx_type) { return BitsInFile(onnx_type) < 8; }

int32_t OnnxTypeOf(const Tensor& tensor) {
  if (tensor.onnx_type != 0) return tensor.onnx_type;
  switch (tensor.type.dtype) {
    case graph::DType::float32: return TensorProto::FLOAT;
    case graph::DType::float16: return TensorProto::FLOAT16;
    case graph::DType::bfloat16: return TensorProto::BFLOAT16;
    case graph::DType::float64: return TensorProto::DOUBLE;
    case graph::DType::int64: return TensorProto::INT64;
    case graph::DType::int32: return TensorProto::INT32;
    case graph::DType::int16: return TensorProto::INT16;
    case graph::DType::int8: return TensorProto::INT8;
    case graph::DType::uint8: return TensorProto::UINT8;
    case graph::DType::bool_: return TensorProto::BOOL;
    case graph::DType::complex64: return TensorProto::COMPLEX64;
    default: return TensorProto::COMPLEX128;
  }
}

int64_t BytesOf(int32_t onnx_type, int64_t elements) {
  const int bits = BitsInFile(onnx_type);
  return bits < 8 ? (elements + 8 / bits - 1) / (8 / bits) : elements * (bits / 8);
}

bool IsElsewhere(const TensorProto& proto) {
  return proto.data_location() == TensorProto::EXTERNAL || proto.external_data_size() > 0;
}

std::string LocationOf(const TensorProto& proto) {
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") return entry.value();
  }
  return "";
}

void MarkLeftOut(int64_t bytes, TensorProto* proto) {
  proto->set_data_location(TensorProto::EXTERNAL);
  auto* length = proto->add_external_data();
  length->set_key("length");
  length->set_value(absl::StrCat(bytes));
}

absl::StatusOr<graph::TensorType> TypeOf(const TensorProto& proto) {
  graph::TensorType type;
  COBRA_ASSIGN_OR_RETURN(type.dtype, DTypeOf(proto.data_type()));
  constexpr int64_t kMost = int64_t{1} << 40;  // elements, so that their bytes do not overflow
  int64_t elements = 1;
  for (int64_t d : proto.dims()) {
    if (d < 0 || d > kMost) return absl::InvalidArgumentError(absl::StrCat("has a dimension of ", d));
    type.shape.push_back(d);
    elements = d == 0 || elements == 0 ? 0 : elements > kMost / d ? kMost + 1 : elements * d;
  }
  const bool empty = std::count(type.shape.begin(), type.shape.end(), 0) > 0;
  if (empty) elements = 0;
  int64_t bytes = proto.has_raw_data() ? static_cast<int64_t>(proto.raw_data().size()) : FieldBytes(proto);
  if (IsElsewhere(proto)) {
    if (elements > kMost)
      return absl::InvalidArgumentError(absl::StrCat("has the shape ", graph::ShapeText(type.shape)));
    bytes = BytesOf(proto.data_type(), elements);
    for (const auto& entry : proto.external_data()) {
      if (entry.key() == "length" && !absl::SimpleAtoi(entry.value(), &bytes)) bytes = -1;
    }
  }
  if (elements > kMost || BytesOf(proto.data_type(), elements) != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("has data of ", bytes, " bytes, its shape is ", graph::ShapeText(type.shape)));
  }
  return type;
}

Values Decode(const TensorProto& proto) {
  if (BitsInFile(proto.data_type()) < 8) {
    int64_t elements = 1;
    for (int64_t d : proto.dims()) elements *= d;
    return OfFewBits(proto.has_raw_data() ? DecodeRaw(proto) : FromField(proto.int32_data()), proto.data_type(),
                     elements);
  }
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
