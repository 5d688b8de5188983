#ifndef COBRA_BASE_STATUS_MACROS_H_
#define COBRA_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define COBRA_CONCAT_INNER_(a, b) a##b
#define COBRA_CONCAT_(a, b) COBRA_CONCAT_INNER_(a, b)

// Returns the status of `expr` from the enclosing function if it is not OK.
#define COBRA_RETURN_IF_ERROR(expr)                                                     \
  do {                                                                                  \
    if (absl::Status cobra_status_ = (expr); !cobra_status_.ok()) return cobra_status_; \
  } while (false)

// COBRA_ASSIGN_OR_RETURN(auto x, F()): declares or assigns `x`, or returns the error of F().
#define COBRA_ASSIGN_OR_RETURN(lhs, expr) \
  COBRA_ASSIGN_OR_RETURN_IMPL_(COBRA_CONCAT_(cobra_statusor_, __LINE__), lhs, expr)
#define COBRA_ASSIGN_OR_RETURN_IMPL_(var, lhs, expr) \
  auto var = (expr);                                 \
  if (!var.ok()) return std::move(var).status();     \
  lhs = *std::move(var)

#endif  // COBRA_BASE_STATUS_MACROS_H_
