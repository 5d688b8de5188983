// The subcommands of cobra-client, without the parsing of the command line. Results go to standard output; the returned
// status, or exit code, is for main() to report.
#ifndef COBRA_CLIENT_COMMANDS_H_
#define COBRA_CLIENT_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/client.h"
#include "client/model_input.h"

namespace cobra::client {

struct CommonFlags {
  ClientOptions client;
  bool json = false;
};

struct PredictFlags {
  ModelArguments model;
  std::vector<std::string> targets;
  bool send_source = false;
  bool breakdown = false;
  bool keep_private = false;
  double budget_ms = 0;  // 0: none; exit code 1 where a target is slower
  // Exit code 5 where a target is less sure; -1, not said: where something is judged and the answer extrapolates.
  double min_confidence = -1;
  std::string baseline;             // an older result (--format json); empty: none
  std::string max_increase = "5%";  // over the baseline; exit code 1 where a target is slower
};

struct CompareFlags {
  std::string before, after;  // files
  std::string max_increase = "5%";
  double min_confidence = -1;  // as of PredictFlags
  bool different_models = false;
  int top = 10;
};

struct ExplainFlags {
  ModelArguments model;
  std::string target;  // empty: no server is asked, shares are of FLOPs and bytes
  int top = 10;        // groups of alike calls
  std::string by;      // "layer", "module", "op", "line"; empty: an overview
};

struct CalibrateFlags {
  std::string probe_file;  // empty: measure
  std::string worker;      // empty: cobra-worker beside this program
  std::string name;        // empty: the server's choice, this-machine
};

// Each returns the exit code of an answer.
absl::StatusOr<int> RunGraph(const CommonFlags& common, const ModelArguments& model);
absl::StatusOr<int> RunPredict(const CommonFlags& common, const PredictFlags& flags);
absl::StatusOr<int> RunCompare(const CommonFlags& common, const CompareFlags& flags);
absl::StatusOr<int> RunExplain(const CommonFlags& common, const ExplainFlags& flags);
absl::StatusOr<int> RunTargets(const CommonFlags& common);
absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags);
absl::StatusOr<int> RunModel(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMMANDS_H_
