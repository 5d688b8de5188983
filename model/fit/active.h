// Active selection: which layers to measure next, so that a given time of measuring takes most off the error.
//
// What a layer costs to measure differs by fifteen times (a small one 40 ms, most of it overhead and warm-up; a large
// one 0.6 s), what it teaches by more. The model that is to be improved says of every layer where it lies (its vector
// from the encoder) and, where it has been tried on layers that it had not learned, how far it was off. A Gaussian
// process on the vectors, scaled by the error of each kind of layer and conditioned on what has been measured, says
// what is unknown; measuring a layer takes some of its posterior variance away, from the layer itself and from those
// like it. Two rules:
//   variance     what the layer takes off the variance averaged over the layers that will be asked for (V-optimal
//   design;
//                with a linear kernel on the last layer it is BAIT, Ash et al., "Gone Fishing", 2021)
//   information  what it says about the process, log(1 + variance / noise) (D-optimal design)
// Each takes the largest gain a second first and recomputes the gains after each choice, so that a batch is diverse by
// itself. They choose from a random shortlist, drawn by seconds: from the whole pool they take what is unlike anything
// before what is typical, a bias that the model then learns. docs/results/active.md compares them with random.
//
// Looked into and left: counting measured layers nearby instead of the process (Neyman's allocation with costs,
// smoothed: no better than drawing by seconds); core-sets (Sener and Savarese 2018) and largest clusters (LCMD,
// Holzmueller et al. 2022), which know neither cost nor error; committees of heads, which agree wherever the encoder is
// wrong for all.
#ifndef COBRA_MODEL_FIT_ACTIVE_H_
#define COBRA_MODEL_FIT_ACTIVE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::fit {

// Vectors of layers, one after the other.
struct LayerVectors {
  int64_t width = 0;
  std::vector<float> values;  // layers x width
  size_t size() const { return width == 0 ? 0 : values.size() / static_cast<size_t>(width); }
  const float* row(size_t i) const { return values.data() + i * static_cast<size_t>(width); }
};

// All of one width.
struct LayerSet {
  LayerVectors vectors;
  std::vector<std::string> kinds;  // operators; as many as vectors
  size_t size() const { return kinds.size(); }
};

struct SelectionTask {
  LayerSet measured;                // what the model has learned, or will have
  LayerSet tried;                   // layers that it was asked for before it had learned them ...
  std::vector<double> tried_error;  // ... and |log(predicted / measured)| of each
  LayerSet targets;                 // what will be asked for
  LayerSet pool;
  std::vector<double> cost_s;  // of each of the pool; what is chosen at random needs nothing else
};

enum class Strategy {
  kRandom,          // each layer alike
  kRandomBySecond,  // each second alike: at random, with chances in proportion to 1 / cost
  kInformation,     // the rules above
  kVariance,
};
absl::string_view StrategyName(Strategy strategy);

struct SelectionOptions {
  double budget_s = 0;
  uint64_t seed = 1;  // of what is random
  Strategy strategy = Strategy::kVariance;
  // The rules choose from a random part of the pool that takes so many budgets to measure, drawn as kRandomBySecond
  // does; 0: from all.
  double shortlist = 2;
};

struct Selection {
  std::vector<size_t> chosen;  // places in the pool, the most valuable first
  double seconds = 0;          // expected; never above the budget
};

absl::StatusOr<Selection> SelectLayers(const SelectionTask& task, const SelectionOptions& options);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_ACTIVE_H_
