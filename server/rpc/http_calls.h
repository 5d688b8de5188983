// Requests of HTTP as calls of the gRPC server in this process: the same roles, lanes, limits,
// caches and metrics, since they are the same calls. Routes follow from the table of RPCs
// (lanes/rpcs.h, http/route.h).
//
// Before a body is read it is known who asks, that they may, and that there is room for it. JSON of
// some size is converted on a thread of the RPC's lane, in the caller's turn.
#ifndef COBRA_SERVER_RPC_HTTP_CALLS_H_
#define COBRA_SERVER_RPC_HTTP_CALLS_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/grpcpp.h"
#include "server/access/access.h"
#include "server/http/route.h"
#include "server/http/same_origin.h"
#include "server/lanes/lanes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/transport/http_listener.h"
#include "server/transport/own_channels.h"

namespace cobra::server {

// Targets of a form that names none.
using UsualTargets = std::function<std::vector<std::string>()>;

class HttpCalls final : public HttpHandler {
 public:
  struct Options {
    std::string listen;              // "HOST:PORT"
    std::vector<std::string> hosts;  // other names of this server
    ServerLimits limits;
  };
  // `connect` gives the gRPC server a connection of ours. The pointers are not owned and must
  // outlive this object; `access` is null where access control is off.
  HttpCalls(const Options& options, OwnChannels::Accept connect, Lanes* lanes, Metrics* metrics, Access* access,
            UsualTargets usual_targets);
  // Waits until no call runs: the gRPC server has to be shut down before.
  ~HttpCalls() override;

  std::variant<http::Reply, std::shared_ptr<HttpExchange>> Begin(const http::Head& head, const HttpPeer& peer) override;

 private:
  friend class HttpCall;
  struct Entry {
    const RpcInfo* rpc;
    http::Route route;
  };

  absl::StatusOr<std::shared_ptr<const Principal>> Admit(Role role, absl::string_view what, const http::Head& head,
                                                         const HttpPeer& peer) const;
  http::Reply Document(const http::Head& head, const HttpPeer& peer);
  std::variant<http::Reply, std::shared_ptr<HttpExchange>> BeginCall(const Entry& entry, const http::Head& head,
                                                                     const HttpPeer& peer);

  // Requests of each caller that are not answered. Shared with them: some end after this object.
  class OpenCalls;

  void TakeReplies();

  const Options options_;
  const http::SameOrigin same_origin_;
  OwnChannels channels_;
  grpc::CompletionQueue replies_;
  Lanes* const lanes_;
  Metrics* const metrics_;
  Access* const access_;
  const UsualTargets usual_targets_;
  const std::shared_ptr<OpenCalls> open_calls_;
  std::vector<Entry> entries_;
  std::string document_;
  absl::Mutex mutex_;
  int64_t running_ ABSL_GUARDED_BY(mutex_) = 0;  // exchanges between Run() and their `done`
  std::thread thread_;                           // takes replies of gRPC; last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_HTTP_CALLS_H_
