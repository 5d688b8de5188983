#include "model/predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/names.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/similar_words.h"
#include "graph/constants/constant_calls.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "model/infer/contributions.h"
#include "model/infer/encoder.h"
#include "model/predict/adapt/adapter.h"
#include "model/predict/adapt/calibration.h"
#include "model/predict/adapt/profile_adapter.h"
#include "model/predict/adapt/profile_calibration.h"
#include "model/predict/as_run/folded_norms.h"
#include "model/predict/as_run/half_precision.h"
#include "model/predict/as_run/kernel_times.h"
#include "model/predict/as_run/run_on_gpu.h"
#include "model/predict/assemble.h"
#include "model/predict/disturbed_prediction.h"
#include "model/predict/layer_embedder.h"
#include "model/predict/mixture.h"
#include "model/predict/network_inputs.h"
#include "model/predict/network_prices.h"
#include "model/predict/price/known_range.h"
#include "model/predict/price/prediction_interval.h"
#include "model/predict/target/device_table.h"
#include "model/predict/target/disturbance.h"
#include "model/predict/target/plausibility.h"
#include "model/predict/weights/version.h"
#include "model/predict/work/features.h"
#include "model/predict/work/target_work.h"

namespace cobra::predict {
namespace {

// Of the bytes for layers: for what they are on targets. A layer's vector is in use longer; but
// there are more neighbourhoods than layers.
int64_t BytesOfPrices(const net::NetConfig& net, int64_t cache_bytes) {
  constexpr int64_t kMost = int64_t{8} << 20;  // some 15,000 layers
  return net.shared_graph_net ? cache_bytes / 2 : std::min(cache_bytes / 8, kMost);
}

class LoadedPredictor : public Predictor {
 public:
  LoadedPredictor(Manifest manifest, text::Vocabulary vocabulary, infer::Encoder encoder,
                  std::unique_ptr<NetworkPrices> prices, ModelInfo info, const PredictorOptions& options)
      : manifest_(std::move(manifest)),
        targets_(InfosOf(manifest_)),
        vocabulary_(std::move(vocabulary)),
        encoder_(std::move(encoder)),
        info_(std::move(info)),
        embedder_(manifest_, vocabulary_, encoder_,
                  options.embedding_cache_bytes - BytesOfPrices(manifest_.net, options.embedding_cache_bytes),
                  options.max_layer_words),
        prices_(std::move(prices)),
        adapter_(SpecsOf(manifest_),
                 [this](const graph::Graph& graph, const std::function<bool()>& cancelled) {
                   return TimesOnTargets(graph, cancelled);
                 }),
        profiles_(ProfilesOf(manifest_),
                  [this](const graph::Graph& graph, absl::Span<const size_t> targets,
                         const std::function<bool()>& cancelled) { return TotalsOf(graph, targets, cancelled); }) {}

  const ModelInfo& info() const override { return info_; }

  const std::vector<TargetInfo>& targets() const override { return targets_; }

  absl::StatusOr<LatencyPrediction> Predict(const graph::Graph& graph, absl::string_view target,
                                            const Calibration* calibration,
                                            const std::function<bool()>& cancelled) const override {
    const bool has_parts = calibration != nullptr && !calibration->parts.empty();
    COBRA_ASSIGN_OR_RETURN(int index, FindTarget(calibration ? calibration->base_target : std::string(target)));
    if (graph.nodes().empty()) return absl::InvalidArgumentError("graph: has no calls; there is nothing to predict");
    const TargetSpec& trained = manifest_.targets[index].spec;
    const TargetSpec& asked = has_parts ? calibration->machine : trained;
    COBRA_RETURN_IF_ERROR(CheckPrecision(graph, asked));
    if (const std::optional<graph::Graph> full = InFloat32(graph, asked.precision); full.has_value())
      return Predict(*full, target, calibration, cancelled);
    if (FoldsConstants(asked)) {
      std::optional<graph::WithoutCalls> prepared = graph::WithoutConstantCalls(graph, /*of_parameters=*/true);
      if (prepared.has_value()) {
        COBRA_ASSIGN_OR_RETURN(LatencyPrediction predicted, Predict(prepared->graph, target, calibration, cancelled));
        return FoldedNorms{prepared->graph, std::move(prepared->place_of_call)}.ExpandToOriginalCalls(
            std::move(predicted));
      }
    }
    const std::optional<RunOnGpu> on_gpu = AsRunOnGpu(graph, asked);
    if (on_gpu.has_value()) {
      COBRA_ASSIGN_OR_RETURN(LatencyPrediction predicted, Predict(on_gpu->graph, target, calibration, cancelled));
      return on_gpu->ExpandToOriginalCalls(std::move(predicted));
    }
    const bool is_probed = calibration != nullptr && !has_parts;  // by our worker, which converts nothing
    if (!is_probed && RunsConvertedFiles(asked, has_parts)) {
      if (const std::optional<FoldedNorms> folded = WithFoldedNorms(graph); folded.has_value()) {
        COBRA_ASSIGN_OR_RETURN(LatencyPrediction predicted, Predict(folded->graph, target, calibration, cancelled));
        return folded->ExpandToOriginalCalls(std::move(predicted));
      }
    }
    COBRA_ASSIGN_OR_RETURN(const Layers layers, embedder_.Embed(graph, cancelled));
    COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
    const graph::GraphCost total = graph::CostOf(graph);
    if (has_parts) {
      COBRA_ASSIGN_OR_RETURN(LatencyPrediction parts, PredictParts(graph, layers, total, *calibration, cancelled));
      if (!calibration->profile.targets.empty())
        COBRA_RETURN_IF_ERROR(ApplyProfile(graph, *calibration, cancelled, &parts));
      SetAdaptedConfidence(*calibration, targets_, &parts);
      SetConfidence(&parts);
      return WithNumber(calibration->machine.name, std::move(parts));
    }
    const TargetSpec& spec = calibration != nullptr && calibration->own_specification ? calibration->machine : trained;
    const infer::NetworkContributions contributions = Contribute({graph, layers, total}, index, spec);
    COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
    LatencyPrediction out =
        Assemble({graph, layers, total, manifest_.targets[index], spec, calibration}, contributions);
    if (calibration != nullptr) IncludeDisturbance(calibration->disturbance, &out);
    SetConfidence(&out);
    return WithNumber(target, std::move(out));
  }

  absl::StatusOr<Calibration> Adapt(const TargetSpec& sheet, absl::Span<const store::TimedNetwork> samples,
                                    const AdaptOptions& options) const override {
    const TargetSpec machine = CompletedSheet(sheet);
    std::vector<store::TimedNetwork> timed(samples.begin(), samples.end());
    for (store::TimedNetwork& network : timed) {
      if (std::optional<graph::Graph> as_run = AsRunBy(machine, network.graph); as_run.has_value())
        network.graph = *std::move(as_run);
    }
    const std::shared_ptr<const ProfileAdapter::Peers> peers = profiles_.PeersOf(machine, options.without_devices);
    COBRA_ASSIGN_OR_RETURN(Calibration adapted,
                           peers != nullptr ? AdaptByProfile(profiles_, *peers, machine, timed, options.cancelled)
                                            : adapter_.Adapt(machine, timed, options));
    adapted.model_sha256 = info_.sha256;
    return adapted;
  }

  absl::StatusOr<std::vector<size_t>> Suggest(const TargetSpec& machine, Adapter::NextNetwork next, size_t count,
                                              const AdaptOptions& options) const override {
    const auto next_as_run = [&]() -> absl::StatusOr<std::optional<graph::Graph>> {
      COBRA_ASSIGN_OR_RETURN(std::optional<graph::Graph> network, next());
      if (!network.has_value()) return network;
      std::optional<graph::Graph> as_run = AsRunBy(machine, *network);
      return as_run.has_value() ? std::move(as_run) : std::move(network);
    };
    return adapter_.Suggest(CompletedSheet(machine), next_as_run, count, options);
  }

  absl::StatusOr<Calibration> Calibrate(const ProbeResult& reported,
                                        const std::function<bool()>& cancelled) const override {
    COBRA_RETURN_IF_ERROR(CheckProbe(reported));
    ProbeResult probe = reported;
    for (store::Measurement& measured : probe.records) {
      std::vector<double>& node_us = measured.node_latency_us;
      if (node_us.empty()) node_us = TimesOfCalls(measured.subject.graph, measured.profile_json);
      if (!AddsUp(node_us, measured.latency.median_us)) node_us.clear();
    }
    absl::StatusOr<Calibration> best = absl::InternalError("the model has no targets");
    for (const TargetEntry* base : CalibrationBases(manifest_, probe.machine)) {
      for (const bool own_specification : {false, true}) {
        if (cancelled && cancelled()) return absl::CancelledError("calibrate: the request was cancelled");
        if (own_specification && !HasSpeeds(probe.machine)) continue;
        absl::StatusOr<Calibration> fitted = CalibrateFrom(*base, own_specification, probe, cancelled);
        if (!best.ok() || (fitted.ok() && fitted->held_back_error < best->held_back_error)) best = std::move(fitted);
      }
    }
    COBRA_RETURN_IF_ERROR(best.status());
    best->machine.name = kThisMachine;
    best->model_sha256 = info_.sha256;
    best->disturbance = DisturbanceOf(probe.disturbance);
    return best;
  }

  // Hits and misses are those of the vectors.
  CacheStats embedding_cache_stats() const override {
    CacheStats all = embedder_.stats();
    const CacheStats priced = prices_->stats();
    all.bytes += priced.bytes;
    all.capacity_bytes += priced.capacity_bytes;
    return all;
  }
  void ClearEmbeddingCache() const override {
    embedder_.Clear();
    prices_->Clear();
  }

 private:
  absl::StatusOr<int> FindTarget(absl::string_view name) const {
    for (size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].spec.name == name) return static_cast<int>(i);
    }
    std::vector<std::string> names;
    for (const TargetInfo& target : targets_) names.push_back(target.spec.name);
    return absl::NotFoundError(absl::StrCat(name, ": unknown target; known are ", SimilarNames(name, names)));
  }

  static std::vector<ProfiledTarget> ProfilesOf(const Manifest& manifest) {
    std::vector<ProfiledTarget> targets;
    for (const TargetEntry& target : manifest.targets) targets.push_back({target.spec, &target.network_us});
    return targets;
  }

  // What trained targets take for a network.
  absl::StatusOr<ProfileAdapter::Totals> TotalsOf(const graph::Graph& graph, absl::Span<const size_t> targets,
                                                  const std::function<bool()>& cancelled) const {
    COBRA_ASSIGN_OR_RETURN(const Layers layers, embedder_.Embed(graph, cancelled));
    const graph::GraphCost total = graph::CostOf(graph);
    const NetworkInputs inputs(graph, layers, total);
    ProfileAdapter::Totals totals;
    std::vector<double> half_widths;
    for (const size_t target : targets) {
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
      const TargetEntry& entry = manifest_.targets[target];
      const infer::NetworkContributions contributions = Contribute(inputs, static_cast<int>(target), entry.spec);
      double us = 0;
      for (const float log_us : contributions.log_us) us += std::exp(static_cast<double>(log_us));
      totals.log_us.push_back(std::log(us));
      half_widths.push_back(entry.interval.network.HalfWidthOf(contributions.mean));
    }
    totals.half_width = half_widths.empty() ? 0 : Median(half_widths);
    return totals;
  }

  // The latency is that of the profile; its calls' shares are those of the parts.
  absl::Status ApplyProfile(const graph::Graph& graph, const Calibration& calibration,
                            const std::function<bool()>& cancelled, LatencyPrediction* prediction) const {
    const CalibrationProfile& profile = calibration.profile;
    COBRA_ASSIGN_OR_RETURN(const std::shared_ptr<const ProfileAdapter::Peers> peers, profiles_.PeersOf(profile));
    const ProfileModel::Question question = peers->model->Ask(calibration.machine, profile.samples);
    COBRA_ASSIGN_OR_RETURN(const CalibrationProfile::Network network,
                           profiles_.View(*peers, graph, question.Weights(), cancelled));
    const ProfileAnswer answer = question.Answer(network, profile.interval_scale);
    const double scale = std::exp(answer.log_us) / prediction->latency_us;
    prediction->latency_us *= scale;
    for (auto& us : prediction->node_latency_us) us *= scale;
    // What is outside of what was trained widens this interval as it does any other.
    const double doubt = kUnknownWidth * (1 - prediction->known_share);
    prediction->low_us = std::exp(std::min(answer.low, answer.log_us - doubt));
    prediction->high_us = std::exp(std::max(answer.high, answer.log_us + doubt));
    return absl::OkStatus();
  }

  // What trained targets take for each call of a network, each given a data sheet.
  absl::StatusOr<Adapter::TimesOnTarget> TimesOnTargets(const graph::Graph& graph,
                                                        const std::function<bool()>& cancelled) const {
    struct Network {
      Network(const graph::Graph& graph, Layers of_calls)
          : layers(std::move(of_calls)), total(graph::CostOf(graph)), inputs(graph, layers, total) {}
      const Layers layers;
      const graph::GraphCost total;
      const NetworkInputs inputs;
    };
    COBRA_ASSIGN_OR_RETURN(Layers layers, embedder_.Embed(graph, cancelled));
    const auto network = std::make_shared<const Network>(graph, std::move(layers));
    return Adapter::TimesOnTarget([this, network, cancelled](
                                      size_t target, const TargetSpec& sheet) -> absl::StatusOr<Adapter::CallTimes> {
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
      const TargetEntry& entry = manifest_.targets[target];
      const infer::NetworkContributions contributions = Contribute(network->inputs, static_cast<int>(target), sheet);
      LatencyPrediction predicted =
          Assemble({network->inputs.graph, network->layers, network->total, entry, sheet, nullptr}, contributions);
      return Adapter::CallTimes{std::move(predicted.node_latency_us),
                                std::log(predicted.high_us / predicted.latency_us)};
    });
  }

  // Of a device that several trained targets explain together.
  absl::StatusOr<LatencyPrediction> PredictParts(const graph::Graph& graph, const Layers& layers,
                                                 const graph::GraphCost& total, const Calibration& calibration,
                                                 const std::function<bool()>& cancelled) const {
    const NetworkInputs inputs(graph, layers, total);
    std::vector<WeightedPrediction> predictions;
    for (const CalibrationPart& part : calibration.parts) {
      COBRA_ASSIGN_OR_RETURN(const int index, FindTarget(part.base_target));
      const TargetEntry& entry = manifest_.targets[index];
      Calibration of_part;
      of_part.coefficients = part.coefficients;
      of_part.interval_scale = calibration.interval_scale;
      of_part.interval_log = calibration.interval_log;
      const TargetSpec spec = part.own_specification ? FilledFrom(calibration.machine, entry.spec) : entry.spec;
      predictions.push_back({part.weight, Assemble({graph, layers, total, entry, spec, &of_part, &calibration},
                                                   Contribute(inputs, index, spec))});
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
    }
    return Mixture(std::move(predictions), kExtrapolatingBelow);
  }

  // Descriptions of older workers have no speeds of kernels.
  static bool HasSpeeds(const TargetSpec& machine) {
    return machine.kind == "cpu" && machine.convolution_gflops > 0 && machine.l2_gb_per_s > 0;
  }

  absl::StatusOr<Calibration> CalibrateFrom(const TargetEntry& base, bool own_specification, const ProbeResult& probe,
                                            const std::function<bool()>& cancelled) const {
    Calibration nothing;
    nothing.machine = probe.machine;
    nothing.base_target = base.spec.name;
    nothing.own_specification = own_specification;
    std::vector<ComparedMeasurement> samples;
    for (const store::Measurement& measured : probe.records) {
      const graph::Graph& graph = measured.subject.graph;
      COBRA_ASSIGN_OR_RETURN(LatencyPrediction predicted, Predict(graph, base.spec.name, &nothing, cancelled));
      const auto reference = base.probe_reference_us.find(graph::Fingerprint(graph).ToHex());
      const bool is_measured = !own_specification && reference != base.probe_reference_us.end();
      samples.push_back({measured, is_measured ? reference->second : predicted.latency_us,
                         std::move(predicted.node_latency_us), std::log(predicted.high_us / predicted.latency_us)});
    }
    COBRA_ASSIGN_OR_RETURN(Calibration c, FitCalibration(samples));
    c.machine = probe.machine;
    c.base_target = base.spec.name;
    c.own_specification = own_specification;
    return c;
  }

  infer::NetworkContributions Contribute(const NetworkInputs& inputs, int target, const TargetSpec& of_target) const {
    const CallRows& rows = inputs.RowsOn(TargetWorkKindOf(of_target, manifest_.knows_gpu_work));
    return prices_->Contribute(inputs, rows, target, of_target);
  }

  const Manifest manifest_;
  const std::vector<TargetInfo> targets_;
  const text::Vocabulary vocabulary_;
  const infer::Encoder encoder_;
  const ModelInfo info_;
  mutable LayerEmbedder embedder_;  // refers to those above
  const std::unique_ptr<NetworkPrices> prices_;
  const Adapter adapter_;
  const ProfileAdapter profiles_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Predictor>> Predictor::Load(absl::string_view directory,
                                                                 const PredictorOptions& options) {
  COBRA_ASSIGN_OR_RETURN(ModelVersion version, ReadVersion(directory));
  const Manifest& manifest = version.manifest;
  COBRA_ASSIGN_OR_RETURN(const infer::Tensors tensors, infer::Tensors::Parse(version.tensors));
  COBRA_ASSIGN_OR_RETURN(infer::Encoder encoder, infer::Encoder::Create(tensors, manifest.net));
  COBRA_ASSIGN_OR_RETURN(
      std::unique_ptr<NetworkPrices> prices,
      NetworkPrices::Create(tensors, manifest, BytesOfPrices(manifest.net, options.embedding_cache_bytes)));
  ModelInfo info;
  info.sha256 = version.manifest_sha256;
  info.version = manifest.trained_at.substr(0, 10) + "-" + info.sha256.substr(0, 8);
  info.num_parameters = tensors.num_elements();
  info.vocabulary_size = manifest.net.vocabulary_size;
  info.trained_at = manifest.trained_at;
  info.layers_trained = manifest.layers_trained;
  info.networks_trained = manifest.networks_trained;
  return std::make_shared<const LoadedPredictor>(std::move(version.manifest), std::move(version.vocabulary),
                                                 std::move(encoder), std::move(prices), std::move(info), options);
}

}  // namespace cobra::predict
