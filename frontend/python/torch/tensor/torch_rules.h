// The columns of torch_rules.def: the rules of the torch library for each operator.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TORCH_RULES_H_
#define COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TORCH_RULES_H_

#include <cstddef>
#include <cstdint>

#include "frontend/python/torch/tensor/tensor.h"
#include "graph/op_table.h"

namespace cobra::python {

// Autocast rules of PyTorch 1.13 (aten/src/ATen/autocast_mode.cpp, AutocastCPU), for the functions
// that a program calls. An operator that is not listed there, but calls a listed one, has that
// one's rule.
enum class AutocastPolicy : uint8_t {
  kNone,       // takes its inputs as they are
  kLower,      // casts them to the lower precision
  kFloat32,    // casts them to float32
  kWidest,     // casts them to the widest type among them
  kOfPadding,  // kFloat32 if it pads by reflection or replication, which have kernels of their own
  kOfSum,      // kLower if it sums, as a matrix product does
};

// Whose memory the outputs are views of, as a program can observe it.
enum class BaseRule : uint8_t {
  kSeen,  // of views, the first input's; else their own
  kEach,  // each output is a view of the input in its place
  // The output is a view of a tensor that Python never sees. Views of the output share that hidden
  // tensor. A write through one of them changes the output's elements, but PyTorch does not count
  // it as a change of the output (`sim[..., :n] += bias` after an einsum; only the assignment that
  // follows counts).
  kHidden,
  kHiddenByBias,  // likewise with a bias, of inputs of three dimensions
  kHiddenBySum,   // likewise where it sums, not element by element
};

// When a call returns its only argument, the same object.
enum class ItselfRule : uint8_t {
  kNever,
  kAlways,
  kUnlessTraining,  // if it does not train or drops nothing
  kNotBool,         // unless that is of type bool
  kReal,            // if that is real
  kScalar,          // if it has no dimensions
  kRealScalar,      // if it is real and has no dimensions
  kVector,          // if it has one dimension
  kOneDim,          // if the attributes `start_dim` and `end_dim` are the same dimension
  kOfThatSize,      // if it has the attribute `size` already
  // For several arguments, each one by itself:
  kEach,    // if it has the shape of the output already
  kEach1d,  // if it has one dimension or more
  kEach2d,
  kEach3d,
};

// Arguments that get a value before the call.
enum class ArgumentRule : uint8_t {
  kGiven,       // none
  kWindow,      // `stride` is `kernel_size` where it is missing
  kMaxWindow,   // likewise, and `return_indices` counts only where it is true
  kSoftmaxDim,  // `dim` follows from the number of dimensions
  kRepeats,     // `output_size` follows from the numbers of repetitions
  kClasses,     // `num_classes` follows from the largest class
  kGroups,      // none, but a group must have more than one value (group_norm)
  kLengths,     // none, but known lengths of sequences must fit (ctc_loss)
  kBags,        // indices and weights may stand in either order, and known offsets must fit (embedding_bag)
  kOneTensor,   // none, but one of the two operands must be a tensor
  kTraining,    // `training` counts only where it is true
  kStatistics,  // normalization: likewise, and only where the call has running statistics
};

// Cost and side effects of a call on constants.
enum class ConstantRule : uint8_t {
  kPlain,
  kSorts,       // costs more than its inputs' elements
  kOverwrites,  // in place: the first input's elements do not matter
  kReorders,    // in place: earlier views see other elements (x.t_())
};

struct TorchRules {
  graph::Op op;
  Returns returns;
  AutocastPolicy autocast;
  BaseRule base;
  ItselfRule itself;
  ArgumentRule arguments;
  ConstantRule constants;
};

inline constexpr TorchRules kTorchRules[] = {
#define COBRA_TORCH_RULES(name, returns, autocast, base, itself, arguments, constants)    \
  {graph::Op::name,    Returns::returns,        AutocastPolicy::autocast, BaseRule::base, \
   ItselfRule::itself, ArgumentRule::arguments, ConstantRule::constants},
#include "frontend/python/torch/tensor/torch_rules.def"
#undef COBRA_TORCH_RULES
};
static_assert(graph::OpWithoutRow<graph::FirstWithoutRow(kTorchRules)>::kNone);

constexpr const TorchRules& TorchRulesOf(graph::Op op) { return kTorchRules[static_cast<size_t>(op)]; }

// Whether an output is a tensor whose numbers are conjugated when they are read, as of x.conj() and
// its views.
bool IsConjugated(graph::Op op, const Tensor* input, const Tensor& output);

// Whether a call of the operator with only this argument returns it (ItselfRule); always false for
// several arguments.
bool ReturnsItself(graph::Op op, const graph::Attributes& attributes, const graph::TensorType& argument);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_TENSOR_TORCH_RULES_H_
