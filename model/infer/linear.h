// Weights in the kernels' layout, from the tensors of a model version.
#ifndef COBRA_MODEL_INFER_LINEAR_H_
#define COBRA_MODEL_INFER_LINEAR_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file/tensor_file.h"
#include "model/kernels/kernels.h"

namespace cobra::infer {

using kernels::BestKernels;
using kernels::Kernels;
using kernels::kLaneFloats;
using kernels::PaddedWidth;

// Rows of zeros, one after the other.
inline std::vector<float> Rows(int64_t rows, int64_t stride) {
  return std::vector<float>(static_cast<size_t>(rows * stride));
}
inline float* RowOf(std::vector<float>& rows, int64_t row, int64_t stride) { return rows.data() + row * stride; }
inline const float* RowOf(const std::vector<float>& rows, int64_t row, int64_t stride) {
  return rows.data() + row * stride;
}

// y = x * w + bias, of torch.nn.Linear.
struct Linear {
  int64_t in = 0, out = 0;
  std::vector<float> panels;  // [out / 16, in, 16]
  std::vector<float> bias;    // padded; empty: none

  void Apply(const float* x, int64_t rows, int64_t x_stride, float* y, int64_t y_stride, bool add = false) const;
};

struct Norm {
  int64_t width = 0;
  std::vector<float> scale, shift;  // padded

  // Rows of x and y have the same stride; they may be the same.
  void Apply(const float* x, int64_t rows, int64_t stride, float* y) const;
  // This norm, whose results are then multiplied by `gains`, one for each padded feature.
  Norm Times(const std::vector<float>& gains) const;
};

// Rows by number, of torch.nn.Embedding; each row padded.
struct Table {
  int64_t rows = 0, stride = 0;
  std::vector<float> values;

  const float* Row(int64_t row) const { return values.data() + row * stride; }
};

// The tensors of a file by name. DataLoss names a tensor that is missing or has another shape.
class Tensors {
 public:
  // `file` must outlive this.
  static absl::StatusOr<Tensors> Parse(absl::string_view file);

  // `name`.weight [out, in], and `name`.bias [out] if `biased`.
  absl::StatusOr<Linear> LinearOf(const std::string& name, int64_t in, int64_t out, bool biased = true) const;
  absl::StatusOr<Norm> NormOf(const std::string& name, int64_t width) const;
  int64_t num_elements() const;  // of all tensors
  absl::StatusOr<Table> TableOf(const std::string& name, int64_t rows, int64_t width) const;

 private:
  absl::StatusOr<const float*> Find(const std::string& name, const std::vector<int64_t>& shape) const;

  std::map<std::string, StoredTensor> tensors_;
};

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_LINEAR_H_
