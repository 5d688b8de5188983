// The subcommands of cobra-client, without the parsing of the command line. They print results to
// standard output and return a status or an exit code, which main() reports.
#ifndef COBRA_CLIENT_COMMANDS_H_
#define COBRA_CLIENT_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/asking.h"
#include "client/client.h"
#include "client/compare.h"
#include "client/model_input.h"
#include "client/terminal.h"
#include "client/written_file.h"

namespace cobra::client {

struct CommonFlags {
  ClientOptions client;
  bool json = false;
  bool quiet = false;  // only numbers; no progress, no notes (progress.h)
  ColorChoice color = ColorChoice::kAuto;
};

struct PredictFlags {
  ModelArguments model;
  std::string list;       // a file of many models instead (model_list.h); empty: none
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
  std::string format;               // one of CiFormats() (check_formats.h); empty: that of CommonFlags
};

struct CompareFlags {
  std::string before, after;  // files
  std::string max_increase = "5%";
  double min_confidence = -1;  // as in PredictFlags
  bool different_models = false;
  int top = 10;
  std::string format;  // as in PredictFlags
};

struct ExplainFlags {
  ModelArguments model;
  // None: no server is used, shares are of FLOPs and bytes. Several: which of them suits the
  // network, and why.
  std::vector<std::string> targets;
  int top = 10;    // groups of equal calls
  std::string by;  // "layer", "module", "op", "line"; empty: an overview
};

// Filters of `targets`; empty: all.
struct TargetsFlags {
  std::string name, device, runtime;  // parts
  std::string kind, precision;
  bool calibrated = false, trained = false;
  std::string format;  // "markdown", "names", or empty
};

struct GraphFlags {
  ModelArguments model;
  WrittenFile file;
  int64_t seed = 1;  // of the weights
};

struct CalibrateFlags {
  std::string probe_file;  // empty: measure
  std::string worker;      // empty: cobra-worker beside this program
  std::string runner;      // of cobra-worker probe; empty: LibTorch
  int threads = 1;
  int core = -1;              // the first that this process may use
  std::string budget = "1m";  // of cobra-worker probe, as threads and core
  std::string name = "this-machine";
  bool undo = false;  // withdraw the version that serves, instead of adding one
};

// Of the address and the files that a call needs. Called before anything is read or measured, so
// that an invalid address costs no time.
absl::Status CheckServer(const CommonFlags& common);

// Whom a question without --target is for: this-machine where it is calibrated, otherwise all
// trained targets. At a terminal the calibration is offered once (calibration_offer.h).
absl::StatusOr<std::vector<std::string>> UsualTargets(const CommonFlags& common);
// The same of a command for which all would be too many: this-machine, or a usage error that says
// what to do.
absl::StatusOr<std::vector<std::string>> ThisMachine(const CommonFlags& common);

// Loads what the user named. An entry that was chosen for lack of one is put into `model`, and
// printed.
absl::StatusOr<ModelInput> LoadModel(ModelArguments* model, absl::Duration time, bool says_entry = true);

// The answer to `flags` for this model: one request for each version of PyTorch among the targets.
// Paths in it and in errors are as the user typed them.
absl::StatusOr<v1::PredictResponse> AskAbout(const CommonFlags& common, const PredictFlags& flags,
                                             const ModelArguments& model, ModelInput* input);

// Measures this machine and makes the target. `warning`: that it was busy; empty if it was not.
absl::StatusOr<v1::CalibrateResponse> Calibrate(const CommonFlags& common, const CalibrateFlags& flags,
                                                std::string* warning);

// What `predict --format json --breakdown` saves of one model, for a comparison; `name` is how it
// is called there. An entry that is not given is chosen, if there is one only.
absl::StatusOr<SavedPrediction> PredictForCheck(const CommonFlags& common, PredictFlags flags, const std::string& name);

// Each returns the exit code.
absl::StatusOr<int> RunGraph(const CommonFlags& common, GraphFlags flags);
absl::StatusOr<int> RunPredict(const CommonFlags& common, PredictFlags flags);
absl::StatusOr<int> RunCompare(const CommonFlags& common, const CompareFlags& flags);
absl::StatusOr<int> RunExplain(const CommonFlags& common, ExplainFlags flags);
absl::StatusOr<int> RunTargets(const CommonFlags& common, const TargetsFlags& flags);
absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags);
absl::StatusOr<int> RunModel(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMMANDS_H_
