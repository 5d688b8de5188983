// The wire format of Protocol Buffers, field by field: to inspect bytes before they are parsed, and
// for messages that are read and written without a copy of them in memory.
// https://protobuf.dev/programming-guides/encoding/
#ifndef COBRA_BASE_BYTES_WIRE_FORMAT_H_
#define COBRA_BASE_BYTES_WIRE_FORMAT_H_

#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/string_view.h"

namespace cobra {

struct WireField {
  enum class Kind : uint8_t { kVarint, kFixed64, kFixed32, kBytes };  // in the order of the format's first three
  int number = 0;
  Kind kind = Kind::kVarint;
  uint64_t value = 0;       // all but kBytes; of kFixed64 and kFixed32 the bits
  absl::string_view bytes;  // kBytes: text, a message, or packed numbers
  absl::string_view whole;  // the encoded field, including its number
};

// Removes a number from the start of `*rest`. False if there is none that ends within `most` bytes.
inline bool NextVarint(absl::string_view* rest, uint64_t* value, size_t most = 10) {
  uint64_t bits = 0;
  for (size_t i = 0; i < most && i < rest->size(); ++i) {
    const auto byte = static_cast<unsigned char>((*rest)[i]);
    bits |= static_cast<uint64_t>(byte & 127) << (7 * i);
    if (byte < 128) {
      rest->remove_prefix(i + 1);
      *value = bits;
      return true;
    }
  }
  return false;
}

// Removes the next field from `*rest`, which is not empty. False if the bytes are not a message.
// Groups, which proto3 does not have, are rejected.
inline bool NextWireField(absl::string_view* rest, WireField* field) {
  constexpr size_t kMostBytes = 5;  // of a tag and of a size, as in protobuf
  const absl::string_view all = *rest;
  uint64_t tag = 0, size = 0;
  if (!NextVarint(rest, &tag, kMostBytes) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  field->number = static_cast<int>(tag >> 3);
  const auto fixed = [&](WireField::Kind kind, size_t bytes) {
    if (rest->size() < bytes) return false;
    field->kind = kind;
    field->value = 0;
    std::memcpy(&field->value, rest->data(), bytes);
    rest->remove_prefix(bytes);
    return true;
  };
  switch (tag & 7) {
    case 0:
      field->kind = WireField::Kind::kVarint;
      if (!NextVarint(rest, &field->value)) return false;
      break;
    case 1:
      if (!fixed(WireField::Kind::kFixed64, 8)) return false;
      break;
    case 5:
      if (!fixed(WireField::Kind::kFixed32, 4)) return false;
      break;
    case 2:
      if (!NextVarint(rest, &size, kMostBytes) || size > rest->size()) return false;
      field->kind = WireField::Kind::kBytes;
      field->bytes = rest->substr(0, size);
      rest->remove_prefix(size);
      break;
    default: return false;
  }
  field->whole = all.substr(0, all.size() - rest->size());
  return true;
}

// Writes messages from the last byte to the first, so that the length of a message is known when it
// is written. The fields of a message, and the items of a list, are therefore written in reverse
// order.
class WireWriter {
 public:
  // The buffer grows when the guess is too small.
  explicit WireWriter(size_t expected_bytes)
      : capacity_(expected_bytes), at_(expected_bytes), buffer_(new char[expected_bytes]) {}

  absl::string_view bytes() const { return {buffer_.get() + at_, size()}; }
  size_t size() const { return capacity_ - at_; }
  void Clear() { at_ = capacity_; }

  void Varint(uint64_t value) {
    unsigned char digits[10];
    int n = 0;
    while (value >= 128) {
      digits[n++] = static_cast<unsigned char>(value | 128);
      value >>= 7;
    }
    digits[n++] = static_cast<unsigned char>(value);
    std::memcpy(Front(static_cast<size_t>(n)), digits, static_cast<size_t>(n));
  }
  void Number(int field, uint64_t value) {
    Varint(value);
    Tag(field, 0);
  }
  // Zero, the default of proto3, is not written.
  void NumberUnlessZero(int field, uint64_t value) {
    if (value != 0) Number(field, value);
  }
  void Fixed64(uint64_t bits) { std::memcpy(Front(sizeof(bits)), &bits, sizeof(bits)); }
  void Fixed32(uint32_t bits) { std::memcpy(Front(sizeof(bits)), &bits, sizeof(bits)); }
  // Fields that were written elsewhere.
  void Raw(absl::string_view fields) {
    if (!fields.empty()) std::memcpy(Front(fields.size()), fields.data(), fields.size());
  }
  void Double(int field, double value) {
    DoubleBits(value);
    Tag(field, 1);
  }
  void DoubleBits(double value) {
    uint64_t bits = 0;
    static_assert(sizeof(bits) == sizeof(value));
    std::memcpy(&bits, &value, sizeof(bits));
    Fixed64(bits);
  }
  void Text(int field, absl::string_view text) {
    if (!text.empty()) std::memcpy(Front(text.size()), text.data(), text.size());
    Varint(text.size());
    Tag(field, 2);
  }
  void TextUnlessEmpty(int field, absl::string_view text) {
    if (!text.empty()) Text(field, text);
  }
  // Turns what was written since size() was `since` into a message, or a list of packed numbers.
  void Message(int field, size_t since) {
    Varint(size() - since);
    Tag(field, 2);
  }

 private:
  void Tag(int field, uint64_t wire_type) { Varint(static_cast<uint64_t>(field) << 3 | wire_type); }

  char* Front(size_t bytes) {
    if (at_ < bytes) Grow(bytes);
    at_ -= bytes;
    return buffer_.get() + at_;
  }

  void Grow(size_t bytes) {
    const size_t capacity = 2 * capacity_ + bytes;
    std::unique_ptr<char[]> larger(new char[capacity]);
    const size_t at = capacity - size();
    std::memcpy(larger.get() + at, buffer_.get() + at_, size());
    buffer_ = std::move(larger);
    capacity_ = capacity;
    at_ = at;
  }

  size_t capacity_, at_;
  std::unique_ptr<char[]> buffer_;  // without the zeros that a string would be filled with
};

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_WIRE_FORMAT_H_
