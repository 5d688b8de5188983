// What a model version says about itself and its targets.
#ifndef COBRA_MODEL_PREDICT_WEIGHTS_TARGET_INFO_H_
#define COBRA_MODEL_PREDICT_WEIGHTS_TARGET_INFO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/predict/target/target.h"

namespace cobra::predict {

// Of the held-out networks of one space (torchvision, timm: of families that were left out whole).
struct SpaceErrors {
  std::string space;
  int64_t networks = 0;
  double mape = 0, within_10 = 0;
  double coverage = 0;  // share inside the 90 % interval
};

// Errors of a target on held-out rows, measured when the model was trained.
struct MeasuredErrors {
  double layer_mape = 0;  // fractions, not per cent
  double network_mape = 0;
  double network_within_5 = 0, network_within_10 = 0, network_within_25 = 0;
  double repeatability_floor = 0;  // median |a-b| / mean(a,b) of networks measured twice
  int64_t layers_tested = 0, networks_tested = 0;
  double layer_coverage = 0, network_coverage = 0;  // shares inside the 90 % intervals
  std::vector<SpaceErrors> spaces;
  // What the weights learned from on this target, and what its runtime could not run, or not
  // rightly.
  int64_t layers_trained = 0, networks_trained = 0, not_run = 0;
};

struct TargetInfo {
  TargetSpec spec;
  MeasuredErrors errors;
  bool calibrated = false;  // a Calibration of a machine, based on a trained target
  std::string base_target;  // the trained target that a calibrated one is based on; otherwise empty
};

struct ModelInfo {
  std::string version;  // directory name and digest
  std::string sha256;   // of the manifest
  int64_t num_parameters = 0;
  int64_t vocabulary_size = 0;
  std::string trained_at;  // RFC 3339
  int64_t layers_trained = 0, networks_trained = 0;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WEIGHTS_TARGET_INFO_H_
