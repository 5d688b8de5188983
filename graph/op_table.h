// Tables with a row for every operator, in the order of ops.def, generated from a .def file. If a
// row is missing, duplicate or out of order, compilation fails, and the message names the operator.
// So no operator silently gets a default.
//
//   struct Row { Op op; ... };
//   constexpr Row kRows[] = { ... };
//   static_assert(OpWithoutRow<FirstWithoutRow(kRows)>::kNone);
#ifndef COBRA_GRAPH_OP_TABLE_H_
#define COBRA_GRAPH_OP_TABLE_H_

#include <cstddef>

#include "base/sanitizer.h"
#include "graph/op.h"

namespace cobra::graph {

inline constexpr Op kNoOp = static_cast<Op>(kNumOps);

// The first operator whose row is missing or misplaced, or the first superfluous row; kNoOp if
// every operator has its row.
template <typename Row, size_t kRows>
constexpr Op FirstWithoutRow(const Row (&rows)[kRows]) {
  for (size_t i = 0; i < kRows; ++i) {
    if (rows[i].op != static_cast<Op>(i)) return i < kNumOps ? static_cast<Op>(i) : rows[i].op;
  }
  return static_cast<Op>(kRows);  // the first operator without a row
}

// The first operator for which `holds` is false; kNoOp if there is none.
template <typename Holds>
constexpr Op FirstOpThatFails(Holds holds) {
  for (int i = 0; i < kNumOps; ++i) {
    if (!holds(static_cast<Op>(i))) return static_cast<Op>(i);
  }
  return kNoOp;
}

template <Op kOp>
struct OpWithoutRow {
  static_assert(kOp == kNoOp, "this operator has no row in its place (docs/adding-an-operator.md)");
  static constexpr bool kNone = true;
};

template <Op kOp>
struct OpThatFails {
  static_assert(kOp == kNoOp, "what is decided about this operator does not fit together");
  static constexpr bool kNone = true;
};

}  // namespace cobra::graph

// Compilation fails if `holds`, a constexpr function, is false for an operator, and the message
// names the operator.
#ifdef COBRA_ASAN  // together with UBSan, under which g++ cannot compare functions at compile time (GCC bug 71962)
#define COBRA_CHECK_EVERY_OP(holds) static_assert(true)
#else
#define COBRA_CHECK_EVERY_OP(holds) \
  static_assert(::cobra::graph::OpThatFails<::cobra::graph::FirstOpThatFails(holds)>::kNone)
#endif

#endif  // COBRA_GRAPH_OP_TABLE_H_
