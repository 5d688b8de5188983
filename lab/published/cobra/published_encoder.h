// COBRA's encoder as published, trained once on measured layers and shared by the tables that use
// it. Includes LibTorch headers.
#ifndef COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_ENCODER_H_
#define COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_ENCODER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lab/published/cobra/cobra_published_fit.h"
#include "model/training/rows/dataset.h"

namespace cobra::lab {

class PublishedEncoder {
 public:
  struct Notes {
    int64_t rows = 0, parameters = 0;
    int epochs = 0, fine_tune_epochs = 0;
    double perplexity = 0;  // of masked pieces of parameters of the test rows, after pre-training
    double seconds = 0;     // of training
  };

  // `config`: a file of lab/published/configs; `work`: folder of weights and checkpoints. NotFound
  // without the vocabulary.
  static absl::StatusOr<std::unique_ptr<PublishedEncoder>> Create(const std::string& config,
                                                                  const std::string& vocabulary,
                                                                  const std::string& work);

  // The training rows: the first of `layers` by fingerprint, as many as in the configuration.
  std::vector<const training::Sample*> RowsOf(std::vector<const training::Sample*> layers) const;
  // Trains on RowsOf(train), or loads the result of an earlier call with the same rows and
  // configuration. Without `fine_tune` it ends after pre-training. `test` is used for the
  // perplexity only.
  absl::Status Fit(const std::vector<const training::Sample*>& train,
                   const std::vector<const training::Sample*>& validation,
                   const std::vector<const training::Sample*>& test, bool append_latency, bool fine_tune,
                   uint64_t seed);
  const Notes& notes() const { return notes_; }
  // microseconds. REQUIRES: fitted, fine-tuned
  std::vector<double> Predict(const std::vector<const training::Sample*>& layers);
  at::Tensor Embed(const std::vector<std::string>& texts);  // [texts, width]. REQUIRES: fitted

 private:
  PublishedEncoder(WordPieceVocabulary vocabulary, PublishedEncoderConfig config, std::string config_text,
                   std::string work)
      : vocabulary_(std::move(vocabulary)),
        config_(config),
        config_text_(std::move(config_text)),
        work_(std::move(work)) {}
  absl::Status Load(const std::string& path);
  absl::Status Save(const std::string& path) const;

  const WordPieceVocabulary vocabulary_;
  PublishedEncoderConfig config_;
  const std::string config_text_, work_;
  std::shared_ptr<PublishedNet> net_;
  Notes notes_;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_PUBLISHED_ENCODER_H_
