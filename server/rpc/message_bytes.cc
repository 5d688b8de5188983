#include "server/rpc/message_bytes.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "cobra/v1/cobra.pb.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "proto/parsed_size.h"
#include "proto/request_parts.h"

namespace cobra::server {

bool InOnePiece(const grpc::ByteBuffer& bytes, grpc::Slice* slice, absl::string_view* text) {
  if (!bytes.Valid() || (!bytes.TrySingleSlice(slice).ok() && !bytes.DumpToSingleSlice(slice).ok())) return false;
  *text = absl::string_view(reinterpret_cast<const char*>(slice->begin()), slice->size());
  return true;
}

grpc::ByteBuffer BufferOf(absl::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  return grpc::ByteBuffer(&slice, 1);
}

std::string TextOf(const grpc::ByteBuffer& bytes) {
  grpc::Slice slice;
  absl::string_view text;
  return InOnePiece(bytes, &slice, &text) ? std::string(text) : "";
}

absl::Status NoMessage(const google::protobuf::Message& message) {
  return UsageError(absl::StrCat("the request: its bytes are not a ", message.GetDescriptor()->full_name()));
}

absl::Status ParseMessage(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes, google::protobuf::Message* message) {
  grpc::Slice slice;
  absl::string_view text;
  return InOnePiece(bytes, &slice, &text) ? ParseBytes(text, max_parsed_bytes, message) : NoMessage(*message);
}

absl::Status ParseTimedNetworks(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes,
                                google::protobuf::Message* message) {
  grpc::Slice slice;
  absl::string_view received;
  if (!InOnePiece(bytes, &slice, &received)) return NoMessage(*message);
  std::string text(received);
  const google::protobuf::Descriptor& type = *message->GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    if (type.field(i)->message_type() == v1::TimedNetwork::descriptor())
      proto::KeepGraphBytes(type.field(i)->number(), &text);
  }
  return ParseBytes(text, max_parsed_bytes, message);
}

absl::Status ParseBytes(absl::string_view text, int64_t max_parsed_bytes, google::protobuf::Message* message) {
  const ParsedSize size = proto::ParsedSizeOf(text, *message->GetDescriptor(), max_parsed_bytes);
  if (size.bytes > max_parsed_bytes) {
    return UserError(Diagnostic::Kind::kLimit,
                     LimitMessage(absl::StrCat("the request: what its ", text.size(), " bytes take in memory"),
                                  max_parsed_bytes, "bytes"));
  }
  if (!size.well_formed || !message->ParseFromArray(text.data(), static_cast<int>(text.size())))
    return NoMessage(*message);
  return absl::OkStatus();
}

absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes, int64_t max_bytes) {
  const auto size = static_cast<int64_t>(message.ByteSizeLong());
  if (size > max_bytes) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("the reply", size, max_bytes, "bytes"),
                     "ask for less in one request");
  }
  bytes->Clear();  // gRPC's writer requires an empty buffer
  bool own_buffer = false;
  const grpc::Status status =
      grpc::GenericSerialize<grpc::ProtoBufferWriter, google::protobuf::Message>(message, bytes, &own_buffer);
  if (!status.ok())
    return absl::InternalError(absl::StrCat("the reply cannot be serialised: ", status.error_message()));
  return absl::OkStatus();
}

}  // namespace cobra::server
