#include "server/unary_calls.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "base/keyed_hash.h"
#include "proto/grpc_status.h"
#include "server/caller.h"
#include "server/credentials.h"
#include "server/request_record.h"

namespace cobra::server {
namespace {

// One call, from its arrival until gRPC is done with it. gRPC owns it and calls OnDone last.
class Call final : public grpc::ServerUnaryReactor {
 public:
  Call(Rpc rpc, Lanes* lanes, Metrics* metrics) : lanes_(lanes), record_(rpc, metrics) {
    context_.cancelled = &cancelled_;
    context_.abandoned = lanes->abandoned();
    lanes_->CallBegan();
  }

  CallContext& context() { return context_; }

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

Hash128 HashOf(const grpc::ByteBuffer& bytes) {
  SipHasher hasher = KeyedHasher();
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return Hash128();
  for (const grpc::Slice& slice : slices)
    hasher.Add(absl::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size()));
  return std::move(hasher).Finish();
}

}  // namespace

grpc::ServerUnaryReactor* UnaryCalls::RunBytes(Rpc rpc, grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer& request, TakeShortcut shortcut,
                                               std::function<absl::Status(const CallContext&)> work) const {
  absl::StatusOr<std::shared_ptr<const Principal>> principal = AdmitCall(access_, rpc, context);
  auto* call = new Call(rpc, lanes_, metrics_);
  if (!principal.ok()) {
    call->End(principal.status());
    return call;
  }
  bool later = false;
  if (shortcut && !lanes_->closed()) {  // a drain refuses all alike
    call->context().request = HashOf(request);
    const Shortcut taken = shortcut(call->context().request, /*may_wait=*/false);
    if (taken == Shortcut::kAnswered) {
      call->End(absl::OkStatus());
      return call;
    }
    later = taken == Shortcut::kLater;
  }
  call->context().caller = CallerOf(principal->get(), context->peer());
  call->context().principal = *std::move(principal);
  call->context().deadline = std::min(absl::FromChrono(context->deadline()), absl::Now() + default_deadline_);
  const auto run = [=, shortcut = later ? std::move(shortcut) : nullptr,
                    work = std::move(work)](const absl::Status& admitted) {
    absl::Status status = admitted;
    if (status.ok()) status = call->context().Check();  // the deadline may have passed in the queue
    const bool answered =
        status.ok() && shortcut && shortcut(call->context().request, /*may_wait=*/true) == Shortcut::kAnswered;
    if (status.ok() && !answered) status = work(call->context());
    call->End(status);
  };
  lanes_->Submit({rpc, call->context().caller, call->context().deadline, run});
  return call;
}

}  // namespace cobra::server
