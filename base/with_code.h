// Errors for users with a status code that the RPC chooses.
#ifndef COBRA_BASE_WITH_CODE_H_
#define COBRA_BASE_WITH_CODE_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/string_view.h"

namespace cobra {

// The same diagnostic with another code.
inline absl::Status WithCode(absl::StatusCode code, const absl::Status& error) {
  absl::Status status(code, error.message());
  error.ForEachPayload(
      [&status](absl::string_view url, const absl::Cord& payload) { status.SetPayload(url, payload); });
  return status;
}

}  // namespace cobra

#endif  // COBRA_BASE_WITH_CODE_H_
