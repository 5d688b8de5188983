// Converts two operands to one PyTorch call, in which numbers are arguments and not tensors.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_ELEMENTWISE_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_ELEMENTWISE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// The shortest decimal that rounds to the same float32: 0.1 for the float32 nearest to it.
double Shortest(double value);
// As the attribute of a call on tensors of `dtype`.
graph::AttributeValue Number(graph::DType dtype, double value);
// The value of a constant of one element, if it can be a number argument beside the tensor `beside`
// (null: any tensor).
std::optional<graph::AttributeValue> AsNumber(NodeContext& c, const TensorPtr& tensor, const TensorPtr& beside);
// The operator that computes op(a, b) when it is called with (b, a); nullopt if there is none. It
// is needed because PyTorch takes the tensor first if the operands are a number and a tensor.
constexpr std::optional<graph::Op> WithOperandsSwapped(graph::Op op) {
  switch (op) {
    case graph::Op::add:
    case graph::Op::mul:
    case graph::Op::eq: return op;
    case graph::Op::sub: return graph::Op::rsub;
    case graph::Op::div: return graph::Op::rdiv;
    case graph::Op::lt: return graph::Op::gt;
    case graph::Op::gt: return graph::Op::lt;
    case graph::Op::le: return graph::Op::ge;
    case graph::Op::ge: return graph::Op::le;
    default: return std::nullopt;
  }
}

// REQUIRES: `op` is one of WithOperandsSwapped, unless both are tensors.
absl::StatusOr<TensorPtr> BinaryCall(NodeContext& c, graph::Op op, const TensorPtr& a, const TensorPtr& b);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_ELEMENTWISE_H_
