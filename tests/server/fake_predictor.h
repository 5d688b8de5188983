#ifndef COBRA_TESTS_SERVER_FAKE_PREDICTOR_H_
#define COBRA_TESTS_SERVER_FAKE_PREDICTOR_H_

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "model/predict/predictor.h"

namespace cobra::server {

// Assigned by a test, called by the server's threads.
class DuringPredict {
  using Function = std::function<void(const std::function<bool()>& cancelled)>;

 public:
  DuringPredict& operator=(Function function) {
    absl::MutexLock lock(&mutex_);
    function_ = std::move(function);
    return *this;
  }
  void operator()(const std::function<bool()>& cancelled) const {
    Function function;
    {
      absl::MutexLock lock(&mutex_);
      function = function_;
    }
    if (function) function(cancelled);
  }

 private:
  mutable absl::Mutex mutex_;
  Function function_ ABSL_GUARDED_BY(mutex_);
};

// Every call takes `us_per_call`; calibration multiplies by two.
class FakePredictor : public predict::Predictor {
 public:
  explicit FakePredictor(std::string version, double us_per_call = 10) : us_per_call_(us_per_call) {
    info_.version = version;
    info_.sha256 = "sha of " + version;
    targets_[0].spec.name = "cpu";
    targets_[0].errors.network_mape = 0.07;
  }

  const predict::ModelInfo& info() const override { return info_; }
  const std::vector<predict::TargetInfo>& targets() const override { return targets_; }
  absl::StatusOr<predict::LatencyPrediction> Predict(const graph::Graph& graph, absl::string_view,
                                                     const predict::Calibration* calibration,
                                                     const std::function<bool()>& cancelled) const override {
    during_predict(cancelled);
    if (cancelled && cancelled()) return absl::CancelledError("cancelled");
    ++calls;
    predict::LatencyPrediction prediction;
    prediction.node_latency_us.assign(graph.nodes().size(), us_per_call_ * (calibration != nullptr ? 2 : 1));
    for (double us : prediction.node_latency_us) prediction.latency_us += us;
    prediction.low_us = prediction.latency_us * 0.9;
    prediction.high_us = prediction.latency_us * 1.1;
    prediction.confidence = knows_sigmoid ? 1 : 0.5;
    prediction.extrapolating = !knows_sigmoid;
    for (const graph::Node& node : graph.nodes())
      prediction.node_unknown.push_back(knows_sigmoid || node.op != graph::Op::sigmoid ? ""
                                                                                       : "sigmoid was never measured");
    for (int i = 0; i < reasons; ++i) {
      prediction.unknown.reserve(8);  // more than is used, as where parts were left out
      prediction.unknown.push_back({"reason " + std::to_string(i) + ", which is longer than a short string", 0.1});
    }
    return prediction;
  }
  absl::StatusOr<predict::Calibration> Calibrate(const predict::ProbeResult& probe,
                                                 const std::function<bool()>&) const override {
    ++fits;
    predict::Calibration calibration;
    calibration.machine = probe.machine;
    calibration.base_target = "cpu";
    calibration.model_sha256 = info_.sha256;
    return calibration;
  }
  absl::StatusOr<predict::Calibration> Adapt(const predict::TargetSpec& machine,
                                             absl::Span<const store::TimedNetwork> samples,
                                             const predict::AdaptOptions&) const override {
    ++fits;
    for (const store::TimedNetwork& sample : samples) {
      if (sample.name == refused_sample) return absl::InvalidArgumentError(absl::StrCat(sample.name, ": is unlike it"));
    }
    predict::Calibration calibration;
    calibration.machine = machine;
    calibration.base_target = "cpu";
    calibration.model_sha256 = info_.sha256;
    calibration.samples = static_cast<int>(samples.size());
    return calibration;
  }
  absl::StatusOr<std::vector<size_t>> Suggest(const predict::TargetSpec&, predict::Adapter::NextNetwork next,
                                              size_t count, const predict::AdaptOptions&) const override {
    std::vector<size_t> first;
    for (size_t position = 0;; ++position) {
      const auto network = next();
      if (!network.ok()) return network.status();
      if (!network->has_value()) return first;
      if (first.size() < count) first.push_back(position);
    }
  }
  CacheStats embedding_cache_stats() const override { return {}; }
  void ClearEmbeddingCache() const override {}

  mutable std::atomic<int> calls{0}, fits{0};
  bool knows_sigmoid = true;
  int reasons = 0;               // why a whole network is unknown
  std::string refused_sample;    // of those that a target is adapted to: "row a"
  DuringPredict during_predict;  // makes it slow

 private:
  predict::ModelInfo info_;
  std::vector<predict::TargetInfo> targets_{1};
  const double us_per_call_;
};

// One relu measured: the smallest probe there can be. By default it takes as long as the fake
// predicts for it on a calibrated target.
inline std::string SmallProbeJson(double relu_us = 20) {
  return absl::StrReplaceAll(
      R"({"machine": {"name": "this-machine", "device": "Test CPU", "kind": "cpu", "runtime": "libtorch"}, "records": [
    {"latency_us": RELU_US, "is_network": false, "graph": {"inputs": [{"name": "x", "shape": [1, 4], "dtype": "float32"}],
     "ops": [{"op": "relu", "inputs": ["in:0"], "out": [[1, 4]], "attrs": {}}], "output": [0]}}]})",
      {{"RELU_US", absl::StrCat(relu_us)}});
}

}  // namespace cobra::server

#endif  // COBRA_TESTS_SERVER_FAKE_PREDICTOR_H_
