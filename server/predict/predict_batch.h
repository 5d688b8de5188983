// One call of PredictBatch. Requests with equal bytes are answered once, and what the caches know
// is answered without reading. Shortly before the deadline of the call, requests that have no
// answer yet get DEADLINE_EXCEEDED, and the answers that are there are sent.
#ifndef COBRA_SERVER_PREDICT_PREDICT_BATCH_H_
#define COBRA_SERVER_PREDICT_PREDICT_BATCH_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/predict/pipeline.h"
#include "server/reader/kept_readers.h"
#include "server/rpc/unary_calls.h"

namespace cobra::server {

class BatchWork final : public UnaryCalls::SharedWork {
 public:
  // The pointers are not owned.
  BatchWork(Pipeline* pipeline, HeldBytes* replies, Metrics* metrics, const ServerLimits& limits)
      : pipeline_(pipeline), replies_(replies), metrics_(metrics), limits_(limits) {}

  absl::Status Begin(const grpc::ByteBuffer& request, const CallContext& call) override;
  bool RunSome(const CallContext& call) override;
  absl::Status Finish(grpc::ByteBuffer* response) override;

 private:
  struct Item {
    absl::string_view bytes;  // of a PredictRequest
    Hash128 hash;
    size_t same_as;  // the first item with these bytes
    // Of the first item only, one of these: a reply that the cache holds, or the bytes of a
    // PredictResult.
    std::shared_ptr<const CachedReply> known;
    std::string result;
    HeldBytes::Part held;
  };

  absl::Status Split(absl::string_view request);
  absl::Status CheckReplyBytes(int64_t bytes) const;
  void Keep(const absl::StatusOr<std::string>& reply, const std::string& caller, Item* item);
  // Small results count together.
  absl::Status HoldSmall(const std::string& caller, size_t bytes);
  static size_t SizeOf(const Item& item);

  Pipeline* const pipeline_;
  HeldBytes* const replies_;
  Metrics* const metrics_;
  const ServerLimits limits_;
  absl::Time answer_by_;
  grpc::Slice slice_;
  std::vector<Item> items_;
  std::vector<size_t> missing_;  // items that no cache knows
  std::atomic<size_t> next_{0};  // in missing_
  std::atomic<int64_t> reply_bytes_{0};
  KeptReaders readers_;
  absl::Mutex mutex_;
  size_t unheld_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<HeldBytes::Part> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICT_BATCH_H_
