#include "tests/bench/echo.h"

#include <chrono>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "tests/bench/load.h"

namespace cobra::bench {
namespace {

class EchoCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit EchoCall(const grpc::ByteBuffer& reply) : reply_(reply) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (ok) {
      StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no request"));
    }
  }
  void OnDone() override { delete this; }

 private:
  const grpc::ByteBuffer& reply_;
  grpc::ByteBuffer request_;
};

class StreamEchoCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit StreamEchoCall(const grpc::ByteBuffer& reply) : reply_(reply) {
    absl::MutexLock lock(&mutex_);
    ReadLocked();
  }

  void OnReadDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    reading_ = false;
    ended_ = !ok;
    unanswered_ += ok ? 1 : 0;
    ReadLocked();
    WriteLocked();
  }
  void OnWriteDone(bool ok) override {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    unanswered_ = ok ? unanswered_ - 1 : 0;
    ReadLocked();
    WriteLocked();
  }
  void OnDone() override {
    { absl::MutexLock lock(&mutex_); }  // whoever called Finish() has left
    delete this;
  }

 private:
  static constexpr int kMaxUnanswered = 64;

  void ReadLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (reading_ || ended_ || unanswered_ >= kMaxUnanswered) return;
    reading_ = true;
    StartRead(&request_);
  }
  void WriteLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_) return;
    if (unanswered_ > 0) {
      writing_ = true;
      grpc::WriteOptions options;
      if (unanswered_ > 1) options.set_buffer_hint();  // the next one follows at once
      StartWrite(&reply_, options);
    } else if (ended_ && !finished_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }

  const grpc::ByteBuffer& reply_;
  grpc::ByteBuffer request_;
  absl::Mutex mutex_;
  int unanswered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool reading_ ABSL_GUARDED_BY(mutex_) = false, writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false, finished_ ABSL_GUARDED_BY(mutex_) = false;
};

template <typename Call>
class EchoService final : public grpc::CallbackGenericService {
 public:
  explicit EchoService(int64_t reply_bytes)
      : reply_(ToByteBuffer(std::string(static_cast<size_t>(reply_bytes), 'x'))) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Call(reply_);
  }

 private:
  const grpc::ByteBuffer reply_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<GenericServer>> GenericServer::Start(
    std::unique_ptr<grpc::CallbackGenericService> service) {
  std::unique_ptr<GenericServer> started(new GenericServer);
  started->service_ = std::move(service);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterCallbackGenericService(started->service_.get());
  started->server_ = builder.BuildAndStart();
  if (started->server_ == nullptr) return absl::UnavailableError("no port of 127.0.0.1 can be listened at");
  started->address_ = absl::StrCat("127.0.0.1:", port);
  return started;
}

GenericServer::~GenericServer() {
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
}

std::unique_ptr<grpc::CallbackGenericService> MakeEchoService(int64_t reply_bytes) {
  return std::make_unique<EchoService<EchoCall>>(reply_bytes);
}

std::unique_ptr<grpc::CallbackGenericService> MakeStreamEchoService(int64_t reply_bytes) {
  return std::make_unique<EchoService<StreamEchoCall>>(reply_bytes);
}

}  // namespace cobra::bench
