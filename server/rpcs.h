// The list of the server's RPCs. The services' names, the metrics' labels and the base classes of the two services
// (raw_service.h) are generated from it. tests/server/rpcs_test.cc compares it with proto/cobra/v1.
#ifndef COBRA_SERVER_RPCS_H_
#define COBRA_SERVER_RPCS_H_

namespace cobra::server {

// RPC(service, method, kind)
#define COBRA_RPCS_OF_COBRA(RPC)   \
  RPC(Cobra, Predict, kUnary)      \
  RPC(Cobra, ListTargets, kUnary)  \
  RPC(Cobra, GetModelInfo, kUnary) \
  RPC(Cobra, Calibrate, kUnary)    \
  RPC(Cobra, UndoCalibration, kUnary)
#define COBRA_RPCS_OF_MEASUREMENTS(RPC) \
  RPC(Measurements, Enqueue, kUnary)    \
  RPC(Measurements, Lease, kUnary)      \
  RPC(Measurements, Renew, kUnary)      \
  RPC(Measurements, Report, kUnary)     \
  RPC(Measurements, Cancel, kUnary)     \
  RPC(Measurements, Watch, kServerStreaming)
#define COBRA_RPCS(RPC)    \
  COBRA_RPCS_OF_COBRA(RPC) \
  COBRA_RPCS_OF_MEASUREMENTS(RPC)

// kPredict, kListTargets, ...
enum class Rpc {
#define COBRA_RPC_ENUMERATOR(service, method, kind) k##method,
  COBRA_RPCS(COBRA_RPC_ENUMERATOR)
#undef COBRA_RPC_ENUMERATOR
};

enum class RpcKind { kUnary, kServerStreaming };

struct RpcInfo {
  Rpc rpc;
  const char* service;  // "cobra.v1.Cobra"
  const char* method;   // "Predict": unique among all services, since it is the metrics' label
  RpcKind kind;
};

// In the order of Rpc.
inline constexpr RpcInfo kRpcs[] = {
#define COBRA_RPC_INFO(service, method, kind) {Rpc::k##method, "cobra.v1." #service, #method, RpcKind::kind},
    COBRA_RPCS(COBRA_RPC_INFO)
#undef COBRA_RPC_INFO
};

constexpr const char* MethodName(Rpc rpc) { return kRpcs[static_cast<int>(rpc)].method; }

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPCS_H_
