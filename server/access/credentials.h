// gRPC's side of access control: TLS whose files are read again when they change, and who calls.
#ifndef COBRA_SERVER_ACCESS_CREDENTIALS_H_
#define COBRA_SERVER_ACCESS_CREDENTIALS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/grpcpp.h"
#include "server/access/access.h"
#include "server/lanes/call_context.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

// Paths of PEM files; all empty: no TLS.
struct TlsFiles {
  std::string cert, key;  // the server's certificate with its chain, and its private key
  std::string ca;         // the authority of client certificates; empty: clients are not asked for one
};

// Refuses calls when their metadata arrive, before a message of theirs is received: those of
// lanes/rpcs.h as Admit() does, reflection and unknown methods to callers without any role. Health
// is for everybody. `access` (null: everybody may do everything) and `metrics` are not owned and
// must outlive the gRPC server. An error begins with the path of a file that cannot be used; one
// that breaks later is logged, and what was read before continues to serve.
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeServerCredentials(const TlsFiles& tls, Access* access,
                                                                               Metrics* metrics);

// Who calls, if they may call `rpc`; null where `access` is null: access control is off.
absl::StatusOr<std::shared_ptr<const Principal>> AdmitCall(Access* access, Rpc rpc,
                                                           grpc::CallbackServerContext* context);
// The same for a call that may have labels, and an id if it makes a version of a target: fills in
// all. Whoever needs the caller's name as well asks CallerOf(), which takes longer.
absl::Status AdmitCall(Access* access, Rpc rpc, grpc::CallbackServerContext* context, CallContext* call);

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_CREDENTIALS_H_
