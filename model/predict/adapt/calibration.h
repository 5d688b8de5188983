// Adapting a trained target to another machine from layers and networks measured there
// (`cobra-worker probe`).
//
// Each probe graph was also measured on the machine that the target was trained on, so the ratios
// are ratios of measurements and the model's errors cancel. The log-ratio of a call is fitted by
// ridge regression (Huber's loss):
//   common bias + common slope * x + group bias + group slope * x + weights * work + weights *
//   work^2
// with x = (log latency_us - 4) / 4, operator groups (operator_group.h), and the logarithms of the
// call's amounts of work (WorkTerm, features.h) over 10. The group terms are regularised more
// strongly than the common ones, so a group with few probes follows the others. The calls of a
// network whose profile was measured count like layers, by their shares. The networks then
// determine one scale for effects that single layers do not show (caches, allocator).
//
// Whether all these terms are used, those without work, only a common factor, or none is decided by
// the errors on an eighth of the probe at a time, to which nothing was fitted. So a calibration is
// hardly ever worse than none. The same errors, of its networks, say how wide the intervals are.
#ifndef COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_H_
#define COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/predict/adapt/calibration_terms.h"
#include "model/predict/target/target.h"
#include "store/measurement.h"

namespace cobra::predict {

// The correction to add to the log-latency of a call.
double CalibrationLogCorrection(const Calibration& calibration, const CallKind& call, double log_latency);

// A measurement on the new machine, and what the trained target takes for the same graph.
struct ComparedMeasurement {
  store::Measurement measured;
  double reference_us = 0;                // measured there, or predicted if it was not measured
  std::vector<double> node_reference_us;  // predicted contributions, for networks
  double half_width = 0;                  // of the trained target's interval, in log-latency

  bool is_network() const { return measured.subject.is_network; }
  double measured_us() const { return measured.undisturbed_us(); }
};

// InvalidArgument for fewer than kMinProbeLayers (plausibility.h), and for layers that differ from
// the reference by more than a factor of 300 or follow no common law, and if the networks are off
// by more than a half with the correction: then the machine was disturbed. Without networks the
// scale stays 1.
absl::StatusOr<Calibration> FitCalibration(absl::Span<const ComparedMeasurement> samples);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_H_
