// Forms and queries: "multipart/form-data" (RFC 7578), as `curl -F` and browsers send it, and
// "a=1&b=2".
#ifndef COBRA_SERVER_HTTP_FORM_H_
#define COBRA_SERVER_HTTP_FORM_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::http {

struct Part {
  std::string name;
  std::optional<std::string> file_name;  // of a file
  absl::string_view value;               // in the body
};

// More than this in one form is refused.
inline constexpr size_t kMaxParts = 2000;

// The media type of a Content-Type, in small letters: "multipart/form-data".
std::string MediaType(absl::string_view content_type);

// The parts of `body`, which they point into. Errors are Diagnostics.
absl::StatusOr<std::vector<Part>> ParseMultipart(absl::string_view content_type, absl::string_view body);

// Decoded, in their order.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseQuery(absl::string_view query);

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_FORM_H_
