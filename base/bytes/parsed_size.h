// The memory that a protobuf takes once it is parsed, computed from its bytes: two bytes may be an
// empty message of some hundred, so a few megabytes could take gigabytes.
#ifndef COBRA_BASE_BYTES_PARSED_SIZE_H_
#define COBRA_BASE_BYTES_PARSED_SIZE_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "base/bytes/wire_format.h"

namespace cobra {

struct ParsedSize {
  int64_t bytes = 0;
  bool well_formed = true;
};

// What a field adds. `Type` names a type of message.
template <typename Type>
struct ParsedField {
  int64_t bytes = 0;            // that it takes in memory, without what the message in it holds
  std::optional<Type> message;  // the type of the message in it; none: there is no message in it
};

template <typename Type>
using SizeOfParsedField = absl::FunctionRef<ParsedField<Type>(Type type, const WireField& field)>;

// Adds to `*size` what the message takes. False if it stopped before the end: where the bytes are
// not a message any more, or soon after `most` bytes.
template <typename Type>
bool AddParsedSize(absl::string_view message, Type type, int64_t most, SizeOfParsedField<Type> size_of,
                   ParsedSize* size, int depth = 0) {
  constexpr int kMaxDepth = 100;  // protobuf's own limit
  if (depth > kMaxDepth) return size->well_formed = false;
  WireField field;
  while (!message.empty()) {
    if (!NextWireField(&message, &field)) return size->well_formed = false;
    const ParsedField<Type> of = size_of(type, field);
    size->bytes += of.bytes;
    if (of.message.has_value() && !AddParsedSize(field.bytes, *of.message, most, size_of, size, depth + 1))
      return false;
    if (size->bytes > most) return false;
  }
  return true;
}

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_PARSED_SIZE_H_
