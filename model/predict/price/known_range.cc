#include "model/predict/price/known_range.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "model/predict/target/sheet_comparison.h"
#include "model/predict/weights/linear_cost.h"

namespace cobra::predict {
namespace {

// What ncnn's converters make a clamp of. Files of ncnn do not have these operators, so its targets
// neither.
bool IsConverted(const graph::Node& node, const TargetSpec& target) {
  return RuntimeFamily(target) == "ncnn" && (node.op == graph::Op::hardtanh || node.op == graph::Op::relu6);
}

// A network whose layers compute in int8, on a target that has measured none: its kernels are
// others.
bool IsNewPrecision(const graph::Graph& graph, const TargetEntry& target) {
  constexpr auto kQuantize = graph::Op::quantize_per_tensor;
  if (target.operators.empty() || target.operators[static_cast<size_t>(kQuantize)]) return false;
  return absl::c_any_of(graph.nodes(), [](const graph::Node& node) { return node.op == kQuantize; });
}

bool InfersNorm(const graph::Node& node) {
  return node.op == graph::Op::batch_norm && !node.attributes.Bool("training");
}

// `share`: of the latency that it concerns; 1 is the whole network.
void Doubt(double known, std::string why, LatencyPrediction* prediction, double share = 1) {
  prediction->known_share = std::min(prediction->known_share, known);
  prediction->unknown.push_back({std::move(why), share});
}

double ShareOfNorms(const graph::Graph& graph, const LatencyPrediction& prediction) {
  double us = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    us += InfersNorm(graph.nodes()[i]) ? prediction.node_latency_us[i] : 0;
  return us / prediction.latency_us;
}

bool RunsAlike(const TargetSpec& known, const TargetSpec& machine) {
  return known.kind == machine.kind && IsSameRuntime(known, machine) && IsSamePrecision(known, machine) &&
         known.compile == machine.compile;
}

// Of what explains a device, the share that runs networks as it does, and of that what has a
// maker's kernels like its own and no less than half its threads.
struct Explained {
  double by_alike = 0, by_maker = 0, by_threads = 0;
  int most_threads = 0;
};

Explained ExplainedBy(const Calibration& adapted, absl::Span<const TargetInfo> trained) {
  constexpr int kMostTimes = 2;
  const TargetSpec& machine = adapted.machine;
  const bool has_kernels_of_maker = machine.kind == "gpu" && IsPyTorch(machine);
  Explained shares;
  double all = 0;
  for (const CalibrationPart& part : adapted.parts) {
    all += part.weight;
    const auto known =
        absl::c_find_if(trained, [&part](const TargetInfo& t) { return t.spec.name == part.base_target; });
    if (known == trained.end() || !RunsAlike(known->spec, machine)) continue;
    shares.by_alike += part.weight;
    shares.by_maker += !has_kernels_of_maker || IsSameMaker(known->spec, machine) ? part.weight : 0;
    shares.by_threads += machine.kind == "gpu" || machine.threads <= kMostTimes * known->spec.threads ? part.weight : 0;
    shares.most_threads = std::max(shares.most_threads, known->spec.threads);
  }
  for (double* share : {&shares.by_alike, &shares.by_maker, &shares.by_threads}) *share /= all > 0 ? all : 1;
  return shares;
}

// Why few timings say nothing certain of a device; empty: they do.
std::string WhyAdaptedIsGuess(const Calibration& adapted, absl::Span<const TargetInfo> trained) {
  const TargetSpec& machine = adapted.machine;
  const Explained shares = ExplainedBy(adapted, trained);
  constexpr double kEnough = 0.5;
  const std::string none = absl::StrCat("none of the trained targets that explain ", machine.name, " ");
  if (shares.by_alike < kEnough) {
    return absl::StrCat(none, "is a ", machine.kind, " with ", RuntimeFamily(machine), " (", machine.compile, ") in ",
                        machine.precision);
  }
  if (shares.by_maker < kEnough) return absl::StrCat(none, "is a GPU of the same vendor (", machine.device, ")");
  if (shares.by_threads < kEnough)
    return absl::StrCat(none, "has more than ", shares.most_threads, " of its ", machine.threads, " threads");
  if (adapted.samples == 0 && !(machine.peak_gflops > 0) && !(machine.convolution_gflops > 0))
    return absl::StrCat("peak_gflops of \"", machine.device, "\" is not known: its data sheet should have it");
  return "";
}

}  // namespace

CallLimits LimitsOf(const graph::Graph& graph, int32_t call, const TargetEntry& target) {
  CallLimits limits;
  const graph::Node& node = graph.nodes()[static_cast<size_t>(call)];
  if (const LinearCost* line = FindLinearCost(target.cost_lines, node); line != nullptr) {
    const graph::NodeCost cost = graph::CostOf(graph, call);
    const double us = line->Us(cost);
    if (us > line->max_us * kRangeSlack) {
      const double bytes = static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes);
      const double moving_us = target.spec.memory_gb_per_s > 0 ? bytes / (1e3 * target.spec.memory_gb_per_s) : 0;
      limits.least_log_us = std::log(std::max(us, moving_us));
      limits.unknown = absl::StrFormat("%s: %.2g times the work of the largest measured one", graph::OpName(node.op),
                                       us / line->max_us);
    }
  }
  if (!target.operators.empty() && !target.operators[static_cast<size_t>(node.op)] &&
      graph::GetOpInfo(node.op).cost_class != graph::CostClass::kView && !IsConverted(node, target.spec))
    limits.unknown = absl::StrCat(graph::OpName(node.op), ": was never measured on ", target.spec.name);
  // Rows of training mode are of targets that have no others.
  if (limits.unknown.empty() && !target.is_training_alone && node.attributes.Bool("training"))
    limits.unknown = absl::StrCat(graph::OpName(node.op), " in training mode: ", target.spec.name,
                                  " was measured only in inference");
  return limits;
}

void JudgeTraining(const graph::Graph& graph, int compute_nodes, LatencyPrediction* prediction) {
  int unknown = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i)
    unknown += graph.nodes()[i].attributes.Bool("training") && !prediction->node_unknown[i].empty();
  if (unknown > 0)
    prediction->known_share = std::min(prediction->known_share, 1 - static_cast<double>(unknown) / compute_nodes);
}

void JudgeNetwork(const graph::Graph& graph, const graph::GraphCost& total, const TargetEntry& target,
                  int compute_nodes, LatencyPrediction* prediction) {
  if (compute_nodes > 1 && target.max_network_gflops > 0) {
    const double gflops = static_cast<double>(total.flops) / 1e9, within = target.max_network_gflops / gflops;
    if (within * kRangeSlack < 1)
      Doubt(within,
            absl::StrFormat("the network has %.4g GFLOP; the largest measured one has %.4g", gflops,
                            target.max_network_gflops),
            prediction);
    if (const int64_t batch = BatchOf(graph); target.max_batch == 1 && batch > 1)
      Doubt(1 / static_cast<double>(batch),
            absl::StrCat("a batch of ", batch, ": ", target.spec.name, " was measured only with single samples"),
            prediction);
    else if (static_cast<double>(batch) * kRangeSlack < static_cast<double>(target.min_batch))
      // Layers of all sizes are known; less so what launching them costs beside so little work.
      Doubt(std::pow(static_cast<double>(batch) / static_cast<double>(target.min_batch), 0.25),
            absl::StrCat("a batch of ", batch, ": ", target.spec.name, " was measured with batches from ",
                         target.min_batch),
            prediction);
    const int64_t inferring = target.is_training_alone ? absl::c_count_if(graph.nodes(), InfersNorm) : 0;
    if (inferring > 0)
      Doubt(1 - static_cast<double>(inferring) / compute_nodes,
            absl::StrCat("batch_norm of a network in inference: ", target.spec.name,
                         " was measured only in training mode (--mode train)"),
            prediction, ShareOfNorms(graph, *prediction));
  }
  if (IsNewPrecision(graph, target))
    Doubt(0, absl::StrCat("layers in int8: ", target.spec.name, " was measured in ", target.spec.precision, " alone"),
          prediction);
  prediction->extrapolating = prediction->known_share < kExtrapolatingBelow;
}

void JudgeLaunching(const TargetSpec& spec, const TargetEntry& target, double waiting_share,
                    LatencyPrediction* prediction) {
  if (waiting_share <= 0 || spec.kind != "gpu" || RuntimeFamily(target.spec) == RuntimeFamily(spec)) return;
  Doubt(1 - waiting_share,
        absl::StrCat("launching from Python: ", target.spec.name, " was measured from C++, which takes less"),
        prediction, waiting_share);
  prediction->extrapolating = prediction->known_share < kExtrapolatingBelow;
}

std::vector<TargetInfo> InfosOf(const Manifest& manifest) {
  std::vector<TargetInfo> targets;
  for (const TargetEntry& t : manifest.targets) targets.push_back({t.spec, t.errors, false, ""});
  return targets;
}

std::vector<TargetSpec> SpecsOf(const Manifest& manifest) {
  std::vector<TargetSpec> specs;
  for (const TargetEntry& target : manifest.targets) specs.push_back(target.spec);
  return specs;
}

absl::StatusOr<LatencyPrediction> WithNumber(absl::string_view target, LatencyPrediction prediction) {
  if (std::isfinite(prediction.latency_us)) return prediction;
  return absl::InternalError(absl::StrCat(target, ": this target gives no number for this network"));
}

void SetAdaptedConfidence(const Calibration& adapted, absl::Span<const TargetInfo> trained,
                          LatencyPrediction* prediction) {
  if (adapted.samples >= kEnoughSamples) return;
  std::string why = WhyAdaptedIsGuess(adapted, trained);
  if (why.empty()) return;
  Doubt(0, std::move(why), prediction);
  std::rotate(prediction->unknown.begin(), prediction->unknown.end() - 1, prediction->unknown.end());
  prediction->extrapolating = true;
  prediction->coverage = 0;
}

void OrderReasons(std::vector<UnknownPart>* reasons) {
  constexpr double kLeastShare = 5e-4;
  absl::c_sort(*reasons, [](const UnknownPart& a, const UnknownPart& b) { return a.share > b.share; });
  while (reasons->size() > LatencyPrediction::kMaxUnknownParts ||
         (reasons->size() > 1 && reasons->back().share < kLeastShare))
    reasons->pop_back();
}

int64_t BatchOf(const graph::Graph& graph) {
  for (const graph::NamedTensor& input : graph.inputs()) {
    if (input.type.shape.size() >= 2) return input.type.shape[0];
  }
  return 1;
}

}  // namespace cobra::predict
