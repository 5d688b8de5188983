#include "frontend/python/torch/tensor/torch_rules.h"

namespace cobra::python {

bool ReturnsItself(graph::Op op, const graph::Attributes& attributes, const graph::TensorType& argument) {
  const int rank = argument.rank();
  const bool real = !graph::IsComplex(argument.dtype);
  switch (TorchRulesOf(op).itself) {
    case ItselfRule::kNever:
    case ItselfRule::kEach: return false;
    case ItselfRule::kAlways: return true;
    case ItselfRule::kUnlessTraining: return !(attributes.Bool("training") && attributes.Double("p", 0.5) > 0);
    case ItselfRule::kNotBool: return argument.dtype != graph::DType::bool_;
    case ItselfRule::kReal: return real;
    case ItselfRule::kScalar: return rank == 0;
    case ItselfRule::kRealScalar: return rank == 0 && real;
    case ItselfRule::kVector: return rank == 1;
    case ItselfRule::kEach1d: return rank >= 1;
    case ItselfRule::kEach2d: return rank >= 2;
    case ItselfRule::kEach3d: return rank >= 3;
    case ItselfRule::kOfThatSize: {
      const std::vector<int64_t> size = attributes.Ints("size");
      return graph::Shape(size.begin(), size.end()) == argument.shape;
    }
    case ItselfRule::kOneDim: {
      const auto wrap = [rank](int64_t d) { return d < 0 ? d + rank : d; };
      const int64_t start = wrap(attributes.Int("start_dim")), end = wrap(attributes.Int("end_dim", -1));
      return rank > 0 && start == end && start >= 0 && start < rank;
    }
  }
  return false;
}

bool IsConjugated(graph::Op op, const Tensor* input, const Tensor& output) {
  if (input == nullptr || !graph::IsComplex(output.type.dtype) || op == graph::Op::resolve_conj) return false;
  const bool conjugates =
      op == graph::Op::conj || op == graph::Op::mH || op == graph::Op::H || op == graph::Op::adjoint;
  return conjugates ? !input->is_conj : output.base != nullptr && input->is_conj;
}

}  // namespace cobra::python
