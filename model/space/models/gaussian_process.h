// A Gaussian process on plain features of architectures, for tables of some hundred rows. It is
// fitted in seconds. With good features it is as accurate as a network that trains for minutes.
// Includes LibTorch headers.
//
// The square root of the latency is modelled as a linear function of `linear`, plus a sum of
// processes whose correlation decreases with the weighted squared distance in each group of
// features, plus noise. Weights, amplitudes and noise maximise the likelihood (Rasmussen and
// Williams, 2006, chapter 5) of a random draw of rows. The prediction is the mean over several such
// draws; each conditions on all rows. Because measurements have outliers, each row's noise is then
// set to its residual, several times (which minimises the absolute error).
#ifndef COBRA_MODEL_SPACE_MODELS_GAUSSIAN_PROCESS_H_
#define COBRA_MODEL_SPACE_MODELS_GAUSSIAN_PROCESS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace cobra::space {

struct GaussianProcessFeatures {
  std::vector<at::Tensor> groups;  // float64 [architectures, numbers] each
  at::Tensor linear;               // float64 [architectures, numbers]; a constant is added

  int64_t size() const { return linear.size(0); }
  GaussianProcessFeatures Select(const at::Tensor& index) const;
  GaussianProcessFeatures Narrow(int64_t begin, int64_t count) const;
};
// features[architecture][group] -> groups; `linear` is group `linear_group`. Each number of the
// first `single_groups` becomes a group with its own weight. All architectures have the same groups
// of the same lengths.
GaussianProcessFeatures MakeGaussianProcessFeatures(const std::vector<std::vector<std::vector<double>>>& features,
                                                    size_t linear_group, size_t single_groups);

struct GaussianProcessOptions {
  int draws = 8;      // draws of rows for the search
  int processes = 3;  // number of processes in the sum
  int steps = 120;    // steps of the search for weights
  // Rows of a draw: the search's time grows with their cube, and many draws are better than large
  // ones.
  int64_t rows = 300;
  int reweightings = 3;  // number of reweightings of the rows by their residuals
  double step_size = 0.15;
  uint64_t seed = 1;  // seed of the draws
};

class GaussianProcess {
 public:
  struct Draw {
    // Logarithms: (weight of each group, amplitude) of each process, amplitude of the line, noise
    // variance.
    at::Tensor theta;
    at::Tensor weights;  // [rows]
  };
  // The fitted state. Together with the training rows' features it restores the process.
  struct State {
    double mean, scale, least;  // of root latency; of latency
    std::vector<Draw> draws;
  };

  // Latencies in any unit, above zero. REQUIRES: one per architecture, at least two.
  GaussianProcess(GaussianProcessFeatures train, const std::vector<double>& latency,
                  const GaussianProcessOptions& options);
  GaussianProcess(GaussianProcessFeatures train, State state);
  State state() const { return {mean_, scale_, least_, draws_}; }
  // In the unit of the latencies; at least a tenth of the smallest training latency.
  std::vector<double> Predict(const GaussianProcessFeatures& asked) const;
  int64_t parameters() const;

 private:
  at::Tensor Search(const at::Tensor& drawn, const GaussianProcessOptions& options) const;  // theta
  at::Tensor Solve(const at::Tensor& theta, int reweightings) const;                        // weights
  at::Tensor Kernel(const GaussianProcessFeatures& a, const GaussianProcessFeatures& b, const at::Tensor& theta) const;

  const GaussianProcessFeatures train_;
  const int processes_;
  double mean_ = 0, scale_ = 1, least_ = 0;  // of root latency; of latency
  at::Tensor root_;                          // [rows]
  std::vector<Draw> draws_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_GAUSSIAN_PROCESS_H_
