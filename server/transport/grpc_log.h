#ifndef COBRA_SERVER_TRANSPORT_GRPC_LOG_H_
#define COBRA_SERVER_TRANSPORT_GRPC_LOG_H_

namespace cobra::server {

// gRPC writes a line to standard error for each TLS handshake that fails, and clients decide how
// many do. Its lines go through our log, at most one in ten seconds. With GRPC_VERBOSITY set,
// somebody looks for a fault and wants them all: then nothing is changed.
void ThrottleGrpcLog();

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_GRPC_LOG_H_
