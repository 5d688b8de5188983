// Messages of the API as JSON, by protobuf's own mapping
// (https://protobuf.dev/programming-guides/json): names of fields as the .proto files have them,
// int64 as text, bytes in base64.
#ifndef COBRA_SERVER_HTTP_TRANSCODE_H_
#define COBRA_SERVER_HTTP_TRANSCODE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"

namespace cobra::http {

// The bytes of a message of that type. Errors are Diagnostics of kind kUsage that name the field,
// or of kind kLimit.
// "" is a message without fields. JSON is not parsed to a message first, so it takes only a few
// bytes of memory for each of its bytes.
absl::StatusOr<std::string> BytesOfJson(const google::protobuf::Descriptor& type, absl::string_view json);
// The same from the fields of a query, which cannot set fields that are messages. A field may be
// given several times if it repeats.
absl::StatusOr<std::string> BytesOfQuery(const google::protobuf::Descriptor& type,
                                         const std::vector<std::pair<std::string, std::string>>& fields);
// Fields that are not set have their default values, except messages.
absl::StatusOr<std::string> JsonOfBytes(const google::protobuf::Descriptor& type, absl::string_view bytes);

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_TRANSCODE_H_
