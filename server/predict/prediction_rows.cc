#include "server/predict/prediction_rows.h"

#include <cstddef>

#include "base/diagnostic.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"

namespace cobra::server {

absl::Status CheckPredictReplyBytes(int64_t bytes, int64_t most) {
  if (bytes <= most) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit, LimitMessage("the reply", bytes, most, "bytes"),
                   "ask for fewer targets in one request, or leave the breakdown out");
}

int64_t BreakdownRowBytes(const graph::Graph& graph) {
  constexpr size_t kNumbersAndKeys = 40;
  size_t bytes = 0;
  for (const graph::Node& node : graph.nodes()) {
    bytes += kNumbersAndKeys + graph::OpName(node.op).size() + node.origin.module_path.size();
    if (node.origin.shown_file() != nullptr) bytes += node.origin.shown_file()->size();
  }
  return static_cast<int64_t>(bytes);
}

int64_t BreakdownReasonBytes(const predict::LatencyPrediction& prediction) {
  size_t bytes = 0;
  for (const std::string& reason : prediction.node_unknown) bytes += reason.size();
  return static_cast<int64_t>(bytes);
}

void FillBreakdown(const graph::Graph& graph, const predict::LatencyPrediction& prediction, v1::TargetPrediction* out) {
  for (size_t i = 0; i < prediction.node_latency_us.size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    v1::NodeLatency* row = out->add_breakdown();
    row->set_node(static_cast<int>(i));
    row->set_op(std::string(graph::OpName(node.op)));
    row->set_module_path(node.origin.module_path);
    if (node.origin.shown_file() != nullptr) row->set_file(*node.origin.shown_file());
    row->set_line(node.origin.shown_line());
    row->set_latency_us(prediction.node_latency_us[i]);
    if (!prediction.node_alone_us.empty()) row->set_alone_us(static_cast<double>(prediction.node_alone_us[i]));
    if (!prediction.node_unknown.empty()) row->set_unknown(prediction.node_unknown[i]);
  }
}

void FillTargetPrediction(const std::string& target, const predict::PredictionTotals& prediction,
                          int64_t peak_memory_bytes, v1::TargetPrediction* out) {
  out->set_target(target);
  out->set_latency_us(prediction.latency_us);
  out->set_low_us(prediction.low_us);
  out->set_high_us(prediction.high_us);
  out->set_coverage(prediction.coverage);
  out->set_confidence(prediction.confidence);
  out->set_extrapolating(prediction.extrapolating);
  out->set_peak_memory_bytes(peak_memory_bytes);
  if (prediction.undisturbed_us > 0) {
    v1::UndisturbedLatency* undisturbed = out->mutable_undisturbed();
    undisturbed->set_latency_us(prediction.undisturbed_us);
    undisturbed->set_low_us(prediction.undisturbed_low_us);
    undisturbed->set_high_us(prediction.undisturbed_high_us);
  }
  for (const predict::UnknownPart& part : prediction.unknown) {
    v1::UnknownPart* unknown = out->add_unknown();
    unknown->set_why(part.why);
    unknown->set_share(part.share);
  }
}

}  // namespace cobra::server
