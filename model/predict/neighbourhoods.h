// Calls among their neighbours on targets: what the rounds of messages of a graph network make of
// them, kept for other networks. Networks of one search space differ in a few calls, so that most
// of their neighbourhoods are known; then only what follows from the network as a whole is left to
// compute (model/infer/shared_contributions.h). Any thread.
#ifndef COBRA_MODEL_PREDICT_NEIGHBOURHOODS_H_
#define COBRA_MODEL_PREDICT_NEIGHBOURHOODS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "base/bytes/cache_stats.h"
#include "base/bytes/clock_cache.h"
#include "base/bytes/hash.h"
#include "model/infer/shared_contributions.h"
#include "model/predict/network_inputs.h"
#include "model/predict/network_prices.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

class Neighbourhoods : public NetworkPrices {
 public:
  Neighbourhoods(infer::SharedContributionNet net, int64_t cache_bytes);

  infer::NetworkContributions Contribute(const NetworkInputs& inputs, const CallRows& rows, int target,
                                         const TargetSpec& spec) override;
  // Of neighbourhoods after the last round.
  CacheStats stats() override;
  void Clear() override;

 private:
  struct Target {
    Hash128 key;
    infer::SharedTargetTerms terms;
  };
  struct Question;  // a network on a target
  using CallStates = std::vector<std::shared_ptr<const infer::CallState>>;

  std::shared_ptr<const Target> TargetOf(int target, const TargetSpec& spec);
  // Of some classes of calls before a round.
  CallStates StatesBefore(int round, const Question& question, absl::Span<const int32_t> classes);
  std::vector<infer::CallState> StatesOfLayers(const Question& question, absl::Span<const int32_t> layers) const;
  // Of some classes after a round: the classes before it that this takes, and what each takes.
  struct Gathered;
  Gathered Gather(int round, const Question& question, absl::Span<const int32_t> classes);

  const infer::SharedContributionNet net_;
  ClockCache<Target> targets_;
  std::vector<std::unique_ptr<ClockCache<infer::CallState>>> states_;  // before each round
  ClockCache<infer::Neighbourhood> known_;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_NEIGHBOURHOODS_H_
