// `cobra-train table active`: active selection against random, replayed on layers that have been
// measured. A model without prior training (kernel_model.h) starts from a few random layers and is
// fitted again to more layers in each round; each strategy chooses its own. The cost of a layer is
// the time that its measurement took. The shipped weights are not used, because they were trained
// on these labels.
#ifndef COBRA_LAB_REPLAY_ACTIVE_REPLAY_H_
#define COBRA_LAB_REPLAY_ACTIVE_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/training/selection/active.h"

namespace cobra::lab {

// How much is trained and measured. Every strategy gets the same.
struct ReplayPlan {
  // Seconds of measuring, the rounds before included
  std::vector<double> rounds_s = {15, 25, 40, 65, 105, 170, 280, 450};
  std::vector<training::Strategy> strategies = {training::Strategy::kRandom, training::Strategy::kRandomBySecond,
                                                training::Strategy::kInformation, training::Strategy::kVariance};
  size_t max_targets = 3000;  // random layers of the pool, measured or not, over which the expected error is computed
  double shortlist = training::SelectionOptions{}.shortlist;
  size_t min_kind = 10;  // minimum number of test layers of an operator for a separate figure
};
ReplayPlan QuickPlan();  // a smoke test with meaningless figures

struct ReplayOptions {
  std::string rows = "data/measurements/cpu-epyc-genoa-1t";
  std::string split = "data/splits/active-test.txt";  // fingerprints of the test layers, one per line
  std::string state;  // finished curves, one line of JSON each, from which an interrupted run resumes. Empty: none
  int seeds = 3;
  ReplayPlan plan;
};

struct ReplayPoint {
  double seconds = 0;
  int64_t layers = 0;
  double mean = 0, median = 0;  // absolute relative error of the test layers
  double by_kind = 0;           // mean over the operators of their means
};

struct ReplayCurve {
  training::Strategy strategy = training::Strategy::kRandom;
  int seed = 1;
  std::vector<ReplayPoint> points;  // one a round
  double wall_s = 0;
};

struct ActiveTable {
  std::string rows;
  int64_t test_layers = 0, pool_layers = 0;
  double pool_s = 0;  // of measuring, all of it
  double floor = 0;   // repeatability of layers
  int64_t repeats = 0;
  std::vector<ReplayCurve> curves;  // by strategy, then seed
};

absl::StatusOr<ActiveTable> RunActiveTable(const ReplayOptions& options);

}  // namespace cobra::lab

#endif  // COBRA_LAB_REPLAY_ACTIVE_REPLAY_H_
