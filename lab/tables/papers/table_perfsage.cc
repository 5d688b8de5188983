#include "lab/tables/papers/table_perfsage.h"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "lab/published/networks/network_gcn.h"
#include "lab/published/networks/perfsage.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/linear.h"
#include "lab/tables/run/coverage.h"
#include "lab/variants/call_model.h"
#include "lab/variants/network_fit.h"
#include "lab/variants/network_set.h"
#include "model/training/trainer.h"

namespace cobra::lab {
namespace {

constexpr char kOurs[] = "COBRA: calls inside networks, graph network",
               kCalls[] = "per-kernel sum, fitted inside networks", kAlone[] = "per-kernel sum, layers alone",
               kGcn[] = "BRP-NAS: GCN on operators", kPerfSage[] = "PerfSAGE, rebuilt",
               kTrees[] = "boosted trees on totals", kLinear[] = "linear on totals", kRule[] = "COBRA: the rule";
constexpr size_t kQuickNetworks = 16;  // for each space

// Predictions of all networks, each by the fit that was not trained on it.
struct OutOfFold {
  std::vector<double> value;
  int64_t parameters = 0;
  double seconds = 0;
};
// Trains on `train` and predicts every network of the set (any value for those that are not used).
using FitAll = std::function<absl::StatusOr<OutOfFold>(const std::vector<size_t>& train)>;

class Table {
 public:
  explicit Table(const TableOptions& options) : run_(options) {}

  absl::StatusOr<TableRun> Run() {
    COBRA_RETURN_IF_ERROR(Load());
    run_.columns = ErrorAndIntervalColumns();
    const int seeds = run_.options.quick ? 1 : run_.options.seeds;
    for (int seed = 1; seed <= seeds; ++seed) {
      COBRA_RETURN_IF_ERROR(Latency(static_cast<uint64_t>(seed)));
      COBRA_RETURN_IF_ERROR(Memory(static_cast<uint64_t>(seed)));
      COBRA_RETURN_IF_ERROR(Published(static_cast<uint64_t>(seed)));
    }
    Describe();
    return std::move(run_);
  }

 private:
  absl::Status Load() {
    const std::string path = run_.options.rows + "/networks.jsonl.xz";
    COBRA_ASSIGN_OR_RETURN(std::vector<training::Sample> samples, training::LoadRecordFile(path));
    std::map<std::string, size_t> count;
    for (training::Sample& sample : samples) {
      if (!absl::StartsWith(sample.space(), "perfsage-") || sample.peak_memory_bytes() == 0) continue;
      if (size_t& n = count[sample.space()]; run_.options.quick && ++n > kQuickNetworks) continue;
      samples_.push_back(std::move(sample));
    }
    if (samples_.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(path,
                       ": has no network of a space perfsage-*; measure some with `cobra-worker measure --space "
                       "perfsage-cnn-kws` and the other three"));
    }
    std::vector<const training::Sample*> pointers;
    for (const training::Sample& sample : samples_) pointers.push_back(&sample);
    set_ = DescribeNetworks(pointers);
    for (const NetworkSet::Network& network : set_.networks) {
      fold_.push_back(PerfSageFold(network.fingerprint));
      spaces_.insert(network.space);
    }
    return absl::OkStatus();
  }

  // Predicts each network with the fit of the other folds: of all spaces, or only of its own.
  absl::StatusOr<OutOfFold> OverFolds(bool specialized, const FitAll& fit) const {
    const absl::Time start = absl::Now();
    OutOfFold out;
    out.value.assign(set_.networks.size(), std::nan(""));
    std::set<std::string> parts = spaces_;
    if (!specialized) parts = {""};
    for (const std::string& space : parts) {
      for (int fold = 0; fold < kPerfSageFolds; ++fold) {
        std::vector<size_t> train, test;
        for (size_t n = 0; n < set_.networks.size(); ++n) {
          if (!space.empty() && set_.networks[n].space != space) continue;
          (fold_[n] == fold ? test : train).push_back(n);
        }
        if (train.empty() || test.empty()) continue;
        COBRA_ASSIGN_OR_RETURN(const OutOfFold of_fold, fit(train));
        for (size_t n : test) out.value[n] = of_fold.value[n];
        out.parameters = of_fold.parameters;
      }
    }
    out.seconds = absl::ToDoubleSeconds(absl::Now() - start);
    return out;
  }

  // Adds a cell for each space. The predictions are made once, when the first cell is missing. Each
  // cell gets the share of their time that its networks have among all networks.
  absl::Status Add(const std::string& method, bool memory, uint64_t seed,
                   const std::function<absl::StatusOr<OutOfFold>()>& predict) {
    std::unique_ptr<OutOfFold> all;
    for (const std::string& space : spaces_) {
      const std::string group = absl::StrCat(space, memory ? ", peak memory" : ", latency");
      COBRA_RETURN_IF_ERROR(run_.Add(method, group, static_cast<int>(seed), [&]() -> absl::StatusOr<TableCell> {
        if (all == nullptr) {
          COBRA_ASSIGN_OR_RETURN(OutOfFold predictions, predict());
          all = std::make_unique<OutOfFold>(std::move(predictions));
        }
        return MetricsCell(*all, space, memory);
      }));
    }
    return absl::OkStatus();
  }

  TableCell MetricsCell(const OutOfFold& all, const std::string& space, bool memory) const {
    std::vector<double> predicted, measured;
    std::vector<int> fold;
    for (size_t n = 0; n < set_.networks.size(); ++n) {
      const NetworkSet::Network& network = set_.networks[n];
      const double value = memory ? network.peak_memory_bytes : network.latency_us;
      if (network.space != space || value <= 0 || std::isnan(all.value[n])) continue;
      predicted.push_back(all.value[n]);
      measured.push_back(value);
      fold.push_back(fold_[n]);
    }
    TableCell cell;
    cell.figures = ToMetricValues(training::ComputeMetrics(predicted, measured));
    const auto calibration = static_cast<int64_t>(predicted.size()) * (kPerfSageFolds - 1) / kPerfSageFolds;
    for (auto& figure :
         IntervalMetricValues(predicted, measured, CrossConformalHalfWidths(predicted, measured, fold), calibration)) {
      cell.figures.push_back(std::move(figure));
    }
    cell.parameters = all.parameters;
    cell.seconds = all.seconds * static_cast<double>(predicted.size()) / static_cast<double>(set_.networks.size());
    return cell;
  }

  std::vector<double> Targets(bool memory) const {
    std::vector<double> targets;
    for (const NetworkSet::Network& network : set_.networks)
      targets.push_back(memory ? network.peak_memory_bytes : network.latency_us);
    return targets;
  }

  absl::Status Totals(bool memory, uint64_t seed) {
    const std::vector<double> targets = Targets(memory);
    FeatureRows line, tree;
    for (const NetworkSet::Network& network : set_.networks) {
      line.push_back(LinearTotals(set_, network));
      tree.push_back(TreeTotals(set_, network));
    }
    const auto chosen = [&](const FeatureRows& rows, const std::vector<size_t>& train) {
      std::pair<FeatureRows, std::vector<double>> part;
      for (size_t n : train) {
        part.first.push_back(rows[n]);
        part.second.push_back(targets[n]);
      }
      return part;
    };
    COBRA_RETURN_IF_ERROR(Add(kLinear, memory, seed, [&] {
      return OverFolds(true, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        const auto part = chosen(line, train);
        return OutOfFold{FitLinear(part.first, part.second, line), static_cast<int64_t>(line[0].size()) + 1};
      });
    }));
    TreeOptions trees;
    trees.seed = seed;
    if (run_.options.quick) trees.trees = 50;
    return Add(kTrees, memory, seed, [&] {
      return OverFolds(true, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        const auto part = chosen(tree, train);
        COBRA_ASSIGN_OR_RETURN(std::vector<double> value, FitTrees(part.first, part.second, tree, trees));
        return OutOfFold{std::move(value)};
      });
    });
  }

  absl::Status PerfSageRow(bool memory, uint64_t seed) {
    const std::vector<double> targets = Targets(memory);
    PerfSageOptions options;
    options.seed = seed;
    if (run_.options.quick) options.training.epochs = 1;
    return Add(kPerfSage, memory, seed, [&] {
      return OverFolds(false, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        PerfSageFit fit = FitPerfSage(set_, targets, train, options);
        return OutOfFold{std::move(fit.predicted), fit.parameters};
      });
    });
  }

  absl::Status Latency(uint64_t seed) {
    COBRA_RETURN_IF_ERROR(Totals(false, seed));
    COBRA_RETURN_IF_ERROR(Add(kAlone, false, seed, [&]() -> absl::StatusOr<OutOfFold> {
      std::vector<const training::Sample*> samples;
      for (const training::Sample& sample : samples_) samples.push_back(&sample);
      const absl::Time start = absl::Now();
      COBRA_ASSIGN_OR_RETURN(training::Predictions predictions, training::PredictSamples(run_.options.model, samples));
      return OutOfFold{std::move(predictions.layer_sum_us), 0, absl::ToDoubleSeconds(absl::Now() - start)};
    }));
    COBRA_RETURN_IF_ERROR(Add(kCalls, false, seed, [&] {
      return OverFolds(false, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        COBRA_ASSIGN_OR_RETURN(const CallModel calls, CallModel::Fit(set_, train));
        OutOfFold out;
        for (size_t n = 0; n < set_.networks.size(); ++n) out.value.push_back(calls.SumUs(n));
        return out;
      });
    }));
    COBRA_RETURN_IF_ERROR(Add(kOurs, false, seed, [&] {
      return OverFolds(false, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        NetworkFitOptions options;
        options.seed = seed;
        if (run_.options.quick) options.epochs = 2;
        COBRA_ASSIGN_OR_RETURN(NetworkFit fit, FitNetworks(set_, train, options));
        return OutOfFold{std::move(fit.latency_us), fit.parameters};
      });
    }));
    return absl::OkStatus();
  }

  absl::Status Memory(uint64_t seed) {
    COBRA_RETURN_IF_ERROR(Totals(true, seed));
    COBRA_RETURN_IF_ERROR(Add(kRule, true, seed, [&]() -> absl::StatusOr<OutOfFold> {
      OutOfFold out;
      for (const NetworkSet::Network& network : set_.networks) out.value.push_back(network.rule_bytes);
      return out;
    }));
    return absl::OkStatus();
  }

  // The published graph networks, which take a hundred times as long as the other methods.
  absl::Status Published(uint64_t seed) {
    COBRA_RETURN_IF_ERROR(PerfSageRow(false, seed));
    COBRA_RETURN_IF_ERROR(PerfSageRow(true, seed));
    return Add(kGcn, false, seed, [&] {
      return OverFolds(true, [&](const std::vector<size_t>& train) -> absl::StatusOr<OutOfFold> {
        NetworkGcnOptions options;
        options.seed = seed;
        if (run_.options.quick) options.training.epochs = 1;
        NetworkGcnFit fit = FitNetworkGcn(set_, train, options);
        return OutOfFold{std::move(fit.latency_us), fit.parameters};
      });
    });
  }

  void Describe() {
    const auto publish = [&](const char* method, const char* space, const char* figures) {
      run_.published[absl::StrCat(method, "/perfsage-", space)] = figures;
    };
    publish(kPerfSage, "cnn-cifar10, latency", "2.31; all spaces together 2.62");
    publish(kPerfSage, "cnn-imagenet, latency", "1.10; together 1.26");
    publish(kPerfSage, "cnn-kws, latency", "3.72; together 5.85");
    publish(kPerfSage, "vit-cifar100, latency", "4.45; together 4.80");
    publish(kGcn, "cnn-cifar10, latency", "41.1");
    publish(kGcn, "cnn-imagenet, latency", "18.1");
    publish(kGcn, "cnn-kws, latency", "36.1");
    publish(kGcn, "vit-cifar100, latency", "46.2");
    publish(kCalls, "cnn-cifar10, latency", "nn-Meter 4.37");
    publish(kCalls, "cnn-imagenet, latency", "nn-Meter 3.22");
    publish(kCalls, "cnn-kws, latency", "nn-Meter 452.7");
    publish(kPerfSage, "cnn-cifar10, peak memory", "2.76; together 3.63");
    publish(kPerfSage, "cnn-imagenet, peak memory", "3.60; together 3.42");
    publish(kPerfSage, "cnn-kws, peak memory", "3.25; together 4.95");
    publish(kPerfSage, "vit-cifar100, peak memory", "0.70; together 1.58");
    run_.before = {
        absl::StrCat(set_.networks.size(),
                     " networks of the four spaces (re-created: docs/nas_spaces.md), measured on `", run_.options.rows,
                     "`; five-fold cross-validation, the fold of a network by its fingerprint, so that each "
                     "is tested once. PerfSAGE, the per-kernel sum fitted inside networks and ours learn four "
                     "fifths of all spaces together; lines, trees and BRP-NAS learn the space that they are "
                     "tested on. Seconds here are wall clock of all fits, beside other work, shared out by networks.")};
    run_.after = {
        "Published figures (MAPE, %) are of a Cortex-A57 CPU (latency) and an Ethos-U NPU's simulator (SRAM), with "
        "4,917 to 79,998 int8 networks a space: another device, and up to 300 times the networks.",
        "*Per-kernel sum, layers alone*: the shipped weights' answer for each layer by itself, added; they may have "
        "learned some of these networks. *Fitted inside networks*: what each "
        "call takes within the networks of the training folds, added.",
        "Peak memory is the most bytes alive at LibTorch's allocator; *the rule* computes it "
        "from the graph and has no fitted number; two of its terms were found on these networks. Energy: this "
        "target has no counter that the worker can read, so there is none.",
        "Intervals: cross-conformal, a network's half-width from the networks of the other folds; the band is the "
        "exact beta-binomial 95 % band."};
  }

  std::vector<training::Sample> samples_;
  NetworkSet set_;
  std::vector<int> fold_;  // [network]
  std::set<std::string> spaces_;
  TableRun run_;
};

}  // namespace

int PerfSageFold(absl::string_view fingerprint_hex) {
  return static_cast<int>(HashBytes(absl::StrCat("perfsage-fold:", fingerprint_hex)).low % kPerfSageFolds);
}

absl::StatusOr<TableRun> RunPerfSageTable(const TableOptions& options) { return Table(options).Run(); }

}  // namespace cobra::lab
