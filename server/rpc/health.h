// grpc.health.v1.Health (https://github.com/grpc/grpc/blob/master/doc/health-checking.md), which
// everybody may call. gRPC's own would keep any number of calls that send no message, and any
// number of watches.
#ifndef COBRA_SERVER_RPC_HEALTH_H_
#define COBRA_SERVER_RPC_HEALTH_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "server/lanes/limits.h"
#include "server/rpc/arrivals.h"
#include "server/rpc/bytes_service.h"

namespace cobra::server {

class HealthWatchCall;

class Health final : public BytesService {
 public:
  // `arrivals` is not owned and must outlive this object.
  Health(const ArrivalLimits& limits, Arrivals* arrivals);

  // "" is the whole server. Before the first call, nothing is known of a service.
  void Set(const std::string& service, bool is_serving);
  // From now on all are NOT_SERVING.
  void Shutdown();
  // Of the whole server.
  bool IsServing() const { return StatusOf("") == Serving::kServing; }

 private:
  friend class HealthCheckCall;
  friend class HealthWatchCall;
  // The numbers of HealthCheckResponse.ServingStatus.
  enum class Serving { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

  Serving StatusLocked(const std::string& service) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  Serving StatusOf(const std::string& service) const;
  // The watch hears of its service from now on. Another one may have to give way.
  void Add(HealthWatchCall* watch);
  void Remove(HealthWatchCall* watch);
  void NotifyLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ArrivalLimits limits_;
  mutable absl::Mutex mutex_;
  std::map<std::string, bool> is_serving_ ABSL_GUARDED_BY(mutex_);
  bool shut_down_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<HealthWatchCall*> watches_ ABSL_GUARDED_BY(mutex_);  // the oldest first
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_HEALTH_H_
