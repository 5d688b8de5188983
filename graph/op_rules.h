// The columns of op_rules.def: the rules of graph/ for each operator, except shape and work
// (ops.def).
#ifndef COBRA_GRAPH_OP_RULES_H_
#define COBRA_GRAPH_OP_RULES_H_

#include <cstddef>
#include <cstdint>

#include "graph/op.h"
#include "graph/op_table.h"

namespace cobra::graph {

// Whose memory the outputs of a call use. "Returns its first input": the output is that input
// itself, and the call costs nothing.
enum class Storage : uint8_t {
  kOwn,             // each output has its own
  kResizes,         // its own; in place, the first input's with any other size
  kUnlessTraining,  // returns its first input unless in training (dropout)
  kUnlessCast,      // returns its first input if that already has the type
  kUnlessComplex,   // returns its first input if that is real; a view of a complex one
  kSame,            // returns its first input
  kView,            // the first input's, unless strides force a copy
  kViewAsNew,       // likewise, but the JSON form lists it as a separate tensor
  kViewOrGather,    // a view, unless tensors or lists select: then its own (getitem)
};

// The memory order of the outputs' dimensions; `in` is the first input, `out` the output.
enum class StrideRule : uint8_t {
  // Of new tensors:
  kDense,         // in the order of in, if the shapes are the same; else contiguous
  kElementwise,   // in the order of the operands, which broadcast to out (ElementwiseStrides)
  kOrdered,       // in the order of in, whose sizes may differ
  kInnermost,     // likewise if the last dimension of in is the innermost; else contiguous
  kContiguous,    // contiguous
  kChannelsLast,  // channels last if in is (4 or 5 dimensions); else contiguous
  kSuggested,     // likewise, if in's strides suggest it (4 dimensions, SuggestsChannelsLast); else contiguous
  kPooledLine,    // channels last if in is, with 3 dimensions too: computed as an image of height 1
  kConcatenated,  // channels last if all inputs are; else contiguous
  kBatchFirst,    // sequence before batch in memory, if the attribute `batch_first` is true; else contiguous
  kColumns,       // matrices by columns, as LAPACK leaves them
  kRotated,       // rot90
  kEinsum,
  // Of views:
  kKept,            // the strides of in if out has as many dimensions; rarer views count as contiguous
  kEach,            // output number i is a view of input number i
  kBase,            // those of the second input (as_base)
  kViewed,          // those of a view of another size, which must be possible
  kReshaped,        // likewise, or a contiguous copy if that is not possible
  kMadeContiguous,  // those of in if it is contiguous, else a copy
  kRavelled,        // likewise, of one dimension
  kPermuted,        // in the order of the attribute `dims`
  kTransposed,      // the attributes `dim0` and `dim1` swapped
  kMoved,           // the attributes `source` to `destination`
  kLastTwoSwapped,
  kReversed,
  kDimDropped,  // without the attribute `dim`
  kDiagonal,
  kWindowed,  // tensor.unfold
  kPairs,     // complex numbers as two
  kUnsqueezed,
  kSqueezed,
  kExpanded,  // 0 for dimensions that were expanded from one element
  kIndexed,   // x[1:, None, ::2, T0]
};

// PyTorch kernels with special rules: for their work, for the memory that they need in addition to
// their outputs, or for the values that their inputs must have.
enum class Kernel : uint8_t {
  kPlain,        // reads its inputs, writes its outputs
  kConvolution,  // graph/cost/convolution_algorithm.h
  kTransposed,   // a transposed convolution: a product, then columns are summed
  kMatmul,       // merges batch dimensions, then as kBatched
  kBatched,      // one product per matrix of a batch
  kBatchNorm,
  kMaxPool,
  kAttention,
  kMultiHead,
  kFactor,  // factors square matrices, which must be positive definite, or at least regular
};

enum class Randomness : uint8_t {
  kFixed,   // the values follow from the inputs
  kDrawn,   // drawn from a random source: a call of the network even without a tensor input
  kRandom,  // differ from run to run
  kUnset,   // whatever the memory holds
};

enum class Operands : uint8_t {
  kOrdered,
  kSwap,          // the two tensors of a call may be swapped
  kSwapUnscaled,  // likewise, unless the attribute `alpha` scales the second one
};

enum class OperandTypes : uint8_t {
  kAny,  // each tensor is read in its own type
  kOne,  // elementwise calls of several tensors, which are converted to one type first
};

struct OpRules {
  Op op;
  Storage storage;
  StrideRule strides;
  Kernel kernel;
  Randomness randomness;
  Operands operands;
  OperandTypes types;
};

inline constexpr OpRules kOpRules[] = {
#define COBRA_OP_RULES(name, storage, strides, kernel, randomness, operands, types, constants, complex_constants) \
  {Op::name,           Storage::storage,   StrideRule::strides, Kernel::kernel, Randomness::randomness,           \
   Operands::operands, OperandTypes::types},
#include "graph/op_rules.def"
#undef COBRA_OP_RULES
};
static_assert(OpWithoutRow<FirstWithoutRow(kOpRules)>::kNone);

constexpr const OpRules& RulesOf(Op op) { return kOpRules[static_cast<size_t>(op)]; }

constexpr bool DrawsRandomNumbers(Op op) { return RulesOf(op).randomness == Randomness::kDrawn; }

}  // namespace cobra::graph

#endif  // COBRA_GRAPH_OP_RULES_H_
