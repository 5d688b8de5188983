// `cobra-client predict`: the latency of a model on one or several targets.
#ifndef COBRA_CLIENT_ASK_PREDICT_COMMAND_H_
#define COBRA_CLIENT_ASK_PREDICT_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/input/model_arguments.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"

namespace cobra::client {

struct PredictFlags {
  ModelArguments model;
  std::string list;       // a file of many models instead (input/model_list.h); empty: none
  std::string out = "-";  // where their predictions go (prediction_rows.h)
  std::vector<std::string> targets;
  bool all = false;  // a terminal shows all targets, also where none was named
  AskFlags ask;
  double budget_ms = 0;  // 0: none; exit code 1 if a target is slower
  // Exit code 5 if the confidence of a target is lower. -1, not given: exit code 5 if a budget or a
  // change is checked and the prediction extrapolates.
  double min_confidence = -1;
  std::string baseline;             // an earlier result (--format json); empty: none
  std::string max_increase = "5%";  // over the baseline; exit code 1 if a target is slower
  std::string format;               // one of CiFormats() (compare/check_formats.h); empty: that of CommonFlags
};

// The exit code.
absl::StatusOr<int> RunPredict(const CommonFlags& common, PredictFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_PREDICT_COMMAND_H_
