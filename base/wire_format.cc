#include "base/wire_format.h"

namespace cobra {
namespace {

bool Varint(absl::string_view* bytes, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes->front());
    bytes->remove_prefix(1);
    *value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

bool Skip(absl::string_view* bytes, uint64_t count) {
  if (bytes->size() < count) return false;
  bytes->remove_prefix(count);
  return true;
}

}  // namespace

bool NextWireField(absl::string_view* rest, WireField* field) {
  uint64_t tag = 0, value = 0;
  if (!Varint(rest, &tag) || tag > UINT32_MAX || tag >> 3 == 0) return false;
  field->number = static_cast<int>(tag >> 3);
  field->kind = WireField::Kind::kNumber;
  field->bytes = {};
  switch (tag & 7) {
    case 0: return Varint(rest, &value);
    case 1: return Skip(rest, 8);
    case 5: return Skip(rest, 4);
    case 2: {
      if (!Varint(rest, &value) || value > rest->size()) return false;
      field->kind = WireField::Kind::kBytes;
      field->bytes = rest->substr(0, value);
      return Skip(rest, value);
    }
    default: return false;
  }
}

}  // namespace cobra
