// A model of layers' latencies that is fitted in a second and usable from a hundred layers on:
// kernel ridge regression on numbers of the call itself. Used by the replay of active selection,
// because it uses no latency before it is fitted.
#ifndef COBRA_LAB_VARIANTS_KERNEL_MODEL_H_
#define COBRA_LAB_VARIANTS_KERNEL_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/training/rows/dataset.h"
#include "model/training/selection/active.h"

namespace cobra::lab {

// Layers are referred to by index into the list.
class KernelModel {
 public:
  // Reads only the calls of the layers, which are known before any measurement. Fit reads the
  // latencies of its rows.
  static std::unique_ptr<KernelModel> Create(std::vector<const training::Sample*> layers);
  virtual ~KernelModel() = default;

  // Replaces an earlier fit.
  virtual absl::Status Fit(absl::Span<const size_t> rows) = 0;
  // Microseconds; limited to a factor of e outside of the fitted range. REQUIRES: fitted.
  virtual absl::StatusOr<std::vector<double>> Predict(absl::Span<const size_t> rows) const = 0;
  // Operator (one place each), sizes of the first input, the output and the weight, groups,
  // multiply-accumulates, bytes, calls; logarithms, each of unit variance over all layers.
  virtual training::LayerSet Vectors(absl::Span<const size_t> rows) const = 0;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_KERNEL_MODEL_H_
