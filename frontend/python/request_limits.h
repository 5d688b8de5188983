// Limits of what a request asks for, besides its files (Limits in base/limits.h): checked before
// anything is read.
#ifndef COBRA_FRONTEND_PYTHON_REQUEST_LIMITS_H_
#define COBRA_FRONTEND_PYTHON_REQUEST_LIMITS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/limits.h"
#include "frontend/python/reader.h"

namespace cobra::python {

// The --input texts, of any form of model.
absl::Status CheckInputs(const std::vector<std::string>& inputs, const Limits& limits);
absl::Status CheckRequest(const SourceRequest& request, const Limits& limits);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_REQUEST_LIMITS_H_
