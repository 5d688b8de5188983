#include "model/predict/assemble.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "model/predict/adapt/adapt_terms.h"
#include "model/predict/adapt/calibration.h"
#include "model/predict/adapt/calibration_terms.h"
#include "model/predict/price/known_range.h"
#include "model/predict/price/launch_time.h"
#include "model/predict/price/prediction_interval.h"
#include "model/predict/price/sheet_limits.h"
#include "model/predict/price/training_time.h"

namespace cobra::predict {
namespace {

std::vector<CallKind> KindsOf(const graph::Graph& graph, const Layers& layers) {
  std::vector<CallKind> kinds;
  for (const int32_t call : layers.first_call) kinds.push_back(KindOf(graph, call));
  return kinds;
}

}  // namespace

LatencyPrediction Assemble(const PredictionParts& parts, const infer::NetworkContributions& contributions) {
  const auto& [graph, layers, total, target, spec, calibration, adapted] = parts;
  const size_t calls = graph.nodes().size();
  std::vector<CallLimits> limits;
  for (size_t layer = 0; layer < layers.entries.size(); ++layer) {
    limits.push_back(LimitsOf(graph, layers.first_call[layer], target));
    if (!layers.entries[layer]->unknown.empty()) limits.back().unknown = layers.entries[layer]->unknown;
  }
  LatencyPrediction out;
  out.node_latency_us.reserve(calls);
  out.node_alone_us.reserve(calls);
  out.node_unknown.reserve(calls);
  double known_us = 0;
  int compute_nodes = 0;
  std::map<std::string, double> unknown_us;
  std::vector<double> log_us_of_call(calls);
  for (size_t i = 0; i < calls; ++i) {
    const double least_log_us = limits[static_cast<size_t>(layers.of_call[i])].least_log_us;
    log_us_of_call[i] = std::max(static_cast<double>(contributions.log_us[i]), least_log_us);
  }
  SheetLimits(spec, graph).Keep(&log_us_of_call);
  const LaunchTime launching(graph, spec, target, adapted == nullptr || adapted->samples > 0);
  std::vector<double> more_us = launching.WaitingUs(log_us_of_call);
  double all_more_us = 0;
  for (size_t i = 0; i < calls; ++i) more_us[i] += StatisticsUs(graph, graph.nodes()[i], spec, target);
  std::vector<double> corrections(calls);
  const std::vector<CallKind> kinds = calibration != nullptr ? KindsOf(graph, layers) : std::vector<CallKind>();
  for (size_t i = 0; i < calls && calibration != nullptr; ++i) {
    const double of_networks = more_us[i] > 0 ? std::log(std::exp(log_us_of_call[i]) + more_us[i]) : log_us_of_call[i];
    corrections[i] =
        CalibrationLogCorrection(*calibration, kinds[static_cast<size_t>(layers.of_call[i])], of_networks) +
        LaunchCoefficient(calibration->coefficients) * LaunchTerm(of_networks) +
        (calls > 1 ? calibration->log_network_scale : 0);
    log_us_of_call[i] += corrections[i];
    more_us[i] *= std::exp(corrections[i]);
  }
  // Timings may say that a device is slower than its sheet; none, that it is faster.
  if (adapted != nullptr) SheetLimits(adapted->machine, graph).Keep(&log_us_of_call, adapted->samples == 0);
  for (size_t i = 0; i < calls; ++i) {
    const std::string& unknown = limits[static_cast<size_t>(layers.of_call[i])].unknown;
    const double us = std::exp(log_us_of_call[i]) + more_us[i];
    all_more_us += more_us[i];
    out.node_alone_us.push_back(static_cast<float>(std::exp(contributions.log_us_alone[i] + corrections[i])));
    out.node_latency_us.push_back(us);
    out.latency_us += us;
    (unknown.empty() ? known_us : unknown_us[unknown]) += us;
    out.node_unknown.push_back(unknown);
    compute_nodes += graph::GetOpInfo(graph.nodes()[i].op).cost_class != graph::CostClass::kView;
  }
  out.known_share = known_us / out.latency_us;
  for (const auto& [why, us] : unknown_us) out.unknown.push_back({why, us / out.latency_us});
  JudgeTraining(graph, compute_nodes, &out);
  JudgeNetwork(graph, total, target, compute_nodes, &out);
  JudgeLaunching(spec, target, all_more_us / out.latency_us, &out);
  OrderReasons(&out.unknown);
  SetPredictionInterval(target, contributions.mean, compute_nodes <= 1, calibration, adapted, launching, &out);
  return out;
}

}  // namespace cobra::predict
