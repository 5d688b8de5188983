#include "frontend/onnx/importer/elementwise.h"

#include <cstdio>
#include <cstdlib>

namespace cobra::onnx {

double Shortest(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.7g", value);
  const double seven = std::strtod(text, nullptr);
  return static_cast<float>(seven) == static_cast<float>(value) ? seven : value;
}

graph::AttributeValue Number(graph::DType dtype, double value) {
  if (dtype == graph::DType::bool_) return value != 0;
  if (!graph::IsFloatingPoint(dtype)) return static_cast<int64_t>(value);
  return dtype == graph::DType::float64 ? value : Shortest(value);
}

std::optional<graph::AttributeValue> AsNumber(NodeContext& c, const TensorPtr& tensor, const TensorPtr& beside) {
  if (!tensor->constant || tensor->type.num_elements() != 1 || (tensor->weight && tensor->type.rank() > 0))
    return std::nullopt;
  if (beside != nullptr && (tensor->type.rank() > beside->type.rank() || tensor->type.dtype != beside->type.dtype))
    return std::nullopt;
  const auto values = c.TryValues(tensor);
  if (!values.ok() || *values == nullptr) return std::nullopt;
  return Number(tensor->type.dtype, (**values)[0]);
}

absl::StatusOr<TensorPtr> BinaryCall(NodeContext& c, graph::Op op, const TensorPtr& a, const TensorPtr& b) {
  if (a->constant && b->constant) return c.Binary(op, a, b);
  if (std::optional<graph::AttributeValue> number = AsNumber(c, b, a)) return c.WithNumber(op, a, *number);
  if (std::optional<graph::AttributeValue> number = AsNumber(c, a, b)) {
    const std::optional<graph::Op> swapped = WithOperandsSwapped(op);
    if (!swapped) return absl::InternalError(absl::StrCat(graph::OpName(op), " has no form with swapped operands"));
    return c.WithNumber(*swapped, b, *number);
  }
  return c.Binary(op, a, b);
}

}  // namespace cobra::onnx
