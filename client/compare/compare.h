// Compares two results of `cobra-client predict --format json`, to find out whether a network got
// slower. The change of the middle of the prediction is compared. The errors of two predictions of
// nearly the same network are nearly the same, so a change is meaningful even if the intervals
// overlap.
#ifndef COBRA_CLIENT_COMPARE_COMPARE_H_
#define COBRA_CLIENT_COMPARE_COMPARE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

// The contents of a saved result.
struct SavedModule {
  int64_t calls = 0;
  double latency_us = 0;
};
struct SavedCall {
  std::string module, op;
  std::string place;  // "net.py:7"; empty if unknown
  double latency_us = 0;
};
struct SavedTarget {
  std::string target;
  std::string device;
  double latency_us = 0, low_us = 0, high_us = 0;
  double confidence = 0;
  bool extrapolating = false;
  std::string lacks_memory;  // "needs 30.1 GB of 24 GB", or empty
  bool has_breakdown = false;
  std::map<std::string, SavedModule> modules;  // by path; only the calls that the module itself makes
  std::vector<SavedCall> calls;                // of the breakdown, in its order
};
struct SavedPrediction {
  std::string name;  // of the file, for messages
  // The request: "entry" -> "Net()". Of a file only the name is compared, because two checkouts
  // have different folders.
  std::vector<std::pair<std::string, std::string>> question;
  std::string fingerprint;
  std::string model_version;
  std::vector<SavedTarget> targets;
  std::string model() const;  // the file or architecture that the question names
};

// If `json` is not a result, a usage Diagnostic that names the file and what is missing.
absl::StatusOr<SavedPrediction> ParsePrediction(absl::string_view json, const std::string& name);

struct CompareOptions {
  double max_increase = 0.05;     // of the latency, as a fraction
  bool different_models = false;  // compare even if the requests differ
  // What the user can do if they do: not every command has the flag.
  std::string different_hint = "use the same request for both, or add --different-models to compare two models";
};

// A module, or several modules with the same change: transformer.h.*.mlp.
struct ModuleChange {
  std::string path;
  int alike = 1;
  SavedModule before, after;  // summed over these modules; no calls if the network has no such module
  double change_us() const { return after.latency_us - before.latency_us; }
};
struct TargetChange {
  SavedTarget before, after;
  std::vector<ModuleChange> modules;  // largest change first, unchanged ones left out; empty without two breakdowns
  bool regressed = false;
  double change() const { return after.latency_us / before.latency_us - 1; }
  bool is_guess() const { return before.extrapolating || after.extrapolating; }
  bool has_modules() const { return before.has_breakdown && after.has_breakdown; }
};
struct Comparison {
  SavedPrediction before, after;      // their targets are in `targets`
  std::vector<TargetChange> targets;  // in the order of `after`, guesses behind all others
  std::vector<std::string> only_before;
  double max_increase = 0;
  bool regressed() const;
  bool same_network() const { return !before.fingerprint.empty() && before.fingerprint == after.fingerprint; }
};

// What differs between the requests: "entry is Net() in old.json and Net2() in new.json".
std::vector<std::string> QuestionDifferences(const SavedPrediction& before, const SavedPrediction& after);

// A usage Diagnostic that names the difference if the two results have different requests or
// devices, or if `before` lacks a target of `after`.
absl::StatusOr<Comparison> Compare(SavedPrediction before, SavedPrediction after, const CompareOptions& options);

// "5%", "12.5 %" -> 0.05, 0.125. A usage Diagnostic for anything else: 0.05 without a percent sign
// would be ambiguous.
absl::StatusOr<double> ParseIncrease(absl::string_view flag, absl::string_view text);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_COMPARE_H_
