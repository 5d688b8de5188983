// A gRPC service whose messages are bytes to gRPC: they are checked before they are parsed
// (message_bytes.h), and taken when we want them (single_request_call.h). It stands for the class
// that protoc would generate.
#ifndef COBRA_SERVER_RPC_BYTES_SERVICE_H_
#define COBRA_SERVER_RPC_BYTES_SERVICE_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/server_callback_handlers.h"
#include "grpcpp/impl/rpc_service_method.h"
#include "grpcpp/impl/service_type.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

using BytesReactor = grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

class BytesService : public grpc::Service {
 protected:
  // Answers the calls of an RPC, or of `path`, "/cobra.v1.Cobra/Predict". gRPC calls `open` when a
  // call's metadata have arrived, and owns what it returns. REQUIRES: before the service is
  // registered.
  void Answer(Rpc rpc, std::function<BytesReactor*(grpc::CallbackServerContext*)> open) {
    Answer(absl::StrCat("/", InfoOf(rpc).service, "/", MethodName(rpc)), std::move(open));
  }
  void Answer(const std::string& path, std::function<BytesReactor*(grpc::CallbackServerContext*)> open) {
    // gRPC keeps the pointer to the name.
    names_.push_back(std::make_unique<std::string>(path));
    const auto position = static_cast<size_t>(names_.size() - 1);
    AddMethod(new grpc::internal::RpcServiceMethod(names_.back()->c_str(), grpc::internal::RpcMethod::BIDI_STREAMING,
                                                   /*handler=*/nullptr));
    MarkMethodRawCallback(position,
                          new grpc::internal::CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(std::move(open)));
  }

 private:
  std::vector<std::unique_ptr<std::string>> names_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_BYTES_SERVICE_H_
