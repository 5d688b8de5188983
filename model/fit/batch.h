// What training, refitting and evaluating share: tokenized texts, batches, the forward pass and its loss. Shows
// LibTorch; only files of model/train/ and model/space/ include it.
#ifndef COBRA_MODEL_FIT_BATCH_H_
#define COBRA_MODEL_FIT_BATCH_H_

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "model/fit/dataset.h"
#include "model/predict/bundle.h"
#include "model/text/canonical_text.h"

namespace cobra::fit {

// Every distinct layer text of the data set, tokenized once; a sample is a list of text numbers.
class TextTable {
 public:
  TextTable(const std::vector<const Sample*>& samples, const text::Vocabulary& vocabulary) {
    for (const Sample* s : samples) {
      std::vector<int32_t>& ids = of_sample_.emplace_back();
      for (int32_t i = 0; i < static_cast<int32_t>(s->graph.nodes().size()); ++i) {
        const std::string text = text::CanonicalText(s->graph, i);
        auto [it, inserted] = index_.try_emplace(text, static_cast<int32_t>(tokens_.size()));
        if (inserted) tokens_.push_back(vocabulary.Encode(text));
        ids.push_back(it->second);
      }
    }
  }
  const std::vector<int32_t>& TextsOf(size_t sample) const { return of_sample_[sample]; }
  const std::vector<text::Token>& TokensOf(int32_t text) const { return tokens_[text]; }
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }

 private:
  absl::flat_hash_map<std::string, int32_t> index_;
  std::vector<std::vector<text::Token>> tokens_;
  std::vector<std::vector<int32_t>> of_sample_;
};

// Adds every word of the rows to the vocabulary, and widens the ranges of its numbers ({1, 0}: none yet) by them: what
// is unseen in training is unknown when serving.
void ExtendVocabulary(const std::vector<const Sample*>& training, text::Vocabulary* vocabulary,
                      std::vector<std::pair<double, double>>* ranges);

// The tensors of one forward pass over some samples.
struct Batch {
  std::vector<const std::vector<text::Token>*> texts;  // distinct
  at::Tensor text_of_node;                             // int64 [nodes] into them
  net::GraphBatch graphs;
  at::Tensor is_layer;     // [nodes]: 1; 0 for views, which nobody measures alone
  at::Tensor log_latency;  // [graphs]
  at::Tensor node_log;     // [nodes], meaningful where node_weight > 0
  at::Tensor node_weight;  // [nodes]; sums to 1 in a profiled network
};

Batch MakeBatch(const predict::ModelBundle& bundle, const TextTable& texts, const std::vector<const Sample*>& samples,
                absl::Span<const size_t> chosen);

struct Outputs {
  at::Tensor alone;         // [nodes] log-latency of the layer alone
  at::Tensor contribution;  // [nodes] log
  at::Tensor log_total;     // [graphs]
  at::Tensor layer_sum;     // [graphs] microseconds: layers alone, added
};

// `embeddings`: of batch.texts, where they are at hand.
Outputs Forward(net::CobraNet& net, const Batch& batch, const at::Tensor& embeddings = {});

// Quadratic below 5 % so that the last per cent is not fought over noise, linear above. Of logarithms, element by
// element.
at::Tensor LogError(const at::Tensor& a, const at::Tensor& b);
// Log-latency of a layer as the layer head says it, [graphs]. (A graph of views alone has no layer; the clamp keeps its
// logarithm finite.)
at::Tensor LogLayerSum(const Outputs& out);
// Of layers measured alone: the layer head and the graph network, each against what it is taught, log-latency [graphs].
at::Tensor LayerBatchLoss(const Outputs& out, const at::Tensor& taught_sum, const at::Tensor& taught_total);
// Of networks: the whole, and, of a net whose contributions add up, what of each node is known.
at::Tensor NetworkBatchLoss(size_t networks, const Batch& batch, const Outputs& out, bool additive);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_BATCH_H_
