// Did a network get slower? Two results of `cobra-client predict --format json` beside each other. What is judged is
// the change of the middle of the prediction: the errors of two predictions of nearly the same network are nearly the
// same, so that intervals that overlap do not say that nothing changed.
#ifndef COBRA_CLIENT_COMPARE_H_
#define COBRA_CLIENT_COMPARE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

// What a saved result says.
struct SavedModule {
  int64_t calls = 0;
  double latency_us = 0;
};
struct SavedTarget {
  std::string target;
  std::string device;
  double latency_us = 0, low_us = 0, high_us = 0;
  double confidence = 0;
  bool extrapolating = false;
  bool has_breakdown = false;
  std::map<std::string, SavedModule> modules;  // by path: the calls that a module makes itself
};
struct SavedPrediction {
  std::string name;  // of the file, for messages
  // The question: "entry" -> "Net()". A file counts by its name, not by its folder: two checkouts have two.
  std::vector<std::pair<std::string, std::string>> question;
  std::string fingerprint;
  std::string model_version;
  std::vector<SavedTarget> targets;
};

// A usage Diagnostic that names the file and what is missing where `json` is something else.
absl::StatusOr<SavedPrediction> ParsePrediction(absl::string_view json, const std::string& name);

struct CompareOptions {
  double max_increase = 0.05;     // of the latency, as a fraction
  bool different_models = false;  // two questions are compared although they are not the same
};

// A module, or several that changed alike: transformer.h.*.mlp.
struct ModuleChange {
  std::string path;
  int alike = 1;
  SavedModule before, after;  // summed over the alike ones; no calls where the network has no such module
  double change_us() const { return after.latency_us - before.latency_us; }
};
struct TargetChange {
  SavedTarget before, after;
  std::vector<ModuleChange> modules;  // largest change first, unchanged ones left out; empty without two breakdowns
  bool regressed = false;
  double change() const { return after.latency_us / before.latency_us - 1; }
  bool has_modules() const { return before.has_breakdown && after.has_breakdown; }
};
struct Comparison {
  SavedPrediction before, after;      // their targets are in `targets`
  std::vector<TargetChange> targets;  // in the order of `after`
  std::vector<std::string> only_before;
  double max_increase = 0;
  bool regressed() const;
  bool same_network() const { return !before.fingerprint.empty() && before.fingerprint == after.fingerprint; }
};

// A usage Diagnostic that says what differs where the two are no answers to one question, or of two devices, or where
// `before` lacks a target of `after`.
absl::StatusOr<Comparison> Compare(SavedPrediction before, SavedPrediction after, const CompareOptions& options);

// "5%", "12.5 %" -> 0.05, 0.125. A usage Diagnostic for anything else: 0.05 without a sign would be read either way.
absl::StatusOr<double> ParseIncrease(absl::string_view flag, absl::string_view text);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_COMPARE_H_
