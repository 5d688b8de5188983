#include "server/predict/computation.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/time/clock.h"
#include "base/bytes/keyed_hash.h"
#include "base/process/thread_priority.h"
#include "base/status_macros.h"
#include "graph/cost/cost.h"
#include "graph/cost/memory.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"
#include "server/lanes/request_record.h"
#include "server/predict/prediction_rows.h"
#include "server/reader/runtime_support.h"

namespace cobra::server {
namespace {

absl::StatusOr<NetworkSummary> Summarize(const graph::Graph& graph, const Hash128& exact, NetworkParts wanted,
                                         const CallContext& call) {
  NetworkSummary network;
  network.exact = exact;
  network.known = wanted;
  network.is_float32 =
      absl::c_all_of(graph.parameters(), [](const auto& p) { return p.type.dtype == graph::DType::float32; });
  if (wanted.Has(v1::NETWORK_PART_FINGERPRINT)) {
    network.fingerprint = graph::Fingerprint(graph).ToHex();
    COBRA_RETURN_IF_ERROR(call.Check());
  }
  if (wanted.Has(v1::NETWORK_PART_COUNTS)) {
    const graph::GraphCost cost = graph::CostOf(graph);
    COBRA_RETURN_IF_ERROR(call.Check());
    network.node_count = static_cast<int>(graph.nodes().size());
    network.parameter_count = graph.num_parameters();
    network.macs = cost.macs;
    network.flops = cost.flops;
  }
  if (wanted.Has(v1::NETWORK_PART_PEAK_MEMORY)) network.peak_memory_bytes = graph::PeakMemoryBytes(graph);
  return network;
}

}  // namespace

absl::StatusOr<ComputedAnswer> Computation::ReadAndPredict(const NetworkQuestion& question) {
  const auto& [model, request, graph_bytes, architecture_key, targets, call] = question;
  const std::string torch_version = request->source().torch_version();
  const bool has_breakdown = request->breakdown(), keep_private = request->keep_private();
  const NetworkParts wanted = NetworkParts::WantedBy(*request, call);
  ComputedAnswer answer;
  const absl::Time start = absl::Now();
  // Names are shown beside the calls of a breakdown.
  absl::StatusOr<ReadResult> source = reader_->Read(request, graph_bytes, call, /*names_blocks=*/has_breakdown);
  const absl::Time read = absl::Now();
  answer.read = read - start;
  if (call.stages != nullptr) call.stages->read = answer.read;
  COBRA_RETURN_IF_ERROR(source.status());
  COBRA_ASSIGN_OR_RETURN(answer.held, reader_->Hold(source->graph, call));

  // An architecture string is one network, and shorter than its graph.
  const Hash128 exact = architecture_key.has_value() ? *architecture_key : KeyedHash(graph::ExactBytes(source->graph));
  COBRA_ASSIGN_OR_RETURN(answer.network, SummaryOf(source->graph, exact, wanted, call));
  answer.reply.set_model_version(model.predictor->info().version);
  FillNetwork(*answer.network, wanted, &answer.reply);
  const ReadNetwork of{model, source->graph, *answer.network, targets, keep_private, wanted, call};
  const absl::Status predicted = has_breakdown ? PredictCalls(of, &answer.reply) : PredictTotals(of, &answer.reply);
  answer.predicted = absl::Now() - read;
  if (call.stages != nullptr) call.stages->predicted = answer.predicted;
  COBRA_RETURN_IF_ERROR(predicted);
  for (v1::TargetPrediction& prediction : *answer.reply.mutable_predictions())
    prediction.set_torch_version(torch_version);
  answer.graph = std::move(source->graph);
  answer.repeatable = source->repeatable;
  answer.files_unchanged = std::move(source->files_unchanged);
  return answer;
}

absl::StatusOr<std::shared_ptr<const NetworkSummary>> Computation::SummaryOf(const graph::Graph& graph,
                                                                             const Hash128& exact, NetworkParts wanted,
                                                                             const CallContext& call) {
  std::shared_ptr<const NetworkSummary> known = known_->FindNetwork(exact);
  if (known != nullptr && known->known.HasAllOf(wanted)) return known;
  if (known != nullptr) wanted = wanted.With(known->known);
  COBRA_ASSIGN_OR_RETURN(NetworkSummary network, Summarize(graph, exact, wanted, call));
  return known_->RememberNetwork(exact, std::move(network));
}

absl::StatusOr<predict::LatencyPrediction> Computation::Predict(const ReadNetwork& read, const std::string& target) {
  const auto& [model, graph, network, targets, keep_private, wanted, call] = read;
  COBRA_RETURN_IF_ERROR(call.Check());
  absl::StatusOr<predict::LatencyPrediction> computed =
      model.predictor->Predict(graph, target, model.FindCalibration(target), [&call = call] {
        YieldPeriodically();
        return call.Stopped();
      });
  if (!computed.ok()) {
    COBRA_RETURN_IF_ERROR(call.Check());  // the predictor does not know why it was stopped
    return computed.status();
  }
  const std::string why = WhyNotRunnable(graph, model.RuntimeOf(target));
  if (!why.empty()) {
    computed->confidence = computed->coverage = 0;
    computed->extrapolating = true;
    computed->unknown.insert(computed->unknown.begin(), {why, 1.0});
  }
  if (call.is_warm_up) return computed;
  metrics_->Predicted(target, /*from_cache=*/false, computed->extrapolating);
  if (call.labels == nullptr && wanted.Has(v1::NETWORK_PART_FINGERPRINT)) {
    log_->Append({absl::Now(), network.fingerprint, target, model.predictor->info().version, computed->latency_us,
                  computed->low_us, computed->high_us, computed->confidence, computed->extrapolating,
                  static_cast<int64_t>(graph.nodes().size()), ""},
                 call.caller);
  }
  if (computed->extrapolating && why.empty() && !keep_private) unseen_->Offer(graph, *computed, target, call.caller);
  return computed;
}

// A breakdown is always computed, from the predictor's own cache of layers.
absl::Status Computation::PredictCalls(const ReadNetwork& read, v1::PredictResponse* reply) {
  const int64_t row_bytes = BreakdownRowBytes(read.graph), most = reader_->limits().max_reply_bytes;
  int64_t reply_bytes = row_bytes * static_cast<int64_t>(read.targets.size());
  COBRA_RETURN_IF_ERROR(CheckPredictReplyBytes(reply_bytes, most));
  for (const std::string& target : read.targets) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction prediction, Predict(read, target));
    reply_bytes += BreakdownReasonBytes(prediction);
    COBRA_RETURN_IF_ERROR(CheckPredictReplyBytes(reply_bytes, most));
    v1::TargetPrediction* out = reply->add_predictions();
    const KnownTotals known = TotalsOf(read, target, prediction);
    FillTargetPrediction(target, prediction, known.PeakMemoryBytesOf(read.network, read.wanted), out);
    FillBreakdown(read.graph, prediction, out);
  }
  return absl::OkStatus();
}

absl::Status Computation::PredictTotals(const ReadNetwork& read, v1::PredictResponse* reply) {
  for (const std::string& target : read.targets) {
    COBRA_ASSIGN_OR_RETURN(
        const std::shared_ptr<const KnownTotals> known,
        known_->TotalsOf(read.network, read.model, target, read.call, [&] { return ComputeTotals(read, target); }));
    FillTargetPrediction(target, known->totals, known->PeakMemoryBytesOf(read.network, read.wanted),
                         reply->add_predictions());
  }
  return absl::OkStatus();
}

absl::StatusOr<KnownTotals> Computation::ComputeTotals(const ReadNetwork& read, const std::string& target) {
  COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction computed, Predict(read, target));
  return TotalsOf(read, target, computed);
}

// Without the calls.
KnownTotals Computation::TotalsOf(const ReadNetwork& read, const std::string& target,
                                  const predict::PredictionTotals& totals) const {
  return {totals, read.network.is_float32 && read.model.HasHalfTensors(target),
          metrics_->CountersOf(target, totals.extrapolating)};
}

}  // namespace cobra::server
