// cobra.v1.Admin: what the operator of a server asks of it.
#ifndef COBRA_SERVER_ADMIN_SERVICE_H_
#define COBRA_SERVER_ADMIN_SERVICE_H_

#include <functional>

#include "cobra/v1/admin.pb.h"
#include "server/predict/pipeline.h"
#include "server/rpc/unary_calls.h"
#include "server/targets/live_model.h"

namespace cobra::server {

class AdminService final : public UnaryService {
 public:
  // The pointers are not owned and must outlive this object. `stop` begins a drain of the process;
  // empty: Drain is UNIMPLEMENTED.
  AdminService(Pipeline* pipeline, LiveModel* model, const UnaryCalls& calls, std::function<void()> stop);

 private:
  absl::Status HandleReloadModel(const v1::ReloadModelRequest& request, v1::ReloadModelResponse* response,
                                 const CallContext& call);
  absl::Status HandleListModelVersions(const v1::ListModelVersionsRequest& request,
                                       v1::ListModelVersionsResponse* response, const CallContext& call);
  absl::Status HandleGetCaches(const v1::GetCachesRequest& request, v1::GetCachesResponse* response,
                               const CallContext& call);
  absl::Status HandleFlushCaches(const v1::FlushCachesRequest& request, v1::FlushCachesResponse* response,
                                 const CallContext& call);
  absl::Status HandleDrain(const v1::DrainRequest& request, v1::DrainResponse* response, const CallContext& call);

  Pipeline* const pipeline_;
  LiveModel* const model_;
  const std::function<void()> stop_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_ADMIN_SERVICE_H_
