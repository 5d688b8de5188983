#include "server/predict/predict_message.h"

#include <vector>

#include "base/status_macros.h"
#include "proto/request_parts.h"
#include "server/rpc/message_bytes.h"

namespace cobra::server {

bool PredictMessage::Join(const grpc::ByteBuffer& bytes, absl::string_view* text) {
  constexpr size_t kKept = 256 << 10;
  thread_local std::string joined;
  std::vector<grpc::Slice> slices;
  if (!bytes.Valid() || bytes.Length() > kKept || bytes.TrySingleSlice(&slice_).ok() || !bytes.Dump(&slices).ok())
    return InOnePiece(bytes, &slice_, text);
  joined.clear();
  for (const grpc::Slice& slice : slices) joined.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  *text = joined;
  return true;
}

absl::Status PredictMessage::Parse(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes) {
  absl::string_view text;
  return Join(bytes, &text) ? Parse(text, max_parsed_bytes) : NoMessage(*request_);
}

absl::Status PredictMessage::Parse(absl::string_view text, int64_t max_parsed_bytes) {
  // Usual requests have one graph and no other model. Others are parsed whole.
  absl::string_view graph;
  std::string rest;
  if (proto::SplitGraph(text, &graph, &rest)) {
    graph_ = graph;
    return ParseBytes(rest, max_parsed_bytes, request_);
  }
  COBRA_RETURN_IF_ERROR(ParseBytes(text, max_parsed_bytes, request_));
  if (!request_->has_graph()) return absl::OkStatus();
  copy_ = request_->graph().SerializeAsString();
  request_->clear_graph();
  graph_ = copy_;
  return absl::OkStatus();
}

}  // namespace cobra::server
