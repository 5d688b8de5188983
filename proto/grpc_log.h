#ifndef COBRA_PROTO_GRPC_LOG_H_
#define COBRA_PROTO_GRPC_LOG_H_

namespace cobra::proto {

// For a whole process. With GRPC_VERBOSITY set, somebody looks for a fault and wants every line:
// then neither changes anything.

// For a server. gRPC writes a line to standard error for each TLS handshake that fails, and clients
// decide how many do. Its lines go through our log, at most one in ten seconds.
void ThrottleGrpcLog();

// For a client. What failed is in the status of the call; gRPC's own lines would stand beside it,
// as does "Timer list shutdown" when the process ends while a connection is tried again. What ends
// the process goes through our log.
void DropGrpcLog();

}  // namespace cobra::proto

#endif  // COBRA_PROTO_GRPC_LOG_H_
