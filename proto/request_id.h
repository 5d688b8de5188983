// The id that a caller gives to a call that changes something: repeated after a lost reply, with
// the same id, it is done once. It travels as metadata, like labels.
#ifndef COBRA_PROTO_REQUEST_ID_H_
#define COBRA_PROTO_REQUEST_ID_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::proto {

inline constexpr char kRequestIdName[] = "cobra-request-id";
inline constexpr size_t kMaxRequestIdBytes = 64;

// 32 random hexadecimal digits.
std::string NewRequestId();
// Letters, digits, '-', '_' and '.', at least one and at most kMaxRequestIdBytes. A usage error
// otherwise.
absl::Status CheckRequestId(absl::string_view id);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_REQUEST_ID_H_
