// A target of predictions, the output of a probe, and the calibration to a machine that the model
// was not trained on.
#ifndef COBRA_MODEL_PREDICT_TARGET_TARGET_H_
#define COBRA_MODEL_PREDICT_TARGET_TARGET_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "store/measurement.h"
#include "store/timed_network.h"

namespace cobra::predict {

// (device, runtime, precision, layout, compile, threads) and the device's published specification.
// Every numeric field is an input of the networks (log-scaled, 0 = unknown).
struct TargetSpec {
  // "cpu-epyc-genoa-1t"; the value of --target.
  std::string name;
  // The vendor's name: "AMD EPYC", "NVIDIA H200".
  std::string device;
  // "cpu" or "gpu".
  std::string kind;
  // "libtorch-1.13.1+openblas-SkylakeX"
  std::string runtime;
  // float32, tf32, tf32-convolutions (matrix products in float32), bfloat16, float16, amp-float16
  // (autocast), int8.
  std::string precision = "float32";
  std::string layout = "nchw";
  std::string compile = "eager";
  int threads = 1;
  // Of this precision, all threads of the target.
  double peak_gflops = 0;
  double memory_gb_per_s = 0;
  double last_level_cache_mb = 0;
  double clock_mhz = 0;
  // Cores or SMs.
  double cores = 0;
  // Of a CPU, by kernel and working set (`cobra-worker describe` measures them in half a second);
  // 0: unknown. Width of the widest registers that kernels may use; L2 of one core.
  double vector_bits = 0;
  double l2_cache_mb = 0;
  // Convolutions in PyTorch: 3x3 of 128 channels of 28 x 28; 1x1 of 256 to 1024 of 14 x 14;
  // depthwise 3x3 of 192 of 28 x 28.
  double convolution_gflops = 0;
  double pointwise_gflops = 0;
  double depthwise_gflops = 0;
  // A relu in place over 100 KiB, and over 3 MiB, bytes read and written.
  double l2_gb_per_s = 0;
  double l3_gb_per_s = 0;
  // The first write to a page of 4 KiB of newly mapped memory.
  double page_fault_us = 0;
  // Of the device, 10^9 bytes: where the largest batch ends. No input of the networks.
  double memory_gb = 0;
  // Of a GPU, watts: the limit of its data sheet, which decides how far below its peak the clock
  // stays under load.
  double board_power_w = 0;
  // Of a GPU's silicon, nanometres: an older one needs more power for the same. 0: of its device in
  // data/devices.
  double process_nm = 0;
};

// The fields of a TargetSpec by their names in JSON, in the order above.
struct TargetField {
  absl::string_view name;
  store::FieldType type = store::FieldType::kText;
};
absl::Span<const TargetField> TargetFields();

// "onnxruntime" of "onnxruntime-1.20.1". A view into `spec`.
absl::string_view RuntimeFamily(const TargetSpec& spec);
// PyTorch's kernels, from Python (torch) or from C++ (libtorch).
bool IsPyTorch(const TargetSpec& spec);
// All tensors of a network are float16 or bfloat16.
bool HasHalfTensors(const TargetSpec& spec);
// Networks run under autocast: casts stand before the calls that compute in float16.
bool HasCasts(const TargetSpec& spec);
// Either: matrix products are in float16 or bfloat16.
bool ComputesInHalf(const TargetSpec& spec);
// "1.20" of "onnxruntime-1.20.1"; empty if it has none.
absl::string_view RuntimeVersion(const TargetSpec& spec);

std::string TargetSpecToJson(const TargetSpec& spec);
absl::StatusOr<TargetSpec> TargetSpecFromJson(absl::string_view json);

// The parsed output of `cobra-worker probe --json`. A record has only the subject and the latency;
// a layer's graph has one node.
struct ProbeResult {
  TargetSpec machine;
  std::vector<store::Measurement> records;
  // Of each timing of a network, also those that are not among the records: its median over what
  // the network takes undisturbed. Empty: nobody looked.
  std::vector<double> disturbance = {};
};
inline constexpr int64_t kMaxProbeGraphBytes = store::kMaxTimedGraphBytes;
// `needs_records`: an error without any. A device that was adapted to only by its data sheet has
// none. A Diagnostic of kind kLimit if the graphs take more than kMaxProbeGraphBytes.
absl::StatusOr<ProbeResult> ProbeResultFromJson(absl::string_view json, bool needs_records = true);
// What it reads, without the details of how it was measured.
std::string ProbeResultToJson(const ProbeResult& probe);
// The same, or a Diagnostic of kind kLimit beyond `max_bytes`, before they are written.
absl::StatusOr<std::string> ProbeResultToJson(const ProbeResult& probe, int64_t max_bytes);

// The range of each work term's logarithm (WorkTerm, features.h) in a probe; empty: no limits.
struct WorkRanges {
  std::vector<double> low, high;
};

// One of several trained targets that explain a device together.
struct CalibrationPart {
  std::string base_target;
  bool own_specification = false;  // as in Calibration
  double weight = 1;
  std::vector<double> coefficients;
};

// What trained targets take for the networks that were timed (profile_model.h).
struct CalibrationProfile {
  struct Network {
    std::vector<double> log_us;  // of each of `targets`
    double variance = 0;         // of the error that they share, of a network that was predicted, not measured
    bool is_quantized = false;
  };
  struct Sample {
    Network network;
    double measured_log_us = 0;
  };
  std::vector<std::string> targets;  // empty: the device was not adapted to in this way
  std::vector<Sample> samples;
  double interval_scale = 1;
};

// What else runs on a machine does to the networks on it: how many times as long as undisturbed
// they take, in the median, and as nineteen of twenty timings at least and at most (disturbance.h).
struct Disturbance {
  double typical = 1, low = 1, high = 1;
  int timings = 0;  // it is known from so many; 0: it is not known
};

// A correction of a trained target, fitted to a probe (calibration.h): the weights of the terms of
// a call's log-latency, and one scale for whole networks. Or a device explained by several trained
// targets (adapter.h). Stored as JSON by the server.
struct Calibration {
  // Its name is "this-machine" unless the user gives another.
  TargetSpec machine;
  std::string base_target;
  // The model version it was fitted for; another version needs a new fit from the same probe.
  std::string model_sha256;
  std::vector<double> coefficients;  // of the terms of calibration_terms.h
  WorkRanges work_ranges;            // of what they were fitted to
  double log_network_scale = 0;
  // The networks are given the machine's own specification beside the base target's learned vector,
  // not the base's.
  bool own_specification = false;
  // A factor of the base target's half-width; the half-width of the remaining errors is added,
  // squared.
  double interval_scale = 1, interval_log = 0;
  double probe_layer_mape_before = 0, probe_layer_mape_after = 0;
  double probe_network_mape_after = 0;
  // Mean error in log-latency on parts of the probe to which nothing was fitted: of its networks
  // and a quarter of that of its layers; with few networks, of its layers. The base target is the
  // one for which it is smallest.
  double held_back_error = 0;
  // Of a device that was adapted to (adapter.h): the logarithm of a latency is the weighted mean of
  // these parts'. The first one is base_target, too. Empty: base_target and coefficients alone.
  std::vector<CalibrationPart> parts;
  // If it has targets, it gives the latency; `parts` gives the breakdown.
  CalibrationProfile profile;
  int samples = 0;  // different networks that were timed
  // Mean error on them without any sample; and of each by all others, if the samples are used.
  double sample_mape_before = 0, sample_mape_after = 0;
  std::vector<std::string> doubted;  // samples that the others contradict (DoubtedSamples), in words
  Disturbance disturbance;           // all of the above is of the undisturbed machine
};
std::string CalibrationToJson(const Calibration& calibration);
absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view json);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_TARGET_H_
