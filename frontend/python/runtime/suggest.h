// "Did you mean ...?" for misspelled names, as CPython's tracebacks offer.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::python {

// The candidate most similar to `name`, or "" if none is similar.
std::string NearestName(absl::string_view name, const std::vector<absl::string_view>& candidates);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_SUGGEST_H_
