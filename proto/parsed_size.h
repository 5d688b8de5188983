// The memory that a message takes once it is parsed, computed from its bytes. Two bytes may be an
// empty message of a hundred, so a request of the maximum size could take gigabytes.
#ifndef COBRA_PROTO_PARSED_SIZE_H_
#define COBRA_PROTO_PARSED_SIZE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "base/bytes/parsed_size.h"
#include "google/protobuf/descriptor.h"

namespace cobra::proto {

// `type` is that of a generated message. Stops where the bytes are not a message any more, and soon
// after `most` bytes.
ParsedSize ParsedSizeOf(absl::string_view message, const google::protobuf::Descriptor& type, int64_t most);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_PARSED_SIZE_H_
