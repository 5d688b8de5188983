#include "server/unary_calls.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/time/clock.h"
#include "proto/grpc_status.h"
#include "server/caller.h"
#include "server/credentials.h"
#include "server/request_record.h"

namespace cobra::server {
namespace {

// One call, from its arrival until gRPC is done with it. gRPC owns it and calls OnDone last.
class Call final : public grpc::ServerUnaryReactor {
 public:
  Call(Rpc rpc, std::string caller, std::shared_ptr<const Principal> principal, absl::Time deadline, Lanes* lanes,
       Metrics* metrics)
      : lanes_(lanes), record_(rpc, metrics) {
    context_.caller = std::move(caller);
    context_.principal = std::move(principal);
    context_.deadline = deadline;
    context_.cancelled = &cancelled_;
    context_.abandoned = lanes->abandoned();
    lanes_->CallBegan();
  }

  const CallContext& context() const { return context_; }

  // REQUIRES: called once. The object may be deleted when it returns.
  void End(const absl::Status& status) {
    record_.Done(status);
    Finish(proto::ToGrpcStatus(status));
  }

  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override {
    lanes_->CallEnded();
    delete this;
  }

 private:
  Lanes* const lanes_;
  const RequestRecord record_;
  std::atomic<bool> cancelled_{false};
  CallContext context_;
};

}  // namespace

grpc::ServerUnaryReactor* UnaryCalls::RunBytes(Rpc rpc, grpc::CallbackServerContext* context,
                                               std::function<absl::Status(const CallContext&)> work) const {
  const absl::Time given = absl::FromChrono(context->deadline());
  const absl::StatusOr<std::shared_ptr<const Principal>> principal = AdmitCall(access_, rpc, context);
  const std::string caller = CallerOf(principal.ok() ? principal->get() : nullptr, context->peer());
  auto* call = new Call(rpc, caller, principal.value_or(nullptr), std::min(given, absl::Now() + default_deadline_),
                        lanes_, metrics_);
  if (!principal.ok()) {
    call->End(principal.status());
    return call;
  }
  const auto run = [call, work = std::move(work)](const absl::Status& admitted) {
    absl::Status status = admitted;
    if (status.ok()) status = call->context().Check();  // the deadline may have passed in the queue
    if (status.ok()) status = work(call->context());
    call->End(status);
  };
  lanes_->Submit({rpc, call->context().caller, call->context().deadline, run});
  return call;
}

}  // namespace cobra::server
