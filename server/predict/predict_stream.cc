#include "server/predict/predict_stream.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/time/clock.h"
#include "base/bytes/keyed_hash.h"
#include "base/bytes/wire_format.h"
#include "base/text/limit_message.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "proto/grpc_status.h"
#include "proto/request_parts.h"
#include "server/access/caller.h"
#include "server/access/credentials.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/request_record.h"
#include "server/predict/predict_item.h"
#include "server/rpc/message_bytes.h"
#include "server/rpc/single_request_call.h"

namespace cobra::server {
namespace {

// Requests of one stream that are worked on, and answers that wait to be sent, together: then no
// more are read, and the caller's own flow control tells it to wait.
constexpr size_t kMaxPending = 64;
// How long a credential that was withdrawn serves a stream that is open.
constexpr absl::Duration kAdmitted = absl::Seconds(1);
// Of both, too: some requests of usual size for each thread.
constexpr size_t kMaxPendingBytes = 4 << 20;

struct StreamRequest {
  grpc::ByteBuffer message;
  HeldBytes::Part held;
  grpc::Slice slice;  // the rest is empty until Parse()
  std::string joined;
  uint64_t id = 0;
  absl::string_view bytes;  // of a PredictRequest
};

// Of a request that is refused, however large, its number only, without a copy of its bytes: on
// gRPC's threads.
bool ParseId(StreamRequest* request) {
  using google::protobuf::internal::WireFormatLite;
  grpc::ProtoBufferReader pieces(&request->message);
  if (!pieces.status().ok()) return false;
  google::protobuf::io::CodedInputStream in(&pieces);
  constexpr uint32_t kIdTag =
      WireFormatLite::MakeTag(v1::PredictStreamRequest::kRequestIdFieldNumber, WireFormatLite::WIRETYPE_VARINT);
  while (const uint32_t tag = in.ReadTag()) {
    if (!(tag == kIdTag ? in.ReadVarint64(&request->id) : WireFormatLite::SkipField(&in, tag))) return false;
  }
  return in.ConsumedEntireMessage();
}

bool Parse(StreamRequest* request) {
  proto::StreamRequest parts;
  absl::string_view message;
  if (!InOnePiece(request->message, &request->slice, &message) ||
      !proto::ParseStreamRequest(message, &parts, &request->joined))
    return false;
  request->id = parts.id;
  request->bytes = parts.bytes;
  return true;
}

}  // namespace

// gRPC owns it. OnDone() deletes it, which comes after Finish() and after the last OnReadDone() and
// OnWriteDone(). Finish() waits for the pool to be done with this stream's requests. Reads and
// writes may take system calls, so they are started without the lock, and Finish() waits until they
// are.
class StreamCall final : public BytesReactor {
 public:
  StreamCall(PredictStreams* streams, grpc::CallbackServerContext* context)
      : streams_(streams),
        context_(context),
        connection_(ConnectionOf(*streams->connections_, *context)),
        record_(Rpc::kPredictStream, streams->metrics_, context) {
    connection_->CallBegan(/*takes_many=*/true);
    call_.cancelled = &cancelled_;
    call_.abandoned = streams_->lanes_->abandoned();
    streams_->lanes_->CallBegan();
  }

  void Start(Access* access) {
    access_ = access;
    absl::Status status = AdmitCall(access, Rpc::kPredictStream, context_, &call_);
    if (status.ok()) {
      call_.caller = CallerOf(call_.principal.get(), context_->peer());
      deadline_ = absl::FromChrono(context_->deadline());
      status = streams_->Add(this, call_.caller);
      added_ = status.ok();
    }
    Next next;
    {
      absl::MutexLock lock(&mutex_);
      if (!status.ok()) EndLocked(status);
      next = NextLocked();
    }
    Begin(next);
  }

  // No request more is taken.
  void Close(const absl::Status& why) {
    absl::MutexLock lock(&mutex_);
    EndLocked(why);
  }
  const std::string& caller() const { return call_.caller; }
  absl::Time last_read() const { return absl::FromUnixNanos(last_read_ns_.load(std::memory_order_relaxed)); }

  void OnReadDone(bool ok) override {
    bool take = false;
    const absl::Status admitted = ok ? StillAdmitted() : absl::OkStatus();
    {
      absl::MutexLock lock(&mutex_);
      if (!ok || !admitted.ok()) EndLocked(admitted);  // not ok: the caller has sent all, or is gone
      take = !ending_;
      running_ += take ? 1 : 0;  // from now on Finish() waits for it
      pending_bytes_ += take ? incoming_.Length() : 0;
    }
    if (ok) connection_->Took(incoming_.Length());
    if (take) {
      record_.MessageReceived();
      Take();
    }
    Next next;
    {
      absl::MutexLock lock(&mutex_);
      reading_ = false;
      next = NextLocked();
    }
    Begin(next);
  }

  void OnWriteDone(bool ok) override {
    if (ok) record_.MessageSent();
    absl::InlinedVector<Unsent, 1> sent;  // freed after the lock
    Next next;
    {
      absl::MutexLock lock(&mutex_);
      do {
        pending_bytes_ -= answers_.front().message.Length();
        sent.push_back(std::move(answers_.front()));
        answers_.pop_front();
      } while (!ok && !answers_.empty());  // the caller is gone
      writing_ = false;
      next = NextLocked();
      FinishLocked();
    }
    Begin(next);
  }

  void OnCancel() override { cancelled_.store(true, std::memory_order_relaxed); }

  void OnDone() override {
    { absl::MutexLock lock(&mutex_); }  // whoever called Finish() has left
    if (added_) streams_->Remove(this, call_.caller);
    streams_->lanes_->CallEnded();
    connection_->CallEnded(/*takes_many=*/true);
    delete this;
  }

 private:
  struct Unsent {
    grpc::ByteBuffer message;
    HeldBytes::Part held;
  };
  struct Next {
    const grpc::ByteBuffer* message = nullptr;  // to write
    grpc::WriteOptions options;
    bool reads = false;
  };

  absl::Status StillAdmitted() {
    const absl::Time now = absl::Now();
    last_read_ns_.store(absl::ToUnixNanos(now), std::memory_order_relaxed);
    if (now - admitted_ < kAdmitted) return absl::OkStatus();
    admitted_ = now;
    return AdmitCall(access_, Rpc::kPredictStream, context_).status();
  }

  // One request; on gRPC's thread, where a cache knows the answer.
  void Take() {
    auto request = std::make_shared<StreamRequest>();
    request->message.Swap(&incoming_);
    CallContext call = call_;
    call.deadline = std::min(deadline_, absl::Now() + streams_->limits_.default_deadline);
    const bool large = request->message.Length() > kMaxHashedBytes;
    if (!large) {
      if (!Parse(request.get())) return EndNoMessage(*request);
      call.request = KeyedHash(request->bytes);
      const auto bytes = [&request] { return std::string(request->bytes); };
      if (const auto reply = streams_->pipeline_->FindReply(call, bytes, /*may_wait=*/false).reply)
        return Answer(*request, reply->bytes);
    }
    absl::StatusOr<HeldBytes::Part> held = streams_->lanes_->requests().Hold(call.caller, request->message.Length());
    auto run = [this, large, request, call](const absl::Status& admitted) mutable {
      if (large && !(admitted.ok() ? Parse(request.get()) : ParseId(request.get()))) return EndNoMessage(*request);
      if (large && admitted.ok()) call.request = KeyedHash(request->bytes);
      Answer(*request, admitted.ok()
                           ? AnswerItem(request->bytes, streams_->limits_.max_parsed_bytes, call, streams_->pipeline_)
                           : absl::StatusOr<std::string>(admitted));
    };
    if (!held.ok()) return run(held.status());
    request->held = *std::move(held);
    streams_->lanes_->Submit({Rpc::kPredictStream, call.caller, call.deadline, std::move(run), Urgency::kBulk});
  }

  void EndNoMessage(const StreamRequest& request) {
    absl::MutexLock lock(&mutex_);
    --running_;
    pending_bytes_ -= request.message.Length();
    EndLocked(NoMessage(v1::PredictStreamRequest()));
    FinishLocked();
  }

  // To one request that was taken. This may be deleted when it returns.
  void Answer(const StreamRequest& request, const absl::StatusOr<std::string>& reply) {
    constexpr ResultFields kFields = {v1::PredictStreamResponse::kResponseFieldNumber,
                                      v1::PredictStreamResponse::kErrorFieldNumber};
    const ItemCaller caller = {Rpc::kPredictStream, call_.caller, &streams_->lanes_->replies(), streams_->metrics_};
    WireWriter writer(reply.ok() ? reply->size() + 32 : 256);
    Unsent answer;
    answer.held = WriteResult(reply, caller, kFields, &writer);
    writer.NumberUnlessZero(v1::PredictStreamResponse::kRequestIdFieldNumber, request.id);
    answer.message = BufferOf(writer.bytes());
    Next next;
    {
      absl::MutexLock lock(&mutex_);
      --running_;
      pending_bytes_ += answer.message.Length() - request.message.Length();
      answers_.push_back(std::move(answer));
      next = NextLocked();
      FinishLocked();
    }
    Begin(next);
  }

  // What Begin() must start as soon as the lock is released.
  Next NextLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    Next next;
    if (!writing_ && !finished_ && !answers_.empty()) {
      writing_ = true;
      next.message = &answers_.front().message;
      if (answers_.size() > 1) next.options.set_buffer_hint();  // the next one follows at once
    }
    const bool has_room = running_ + answers_.size() < kMaxPending && pending_bytes_ < kMaxPendingBytes;
    if (!reading_ && !ending_ && has_room) {
      reading_ = next.reads = true;
      ++beginning_;
    }
    return next;
  }

  // This may be deleted when it returns.
  void Begin(const Next& next) {
    if (next.message != nullptr) StartWrite(next.message, next.options);
    if (!next.reads) return;
    StartRead(&incoming_);
    absl::MutexLock lock(&mutex_);
    --beginning_;
    FinishLocked();
  }

  // The first reason counts. What has begun is answered first.
  void EndLocked(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ending_) return;
    ending_ = true;
    status_ = status;
    FinishLocked();
  }
  void FinishLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!ending_ || finished_ || running_ > 0 || beginning_ > 0 || writing_ || !answers_.empty()) return;
    finished_ = true;
    if (status_.ok() && cancelled_.load(std::memory_order_relaxed))
      status_ = absl::CancelledError("the caller disconnected");
    record_.Done(status_);
    Finish(proto::ToGrpcStatus(status_));
  }

  PredictStreams* const streams_;
  grpc::CallbackServerContext* const context_;
  const std::shared_ptr<Connection> connection_;
  const RequestRecord record_;
  std::atomic<bool> cancelled_{false};
  Access* access_ = nullptr;
  CallContext call_;
  absl::Time admitted_ = absl::Now();
  std::atomic<int64_t> last_read_ns_{absl::GetCurrentTimeNanos()};
  absl::Time deadline_ = absl::InfiniteFuture();
  bool added_ = false;
  grpc::ByteBuffer incoming_;  // of gRPC while `reading_`
  absl::Mutex mutex_;
  std::deque<Unsent> answers_ ABSL_GUARDED_BY(mutex_);  // the first one is gRPC's while `writing_`
  size_t running_ ABSL_GUARDED_BY(mutex_) = 0;          // on the pool
  int beginning_ ABSL_GUARDED_BY(mutex_) = 0;           // reads that Begin() is about to start
  size_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;    // of requests that run, and of answers_
  bool reading_ ABSL_GUARDED_BY(mutex_) = false;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

BytesReactor* PredictStreams::Open(grpc::CallbackServerContext* context, Access* access) {
  auto* stream = new StreamCall(this, context);
  stream->Start(access);
  return stream;
}

void PredictStreams::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
  for (StreamCall* stream : streams_) stream->Close(StoppingError());
}

absl::Status PredictStreams::Add(StreamCall* stream, const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return StoppingError();
  const auto own = by_caller_.find(caller);
  const size_t of_caller = own == by_caller_.end() ? 0 : own->second;
  if (of_caller >= kMaxStreamsPerCaller)
    return absl::ResourceExhaustedError(
        LimitMessage("the caller", static_cast<int64_t>(kMaxStreamsPerCaller), "streams"));
  if (streams_.size() >= kMaxStreams && !MakeRoomLocked(of_caller))
    return absl::ResourceExhaustedError(LimitMessage("the server", static_cast<int64_t>(kMaxStreams), "streams"));
  ++by_caller_[caller];
  streams_.insert(stream);
  return absl::OkStatus();
}

// Of the caller with the most streams, the one that has sent nothing for longest gives way; not to
// a caller who would then have as many.
bool PredictStreams::MakeRoomLocked(size_t of_newcomer) {
  const auto most = std::max_element(by_caller_.begin(), by_caller_.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == by_caller_.end() || most->second <= of_newcomer + 1) return false;
  StreamCall* oldest = nullptr;
  for (StreamCall* stream : streams_) {
    if (stream->caller() != most->first) continue;
    if (oldest == nullptr || stream->last_read() < oldest->last_read()) oldest = stream;
  }
  RemoveLocked(oldest, most->first);
  oldest->Close(absl::UnavailableError("too many streams are open: this one was replaced by another caller's"));
  return true;
}

void PredictStreams::Remove(StreamCall* stream, const std::string& caller) {
  absl::MutexLock lock(&mutex_);
  RemoveLocked(stream, caller);
}

void PredictStreams::RemoveLocked(StreamCall* stream, const std::string& caller) {
  if (streams_.erase(stream) == 0) return;  // it has given way
  const auto own = by_caller_.find(caller);
  if (--own->second == 0) by_caller_.erase(own);
}

}  // namespace cobra::server
