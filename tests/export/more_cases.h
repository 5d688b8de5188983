// Single calls beside those of tests/worker/executor_cases.h: the forms of a call that are written
// in different ways.
#ifndef COBRA_TESTS_EXPORT_MORE_CASES_H_
#define COBRA_TESTS_EXPORT_MORE_CASES_H_

#include <vector>

#include "tests/worker/executor_cases.h"

namespace cobra::exporting {

std::vector<worker::Case> MoreCases();

}  // namespace cobra::exporting

#endif  // COBRA_TESTS_EXPORT_MORE_CASES_H_
