// Batched predictions and vectors of layers by a model version, for active selection.
#ifndef COBRA_MODEL_TRAINING_SELECTION_LAYER_MODEL_H_
#define COBRA_MODEL_TRAINING_SELECTION_LAYER_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/training/rows/dataset.h"
#include "model/training/selection/active.h"

namespace cobra::training {

// Operator of the main call.
std::string KindOf(const graph::Graph& layer);

// A serving version, for its first target, and a list of layers, which are referred to by index.
// Not thread-safe.
class LayerModel {
 public:
  static absl::StatusOr<std::unique_ptr<LayerModel>> Load(absl::string_view directory,
                                                          std::vector<const Sample*> layers);
  virtual ~LayerModel() = default;

  // The predictions in microseconds.
  virtual absl::StatusOr<std::vector<double>> Predict(absl::Span<const size_t> rows) const = 0;
  // The encoder's vectors of the main calls. Layers whose calls have the same text have exactly the
  // same vector.
  virtual absl::StatusOr<LayerSet> Embed(absl::Span<const size_t> rows) const = 0;
};

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_SELECTION_LAYER_MODEL_H_
