#include "server/predict_message.h"

#include <vector>

#include "base/status_macros.h"
#include "base/wire_format.h"
#include "server/message_bytes.h"

namespace cobra::server {

// Usual requests have one graph and no other model. Others, of which protobuf knows which part counts, are parsed
// whole.
bool PredictMessage::SplitGraph(absl::string_view text, std::string* rest) {
  absl::string_view graph;
  int models = 0;
  const char* part = text.data();  // where what is not in `rest` yet begins
  for (absl::string_view left = text; !left.empty();) {
    WireField field;
    if (!NextWireField(&left, &field)) return false;
    const auto model = static_cast<v1::PredictRequest::ModelCase>(field.number);
    models += model == v1::PredictRequest::kSource || model == v1::PredictRequest::kOnnx ||
              model == v1::PredictRequest::kTflite || model == v1::PredictRequest::kArchitecture;
    if (model != v1::PredictRequest::kGraph || field.kind != WireField::Kind::kBytes) continue;
    ++models;
    graph = field.bytes;
    rest->append(part, static_cast<size_t>(field.whole.data() - part));
    part = left.data();
  }
  if (graph.data() == nullptr || models != 1) return false;
  rest->append(part, static_cast<size_t>(text.data() + text.size() - part));
  graph_ = graph;
  return true;
}

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
  std::string rest;
  if (SplitGraph(text, &rest)) return ParseBytes(rest, max_parsed_bytes, request_);
  COBRA_RETURN_IF_ERROR(ParseBytes(text, max_parsed_bytes, request_));
  if (!request_->has_graph()) return absl::OkStatus();
  copy_ = request_->graph().SerializeAsString();
  request_->clear_graph();
  graph_ = copy_;
  return absl::OkStatus();
}

}  // namespace cobra::server
