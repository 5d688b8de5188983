// `cobra-client compare`: two results of `predict --format json`.
#ifndef COBRA_CLIENT_COMPARE_COMPARE_COMMAND_H_
#define COBRA_CLIENT_COMPARE_COMPARE_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/compare/compare.h"
#include "client/request/common_flags.h"

namespace cobra::client {

struct CompareFlags {
  std::string before, after;  // files
  std::string max_increase = "5%";
  double min_confidence = -1;  // as in PredictFlags
  bool different_models = false;
  int top = 10;
  std::string format;  // as in PredictFlags
};

// A result that `predict --format json` has saved.
absl::StatusOr<SavedPrediction> LoadPrediction(const std::string& path);

// The exit code.
absl::StatusOr<int> RunCompare(const CommonFlags& common, const CompareFlags& flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_COMPARE_COMMAND_H_
