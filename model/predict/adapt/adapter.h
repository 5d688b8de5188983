// A target for a device that no training has seen: from nothing but its data sheet, or from a few
// networks that were timed on it. The trained targets whose data sheets are nearest explain it
// together (adapt_fit.h), after they have been corrected by the difference of the data sheets
// (adapt_prior.h).
//
// It checks itself: if the samples predict each other worse than the data sheet does, they are not
// used. The interval is as wide as the remaining errors: its conformal scores are the samples'
// errors by the other samples, and, like ten more samples, the errors of trained targets from as
// many samples, their whole device left out.
#ifndef COBRA_MODEL_PREDICT_ADAPT_ADAPTER_H_
#define COBRA_MODEL_PREDICT_ADAPT_ADAPTER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "model/predict/adapt/adapt_fit.h"
#include "model/predict/adapt/adapt_prior.h"
#include "model/predict/adapt/adapt_samples.h"
#include "model/predict/adapt/adapt_terms.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

struct AdaptOptions {
  // Devices, by name, whose targets are not used: to try out what would be without them.
  std::vector<std::string> without_devices;
  // Asked from time to time; if it returns true, Cancelled is.
  std::function<bool()> cancelled = {};
  bool is_cancelled() const { return cancelled && cancelled(); }
};

class Adapter {
 public:
  struct CallTimes {
    std::vector<double> node_us;
    double half_width = 0;  // of the network's interval, in log-latency
  };
  // What trained target number `target` takes for a network, given the data sheet `sheet`.
  using TimesOnTarget = std::function<absl::StatusOr<CallTimes>(size_t target, const TargetSpec& sheet)>;
  // Works out once what of a network is the same for all targets. The result refers to `graph`.
  // Cancelled if `cancelled` returns true.
  using PrepareNetwork =
      std::function<absl::StatusOr<TimesOnTarget>(const graph::Graph& graph, const std::function<bool()>& cancelled)>;
  // The next network of a list; nothing at its end. An error ends the list, and is returned.
  using NextNetwork = absl::FunctionRef<absl::StatusOr<std::optional<graph::Graph>>()>;

  Adapter(std::vector<TargetSpec> targets, PrepareNetwork prepare);

  // Of `samples` each network once. The target's name is left to the caller. FailedPrecondition if
  // there is no trained target that could be used. InvalidArgument, which begins with a sample's
  // name, if its latency is some thousand times what the model expects, or the others make it
  // expect.
  absl::StatusOr<Calibration> Adapt(const TargetSpec& machine, absl::Span<const store::TimedNetwork> samples,
                                    const AdaptOptions& options = {}) const;
  // Which networks to time first: up to `count` positions in the list; of equal networks only the
  // first. Those of each fifth of them, by how long they take, that stand best for the others in
  // it. No network is kept while the next one is read. Cancelled if `options.cancelled` returns
  // true.
  absl::StatusOr<std::vector<size_t>> Suggest(const TargetSpec& machine, NextNetwork next, size_t count,
                                              const AdaptOptions& options = {}) const;

 private:
  // Candidates for a device, and what is known about their kind.
  struct Candidate {
    size_t target = 0;
    bool own_specification = false;
  };
  struct Question {
    std::vector<size_t> targets;  // that may be used, the nearest first
    TargetDifferences differences;
    double own_log_odds = 0;  // of giving the networks the new device's sheet
    std::vector<Candidate> candidates;
    std::vector<AdaptCandidate> fits;  // likewise, without networks
  };
  // Of the reference networks, as `candidate` explains `machine`.
  absl::StatusOr<std::vector<NetworkView>> ViewReferences(const Candidate& candidate, const TargetSpec& machine) const;
  // The same of a trained target itself, kept.
  absl::StatusOr<const std::vector<NetworkView>*> ReferenceViews(size_t target) const;
  // The same, given the sheet of the trained target `sheet_of`.
  absl::StatusOr<std::shared_ptr<const std::vector<NetworkView>>> ReferenceViewsAs(size_t target,
                                                                                   size_t sheet_of) const;
  absl::StatusOr<NetworkView> View(const TimesOnTarget& times, const CallClasses& classes, const Candidate& candidate,
                                   const TargetSpec& machine) const;
  absl::StatusOr<Question> Ask(const TargetSpec& machine, const AdaptOptions& options) const;
  absl::StatusOr<double> OwnLogOdds(const std::vector<size_t>& targets, const TargetDifferences& differences) const;
  absl::Status AddNetwork(const TargetSpec& machine, const graph::Graph& graph, const AdaptOptions& options,
                          Question* question) const;
  // Of the networks of a list that differ: their positions, and what each part makes of them.
  struct SuggestedFrom {
    std::vector<size_t> positions;
    std::vector<std::vector<NetworkView>> views;  // by part, of each network
  };
  absl::StatusOr<SuggestedFrom> ViewAll(const TargetSpec& machine, const Question& question,
                                        absl::Span<const AdaptPart> parts, NextNetwork next,
                                        const std::function<bool()>& cancelled) const;
  // A trained target, its device left out: what is true, and who may explain it.
  struct HeldOut {
    const std::vector<NetworkView>* truth = nullptr;
    std::vector<std::shared_ptr<const std::vector<NetworkView>>> views;  // of the candidates
    std::vector<AdaptCandidate> candidates;
  };
  // Without candidates if it is not an example for `machine`: one that has comparable targets, or
  // that has none.
  absl::StatusOr<HeldOut> HoldOut(const Question& question, size_t target, const TargetSpec& machine) const;
  // Sizes of errors of trained targets from `samples` reference networks, each with a weight by how
  // near its target is to `machine`.
  absl::StatusOr<std::vector<std::pair<double, double>>> HeldOutErrors(const Question& question,
                                                                       const TargetSpec& machine, size_t samples) const;

  const std::vector<TargetSpec> targets_;
  const PrepareNetwork prepare_;
  mutable absl::Mutex mutex_;
  // By target; filled when first needed.
  mutable std::vector<std::unique_ptr<const std::vector<NetworkView>>> reference_ ABSL_GUARDED_BY(mutex_);
  // By target and whose sheet it is given.
  mutable std::map<std::pair<size_t, size_t>, std::shared_ptr<const std::vector<NetworkView>>> reference_as_
      ABSL_GUARDED_BY(mutex_);
  // By the targets that may be used: what does not depend on the device.
  mutable std::map<std::vector<size_t>, std::pair<TargetDifferences, double>> known_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_ADAPTER_H_
