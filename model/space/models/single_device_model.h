// A model of one device, fitted to some hundred of its latencies: a Gaussian process on the
// architecture's features (gaussian_process.h). For pruned cells of NAS-Bench-201, its geometric
// mean with an ensemble of additive graph networks, which is the best method in table nasbench201.
// Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_SINGLE_DEVICE_MODEL_H_
#define COBRA_MODEL_SPACE_MODELS_SINGLE_DEVICE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/space/architectures/space.h"
#include "model/space/models/gaussian_process.h"
#include "model/space/models/space_fit.h"
#include "model/space/models/tensor_map.h"

namespace cobra::space {

class SingleDeviceModel {
 public:
  // The state except the tensors.
  struct Shape {
    std::vector<std::string> arch;  // the architectures that it was fitted to
    double gaussian_process_mean = 0, gaussian_process_scale = 0, gaussian_process_least = 0;
    int draws = 0, processes = 0, networks = 0;
    double networks_mean_ms = 0;
  };

  // REQUIRES: at least kMinRows architectures of `space`, latencies above zero. If there are more
  // than 3,000, the process uses every second, third ... row.
  static constexpr int64_t kMinRows = 100;
  static absl::StatusOr<std::shared_ptr<const SingleDeviceModel>> Fit(const Space& space,
                                                                      const std::vector<std::string>& arch,
                                                                      const std::vector<double>& latency_ms,
                                                                      bool networks);
  absl::StatusOr<std::vector<double>> LatencyMs(const std::vector<std::string>& arch) const;

  const Shape& shape() const { return shape_; }
  void AddTensors(TensorMap* bag) const;
  // Adds tensors of the right sizes, to be filled from a file; From() creates the model from them.
  static absl::Status PrepareTensors(const Space& space, const Shape& shape, TensorMap* bag);
  static absl::StatusOr<std::shared_ptr<const SingleDeviceModel>> From(const Space& space, const Shape& shape,
                                                                       const TensorMap& bag);

 private:
  const Space* space_ = nullptr;
  Shape shape_;
  std::unique_ptr<GaussianProcess> process_;
  std::unique_ptr<AdditiveEnsemble> networks_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_SINGLE_DEVICE_MODEL_H_
