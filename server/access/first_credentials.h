// Credentials for the first start of a server that other machines reach, so that it need not start
// without any: `cobra-server --credentials`.
#ifndef COBRA_SERVER_ACCESS_FIRST_CREDENTIALS_H_
#define COBRA_SERVER_ACCESS_FIRST_CREDENTIALS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace cobra::server {

// Paths in the folder of --credentials.
struct CredentialFiles {
  std::string cert, key;  // signed by itself, so it is also the authority that clients give (--tls-ca)
  std::string access;     // one line, for the token
  std::string token;      // of the role admin
  bool are_new = false;
};

// The files in `folder`. Makes all of them if there is no such folder: it appears with all files or
// not at all. The certificate is for localhost, the loopback addresses, the name of this machine
// and `names`, which are host names or IP addresses, and lasts for ten years. A Diagnostic of kind
// kUsage if one of `names` is neither, or a certificate that exists is not for it.
absl::StatusOr<CredentialFiles> PrepareCredentials(const std::string& folder, const std::vector<std::string>& names);

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_FIRST_CREDENTIALS_H_
