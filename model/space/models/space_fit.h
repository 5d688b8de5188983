// Fitting the networks of model/space to the rows of one device. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_SPACE_FIT_H_
#define COBRA_MODEL_SPACE_MODELS_SPACE_FIT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model/space/models/space_nets.h"

namespace cobra::space {

struct SpaceRowSet {
  std::vector<int64_t> index;      // into the graphs
  std::vector<double> latency_ms;  // of each
};

// Helpers of every fit. Latencies are scaled by the mean of the training rows.
at::Tensor IndexTensor(const SpaceRowSet& rows);                  // int64 [rows]
double MeanOf(const std::vector<double>& values);                 // 1 if empty
at::Tensor Scaled(const SpaceRowSet& rows, double mean_ms);       // [rows]
at::Tensor PredictAll(const DenseGraphs& graphs, SpaceNet& net);  // [graphs] log-latency, a few hundred at a time
std::vector<double> ToMilliseconds(const at::Tensor& log_latency, double mean_ms);

struct AdditiveFitOptions {
  AdditiveNetOptions net;
  std::function<std::shared_ptr<AdditiveNet>(const AdditiveNetOptions&)> make_net =
      [](const AdditiveNetOptions& options) { return std::make_shared<AdditiveNet>(options); };
  int networks = 4;  // their mean log-latency is the prediction
  int epochs = 150, batch = 32;
  double learning_rate = 2e-3, weight_decay = 1e-2, warmup = 0.03, average_decay = 0.99;
  uint64_t seed = 1;
};

// Networks that were fitted to the same rows with different initial weights.
class AdditiveEnsemble {
 public:
  // The rows' indices refer to `graphs`.
  AdditiveEnsemble(const DenseGraphs& graphs, const SpaceRowSet& train, const AdditiveFitOptions& options);
  AdditiveEnsemble(double mean_ms, std::vector<std::shared_ptr<AdditiveNet>> networks)
      : mean_ms_(mean_ms), networks_(std::move(networks)) {}
  std::vector<double> LatencyMs(const DenseGraphs& graphs) const;
  const std::vector<std::shared_ptr<AdditiveNet>>& networks() const { return networks_; }
  double mean_ms() const { return mean_ms_; }
  int64_t parameters() const;

 private:
  double mean_ms_;
  std::vector<std::shared_ptr<AdditiveNet>> networks_;
};

// Milliseconds of each of `graphs`: fits an ensemble and predicts with it.
std::vector<double> FitAdditive(const DenseGraphs& graphs, const SpaceRowSet& train, const AdditiveFitOptions& options);

int64_t ParametersOf(const torch::nn::Module& module);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_SPACE_FIT_H_
