// Embeddings of layers, data flow and target to the contribution of each call: GlobalGraphNet of
// model/net/graph_net.h at inference.
#ifndef COBRA_MODEL_INFER_CONTRIBUTIONS_H_
#define COBRA_MODEL_INFER_CONTRIBUTIONS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/infer/layer_prices.h"
#include "model/infer/linear.h"
#include "model/net/config.h"

namespace cobra::infer {

// What follows from a target by itself.
struct TargetTerms {
  std::vector<float> features;  // its specification, its learned vector
  PriceTerms prices;
  std::vector<float> context;  // of the graph network, padded like the states
  std::vector<Norm> norms;     // of each convolution, with the target's gains
  Norm last_norm;
  double run_us = 0;  // of a run besides its calls
};

// What follows from a layer and a target: the same in every network.
struct PricedLayer {
  float log_us = 0;          // as a network by itself
  std::vector<float> state;  // in the graph network, before the network's totals are added; padded
};

// A network. The views must outlive the call that takes it. Calls of one layer share their states,
// as far as they have the same neighbours: repeated blocks cost less, and no bit changes.
struct Network {
  absl::Span<const int32_t> layer_of_call;              // index into `layers`
  absl::Span<const float* const> layers;                // embeddings [width] of the different layers
  absl::Span<const PricedLayer* const> priced;          // likewise, for the target
  absl::Span<const std::pair<int32_t, int32_t>> edges;  // from call to call
  absl::Span<const float> graph_features;               // [graph_features]
};

struct NetworkContributions {
  std::vector<float> log_us;        // one per call
  std::vector<float> log_us_alone;  // likewise, as a network by itself
  std::vector<float> mean;          // mean embedding [width], calls weighted by their shares
};

// Adds a run's own time to the contributions of its calls, by their shares, and sets the mean.
// `layers`: embeddings [width] of the different layers.
void AddRun(absl::Span<const int32_t> layer_of_call, absl::Span<const float* const> layers, int64_t width,
            double run_us, NetworkContributions* contributions);

class ContributionNet {
 public:
  static absl::StatusOr<ContributionNet> Create(const Tensors& tensors, const net::NetConfig& config,
                                                int64_t num_targets);

  // `spec_features`: of the target's specification (model/predict/work/features.h), to which its
  // learned vector is added.
  TargetTerms TermsOf(absl::Span<const float> spec_features, int64_t target) const;
  // `work`: [layers, work_terms], logarithms.
  std::vector<PricedLayer> Price(absl::Span<const float* const> layers, absl::Span<const float> work,
                                 const TargetTerms& target) const;
  NetworkContributions Contribute(const Network& network, const TargetTerms& target) const;

 private:
  struct Convolution {
    Norm norm;
    Linear self, along, against, global, out, target_gain;
  };

  struct States;  // of the calls, at one depth

  void Convolve(const Convolution& convolution, const Norm& norm, States* states) const;

  int64_t width_ = 0, stride_ = 0, graph_stride_ = 0, graph_features_ = 0;
  Table target_vectors_;
  int64_t learned_ = 0;  // features in target_vectors_
  LayerPrices prices_;
  // The graph network.
  Linear input_, alone_, target_, graph_, run_, out_, out_gain_;
  std::vector<Convolution> convolutions_;
  Norm norm_;
};

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_CONTRIBUTIONS_H_
