#include "tests/bench/stream_load.h"

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "grpcpp/generic/generic_stub.h"

namespace cobra::bench {
namespace {

// Of a whole stream: a server that no longer answers does not hold up the benchmark.
constexpr absl::Duration kMostTime = absl::Minutes(30);

// The caller of one stream. gRPC calls it from its own threads: one at a time reads, one at a time
// writes. OnDone comes last.
class StreamCaller final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamCaller(const StreamLoop& loop, const std::vector<grpc::ByteBuffer>& requests)
      : loop_(loop), requests_(requests) {}

  void Run(grpc::GenericStub* stub) {
    begin_ = absl::Now() + (loop_.each_once ? absl::ZeroDuration() : loop_.warm_up);
    end_ = begin_ + (loop_.each_once ? kMostTime : loop_.duration);
    context_.set_deadline(absl::ToChronoTime(absl::Now() + kMostTime));
    stub->PrepareBidiStreamingCall(&context_, loop_.method, {}, this);
    StartRead(&answer_);
    Send();
    StartCall();
    done_.WaitForNotification();
  }

  void OnWriteDone(bool ok) override {
    if (ok) Send();  // else the stream has ended: OnDone has the reason
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    ++answered_;
    const absl::Time now = absl::Now();
    if (now >= begin_ && now < end_) {
      ++result_.answers;
      result_.answer_bytes += static_cast<int64_t>(answer_.Length());
      last_ = now;
    }
    if (loop_.on_answer) loop_.on_answer(answer_);
    StartRead(&answer_);
  }

  void OnDone(const grpc::Status& status) override {
    status_ = status;
    done_.Notify();
  }

  // REQUIRES: Run() has returned.
  absl::StatusOr<StreamResult> Result() {
    if (!status_.ok()) {
      return absl::InternalError(absl::StrCat("the stream ended with ", static_cast<int>(status_.error_code()), ": ",
                                              status_.error_message()));
    }
    if (answered_ != sent_) return absl::InternalError(absl::StrCat(sent_, " requests, ", answered_, " answers"));
    if (result_.answers == 0) return absl::InternalError("no answer came in time");
    result_.seconds = absl::ToDoubleSeconds((loop_.each_once ? last_ : end_) - begin_);
    return result_;
  }

 private:
  void Send() {
    const bool all_sent = loop_.each_once && sent_ == requests_.size();
    if (all_sent || absl::Now() >= end_) return StartWritesDone();
    StartWrite(&requests_[sent_++ % requests_.size()]);
  }

  const StreamLoop& loop_;
  const std::vector<grpc::ByteBuffer>& requests_;
  grpc::ClientContext context_;
  absl::Time begin_, end_;
  absl::Notification done_;
  grpc::Status status_;
  size_t sent_ = 0;  // of the thread that writes
  // Of the thread that reads.
  grpc::ByteBuffer answer_;
  size_t answered_ = 0;
  StreamResult result_;
  absl::Time last_;
};

}  // namespace

absl::StatusOr<StreamResult> RunStream(const std::shared_ptr<grpc::Channel>& channel, const StreamLoop& loop,
                                       const std::vector<grpc::ByteBuffer>& requests) {
  grpc::GenericStub stub(channel);
  StreamCaller caller(loop, requests);
  caller.Run(&stub);
  return caller.Result();
}

}  // namespace cobra::bench
