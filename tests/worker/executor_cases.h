// One call of each operator that needs more than an image: what executor_test.cc runs.
#ifndef COBRA_TESTS_WORKER_EXECUTOR_CASES_H_
#define COBRA_TESTS_WORKER_EXECUTOR_CASES_H_

#include <set>
#include <utility>
#include <vector>

#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/types.h"

namespace cobra::worker {

struct Operand {
  graph::Shape shape;
  graph::DType dtype = graph::DType::float32;
  bool absent = false;
};
inline const Operand kNone = {{}, graph::DType::float32, true};
inline Operand Index(graph::Shape shape) { return {std::move(shape), graph::DType::int64}; }

struct Case {
  graph::Op op;
  graph::Attributes attributes;
  std::vector<Operand> operands;
  bool inplace = false;
};

std::vector<Case> LinearAlgebraCases();
std::vector<Case> LossCases();
std::vector<Case> RareCases();
// These and all others: each operator at least once, but for those that LibTorch does not have.
std::vector<Case> AllCases();
// Operators of torchvision's own extension library, which LibTorch does not have.
const std::set<graph::Op>& NotInLibTorch();

}  // namespace cobra::worker

#endif  // COBRA_TESTS_WORKER_EXECUTOR_CASES_H_
