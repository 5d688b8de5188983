// `cobra-client history`: a model over commits.
#ifndef COBRA_CLIENT_SERIES_HISTORY_COMMAND_H_
#define COBRA_CLIENT_SERIES_HISTORY_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/request/common_flags.h"

namespace cobra::client {

struct HistoryFlags {
  std::string by = "commit";  // name of the label that tells points apart
  std::vector<std::string> targets;
  std::string since;  // ParseSince()
  int64_t limit = 1000;
  std::string format;     // "svg"; empty: that of CommonFlags
  std::string out = "-";  // "-": standard output
};

// The labels that predictions must have are those of `common.client`.
absl::StatusOr<int> RunHistory(CommonFlags common, const HistoryFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_HISTORY_COMMAND_H_
