#include "server/timed_networks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "base/utf8.h"
#include "proto/status_proto.h"

namespace cobra::server {
namespace {

constexpr size_t kMaxRowBytes = 200, kMaxListed = 8;

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

}  // namespace

absl::StatusOr<ReadTimings> ReadTimedNetworks(TimedNetworkMessages* messages, absl::string_view runtime,
                                              Pipeline* pipeline, const CallContext& call) {
  ReadTimings read;
  absl::flat_hash_set<std::string> rows;
  int position = 0;
  for (v1::TimedNetwork& message : *messages) {
    ++position;
    std::string row =
        message.row().empty() ? absl::StrCat(position) : std::string(Utf8Prefix(message.row(), kMaxRowBytes));
    // Of several with one name, the one that is refused is meant.
    if (!rows.insert(row).second) absl::StrAppend(&row, " (sample ", position, ")");
    v1::PredictRequest request = TakeModel(&message);
    absl::StatusOr<graph::Graph> graph = pipeline->ReadNetwork(&request, runtime, call);
    COBRA_RETURN_IF_ERROR(call.Check());
    if (graph.ok()) {
      read.networks.push_back({std::move(row), *std::move(graph), 1000 * message.latency_ms(),
                               message.timings() == 0 ? 1 : message.timings()});
    } else {
      read.refused.push_back({std::move(row), graph.status()});
    }
  }
  return read;
}

absl::Status RefusedError(const std::vector<predict::RefusedRow>& refused) {
  std::string message;
  for (size_t i = 0; i < std::min(refused.size(), kMaxListed); ++i)
    absl::StrAppend(&message, i == 0 ? "" : "; ", "row ", refused[i].row, ": ", refused[i].why.message());
  if (refused.size() > kMaxListed) absl::StrAppend(&message, "; and ", refused.size() - kMaxListed, " more rows");
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
