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

// Of a request, on gRPC's own threads: less than a millisecond's work.
constexpr size_t kMaxHashedBytes = 1 << 20;

Hash128 HashOf(const grpc::ByteBuffer& bytes) {
  SipHasher hasher = KeyedHasher();
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return Hash128();
  for (const grpc::Slice& slice : slices)
    hasher.Add(absl::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size()));
  return std::move(hasher).Finish();
}

void FillContext(grpc::CallbackServerContext* context, std::shared_ptr<const Principal> principal,
                 absl::Duration default_deadline, CallContext* call) {
  call->caller = CallerOf(principal.get(), context->peer());
  call->principal = std::move(principal);
  call->deadline = std::min(absl::FromChrono(context->deadline()), absl::Now() + default_deadline);
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
  bool hashed = false;
  if (shortcut && request.Length() <= kMaxHashedBytes && !lanes_->closed()) {  // a drain refuses all alike
    hashed = true;
    call->context().request = HashOf(request);
    if (shortcut(call->context().request, /*may_wait=*/false) == Shortcut::kAnswered) {
      call->End(absl::OkStatus());
      return call;
    }
  }
  FillContext(context, *std::move(principal), default_deadline_, &call->context());
  const auto run = [=, shortcut = hashed ? std::move(shortcut) : nullptr,
                    work = std::move(work)](const absl::Status& admitted) {
    absl::Status status = admitted;
    if (status.ok()) status = call->context().Check();  // the deadline may have passed in the queue
    // While this one waited there, the same request of others may have been answered: many wait when a new version of
    // the model has made the replies of the old one useless.
    const bool answered =
        status.ok() && shortcut && shortcut(call->context().request, /*may_wait=*/true) == Shortcut::kAnswered;
    if (status.ok() && !answered) status = work(call->context());
    call->End(status);
  };
  lanes_->Submit({rpc, call->context().caller, call->context().deadline, run});
  return call;
}

namespace {

// The threads that work on one call. The last one that finds nothing left ends it.
class SharedCall : public std::enable_shared_from_this<SharedCall> {
 public:
  SharedCall(Rpc rpc, Call* call, std::shared_ptr<UnaryCalls::SharedWork> work, Lanes* lanes)
      : rpc_(rpc), call_(call), work_(std::move(work)), lanes_(lanes) {}

  void Begin(absl::Status status) {
    if (status.ok()) status = call_->context().Check();
    if (status.ok()) status = work_->Begin(call_->context());
    if (!status.ok()) return call_->End(status);
    const int others = lanes_->pool(InfoOf(rpc_).lane).num_threads() - 1;
    open_ += others;
    for (int i = 0; i < others; ++i) SubmitStep();
    Step(absl::OkStatus());
  }

  void Submit(std::function<void(const absl::Status&)> run) {
    lanes_->Submit({rpc_, call_->context().caller, call_->context().deadline, std::move(run)});
  }

 private:
  void SubmitStep() {
    Submit([self = shared_from_this()](const absl::Status& admitted) { self->Step(admitted); });
  }

  void Step(absl::Status status) {
    if (status.ok()) status = call_->context().Check();
    while (status.ok() && work_->RunSome(call_->context())) {
      if (!lanes_->closed()) return SubmitStep();
      status = call_->context().Check();  // a drain takes nothing new, but finishes what has begun
    }
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
    }
    if (open_.fetch_sub(1) > 1) return;
    absl::MutexLock lock(&mutex_);
    const absl::Status finished = work_->Finish();
    // What one thread was refused, others may have done.
    call_->End(finished.ok() || status_.ok() ? finished : status_);
  }

  const Rpc rpc_;
  Call* const call_;
  const std::shared_ptr<UnaryCalls::SharedWork> work_;
  Lanes* const lanes_;
  std::atomic<int> open_{1};
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

grpc::ServerUnaryReactor* UnaryCalls::RunShared(Rpc rpc, grpc::CallbackServerContext* context,
                                                std::shared_ptr<SharedWork> work) const {
  absl::StatusOr<std::shared_ptr<const Principal>> principal = AdmitCall(access_, rpc, context);
  auto* call = new Call(rpc, lanes_, metrics_);
  if (!principal.ok()) {
    call->End(principal.status());
    return call;
  }
  FillContext(context, *std::move(principal), default_deadline_, &call->context());
  const auto shared = std::make_shared<SharedCall>(rpc, call, std::move(work), lanes_);
  shared->Submit([shared](const absl::Status& admitted) { shared->Begin(admitted); });
  return call;
}

}  // namespace cobra::server
