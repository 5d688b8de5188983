#include "client/predict_stream.h"

#include <algorithm>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/retry_delay.h"
#include "proto/grpc_status.h"
#include "proto/status_proto.h"

namespace cobra::client {

// One call. gRPC calls the On...() from its own threads, the other methods are of the thread that
// owns it. The hold keeps gRPC from ending the call while that thread may still write.
class PredictStream::Call final : public grpc::ClientBidiReactor<v1::PredictStreamRequest, v1::PredictStreamResponse> {
 public:
  grpc::ClientContext* context() { return &context_; }

  void Start(v1::Cobra::Stub* stub) {
    stub->async()->PredictStream(&context_, this);
    AddHold();
    StartRead(&incoming_);
    StartCall();
  }

  void Send(std::shared_ptr<const v1::PredictStreamRequest> message) {
    absl::MutexLock lock(&mutex_);
    unsent_.push_back(std::move(message));
    WriteLocked();
  }

  // The answers that have come. Waits until there is one, the call has ended, or `until`.
  std::vector<v1::PredictStreamResponse> Take(absl::Time until) {
    absl::MutexLock lock(&mutex_);
    const auto has_news = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return ended_ || !answers_.empty(); };
    mutex_.AwaitWithDeadline(absl::Condition(&has_news), until);
    return std::exchange(answers_, {});
  }

  // No answer comes any more; those that are not taken are still there.
  bool ended() {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

  // Its status. Nothing is sent after it. `cancel`: at once; otherwise the server ends it.
  absl::Status Close(bool cancel) {
    constexpr absl::Duration kGoodbye = absl::Seconds(2);
    {
      absl::MutexLock lock(&mutex_);
      unsent_.clear();
      closing_ = true;
      WriteLocked();
    }
    if (cancel) context_.TryCancel();
    RemoveHold();
    absl::MutexLock lock(&mutex_);
    if (!mutex_.AwaitWithTimeout(absl::Condition(&done_), kGoodbye)) context_.TryCancel();
    mutex_.Await(absl::Condition(&done_));
    return proto::FromGrpcStatus(status_);
  }

  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    writing_ = nullptr;
    if (!ok) unsent_.clear();  // the call has ended: OnReadDone() learns of it, too
    WriteLocked();
  }

  void OnReadDone(bool ok) override {
    {
      absl::MutexLock lock(&mutex_);
      ended_ = !ok;
      if (ok) answers_.push_back(std::move(incoming_));
    }
    if (ok) StartRead(&incoming_);
  }

  void OnDone(const grpc::Status& status) override {
    absl::MutexLock lock(&mutex_);
    status_ = status;
    done_ = true;
  }

 private:
  void WriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ != nullptr) return;
    if (unsent_.empty()) {
      if (std::exchange(closing_, false)) StartWritesDone();
      return;
    }
    writing_ = std::move(unsent_.front());
    unsent_.pop_front();
    StartWrite(writing_.get());
  }

  grpc::ClientContext context_;
  v1::PredictStreamResponse incoming_;  // of gRPC
  absl::Mutex mutex_;
  std::deque<std::shared_ptr<const v1::PredictStreamRequest>> unsent_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const v1::PredictStreamRequest> writing_ ABSL_GUARDED_BY(mutex_);
  std::vector<v1::PredictStreamResponse> answers_ ABSL_GUARDED_BY(mutex_);
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;  // once the last request is written
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status status_ ABSL_GUARDED_BY(mutex_);
};

absl::Status PredictStream::Attempt() {
  Call call;
  if (options_.prepare) {
    if (absl::Status status = options_.prepare(call.context()); !status.ok()) return status;
  }
  call.Start(stub_);
  last_answer_ = absl::Now();
  for (auto& [id, pending] : pending_) {
    pending.again = absl::InfiniteFuture();
    call.Send(pending.message);
  }
  const absl::Status status = Exchange(&call);
  const absl::Status end = call.Close(/*cancel=*/!status.ok());
  if (!status.ok() || (pending_.empty() && exhausted_)) return status;
  if (!end.ok()) return end;
  return absl::UnavailableError("the server ended the stream before answering everything");
}

// Until the call has ended or all is answered: OK. Everything else is an error of the caller's or
// the server's.
absl::Status PredictStream::Exchange(Call* call) {
  while (!exhausted_ || !pending_.empty()) {
    const absl::Time due = SendDue(call);
    const bool ended = call->ended();  // before the last answers are taken
    const absl::Time until = CanAsk() ? absl::InfinitePast() : std::min(due, last_answer_ + options_.patience);
    for (v1::PredictStreamResponse& response : call->Take(until)) {
      if (absl::Status status = Take(std::move(response)); !status.ok()) return status;
    }
    if (ended) break;
    if (!pending_.empty() && absl::Now() >= last_answer_ + options_.patience)
      return absl::DeadlineExceededError("no answer came");
    if (CanAsk()) Ask(call);
  }
  return absl::OkStatus();
}

bool PredictStream::CanAsk() const {
  return !exhausted_ &&
         (pending_.empty() || (pending_.size() < kMostRequestsInFlight && pending_bytes_ < kMostBytesInFlight));
}

void PredictStream::Ask(Call* call) {
  std::optional<v1::PredictRequest> request = requests_->next();
  if (!request.has_value()) {
    exhausted_ = true;
    return;
  }
  if (pending_.empty()) last_answer_ = absl::Now();  // until now nothing was to be answered
  auto message = std::make_shared<v1::PredictStreamRequest>();
  message->set_request_id(asked_);
  *message->mutable_request() = *std::move(request);
  Pending pending{message, static_cast<int64_t>(message->ByteSizeLong())};
  pending_bytes_ += pending.bytes;
  pending_.emplace(asked_++, std::move(pending));
  call->Send(std::move(message));
}

absl::Time PredictStream::SendDue(Call* call) {
  absl::Time next = absl::InfiniteFuture();
  const absl::Time now = absl::Now();
  for (auto& [id, pending] : pending_) {
    if (pending.again <= now) {
      pending.again = absl::InfiniteFuture();
      call->Send(pending.message);
    }
    next = std::min(next, pending.again);
  }
  return next;
}

bool PredictStream::ScheduleRetry(const absl::Status& status, Pending* pending) const {
  absl::Duration wait = options_.retry.initial_backoff;
  if (absl::IsUnavailable(status)) {
    if (++pending->unavailable >= options_.retry.max_attempts) return false;
    for (int i = 1; i < pending->unavailable; ++i) wait = std::min(wait * 2, options_.retry.max_backoff);
  } else if (const auto delay = RetryDelayOf(status); delay.has_value() && options_.retry.wait_while_busy) {
    wait = *delay;
  } else {
    return false;
  }
  pending->again = absl::Now() + wait;
  return true;
}

absl::Status PredictStream::Take(v1::PredictStreamResponse response) {
  const auto pending = pending_.find(response.request_id());
  if (pending == pending_.end()) return absl::OkStatus();  // answered before
  absl::StatusOr<v1::PredictResponse> answer = absl::InternalError("the server sent an empty answer");
  if (response.has_response()) answer = std::move(*response.mutable_response());
  if (response.has_error()) answer = proto::StatusFromProto(response.error());
  if (!answer.ok() && ScheduleRetry(answer.status(), &pending->second)) return absl::OkStatus();
  pending_bytes_ -= pending->second.bytes;
  pending_.erase(pending);
  ++answered_;
  last_answer_ = absl::Now();
  return requests_->answer(static_cast<int64_t>(response.request_id()), std::move(answer));
}

}  // namespace cobra::client
