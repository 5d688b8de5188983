// What predict and explain both show of a prediction: how sure it is, for people, and its fields in
// JSON.
#ifndef COBRA_CLIENT_ANSWER_UNKNOWN_H_
#define COBRA_CLIENT_ANSWER_UNKNOWN_H_

#include <string>
#include <utility>

#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// "2 calls, 448 parameters, 388.8 k multiply-accumulates, peak memory 0.2 MiB"
std::string SummaryLine(int64_t calls, int64_t parameters, int64_t macs, int64_t peak_memory_bytes);

// Of the interval in milliseconds: "35.099 ... 37.434", or "a guess: 2.0 to 4.5" if nothing is
// known of its coverage.
std::string IntervalText(const v1::TargetPrediction& prediction);
std::string GuessText(double low_us, double high_us);
// "90 % interval ms", by the first prediction whose coverage is known.
std::string IntervalHeader(const v1::PredictResponse& response);

// Below it the measured latency may well be half as much again (docs/model.md).
inline constexpr double kSureConfidence = 0.9;
// "0.97", with a colour if it is low.
std::string PaintedConfidence(const Painter& paint, double confidence, const std::string& text);

// Lines of text: the parts that the model does not know, with their shares of the time, and how to
// measure them. "" if all such shares are negligible.
std::string UnknownText(const v1::TargetPrediction& prediction);

// Whether a calibrated machine is so disturbed that its predictions differ visibly from the
// undisturbed ones.
bool IsDisturbed(const v1::Disturbance& disturbance);
// "networks took 1.18 times their undisturbed time in the median, ..."
std::string DisturbanceText(const v1::Disturbance& disturbance);
// A line: what the network takes while nothing else runs on the machine; "" where that is what the
// prediction says anyway.
std::string UndisturbedText(const v1::TargetPrediction& prediction);

// All but the breakdown; J is nlohmann's json or ordered_json.
template <typename J>
J FieldsJson(const v1::TargetPrediction& prediction) {
  J unknown = J::array();
  for (const v1::UnknownPart& part : prediction.unknown()) {
    J j;
    j["why"] = part.why();
    j["share"] = part.share();
    unknown.push_back(std::move(j));
  }
  J fields;
  fields["target"] = prediction.target();
  fields["latency_us"] = prediction.latency_us();
  fields["low_us"] = prediction.low_us();
  fields["high_us"] = prediction.high_us();
  if (prediction.has_undisturbed()) {
    J undisturbed;
    undisturbed["latency_us"] = prediction.undisturbed().latency_us();
    undisturbed["low_us"] = prediction.undisturbed().low_us();
    undisturbed["high_us"] = prediction.undisturbed().high_us();
    fields["undisturbed"] = std::move(undisturbed);
  }
  fields["coverage"] = prediction.coverage();
  fields["confidence"] = prediction.confidence();
  fields["extrapolating"] = prediction.extrapolating();
  fields["unknown"] = std::move(unknown);
  return fields;
}

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_UNKNOWN_H_
