#include "model/predict/predictor.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/hash.h"
#include "base/heap_bytes.h"
#include "base/keyed_hash.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "graph/cost.h"
#include "graph/fingerprint.h"
#include "graph/untrusted.h"
#include "model/net/threads.h"
#include "model/predict/bundle.h"
#include "model/predict/calibration.h"
#include "model/predict/features.h"
#include "model/predict/linear_cost.h"
#include "model/predict/lru_cache.h"
#include "model/predict/plausibility.h"
#include "model/text/canonical_text.h"

namespace cobra::predict {
namespace {

// A number up to a quarter beyond the range of the training data still counts as known.
constexpr double kRangeSlack = 1.25;
// If known layers have less than this share of the latency, the answer is marked as extrapolating.
constexpr double kExtrapolatingBelow = 0.9;

struct LayerEntry {
  std::vector<float> embedding;  // [width]
  std::string unknown;  // why its text lies outside the training data; empty: every word and number of it is inside
};

// The time of an entirely unknown layer may well be three times the prediction, or a third.
const double kUnknownWidth = std::log(3.0);

// A readable position of the i-th token: "input#2" -> "input[2]"; "groups#0", which has no second number -> "groups".
std::string DescribeToken(const std::vector<text::RawToken>& raw, size_t i) {
  const absl::string_view word = raw[i].word;
  const size_t hash = word.find('#');
  if (hash == absl::string_view::npos) return std::string(word);
  const absl::string_view name = word.substr(0, hash), index = word.substr(hash + 1);
  const bool is_list = index != "0" || (i + 1 < raw.size() && raw[i + 1].word == absl::StrCat(name, "#1"));
  return is_list ? absl::StrCat(name, "[", index, "]") : std::string(name);
}

// The amounts of work at the end of a layer's text, in the units of messages.
struct WorkUnit {
  const char* word;
  double size;
  const char* unit;
};
constexpr WorkUnit kWorkUnits[] = {{"macs#0", 1e9, "GMAC"},
                                   {"read_bytes#0", 1e6, "MB read"},
                                   {"weight_bytes#0", 1e6, "MB of weights"},
                                   {"write_bytes#0", 1e6, "MB written"}};

// Three digits, without an exponent for large numbers.
std::string WorkText(double amount) {
  return amount < 100 ? absl::StrFormat("%.3g", amount) : absl::StrFormat("%.0f", amount);
}

// Describes a number outside the range of the training data.
std::string DescribeOutside(const std::vector<text::RawToken>& raw, size_t i, double value, double low, double high) {
  for (const WorkUnit& work : kWorkUnits) {
    if (raw[i].word != work.word) continue;
    return absl::StrCat(raw[0].word, ": ", WorkText(value / work.size), " ", work.unit, ", measured ",
                        value > high ? "up to " : "from ", WorkText((value > high ? high : low) / work.size));
  }
  return absl::StrFormat("%s: %s is %.6g, measured from %.6g to %.6g", raw[0].word,
                         graph::Quoted(DescribeToken(raw, i)), value, low, high);
}

absl::Status CheckWanted(const std::function<bool()>& cancelled) {
  if (cancelled && cancelled()) return absl::CancelledError("predict: the request was cancelled");
  return absl::OkStatus();
}

// Weights of another precision than the target's need other kernels, which may not exist: no measurement tells their
// time.
absl::Status CheckPrecision(const graph::Graph& graph, const TargetSpec& spec) {
  for (const graph::NamedTensor& parameter : graph.parameters()) {
    const graph::DType dtype = parameter.type.dtype;
    if ((dtype != graph::DType::float16 && dtype != graph::DType::bfloat16) ||
        graph::DTypeName(dtype) == spec.precision)
      continue;
    return UserError(
        Diagnostic::Kind::kUsage,
        absl::StrCat("the model's weights are ", graph::DTypeName(dtype), "; ", spec.name, " runs ", spec.precision),
        absl::StrCat("leave .", dtype == graph::DType::float16 ? "half" : "bfloat16",
                     "() out, or name a target of that precision"));
  }
  return absl::OkStatus();
}

class LoadedPredictor : public Predictor {
 public:
  LoadedPredictor(ModelBundle bundle, ModelInfo info, const PredictorOptions& options)
      : bundle_(std::move(bundle)), info_(std::move(info)), cache_(options.embedding_cache_bytes) {}

  const ModelInfo& info() const override { return info_; }

  std::vector<TargetInfo> targets() const override {
    std::vector<TargetInfo> targets;
    for (const TargetEntry& t : bundle_.manifest.targets) targets.push_back({t.spec, t.errors, false, ""});
    return targets;
  }

  absl::StatusOr<LatencyPrediction> Predict(const graph::Graph& graph, absl::string_view target,
                                            const Calibration* calibration,
                                            const std::function<bool()>& cancelled) const override {
    COBRA_ASSIGN_OR_RETURN(int index, FindTarget(calibration ? calibration->base_target : std::string(target)));
    if (graph.nodes().empty()) return absl::InvalidArgumentError("graph: has no calls; there is nothing to predict");
    COBRA_RETURN_IF_ERROR(CheckPrecision(graph, bundle_.manifest.targets[index].spec));
    // LibTorch reports errors with exceptions, which are caught here.
    try {
      at::InferenceMode inference;
      COBRA_ASSIGN_OR_RETURN(const Layers layers, Embed(graph, cancelled));
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
      Contributions contributions = Contribute(graph, layers, index);
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
      return Assemble(graph, layers, bundle_.manifest.targets[index], std::move(contributions), calibration);
    } catch (const std::exception& e) {
      return absl::InternalError(absl::StrCat("predict: ", e.what()));
    }
  }

  absl::StatusOr<Calibration> Calibrate(const ProbeResult& probe) const override {
    COBRA_RETURN_IF_ERROR(CheckProbe(probe));
    const TargetEntry& base = ClosestTarget(probe.machine);
    std::vector<CalibrationSample> samples;
    for (const store::MeasuredGraph& record : probe.records) {
      const store::Measurement& measured = record.measurement;
      COBRA_ASSIGN_OR_RETURN(LatencyPrediction predicted, Predict(record.graph, base.spec.name, nullptr, {}));
      auto reference = base.probe_reference_us.find(graph::Fingerprint(record.graph).ToHex());
      samples.push_back({&record.graph, measured.subject.is_network, measured.latency.median_us,
                         reference == base.probe_reference_us.end() ? predicted.latency_us : reference->second,
                         std::move(predicted.node_latency_us)});
    }
    COBRA_ASSIGN_OR_RETURN(Calibration c, FitCalibration(samples));
    c.machine = probe.machine;
    c.machine.name = "this-machine";
    c.base_target = base.spec.name;
    c.model_sha256 = info_.sha256;
    return c;
  }

  CacheStats embedding_cache_stats() const override {
    const auto s = cache_.stats();
    return {s.hits, s.misses, s.evictions, s.entries, s.bytes, s.capacity_bytes};
  }

 private:
  using Layers = std::vector<std::shared_ptr<const LayerEntry>>;

  absl::StatusOr<int> FindTarget(absl::string_view name) const {
    std::vector<std::string> names;
    for (size_t i = 0; i < bundle_.manifest.targets.size(); ++i) {
      names.push_back(bundle_.manifest.targets[i].spec.name);
      if (names.back() == name) return static_cast<int>(i);
    }
    return absl::NotFoundError(absl::StrCat(name, ": unknown target; known are ", absl::StrJoin(names, ", ")));
  }

  // Returns the target of nearest speed, among those of the same kind of device if there are any.
  const TargetEntry& ClosestTarget(const TargetSpec& machine) const {
    const auto& targets = bundle_.manifest.targets;
    auto distance = [&](const TargetEntry& t) {
      auto gap = [](double a, double b) { return a > 0 && b > 0 ? std::fabs(std::log(a / b)) : 0.0; };
      return (t.spec.kind == machine.kind ? 0 : 100) + gap(t.spec.peak_gflops, machine.peak_gflops) +
             gap(t.spec.memory_gb_per_s, machine.memory_gb_per_s);
    };
    return *std::min_element(targets.begin(), targets.end(),
                             [&](const TargetEntry& a, const TargetEntry& b) { return distance(a) < distance(b); });
  }

  // Describes the first word or number of a layer's text that lies outside the training data; empty if there is none.
  std::string WhyUnknown(absl::string_view text, const std::vector<text::Token>& tokens) const {
    for (size_t i = 0; i < tokens.size(); ++i) {
      const text::Token& token = tokens[i];
      if (token.id == text::Vocabulary::kUnknown) {
        const std::vector<text::RawToken> raw = text::SplitText(text);
        return i == 0
                   ? absl::StrCat(raw[0].word, " was never measured")
                   : absl::StrCat(raw[0].word, " with ", graph::Quoted(DescribeToken(raw, i)), " was never measured");
      }
      if (!token.numeric) continue;
      const auto& [low, high] = bundle_.manifest.value_ranges[token.id];
      // The slack widens the range at both ends, whatever the signs: dim=-1 is within [-1, 3].
      const double above = high > 0 ? high * kRangeSlack : high / kRangeSlack,
                   below = low > 0 ? low / kRangeSlack : low * kRangeSlack;
      if (token.value <= above + 1e-9 && token.value >= below - 1e-9) continue;
      return DescribeOutside(text::SplitText(text), i, token.value, low, high);
    }
    return "";
  }

  // Each layer is encoded alone. In a batch, the last bits of its embedding would depend on the layers beside it: on
  // their lengths, and on the kernels that the BLAS chooses for the size of the batch.
  std::shared_ptr<const LayerEntry> Encode(absl::string_view text) const {
    const std::vector<text::Token> tokens = bundle_.vocabulary.Encode(text::SplitText(text));
    const auto [ids, values] = net::CollateTokens({&tokens});
    const at::Tensor embedding = bundle_.net->encoder->forward(ids, values).contiguous();
    const float* row = embedding.data_ptr<float>();
    return std::make_shared<const LayerEntry>(
        LayerEntry{std::vector<float>(row, row + embedding.size(1)), WhyUnknown(text, tokens)});
  }

  // Returns the embedding of every node's layer.
  absl::StatusOr<Layers> Embed(const graph::Graph& graph, const std::function<bool()>& cancelled) const {
    Layers layers;
    layers.reserve(graph.nodes().size());
    for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i) {
      COBRA_RETURN_IF_ERROR(CheckWanted(cancelled));
      const std::string text = text::CanonicalText(graph, i);
      const Hash128 key = KeyedHash(text);  // strangers choose the text, and share the cache
      std::shared_ptr<const LayerEntry> layer = cache_.Find(key);
      if (layer == nullptr) {
        layer = Encode(text);
        cache_.Insert(key, layer, HeapBytes(layer->embedding) + HeapBytes(layer->unknown));
      }
      layers.push_back(std::move(layer));
    }
    return layers;
  }

  struct Contributions {
    std::vector<double> log_us;  // one per node
    std::vector<float> mean;     // mean embedding, nodes weighted by their shares
  };
  Contributions Contribute(const graph::Graph& graph, const Layers& layers, int target) const {
    const int64_t n = static_cast<int64_t>(layers.size()), width = bundle_.manifest.net.width;
    at::Tensor embeddings = at::empty({n, width}, at::kFloat);
    for (int64_t i = 0; i < n; ++i) {
      std::copy(layers[i]->embedding.begin(), layers[i]->embedding.end(), embeddings.data_ptr<float>() + i * width);
    }
    const graph::Graph* graphs[] = {&graph};
    const int targets[] = {target};
    const net::GraphBatch batch = CollateGraphs(bundle_, graphs, targets);
    const at::Tensor alone = bundle_.net->layer_head->forward(embeddings, batch.work, TargetRow(bundle_, target, n));
    const at::Tensor log_us = bundle_.net->graph_net->forward(embeddings, alone, batch).contiguous();
    const at::Tensor mean = net::ShareWeightedMean(embeddings, log_us, batch).contiguous();
    const float *p = log_us.data_ptr<float>(), *m = mean.data_ptr<float>();
    return {{p, p + n}, {m, m + width}};
  }

  // A call with more work than the largest measured one of its kind takes at least the time of the fitted line, and the
  // time to move its bytes. Returns why the call is unknown, or "".
  static std::string BeyondTheLargest(const graph::Graph& graph, int32_t node, const TargetEntry& target,
                                      double* log_us) {
    const LinearCost* line = FindLinearCost(target.cost_lines, graph.nodes()[node]);
    if (line == nullptr) return "";
    const graph::NodeCost cost = graph::CostOf(graph, node);
    const double us = line->Us(cost);
    if (us <= line->max_us * kRangeSlack) return "";
    const double bytes = static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes);
    const double moving_us = target.spec.memory_gb_per_s > 0 ? bytes / (1e3 * target.spec.memory_gb_per_s) : 0;
    *log_us = std::max(*log_us, std::log(std::max(us, moving_us)));
    return absl::StrFormat("%s: %.2g times the work of the largest measured one", graph::OpName(graph.nodes()[node].op),
                           us / line->max_us);
  }

  static LatencyPrediction Assemble(const graph::Graph& graph, const Layers& layers, const TargetEntry& target,
                                    Contributions contributions, const Calibration* calibration) {
    std::vector<double>& log_latency = contributions.log_us;
    LatencyPrediction out;
    double known_us = 0;
    int compute_nodes = 0;
    std::map<std::string, double> unknown_us;
    for (size_t i = 0; i < log_latency.size(); ++i) {
      const auto node = static_cast<int32_t>(i);
      std::string unknown = BeyondTheLargest(graph, node, target, &log_latency[i]);
      if (!layers[i]->unknown.empty()) unknown = layers[i]->unknown;
      double log_us = log_latency[i];
      if (calibration != nullptr) {
        log_us += CalibrationLogCorrection(*calibration, graph, node, log_latency[i]) +
                  (log_latency.size() > 1 ? calibration->log_network_scale : 0);
      }
      const double us = std::exp(log_us);
      out.node_latency_us.push_back(us);
      out.latency_us += us;
      (unknown.empty() ? known_us : unknown_us[unknown]) += us;
      out.node_unknown.push_back(std::move(unknown));
      compute_nodes += graph::GetOpInfo(graph.nodes()[i].op).cost_class != graph::CostClass::kView;
    }
    out.confidence = known_us / out.latency_us;
    for (const auto& [why, us] : unknown_us) out.unknown.push_back({why, us / out.latency_us});
    JudgeNetwork(graph, target, compute_nodes, &out);
    std::sort(out.unknown.begin(), out.unknown.end(),
              [](const UnknownPart& a, const UnknownPart& b) { return a.share > b.share; });
    if (out.unknown.size() > LatencyPrediction::kMaxUnknownParts)
      out.unknown.resize(LatencyPrediction::kMaxUnknownParts);
    const IntervalWidth& interval = compute_nodes > 1 ? target.interval.network : target.interval.layer;
    double width = interval.HalfWidthOf(contributions.mean);
    if (calibration != nullptr)
      width = std::hypot(width, calibration->interval_log);  // the two errors are independent of each other
    // Outside the training data nothing guarantees the coverage: the interval is wider, and its coverage is given as 0.
    width = std::max(width * (1 + 2 * (1 - out.confidence)), kUnknownWidth * (1 - out.confidence));
    if (out.extrapolating) out.coverage = 0;
    out.low_us = out.latency_us * std::exp(-width);
    out.high_us = out.latency_us * std::exp(width);
    return out;
  }

  // A network of known calls that is far larger than all measured ones extrapolates too: its effects on caches and
  // memory were never measured.
  static void JudgeNetwork(const graph::Graph& graph, const TargetEntry& target, int compute_nodes,
                           LatencyPrediction* out) {
    if (compute_nodes > 1 && target.max_network_gflops > 0) {
      const double gflops = static_cast<double>(graph::CostOf(graph).flops) / 1e9;
      const double within = target.max_network_gflops / gflops;
      if (within * kRangeSlack < 1) {
        out->confidence = std::min(out->confidence, within);
        out->unknown.push_back({absl::StrFormat("the network has %.4g GFLOP; the largest measured one has %.4g", gflops,
                                                target.max_network_gflops),
                                1 - within});
      }
    }
    out->extrapolating = out->confidence < kExtrapolatingBelow;
  }

  ModelBundle bundle_;
  ModelInfo info_;
  mutable LruCache<LayerEntry> cache_;
};

int64_t CountParameters(const ModelBundle& bundle) {
  int64_t n = 0;
  for (const at::Tensor& t : bundle.net->parameters()) n += t.numel();
  return n;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Predictor>> Predictor::Load(absl::string_view directory,
                                                                 const PredictorOptions& options) {
  net::UseOneThread();
  net::LeaveOneDnnOut();
  COBRA_ASSIGN_OR_RETURN(ModelBundle bundle, LoadBundle(directory));
  ModelInfo info;
  info.sha256 = bundle.manifest_sha256;
  info.version = bundle.manifest.trained_at.substr(0, 10) + "-" + info.sha256.substr(0, 8);
  info.num_parameters = CountParameters(bundle);
  info.vocabulary_size = bundle.manifest.net.vocabulary_size;
  info.trained_at = bundle.manifest.trained_at;
  info.layers_trained = bundle.manifest.layers_trained;
  info.networks_trained = bundle.manifest.networks_trained;
  return std::make_shared<const LoadedPredictor>(std::move(bundle), std::move(info), options);
}

}  // namespace cobra::predict
