#include "proto/grpc_status.h"

#include "cobra/v1/error.pb.h"
#include "proto/status_proto.h"

namespace cobra::proto {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  v1::RpcStatus proto;
  StatusToProto(status, &proto);
  // The numbers of absl::StatusCode and grpc::StatusCode are the same by design.
  const auto code = static_cast<grpc::StatusCode>(proto.code());
  if (proto.details().empty()) return grpc::Status(code, proto.message());
  return grpc::Status(code, proto.message(), proto.SerializeAsString());
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  v1::RpcStatus proto;
  if (!proto.ParseFromString(status.error_details())) proto.Clear();
  proto.set_code(status.error_code());
  proto.set_message(status.error_message());
  return StatusFromProto(proto);
}

}  // namespace cobra::proto
