// Training of COBRA's encoder as published (section 3, figure 2; appendix A.1.1). Includes LibTorch
// headers.
//
// Two phases. Pre-training: the measured latency is appended to the text, masked pieces are
// predicted (cross-entropy) and so is the log-latency (MSE), the losses added. Fine-tuning: without
// the appended latency. The paper names this phase ("only appended during pre-training, but not for
// fine tuning or for inference") but gives neither loss nor length; ours uses the MSE and the same
// schedule. Adam, no weight decay, the rate times 0.9 an epoch. Masked pieces all become [MASK]
// (the paper does not mention BERT's 80/10/10). Batches are of texts of similar length.
#ifndef COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_FIT_H_
#define COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_FIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lab/published/cobra/cobra_published.h"
#include "lab/published/cobra/published_text.h"

namespace cobra::lab {

struct PublishedExample {
  std::string text;
  double latency_us = 0;
};

struct PublishedFit {
  std::shared_ptr<PublishedNet> net;
  int epochs = 0, fine_tune_epochs = 0;  // that it trained for
  double perplexity = 0;                 // of masked parameter pieces of the test rows, after pre-training
  int64_t parameters = 0;
};

class PublishedTrainer {
 public:
  // `vocabulary` outlives it.
  PublishedTrainer(const WordPieceVocabulary& vocabulary, const PublishedEncoderConfig& config)
      : vocabulary_(vocabulary), config_(config) {}

  // `append_latency` false: without the appended latency (figure 5). `checkpoint`: a file from
  // which an interrupted run resumes; empty: none. `test` is used for the perplexity only.
  absl::StatusOr<PublishedFit> Fit(const std::vector<PublishedExample>& train,
                                   const std::vector<PublishedExample>& validation,
                                   const std::vector<PublishedExample>& test, bool append_latency, uint64_t seed,
                                   const std::string& checkpoint) const;
  // Microseconds of each text.
  std::vector<double> Predict(PublishedNet& net, const std::vector<std::string>& texts) const;
  // [texts, width]: what the graph network reads.
  at::Tensor Embed(PublishedNet& net, const std::vector<std::string>& texts) const;
  // exp of the mean cross-entropy of masked pieces of numbers. Pieces are masked with the
  // configured probability; the same ones for every net.
  double ParameterPerplexity(PublishedNet& net, const std::vector<PublishedExample>& rows, bool append_latency) const;

 private:
  const WordPieceVocabulary& vocabulary_;
  const PublishedEncoderConfig config_;
};

// Which pieces are masked, in the order of the pieces: for tests and for the fit. Never [CLS] or
// [SEP]; `parameters_only`: pieces of numbers only.
std::vector<size_t> DrawMask(const PublishedTokens& tokens, double probability, bool parameters_only, uint64_t seed);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_FIT_H_
