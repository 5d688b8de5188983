// Who calls, and what they may do. The access file has a line for every credential, a token or a
// client certificate:
//
//   name=ci role=ask token_sha256=9f86d081884c7d65...
//   name=pi-4 role=measure worker=pi-4 targets=pi-4,pi-4-int8 certificate=pi-4.example.org
//
// docs/operations.md describes it for users. Free of gRPC, whose side is in credentials.h.
#ifndef COBRA_SERVER_ACCESS_ACCESS_H_
#define COBRA_SERVER_ACCESS_ACCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/access/watched_files.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

struct Principal {
  std::string name;
  Role role = Role::kAsk;            // never kAnyRole
  std::string worker;                // kMeasure: the worker whose name it must use; otherwise empty
  std::vector<std::string> targets;  // kMeasure: the targets that it may touch; otherwise empty
};

// "ask", "measure", "admin"; of kAnyRole "any role".
absl::string_view RoleName(Role role);

// PermissionDenied if the role of `principal` is kMeasure and it is bound to another worker or to
// other targets. A null principal may do everything: access control is off.
absl::Status CheckWorker(const Principal* principal, absl::string_view worker);
absl::Status CheckTarget(const Principal* principal, absl::string_view target);

// What a call shows of its caller.
struct CallerProof {
  std::vector<absl::string_view> authorization;      // values of the metadata "authorization"
  std::vector<absl::string_view> certificate_names;  // of a certificate that TLS has verified: subject's common name,
                                                     // alternative names
};

// An access file. Its lines are in memory as they are on disk: with the hashes of the tokens, never
// with tokens.
class AccessTable {
 public:
  // InvalidArgument, beginning with path and line. No error repeats a word of the file that may be
  // a token.
  static absl::StatusOr<AccessTable> Parse(absl::string_view path, absl::string_view text);

  // Null if there is none. The time does not depend on how much of a hash is right.
  std::shared_ptr<const Principal> FindToken(absl::string_view token) const;
  std::shared_ptr<const Principal> FindCertificate(absl::string_view name) const;
  bool has_certificates() const;
  size_t size() const { return lines_.size(); }

 private:
  struct Line {
    std::shared_ptr<const Principal> principal;
    std::string token_sha256;  // 64 lower-case digits; empty: a certificate
    std::string certificate;
  };
  static absl::StatusOr<Line> ParseLine(absl::string_view text);
  absl::Status CheckNew(const Line& line) const;

  std::vector<Line> lines_;
};

// The access file of a server, read again when it changes. Safe to use from several threads.
class Access {
 public:
  static absl::StatusOr<std::unique_ptr<Access>> Open(const std::string& path);

  // The caller, if they may call what `role` may call. Unauthenticated: no credential, or one that
  // is not in the file. PermissionDenied: another role. `what` is what they call, for the error.
  absl::StatusOr<std::shared_ptr<const Principal>> Admit(Role role, absl::string_view what, const CallerProof& proof);
  bool has_certificates();

 private:
  explicit Access(const std::string& path) : path_(path), watched_({path}) {}
  absl::StatusOr<AccessTable> Read() const;
  std::shared_ptr<const AccessTable> Table();

  const std::string path_;
  absl::Mutex mutex_;
  WatchedFiles watched_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const AccessTable> table_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_ACCESS_H_
