// SharedGraphNet of model/net/shared_graph_net.h at inference. What is computed of a call depends
// on the target and on the calls around it, as far as there are rounds of messages; only the last
// step knows the network. So a caller may keep all other steps from one network to the next.
#ifndef COBRA_MODEL_INFER_SHARED_CONTRIBUTIONS_H_
#define COBRA_MODEL_INFER_SHARED_CONTRIBUTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/infer/contributions.h"
#include "model/infer/layer_prices.h"
#include "model/infer/linear.h"
#include "model/net/config.h"

namespace cobra::infer {

// What follows from a target by itself.
struct SharedTargetTerms {
  std::vector<float> features;  // its specification, its learned vector
  PriceTerms prices;
  std::vector<float> context, whole;  // padded like the states
  std::vector<Norm> norms;            // of each round, with the target's gains
  Norm last_norm;
  double run_us = 0;  // of a run besides its calls
};

// A call before a round of messages, on a target.
struct CallState {
  float log_us_alone = 0;     // as a network by itself
  std::vector<float> values;  // [4, stride]: its state, and what it sends to itself, along and against the data flow
};

// A call after all rounds: what it takes, but for what follows from the network as a whole.
struct Neighbourhood {
  float log_us_alone = 0, log_us = 0;
  std::vector<float> values;  // [2, stride]: its state, and the last hidden layer without gain and shift
};

// The neighbours in the order of the edges: sums of floats depend on their order.
struct CallAmongNeighbours {
  const CallState* call = nullptr;
  std::vector<const CallState*> sources, readers;
};

// A network. The views must outlive the call that takes it.
struct SharedNetwork {
  absl::Span<const int32_t> layer_of_call;                // index into `layers`
  absl::Span<const float* const> layers;                  // embeddings [width] of the different layers
  absl::Span<const int32_t> neighbourhood_of_call;        // index into `neighbourhoods`
  absl::Span<const Neighbourhood* const> neighbourhoods;  // for the target
  absl::Span<const float> graph_features;                 // [graph_features]
};

class SharedContributionNet {
 public:
  static absl::StatusOr<SharedContributionNet> Create(const Tensors& tensors, const net::NetConfig& config,
                                                      int64_t num_targets);

  // `spec_features`: ContributionNet::TermsOf.
  SharedTargetTerms TermsOf(absl::Span<const float> spec_features, int64_t target) const;
  int rounds() const { return static_cast<int>(convolutions_.size()); }
  // Before the first round. `work`: [layers, work_terms], logarithms.
  std::vector<CallState> Before(absl::Span<const float* const> layers, absl::Span<const float> work,
                                const SharedTargetTerms& target) const;
  // After a round, from 0, which is not the last.
  std::vector<CallState> After(int round, absl::Span<const CallAmongNeighbours> calls,
                               const SharedTargetTerms& target) const;
  std::vector<Neighbourhood> AfterLast(absl::Span<const CallAmongNeighbours> calls,
                                       const SharedTargetTerms& target) const;
  NetworkContributions Contribute(const SharedNetwork& network, const SharedTargetTerms& target) const;

 private:
  struct Convolution {
    Norm norm;
    Linear self, along, against, out, target_gain;
  };

  // Of states, [calls, stride]: what they send in a round.
  std::vector<CallState> WithMessages(int round, const std::vector<float>& states, absl::Span<const float> log_us_alone,
                                      const SharedTargetTerms& target) const;
  // [calls, stride]: the states after a round.
  std::vector<float> StatesAfter(int round, absl::Span<const CallAmongNeighbours> calls) const;
  // By how much the network as a whole changes the logarithms: of each neighbourhood.
  std::vector<float> WholeChanges(const SharedNetwork& network, const std::vector<int32_t>& counts,
                                  const SharedTargetTerms& target) const;

  int64_t width_ = 0, stride_ = 0;
  Table target_vectors_;
  LayerPrices prices_;
  Linear input_, alone_, target_, run_, out_, out_gain_;
  std::vector<Convolution> convolutions_;
  Norm norm_;
  Linear totals_, whole_target_, mean_, weighted_, gain_, shift_, late_, late_out_;
};

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_SHARED_CONTRIBUTIONS_H_
