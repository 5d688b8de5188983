// A measurement. One type serves the worker that takes it, its spool, files, the database, and the
// training rows. Each field is defined once, in store/measurement_fields.def.
//
// A file of measurements is JSON lines, append-only, of three kinds. docs/measurements.md says what
// each field means.
//
//   {"kind":"session", "session":ID, "worker_version", "time_utc", "machine":{fields of TargetSpec},
//    "environment":{"torch", "blas_core_type", "governor", "clock_mhz", "huge_pages", "core",
//    "load", ...},
//    "rules":{of layers and of networks}, "seed", "canary_us":{"conv_us", "matmul_us", "copy_us"}}
//                                           one per start of the worker; its canary_us is measured
//                                           at the start
//   {"kind":"record", fields of Measurement}
//                                           one per measured subject
//   {"kind":"canary", "session":ID, "conv_us", "matmul_us", "copy_us", "time_utc", "load"}
//
// A value that the machine does not report is absent, never 0.
#ifndef COBRA_STORE_MEASUREMENT_H_
#define COBRA_STORE_MEASUREMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "store/graph_reader.h"
#include "store/subject.h"

namespace cobra::store {

#define COBRA_OUTCOMES(X) \
  X(ok)                   \
  X(out_of_memory)        \
  X(timeout)              \
  X(unsupported)          \
  X(crashed)

enum class Outcome {
#define COBRA_OUTCOME_ENUM(name) name,
  COBRA_OUTCOMES(COBRA_OUTCOME_ENUM)
#undef COBRA_OUTCOME_ENUM
};

absl::string_view OutcomeName(Outcome outcome);

// The conditions of a measurement: its session, and readings of the machine before and after it.
struct Conditions {
  // Names the session line.
  std::string session;
  // Name of the session's machine: device, precision, layout, threads.
  std::string target;
  // "warm", "cold"
  std::string cache;
  // Canary time over its usual time, the worse of before and after: of convolution and matrix
  // product, and of the copy.
  double canary_ratio = 1, canary_copy_ratio = 1;
  // The canary was off by more than its tolerance.
  bool suspect = false;
  // Latency::median_us is not of a quiet machine (worker/run/measure.h, IsDisturbed): something
  // else ran on its processors. Latency::quiet_us may still be.
  bool disturbed = false;
  // 1-minute load average.
  double load = 0;
  std::string time_utc;
  // Readings of the pinned core, or of the GPU.
  std::optional<double> clock_before_mhz, clock_after_mhz, memory_clock_mhz, temperature_c, power_w;
};

// Wall-clock time of one call.
struct Latency {
  double median_us = 0, p10_us = 0, p90_us = 0, min_us = 0, mean_us = 0;
  // 95 % interval of the median.
  double ci_low_us = 0, ci_high_us = 0;
  // Timed runs, and calls in each.
  int runs = 0;
  int batch = 1;
  // The median of the runs that no neighbour slowed (worker/meter/pulse.h), and their number. With
  // fewer than three of them: the fastest run, or the processor time of a run if that is less, and
  // 0. Both 0: nobody looked.
  double quiet_us = 0;
  int quiet_runs = 0;
  // Runs beside which something else was noticed, of `runs`: a slow pulse before or after them, or
  // the thread lost its processor.
  int loud_runs = 0;
  // The very first call.
  double cold_us = 0;
  // Median of the same calls on the device's own clock (CUDA events around the region); 0 if the
  // device has no clock.
  double device_us = 0;
};

struct Measurement {
  Subject subject;
  Conditions conditions;
  // A failure is a result too. It has a readable message, and none of the members below.
  Outcome outcome = Outcome::ok;
  std::string message;
  Latency latency;
  // 0: not measured.
  int64_t peak_memory_bytes = 0;
  // Energy of one call in joules.
  std::optional<double> energy_j;
  // For a network: the latency of each call, or empty.
  std::vector<double> node_latency_us;
  // For a network in a runner (docs/runners.md): what the runtime ran, as JSON: [[name,
  // microseconds, [calls of the graph]], ...]. Or empty.
  std::string profile_json;

  // The latency without the machine's neighbours, as far as it is known: what models learn from. If
  // they disturbed everything and nobody looked for quiet moments, the fastest run is half as far
  // off as the median.
  double undisturbed_us() const {
    if (latency.quiet_us > 0) return latency.quiet_us;
    return conditions.suspect && latency.min_us > 0 ? latency.min_us : latency.median_us;
  }
};

enum class FieldType { kText, kInteger, kReal, kExactReal, kBool, kReals, kJson };
enum class FieldPresence { kAlways, kIfSet, kOfSuccess, kOfSuccessIfSet };
struct MeasurementField {
  absl::string_view name;
  FieldType type;
  FieldPresence presence;
  int csv_column;
};
// All, in the order of a JSON line. Place i of MeasurementCsvFields() has csv_column i.
absl::Span<const MeasurementField> MeasurementFields();
absl::Span<const MeasurementField> MeasurementCsvFields();

// One line of kind "record", without a newline.
struct MeasurementJsonOptions {
  bool graph = true;
};
std::string MeasurementToJson(const Measurement& measurement, const MeasurementJsonOptions& options = {});
// NotFound for a line of another kind; DataLoss if the line is not a measurement; InvalidArgument
// ("graph: ...") if its graph cannot be built by our shape rules. The fingerprint is computed anew.
absl::StatusOr<Measurement> MeasurementFromJson(absl::string_view line);
// The same; a graph whose text `graphs` has read is not parsed again.
absl::StatusOr<Measurement> MeasurementFromJson(absl::string_view line, GraphReader* graphs);

// InvalidArgument if the outcome is "ok" and the median is not a positive number.
absl::Status CheckLatency(const Measurement& measurement);
constexpr size_t kMaxMessageBytes = 4096;  // of Measurement::message: a few lines of an exception
// What an untrusted worker may report: CheckLatency(), texts of bounded length without control
// characters, numbers that are finite and not negative. InvalidArgument names the field.
absl::Status CheckReported(const Measurement& measurement);
// Also checks min_us <= p10_us <= latency_us <= p90_us for those that are present.
absl::Status CheckLatencies(const Measurement& measurement);

}  // namespace cobra::store

#endif  // COBRA_STORE_MEASUREMENT_H_
