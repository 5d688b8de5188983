// Certificates and private keys in PEM, as TLS takes them.
#ifndef COBRA_BASE_FILE_PEM_H_
#define COBRA_BASE_FILE_PEM_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

// The contents of a file with at least one certificate. InvalidArgument, beginning with the path,
// if it has none.
absl::StatusOr<std::string> ReadCertificates(absl::string_view path);

struct KeyPair {
  std::string certificates, key;  // PEM: the certificate with its chain, its private key
};
// InvalidArgument if the key does not match the first certificate, or needs a password.
absl::StatusOr<KeyPair> ReadKeyPair(absl::string_view certificate_path, absl::string_view key_path);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_PEM_H_
