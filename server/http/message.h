// A request and a reply of HTTP, without a connection.
#ifndef COBRA_SERVER_HTTP_MESSAGE_H_
#define COBRA_SERVER_HTTP_MESSAGE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::http {

using Headers = std::vector<std::pair<std::string, std::string>>;

// A request without its body.
struct Head {
  std::string method;  // "POST"
  std::string path;    // "/v1/predict"; nothing in it is decoded
  std::string query;   // what follows the first "?"
  Headers headers;     // in their order, with names in small letters
  int64_t content_length = 0;

  // Those of one name, given in small letters.
  std::vector<absl::string_view> Values(absl::string_view name) const {
    std::vector<absl::string_view> values;
    for (const auto& [header, value] : headers)
      if (header == name) values.push_back(value);
    return values;
  }
  // The first of them; "" if there is none.
  absl::string_view Value(absl::string_view name) const {
    const std::vector<absl::string_view> values = Values(name);
    return values.empty() ? absl::string_view() : values.front();
  }
};

struct Reply {
  int status = 200;
  std::string content_type;
  std::string body;
  Headers headers;  // besides those that every reply has
};

}  // namespace cobra::http

#endif  // COBRA_SERVER_HTTP_MESSAGE_H_
