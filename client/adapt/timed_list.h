// SAMPLES.csv: models and their latencies, read here and sent as graphs.
#ifndef COBRA_CLIENT_ADAPT_TIMED_LIST_H_
#define COBRA_CLIENT_ADAPT_TIMED_LIST_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/input/model_list.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

struct RefusedLine {
  std::string row;
  absl::Status why;
};

struct TimedModels {
  std::vector<v1::TimedNetwork> networks;
  std::vector<RefusedLine> refused;  // no time, or a model that cannot be read
};

struct TimedListOptions {
  ModelArguments of_all;
  std::string torch_version;  // as which programs are read; empty: the newest
  absl::Duration time;        // of reading one model
  bool needs_latency = true;
  bool join = false;  // rows of one model: their median, and their number
};

// A usage Diagnostic for a list that is damaged or has no column latency_ms.
absl::StatusOr<TimedModels> LoadTimedModels(const std::string& path, const TimedListOptions& options);
// The same for one model.
absl::StatusOr<v1::TimedNetwork> LoadTimedModel(const ModelArguments& model, const TimedListOptions& options);

// Milliseconds of a cell. A usage Diagnostic if it is not a number, or not a time that a network
// can take.
absl::StatusOr<double> ParseLatency(const std::string& text);

// "row 3: ..." of each.
std::vector<std::string> RefusedTexts(const std::vector<RefusedLine>& refused);
// One error for all of them, with the kind of the first. REQUIRES: there is at least one.
absl::Status RefusedError(const std::string& path, const std::vector<RefusedLine>& refused);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_TIMED_LIST_H_
