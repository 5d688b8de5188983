// The list of the server's RPCs. The services' names, the metrics' labels and who may call what
// (access/access.h) are generated from it. tests/server/rpcs_test.cc compares it with
// proto/cobra/v1.
#ifndef COBRA_SERVER_LANES_RPCS_H_
#define COBRA_SERVER_LANES_RPCS_H_

namespace cobra::server {

// RPC(service, method, kind, lane, role).
#define COBRA_RPCS(RPC)                                          \
  RPC(Cobra, Predict, kUnary, kPredictions, kAsk)                \
  RPC(Cobra, PredictBatch, kUnary, kPredictions, kAsk)           \
  RPC(Cobra, PredictStream, kBidirectional, kPredictions, kAsk)  \
  RPC(Cobra, ListTargets, kUnary, kAdministration, kAnyRole)     \
  RPC(Cobra, GetModelInfo, kUnary, kAdministration, kAnyRole)    \
  RPC(Cobra, Calibrate, kUnary, kFits, kMeasure)                 \
  RPC(Cobra, UndoCalibration, kUnary, kFits, kMeasure)           \
  RPC(Cobra, Adapt, kUnary, kFits, kMeasure)                     \
  RPC(Cobra, Observe, kUnary, kFits, kMeasure)                   \
  RPC(Cobra, ExportTarget, kUnary, kAdministration, kMeasure)    \
  RPC(Cobra, SuggestSamples, kUnary, kPredictions, kAsk)         \
  RPC(Cobra, ListPredictions, kUnary, kQueue, kAsk)              \
  RPC(Measurements, Enqueue, kUnary, kQueue, kAsk)               \
  RPC(Measurements, Lease, kUnary, kQueue, kMeasure)             \
  RPC(Measurements, Renew, kUnary, kQueue, kMeasure)             \
  RPC(Measurements, Report, kUnary, kQueue, kMeasure)            \
  RPC(Measurements, Cancel, kUnary, kQueue, kAsk)                \
  RPC(Measurements, Watch, kServerStreaming, kQueue, kAsk)       \
  RPC(Admin, ReloadModel, kUnary, kFits, kAdmin)                 \
  RPC(Admin, ListModelVersions, kUnary, kAdministration, kAdmin) \
  RPC(Admin, GetCaches, kUnary, kAdministration, kAdmin)         \
  RPC(Admin, FlushCaches, kUnary, kAdministration, kAdmin)       \
  RPC(Admin, Drain, kUnary, kAdministration, kAdmin)

// kPredict, kListTargets, ...
enum class Rpc {
#define COBRA_RPC_ENUMERATOR(service, method, ...) k##method,
  COBRA_RPCS(COBRA_RPC_ENUMERATOR)
#undef COBRA_RPC_ENUMERATOR
};

enum class RpcKind { kUnary, kServerStreaming, kBidirectional };

// The threads that answer an RPC (lanes.h). What waits for the database never holds a thread of the
// predictions, and what fits targets, for up to minutes, none of those that say which targets there
// are.
enum class Lane { kPredictions, kQueue, kFits, kAdministration };
inline constexpr Lane kLanes[] = {Lane::kPredictions, Lane::kQueue, Lane::kFits, Lane::kAdministration};
// The metrics' label.
constexpr const char* LaneName(Lane lane) {
  constexpr const char* names[] = {"predictions", "queue", "fits", "administration"};
  return names[static_cast<int>(lane)];
}

// What a call asks of its lane. Each class waits in its own queue (worker_pool.h).
enum class Urgency {
  kWarm,  // an answer that is known, or nearly
  kCold,  // one that has to be computed
  kBulk,  // one of many of a batch or a stream
};
inline constexpr Urgency kUrgencies[] = {Urgency::kWarm, Urgency::kCold, Urgency::kBulk};
// The metrics' label.
constexpr const char* UrgencyName(Urgency urgency) {
  constexpr const char* names[] = {"warm", "cold", "bulk"};
  return names[static_cast<int>(urgency)];
}

// The role that may call an RPC where access control is on. kAdmin may call all; kAnyRole: whoever
// has a role.
enum class Role { kAnyRole, kAsk, kMeasure, kAdmin };

struct RpcInfo {
  Rpc rpc;
  const char* service;  // "cobra.v1.Cobra"
  const char* method;   // "Predict": unique among all services, since it is the metrics' label
  RpcKind kind;
  Lane lane;
  Role role;
};

// In the order of Rpc.
inline constexpr RpcInfo kRpcs[] = {
#define COBRA_RPC_INFO(service, method, kind, lane, role) \
  {Rpc::k##method, "cobra.v1." #service, #method, RpcKind::kind, Lane::lane, Role::role},
    COBRA_RPCS(COBRA_RPC_INFO)
#undef COBRA_RPC_INFO
};

constexpr const RpcInfo& InfoOf(Rpc rpc) { return kRpcs[static_cast<int>(rpc)]; }
constexpr const char* MethodName(Rpc rpc) { return InfoOf(rpc).method; }

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_RPCS_H_
