// The certificate authorities that this machine trusts.
#ifndef COBRA_BASE_FILE_SYSTEM_CERTIFICATES_H_
#define COBRA_BASE_FILE_SYSTEM_CERTIFICATES_H_

#include <string>

#include "absl/status/statusor.h"

namespace cobra {

// The file (PEM) that SSL_CERT_FILE names, as OpenSSL takes it, or the first one that is where a
// distribution keeps it. NotFound says where was looked.
absl::StatusOr<std::string> SystemCertificates();

}  // namespace cobra

#endif  // COBRA_BASE_FILE_SYSTEM_CERTIFICATES_H_
