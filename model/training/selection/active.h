// Active selection: which layers to measure next, so that a given measuring time reduces the error
// most.
//
// The measuring times of layers differ by a factor of fifteen (a small one takes 40 ms, most of it
// overhead and warm-up; a large one 0.6 s), and their value for training by more. The model to
// improve provides the encoder's vector of every layer, and its errors on layers that it was not
// trained on. The uncertainty comes from a Gaussian process on the vectors, scaled by the error of
// each kind of layer and conditioned on the measured layers. Measuring a layer reduces the
// posterior variance of the layer and of similar ones. There are two rules:
//   variance     how much the layer reduces the variance averaged over the layers that will be
//                asked for (V-optimal design; with a linear kernel on the last layer it is BAIT,
//                Ash et al., "Gone Fishing", 2021)
//   information  what it says about the process, log(1 + variance / noise) (D-optimal design)
// Each takes the largest gain per second first and recomputes the gains after each choice, so that
// a batch is diverse. They choose from a random shortlist, drawn by seconds. From the complete pool
// they would prefer outliers to typical layers, which would bias the model. lab/results/active.md
// compares the rules with random choice.
//
// Rejected alternatives: counting nearby measured layers instead of the process (Neyman's
// allocation with costs, smoothed: no better than drawing by seconds); core-sets (Sener and
// Savarese 2018) and largest clusters (LCMD, Holzmueller et al. 2022), which use neither cost nor
// error; committees of heads, which agree where the shared encoder is wrong.
#ifndef COBRA_MODEL_TRAINING_SELECTION_ACTIVE_H_
#define COBRA_MODEL_TRAINING_SELECTION_ACTIVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::training {

// Vectors of layers, concatenated.
struct LayerVectors {
  int64_t width = 0;
  std::vector<float> values;  // layers x width
  size_t size() const { return width == 0 ? 0 : values.size() / static_cast<size_t>(width); }
  const float* row(size_t i) const { return values.data() + i * static_cast<size_t>(width); }
};

// All vectors have the same width.
struct LayerSet {
  LayerVectors vectors;
  std::vector<std::string> kinds;  // operators; as many as vectors
  size_t size() const { return kinds.size(); }
};

struct SelectionTask {
  LayerSet measured;                // layers that the model was or will be trained on
  LayerSet tried;                   // layers that it predicted without training on them ...
  std::vector<double> tried_error;  // ... and |log(predicted / measured)| of each
  LayerSet targets;                 // layers that will be predicted
  LayerSet pool;
  std::vector<double> cost_s;  // of each layer of the pool; the only input of random choice
};

enum class Strategy {
  kRandom,          // each layer with the same probability
  kRandomBySecond,  // each second with the same probability: at random, in proportion to 1 / cost
  kInformation,     // the rules above
  kVariance,
};
absl::string_view StrategyName(Strategy strategy);

struct SelectionOptions {
  double budget_s = 0;
  uint64_t seed = 1;  // of random choices
  Strategy strategy = Strategy::kVariance;
  // The rules choose from a random part of the pool, drawn like kRandomBySecond, whose measuring
  // time is this many budgets; 0: from the complete pool.
  double shortlist = 2;
};

struct Selection {
  std::vector<size_t> chosen;  // indices into the pool, the most valuable first
  double seconds = 0;          // expected time; never above the budget
};

absl::StatusOr<Selection> SelectLayers(const SelectionTask& task, const SelectionOptions& options);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_SELECTION_ACTIVE_H_
