#include "lab/variants/pretrain.h"

#include <torch/types.h>

// This header needs the names of torch/types.h.
#include <torch/nn/utils/clip_grad.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/log.h"
#include "model/net/cobra_net.h"
#include "model/training/optimizer.h"

namespace cobra::lab {
namespace {

constexpr double kLearningRate = 1e-3, kMaskedShare = 0.15;
constexpr double kWarmup = 0.03;              // of all steps
constexpr char kLatencyWord[] = "latency#0";  // of the appended token

struct PretrainOptions {
  int epochs = 0, batch = 0;
  int32_t latency_word = -1;  // id of kLatencyWord; -1: no token is appended
  uint64_t seed = 1;
};

// Calls with some of their numbers removed.
struct MaskedCalls {
  std::vector<std::vector<text::Token>> tokens;
  std::vector<int64_t> place;  // index of each missing number among all tokens
  std::vector<float> number;   // log2(1 + missing number) / 10
};

MaskedCalls Mask(const std::vector<const std::vector<text::Token>*>& calls, absl::Span<const double> latency_us,
                 absl::Span<const size_t> chosen, const PretrainOptions& o, std::mt19937_64* random) {
  MaskedCalls masked;
  size_t begin = 0;
  for (size_t c : chosen) {
    std::vector<text::Token>& tokens = masked.tokens.emplace_back(*calls[c]);
    if (o.latency_word >= 0) tokens.push_back({o.latency_word, true, static_cast<float>(latency_us[c])});
    for (size_t t = 0; t < tokens.size(); ++t) {
      const bool drawn = static_cast<double>((*random)() >> 11) * 0x1.0p-53 < kMaskedShare;
      if (!tokens[t].numeric || tokens[t].id == o.latency_word || !drawn) continue;
      masked.place.push_back(static_cast<int64_t>(begin + t));
      masked.number.push_back(static_cast<float>(std::log2(1 + std::fabs(tokens[t].value)) / 10));
      tokens[t].numeric = false;  // the id, which gives the number's position, is kept; its value is not
    }
    begin += tokens.size();
  }
  return masked;
}

// Returns the mean error of the last epoch, of log2(1 + number) / 10. REQUIRES: as many latencies
// as calls.
double PretrainEncoder(net::Encoder* encoder, int64_t width, const std::vector<const std::vector<text::Token>*>& calls,
                       absl::Span<const double> latency_us, const PretrainOptions& o) {
  torch::nn::Linear head(width, 1);
  std::vector<at::Tensor> parameters = encoder->parameters();
  for (const at::Tensor& p : head->parameters()) parameters.push_back(p);
  torch::optim::AdamW optimizer = training::MakeOptimizer(parameters, kLearningRate, 0);
  std::mt19937_64 random(o.seed);
  std::vector<size_t> order(calls.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t batch = static_cast<size_t>(o.batch), steps = (order.size() + batch - 1) / batch;
  double error = 0;
  encoder->train();
  for (int epoch = 0; epoch < o.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    error = 0;
    for (size_t step = 0; step < steps; ++step) {
      const auto chosen = absl::MakeConstSpan(order).subspan(step * batch, batch);
      const MaskedCalls masked = Mask(calls, latency_us, chosen, o, &random);
      if (masked.place.empty()) continue;
      std::vector<const std::vector<text::Token>*> tokens;
      for (const std::vector<text::Token>& call : masked.tokens) tokens.push_back(&call);
      const double done = static_cast<double>(static_cast<size_t>(epoch) * steps + step) /
                          static_cast<double>(static_cast<size_t>(o.epochs) * steps);
      training::SetLearningRate(&optimizer, kLearningRate, done, kWarmup);
      optimizer.zero_grad();
      const at::Tensor guessed =
          head(encoder->Tokens(net::PackTokens(tokens)).index_select(0, at::tensor(masked.place, at::kLong)))
              .squeeze(-1);
      const at::Tensor loss = (guessed - at::tensor(masked.number, at::kFloat)).abs().mean();
      loss.backward();
      torch::nn::utils::clip_grad_norm_(parameters, 1.0);
      optimizer.step();
      error += loss.item<double>() / static_cast<double>(steps);
    }
  }
  return error;
}

}  // namespace

training::TrainingParts PretrainedParts(int epochs, bool append_latency) {
  training::TrainingParts parts;
  if (append_latency) parts.more_words.push_back(kLatencyWord);
  parts.before_first_epoch = [epochs, append_latency](const training::TrainingStart& start) {
    PretrainOptions options;
    options.epochs = epochs;
    options.batch = start.options.layer_batch;
    options.seed = start.options.seed;
    if (append_latency) options.latency_word = start.bundle.vocabulary.Find(kLatencyWord);
    const double error = PretrainEncoder(start.bundle.net->encoder.get(), start.bundle.manifest.net.width, start.calls,
                                         start.latency_us, options);
    LogInfo(absl::StrFormat("seed %d: pre-trained for %d epochs, masked numbers off by a factor of %.2f", options.seed,
                            epochs, std::exp2(10 * error)));
  };
  return parts;
}

}  // namespace cobra::lab
