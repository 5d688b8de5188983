#include "lab/published/cobra/published_encoder.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/net/safetensors.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

std::vector<PublishedExample> ExamplesOf(const std::vector<const training::Sample*>& layers) {
  std::vector<PublishedExample> examples;
  for (const training::Sample* s : layers) examples.push_back({PublishedText(s->graph()), s->latency_us()});
  return examples;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PublishedEncoder>> PublishedEncoder::Create(const std::string& config,
                                                                           const std::string& vocabulary,
                                                                           const std::string& work) {
  COBRA_ASSIGN_OR_RETURN(WordPieceVocabulary pieces, WordPieceVocabulary::Load(vocabulary));
  COBRA_ASSIGN_OR_RETURN(const PublishedEncoderConfig sizes, LoadEncoderConfig(config));
  COBRA_ASSIGN_OR_RETURN(std::string text, ReadFile(config));
  return std::unique_ptr<PublishedEncoder>(new PublishedEncoder(std::move(pieces), sizes, std::move(text), work));
}

std::vector<const training::Sample*> PublishedEncoder::RowsOf(std::vector<const training::Sample*> layers) const {
  std::sort(layers.begin(), layers.end(),
            [](const training::Sample* a, const training::Sample* b) { return a->fingerprint() < b->fingerprint(); });
  if (config_.rows > 0 && layers.size() > static_cast<size_t>(config_.rows))
    layers.resize(static_cast<size_t>(config_.rows));
  return layers;
}

absl::Status PublishedEncoder::Fit(const std::vector<const training::Sample*>& train,
                                   const std::vector<const training::Sample*>& validation,
                                   const std::vector<const training::Sample*>& test, bool append_latency,
                                   bool fine_tune, uint64_t seed) {
  const std::vector<const training::Sample*> rows = RowsOf(train);
  std::string identity = absl::StrCat(config_text_, append_latency, fine_tune, seed);
  for (const training::Sample* s : rows) absl::StrAppend(&identity, s->fingerprint(), s->latency_us());
  const std::string path = absl::StrCat(work_, "/published-", HashBytes(identity).ToHex().substr(0, 16));
  if (FileExists(path + ".json")) return Load(path);
  PublishedEncoderConfig config = config_;
  if (!fine_tune) config.fine_tune_epochs = 0;
  const absl::Time start = absl::Now();
  // Validation rows only decide when to stop: a tenth of the training rows is enough.
  std::vector<const training::Sample*> held_out = validation;
  if (held_out.size() > rows.size() / 10 + 32) held_out.resize(rows.size() / 10 + 32);
  COBRA_ASSIGN_OR_RETURN(PublishedFit fit, PublishedTrainer(vocabulary_, config)
                                               .Fit(ExamplesOf(rows), ExamplesOf(held_out), ExamplesOf(test),
                                                    append_latency, seed, path + ".checkpoint"));
  net_ = fit.net;
  notes_ = {static_cast<int64_t>(rows.size()),         fit.parameters, fit.epochs, fit.fine_tune_epochs, fit.perplexity,
            absl::ToDoubleSeconds(absl::Now() - start)};
  COBRA_RETURN_IF_ERROR(Save(path));
  for (const char* phase : {".checkpoint.pre", ".checkpoint.fine"}) std::remove((path + phase).c_str());
  return absl::OkStatus();
}

absl::Status PublishedEncoder::Save(const std::string& path) const {
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(path + ".safetensors", net::SaveTensors(*net_)));
  const nlohmann::json j = {{"rows", notes_.rows},
                            {"parameters", notes_.parameters},
                            {"epochs", notes_.epochs},
                            {"fine_tune_epochs", notes_.fine_tune_epochs},
                            {"perplexity", notes_.perplexity},
                            {"seconds", notes_.seconds}};
  return WriteFileAtomic(path + ".json", j.dump(1));
}

absl::Status PublishedEncoder::Load(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string tensors, ReadFile(path + ".safetensors"));
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(path + ".json"));
  const nlohmann::json j = ParseJson<nlohmann::json>(text);
  if (!j.is_object())
    return absl::DataLossError(absl::StrCat(path, ".json: is not a JSON object; remove it to train again"));
  notes_ = {j.value("rows", int64_t{0}),    j.value("parameters", int64_t{0}), j.value("epochs", 0),
            j.value("fine_tune_epochs", 0), j.value("perplexity", 0.0),        j.value("seconds", 0.0)};
  net_ = std::make_shared<PublishedNet>(config_, vocabulary_.size());
  return net::LoadTensors(tensors, net_.get());
}

std::vector<double> PublishedEncoder::Predict(const std::vector<const training::Sample*>& layers) {
  std::vector<std::string> texts;
  for (const training::Sample* s : layers) texts.push_back(PublishedText(s->graph()));
  return PublishedTrainer(vocabulary_, config_).Predict(*net_, texts);
}

at::Tensor PublishedEncoder::Embed(const std::vector<std::string>& texts) {
  return PublishedTrainer(vocabulary_, config_).Embed(*net_, texts);
}

}  // namespace cobra::lab
