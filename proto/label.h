// A label of a call: a name and a value of the caller's own, stored with the predictions of the
// call. It travels as metadata, so that equal questions stay equal bytes.
#ifndef COBRA_PROTO_LABEL_H_
#define COBRA_PROTO_LABEL_H_

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace cobra::proto {

// Of the metadata's key: "cobra-label-team".
inline constexpr char kLabelPrefix[] = "cobra-label-";
inline constexpr int kMaxLabels = 8;           // of a call
inline constexpr size_t kMaxLabelBytes = 256;  // of a value

// A name that gRPC takes as a key of metadata, and a value of visible characters in UTF-8, both not
// too long. A usage error otherwise.
absl::Status CheckLabel(absl::string_view name, absl::string_view value);

// The key and the value of its metadata. gRPC takes other values than ASCII as binary data only,
// under a key that ends in -bin; it ends the process over others. REQUIRES: CheckLabel(name, value)
// is OK.
std::pair<std::string, std::string> LabelMetadata(absl::string_view name, absl::string_view value);
// The reverse of the key, without kLabelPrefix.
absl::string_view LabelName(absl::string_view key);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_LABEL_H_
