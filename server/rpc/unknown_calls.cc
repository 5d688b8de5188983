#include "server/rpc/unknown_calls.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/grpc_status.h"
#include "server/rpc/single_request_call.h"

namespace cobra::server {
namespace {

constexpr size_t kMaxNamedBytes = 200;  // of a method in the message

class UnknownCall final : public grpc::ServerGenericBidiReactor {
 public:
  UnknownCall(std::shared_ptr<Connection> connection, const std::string& method) : connection_(std::move(connection)) {
    connection_->CallBegan();
    const absl::string_view name = method.size() > kMaxNamedBytes ? absl::string_view("the method") : method;
    Finish(proto::ToGrpcStatus(absl::UnimplementedError(
        absl::StrCat(name, ": this server has no such method; a newer one may have it (docs/api.md)"))));
  }
  ~UnknownCall() override { connection_->CallEnded(); }

  void OnDone() override { delete this; }

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace

grpc::ServerGenericBidiReactor* UnknownCalls::CreateReactor(grpc::GenericCallbackServerContext* context) {
  return new UnknownCall(ConnectionOf(connections_, *context), context->method());
}

}  // namespace cobra::server
