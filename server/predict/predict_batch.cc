#include "server/predict/predict_batch.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/clock.h"
#include "base/bytes/keyed_hash.h"
#include "base/bytes/wire_format.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "cobra/v1/cobra.pb.h"
#include "proto/request_parts.h"
#include "server/predict/predict_item.h"
#include "server/rpc/message_bytes.h"

namespace cobra::server {
namespace {

constexpr absl::Duration kTurn = absl::Milliseconds(10);  // then others have theirs
// Of the time until the deadline, for sending what is there: after the deadline the caller would
// get nothing.
constexpr int kShareForReply = 10;
constexpr absl::Duration kMostForReply = absl::Seconds(1);
// The least that the result of a target takes: its name and six numbers.
constexpr int64_t kLeastTargetBytes = 60;
constexpr size_t kHeldTogether = 64 << 10;
constexpr ResultFields kFields = {v1::PredictResult::kResponseFieldNumber, v1::PredictResult::kErrorFieldNumber};

}  // namespace

absl::Status BatchWork::CheckReplyBytes(int64_t bytes) const {
  if (bytes <= limits_.max_reply_bytes) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the reply", bytes, limits_.max_reply_bytes, "bytes"),
                   "send fewer requests in one batch, ask for fewer targets, or leave the breakdown out");
}

absl::Status BatchWork::Split(absl::string_view request) {
  const auto most = static_cast<size_t>(limits_.max_batch);
  std::vector<absl::string_view> requests;
  if (!proto::SplitBatch(request, most, &requests)) return NoMessage(v1::PredictBatchRequest());
  if (requests.size() > most) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage("requests", limits_.max_batch, "of one batch"),
                     "split them into several batches");
  }
  int64_t targets = 0;
  for (const absl::string_view bytes : requests) {
    targets += proto::NumTargets(bytes);
    items_.push_back({bytes, KeyedHash(bytes), items_.size(), nullptr, "", {}});
  }
  if (items_.empty()) return UsageError("requests: none given");
  return CheckReplyBytes(kLeastTargetBytes * targets);
}

absl::Status BatchWork::Begin(const grpc::ByteBuffer& request, const CallContext& call) {
  const absl::Time now = absl::Now();
  answer_by_ = call.deadline - std::min(kMostForReply, (call.deadline - now) / kShareForReply);
  absl::string_view text;
  if (!InOnePiece(request, &slice_, &text)) return NoMessage(v1::PredictBatchRequest());
  COBRA_RETURN_IF_ERROR(Split(text));
  absl::flat_hash_map<Hash128, size_t> first;
  for (size_t i = 0; i < items_.size(); ++i) {
    Item& item = items_[i];
    const auto [known, added] = first.try_emplace(item.hash, i);
    item.same_as = known->second;
    if (!added) continue;
    CallContext own = call;
    own.request = item.hash;
    const auto bytes = [&item] { return std::string(item.bytes); };
    item.known = pipeline_->FindReply(own, bytes, /*may_wait=*/true).reply;
    if (item.known != nullptr) {
      reply_bytes_ += static_cast<int64_t>(SizeOf(item));
    } else {
      missing_.push_back(i);
    }
  }
  return call.CheckCaller();
}

void BatchWork::Keep(const absl::StatusOr<std::string>& reply, const std::string& caller, Item* item) {
  WireWriter writer(reply.ok() ? reply->size() + 16 : 256);
  const ItemCaller asker{Rpc::kPredictBatch, caller, replies_, metrics_};
  item->held = WriteResult(reply, asker, kFields, &writer);
  if (const absl::Status held = HoldSmall(caller, writer.bytes().size()); !held.ok()) {
    WireWriter refusal(256);
    item->held = WriteResult(held, asker, kFields, &refusal);
    item->result = std::string(refusal.bytes());
  } else {
    item->result = std::string(writer.bytes());
  }
  reply_bytes_ += static_cast<int64_t>(item->result.size());
}

absl::Status BatchWork::HoldSmall(const std::string& caller, size_t bytes) {
  if (bytes >= HeldBytes::kLeastBytes) return absl::OkStatus();  // WriteResult() has counted it
  absl::MutexLock lock(&mutex_);
  unheld_bytes_ += bytes;
  if (unheld_bytes_ < kHeldTogether) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(HeldBytes::Part part, replies_->Hold(caller, unheld_bytes_));
  held_.push_back(std::move(part));
  unheld_bytes_ = 0;
  return absl::OkStatus();
}

size_t BatchWork::SizeOf(const Item& item) {
  constexpr size_t kTagAndLength = 6;
  return item.known != nullptr ? item.known->bytes.size() + kTagAndLength : item.result.size();
}

bool BatchWork::RunSome(const CallContext& call) {
  const absl::Time end = absl::Now() + kTurn;
  do {
    // When a drain ends what is left, each request that has no answer yet gets that as its status.
    if (!call.CheckCaller().ok() || !CheckReplyBytes(reply_bytes_).ok()) return false;
    const size_t next = next_.fetch_add(1);
    if (next >= missing_.size()) return false;
    Item& item = items_[missing_[next]];
    CallContext own = call;
    own.request = item.hash;
    own.deadline = answer_by_;
    own.readers = &readers_;
    Keep(AnswerItem(item.bytes, limits_.max_parsed_bytes, own, pipeline_), call.caller, &item);
  } while (absl::Now() < end);
  return true;
}

absl::Status BatchWork::Finish(grpc::ByteBuffer* response) {
  COBRA_RETURN_IF_ERROR(CheckReplyBytes(reply_bytes_));
  int64_t size = 0;
  for (const Item& item : items_) {
    const size_t bytes = SizeOf(items_[item.same_as]);
    if (bytes == 0) return absl::ResourceExhaustedError("too many requests wait; try again");
    size += static_cast<int64_t>(bytes);
  }
  COBRA_RETURN_IF_ERROR(CheckReplyBytes(size));
  WireWriter writer(static_cast<size_t>(size) + 8 * items_.size());
  for (size_t i = items_.size(); i-- > 0;) {
    const Item& item = items_[items_[i].same_as];
    if (item.known == nullptr) {
      writer.Text(v1::PredictBatchResponse::kResultsFieldNumber, item.result);
      continue;
    }
    const size_t end = writer.size();
    writer.Text(kFields.response, item.known->bytes);
    writer.Message(v1::PredictBatchResponse::kResultsFieldNumber, end);
  }
  grpc::ByteBuffer bytes = BufferOf(writer.bytes());
  response->Swap(&bytes);
  return absl::OkStatus();
}

}  // namespace cobra::server
