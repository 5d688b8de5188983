#include "proto/request_parts.h"

#include <utility>

#include "base/bytes/wire_format.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/unknown_field_set.h"

namespace cobra::proto {
namespace {

bool IsMessage(absl::string_view bytes) {
  WireField field;
  while (!bytes.empty()) {
    if (!NextWireField(&bytes, &field)) return false;
  }
  return true;
}

// Of a TimedNetwork: a field that it does not have, whose number takes one byte like that of
// `graph`. A caller that sends it sends a graph.
constexpr int kKeptGraph = 15;
constexpr char TagOfBytes(int number) { return static_cast<char>(number << 3 | 2); }

// Where the tag of the network's graph stands, if that is its only model.
const char* OnlyGraphTag(absl::string_view network) {
  const char* tag = nullptr;
  int models = 0;
  WireField field;
  while (!network.empty()) {
    if (!NextWireField(&network, &field)) return nullptr;
    if (field.number > v1::TimedNetwork::kNcnnFieldNumber) continue;
    ++models;
    tag = field.whole[0] == TagOfBytes(v1::TimedNetwork::kGraphFieldNumber) ? field.whole.data() : nullptr;
  }
  return models == 1 ? tag : nullptr;
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

void KeepGraphBytes(int list, std::string* request) {
  WireField field;
  for (absl::string_view left = *request; !left.empty();) {
    if (!NextWireField(&left, &field)) return;
    if (field.number != list || field.kind != WireField::Kind::kBytes) continue;
    const char* const tag = OnlyGraphTag(field.bytes);
    if (tag != nullptr) (*request)[static_cast<size_t>(tag - request->data())] = TagOfBytes(kKeptGraph);
  }
}

std::optional<std::string> TakeGraphBytes(v1::TimedNetwork* network) {
  google::protobuf::UnknownFieldSet* const fields = network->GetReflection()->MutableUnknownFields(network);
  for (int i = 0; i < fields->field_count(); ++i) {
    google::protobuf::UnknownField* const field = fields->mutable_field(i);
    if (field->number() != kKeptGraph || field->type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      continue;
    return std::move(*field->mutable_length_delimited());
  }
  return std::nullopt;
}

}  // namespace cobra::proto
