// Many requests at once: where they come from, and where the answers go.
#ifndef COBRA_CLIENT_MANY_REQUESTS_H_
#define COBRA_CLIENT_MANY_REQUESTS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// Both are called on the calling thread.
struct ManyRequests {
  // The next request; nullopt after the last one. It may block: answers wait in the meantime.
  std::function<std::optional<v1::PredictRequest>()> next;
  // The answer to request `index`, counted from 0; once for each, in any order. A status that is
  // not OK ends everything and is returned.
  std::function<absl::Status(int64_t index, absl::StatusOr<v1::PredictResponse> answer)> answer;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_MANY_REQUESTS_H_
