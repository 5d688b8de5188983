// Of _cobra: functions that unpack data files. An untrusted program can call all of this, on bytes
// of its own.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/base/casts.h"
#include "frontend/python/runtime/heap/big_int.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

// Some 400 MB a second come out of a stream of zeros, with their checksum.
constexpr int64_t StepsToInflate(int64_t bytes) { return bytes / 24; }

Result<absl::string_view> BytesArgument(Interpreter& interp, Value v, absl::string_view function) {
  if (v.IsBytes()) return v.as<BytesObject>()->view();
  return interp.Raise(interp.types().TypeError, function, "(): a bytes-like object is required, not '",
                      interp.TypeName(v), "'");
}

// crc32(data, value), adler32(data, value)
template <typename Sum>
NativeFunction Checksum(absl::string_view name, Sum sum, int64_t start) {
  return [name, sum, start](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value data;
    int64_t value = start;
    COBRA_TRY(ArgReader(interp, name, args).Required("data", &data).Optional("value", &value).Finish());
    COBRA_TRY_ASSIGN(const absl::string_view bytes, BytesArgument(interp, data, name));
    COBRA_TRY(interp.Charge(StepsToInflate(static_cast<int64_t>(bytes.size()))));
    return Value::Int(
        static_cast<int64_t>(sum(static_cast<uLong>(value) & 0xffffffff, reinterpret_cast<const Bytef*>(bytes.data()),
                                 static_cast<uInt>(bytes.size()))));
  };
}

struct Inflated {
  std::string kept;
  int64_t size = 0;  // of all that came out
  uLong crc = 0;
  int code = Z_OK;
  std::string error;
  int64_t used = 0;  // of what went in
};

class Stream {
 public:
  Stream(absl::string_view packed, int window_bits) {
    ok_ = inflateInit2(&z_, window_bits) == Z_OK;
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib's interface has no const
    z_.avail_in = static_cast<uInt>(packed.size());
    size_ = packed.size();
  }
  ~Stream() {
    if (ok_) inflateEnd(&z_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  bool ok() const { return ok_; }
  // The next bytes into `buffer`; how many.
  size_t Next(char* buffer, size_t size, int* code) {
    z_.next_out = reinterpret_cast<Bytef*>(buffer);
    z_.avail_out = static_cast<uInt>(size);
    *code = inflate(&z_, Z_NO_FLUSH);
    return size - z_.avail_out;
  }
  std::string error() const { return z_.msg == nullptr ? "" : z_.msg; }
  int64_t used() const { return static_cast<int64_t>(size_ - z_.avail_in); }

 private:
  z_stream z_ = {};
  bool ok_ = false;
  size_t size_ = 0;
};

// Unpacks to the end of the stream or up to `most` bytes, and keeps the first `keep` of them.
Result<Inflated> Inflate(Interpreter& interp, absl::string_view packed, int window_bits, int64_t most, int64_t keep) {
  Inflated out;
  Stream stream(packed, window_bits);
  if (!stream.ok()) {
    out.code = Z_STREAM_ERROR;
    out.error = "bad window size";
    return out;
  }
  std::vector<char> buffer(1 << 16);
  while (out.size < most) {
    const size_t got =
        stream.Next(buffer.data(), std::min<size_t>(buffer.size(), static_cast<size_t>(most - out.size)), &out.code);
    COBRA_TRY(interp.Charge(1 + StepsToInflate(static_cast<int64_t>(got))));
    out.crc = crc32(out.crc, reinterpret_cast<const Bytef*>(buffer.data()), static_cast<uInt>(got));
    const int64_t room = std::max<int64_t>(0, keep - out.size);
    out.kept.append(buffer.data(), std::min<size_t>(got, static_cast<size_t>(room)));
    out.size += static_cast<int64_t>(got);
    if (out.code != Z_OK) break;
  }
  out.error = stream.error();
  out.used = stream.used();
  return out;
}

// inflate(data, window_bits, most, keep) -> (the first `keep` bytes, how many came out, their CRC,
// zlib's code, its message, how many bytes were used)
Result<Value> InflateFunction(Interpreter& interp, const CallArgs& args) {
  Value data;
  int64_t window_bits = 15, most = 0, keep = 0;
  COBRA_TRY(ArgReader(interp, "inflate", args)
                .Required("data", &data)
                .Required("window_bits", &window_bits)
                .Required("most", &most)
                .Required("keep", &keep)
                .Finish());
  COBRA_TRY_ASSIGN(const absl::string_view bytes, BytesArgument(interp, data, "inflate"));
  keep = std::min(keep, interp.limits().sequence_items + 1);  // one more is an error below
  window_bits = std::clamp<int64_t>(window_bits, -100, 100);
  COBRA_TRY_ASSIGN(const Inflated out, Inflate(interp, bytes, static_cast<int>(window_bits), most, keep));
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.kept.size()), 1));
  return Value(interp.NewTuple({Value(interp.NewBytes(out.kept)), Value::Int(out.size),
                                Value::Int(static_cast<int64_t>(out.crc)), Value::Int(out.code),
                                Value(interp.NewStr(out.error)), Value::Int(out.used)}));
}

double HalfToDouble(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  return sign * std::ldexp(exponent ? fraction | 1024 : fraction, std::max(exponent, 1) - 25);
}

uint64_t BitsAt(const unsigned char* p, int64_t size, bool big) {
  uint64_t bits = 0;
  for (int64_t i = 0; i < size; ++i) bits |= uint64_t{p[big ? size - 1 - i : i]} << (8 * i);
  return bits;
}

Value IntegerOf(Interpreter& interp, uint64_t bits, int64_t size, bool is_signed) {
  const int unused = static_cast<int>(64 - 8 * size);
  if (is_signed) return Value::Int(static_cast<int64_t>(bits << unused) >> unused);
  if (bits >> 63 == 0) return Value::Int(static_cast<int64_t>(bits));
  char bytes[sizeof(bits)];
  std::memcpy(bytes, &bits, sizeof(bits));
  return interp.NewInt(BigInt::FromBytes(absl::string_view(bytes, sizeof(bits))));
}

double FloatOf(uint64_t bits, int64_t size) {
  if (size == 2) return HalfToDouble(static_cast<uint16_t>(bits));
  return size == 4 ? static_cast<double>(absl::bit_cast<float>(static_cast<uint32_t>(bits)))
                   : absl::bit_cast<double>(bits);
}

// numbers(data, at, count, kind, size, big): the list of `count` numbers of `size` bytes each;
// kind: 'i', 'u', 'f',
// 'b' (bool), 'c' (complex: of two floats)
Result<Value> Numbers(Interpreter& interp, const CallArgs& args) {
  Value data;
  int64_t at = 0, count = 0, size = 0;
  std::string kind;
  bool big = false;
  COBRA_TRY(ArgReader(interp, "numbers", args)
                .Required("data", &data)
                .Required("at", &at)
                .Required("count", &count)
                .Required("kind", &kind)
                .Required("size", &size)
                .Required("big", &big)
                .Finish());
  COBRA_TRY_ASSIGN(const absl::string_view bytes, BytesArgument(interp, data, "numbers"));
  const int64_t length = static_cast<int64_t>(bytes.size());
  const bool fits = size > 0 && size <= 16 && at >= 0 && at <= length && count >= 0 && count <= (length - at) / size;
  if (!fits || kind.size() != 1) return interp.Raise(interp.types().ValueError, "numbers(): out of range");
  COBRA_TRY(interp.CheckSize(count));
  COBRA_TRY(interp.Charge(count / 4));
  std::vector<Value> out(static_cast<size_t>(count));
  const int64_t part = kind == "c" ? size / 2 : size;
  const bool real = kind == "f" || kind == "c";
  if (part > 8 || (real && part != 2 && part != 4 && part != 8))
    return interp.Raise(interp.types().ValueError, "numbers(): no such size");
  for (int64_t i = 0; i < count; ++i) {
    const auto* p = reinterpret_cast<const unsigned char*>(bytes.data()) + at + i * size;
    const uint64_t bits = BitsAt(p, part, big);
    Value& v = out[static_cast<size_t>(i)];
    if (kind == "f") {
      v = Value::Float(FloatOf(bits, part));
    } else if (kind == "c") {
      v = interp.NewComplex(FloatOf(bits, part), FloatOf(BitsAt(p + part, part, big), part));
    } else if (kind == "b") {
      v = Value::Bool(bits != 0);
    } else {
      v = IntegerOf(interp, bits, size, kind == "i");
    }
  }
  return Value(interp.NewList(out));
}

}  // namespace

void AddCompressionFunctions(NativeModuleBuilder& m) {
  m.Function("crc32", Checksum(
                          "crc32", [](uLong v, const Bytef* p, uInt n) { return crc32(v, p, n); }, 0))
      .Function("adler32", Checksum(
                               "adler32", [](uLong v, const Bytef* p, uInt n) { return adler32(v, p, n); }, 1))
      .Function("inflate", InflateFunction)
      .Function("numbers", Numbers);
}

}  // namespace cobra::python
