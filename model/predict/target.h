// What a latency is predicted for, and how a machine that the model never saw is adapted to.
#ifndef COBRA_MODEL_PREDICT_TARGET_H_
#define COBRA_MODEL_PREDICT_TARGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::predict {

// (device, runtime, precision, layout, compile, threads) and the device's published specification. Every numeric field
// is an input of the networks (log-scaled, 0 = unknown).
struct TargetSpec {
  std::string name;     // "cpu-epyc-genoa-1t"; what --target takes
  std::string device;   // as the vendor names it: "AMD EPYC", "NVIDIA H200"
  std::string kind;     // "cpu" | "gpu"
  std::string runtime;  // "libtorch-1.13.1+openblas-SkylakeX"
  std::string precision = "float32";
  std::string layout = "nchw";
  std::string compile = "eager";
  int threads = 1;
  double peak_gflops = 0;  // of this precision, all threads of the target
  double memory_gb_per_s = 0;
  double last_level_cache_mb = 0;
  double clock_mhz = 0;
  double cores = 0;  // cores or SMs
};

std::string TargetSpecToJson(const TargetSpec& spec);
absl::StatusOr<TargetSpec> TargetSpecFromJson(absl::string_view json);

// What `cobra-worker probe --json` prints, parsed.
struct ProbeRecord {
  graph::Graph graph;  // one node for a layer
  bool is_network = false;
  double latency_us = 0;  // median
};
struct ProbeResult {
  TargetSpec machine;
  std::vector<ProbeRecord> records;
};
absl::StatusOr<ProbeResult> ProbeResultFromJson(absl::string_view json);

// A correction of a trained target, fitted on a probe: per operator group, log-latency' = log-latency + bias + slope *
// feature, plus one scale for whole networks. Small, plain, stored as JSON by the server.
struct Calibration {
  TargetSpec machine;  // name "this-machine" unless told otherwise
  std::string base_target;
  std::string model_sha256;  // the model version it was fitted for; another version needs a new fit from the same probe
  std::vector<double> coefficients;
  double log_network_scale = 0;
  double interval_log = 0;  // half-width of what the correction leaves open, beside the base target's own interval
  double probe_layer_mape_before = 0, probe_layer_mape_after = 0;
  double probe_network_mape_after = 0;
};
std::string CalibrationToJson(const Calibration& calibration);
absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view json);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_H_
