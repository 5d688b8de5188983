#include <algorithm>

#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/measurements.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "proto/model_source_proto.h"
#include "proto/parsed_size.h"
#include "proto/request_parts.h"
#include "server/queue/measurement_task.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;

// As the server does it: the size first.
template <typename Message>
bool Parse(absl::string_view bytes, Message* message) {
  const ParsedSize size = proto::ParsedSizeOf(bytes, *Message::descriptor(), kMostBytes);
  const bool parsed = size.well_formed && size.bytes <= kMostBytes &&
                      message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed && static_cast<int64_t>(message->SpaceUsedLong()) > 4 * size.bytes + 4096)
    Fail("a message takes more than was computed", message->GetTypeName());
  return parsed;
}

// The graph found in the bytes, and the rest, are what protobuf finds.
void CheckSplitGraph(absl::string_view bytes, const v1::PredictRequest* parsed) {
  absl::string_view graph;
  std::string rest;
  if (!proto::SplitGraph(bytes, &graph, &rest)) return;
  v1::PredictRequest request;
  const bool ok = Parse(rest, &request) && Parse(graph, request.mutable_graph());
  if (ok != (parsed != nullptr)) Fail("a graph is found in what protobuf does not parse, or damaged", "");
  if (ok && request.SerializeAsString() != parsed->SerializeAsString())
    Fail("another request than protobuf's", parsed->DebugString());
}

void Predict(absl::string_view bytes) {
  v1::PredictRequest request;
  const bool parsed = Parse(bytes, &request);
  CheckSplitGraph(bytes, parsed ? &request : nullptr);
  if (!parsed || request.model_case() == v1::PredictRequest::MODEL_NOT_SET) return;
  if (const auto source = proto::TakeModelSource(&request, SmallLimits()); !source.ok()) CheckRefusal(source.status());
}

// A request that was found in the bytes of another message, which protobuf parses to `expected`;
// null: it does not.
bool CheckPart(absl::string_view part, const v1::PredictRequest* expected) {
  v1::PredictRequest request;
  const bool parsed = Parse(part, &request);
  if (parsed && proto::NumTargets(part) != request.targets_size()) Fail("targets counted wrong", request.DebugString());
  if (expected != nullptr && (!parsed || request.SerializeAsString() != expected->SerializeAsString()))
    Fail("another request than protobuf's", expected->DebugString());
  Predict(part);
  return parsed;
}

void Batch(absl::string_view bytes) {
  constexpr size_t kMost = 30;
  std::vector<absl::string_view> parts;
  const bool split = proto::SplitBatch(bytes, kMost, &parts);
  v1::PredictBatchRequest batch;
  const bool parsed = Parse(bytes, &batch);
  if (parsed && !split) Fail("refused, but a batch for protobuf", batch.DebugString());
  const bool too_many = parts.size() > kMost;
  if (parsed && (too_many ? batch.requests_size() <= static_cast<int>(kMost)
                          : batch.requests_size() != static_cast<int>(parts.size())))
    Fail("other requests than protobuf's", batch.DebugString());
  if (!split || too_many) return;
  bool all_parsed = true;
  for (size_t i = 0; i < parts.size(); ++i)
    all_parsed &= CheckPart(parts[i], parsed ? &batch.requests(static_cast<int>(i)) : nullptr);
  if (all_parsed && !parsed) Fail("split, but not a batch for protobuf", "");
}

void Stream(absl::string_view bytes) {
  std::string joined;
  proto::StreamRequest request;
  const bool read = proto::ParseStreamRequest(bytes, &request, &joined);
  v1::PredictStreamRequest message;
  const bool parsed = Parse(bytes, &message);
  if (parsed && (!read || request.id != message.request_id()))
    Fail("another request of a stream than protobuf's", message.DebugString());
  if (read && CheckPart(request.bytes, parsed ? &message.request() : nullptr) && !parsed)
    Fail("read, but not a request of a stream for protobuf", "");
}

// What is queued can be leased, and is the same task then.
void Enqueue(absl::string_view bytes) {
  const GraphLimits limits = SmallLimits().graph;
  v1::EnqueueRequest request;
  if (!Parse(bytes, &request)) return;
  server::EnqueueLimits left;
  for (int i = 0; i < std::min(request.tasks_size(), 10); ++i) {
    const absl::StatusOr<store::TaskSpec> spec = server::TaskSpecFromProto(request.tasks(i), limits, &left);
    if (!spec.ok()) {
      CheckRefusal(spec.status());
      continue;
    }
    absl::StatusOr<v1::MeasurementTask> leased = server::TaskSpecToProto(*spec);
    if (!leased.ok()) Fail("a task that cannot be leased", leased.status().ToString());
    leased->clear_task_id();
    server::EnqueueLimits all;
    const absl::StatusOr<store::TaskSpec> again = server::TaskSpecFromProto(*leased, limits, &all);
    if (!again.ok()) Fail("a task that no worker can read", again.status().ToString());
    if (again->id != spec->id) Fail("another task than was queued", leased->DebugString());
  }
}

template <typename Message>
void ParseOnly(absl::string_view bytes) {
  Message message;
  (void)Parse(bytes, &message);
}

}  // namespace

void Message(absl::string_view data) {
  static const bool quiet = (google::protobuf::SetLogHandler(nullptr), true);
  (void)quiet;
  if (data.empty()) return;
  const absl::string_view bytes = data.substr(1);
  switch (data[0]) {
    case 'p': return Predict(bytes);
    case 'b': return Batch(bytes);
    case 's': return Stream(bytes);
    case 't': return ParseOnly<v1::ListTargetsRequest>(bytes);
    case 'i': return ParseOnly<v1::GetModelInfoRequest>(bytes);
    case 'u': return ParseOnly<v1::UndoCalibrationRequest>(bytes);
    case 'c': return ParseOnly<v1::CalibrateRequest>(bytes);
    case 'e': return Enqueue(bytes);
    case 'l': return ParseOnly<v1::LeaseRequest>(bytes);
    case 'n': return ParseOnly<v1::RenewRequest>(bytes);
    case 'r': return ParseOnly<v1::ReportRequest>(bytes);
    case 'x': return ParseOnly<v1::CancelRequest>(bytes);
    case 'w': return ParseOnly<v1::WatchRequest>(bytes);
    default: return;
  }
}

}  // namespace cobra::fuzz
