// Files that a client needs for a server with access control (docs/operations.md, Access).
#ifndef COBRA_BASE_CONNECTION_FILES_H_
#define COBRA_BASE_CONNECTION_FILES_H_

#include <string>

namespace cobra {

struct ConnectionFiles {
  // Authority of the server's certificate (PEM); "system": those that this machine trusts; empty:
  // no TLS.
  std::string tls_ca;
  std::string tls_cert, tls_key;  // certificate of the client and its private key (PEM); empty: none
  std::string token_file;         // empty: no token
};

}  // namespace cobra

#endif  // COBRA_BASE_CONNECTION_FILES_H_
