#include "tests/bench/echo.h"

#include <chrono>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
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

class EchoService final : public grpc::CallbackGenericService {
 public:
  explicit EchoService(int64_t reply_bytes)
      : reply_(ToByteBuffer(std::string(static_cast<size_t>(reply_bytes), 'x'))) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new EchoCall(reply_);
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
  return std::make_unique<EchoService>(reply_bytes);
}

}  // namespace cobra::bench
