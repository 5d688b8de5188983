#include "server/rpc/unary_calls.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/keyed_hash.h"
#include "base/retry_delay.h"
#include "base/status_macros.h"
#include "proto/grpc_status.h"
#include "server/access/caller.h"
#include "server/access/credentials.h"
#include "server/access/forwarded.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/request_record.h"
#include "server/rpc/message_bytes.h"
#include "server/rpc/single_request_call.h"

namespace cobra::server {
namespace {

// One call, from its arrival until gRPC is done with it. gRPC owns it and calls OnDone last.
class Call : public SingleRequestCall {
 public:
  Call(Rpc rpc, const UnaryCalls& calls, grpc::CallbackServerContext* context, absl::Duration slow)
      : SingleRequestCall(calls.arrivals(), context),
        rpc_(rpc),
        lanes_(calls.lanes()),
        grpc_context_(context),
        limits_(calls.limits()),
        record_(rpc, calls.metrics(), context, slow) {
    context_.cancelled = &cancelled_;
    context_.abandoned = lanes_->abandoned();
    context_.stages = &stages_;
  }

  // Takes the message, if the caller may call.
  void Start(Access* access) {
    const absl::Status admitted = AdmitCall(access, rpc_, grpc_context_, &context_);
    admitted.ok() ? AwaitRequest() : Lost(admitted);
  }

  void Lost(const absl::Status& why) final {
    const bool gone = cancelled_.load(std::memory_order_relaxed);
    const absl::Status status = gone ? absl::CancelledError("the caller disconnected") : why;
    record_.Done(status, connection().caller());
    Finish(proto::ToGrpcStatus(status));
  }
  void Received() final {
    record_.Arrived();
    lanes_->CallBegan();
    received_ = true;
    Answer();
  }

  void OnCancel() final { cancelled_.store(true, std::memory_order_relaxed); }
  void OnDone() final {
    if (received_) lanes_->CallEnded();
    delete this;
  }

 protected:
  // The message is there. On gRPC's own thread.
  virtual void Answer() = 0;

  void FillContext() {
    context_.caller = CallerOf(context_.principal.get(), PeerOf(*grpc_context_));
    context_.deadline = std::min(absl::FromChrono(grpc_context_->deadline()), absl::Now() + limits_.default_deadline);
  }
  // Admits the request, whose caller is known now, unless too much of that caller waits.
  absl::Status HoldRequest() {
    COBRA_ASSIGN_OR_RETURN(request_bytes_, lanes_->requests().Hold(context_.caller, request().Length()));
    return absl::OkStatus();
  }
  // A thread has taken the call.
  void Began() { stages_.waited = absl::Now() - submitted_; }
  void Submit(std::function<void(const absl::Status&)> run, Urgency urgency) {
    submitted_ = absl::Now();
    lanes_->Submit({rpc_, context_.caller, context_.deadline, std::move(run), urgency});
  }

  // REQUIRES: called once. The object may be deleted when it returns.
  void End(absl::Status status) {
    if (status.ok()) status = HoldReply();
    record_.Done(status, context_.caller, stages_);
    // gRPC's own retries obey this one, people's code reads the details of the status.
    if (const std::optional<absl::Duration> delay = RetryDelayOf(status))
      grpc_context_->AddTrailingMetadata("grpc-retry-pushback-ms", absl::StrCat(absl::ToInt64Milliseconds(*delay)));
    if (!status.ok()) return Finish(proto::ToGrpcStatus(status));
    StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
  }

  const Rpc rpc_;
  Lanes* const lanes_;
  CallContext context_;
  grpc::ByteBuffer response_;

 private:
  absl::Status HoldReply() {
    COBRA_ASSIGN_OR_RETURN(reply_bytes_, lanes_->replies().Hold(context_.caller, response_.Length()));
    return absl::OkStatus();
  }

  grpc::CallbackServerContext* const grpc_context_;
  const ServerLimits& limits_;
  RequestRecord record_;
  HeldBytes::Part request_bytes_, reply_bytes_;  // until the reply is sent
  RequestStages stages_;
  absl::Time submitted_;
  bool received_ = false;
  std::atomic<bool> cancelled_{false};
};

Hash128 HashOf(const grpc::ByteBuffer& bytes) {
  SipHasher hasher = KeyedHasher();
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return Hash128();
  for (const grpc::Slice& slice : slices)
    hasher.Add(absl::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size()));
  return std::move(hasher).Finish();
}

// A call that one thread answers.
class OwnCall final : public Call {
 public:
  OwnCall(Rpc rpc, const UnaryCalls& calls, grpc::CallbackServerContext* context, UnaryCalls::TakeShortcut shortcut,
          UnaryCalls::Work work)
      : Call(rpc, calls, context, calls.limits().slow_request),
        shortcut_(std::move(shortcut)),
        work_(std::move(work)) {}

 private:
  void Answer() override {
    bool later = false;
    if (shortcut_ && request().Length() <= kMaxHashedBytes && !lanes_->closed()) {  // a drain refuses all alike
      hashed_ = true;
      context_.request = HashOf(request());
      const UnaryCalls::Shortcut taken = shortcut_(request(), context_, /*may_wait=*/false, &response_);
      if (taken == UnaryCalls::Shortcut::kAnswered) {
        lanes_->NoteFastReply();
        if (response_.Length() >= HeldBytes::kLeastBytes) FillContext();
        return End(absl::OkStatus());
      }
      later = taken == UnaryCalls::Shortcut::kLater;
    }
    FillContext();
    if (absl::Status room = HoldRequest(); !room.ok()) return End(room);
    Submit([this](const absl::Status& admitted) { Compute(admitted); }, later ? Urgency::kWarm : Urgency::kCold);
  }

  void Compute(absl::Status status) {
    Began();
    if (status.ok()) status = context_.Check();  // the deadline may have passed in the queue
    // While this one waited there, the same request of others may have been answered: many wait
    // when a new version of the model has made the replies of the old one useless.
    const bool answered =
        status.ok() && hashed_ &&
        shortcut_(request(), context_, /*may_wait=*/true, &response_) == UnaryCalls::Shortcut::kAnswered;
    if (status.ok() && !answered) status = work_(request(), context_, &response_);
    End(status);
  }

  const UnaryCalls::TakeShortcut shortcut_;
  const UnaryCalls::Work work_;
  bool hashed_ = false;
};

// A call that the threads of its lane share. The last one that finds nothing left ends it.
class SharedCall final : public Call {
 public:
  // Many requests take their time, and none of them is slow for that.
  SharedCall(Rpc rpc, const UnaryCalls& calls, grpc::CallbackServerContext* context,
             std::shared_ptr<UnaryCalls::SharedWork> work)
      : Call(rpc, calls, context, /*slow=*/absl::InfiniteDuration()), work_(std::move(work)) {
    context_.stages = nullptr;  // several threads work on the call
  }

 private:
  void Answer() override {
    FillContext();
    if (absl::Status room = HoldRequest(); !room.ok()) return End(room);
    Submit([this](const absl::Status& admitted) { Begin(admitted); }, Urgency::kBulk);
  }

  void Begin(absl::Status status) {
    if (status.ok()) status = context_.Check();
    if (status.ok()) status = work_->Begin(request(), context_);
    if (!status.ok()) return End(status);
    const int others = lanes_->pool(InfoOf(rpc_).lane).num_threads() - 1;
    open_ += others;
    for (int i = 0; i < others; ++i) SubmitStep();
    Step(absl::OkStatus());
  }

  void SubmitStep() {
    Submit([this](const absl::Status& admitted) { Step(admitted); }, Urgency::kBulk);
  }

  void Step(absl::Status status) {
    if (status.ok()) status = context_.CheckCaller();
    while (status.ok() && work_->RunSome(context_)) {
      if (!lanes_->closed()) return SubmitStep();
      status = context_.CheckCaller();  // a drain takes nothing new, but finishes what has begun
    }
    {
      absl::MutexLock lock(&mutex_);
      status_.Update(status);
    }
    if (open_.fetch_sub(1) > 1) return;
    if (absl::Status stopped = context_.CheckCaller(); !stopped.ok()) return End(stopped);
    const absl::Status finished = work_->Finish(&response_);
    // What one thread was refused, others may have done.
    absl::Status refused;
    {
      absl::MutexLock lock(&mutex_);
      refused = status_;
    }
    End(finished.ok() || refused.ok() ? finished : refused);
  }

  const std::shared_ptr<UnaryCalls::SharedWork> work_;
  std::atomic<int> open_{1};
  absl::Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

BytesReactor* UnaryCalls::RunBytes(Rpc rpc, grpc::CallbackServerContext* context, TakeShortcut shortcut,
                                   Work work) const {
  auto* call = new OwnCall(rpc, *this, context, std::move(shortcut), std::move(work));
  call->Start(access_);
  return call;
}

BytesReactor* UnaryCalls::RunShared(Rpc rpc, grpc::CallbackServerContext* context,
                                    std::shared_ptr<SharedWork> work) const {
  auto* call = new SharedCall(rpc, *this, context, std::move(work));
  call->Start(access_);
  return call;
}

}  // namespace cobra::server
