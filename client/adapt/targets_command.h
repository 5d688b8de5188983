// `cobra-client targets`: lists the targets of a server.
#ifndef COBRA_CLIENT_ADAPT_TARGETS_COMMAND_H_
#define COBRA_CLIENT_ADAPT_TARGETS_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/request/common_flags.h"

namespace cobra::client {

// Filters of `targets`; empty: all.
struct TargetsFlags {
  std::string name, device, runtime;  // parts
  std::string kind, precision;
  bool calibrated = false, trained = false;
  std::string format;  // "markdown", "names", or empty
};

// The exit code.
absl::StatusOr<int> RunTargets(const CommonFlags& common, const TargetsFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_TARGETS_COMMAND_H_
