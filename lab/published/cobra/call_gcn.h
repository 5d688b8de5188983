// Graph networks over whole networks: COBRA's (section 3, equation 1; a mean over the calls),
// BRP-NAS and BRP-NAS++ as COBRA compares with them (a global node that every call flows into, read
// out there; Dudziak et al., 2020). The caller chooses the features of a call. Includes LibTorch
// headers.
//
// Equation 1 has the bare adjacency matrix, which would drop a call's own features. Ours adds the
// identity, as BRP-NAS and the cited Kipf and Welling do.
#ifndef COBRA_LAB_PUBLISHED_COBRA_CALL_GCN_H_
#define COBRA_LAB_PUBLISHED_COBRA_CALL_GCN_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "lab/published/cobra/published_config.h"

namespace cobra::lab {

// Networks whose calls share rows of a table: most calls are in many networks.
struct CallGraphs {
  at::Tensor rows;  // [descriptions, inputs]
  struct Network {
    std::vector<int64_t> row_of_call;
    std::vector<std::pair<int32_t, int32_t>> edges;  // data flows from first to second
  };
  std::vector<Network> networks;
};

// A batch of networks; calls are numbered through all of them.
struct CallBatch {
  at::Tensor features;               // [calls, inputs]
  at::Tensor sources, destinations;  // int64 [edges]
  at::Tensor network_of_call;        // int64 [calls], ascending
  at::Tensor calls_per_network;      // [networks]
};
CallBatch MakeCallBatch(const CallGraphs& graphs, absl::Span<const size_t> chosen);

class CallGcn : public torch::nn::Module {
 public:
  CallGcn(const CallGcnConfig& config, int64_t inputs);
  // [networks]: latency over the scale that it is trained with; may be negative early in training.
  at::Tensor Latency(const CallBatch& batch);

 private:
  const CallGcnConfig config_;
  std::vector<torch::nn::Linear> weights_;
  std::vector<torch::nn::LayerNorm> norms_;
  torch::nn::Dropout dropout_;
  torch::nn::Linear out_;
  at::Tensor global_;  // [1, inputs]: initial features of the global node
};

struct NetworkRows {
  std::vector<size_t> index;       // into CallGraphs::networks
  std::vector<double> latency_us;  // of each
};
struct CallGcnFit {
  std::vector<double> latency_us;  // of every network
  int epochs = 0;                  // that it trained for
  int64_t parameters = 0;
};
// Adam on the mean absolute percentage error; the weights with the best validation error are kept
// (the paper trains a fixed number of epochs on training and validation rows together, which takes
// hours on a processor).
CallGcnFit FitCallGcn(const CallGraphs& graphs, const NetworkRows& train, const NetworkRows& validation,
                      const CallGcnConfig& config, uint64_t seed);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_CALL_GCN_H_
