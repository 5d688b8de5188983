// What a prediction says about its own uncertainty, as predict and explain show it.
#ifndef COBRA_CLIENT_UNKNOWN_H_
#define COBRA_CLIENT_UNKNOWN_H_

#include <string>

#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// "90 %"; "no" where nobody knows how often the interval holds the truth.
std::string CoverageText(const v1::TargetPrediction& prediction);

// Lines for people: what the model does not know, with its share of the time, and what would teach it. "" where it
// knows everything that shows in per cent.
std::string UnknownText(const v1::TargetPrediction& prediction);

// [{"why", "share"}, ...]; J is nlohmann's json or ordered_json.
template <typename J>
J UnknownJson(const v1::TargetPrediction& prediction) {
  J parts = J::array();
  for (const v1::UnknownPart& part : prediction.unknown()) {
    J j;
    j["why"] = part.why();
    j["share"] = part.share();
    parts.push_back(std::move(j));
  }
  return parts;
}

}  // namespace cobra::client

#endif  // COBRA_CLIENT_UNKNOWN_H_
