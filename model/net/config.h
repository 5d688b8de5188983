// Sizes of the networks; written to and read from a model version's manifest.
#ifndef COBRA_MODEL_NET_CONFIG_H_
#define COBRA_MODEL_NET_CONFIG_H_

#include <cstdint>

namespace cobra::net {

// A learned vector per target, in addition to its published specification, for properties that are
// not in the data sheet.
inline constexpr int kLearnedTargetFeatures = 16;

// GraphNet's logarithm of what a run takes besides its calls is the output of a layer in this unit:
// it lies further from where it begins than weights usually move.
inline constexpr double kRunUnit = 8;
inline constexpr double kFirstLogRun = -3;  // log(us), before training

struct NetConfig {
  int64_t vocabulary_size = 0;
  int64_t value_features = 0;   // per number, model/text/tokenizer.h
  int64_t target_features = 0;  // per target, model/predict/work/features.h
  int64_t graph_features = 0;   // per network, likewise
  int64_t work_terms = 0;       // per call, likewise
  // Encoder. The paper has 4 layers, 16 heads, 512 wide; with numbers as values a tenth of that is
  // enough (lab/model_history.md).
  int64_t width = 96;
  int64_t encoder_layers = 2;
  int64_t heads = 4;
  int64_t feed_forward = 192;
  // Graph network.
  int64_t graph_width = 96;
  int64_t graph_layers = 3;
  bool shared_graph_net = false;  // SharedGraphNet, not GlobalGraphNet
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_CONFIG_H_
