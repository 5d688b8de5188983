// What active selection asks a model version about layers, many at a time.
#ifndef COBRA_MODEL_FIT_LAYER_MODEL_H_
#define COBRA_MODEL_FIT_LAYER_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/fit/active.h"
#include "model/fit/dataset.h"

namespace cobra::fit {

// Operator of the call that takes the time.
std::string KindOf(const graph::Graph& layer);

// A version as it serves, for its first target, and some layers, which are named by their place in the list. Not for
// several threads at once.
class LayerModel {
 public:
  static absl::StatusOr<std::unique_ptr<LayerModel>> Load(absl::string_view directory,
                                                          std::vector<const Sample*> layers);
  virtual ~LayerModel() = default;

  // The answers, microseconds.
  virtual absl::StatusOr<std::vector<double>> Predict(absl::Span<const size_t> rows) const = 0;
  // The encoder's vectors of the calls that take the time. Layers whose calls have the same text have the same vector,
  // bit by bit.
  virtual absl::StatusOr<LayerSet> Embed(absl::Span<const size_t> rows) const = 0;
};

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_LAYER_MODEL_H_
