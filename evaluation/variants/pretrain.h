// Pre-training of our encoder by itself: masked numbers of layers' calls are to be guessed from what is left (COBRA,
// section 3, with numbers in the place of pieces). An ablation: the shipped version does without. Shows LibTorch; only
// files of model/train/ include it.
#ifndef COBRA_EVALUATION_VARIANTS_PRETRAIN_H_
#define COBRA_EVALUATION_VARIANTS_PRETRAIN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "model/net/encoder.h"
#include "model/text/tokenizer.h"

namespace cobra::evaluation {

struct PretrainOptions {
  int epochs = 0, batch = 192;
  double learning_rate = 1e-3, mask = 0.15;
  int32_t latency_word =
      -1;  // the token whose number is the measured latency, appended to each call; -1: nothing is appended
  uint64_t seed = 1;
};
// `width`: of the encoder. Returns the mean error of the last epoch, of log2(1 + number) / 10. REQUIRES: as many
// latencies as calls.
double PretrainEncoder(net::Encoder* encoder, int64_t width, const std::vector<const std::vector<text::Token>*>& calls,
                       absl::Span<const double> latency_us, const PretrainOptions& options);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_VARIANTS_PRETRAIN_H_
