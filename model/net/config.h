// Sizes of the networks; written to and read from a model version's manifest.
#ifndef COBRA_MODEL_NET_CONFIG_H_
#define COBRA_MODEL_NET_CONFIG_H_

#include <cstdint>

namespace cobra::net {

struct NetConfig {
  int64_t vocabulary_size = 0;
  int64_t value_features = 0;   // per number, model/text/tokenizer.h
  int64_t target_features = 0;  // per target, model/predict/features.h
  int64_t graph_features = 0;   // per network, likewise
  int64_t work_terms = 0;       // per call, likewise
  // Encoder: the paper has 4 layers, 16 heads, 512 wide; numbers as numbers make a tenth of that enough (docs/model.md
  // has the figures).
  int64_t width = 96;
  int64_t encoder_layers = 2;
  int64_t heads = 4;
  int64_t feed_forward = 192;
  // Graph network.
  int64_t graph_width = 96;
  int64_t graph_layers = 3;
  // What the paper does otherwise, one by one: `cobra-train table ablation`. Off is the paper's way.
  bool numeric_tokens = true;       // a number is one token with its value beside it; off: a token a digit
  bool target_conditioning = true;  // the networks see the target; off: they do not
  bool additive = true;  // every call predicts its contribution; off: one number from the mean over the calls
  bool prices = true;    // the layer head prices kinds of work; off: it says the latency itself
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_CONFIG_H_
