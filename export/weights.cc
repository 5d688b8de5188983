#include "export/weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/file/new_file.h"
#include "graph/constants/const_eval.h"
#include "graph/shape/index_bounds.h"
#include "nlohmann/json.hpp"

namespace cobra::exporting {
namespace {

using graph::DType;
using graph::ValueRef;

// splitmix64: the same numbers on every machine.
class NumberSource {
 public:
  explicit NumberSource(uint64_t seed) : state_(seed) {}
  double Uniform(double low, double high) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return low + static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1.0p-53 * (high - low);
  }

 private:
  uint64_t state_;
};

// REQUIRES: the value is already rounded to the type (graph::RoundTo), so that what is cut off is
// zero.
uint16_t BFloat16Bits(double value) {
  const float rounded = static_cast<float>(value);
  uint32_t bits;
  std::memcpy(&bits, &rounded, sizeof(bits));
  return static_cast<uint16_t>(bits >> 16);
}

uint16_t HalfBits(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;  // infinity
  if (magnitude < std::ldexp(1.0, -14)) return sign | static_cast<uint16_t>(std::ldexp(magnitude, 24));
  int exponent = 0;
  const double mantissa = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  return sign | static_cast<uint16_t>((exponent + 14) << 10) | static_cast<uint16_t>(std::ldexp(mantissa, 11) - 1024);
}

double FromHalfBits(uint16_t bits) {
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return mantissa == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

double FromBFloat16Bits(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

template <typename T>
std::string Packed(absl::Span<const double> values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<double> Unpacked(absl::string_view bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(value);
  }
  return values;
}

// Large tensors repeat a block. Its length is a prime, so that its period is not a row's.
constexpr int64_t kBlock = 65521;

std::string RandomBytes(const graph::TensorType& type, double low, double high, uint64_t seed) {
  NumberSource numbers(seed);
  const int64_t count = type.num_elements();
  std::vector<double> block(static_cast<size_t>(std::min(count, kBlock)));
  const bool whole = graph::IsIntegral(type.dtype), logical = type.dtype == DType::bool_;
  for (double& value : block) {
    value = logical ? std::floor(numbers.Uniform(0, 2)) : numbers.Uniform(low, high);
    if (whole) value = std::floor(value);
    if (!whole && !logical) {
      if (std::abs(value) < 1e-3) value = 1e-3;  // no zeros, which skip work, and no values near denormals
      value = graph::RoundTo(type.dtype, value);
    }
  }
  const std::string head = BytesOf(type.dtype, block);
  std::string bytes(static_cast<size_t>(type.num_bytes()), '\0');
  for (size_t at = 0; at < bytes.size(); at += head.size())
    std::memcpy(&bytes[at], head.data(), std::min(head.size(), bytes.size() - at));
  return bytes;
}

// Bounds as those of the worker's executor.
std::string RandomTensor(const graph::IntegerBounds& bounds, ValueRef ref, const graph::TensorType& type,
                         uint64_t seed) {
  double low = -1, high = 1;
  const bool parameter = ref.kind == ValueRef::Kind::kParameter;
  if (graph::IsIntegral(type.dtype)) {
    const auto bound = bounds.find({ref.kind, ref.index});
    low = 0;
    high = bound == bounds.end() ? 2 : static_cast<double>(std::max<int64_t>(bound->second, 1));
  } else if (ref.kind == ValueRef::Kind::kBuffer || (parameter && type.rank() <= 1)) {
    low = 0.5;  // running variances, scales: positive and about one
    high = 1.5;
  } else if (parameter && type.shape[0] > 0) {
    const double fan_in = static_cast<double>(std::max<int64_t>(type.num_elements() / type.shape[0], 1));
    high = std::sqrt(3 / fan_in);  // keeps the variance of activations near one
    low = -high;
  }
  const Hash128 own = HashBytes(absl::StrCat(seed, "/", static_cast<int>(ref.kind), "/", ref.index));
  return RandomBytes(type, low, high, own.low);
}

std::vector<ValueRef> TensorsOf(const graph::Graph& graph) {
  std::vector<ValueRef> refs;
  const auto add = [&refs](absl::Span<const graph::NamedTensor> tensors, ValueRef (*ref)(int32_t)) {
    for (size_t i = 0; i < tensors.size(); ++i) refs.push_back(ref(static_cast<int32_t>(i)));
  };
  add(graph.parameters(), ValueRef::Parameter);
  add(graph.buffers(), ValueRef::Buffer);
  add(graph.constants(), ValueRef::Constant);
  return refs;
}

const graph::NamedTensor& TensorOf(const graph::Graph& graph, ValueRef ref) {
  return ref.kind == ValueRef::Kind::kParameter ? graph.parameters()[ref.index]
         : ref.kind == ValueRef::Kind::kBuffer  ? graph.buffers()[ref.index]
                                                : graph.constants()[ref.index];
}

}  // namespace

absl::string_view SafetensorsType(DType dtype) {
  switch (dtype) {
    case DType::float32: return "F32";
    case DType::float16: return "F16";
    case DType::bfloat16: return "BF16";
    case DType::float64: return "F64";
    case DType::int64: return "I64";
    case DType::int32: return "I32";
    case DType::int16: return "I16";
    case DType::int8: return "I8";
    case DType::uint8: return "U8";
    case DType::bool_: return "BOOL";
    case DType::complex64: return "C64";
    case DType::complex128: return "C128";
  }
  return "";
}

std::string BytesOf(DType dtype, absl::Span<const double> values) {
  switch (dtype) {
    case DType::float32: return Packed<float>(values);
    case DType::float64: return Packed<double>(values);
    case DType::int64: return Packed<int64_t>(values);
    case DType::int32: return Packed<int32_t>(values);
    case DType::int16: return Packed<int16_t>(values);
    case DType::int8: return Packed<int8_t>(values);
    case DType::uint8: return Packed<uint8_t>(values);
    case DType::bool_: return Packed<bool>(values);
    default: break;
  }
  std::vector<double> bits(values.begin(), values.end());
  for (double& value : bits) {
    value = graph::RoundTo(dtype, value);
    value = dtype == DType::float16 ? HalfBits(value) : BFloat16Bits(value);
  }
  return Packed<uint16_t>(bits);
}

std::vector<double> ValuesOf(DType dtype, absl::string_view bytes) {
  switch (dtype) {
    case DType::float32: return Unpacked<float>(bytes);
    case DType::float64: return Unpacked<double>(bytes);
    case DType::int64: return Unpacked<int64_t>(bytes);
    case DType::int32: return Unpacked<int32_t>(bytes);
    case DType::int16: return Unpacked<int16_t>(bytes);
    case DType::int8: return Unpacked<int8_t>(bytes);
    case DType::uint8:
    case DType::bool_: return Unpacked<uint8_t>(bytes);
    default: break;
  }
  std::vector<double> values = Unpacked<uint16_t>(bytes);
  for (double& value : values) {
    const auto bits = static_cast<uint16_t>(value);
    value = dtype == DType::float16 ? FromHalfBits(bits) : FromBFloat16Bits(bits);
  }
  return values;
}

absl::StatusOr<Weights> Weights::Random(const graph::Graph& graph, uint64_t seed) {
  const graph::IntegerBounds bounds = graph::IndexBounds(graph);
  Weights weights;
  for (const ValueRef ref : TensorsOf(graph)) {
    const graph::NamedTensor& tensor = TensorOf(graph, ref);
    if (graph::IsComplex(tensor.type.dtype))
      return absl::UnimplementedError(absl::StrCat("the weight \"", tensor.name, "\" has complex numbers"));
    const auto known = graph.KnownValues(ref);
    const bool fits = known != nullptr && static_cast<int64_t>(known->size()) == tensor.type.num_elements();
    weights.Set(ref, fits ? BytesOf(tensor.type.dtype, *known) : RandomTensor(bounds, ref, tensor.type, seed));
  }
  return weights;
}

absl::string_view Weights::Bytes(ValueRef ref) const { return bytes_.at({ref.kind, ref.index}); }

void Weights::Set(ValueRef ref, std::string bytes) { bytes_[{ref.kind, ref.index}] = std::move(bytes); }

std::string RandomInput(const graph::Graph& graph, int32_t input, uint64_t seed) {
  return RandomTensor(graph::IndexBounds(graph), ValueRef::Input(input), graph.inputs()[input].type, seed);
}

WeightsFile::WeightsFile(const graph::Graph& graph) : order_(TensorsOf(graph)) {
  std::set<std::string> taken{"__metadata__"};
  for (const ValueRef ref : order_) {
    const std::string& wanted = TensorOf(graph, ref).name;
    std::string name = wanted;
    for (int number = 1; name.empty() || !taken.insert(name).second; ++number)
      name = absl::StrCat(wanted.empty() ? "tensor" : wanted, ".", number);
    names_[{ref.kind, ref.index}] = std::move(name);
  }
  // The widest types first, so that every tensor begins at a multiple of its element's size.
  std::stable_sort(order_.begin(), order_.end(), [&](ValueRef a, ValueRef b) {
    return graph::DTypeBytes(graph.TypeOf(a).dtype) > graph::DTypeBytes(graph.TypeOf(b).dtype);
  });
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  int64_t end = 0;
  for (const ValueRef ref : order_) {
    const graph::TensorType& type = graph.TypeOf(ref);
    const int64_t begin = end;
    end += type.num_bytes();
    json[NameOf(ref)] = {{"dtype", std::string(SafetensorsType(type.dtype))},
                         {"shape", std::vector<int64_t>(type.shape.begin(), type.shape.end())},
                         {"data_offsets", {begin, end}}};
    offsets_[{ref.kind, ref.index}] = begin;
  }
  std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  header_ = Packed<uint64_t>({static_cast<double>(text.size())}) + text;
  for (auto& [ref, offset] : offsets_) offset += static_cast<int64_t>(header_.size());
}

absl::Status WeightsFile::Write(const Weights& weights, const std::string& path) const {
  // A network's weights may be larger than what is free in memory a second time: written one by
  // one.
  std::string temporary;
  std::FILE* file = CreateBeside(path, &temporary);
  if (file == nullptr) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be written"));
  bool good = std::fwrite(header_.data(), 1, header_.size(), file) == header_.size();
  for (const ValueRef ref : order_) {
    const absl::string_view bytes = weights.Bytes(ref);
    good = good && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  }
  good = std::fclose(file) == 0 && good;
  good = good && std::rename(temporary.c_str(), path.c_str()) == 0;
  if (good) return absl::OkStatus();
  std::remove(temporary.c_str());
  return absl::ResourceExhaustedError(absl::StrCat(path, ": cannot be written whole: is the disk full?"));
}

}  // namespace cobra::exporting
