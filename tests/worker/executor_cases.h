// One call of each operator that needs more than an image: what executor_test.cc runs.
#ifndef COBRA_TESTS_WORKER_EXECUTOR_CASES_H_
#define COBRA_TESTS_WORKER_EXECUTOR_CASES_H_

#include <utility>
#include <vector>

#include "graph/attributes.h"
#include "graph/op.h"
#include "graph/types.h"

namespace cobra {

struct Operand {
  Shape shape;
  DType dtype = DType::float32;
  bool absent = false;
};
inline const Operand kNone = {{}, DType::float32, true};
inline Operand Index(Shape shape) { return {std::move(shape), DType::int64}; }

struct Case {
  Op op;
  Attributes attributes;
  std::vector<Operand> operands;
  bool inplace = false;
};

std::vector<Case> LinearAlgebraCases();
std::vector<Case> LossCases();
std::vector<Case> RareCases();

}  // namespace cobra

#endif  // COBRA_TESTS_WORKER_EXECUTOR_CASES_H_
