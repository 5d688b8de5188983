// Messages of the API from and to the bytes that gRPC carries. A request is checked before it is
// parsed.
#ifndef COBRA_SERVER_RPC_MESSAGE_BYTES_H_
#define COBRA_SERVER_RPC_MESSAGE_BYTES_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace cobra::server {

// A diagnostic of kind kLimit if the message would take more than `max_parsed_bytes`, of kind
// kUsage if the bytes are not a message of its type.
using ParseRequest = absl::Status(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes,
                                  google::protobuf::Message* message);
ParseRequest ParseMessage;
// The same of a request with a list of TimedNetwork: their graphs stay bytes
// (proto/request_parts.h).
ParseRequest ParseTimedNetworks;
absl::Status ParseBytes(absl::string_view bytes, int64_t max_parsed_bytes, google::protobuf::Message* message);
// The bytes in one piece, which `*slice` holds: gRPC's own or a copy. False if there are none.
bool InOnePiece(const grpc::ByteBuffer& bytes, grpc::Slice* slice, absl::string_view* text);
// Requests of no more than this are hashed on gRPC's own threads: less than a millisecond's work.
inline constexpr size_t kMaxHashedBytes = 1 << 20;
grpc::ByteBuffer BufferOf(absl::string_view bytes);
std::string TextOf(const grpc::ByteBuffer& bytes);                 // a copy; "" if there are none
absl::Status NoMessage(const google::protobuf::Message& message);  // of kind kUsage

// Protocol buffers count the bytes of a message in an int, and end the process beyond that.
inline constexpr int64_t kMaxMessageBytes = std::numeric_limits<int>::max();

// A diagnostic of kind kLimit if the message has more than `max_bytes`.
absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes,
                              int64_t max_bytes = kMaxMessageBytes);

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_MESSAGE_BYTES_H_
