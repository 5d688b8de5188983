#include "model/training/evaluation/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/csv.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/cost/cost.h"
#include "model/predict/price/known_range.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/weights/linear_cost.h"
#include "model/predict/work/features.h"
#include "model/training/evaluation/interval_fit.h"
#include "model/training/trainer.h"
#include "nlohmann/json.hpp"

namespace cobra::training {
namespace {

using nlohmann::json;

std::vector<double> Measured(const std::vector<const Sample*>& samples) {
  std::vector<double> us;
  for (const Sample* s : samples) us.push_back(s->latency_us());
  return us;
}

// Three cost features for least squares on relative error: minimise sum ((w . f) / y - 1)^2.
using CostFeatures = std::array<double, 3>;
CostFeatures FeaturesOf(const Sample& s, bool with_bytes) {
  const graph::GraphCost c = graph::CostOf(s.graph());
  return {1, static_cast<double>(c.flops) / 1e6,
          with_bytes ? static_cast<double>(c.activation_bytes + c.weight_bytes) / 1e6 : 0};
}

CostFeatures FitLine(const std::vector<const Sample*>& rows, bool with_bytes) {
  double a[3][4] = {};
  for (const Sample* s : rows) {
    const CostFeatures f = FeaturesOf(*s, with_bytes);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) a[i][j] += f[i] * f[j] / (s->latency_us() * s->latency_us());
      a[i][3] += f[i] / s->latency_us();
    }
  }
  for (int i = 0; i < 3; ++i) a[i][i] += 1e-12 + (with_bytes || i < 2 ? 0 : 1);
  for (int i = 0; i < 3; ++i) {
    for (int r = 0; r < 3; ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (int k = i; k < 4; ++k) a[r][k] -= factor * a[i][k];
    }
  }
  return {a[0][3] / a[0][0], a[1][3] / a[1][1], a[2][3] / a[2][2]};
}

Metrics LineMetrics(const CostFeatures& w, const std::vector<const Sample*>& rows, bool with_bytes) {
  std::vector<double> predicted;
  for (const Sample* s : rows) {
    const CostFeatures f = FeaturesOf(*s, with_bytes);
    predicted.push_back(std::max(0.1, w[0] * f[0] + w[1] * f[1] + w[2] * f[2]));
  }
  return ComputeMetrics(predicted, Measured(rows));
}

void MetricsBy(const std::string& (Sample::*label_of)() const, const std::vector<const Sample*>& rows,
               const std::vector<double>& predicted, std::map<std::string, Metrics>* out) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& label : {std::string("all"), (rows[i]->*label_of)()}) {
      groups[label].first.push_back(predicted[i]);
      groups[label].second.push_back(rows[i]->latency_us());
    }
  }
  for (const auto& [label, values] : groups) (*out)[label] = ComputeMetrics(values.first, values.second);
}

// The factor for a sum of layers: the median ratio on training rows.
double FitScale(const std::vector<double>& predicted, const std::vector<double>& measured) {
  std::vector<double> ratios;
  for (size_t i = 0; i < predicted.size(); ++i) ratios.push_back(measured[i] / predicted[i]);
  return ratios.empty() ? 1 : UpperMedian(std::move(ratios));
}

double Coverage(const std::vector<const Sample*>& rows, const Predictions& p, const predict::IntervalWidth& width) {
  if (rows.empty()) return 0;
  double inside = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    inside += AbsLogError(p.latency_us[i], rows[i]->latency_us()) <= width.HalfWidthOf(p.embedding[i]);
  return inside / static_cast<double>(rows.size());
}

double MedianWidthOf(const Predictions& p, const predict::IntervalWidth& width) {
  std::vector<double> half_widths;
  for (const auto& embedding : p.embedding) half_widths.push_back(width.HalfWidthOf(embedding));
  return MedianWidth(half_widths);
}

void AddRows(const char* kind, const std::vector<const Sample*>& rows, const Predictions& p,
             const predict::IntervalWidth& width, std::vector<PredictedRow>* all) {
  const auto first = static_cast<std::ptrdiff_t>(all->size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const double us = p.latency_us[i], factor = std::exp(width.HalfWidthOf(p.embedding[i]));
    all->push_back({kind, rows[i]->space(), rows[i]->label(), rows[i]->fingerprint(), rows[i]->latency_us(), us,
                    us / factor, us * factor});
  }
  std::sort(all->begin() + first, all->end(), [](const PredictedRow& a, const PredictedRow& b) {
    return AbsLogError(a.predicted_us, a.measured_us) > AbsLogError(b.predicted_us, b.measured_us);
  });
}

json MetricsToJson(const Metrics& m) {
  return {{"mape", m.mape},
          {"within_1", m.within_1},
          {"within_5", m.within_5},
          {"within_10", m.within_10},
          {"within_25", m.within_25},
          {"spearman", m.spearman},
          {"n", m.n}};
}

json MapToJson(const std::map<std::string, Metrics>& metrics) {
  json j = json::object();
  for (const auto& [label, m] : metrics) j[label] = MetricsToJson(m);
  return j;
}

}  // namespace

absl::StatusOr<Evaluation> Evaluate(absl::string_view directory, const Dataset& data, Split split) {
  Evaluation e;
  const auto layers = RowsOf(data, split, false), networks = RowsOf(data, split, true);
  const auto train_layers = RowsOf(data, Split::kTrain, false), train_networks = RowsOf(data, Split::kTrain, true);
  COBRA_ASSIGN_OR_RETURN(predict::ModelBundle bundle, predict::LoadBundle(directory));
  COBRA_ASSIGN_OR_RETURN(const int target, TargetOf(bundle.manifest, data));
  COBRA_ASSIGN_OR_RETURN(Predictions layer_p, PredictSamples(directory, layers, target));
  COBRA_ASSIGN_OR_RETURN(Predictions network_p, PredictSamples(directory, networks, target));
  COBRA_ASSIGN_OR_RETURN(Predictions train_p, PredictSamples(directory, train_networks, target));
  const std::vector<double> layer_us = Measured(layers), network_us = Measured(networks);
  MetricsBy(&Sample::label, layers, layer_p.latency_us, &e.layers);
  MetricsBy(&Sample::label, networks, network_p.latency_us, &e.networks);
  MetricsBy(&Sample::space, layers, layer_p.latency_us, &e.layers_by_space);
  MetricsBy(&Sample::space, networks, network_p.latency_us, &e.networks_by_space);

  e.baselines["layer_sum"] = ComputeMetrics(network_p.layer_sum_us, network_us);
  const double scale = FitScale(train_p.layer_sum_us, Measured(train_networks));
  std::vector<double> scaled = network_p.layer_sum_us;
  for (double& us : scaled) us *= scale;
  e.baselines["layer_sum_scaled"] = ComputeMetrics(scaled, network_us);
  e.baselines["flops_line"] = LineMetrics(FitLine(train_networks, false), networks, false);
  e.baselines["layers_flops_bytes_line"] = LineMetrics(FitLine(train_layers, true), layers, true);

  e.layer_floor = RepeatabilityFloor(data.layer_repeats);
  e.network_floor = RepeatabilityFloor(data.network_repeats);
  e.layer_repeats = static_cast<int64_t>(data.layer_repeats.size());
  e.network_repeats = static_cast<int64_t>(data.network_repeats.size());
  const predict::IntervalWidths& interval = bundle.manifest.targets[static_cast<size_t>(target)].interval;
  e.layer_coverage = Coverage(layers, layer_p, interval.layer);
  e.network_coverage = Coverage(networks, network_p, interval.network);
  e.layer_interval_width = MedianWidthOf(layer_p, interval.layer);
  e.network_interval_width = MedianWidthOf(network_p, interval.network);
  AddRows("network", networks, network_p, interval.network, &e.rows);
  AddRows("layer", layers, layer_p, interval.layer, &e.rows);
  return e;
}

namespace {

// Records the sizes of the measured layers, and fits the time of larger ones. Layers inside
// networks count for the size only, because their times are shares of the network's.
void FitMeasuredRange(const Dataset& data, predict::TargetEntry* target) {
  std::vector<predict::CostSample> samples;
  for (const Sample& s : data.samples) {
    if (s.is_network() || s.split != Split::kTrain) continue;
    const int32_t main = predict::MainNode(s.graph());
    const graph::Node& node = s.graph().nodes()[main];
    samples.push_back(
        {predict::CostKey(node), graph::GetOpInfo(node.op).cost_class, graph::CostOf(s.graph(), main), s.latency_us()});
  }
  target->cost_lines = predict::FitLinearCosts(samples);
  target->max_network_gflops = 0;
  for (const Sample& s : data.samples) {
    if (!s.is_network() || s.split != Split::kTrain) continue;
    target->max_network_gflops =
        std::max(target->max_network_gflops, static_cast<double>(graph::CostOf(s.graph()).flops) / 1e9);
    for (int32_t i = 0; i < static_cast<int32_t>(s.graph().nodes().size()); ++i) {
      const auto line = target->cost_lines.find(predict::CostKey(s.graph().nodes()[i]));
      if (line != target->cost_lines.end())
        line->second.max_us = std::max(line->second.max_us, line->second.Us(graph::CostOf(s.graph(), i)));
    }
  }
}

// How the measured networks were run.
void FitMeasuredUse(const Dataset& data, predict::TargetEntry* target) {
  std::vector<int64_t> batches;
  bool trains = false, infers = false;
  for (const Sample& s : data.samples) {
    if (!s.is_network() || s.split != Split::kTrain) continue;
    batches.push_back(predict::BatchOf(s.graph()));
    for (const graph::Node& node : s.graph().nodes()) {
      if (node.op == graph::Op::batch_norm) (node.attributes.Bool("training") ? trains : infers) = true;
    }
  }
  std::sort(batches.begin(), batches.end());
  target->max_batch = batches.empty() ? 0 : batches.back();
  target->min_batch = batches.empty() ? 0 : batches[batches.size() / 100];
  target->is_training_alone = trains && !infers;
}

std::vector<predict::SpaceErrors> ErrorsBySpace(const Evaluation& e) {
  std::map<std::string, int64_t> inside;
  for (const PredictedRow& row : e.rows)
    inside[row.space] += row.kind == "network" && row.low_us <= row.measured_us && row.measured_us <= row.high_us;
  std::vector<predict::SpaceErrors> all;
  for (const auto& [space, metrics] : e.networks_by_space) {
    if (space == "all") continue;
    const double coverage = static_cast<double>(inside[space]) / static_cast<double>(metrics.n);
    all.push_back({space, metrics.n, metrics.mape, metrics.within_10, coverage});
  }
  return all;
}

std::vector<bool> OperatorsOf(const Dataset& data) {
  std::vector<bool> operators(graph::kNumOps);
  for (const Sample& s : data.samples) {
    if (s.split != Split::kTrain) continue;
    for (const graph::Node& node : s.graph().nodes()) operators[static_cast<size_t>(node.op)] = true;
  }
  return operators;
}

void FillErrors(const Dataset& data, Evaluation& e, predict::MeasuredErrors* errors) {
  const Metrics layers = e.layers["all"], networks = e.networks["all"];
  errors->layer_mape = layers.mape;
  errors->layers_tested = layers.n;
  errors->network_mape = networks.mape;
  errors->network_within_5 = networks.within_5;
  errors->network_within_10 = networks.within_10;
  errors->network_within_25 = networks.within_25;
  errors->networks_tested = networks.n;
  errors->repeatability_floor = e.network_floor;
  errors->layer_coverage = e.layer_coverage;
  errors->network_coverage = e.network_coverage;
  errors->layers_trained = static_cast<int64_t>(RowsOf(data, Split::kTrain, false).size());
  errors->networks_trained = static_cast<int64_t>(RowsOf(data, Split::kTrain, true).size());
  errors->not_run = data.failures;
  errors->spaces = ErrorsBySpace(e);
}

}  // namespace

absl::StatusOr<std::vector<Evaluation>> FinishVersion(absl::string_view directory, absl::Span<const Dataset> sets) {
  COBRA_ASSIGN_OR_RETURN(predict::ModelBundle bundle, predict::LoadBundle(directory));
  std::vector<predict::TargetEntry*> targets;
  std::vector<const predict::TargetSpec*> specs;
  std::vector<IntervalFit> fits;
  for (const Dataset& data : sets) {
    COBRA_ASSIGN_OR_RETURN(const int index, TargetOf(bundle.manifest, data));
    predict::TargetEntry& target = *targets.emplace_back(&bundle.manifest.targets[static_cast<size_t>(index)]);
    target.spec = data.target;
    specs.push_back(&target.spec);
    FitMeasuredRange(data, &target);
    FitMeasuredUse(data, &target);
    target.operators = OperatorsOf(data);
    target.probe_reference_us.clear();
    for (const auto& [fingerprint, us] : data.probe_us) target.probe_reference_us[fingerprint] = us;
    COBRA_ASSIGN_OR_RETURN(IntervalFit fit, FitIntervals(directory, data, index));
    fits.push_back(std::move(fit));
  }
  PoolFewNetworks(specs, absl::MakeSpan(fits));
  for (size_t t = 0; t < targets.size(); ++t) {
    const double together = targets[t]->interval.network.half_width;
    targets[t]->interval = fits[t].widths;
    if (sets.size() == 1 && fits[t].network_scores.size() < kFewNetworks)
      targets[t]->interval.network.half_width = std::max(together, fits[t].widths.network.half_width);
  }
  COBRA_RETURN_IF_ERROR(predict::SaveBundle(bundle, directory));
  std::vector<Evaluation> evaluations;
  for (size_t t = 0; t < targets.size(); ++t) {
    COBRA_ASSIGN_OR_RETURN(Evaluation e, Evaluate(directory, sets[t]));
    FillErrors(sets[t], e, &targets[t]->errors);
    LogInfo(absl::StrFormat("%s: test layers %.2f %%, networks %.2f %%", sets[t].target.name,
                            100 * targets[t]->errors.layer_mape, 100 * targets[t]->errors.network_mape));
    evaluations.push_back(std::move(e));
  }
  COBRA_RETURN_IF_ERROR(predict::SaveBundle(bundle, directory));
  return evaluations;
}

std::string EvaluationToJson(const Evaluation& e) {
  return json{{"layers", MapToJson(e.layers)},
              {"networks", MapToJson(e.networks)},
              {"layers_by_space", MapToJson(e.layers_by_space)},
              {"networks_by_space", MapToJson(e.networks_by_space)},
              {"floor",
               {{"layers", e.layer_floor},
                {"networks", e.network_floor},
                {"layer_repeats", e.layer_repeats},
                {"network_repeats", e.network_repeats}}},
              {"baselines", MapToJson(e.baselines)},
              {"intervals",
               {{"nominal", 0.9},
                {"layer_coverage", e.layer_coverage},
                {"network_coverage", e.network_coverage},
                {"layer_relative_width", e.layer_interval_width},
                {"network_relative_width", e.network_interval_width}}}}
      .dump(1);
}

std::string EvaluatedRowsToCsv(const Evaluation& e) {
  std::string out =
      CsvLine({"kind", "space", "label", "fingerprint", "measured_us", "predicted_us", "low_us", "high_us"});
  const auto number = [](double us) { return absl::StrFormat("%.6g", us); };
  for (const PredictedRow& r : e.rows) {
    absl::StrAppend(&out, CsvLine({r.kind, r.space, r.label, r.fingerprint, number(r.measured_us),
                                   number(r.predicted_us), number(r.low_us), number(r.high_us)}));
  }
  return out;
}

std::string EvaluationToTable(const Evaluation& e) {
  std::string out = absl::StrFormat("%-34s %8s %8s %8s %8s %8s %6s\n", "held-out rows", "MAPE %", "<=1 %", "<=5 %",
                                    "<=10 %", "<=25 %", "n");
  auto row = [&](absl::string_view name, const Metrics& m) {
    absl::StrAppendFormat(&out, "%-34s %8.2f %8.1f %8.1f %8.1f %8.1f %6d\n", name, 100 * m.mape, 100 * m.within_1,
                          100 * m.within_5, 100 * m.within_10, 100 * m.within_25, m.n);
  };
  for (const auto& [label, m] : e.layers) row(absl::StrCat("layer ", label), m);
  for (const auto& [space, m] : e.layers_by_space) {
    if (space != "all") row(absl::StrCat("layers of ", space), m);
  }
  row("layers: line on FLOPs and bytes", e.baselines.at("layers_flops_bytes_line"));
  absl::StrAppendFormat(&out, "%-34s %8.2f   (median difference of %d layers measured twice)\n",
                        "layers: repeatability floor", 100 * e.layer_floor, e.layer_repeats);
  for (const auto& [label, m] : e.networks) row(absl::StrCat("network ", label), m);
  for (const auto& [space, m] : e.networks_by_space) {
    if (space != "all") row(absl::StrCat("networks of ", space), m);
  }
  row("networks: layer-wise sum", e.baselines.at("layer_sum"));
  row("networks: layer-wise sum, scaled", e.baselines.at("layer_sum_scaled"));
  row("networks: FLOPs line", e.baselines.at("flops_line"));
  absl::StrAppendFormat(&out, "%-34s %8.2f   (median difference of %d networks measured twice)\n",
                        "networks: repeatability floor", 100 * e.network_floor, e.network_repeats);
  absl::StrAppendFormat(
      &out, "90 %% intervals: cover %.1f %% of layers (width %.0f %%), %.1f %% of networks (width %.0f %%)\n",
      100 * e.layer_coverage, 100 * e.layer_interval_width, 100 * e.network_coverage, 100 * e.network_interval_width);
  return out;
}

}  // namespace cobra::training
