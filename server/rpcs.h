// The list of the server's RPCs. The services' names, the metrics' labels and the base classes of the two services
// (raw_service.h) are generated from it. tests/server/rpcs_test.cc compares it with proto/cobra/v1.
#ifndef COBRA_SERVER_RPCS_H_
#define COBRA_SERVER_RPCS_H_

namespace cobra::server {

// RPC(service, method, kind, lane)
#define COBRA_RPCS_OF_COBRA(RPC)                    \
  RPC(Cobra, Predict, kUnary, kPredictions)         \
  RPC(Cobra, ListTargets, kUnary, kAdministration)  \
  RPC(Cobra, GetModelInfo, kUnary, kAdministration) \
  RPC(Cobra, Calibrate, kUnary, kAdministration)
#define COBRA_RPCS_OF_MEASUREMENTS(RPC)      \
  RPC(Measurements, Enqueue, kUnary, kQueue) \
  RPC(Measurements, Lease, kUnary, kQueue)   \
  RPC(Measurements, Renew, kUnary, kQueue)   \
  RPC(Measurements, Report, kUnary, kQueue)  \
  RPC(Measurements, Cancel, kUnary, kQueue)  \
  RPC(Measurements, Watch, kServerStreaming, kQueue)
#define COBRA_RPCS(RPC)    \
  COBRA_RPCS_OF_COBRA(RPC) \
  COBRA_RPCS_OF_MEASUREMENTS(RPC)

// kPredict, kListTargets, ...
enum class Rpc {
#define COBRA_RPC_ENUMERATOR(service, method, ...) k##method,
  COBRA_RPCS(COBRA_RPC_ENUMERATOR)
#undef COBRA_RPC_ENUMERATOR
};

enum class RpcKind { kUnary, kServerStreaming };

// The threads that answer an RPC (lanes.h). What waits for the database never holds a thread of the predictions.
enum class Lane { kPredictions, kQueue, kAdministration };
inline constexpr Lane kLanes[] = {Lane::kPredictions, Lane::kQueue, Lane::kAdministration};
// The metrics' label.
constexpr const char* LaneName(Lane lane) {
  constexpr const char* names[] = {"predictions", "queue", "administration"};
  return names[static_cast<int>(lane)];
}

struct RpcInfo {
  Rpc rpc;
  const char* service;  // "cobra.v1.Cobra"
  const char* method;   // "Predict": unique among all services, since it is the metrics' label
  RpcKind kind;
  Lane lane;
};

// In the order of Rpc.
inline constexpr RpcInfo kRpcs[] = {
#define COBRA_RPC_INFO(service, method, kind, lane) \
  {Rpc::k##method, "cobra.v1." #service, #method, RpcKind::kind, Lane::lane},
    COBRA_RPCS(COBRA_RPC_INFO)
#undef COBRA_RPC_INFO
};

constexpr const RpcInfo& InfoOf(Rpc rpc) { return kRpcs[static_cast<int>(rpc)]; }
constexpr const char* MethodName(Rpc rpc) { return InfoOf(rpc).method; }

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPCS_H_
