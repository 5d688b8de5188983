// Reports of `cobra-train table active`: text, JSON and a plot.
#ifndef COBRA_LAB_REPLAY_ACTIVE_REPORT_H_
#define COBRA_LAB_REPLAY_ACTIVE_REPORT_H_

#include <string>
#include <vector>

#include "lab/replay/active_replay.h"

namespace cobra::lab {

// Seconds of measuring after which a figure (&ReplayPoint::mean ...) is first at most `error`,
// interpolated between rounds on logarithmic scales; infinity if never.
double SecondsToReach(const ReplayCurve& curve, double ReplayPoint::*figure, double error);

// The factor by which random choice needs more seconds than `strategy` for one error level; per
// seed, each compared with random of the same seed.
struct SpeedUp {
  std::string figure;              // "mean error" ...
  double error = 0, random_s = 0;  // the error that random reaches, over its seeds, after random_s seconds
  training::Strategy strategy = training::Strategy::kRandom;
  std::vector<double> by_seed;  // 0 if the strategy never reaches it
};
// For each figure at three levels: the errors of random in the last three rounds (fewer if there
// are fewer rounds; the first is common to all).
std::vector<SpeedUp> SpeedUps(const ActiveTable& table);

// `command` made it.
std::string ActiveTableToMarkdown(const ActiveTable& table, const std::string& command);
std::string ActiveTableToJson(const ActiveTable& table);
// Mean error against seconds, both logarithmic; one line per strategy.
std::string ActiveTableToSvg(const ActiveTable& table);

}  // namespace cobra::lab

#endif  // COBRA_LAB_REPLAY_ACTIVE_REPORT_H_
