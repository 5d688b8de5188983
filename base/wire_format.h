// The wire format of Protocol Buffers, field by field, to inspect bytes before they are parsed.
// https://protobuf.dev/programming-guides/encoding/
#ifndef COBRA_BASE_WIRE_FORMAT_H_
#define COBRA_BASE_WIRE_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace cobra {

struct WireField {
  enum class Kind : uint8_t { kNumber, kBytes };
  int number = 0;
  Kind kind = Kind::kNumber;
  absl::string_view bytes;  // kBytes: text, a message, or packed numbers
};

// Removes the next field from `*rest`, which is not empty. False if the bytes are not a message. Groups, which proto3
// does not have, are rejected.
bool NextWireField(absl::string_view* rest, WireField* field);

}  // namespace cobra

#endif  // COBRA_BASE_WIRE_FORMAT_H_
