#include "lab/published/cobra/cobra_published_fit.h"

#include <torch/types.h>

// These headers need the names of torch/types.h.
#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adam.h>
#include <torch/serialize.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/log.h"

namespace cobra::lab {
namespace {

constexpr uint64_t kHeldOutSeed = 1;  // of the masks with which networks are compared

// A batch of texts, padded to the longest.
struct TokenBatch {
  at::Tensor ids, keep;     // [batch, tokens]
  at::Tensor place, piece;  // int64 [masked]: index in the flattened batch, the masked piece
  at::Tensor log_latency;   // [batch]
};

// All texts of a set, tokenized, with and without the appended latency.
struct TokenRows {
  std::vector<PublishedTokens> tokens;
  std::vector<double> log_latency;
};

TokenRows Tokenize(const WordPieceVocabulary& vocabulary, const std::vector<PublishedExample>& rows,
                   bool append_latency, int64_t max_tokens) {
  TokenRows out;
  for (const PublishedExample& row : rows) {
    out.tokens.push_back(
        TokenizePublished(vocabulary, row.text, append_latency ? AppendedLatency(row.latency_us) : "", max_tokens));
    out.log_latency.push_back(std::log(std::max(row.latency_us, 1e-3)));
  }
  return out;
}

enum class Masking { kNone, kAll, kParameters };

TokenBatch MakeTokenBatch(const WordPieceVocabulary& vocabulary, const TokenRows& rows, absl::Span<const size_t> chosen,
                          Masking masking, double probability, uint64_t seed) {
  size_t longest = 1;
  for (size_t r : chosen) longest = std::max(longest, rows.tokens[r].ids.size());
  const auto n = static_cast<int64_t>(chosen.size()), length = static_cast<int64_t>(longest);
  TokenBatch batch;
  batch.ids = at::full({n, length}, static_cast<int64_t>(vocabulary.pad()), at::kLong);
  batch.keep = at::zeros({n, length});
  batch.log_latency = at::zeros({n});
  auto* ids = batch.ids.data_ptr<int64_t>();
  auto* keep = batch.keep.data_ptr<float>();
  std::vector<int64_t> place, piece;
  for (int64_t i = 0; i < n; ++i) {
    const size_t row = chosen[static_cast<size_t>(i)];
    const PublishedTokens& tokens = rows.tokens[row];
    for (size_t t = 0; t < tokens.ids.size(); ++t) {
      ids[i * length + static_cast<int64_t>(t)] = tokens.ids[t];
      keep[i * length + static_cast<int64_t>(t)] = 1;
    }
    batch.log_latency.data_ptr<float>()[i] = static_cast<float>(rows.log_latency[row]);
    if (masking == Masking::kNone) continue;
    for (size_t t : DrawMask(tokens, probability, masking == Masking::kParameters, seed * 1000003 + row)) {
      place.push_back(i * length + static_cast<int64_t>(t));
      piece.push_back(tokens.ids[t]);
      ids[place.back()] = vocabulary.mask();
    }
  }
  batch.place = at::tensor(place, at::kLong);
  batch.piece = at::tensor(piece, at::kLong);
  return batch;
}

// Batches of rows of similar length, in random order.
std::vector<std::vector<size_t>> Batches(const TokenRows& rows, int size, std::mt19937_64* random) {
  std::vector<size_t> order(rows.tokens.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (random != nullptr) std::shuffle(order.begin(), order.end(), *random);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rows.tokens[a].ids.size() < rows.tokens[b].ids.size(); });
  std::vector<std::vector<size_t>> batches;
  for (size_t begin = 0; begin < order.size(); begin += static_cast<size_t>(size)) {
    const size_t end = std::min(order.size(), begin + static_cast<size_t>(size));
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(begin),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  if (random != nullptr) std::shuffle(batches.begin(), batches.end(), *random);
  return batches;
}

// Sum of the cross-entropies of the masked pieces.
at::Tensor PieceLoss(PublishedNet& net, const TokenBatch& batch, const at::Tensor& tokens) {
  const at::Tensor masked = tokens.reshape({-1, tokens.size(2)}).index_select(0, batch.place);
  const at::Tensor log_share = at::log_softmax(net.PieceScores(masked), -1);
  return -log_share.gather(1, batch.piece.unsqueeze(1)).sum();
}

// One phase: pre-training with masks, or fine-tuning without.
class Phase {
 public:
  Phase(const WordPieceVocabulary& vocabulary, const PublishedEncoderConfig& config, PublishedNet& net, TokenRows train,
        TokenRows validation, bool pre_training, uint64_t seed, std::string checkpoint)
      : vocabulary_(vocabulary),
        config_(config),
        net_(net),
        train_(std::move(train)),
        validation_(std::move(validation)),
        pre_training_(pre_training),
        seed_(seed),
        checkpoint_(std::move(checkpoint)),
        optimizer_(net.parameters(), torch::optim::AdamOptions(config.learning_rate)) {}

  // Returns how many epochs it trained. The weights with the best validation loss are kept.
  int Run() {
    const int most = pre_training_ ? config_.epochs : config_.fine_tune_epochs;
    int epoch = Resume();
    for (; epoch < most && since_best_ < config_.stall && Rate(epoch) >= config_.least_rate; ++epoch) {
      const absl::Time start = absl::Now();
      const double loss = Epoch(epoch), held_out = HeldOutLoss();
      ++since_best_;
      if (held_out < best_) {
        best_ = held_out;
        since_best_ = 0;
        Keep();
      }
      LogInfo(absl::StrFormat("published encoder, %s, epoch %d: loss %.3f, validation %.3f (%.1f s)",
                              pre_training_ ? "pre-training" : "fine-tuning", epoch + 1, loss, held_out,
                              absl::ToDoubleSeconds(absl::Now() - start)));
      Checkpoint(epoch + 1);
    }
    at::NoGradGuard no_grad;
    const auto parameters = net_.parameters();
    for (size_t i = 0; i < kept_.size(); ++i) at::Tensor(parameters[i]).copy_(kept_[i]);
    return epoch;
  }

 private:
  double Rate(int epoch) const { return config_.learning_rate * std::pow(config_.rate_decay, epoch); }

  at::Tensor Loss(const TokenBatch& batch) {
    const at::Tensor tokens = net_.Tokens(batch.ids, batch.keep);
    at::Tensor latency = at::mse_loss(net_.LogLatency(PublishedNet::Pool(tokens, batch.keep)), batch.log_latency);
    if (!pre_training_ || batch.place.numel() == 0) return latency;
    return latency + PieceLoss(net_, batch, tokens) / batch.place.numel();
  }

  double Epoch(int epoch) {
    // Masks and order depend on the epoch only, so that a resumed run equals an uninterrupted one.
    std::mt19937_64 random(seed_ * 7919 + static_cast<uint64_t>(epoch));
    torch::manual_seed(seed_ * 7919 + static_cast<uint64_t>(epoch));
    for (auto& group : optimizer_.param_groups())
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(Rate(epoch));
    net_.train();
    double total = 0;
    const auto batches = Batches(train_, config_.batch, &random);
    for (const auto& chosen : batches) {
      const TokenBatch batch = MakeTokenBatch(vocabulary_, train_, chosen,
                                              pre_training_ ? Masking::kAll : Masking::kNone, config_.mask, random());
      optimizer_.zero_grad();
      const at::Tensor loss = Loss(batch);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net_.parameters(), config_.clip);
      optimizer_.step();
      total += loss.item<double>();
    }
    return total / static_cast<double>(std::max<size_t>(1, batches.size()));
  }

  double HeldOutLoss() {
    at::NoGradGuard no_grad;
    net_.eval();
    double total = 0, rows = 0;
    for (const auto& chosen : Batches(validation_, config_.batch, nullptr)) {
      const TokenBatch batch = MakeTokenBatch(
          vocabulary_, validation_, chosen, pre_training_ ? Masking::kAll : Masking::kNone, config_.mask, kHeldOutSeed);
      total += Loss(batch).item<double>() * static_cast<double>(chosen.size());
      rows += static_cast<double>(chosen.size());
    }
    return total / std::max(1.0, rows);
  }

  void Keep() {
    kept_.clear();
    for (const at::Tensor& p : net_.parameters()) kept_.push_back(p.detach().clone());
  }

  void Checkpoint(int epoch) {
    if (checkpoint_.empty()) return;
    torch::serialize::OutputArchive archive, moments;
    archive.write("epoch", at::full({}, epoch, at::kLong), /*is_buffer=*/true);
    archive.write("since_best", at::full({}, since_best_, at::kLong), true);
    archive.write("best", at::full({}, best_, at::kDouble), true);
    const auto parameters = net_.parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      archive.write(absl::StrCat("p", i), parameters[i].detach(), true);
      if (!kept_.empty()) archive.write(absl::StrCat("k", i), kept_[i], true);
    }
    optimizer_.save(moments);
    archive.write("optimizer", moments);
    const std::string partial = checkpoint_ + ".partial";
    archive.save_to(partial);
    std::rename(partial.c_str(), checkpoint_.c_str());
  }

  // Returns the epoch at which to resume; 0 without a checkpoint.
  int Resume() {
    if (checkpoint_.empty() || !FileExists(checkpoint_)) return 0;
    torch::serialize::InputArchive archive, moments;
    archive.load_from(checkpoint_);
    at::NoGradGuard no_grad;
    at::Tensor epoch, since_best, best, value;
    archive.read("epoch", epoch, true);
    archive.read("since_best", since_best, true);
    archive.read("best", best, true);
    since_best_ = static_cast<int>(since_best.item<int64_t>());
    best_ = best.item<double>();
    const auto parameters = net_.parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      archive.read(absl::StrCat("p", i), value, true);
      at::Tensor(parameters[i]).copy_(value);
      at::Tensor kept;
      if (archive.try_read(absl::StrCat("k", i), kept, true)) kept_.push_back(kept);
    }
    archive.read("optimizer", moments);
    optimizer_.load(moments);
    return static_cast<int>(epoch.item<int64_t>());
  }

  const WordPieceVocabulary& vocabulary_;
  const PublishedEncoderConfig& config_;
  PublishedNet& net_;
  const TokenRows train_, validation_;
  const bool pre_training_;
  const uint64_t seed_;
  const std::string checkpoint_;
  torch::optim::Adam optimizer_;
  std::vector<at::Tensor> kept_;
  double best_ = std::numeric_limits<double>::infinity();
  int since_best_ = 0;
};

// Calls `use` with the pooled representations of a few texts at a time and the indices of these
// texts.
template <typename F>
void ForEachPooled(const WordPieceVocabulary& vocabulary, const PublishedEncoderConfig& config, PublishedNet& net,
                   const std::vector<std::string>& texts, F use) {
  at::NoGradGuard no_grad;
  net.eval();
  TokenRows rows;
  for (const std::string& text : texts) {
    rows.tokens.push_back(TokenizePublished(vocabulary, text, "", config.max_tokens));
    rows.log_latency.push_back(0);
  }
  for (const auto& chosen : Batches(rows, config.batch, nullptr)) {
    const TokenBatch batch = MakeTokenBatch(vocabulary, rows, chosen, Masking::kNone, 0, 0);
    use(PublishedNet::Pool(net.Tokens(batch.ids, batch.keep), batch.keep), chosen);
  }
}

}  // namespace

std::vector<size_t> DrawMask(const PublishedTokens& tokens, double probability, bool parameters_only, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<size_t> masked;
  for (size_t t = 1; t + 1 < tokens.ids.size(); ++t) {
    const bool drawn = static_cast<double>(random() >> 11) * 0x1.0p-53 < probability;
    if (drawn && (!parameters_only || tokens.is_parameter[t] != 0)) masked.push_back(t);
  }
  return masked;
}

absl::StatusOr<PublishedFit> PublishedTrainer::Fit(const std::vector<PublishedExample>& train,
                                                   const std::vector<PublishedExample>& validation,
                                                   const std::vector<PublishedExample>& test, bool append_latency,
                                                   uint64_t seed, const std::string& checkpoint) const {
  if (train.empty() || validation.empty())
    return absl::InvalidArgumentError("published encoder: no rows for training or for validation");
  try {
    torch::manual_seed(seed);
    PublishedFit fit;
    fit.net = std::make_shared<PublishedNet>(config_, vocabulary_.size());
    for (const at::Tensor& p : fit.net->parameters()) fit.parameters += p.numel();
    double sum = 0;
    for (const PublishedExample& row : train) sum += std::log(std::max(row.latency_us, 1e-3));
    fit.net->CentreLatency(sum / static_cast<double>(train.size()));
    const auto rows = [&](const std::vector<PublishedExample>& of, bool appended) {
      return Tokenize(vocabulary_, of, appended, config_.max_tokens);
    };
    const auto file = [&](const char* phase) { return checkpoint.empty() ? "" : absl::StrCat(checkpoint, ".", phase); };
    fit.epochs = Phase(vocabulary_, config_, *fit.net, rows(train, append_latency), rows(validation, append_latency),
                       true, seed, file("pre"))
                     .Run();
    fit.perplexity = ParameterPerplexity(*fit.net, test, append_latency);
    fit.fine_tune_epochs =
        Phase(vocabulary_, config_, *fit.net, rows(train, false), rows(validation, false), false, seed, file("fine"))
            .Run();
    return fit;
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("published encoder: ", e.what()));
  }
}

std::vector<double> PublishedTrainer::Predict(PublishedNet& net, const std::vector<std::string>& texts) const {
  std::vector<double> us(texts.size(), 0);
  ForEachPooled(vocabulary_, config_, net, texts, [&](const at::Tensor& pooled, const std::vector<size_t>& chosen) {
    const at::Tensor log_us = net.LogLatency(pooled).contiguous();
    for (size_t i = 0; i < chosen.size(); ++i)
      us[chosen[i]] = std::exp(static_cast<double>(log_us.data_ptr<float>()[i]));
  });
  return us;
}

at::Tensor PublishedTrainer::Embed(PublishedNet& net, const std::vector<std::string>& texts) const {
  at::Tensor all = at::zeros({static_cast<int64_t>(texts.size()), config_.width});
  ForEachPooled(vocabulary_, config_, net, texts, [&](const at::Tensor& pooled, const std::vector<size_t>& chosen) {
    for (size_t i = 0; i < chosen.size(); ++i)
      all[static_cast<int64_t>(chosen[i])].copy_(pooled[static_cast<int64_t>(i)]);
  });
  return all;
}

double PublishedTrainer::ParameterPerplexity(PublishedNet& net, const std::vector<PublishedExample>& rows,
                                             bool append_latency) const {
  at::NoGradGuard no_grad;
  net.eval();
  const TokenRows tokens = Tokenize(vocabulary_, rows, append_latency, config_.max_tokens);
  double loss = 0, pieces = 0;
  for (const auto& chosen : Batches(tokens, config_.batch, nullptr)) {
    const TokenBatch batch =
        MakeTokenBatch(vocabulary_, tokens, chosen, Masking::kParameters, config_.mask, kHeldOutSeed);
    if (batch.place.numel() == 0) continue;
    loss += PieceLoss(net, batch, net.Tokens(batch.ids, batch.keep)).item<double>();
    pieces += static_cast<double>(batch.place.numel());
  }
  return pieces > 0 ? std::exp(loss / pieces) : 0;
}

}  // namespace cobra::lab
