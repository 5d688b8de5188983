// Messages of the API from and to the bytes that gRPC carries. A request is checked before it is parsed.
#ifndef COBRA_SERVER_MESSAGE_BYTES_H_
#define COBRA_SERVER_MESSAGE_BYTES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "google/protobuf/message.h"
#include "grpcpp/support/byte_buffer.h"

namespace cobra::server {

// A diagnostic of kind kLimit if the message would take more than `max_parsed_bytes`, of kind kUsage if the bytes are
// not a message of its type.
absl::Status ParseMessage(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes, google::protobuf::Message* message);
absl::Status SerializeMessage(const google::protobuf::Message& message, grpc::ByteBuffer* bytes);

}  // namespace cobra::server

#endif  // COBRA_SERVER_MESSAGE_BYTES_H_
