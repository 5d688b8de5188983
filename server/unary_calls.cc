#include "server/unary_calls.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/time/clock.h"
#include "proto/grpc_status.h"
#include "server/credentials.h"
#include "server/request_record.h"

namespace cobra::server {
namespace {

// One call, from its arrival until gRPC is done with it. gRPC owns it and calls OnDone last.
class Call final : public grpc::ServerUnaryReactor {
 public:
  Call(Rpc rpc, absl::Time deadline, std::shared_ptr<const Principal> principal, Metrics* metrics)
      : record_(rpc, metrics) {
    context_.principal = std::move(principal);
    context_.deadline = deadline;
    context_.cancelled = &cancelled_;
  }

  const CallContext& context() const { return context_; }

  // REQUIRES: called once. The object may be deleted when it returns.
  void End(const absl::Status& status) {
    record_.Done(status);
    Finish(proto::ToGrpcStatus(status));
  }

  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override { delete this; }

 private:
  const RequestRecord record_;
  std::atomic<bool> cancelled_{false};
  CallContext context_;
};

}  // namespace

grpc::ServerUnaryReactor* UnaryCalls::RunBytes(Rpc rpc, grpc::CallbackServerContext* context,
                                               std::function<absl::Status(const CallContext&)> work) const {
  const absl::Time given = absl::FromChrono(context->deadline());
  absl::StatusOr<std::shared_ptr<const Principal>> caller = AdmitCall(access_, rpc, context);
  auto* call = new Call(rpc, std::min(given, absl::Now() + default_deadline_), caller.value_or(nullptr), metrics_);
  if (!caller.ok()) {
    call->End(caller.status());
    return call;
  }
  absl::Status admitted = pool_->Submit([call, work = std::move(work)] {
    absl::Status status = call->context().Check();  // the deadline may have passed in the queue
    if (status.ok()) status = work(call->context());
    call->End(status);
  });
  if (!admitted.ok()) call->End(admitted);
  return call;
}

}  // namespace cobra::server
