// Code shared by training, refitting and evaluation: tokenized texts, batches, the forward pass and
// its loss. Includes LibTorch headers; only files of model/training/ and lab/ include it.
#ifndef COBRA_MODEL_TRAINING_BATCH_H_
#define COBRA_MODEL_TRAINING_BATCH_H_

#include <torch/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/predict/weights/bundle.h"
#include "model/text/tokenizer.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

// The text of a call -> its words.
using SplitFunction = std::vector<text::RawToken> (*)(absl::string_view text);

// Every distinct layer text of the data set, tokenized once; a sample is a list of text numbers.
class TextTable {
 public:
  TextTable(const std::vector<const Sample*>& samples, const text::Vocabulary& vocabulary,
            SplitFunction split = text::SplitText);
  const std::vector<int32_t>& TextsOf(size_t sample) const { return of_graph_[graph_of_sample_[sample]]; }
  const std::vector<text::Token>& TokensOf(int32_t text) const { return tokens_[text]; }
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }

 private:
  absl::flat_hash_map<std::string, int32_t> index_;
  std::vector<std::vector<text::Token>> tokens_;
  std::vector<std::vector<int32_t>> of_graph_;
  std::vector<size_t> graph_of_sample_;  // samples of several targets have copies of a graph
};

// Adds every word of the rows to the vocabulary, and extends the ranges of its numbers ({1, 0}:
// none yet). Words and numbers outside are unknown when serving.
void ExtendVocabulary(const std::vector<const Sample*>& training, SplitFunction split, text::Vocabulary* vocabulary,
                      std::vector<std::pair<double, double>>* ranges);

// The tensors of one forward pass over some samples.
struct Batch {
  std::vector<const std::vector<text::Token>*> texts;                   // distinct
  std::vector<int32_t> numbers;                                         // likewise, in the TextTable
  at::Tensor text_of_node;                                              // int64 [nodes] into them
  std::vector<std::unique_ptr<std::vector<text::Token>>> hidden_texts;  // texts that are not in a TextTable
  net::GraphBatch graphs;
  at::Tensor is_layer;     // [nodes]: 1; 0 for views, which are not measured alone
  at::Tensor log_latency;  // [graphs]
  at::Tensor node_log;     // [nodes], meaningful where node_weight > 0
  at::Tensor node_weight;  // [nodes]; sums to 1 in a profiled network
  at::Tensor row_weight;   // [graphs]
};

// The target of each sample is its own (Sample::target).
constexpr int kOwnTarget = -1;

Batch MakeBatch(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                absl::Span<const size_t> chosen, int target = kOwnTarget);
// Each on its own target.
Batch MakeBatch(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                absl::Span<const size_t> chosen, const std::vector<int>& targets);

// Of the tensors of a batch to where the networks are.
void MoveTo(c10::Device device, Batch* batch);

struct Outputs {
  at::Tensor alone;         // [nodes] log-latency of the layer alone
  at::Tensor contribution;  // [nodes] log
  at::Tensor log_total;     // [graphs]
  at::Tensor layer_sum;     // [graphs] microseconds: layers alone, added
};

// `embeddings`: of batch.texts, if they are available.
Outputs Forward(net::CobraNet& net, const Batch& batch, const at::Tensor& embeddings = {});

// Loss of two log-latencies, element by element: quadratic below 5 %, where differences are mostly
// noise, and linear above.
at::Tensor LogLatencyLoss(const at::Tensor& a, const at::Tensor& b);
// Log-latency of a layer by the layer head, [graphs]. (A graph of views alone has no layer; the
// clamp keeps its logarithm finite.)
at::Tensor LogLayerSum(const Outputs& out);
// Loss of layers measured alone: the layer head and the graph network, each against its target,
// log-latency [graphs].
at::Tensor LayerBatchLoss(const Batch& batch, const Outputs& out, const at::Tensor& layer_target,
                          const at::Tensor& network_target);
// Loss of networks: their latencies, and the contributions of the profiled nodes.
at::Tensor NetworkBatchLoss(const Batch& batch, const Outputs& out);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_BATCH_H_
