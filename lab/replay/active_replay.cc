#include "lab/replay/active_replay.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/cost/cost.h"
#include "lab/variants/kernel_model.h"
#include "model/training/rows/dataset.h"
#include "model/training/rows/measuring_cost.h"
#include "model/training/rows/metrics.h"
#include "model/training/selection/layer_model.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using nlohmann::json;

// The layers of a data set, split into test and pool. Layers that an active selection chose before
// are in neither: otherwise the random strategy would draw from selected layers.
struct Layers {
  std::vector<const training::Sample*> all;
  std::vector<size_t> test, pool;  // indices in `all`
};

absl::StatusOr<Layers> SplitLayers(const training::Dataset& data, const std::string& split_path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(split_path));
  std::set<std::string> test;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipWhitespace())) {
    if (line[0] != '#') test.emplace(absl::StripAsciiWhitespace(line));
  }
  Layers layers;
  for (const training::Sample& sample : data.samples) {
    if (sample.is_network() || sample.selected) continue;
    (test.count(sample.fingerprint()) > 0 ? layers.test : layers.pool).push_back(layers.all.size());
    layers.all.push_back(&sample);
  }
  if (layers.test.size() != test.size() || test.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        split_path, ": names ", test.size(), " test layers, of which the measurements have ", layers.test.size(),
        "; it belongs to other measurements, or the fingerprint has changed (cobra-train split)"));
  }
  return layers;
}

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The replay of one strategy with one seed.
class Replay {
 public:
  Replay(const Layers& layers, const ReplayPlan& plan, training::Strategy strategy, int seed)
      : layers_(layers),
        plan_(plan),
        strategy_(strategy),
        seed_(static_cast<uint64_t>(seed)),
        unmeasured_(layers.pool),
        targets_(layers.pool) {
    std::mt19937_64 random(seed_);
    std::shuffle(unmeasured_.begin(), unmeasured_.end(), random);
    std::shuffle(targets_.begin(), targets_.end(), random);
    targets_.resize(std::min(targets_.size(), plan.max_targets));
  }

  absl::StatusOr<ReplayCurve> Run() {
    const absl::Time start = absl::Now();
    model_ = KernelModel::Create(layers_.all);
    ReplayCurve curve;
    curve.strategy = strategy_;
    curve.seed = static_cast<int>(seed_);
    MeasureFirst();
    for (size_t round = 0; round < plan_.rounds_s.size(); ++round) {
      if (round > 0) COBRA_RETURN_IF_ERROR(MeasureChosen(plan_.rounds_s[round]));
      COBRA_RETURN_IF_ERROR(model_->Fit(measured_));
      COBRA_ASSIGN_OR_RETURN(ReplayPoint point, Test());
      Report(point);
      curve.points.push_back(point);
    }
    curve.wall_s = absl::ToDoubleSeconds(absl::Now() - start);
    return curve;
  }

 private:
  const training::Sample& At(size_t layer) const { return *layers_.all[layer]; }

  // Measures a few layers at random, the same for every strategy: there is no model yet.
  void MeasureFirst() {
    size_t count = 0;
    while (count < unmeasured_.size() && seconds_ < plan_.rounds_s[0]) seconds_ += At(unmeasured_[count++]).measuring_s;
    measured_.assign(unmeasured_.begin(), unmeasured_.begin() + static_cast<std::ptrdiff_t>(count));
    unmeasured_.erase(unmeasured_.begin(), unmeasured_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  // Measures what the strategy chooses, in its order, until the time is used up, like a worker with
  // a budget. It asks for a third more layers than are expected to fit.
  absl::Status MeasureChosen(double until_s) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> predicted_us, model_->Predict(unmeasured_));
    COBRA_ASSIGN_OR_RETURN(const training::SelectionTask task, TaskOf(predicted_us));
    training::SelectionOptions options;
    options.strategy = strategy_;
    options.shortlist = plan_.shortlist;
    options.seed = HashBytes(absl::StrCat(seed_, "/", measured_.size())).low;
    options.budget_s = (until_s - seconds_) * 4 / 3;
    COBRA_ASSIGN_OR_RETURN(const training::Selection selection, training::SelectLayers(task, options));
    tried_error_.clear();
    std::vector<bool> taken(unmeasured_.size());
    for (size_t i : selection.chosen) {
      if (seconds_ >= until_s) break;
      const training::Sample& layer = At(unmeasured_[i]);
      seconds_ += layer.measuring_s;
      tried_error_.push_back(training::AbsLogError(predicted_us[i], layer.latency_us()));
      measured_.push_back(unmeasured_[i]);
      taken[i] = true;
    }
    std::vector<size_t> rest;
    for (size_t i = 0; i < unmeasured_.size(); ++i) {
      if (!taken[i]) rest.push_back(unmeasured_[i]);
    }
    unmeasured_ = std::move(rest);
    return absl::OkStatus();
  }

  absl::StatusOr<training::SelectionTask> TaskOf(const std::vector<double>& predicted_us) {
    training::SelectionTask task;
    for (size_t i = 0; i < unmeasured_.size(); ++i) {
      task.cost_s.push_back(training::ExpectedSeconds(std::min(predicted_us[i], 1e6),
                                                      graph::PeakMemoryBytes(At(unmeasured_[i]).graph())));
    }
    if (strategy_ == training::Strategy::kRandom || strategy_ == training::Strategy::kRandomBySecond) return task;
    task.pool = model_->Vectors(unmeasured_);
    task.measured = model_->Vectors(measured_);
    task.targets = model_->Vectors(targets_);
    task.tried_error = tried_error_;
    task.tried = model_->Vectors(absl::MakeConstSpan(measured_).last(tried_error_.size()));
    return task;
  }

  void Report(const ReplayPoint& point) const {
    LogInfo(absl::StrFormat(
        "%s, seed %d: %4.0f s of measuring, %5d layers: mean error %.1f %%, median %.1f %%, by operator %.1f %%",
        training::StrategyName(strategy_), seed_, point.seconds, point.layers, 100 * point.mean, 100 * point.median,
        100 * point.by_kind));
  }

  absl::StatusOr<ReplayPoint> Test() const {
    COBRA_ASSIGN_OR_RETURN(const std::vector<double> predicted_us, model_->Predict(layers_.test));
    std::vector<double> errors;
    std::map<std::string, std::vector<double>> of_kind;
    for (size_t i = 0; i < layers_.test.size(); ++i) {
      const training::Sample& layer = At(layers_.test[i]);
      errors.push_back(std::fabs(predicted_us[i] / layer.latency_us() - 1));
      of_kind[training::KindOf(layer.graph())].push_back(errors.back());
    }
    ReplayPoint point;
    point.seconds = seconds_;
    point.layers = static_cast<int64_t>(measured_.size());
    point.mean = MeanOf(errors);
    std::vector<double> means;
    for (const auto& [kind, of_it] : of_kind) {
      if (of_it.size() >= plan_.min_kind) means.push_back(MeanOf(of_it));
    }
    point.by_kind = means.empty() ? point.mean : MeanOf(means);
    point.median = UpperMedian(std::move(errors));
    return point;
  }

  const Layers& layers_;
  const ReplayPlan& plan_;
  const training::Strategy strategy_;
  const uint64_t seed_;
  std::unique_ptr<KernelModel> model_;
  std::vector<size_t> unmeasured_, targets_;  // indices in layers_.all
  std::vector<size_t> measured_;              // in the order of measuring
  std::vector<double> tried_error_;           // of the last round, before training on its layers; empty after the first
  double seconds_ = 0;
};

json PointToJson(const ReplayPoint& p) {
  return {{"seconds", p.seconds}, {"layers", p.layers}, {"mean", p.mean}, {"median", p.median}, {"by_kind", p.by_kind}};
}

ReplayPoint PointFromJson(const json& j) {
  return {j.value("seconds", 0.0), j.value("layers", int64_t{0}), j.value("mean", 0.0), j.value("median", 0.0),
          j.value("by_kind", 0.0)};
}

json CurveToJson(const ReplayCurve& curve, const std::string& configuration) {
  json points = json::array();
  for (const ReplayPoint& p : curve.points) points.push_back(PointToJson(p));
  return {{"configuration", configuration},
          {"strategy", std::string(training::StrategyName(curve.strategy))},
          {"seed", curve.seed},
          {"points", points},
          {"wall_s", curve.wall_s}};
}

// All settings that a finished curve depends on.
std::string ConfigurationOf(const ReplayPlan& plan, const Layers& layers, const std::string& rows) {
  json j = {{"rows", rows},
            {"pool", layers.pool.size()},
            {"test", layers.test.size()},
            {"rounds_s", plan.rounds_s},
            {"targets", plan.max_targets},
            {"shortlist", plan.shortlist}};
  return j.dump();
}

// Finds the curve of a strategy and seed from an earlier run.
bool FindCurve(const std::string& state, const std::string& configuration, ReplayCurve* curve) {
  for (absl::string_view line : absl::StrSplit(state, '\n', absl::SkipEmpty())) {
    const json j = ParseJson<json>(line);
    if (!j.is_object() || j.value("configuration", "") != configuration ||
        j.value("strategy", "") != training::StrategyName(curve->strategy) || j.value("seed", 0) != curve->seed) {
      continue;
    }
    for (const json& p : j["points"]) curve->points.push_back(PointFromJson(p));
    curve->wall_s = j.value("wall_s", 0.0);
    return true;
  }
  return false;
}

}  // namespace

ReplayPlan QuickPlan() {
  ReplayPlan plan;
  plan.rounds_s = {10, 20, 40};
  plan.strategies = {training::Strategy::kRandom, training::Strategy::kVariance};
  plan.max_targets = 1000;
  return plan;
}

absl::StatusOr<ActiveTable> RunActiveTable(const ReplayOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const training::Dataset data, training::LoadMeasurements(options.rows));
  COBRA_ASSIGN_OR_RETURN(const Layers layers, SplitLayers(data, options.split));
  const std::string configuration = ConfigurationOf(options.plan, layers, options.rows);
  std::string state;
  if (!options.state.empty() && FileExists(options.state)) {
    COBRA_ASSIGN_OR_RETURN(state, ReadFile(options.state));
  }
  ActiveTable table;
  table.rows = options.rows;
  table.test_layers = static_cast<int64_t>(layers.test.size());
  table.pool_layers = static_cast<int64_t>(layers.pool.size());
  for (size_t layer : layers.pool) table.pool_s += layers.all[layer]->measuring_s;
  table.floor = training::RepeatabilityFloor(data.layer_repeats);
  table.repeats = static_cast<int64_t>(data.layer_repeats.size());
  // One seed after the other, so that an interrupted run has complete comparisons.
  for (int seed = 1; seed <= options.seeds; ++seed) {
    for (training::Strategy strategy : options.plan.strategies) {
      ReplayCurve curve;
      curve.strategy = strategy;
      curve.seed = seed;
      if (!FindCurve(state, configuration, &curve)) {
        COBRA_ASSIGN_OR_RETURN(curve, Replay(layers, options.plan, strategy, seed).Run());
        absl::StrAppend(&state, CurveToJson(curve, configuration).dump(), "\n");
        if (!options.state.empty()) COBRA_RETURN_IF_ERROR(WriteFileAtomic(options.state, state));
      }
      table.curves.push_back(std::move(curve));
    }
  }
  std::stable_sort(table.curves.begin(), table.curves.end(),
                   [](const ReplayCurve& a, const ReplayCurve& b) { return a.strategy < b.strategy; });
  return table;
}

}  // namespace cobra::lab
