// What `cobra-train table active` prints and draws.
#ifndef COBRA_EVALUATION_REPLAY_ACTIVE_REPORT_H_
#define COBRA_EVALUATION_REPLAY_ACTIVE_REPORT_H_

#include <string>
#include <vector>

#include "evaluation/replay/active_replay.h"

namespace cobra::evaluation {

// Seconds of measuring after which a figure (&ReplayPoint::mean ...) is first at most `error`, interpolated between
// rounds on logarithmic scales; infinity if never.
double SecondsToReach(const ReplayCurve& curve, double ReplayPoint::*figure, double error);

// How many times the seconds of `strategy` random needs for one error level; seed by seed, each against random of the
// same seed.
struct SpeedUp {
  std::string figure;              // "mean error" ...
  double error = 0, random_s = 0;  // what random reaches, over its seeds, after so many seconds
  fit::Strategy strategy = fit::Strategy::kRandom;
  std::vector<double> by_seed;  // 0 where the strategy never gets there
};
// Of each figure at three levels: what random reaches in the last three rounds (less, where there are fewer; the first
// is common to all).
std::vector<SpeedUp> SpeedUps(const ActiveTable& table);

// `command` made it.
std::string ActiveTableToMarkdown(const ActiveTable& table, const std::string& command);
std::string ActiveTableToJson(const ActiveTable& table);
// Mean error against seconds, both logarithmic; a line a strategy.
std::string ActiveTableToSvg(const ActiveTable& table);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_REPLAY_ACTIVE_REPORT_H_
