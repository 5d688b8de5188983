#include "server/targets/timed_networks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/bytes/keyed_hash.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/text/utf8.h"
#include "base/user_error.h"
#include "graph/exact_bytes.h"
#include "graph/form/graph_bytes.h"
#include "proto/request_parts.h"
#include "proto/status_proto.h"

namespace cobra::server {
namespace {

constexpr size_t kMaxListed = 8;

v1::PredictRequest TakeModel(v1::TimedNetwork* message) {
  v1::PredictRequest request;
  if (message->has_source()) request.mutable_source()->Swap(message->mutable_source());
  if (message->has_graph()) request.mutable_graph()->Swap(message->mutable_graph());
  if (message->has_onnx()) request.mutable_onnx()->Swap(message->mutable_onnx());
  if (message->has_tflite()) request.mutable_tflite()->Swap(message->mutable_tflite());
  if (message->has_architecture()) request.mutable_architecture()->Swap(message->mutable_architecture());
  if (message->has_ncnn()) request.mutable_ncnn()->Swap(message->mutable_ncnn());
  return request;
}

int64_t BytesOf(const predict::RefusedRow& refused) {
  constexpr size_t kTagsAndLengths = 24;
  return static_cast<int64_t>(kTagsAndLengths + refused.row.size() + refused.why.message().size());
}

absl::Status CheckBytesOfRefused(int64_t bytes, int64_t most) {
  if (bytes <= most) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the refused rows", bytes, most, "bytes"),
                   "correct them, or send fewer in one request");
}

}  // namespace

std::string TimedNetworkReader::NameOf(const v1::TimedNetwork& message) {
  constexpr size_t kMaxRowBytes = 200;
  std::string row = message.row().empty() ? absl::StrCat(read_) : std::string(Utf8Prefix(message.row(), kMaxRowBytes));
  // Of several with one name, the one that is refused is meant.
  if (!rows_.insert(row).second) absl::StrAppend(&row, " (sample ", read_, ")");
  return row;
}

absl::Status TimedNetworkReader::Refuse(std::string row, absl::Status why) {
  refused_.push_back({std::move(row), std::move(why)});
  refused_bytes_ += BytesOf(refused_.back());
  return CheckBytesOfRefused(refused_bytes_, reader_->limits().max_reply_bytes);
}

absl::StatusOr<std::optional<store::TimedNetwork>> TimedNetworkReader::Next() {
  held_ = HeldBytes::Part();
  while (read_ < messages_->size()) {
    v1::TimedNetwork* const message = messages_->Mutable(read_++);
    std::string row = NameOf(*message);
    const std::optional<std::string> graph_bytes = proto::TakeGraphBytes(message);
    v1::PredictRequest request = TakeModel(message);
    absl::StatusOr<graph::Graph> graph = reader_->ReadFor(runtime_, &request, graph_bytes, call_);
    COBRA_RETURN_IF_ERROR(call_.Check());
    if (!graph.ok()) {
      COBRA_RETURN_IF_ERROR(Refuse(std::move(row), graph.status()));
      continue;
    }
    COBRA_ASSIGN_OR_RETURN(held_, reader_->Hold(*graph, call_));
    return store::TimedNetwork{std::move(row), *std::move(graph), 1000 * message->latency_ms(),
                               message->timings() == 0 ? 1 : message->timings()};
  }
  return std::nullopt;
}

absl::StatusOr<ReadTimings> ReadTimedNetworks(TimedNetworkMessages* messages, absl::string_view runtime,
                                              NetworkReader* reader, const CallContext& call) {
  const int64_t most = reader->limits().max_networks_bytes;
  ReadTimings read;
  TimedNetworkReader networks(messages, runtime, reader, call);
  absl::flat_hash_map<Hash128, graph::Graph> known;  // a log has many timings of one network
  int64_t bytes = 0;
  while (true) {
    COBRA_ASSIGN_OR_RETURN(std::optional<store::TimedNetwork> network, networks.Next());
    if (!network.has_value()) break;
    const auto [same, is_new] = known.try_emplace(KeyedHash(graph::ExactBytes(network->graph)), network->graph);
    network->graph = same->second;
    if (is_new) bytes += graph::GraphBytes(network->graph);
    if (bytes > most) {
      return UserError(Diagnostic::Kind::kLimit,
                       absl::StrCat("row ", network->name, ": ",
                                    LimitMessage("the networks up to this one", bytes, most, "bytes of memory")),
                       "send fewer networks in one request");
    }
    if (is_new) read.held.push_back(networks.TakeHeld());
    read.networks.push_back(*std::move(network));
  }
  read.refused = networks.refused();
  return read;
}

absl::Status CheckRefusedBytes(const std::vector<predict::RefusedRow>& refused, int64_t most) {
  int64_t bytes = 0;
  for (const predict::RefusedRow& row : refused) bytes += BytesOf(row);
  return CheckBytesOfRefused(bytes, most);
}

absl::Status RefusedError(const std::vector<predict::RefusedRow>& refused) {
  std::string message;
  for (size_t i = 0; i < std::min(refused.size(), kMaxListed); ++i)
    absl::StrAppend(&message, i == 0 ? "" : "; ", "row ", refused[i].row, ": ", refused[i].why.message());
  if (refused.size() > kMaxListed)
    absl::StrAppend(&message, "; and ", Counted(refused.size() - kMaxListed, "more row"));
  const std::optional<Diagnostic> first = DiagnosticFromStatus(refused[0].why);
  return UserError(first.has_value() ? first->kind : Diagnostic::Kind::kUsage, std::move(message),
                   "nothing has changed; correct the rows, or leave them out: `skip_refused`");
}

void FillRefused(const std::vector<predict::RefusedRow>& refused,
                 google::protobuf::RepeatedPtrField<v1::RefusedTiming>* messages) {
  for (const predict::RefusedRow& row : refused) {
    v1::RefusedTiming* message = messages->Add();
    message->set_row(row.row);
    proto::StatusToProto(row.why, message->mutable_error());
  }
}

}  // namespace cobra::server
