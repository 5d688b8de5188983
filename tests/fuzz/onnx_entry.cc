#include <optional>
#include <string>

#include "frontend/onnx/reader.h"
#include "frontend/onnx/without_weights.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void Onnx(absl::string_view data) {
  Check(onnx::ReadOnnxModel(data, {}, SmallLimits()), data);
  OnnxLimits limits;
  limits.max_const_elements = 2;  // so that a small tensor is one to be left out
  const auto zeros = [](const onnx::ExternalTensor& tensor) {
    return absl::StatusOr<std::optional<std::string>>(std::string(static_cast<size_t>(tensor.bytes), '\0'));
  };
  const absl::StatusOr<std::optional<std::string>> left = onnx::WithoutWeights(data, limits, 1 << 20, zeros);
  if (left.ok() && left->has_value()) Check(onnx::ReadOnnxModel(**left, {}, SmallLimits()), data);
}

}  // namespace cobra::fuzz
