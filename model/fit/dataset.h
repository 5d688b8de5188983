// Measurements -> training rows, and the split that is fixed before anything is trained.
#ifndef COBRA_MODEL_FIT_DATASET_H_
#define COBRA_MODEL_FIT_DATASET_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "model/predict/target.h"
#include "store/store.h"

namespace cobra::fit {

// A function of the fingerprint alone, so that a row keeps its place when data are added and the same graph measured
// twice never stands on two sides. 73 % train, 7 % validation (when to stop, which seed), 10 % interval (conformal
// quantiles only), 10 % test.
enum class Split { kTrain, kValidation, kInterval, kTest };
Split SplitOf(absl::string_view fingerprint_hex);
// Lists of real networks (spaces `torchvision` and `graphs`) stand or fall by family: one ResNet among the training
// rows would tell about all the others. `label` is "SPACE/FAMILY". torchvision's families are in a table (dataset.cc):
// resnet (with ResNeXt and Wide ResNet), vgg, mobilenetv2, densenet and, as kin of mobilenetv2, mnasnet are test. Every
// other row goes by its fingerprint.
Split SplitOf(absl::string_view space, absl::string_view label, absl::string_view fingerprint_hex);

struct Sample {
  graph::Graph graph;
  bool is_network = false;
  std::string label;  // operator of a layer, family of a network
  std::string space;
  std::string fingerprint;  // hex
  Split split = Split::kTrain;
  bool selected = false;                // `cobra-train select` chose it: not what random draws look like
  double latency_us = 0;                // median
  double measuring_s = 0;               // of a layer: what measuring it took of the worker's time (measuring_cost.h)
  std::vector<double> node_latency_us;  // networks: in-context profile, scaled to add up to latency_us; may be empty
  double profile_us = 0;                // what they added up to before
  int64_t peak_memory_bytes = 0;        // measured (docs/measurements.md); 0: it was not
};

// The same subject measured twice, hours apart.
struct Repeat {
  std::string space, label;  // as of Sample
  double first_us = 0, second_us = 0;
};

struct Dataset {
  predict::TargetSpec target;
  std::vector<Sample> samples;  // one per fingerprint
  std::vector<Repeat> layer_repeats, network_repeats;
  int64_t failures = 0;                                  // records with another outcome than "ok"
  std::vector<std::pair<std::string, double>> probe_us;  // fingerprint, microseconds: probe.json
};

std::vector<const Sample*> RowsOf(const Dataset& data, Split split, bool networks);

// Reads every *.jsonl and *.jsonl.gz of a directory (store/record.h has the fields), target.json and, if there,
// probe.json. Files whose names begin with "selected-" hold what `cobra-train select` chose: training rows, whatever
// their fingerprints say.
absl::StatusOr<Dataset> LoadMeasurements(absl::string_view directory);

// The records of one file, one per fingerprint, in their order; no target.json is needed beside it.
absl::StatusOr<std::vector<Sample>> LoadRecordFile(absl::string_view path);

// Rows that workers measured for the store's target `target` (tasks of any origin; not what probes measured), and of
// what was disturbed nothing. Spec and probe are left empty.
absl::StatusOr<Dataset> LoadStoreMeasurements(store::Store* store, absl::string_view target);

// median |a - b| / mean(a, b); 0 without pairs.
double RepeatabilityFloor(const std::vector<Repeat>& repeats);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_DATASET_H_
