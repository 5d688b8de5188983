// Predicts a device from a few of its latencies and from what many devices take for the same
// networks: the devices of one runtime differ in only a few ways, and most new ones are near a
// known one.
//
// It models logarithms of latencies. The new device is a mixture: each trained target, scaled by
// the difference of the data sheets, is the mean of a Gaussian whose covariance is that of the
// differences between near targets. Wide Gaussians with the covariance between all targets stand
// for devices unlike any of them. Samples weight the components and move each of them. A network
// need not be known: all that is asked for is how long every trained target takes for it, measured
// or predicted.
//
// The answer is the median under weights 1 / latency to the power kRelative: it lies between the
// median and what minimises the relative error.
#ifndef COBRA_MODEL_PREDICT_ADAPT_PROFILE_MODEL_H_
#define COBRA_MODEL_PREDICT_ADAPT_PROFILE_MODEL_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

struct ProfileAnswer {
  double log_us = 0, low = 0, high = 0;  // with the 90 % interval

  // How far off it is, in units of the interval's half on that side.
  double ScoreOf(double measured_log_us) const;
};

class ProfileModel {
 public:
  // `reference`: networks, each with the log-latencies of all targets, from which the targets are
  // compared with each other. REQUIRES: at least one target and one network.
  ProfileModel(std::vector<TargetSpec> targets, std::vector<std::vector<double>> reference);
  ~ProfileModel();

  // A question about one device. `without`: a device (TargetSpec::device) whose targets do not
  // count.
  class Question {
   public:
    // The intervals' widths are multiplied by `interval_scale`.
    ProfileAnswer Answer(const CalibrationProfile::Network& network, double interval_scale = 1) const;
    // How much each target says of the device; those of the wide Gaussians left out; sum: 1.
    std::vector<double> Weights() const;
    ~Question();
    Question(Question&&) noexcept;

   private:
    friend class ProfileModel;
    struct State;
    explicit Question(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
  };
  Question Ask(const TargetSpec& machine, absl::Span<const CalibrationProfile::Sample> samples,
               const std::string& without = "") const;

  // By how much the intervals after `samples` samples must be multiplied to hold 90 %: tried on
  // targets as if their devices were not known.
  std::vector<double> HeldOutScores(size_t samples) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PROFILE_MODEL_H_
