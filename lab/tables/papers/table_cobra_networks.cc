#include "lab/tables/papers/table_cobra_networks.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "lab/published/cobra/call_gcn.h"
#include "lab/published/cobra/published_encoder.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/cost_features.h"
#include "lab/published/regressions/layer_latencies.h"
#include "lab/tables/run/measured_rows.h"
#include "lab/tables/run/work_folder.h"
#include "model/predict/work/features.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kSpace[] = "paper-networks", kGroup[] = "paper-networks";
using Predicted = absl::StatusOr<std::vector<double>>;  // latency of the test networks in microseconds

// The information about a call that BRP-NAS uses.
enum class Description { kKind, kParameters, kLatency };

// Networks as graphs whose calls share descriptions. `describe` returns the row of a call and adds
// it if it is new.
template <typename F>
std::vector<CallGraphs::Network> NetworksOf(const std::vector<const training::Sample*>& networks, F describe) {
  std::vector<CallGraphs::Network> graphs;
  for (size_t n = 0; n < networks.size(); ++n) {
    CallGraphs::Network& graph = graphs.emplace_back();
    for (int32_t i = 0; i < static_cast<int32_t>(networks[n]->graph().nodes().size()); ++i)
      graph.row_of_call.push_back(describe(n, i));
    graph.edges = predict::GraphEdges(networks[n]->graph());
  }
  return graphs;
}

at::Tensor ToTensor(const FeatureRows& rows, size_t width) {
  at::Tensor t = at::zeros({static_cast<int64_t>(rows.size()), static_cast<int64_t>(width)});
  for (size_t r = 0; r < rows.size(); ++r) std::copy(rows[r].begin(), rows[r].end(), t.data_ptr<float>() + r * width);
  return t;
}

class Table {
 public:
  Table(const TableOptions& options, WorkFolder work) : options_(options), work_(std::move(work)), run_(options) {}

  absl::StatusOr<TableRun> Run() {
    COBRA_ASSIGN_OR_RETURN(data_, training::LoadMeasurements(options_.rows));
    CollectRows();
    if (train_.index.empty() || test_.index.empty())
      return absl::NotFoundError(absl::StrCat(options_.rows, ": has no ", kSpace, " for training and test"));
    run_.columns = LatencyColumns();
    const std::string of = absl::StrCat("/", kGroup);
    run_.published = {{kSum + of, "8.07 (with the factor); 15.2 / 51.8 / 78.0 / 95.0"},
                      {kBrp + of, "3.58; 26.1 / 81.9 / 93.4 / 99.6"},
                      {kBrpPlus + of, "2.25; 37.2 / 92.7 / 98.3 / 99.5"},
                      {kPublished + of, "1.65; 45.3 / 96.2 / 99.0 / 99.8"}};
    COBRA_RETURN_IF_ERROR(Ours());
    COBRA_RETURN_IF_ERROR(Sums());
    for (const training::Repeat& r : data_.network_repeats) {
      if (r.space == kSpace) repeats_.push_back(r);
    }
    if (!repeats_.empty()) COBRA_RETURN_IF_ERROR(run_.Add(kFloor, kGroup, 1, [&] { return FloorCell(repeats_); }));
    const int seeds = options_.quick ? 1 : options_.seeds;
    for (int seed = 1; seed <= seeds; ++seed) COBRA_RETURN_IF_ERROR(Totals(seed));
    for (int seed = 1; seed <= seeds; ++seed) {
      COBRA_RETURN_IF_ERROR(Published(seed));
      COBRA_RETURN_IF_ERROR(Gcn(kBrpKinds, "brp_nas", Description::kKind, seed));
      COBRA_RETURN_IF_ERROR(Gcn(kBrp, "brp_nas", Description::kParameters, seed));
      COBRA_RETURN_IF_ERROR(Gcn(kBrpPlus, "brp_nas_plus_plus", Description::kLatency, seed));
    }
    Say();
    return std::move(run_);
  }

 private:
  // Training, validation and test networks, one after the other.
  void CollectRows() {
    const auto add = [&](training::Split split, size_t most, NetworkRows* rows) {
      for (const training::Sample* s : RowsOf(data_, kSpace, split, options_.quick ? most : 0)) {
        rows->index.push_back(networks_.size());
        rows->latency_us.push_back(s->latency_us());
        networks_.push_back(s);
      }
    };
    add(training::Split::kTrain, 24, &train_);
    add(training::Split::kValidation, 8, &validation_);
    add(training::Split::kTest, 12, &test_);
  }

  std::vector<const training::Sample*> SamplesOf(const NetworkRows& rows) const {
    std::vector<const training::Sample*> samples;
    for (size_t i : rows.index) samples.push_back(networks_[i]);
    return samples;
  }
  static std::vector<double> Of(const NetworkRows& rows, const std::vector<double>& all) {
    std::vector<double> chosen;
    for (size_t i : rows.index) chosen.push_back(all[i]);
    return chosen;
  }

  absl::Status Add(const std::string& method, int seed,
                   const std::function<absl::StatusOr<TableCell>(Predicted*)>& make) {
    return run_.Add(method, kGroup, seed, [&]() -> absl::StatusOr<TableCell> {
      Predicted predicted = std::vector<double>();
      COBRA_ASSIGN_OR_RETURN(TableCell cell, make(&predicted));
      COBRA_RETURN_IF_ERROR(predicted.status());
      MetricValues figures = LatencyMetricValues(*predicted, test_.latency_us);
      cell.figures.insert(cell.figures.begin(), figures.begin(), figures.end());
      return cell;
    });
  }
  // For methods that have no figures except their predictions.
  absl::Status AddPlain(const std::string& method, int seed, int64_t parameters,
                        const std::function<Predicted()>& predict) {
    return Add(method, seed, [&](Predicted* predicted) -> absl::StatusOr<TableCell> {
      *predicted = predict();
      TableCell cell;
      cell.parameters = parameters;
      return cell;
    });
  }

  absl::Status Ours() {
    const std::vector<std::string> seeds = SeedsOf(options_.model);
    for (size_t s = 0; s < seeds.size() && static_cast<int>(s) < options_.seeds; ++s) {
      COBRA_RETURN_IF_ERROR(AddPlain("COBRA (shipped)", static_cast<int>(s) + 1, 0, [&]() -> Predicted {
        COBRA_ASSIGN_OR_RETURN(const training::Predictions p, PredictedBy(seeds[s], data_, SamplesOf(test_)));
        return p.latency_us;
      }));
    }
    if (seeds.size() == 1)
      run_.after.push_back(absl::StrCat("COBRA (shipped) is one seed, the version in `", options_.model, "`."));
    COBRA_RETURN_IF_ERROR(AddPlain("layer-wise sum: layers predicted by COBRA (shipped)", 1, 0, [&]() -> Predicted {
      COBRA_ASSIGN_OR_RETURN(const training::Predictions p, PredictedBy(seeds[0], data_, SamplesOf(test_)));
      return p.layer_sum_us;
    }));
    return AddPlain("the same, one factor fitted on training networks", 1, 1, [&]() -> Predicted {
      NetworkRows some = train_;  // enough to fit a factor
      some.index.resize(std::min<size_t>(some.index.size(), 100));
      some.latency_us.resize(some.index.size());
      COBRA_ASSIGN_OR_RETURN(const training::Predictions p, PredictedBy(seeds[0], data_, SamplesOf(test_)));
      COBRA_ASSIGN_OR_RETURN(const training::Predictions of_train, PredictedBy(seeds[0], data_, SamplesOf(some)));
      return Scaled(p.layer_sum_us, FitSumScale(of_train.layer_sum_us, some.latency_us));
    });
  }

  static std::vector<double> Scaled(std::vector<double> values, double factor) {
    for (double& v : values) v *= factor;
    return values;
  }

  // Computed when the first row that needs them is missing.
  absl::StatusOr<const LayerLatencies*> Prices() {
    if (prices_.looked_up.empty()) {
      TreeOptions trees;
      trees.method = "hist";
      trees.trees = options_.quick ? 30 : 1200;
      trees.depth = 7;
      trees.learning_rate = options_.quick ? 0.1 : 0.04;
      trees.columns = 0.5;
      COBRA_ASSIGN_OR_RETURN(prices_, EstimateLayerLatencies(data_, networks_, trees));
    }
    return &prices_;
  }
  static std::vector<double> SumsOf(const std::vector<std::vector<double>>& calls) {
    std::vector<double> sums;
    for (const std::vector<double>& of_network : calls) {
      double sum = 1e-3;
      for (double us : of_network) sum += us;
      sums.push_back(sum);
    }
    return sums;
  }

  absl::Status Sums() {
    const auto add = [&](const std::string& method, const std::vector<std::vector<double>> LayerLatencies::*calls,
                         bool scaled) {
      return Add(method, 1, [&, calls, scaled](Predicted* predicted) -> absl::StatusOr<TableCell> {
        COBRA_ASSIGN_OR_RETURN(const LayerLatencies* prices, Prices());
        const std::vector<double> sums = SumsOf(prices->*calls);
        *predicted = Scaled(Of(test_, sums), scaled ? FitSumScale(Of(train_, sums), train_.latency_us) : 1);
        double share = 0;
        for (double s : Of(test_, prices->measured_share)) share += s / static_cast<double>(test_.index.size());
        TableCell cell;
        cell.figures = {{"measured_share", share}};
        cell.parameters = scaled ? 1 : 0;
        return cell;
      });
    };
    COBRA_RETURN_IF_ERROR(add(kSum, &LayerLatencies::looked_up, true));
    COBRA_RETURN_IF_ERROR(add("the same, without the factor", &LayerLatencies::looked_up, false));
    COBRA_RETURN_IF_ERROR(
        add("layer-wise sum: layers predicted by boosted trees, one factor", &LayerLatencies::predicted, true));
    // Not a prediction: it reads the profile of the same network.
    return AddPlain("the calls as profiled inside the network, added", 1, 0, [&]() -> Predicted {
      std::vector<double> sums;
      for (const training::Sample* s : SamplesOf(test_))
        sums.push_back(s->profile_us > 0 ? s->profile_us : s->latency_us());
      return sums;
    });
  }

  // Methods that use only a network's totals.
  absl::Status Totals(int seed) {
    const auto features = [&](const NetworkRows& rows, std::vector<double> (*of)(const graph::Graph&)) {
      FeatureRows all;
      for (const training::Sample* s : SamplesOf(rows)) all.push_back(of(s->graph()));
      return all;
    };
    COBRA_RETURN_IF_ERROR(AddPlain("boosted trees on shape and cost totals", seed, 0, [&]() -> Predicted {
      TreeOptions trees;
      trees.trees = options_.quick ? 50 : 1500;
      trees.seed = static_cast<uint64_t>(seed);
      return FitTrees(features(train_, NetworkFeatures), train_.latency_us, features(test_, NetworkFeatures), trees);
    }));
    if (seed > 1) return absl::OkStatus();
    return AddPlain("linear on FLOPs and bytes", 1, 3, [&]() -> Predicted {
      return FitRelativeLinear(features(train_, WorkFeatures), train_.latency_us, features(test_, WorkFeatures));
    });
  }

  absl::Status AddGcn(const std::string& method, const std::string& config, int seed,
                      const std::function<absl::StatusOr<CallGraphs>()>& graphs) {
    return Add(method, seed, [&](Predicted* predicted) -> absl::StatusOr<TableCell> {
      COBRA_ASSIGN_OR_RETURN(const CallGcnConfig gcn,
                             LoadGcnConfig(absl::StrCat(ConfigFolder(options_), "/", config, ".json")));
      COBRA_ASSIGN_OR_RETURN(const CallGraphs calls, graphs());
      const CallGcnFit fit = FitCallGcn(calls, train_, validation_, gcn, static_cast<uint64_t>(seed));
      *predicted = Of(test_, fit.latency_us);
      TableCell cell;
      cell.parameters = fit.parameters;
      cell.figures = {{"epochs", static_cast<double>(fit.epochs)}};
      return cell;
    });
  }

  absl::Status Gcn(const std::string& method, const std::string& config, Description description, int seed) {
    return AddGcn(method, config, seed, [&]() -> absl::StatusOr<CallGraphs> {
      const LayerLatencies* prices = nullptr;
      if (description == Description::kLatency) {
        COBRA_ASSIGN_OR_RETURN(prices, Prices());
      }
      return Describe(description, prices);
    });
  }

  // Describes calls by one-hot kind, parameters, and the log of the latency alone, depending on
  // `description`.
  CallGraphs Describe(Description description, const LayerLatencies* prices) const {
    std::vector<std::string> kinds;
    for (const training::Sample* s : SamplesOf(train_)) {
      for (const graph::Node& node : s->graph().nodes()) KindNumber(node, &kinds);
    }
    const size_t known = kinds.size();  // a kind that is not in the training networks is left out
    FeatureRows rows;
    std::map<std::vector<double>, int64_t> place;
    CallGraphs graphs;
    graphs.networks = NetworksOf(networks_, [&](size_t n, int32_t call) {
      const graph::Graph& graph = networks_[n]->graph();
      std::vector<double> f(known, 0);
      const auto kind = static_cast<size_t>(KindNumber(graph.nodes()[static_cast<size_t>(call)], &kinds));
      if (kind < known) f[kind] = 1;
      if (description != Description::kKind) {
        const std::vector<double> parameters = CallParameters(graph, call);
        f.insert(f.end(), parameters.begin(), parameters.end());
      }
      if (description == Description::kLatency)
        f.push_back(std::log2(1 + prices->looked_up[n][static_cast<size_t>(call)]) / 10);
      const auto [it, inserted] = place.try_emplace(f, static_cast<int64_t>(rows.size()));
      if (inserted) rows.push_back(std::move(f));
      return it->second;
    });
    graphs.rows = ToTensor(rows, rows.empty() ? 0 : rows[0].size());
    return graphs;
  }

  // Scales columns to mean 0 and deviation 1 over the descriptions of the training networks' calls.
  // Means of normalised tokens are almost equal: unscaled, the graph network learns little but a
  // constant from them.
  static at::Tensor Standardised(const at::Tensor& rows, const CallGraphs& graphs, const std::vector<size_t>& train) {
    absl::btree_set<int64_t> used;
    for (size_t n : train) used.insert(graphs.networks[n].row_of_call.begin(), graphs.networks[n].row_of_call.end());
    const at::Tensor seen = rows.index_select(0, at::tensor(std::vector<int64_t>(used.begin(), used.end()), at::kLong));
    return (rows - seen.mean(0)) / seen.std(0).clamp_min(1e-6);
  }

  absl::Status Published(int seed) {
    if (published_missing_) return absl::OkStatus();
    auto created =
        PublishedEncoder::Create(ConfigFolder(options_) + "/cobra_encoder.json", kWordPieceVocabulary, work_.path());
    if (absl::IsNotFound(created.status())) {
      run_.before.push_back(absl::StrCat("COBRA as published is left out: ", created.status().message(), "."));
      published_missing_ = true;
      return absl::OkStatus();
    }
    COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<PublishedEncoder> encoder, std::move(created));
    return AddGcn(kPublished, "cobra_gcn", seed, [&]() -> absl::StatusOr<CallGraphs> {
      // The encoder of the first seed, as in cobra_layers; frozen.
      const size_t most = options_.quick ? 400 : 0;
      COBRA_RETURN_IF_ERROR(encoder->Fit(RowsOf(data_, "paper-layers", training::Split::kTrain, most),
                                         RowsOf(data_, "paper-layers", training::Split::kValidation, most),
                                         RowsOf(data_, "paper-layers", training::Split::kTest, most / 2),
                                         /*append_latency=*/true, /*fine_tune=*/true, 1));
      std::vector<std::string> texts;
      absl::flat_hash_map<std::string, int64_t> place;
      CallGraphs graphs;
      graphs.networks = NetworksOf(networks_, [&](size_t n, int32_t call) {
        std::string text = PublishedText(networks_[n]->graph(), call);
        const auto [it, inserted] = place.try_emplace(text, static_cast<int64_t>(texts.size()));
        if (inserted) texts.push_back(std::move(text));
        return it->second;
      });
      graphs.rows = Standardised(encoder->Embed(texts), graphs, train_.index);
      return graphs;
    });
  }

  void Say() {
    run_.after.push_back(
        absl::StrFormat("Random ResNet-like networks of COBRA's section A.2: %d for training, %d for validation, %d "
                        "test rows, by fingerprint (`SplitOf`). Published figures: MAPE in %%; within 1 / 5 / "
                        "10 / 25 %%, of other networks on a GTX 1080 Ti, 1,500 epochs at batch 2; the epochs that each "
                        "graph network had here are in its settings (`%s`): the weights with the best "
                        "validation error are kept.",
                        train_.index.size(), validation_.index.size(), test_.index.size(), ConfigFolder(options_)));
    for (const TableCell& c : run_.cells) {
      if (c.method != kSum) continue;
      const std::map<std::string, double> f(c.figures.begin(), c.figures.end());
      const auto share = f.find("measured_share");
      if (share == f.end()) continue;
      run_.after.push_back(absl::StrFormat(
          "Layer-wise sum by look-up: %.1f %% of it are layers that were measured alone, the rest is predicted by "
          "boosted trees; BRP-NAS++ reads the same figures. What the calls take inside the "
          "network adds up to its latency (lab/results/layer_sum.md): that row reads the profile of the test network "
          "itself and is not a prediction.",
          100 * share->second));
    }
    run_.after.push_back(
        absl::StrFormat("The floor is of %d networks of this space measured again at the end of their series, with a "
                        "median difference of %.2f %%; that of %d networks of all spaces is %.2f %%.",
                        repeats_.size(), 100 * training::RepeatabilityFloor(repeats_), data_.network_repeats.size(),
                        100 * training::RepeatabilityFloor(data_.network_repeats)));
  }

  static constexpr char kPublished[] = "COBRA as published";
  static constexpr char kBrpKinds[] = "BRP-NAS: kinds of calls alone";
  static constexpr char kBrp[] = "BRP-NAS: kinds and parameters";
  static constexpr char kBrpPlus[] = "BRP-NAS++: kinds, parameters, latency of each call alone";
  static constexpr char kSum[] = "layer-wise sum: layers measured alone, trees where they were not, one factor";
  const TableOptions options_;
  const WorkFolder work_;
  training::Dataset data_;
  std::vector<training::Repeat> repeats_;  // of this space
  std::vector<const training::Sample*> networks_;
  NetworkRows train_, validation_, test_;  // indices in networks_
  LayerLatencies prices_;
  bool published_missing_ = false;
  TableRun run_;
};

}  // namespace

absl::StatusOr<TableRun> RunCobraNetworksTable(const TableOptions& options) { return RunInWorkFolder<Table>(options); }

}  // namespace cobra::lab
