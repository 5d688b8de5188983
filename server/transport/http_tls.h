// TLS of the HTTP listener, with the files that gRPC has (access/credentials.h), which are read
// again when they change.
#ifndef COBRA_SERVER_TRANSPORT_HTTP_TLS_H_
#define COBRA_SERVER_TRANSPORT_HTTP_TLS_H_

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/access/credentials.h"
#include "server/access/watched_files.h"

namespace cobra::server {

class HttpTls {
 public:
  // An error begins with the path of a file that cannot be used.
  static absl::StatusOr<std::unique_ptr<HttpTls>> Open(const TlsFiles& files);

  // For a new connection. Files that break later are logged, and what was read before continues to
  // serve.
  std::shared_ptr<SSL_CTX> Context();

 private:
  explicit HttpTls(const TlsFiles& files) : files_(files), watched_({files.cert, files.key, files.ca}) {}
  absl::StatusOr<std::shared_ptr<SSL_CTX>> Read() const;

  const TlsFiles files_;
  absl::Mutex mutex_;
  WatchedFiles watched_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<SSL_CTX> context_ ABSL_GUARDED_BY(mutex_);
};

// Of the client's certificate, which TLS has verified: the subject's common name and the
// alternative names, as gRPC lists them. None without one.
std::vector<std::string> PeerCertificateNames(const SSL* connection);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_HTTP_TLS_H_
