// Which trained targets a new device can be compared with by profiles (profile_model.h), and how
// long these take for a network: as measured when the version was trained, if it was measured
// there, otherwise as predicted, on all of them or on a few from which the others follow
// (profile_landmarks.h). If many targets measured it, the prediction is averaged with what those
// with a similar shape say (profile_gaps.h).
#ifndef COBRA_MODEL_PREDICT_ADAPT_PROFILE_ADAPTER_H_
#define COBRA_MODEL_PREDICT_ADAPT_PROFILE_ADAPTER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/bytes/hash.h"
#include "graph/graph.h"
#include "model/predict/adapt/profile_gaps.h"
#include "model/predict/adapt/profile_landmarks.h"
#include "model/predict/adapt/profile_model.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// A trained target, and what networks took on it: graph fingerprint (hex) -> microseconds.
struct ProfiledTarget {
  TargetSpec spec;
  const std::map<std::string, double>* network_us = nullptr;
};

class ProfileAdapter {
 public:
  struct Totals {
    std::vector<double> log_us;  // of each target that was asked about
    double half_width = 0;       // of the 90 % interval in log-latency, their median
  };
  using PredictTotals = std::function<absl::StatusOr<Totals>(
      const graph::Graph& graph, absl::Span<const size_t> targets, const std::function<bool()>& cancelled)>;

  ProfileAdapter(std::vector<ProfiledTarget> targets, PredictTotals predict);

  // The targets by which a device can be compared: of its kind, runtime and compiler, with enough
  // common networks on enough devices. nullptr if there are too few.
  struct Peers {
    std::vector<size_t> targets;
    std::vector<std::string> names;
    std::unique_ptr<const ProfileGaps> gaps;
    std::unique_ptr<const ProfileLandmarks> landmarks;
    std::unique_ptr<const ProfileModel> model;
    mutable std::map<size_t, std::vector<double>> held_out_scores;  // by number of samples
    mutable std::map<Hash128, Totals> totals;  // by KeyedHash of who was asked and graph::ExactBytes
  };
  std::shared_ptr<const Peers> PeersOf(const TargetSpec& machine, absl::Span<const std::string> without_devices) const;
  // The same of a stored calibration. FailedPrecondition if the version lacks one of them.
  absl::StatusOr<std::shared_ptr<const Peers>> PeersOf(const CalibrationProfile& profile) const;

  // `weights`: how much each target matters. Then only those that matter most are asked, and those
  // that say most of the others; without them all are.
  absl::StatusOr<CalibrationProfile::Network> View(const Peers& peers, const graph::Graph& graph,
                                                   absl::Span<const double> weights = {},
                                                   const std::function<bool()>& cancelled = {}) const;
  // ProfileModel::HeldOutScores, computed once.
  std::vector<double> HeldOutScores(const Peers& peers, size_t samples) const;

 private:
  // `asked`: places of peers, in order; of the others the totals follow.
  absl::StatusOr<Totals> TotalsOf(const Peers& peers, const graph::Graph& graph, absl::Span<const size_t> asked,
                                  const std::function<bool()>& cancelled) const;
  std::shared_ptr<const Peers> Make(std::vector<size_t> targets) const;

  const std::vector<ProfiledTarget> targets_;
  absl::flat_hash_map<std::string, size_t> place_of_;  // in targets_, by name
  const PredictTotals predict_;
  mutable absl::Mutex mutex_;
  mutable std::map<std::vector<size_t>, std::shared_ptr<const Peers>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PROFILE_ADAPTER_H_
