// One device from some hundred of its latencies: a Gaussian process over the architecture's numbers
// (feature_process.h), on pruned cells of NAS-Bench-201 with an ensemble of additive graph networks beside it (their
// geometric mean), as table nasbench201 has found best. Shows LibTorch.
#ifndef COBRA_MODEL_SPACE_ONE_DEVICE_H_
#define COBRA_MODEL_SPACE_ONE_DEVICE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/feature_process.h"
#include "model/space/space.h"
#include "model/space/space_fit.h"
#include "model/space/tensor_bag.h"

namespace cobra::space {

class OneDevice {
 public:
  // What is not a tensor.
  struct Shape {
    std::vector<std::string> arch;  // that it was fitted to
    double process_mean = 0, process_scale = 0, process_least = 0;
    int draws = 0, processes = 0, networks = 0;
    double networks_mean_ms = 0;
  };

  // REQUIRES: kFewestRows architectures of `space`, latencies above zero. Of more than 3,000 the process takes every
  // second, third ...
  static constexpr int64_t kFewestRows = 100;
  static absl::StatusOr<std::shared_ptr<const OneDevice>> Fit(const Space& space, const std::vector<std::string>& arch,
                                                              const std::vector<double>& latency_ms, bool networks);
  absl::StatusOr<std::vector<double>> LatencyMs(const std::vector<std::string>& arch) const;

  const Shape& shape() const { return shape_; }
  void AddTensors(TensorBag* bag) const;
  // Adds tensors of the right sizes, to be filled from a file; and the device made of them.
  static absl::Status PrepareBag(const Space& space, const Shape& shape, TensorBag* bag);
  static absl::StatusOr<std::shared_ptr<const OneDevice>> From(const Space& space, const Shape& shape,
                                                               const TensorBag& bag);

 private:
  const Space* space_ = nullptr;
  Shape shape_;
  std::unique_ptr<FeatureProcess> process_;
  std::unique_ptr<AdditiveEnsemble> networks_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ONE_DEVICE_H_
