// cobra.v1.Admin: what the operator of a server asks of it.
#ifndef COBRA_SERVER_ADMIN_SERVICE_H_
#define COBRA_SERVER_ADMIN_SERVICE_H_

#include <functional>
#include <utility>

#include "cobra/v1/admin.grpc.pb.h"
#include "server/live_model.h"
#include "server/pipeline.h"
#include "server/raw_service.h"
#include "server/rpcs.h"
#include "server/unary_calls.h"

namespace cobra::server {

class AdminService final : public RawService<v1::Admin::Service COBRA_RPCS_OF_ADMIN(COBRA_RAW_METHOD)>::Type {
 public:
  // The pointers are not owned and must outlive this object. `stop` begins a drain of the process; empty: Drain is
  // UNIMPLEMENTED.
  AdminService(Pipeline* pipeline, LiveModel* model, const UnaryCalls& calls, std::function<void()> stop)
      : pipeline_(pipeline), model_(model), calls_(calls), stop_(std::move(stop)) {}

  grpc::ServerUnaryReactor* ReloadModel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kReloadModel, context, request, response, this, &AdminService::HandleReloadModel);
  }
  grpc::ServerUnaryReactor* ListModelVersions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                              grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kListModelVersions, context, request, response, this,
                      &AdminService::HandleListModelVersions);
  }
  grpc::ServerUnaryReactor* GetCaches(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kGetCaches, context, request, response, this, &AdminService::HandleGetCaches);
  }
  grpc::ServerUnaryReactor* FlushCaches(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kFlushCaches, context, request, response, this, &AdminService::HandleFlushCaches);
  }
  grpc::ServerUnaryReactor* Drain(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) override {
    return calls_.Run(Rpc::kDrain, context, request, response, this, &AdminService::HandleDrain);
  }

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
  const UnaryCalls calls_;
  const std::function<void()> stop_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_ADMIN_SERVICE_H_
