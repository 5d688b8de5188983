#include "server/unary_calls.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/keyed_hash.h"
#include "base/retry_delay.h"
#include "base/status_macros.h"
#include "proto/grpc_status.h"
#include "server/caller.h"
#include "server/credentials.h"
#include "server/forwarded.h"
#include "server/held_bytes.h"
#include "server/message_bytes.h"
#include "server/request_record.h"

namespace cobra::server {
namespace {

// One call, from its arrival until gRPC is done with it. gRPC owns it and calls OnDone last.
class Call final : public grpc::ServerUnaryReactor {
 public:
  Call(Rpc rpc, Lanes* lanes, Metrics* metrics, grpc::CallbackServerContext* context, const grpc::ByteBuffer* response,
       absl::Duration slow)
      : lanes_(lanes), grpc_context_(context), response_(response), record_(rpc, metrics, context, slow) {
    context_.cancelled = &cancelled_;
    context_.abandoned = lanes->abandoned();
    context_.stages = &stages_;
    lanes_->CallBegan();
  }

  CallContext& context() { return context_; }
  // A thread has taken the call.
  void Began() { stages_.waited = absl::Now() - submitted_; }
  // From here on the call waits for a thread.
  void Submitted() { submitted_ = absl::Now(); }

  // Admits the request, whose caller is known now, unless too much of that caller waits.
  absl::Status HoldRequest(const grpc::ByteBuffer& request) {
    COBRA_ASSIGN_OR_RETURN(request_bytes_, lanes_->requests().Hold(context_.caller, request.Length()));
    return absl::OkStatus();
  }

  // REQUIRES: called once. The object may be deleted when it returns.
  void End(absl::Status status) {
    if (status.ok()) status = HoldReply();
    record_.Done(status, context_.caller, stages_);
    // gRPC's own retries obey this one, people's code reads the details of the status.
    if (const std::optional<absl::Duration> delay = RetryDelayOf(status))
      grpc_context_->AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(absl::ToInt64Milliseconds(*delay)));
    Finish(proto::ToGrpcStatus(status));
  }

  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() override {
    lanes_->CallEnded();
    delete this;
  }

 private:
  absl::Status HoldReply() {
    COBRA_ASSIGN_OR_RETURN(reply_bytes_, lanes_->replies().Hold(context_.caller, response_->Length()));
    return absl::OkStatus();
  }

  Lanes* const lanes_;
  grpc::CallbackServerContext* const grpc_context_;
  const grpc::ByteBuffer* const response_;
  const RequestRecord record_;
  HeldBytes::Part request_bytes_, reply_bytes_;  // gRPC keeps both until the reply is sent
  RequestStages stages_;
  absl::Time submitted_;
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

void FillContext(grpc::CallbackServerContext* context, absl::Duration default_deadline, CallContext* call) {
  call->caller = CallerOf(call->principal.get(), PeerOf(*context));
  call->deadline = std::min(absl::FromChrono(context->deadline()), absl::Now() + default_deadline);
}

}  // namespace

grpc::ServerUnaryReactor* UnaryCalls::RunBytes(Rpc rpc, grpc::CallbackServerContext* context,
                                               const grpc::ByteBuffer& request, const grpc::ByteBuffer* response,
                                               TakeShortcut shortcut,
                                               std::function<absl::Status(const CallContext&)> work) const {
  auto* call = new Call(rpc, lanes_, metrics_, context, response, limits_.slow_request);
  if (const absl::Status admitted = AdmitCall(access_, rpc, context, &call->context()); !admitted.ok()) {
    call->End(admitted);
    return call;
  }
  bool hashed = false, later = false;
  if (shortcut && request.Length() <= kMaxHashedBytes && !lanes_->closed()) {  // a drain refuses all alike
    hashed = true;
    call->context().request = HashOf(request);
    const Shortcut taken = shortcut(call->context(), /*may_wait=*/false);
    if (taken == Shortcut::kAnswered) {
      lanes_->AnsweredAtOnce();
      if (response->Length() >= HeldBytes::kLeastBytes)
        FillContext(context, limits_.default_deadline, &call->context());
      call->End(absl::OkStatus());
      return call;
    }
    later = taken == Shortcut::kLater;
  }
  FillContext(context, limits_.default_deadline, &call->context());
  if (absl::Status room = call->HoldRequest(request); !room.ok()) {
    call->End(room);
    return call;
  }
  const auto run = [=, shortcut = hashed ? std::move(shortcut) : nullptr,
                    work = std::move(work)](const absl::Status& admitted) {
    call->Began();
    absl::Status status = admitted;
    if (status.ok()) status = call->context().Check();  // the deadline may have passed in the queue
    // While this one waited there, the same request of others may have been answered: many wait when a new version of
    // the model has made the replies of the old one useless.
    const bool answered =
        status.ok() && shortcut && shortcut(call->context(), /*may_wait=*/true) == Shortcut::kAnswered;
    if (status.ok() && !answered) status = work(call->context());
    call->End(status);
  };
  call->Submitted();
  lanes_->Submit({rpc, call->context().caller, call->context().deadline, run, later ? Urgency::kWarm : Urgency::kCold});
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
    lanes_->Submit({rpc_, call_->context().caller, call_->context().deadline, std::move(run), Urgency::kBulk});
  }

 private:
  void SubmitStep() {
    Submit([self = shared_from_this()](const absl::Status& admitted) { self->Step(admitted); });
  }

  void Step(absl::Status status) {
    if (status.ok()) status = call_->context().CheckCaller();
    while (status.ok() && work_->RunSome(call_->context())) {
      if (!lanes_->closed()) return SubmitStep();
      status = call_->context().CheckCaller();  // a drain takes nothing new, but finishes what has begun
    }
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
    }
    if (open_.fetch_sub(1) > 1) return;
    absl::MutexLock lock(&mutex_);
    if (absl::Status stopped = call_->context().CheckCaller(); !stopped.ok()) return call_->End(stopped);
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
                                                const grpc::ByteBuffer& request, const grpc::ByteBuffer* response,
                                                std::shared_ptr<SharedWork> work) const {
  // Many requests take their time.
  auto* call = new Call(rpc, lanes_, metrics_, context, response, /*slow=*/absl::InfiniteDuration());
  call->context().stages = nullptr;  // several threads work on the call
  if (const absl::Status admitted = AdmitCall(access_, rpc, context, &call->context()); !admitted.ok()) {
    call->End(admitted);
    return call;
  }
  FillContext(context, limits_.default_deadline, &call->context());
  if (absl::Status room = call->HoldRequest(request); !room.ok()) {
    call->End(room);
    return call;
  }
  const auto shared = std::make_shared<SharedCall>(rpc, call, std::move(work), lanes_);
  shared->Submit([shared](const absl::Status& admitted) { shared->Begin(admitted); });
  return call;
}

}  // namespace cobra::server
