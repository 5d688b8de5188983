// A label of a call: a name and a value of the caller's own, stored with the predictions of the call. It travels as
// metadata, so that equal questions stay equal bytes.
#ifndef COBRA_PROTO_LABEL_H_
#define COBRA_PROTO_LABEL_H_

#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::proto {

// Of the metadata's key: "cobra-label-team".
inline constexpr char kLabelPrefix[] = "cobra-label-";
inline constexpr int kMaxLabels = 8;           // of a call
inline constexpr size_t kMaxLabelBytes = 256;  // of a value

// What gRPC takes as metadata, and not too long. A usage error otherwise.
absl::Status CheckLabel(absl::string_view name, absl::string_view value);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_LABEL_H_
