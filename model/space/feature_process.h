// A Gaussian process on plain features of architectures, for tables of some hundred rows: fitted in seconds, and where
// the features say what matters as good as a network that trains for minutes. Shows LibTorch.
//
// The square root of the latency is a line in `linear`, plus a sum of processes whose correlation falls with the
// weighted squared distance in each group of features, plus noise. Weights, amplitudes and noise maximise the
// likelihood (Rasmussen and Williams, 2006, chapter 5) of rows drawn for it; the answer is the mean over some such
// draws, each of which has seen all rows but for that. Measurements have outliers, so that each row's noise is then
// raised to what it is off by, a few times over (so that the absolute error is what is minimised).
#ifndef COBRA_MODEL_SPACE_FEATURE_PROCESS_H_
#define COBRA_MODEL_SPACE_FEATURE_PROCESS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace cobra::space {

struct ProcessFeatures {
  std::vector<at::Tensor> groups;  // float64 [architectures, numbers] each
  at::Tensor linear;               // float64 [architectures, numbers]; a constant is added

  int64_t size() const { return linear.size(0); }
  ProcessFeatures Select(const at::Tensor& index) const;
  ProcessFeatures Narrow(int64_t begin, int64_t count) const;
};
// features[architecture][group] -> groups; `linear` is group `linear_group`. Each number of the first `single_groups`
// becomes a group, so that it has a weight of its own. All architectures have the same groups of the same lengths.
ProcessFeatures MakeProcessFeatures(const std::vector<std::vector<std::vector<double>>>& features, size_t linear_group,
                                    size_t single_groups);

struct ProcessOptions {
  int draws = 8;         // of rows for the search
  int processes = 3;     // that are added
  int steps = 120;       // of the search for weights
  int64_t rows = 300;    // of a draw: the search's time grows with their cube, and many draws do better than large ones
  int reweightings = 3;  // of the rows, by what they are off by
  double step_size = 0.15;
  uint64_t seed = 1;  // of the draws
};

class FeatureProcess {
 public:
  struct Draw {
    // Logarithms: (weight of each group, amplitude) of each process, amplitude of the line, noise variance.
    at::Tensor theta;
    at::Tensor weights;  // [rows]
  };
  // What has been fitted; with the training rows' features it is the process again.
  struct State {
    double mean, scale, least;  // of root latency; of latency
    std::vector<Draw> draws;
  };

  // Latencies in any unit, above zero. REQUIRES: as many as there are architectures, two at least.
  FeatureProcess(ProcessFeatures train, const std::vector<double>& latency, const ProcessOptions& options);
  FeatureProcess(ProcessFeatures train, State state);
  State state() const { return {mean_, scale_, least_, draws_}; }
  // In the unit of the latencies; at least a tenth of the smallest seen.
  std::vector<double> Predict(const ProcessFeatures& asked) const;
  int64_t parameters() const;

 private:
  at::Tensor Search(const at::Tensor& drawn, const ProcessOptions& options) const;  // theta
  at::Tensor Solve(const at::Tensor& theta, int reweightings) const;                // weights
  at::Tensor Kernel(const ProcessFeatures& a, const ProcessFeatures& b, const at::Tensor& theta) const;

  const ProcessFeatures train_;
  const int processes_;
  double mean_ = 0, scale_ = 1, least_ = 0;  // of root latency; of latency
  at::Tensor root_;                          // [rows]
  std::vector<Draw> draws_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_FEATURE_PROCESS_H_
