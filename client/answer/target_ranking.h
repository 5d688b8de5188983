// Which target suits a network best, and by how much.
#ifndef COBRA_CLIENT_ANSWER_TARGET_RANKING_H_
#define COBRA_CLIENT_ANSWER_TARGET_RANKING_H_

#include <string>
#include <vector>

#include "client/answer/memory_fit.h"
#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::client {

// A target: the fastest first, those whose latency is a guess (coverage 0) behind all others, and
// behind these the ones whose memory the network exceeds.
struct RankedTarget {
  std::string name;
  double latency_us = 0;
  // How many times as long as on the fastest target, with the interval of this ratio. The errors of
  // two targets are taken as independent; they share a network, so that the interval is rather too
  // wide.
  double ratio = 1, ratio_low = 1, ratio_high = 1;
  // The fastest is faster than this one with the coverage of the intervals: ratio_low is above 1.
  bool is_slower = false;
  bool is_guess = false;
  std::string lacks_memory;  // "needs 30.1 GB of 24 GB", or empty
};
// `sheets`: of the targets whose memory is to count.
std::vector<RankedTarget> RankTargets(const v1::PredictResponse& response, const TargetSheets& sheets = {});

// "fastest: ort", or who may be faster, and a table of the others; empty for a single target. On a
// terminal only the first of very many. `all`: what the first line is about, where the table is
// only about the fastest of them.
std::string RankingText(const v1::PredictResponse& response, const TerminalStyle& style = {},
                        const v1::PredictResponse* all = nullptr, const TargetSheets& sheets = {});
nlohmann::json RankingJson(const v1::PredictResponse& response, const TargetSheets& sheets = {});

// Of an answer for targets that nobody named, what a person wants to see first: of more than twenty
// the ten fastest.
v1::PredictResponse FastestOf(const v1::PredictResponse& response, const TargetSheets& sheets = {});

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_TARGET_RANKING_H_
