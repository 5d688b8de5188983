// What a message takes in memory once it is parsed, by a look at its bytes: two bytes may be an empty message of a
// hundred, so that a request of the largest size that is let in could take gigabytes.
#ifndef COBRA_PROTO_PARSED_SIZE_H_
#define COBRA_PROTO_PARSED_SIZE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace cobra::proto {

struct ParsedSize {
  int64_t bytes = 0;  // of messages, texts, lists and of fields that nobody knows
  bool well_formed = true;
};
// `type` is of a generated message. Stops where the bytes are no message any more, and soon after `most` bytes.
ParsedSize ParsedSizeOf(absl::string_view message, const google::protobuf::Descriptor& type, int64_t most);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_PARSED_SIZE_H_
