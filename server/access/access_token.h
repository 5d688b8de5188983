// Makes tokens for access files (access.h): `cobra-server token`.
#ifndef COBRA_SERVER_ACCESS_ACCESS_TOKEN_H_
#define COBRA_SERVER_ACCESS_ACCESS_TOKEN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cobra::server {

struct TokenRequest {
  std::string name, role, worker, targets;  // as in an access file; worker and targets may be empty
  std::string token_file;                   // created, readable by its owner only; must not exist
};

// A new file that only its owner can read. An error begins with the path.
absl::Status WriteSecret(const std::string& path, const std::string& text);

// Writes a new token of 256 random bits to the file and returns the line that goes with it, without
// a newline.
absl::StatusOr<std::string> MakeToken(const TokenRequest& request);

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_ACCESS_TOKEN_H_
