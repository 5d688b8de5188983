#include "proto/request_parts.h"

#include "base/wire_format.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::proto {
namespace {

bool IsMessage(absl::string_view bytes) {
  WireField field;
  while (!bytes.empty()) {
    if (!NextWireField(&bytes, &field)) return false;
  }
  return true;
}

}  // namespace

bool SplitBatch(absl::string_view message, size_t most, std::vector<absl::string_view>* requests) {
  WireField field;
  while (!message.empty() && requests->size() <= most) {
    if (!NextWireField(&message, &field)) return false;
    if (field.number == v1::PredictBatchRequest::kRequestsFieldNumber && field.kind == WireField::Kind::kBytes)
      requests->push_back(field.bytes);
  }
  return true;
}

int64_t NumTargets(absl::string_view request) {
  int64_t targets = 0;
  WireField field;
  while (!request.empty() && NextWireField(&request, &field))
    targets += field.number == v1::PredictRequest::kTargetsFieldNumber && field.kind == WireField::Kind::kBytes;
  return targets;
}

bool ParseStreamRequest(absl::string_view message, StreamRequest* request, std::string* joined) {
  WireField field;
  int parts = 0;
  bool whole = true;  // a field must not begin in one part and end in the next
  while (!message.empty()) {
    if (!NextWireField(&message, &field)) return false;
    if (field.number == v1::PredictStreamRequest::kRequestIdFieldNumber && field.kind == WireField::Kind::kVarint)
      request->id = field.value;
    if (field.number != v1::PredictStreamRequest::kRequestFieldNumber || field.kind != WireField::Kind::kBytes)
      continue;
    if (++parts == 1) {
      request->bytes = field.bytes;
      continue;
    }
    if (parts == 2) {
      whole = IsMessage(request->bytes);
      joined->assign(request->bytes.data(), request->bytes.size());
    }
    whole = whole && IsMessage(field.bytes);
    joined->append(field.bytes.data(), field.bytes.size());
  }
  if (parts > 1) request->bytes = *joined;
  return whole;
}

bool SplitGraph(absl::string_view request, absl::string_view* graph, std::string* rest) {
  int models = 0;
  bool found = false;
  const char* part = request.data();  // where what is not in `rest` yet begins
  for (absl::string_view left = request; !left.empty();) {
    WireField field;
    if (!NextWireField(&left, &field)) return false;
    const int model = field.number;  // not a ModelCase, which has no other values than those of its fields
    models += model == v1::PredictRequest::kSourceFieldNumber || model == v1::PredictRequest::kOnnxFieldNumber ||
              model == v1::PredictRequest::kTfliteFieldNumber ||
              model == v1::PredictRequest::kArchitectureFieldNumber || model == v1::PredictRequest::kNcnnFieldNumber;
    if (model != v1::PredictRequest::kGraphFieldNumber || field.kind != WireField::Kind::kBytes) continue;
    ++models;
    found = true;
    *graph = field.bytes;
    rest->append(part, static_cast<size_t>(field.whole.data() - part));
    part = left.data();
  }
  if (!found || models != 1) return false;
  rest->append(part, static_cast<size_t>(request.data() + request.size() - part));
  return true;
}

}  // namespace cobra::proto
