// "Did you mean ...?" for misspelled names, as CPython's tracebacks offer.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::python {

// The candidate nearest to `name`, or "" if none is near.
std::string NearestName(absl::string_view name, const std::vector<absl::string_view>& candidates);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_
