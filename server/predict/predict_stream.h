// Calls of PredictStream: requests come as the caller sends them, each answer goes as soon as it is
// there.
#ifndef COBRA_SERVER_PREDICT_PREDICT_STREAM_H_
#define COBRA_SERVER_PREDICT_PREDICT_STREAM_H_

#include <map>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpcpp/grpcpp.h"
#include "server/access/access.h"
#include "server/lanes/lanes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/predict/pipeline.h"
#include "server/rpc/bytes_service.h"
#include "server/transport/connection_table.h"

namespace cobra::server {

class StreamCall;

// The open streams. Bounds them, and ends them when the server drains.
class PredictStreams {
 public:
  static constexpr size_t kMaxStreams = 1024;
  static constexpr size_t kMaxStreamsPerCaller = 128;

  // The pointers are not owned and must outlive this object.
  PredictStreams(Pipeline* pipeline, const ConnectionTable* connections, Lanes* lanes, Metrics* metrics,
                 const ServerLimits& limits)
      : pipeline_(pipeline), connections_(connections), lanes_(lanes), metrics_(metrics), limits_(limits) {}

  // For the RPC; gRPC owns what is returned.
  BytesReactor* Open(grpc::CallbackServerContext* context, Access* access);
  // From now on streams take no request more; each ends when what it has begun is answered.
  void Close();

 private:
  friend class StreamCall;
  absl::Status Add(StreamCall* stream, const std::string& caller);
  void Remove(StreamCall* stream, const std::string& caller);
  void RemoveLocked(StreamCall* stream, const std::string& caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool MakeRoomLocked(size_t of_newcomer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Pipeline* const pipeline_;
  const ConnectionTable* const connections_;
  Lanes* const lanes_;
  Metrics* const metrics_;
  const ServerLimits limits_;
  absl::Mutex mutex_;
  std::set<StreamCall*> streams_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, size_t> by_caller_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICT_STREAM_H_
