// Measurements -> training rows, and the split that is fixed before anything is trained.
#ifndef COBRA_MODEL_TRAINING_ROWS_DATASET_H_
#define COBRA_MODEL_TRAINING_ROWS_DATASET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"
#include "store/measurement.h"
#include "store/store.h"

namespace cobra::training {

// The split depends only on the fingerprint, so that a row keeps its part when data are added, and
// all measurements of a graph are in the same part. 73 % train, 7 % validation (when to stop, which
// seed), 10 % interval (conformal quantiles only), 10 % test.
enum class Split { kTrain, kValidation, kInterval, kTest };
Split SplitOf(absl::string_view fingerprint_hex);
// Lists of real networks (spaces `torchvision` and `graphs`) are split by family, because one
// ResNet in the training rows would reveal much about the others. `label` is "SPACE/FAMILY".
// torchvision's families are in a table (dataset.cc): resnet (with ResNeXt and Wide ResNet), vgg,
// mobilenetv2, densenet and mnasnet (similar to mobilenetv2) are test. All other rows are split by
// fingerprint.
Split SplitOf(absl::string_view space, absl::string_view label, absl::string_view fingerprint_hex);

// A row: a measurement, and what training adds to it.
struct Sample {
  // With the median latency of the repetition that counts.
  store::Measurement measurement;
  Split split = Split::kTrain;
  // Index of its target in a version of several (NumberTargets).
  int target = 0;
  // Neighbours were loud while it was measured.
  bool is_disturbed = false;
  // Chosen by `cobra-train select`, so not a random sample.
  bool selected = false;
  // Of a layer: the measuring time (measuring_cost.h).
  double measuring_s = 0;
  // Of a network: in-context profile, scaled to add up to the latency; may be empty.
  std::vector<double> node_latency_us;
  // The sum before the scaling.
  double profile_us = 0;

  const graph::Graph& graph() const { return measurement.subject.graph; }
  bool is_network() const { return measurement.subject.is_network; }
  const std::string& space() const { return measurement.subject.space; }
  const std::string& label() const { return measurement.subject.label; }
  const std::string& fingerprint() const { return measurement.subject.fingerprint; }
  double latency_us() const { return measurement.undisturbed_us(); }
  int64_t peak_memory_bytes() const { return measurement.peak_memory_bytes; }
};

// The same subject measured twice, hours apart.
struct Repeat {
  // As in Sample.
  std::string space, label;
  double first_us = 0, second_us = 0;
};

struct Dataset {
  predict::TargetSpec target;
  // One per fingerprint.
  std::vector<Sample> samples;
  std::vector<Repeat> layer_repeats, network_repeats;
  // Records with another outcome than "ok".
  int64_t failures = 0;
  // Rows of a store that nothing is learned from: why each is held, and those that cannot be read
  // as a row.
  std::vector<std::string> held;
  int64_t unreadable = 0;
  // Of probe.json: fingerprint, microseconds.
  std::vector<std::pair<std::string, double>> probe_us;
};

// Gives each data set's samples its position as their target: the order of the targets of a version
// that is trained on all of them.
void NumberTargets(std::vector<Dataset>* sets);

// Which of the version's targets the rows are of: by name, or its only one. InvalidArgument with
// the names otherwise.
absl::StatusOr<int> TargetOf(const predict::Manifest& manifest, const Dataset& data);
// The same of the version in a directory.
absl::StatusOr<int> TargetOf(absl::string_view model_directory, const Dataset& data);

std::vector<const Sample*> RowsOf(const Dataset& data, Split split, bool networks);

// Reads every *.jsonl, *.jsonl.gz and *.jsonl.xz of a directory (store/record_file.h), target.json
// and, if there, probe.json. Files whose names begin with "selected-" hold layers chosen by
// `cobra-train select`; they are always training rows.
absl::StatusOr<Dataset> LoadMeasurements(absl::string_view directory);

// The same of several directories, in their order; on several processors at a time.
absl::StatusOr<std::vector<Dataset>> LoadAllMeasurements(const std::vector<std::string>& directories);

// The records of one file, one per fingerprint, in their order; needs no target.json.
absl::StatusOr<std::vector<Sample>> LoadRecordFile(absl::string_view path);

// Rows that workers measured for the store's target `target`: tasks of any origin, without probes,
// and without disturbed and held measurements. A row that cannot be read is left out, with a
// warning in the log. Spec and probe are left empty.
absl::StatusOr<Dataset> LoadStoreMeasurements(store::Store* store, absl::string_view target);

// Keeps some of the rows from training (Split::kTest), however few there are, so that a new version
// can be judged by rows that it never saw. If the split of the fingerprints leaves at least five
// out, nothing changes. Otherwise, of each kind of at least two rows (layers by operator,
// networks), every fifth is kept, at least one, and of a single network with single layers, the
// network. FailedPrecondition if the rows are too few for that.
absl::Status HoldOutSome(std::vector<Sample>* rows);

// median |a - b| / mean(a, b); 0 without pairs.
double RepeatabilityFloor(const std::vector<Repeat>& repeats);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_ROWS_DATASET_H_
