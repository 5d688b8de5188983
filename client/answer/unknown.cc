#include "client/answer/unknown.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/doc_path.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "client/terminal/text_table.h"

namespace cobra::client {

namespace {

// Two digits: more would look as if they were known.
std::string RoughMilliseconds(double us) {
  const double ms = us / 1000;
  return absl::StrFormat(ms >= 10 ? "%.0f" : ms >= 1 ? "%.1f" : "%.2g", ms);
}

}  // namespace

std::string SummaryLine(int64_t calls, int64_t parameters, int64_t macs, int64_t peak_memory_bytes) {
  return absl::StrCat(Counted(calls, "call"), ", ", CountText(static_cast<double>(parameters)), " parameters, ",
                      CountText(static_cast<double>(macs)), " multiply-accumulates, peak memory ",
                      MebibytesText(peak_memory_bytes));
}

std::string GuessText(double low_us, double high_us) {
  return absl::StrCat("a guess: ", RoughMilliseconds(low_us), " to ", RoughMilliseconds(high_us));
}

std::string IntervalText(const v1::TargetPrediction& p) {
  if (p.coverage() <= 0) return GuessText(p.low_us(), p.high_us());
  return absl::StrCat(MillisecondsText(p.low_us()), " ... ", MillisecondsText(p.high_us()));
}

std::string IntervalHeader(const v1::PredictResponse& response) {
  for (const v1::TargetPrediction& p : response.predictions()) {
    if (p.coverage() > 0) return absl::StrFormat("%.0f %% interval ms", 100 * p.coverage());
  }
  return "interval ms";
}

std::string PaintedConfidence(const Painter& paint, double confidence, const std::string& text) {
  constexpr double kLowConfidence = 0.5;
  return confidence >= kSureConfidence ? text : confidence >= kLowConfidence ? paint.Doubt(text) : paint.Bad(text);
}

std::string UnknownText(const v1::TargetPrediction& prediction) {
  constexpr double kMinListedShare = 0.0005;  // a smaller share is shown as "0.0 %"
  std::string parts;
  for (const v1::UnknownPart& part : prediction.unknown()) {
    if (part.share() < kMinListedShare && !prediction.extrapolating()) continue;
    absl::StrAppend(&parts, "  ", PercentText(part.share()), " of the time: ", WithoutEscapes(part.why()), "\n");
  }
  if (parts.empty()) return "";
  std::string text = absl::StrCat("unsure on ", WithoutEscapes(prediction.target()), ":\n", parts);
  if (prediction.extrapolating()) {
    absl::StrAppend(&text, "  The interval is a guess. A worker on the device can measure what is missing (",
                    DocPath("docs/operations.md"), ", \"Learning from requests\").\n");
  }
  return text;
}

bool IsDisturbed(const v1::Disturbance& disturbance) {
  constexpr double kTypical = 1.05, kHigh = 1.15;  // as predict::IsNoticeable
  return disturbance.timings() > 0 && (disturbance.typical_ratio() > kTypical || disturbance.high_ratio() > kHigh);
}

std::string DisturbanceText(const v1::Disturbance& disturbance) {
  return absl::StrFormat(
      "networks took %.2f times their undisturbed time in the median, nine in ten timings %.2f to %.2f times (of %d)",
      disturbance.typical_ratio(), disturbance.low_ratio(), disturbance.high_ratio(), disturbance.timings());
}

std::string UndisturbedText(const v1::TargetPrediction& prediction) {
  constexpr double kVisible = 1.02;
  const v1::UndisturbedLatency& alone = prediction.undisturbed();
  if (!prediction.has_undisturbed() ||
      (prediction.latency_us() < kVisible * alone.latency_us() && prediction.high_us() < kVisible * alone.high_us()))
    return "";
  return absl::StrCat(WithoutEscapes(prediction.target()),
                      ": including the effect of other programs on this machine; undisturbed ",
                      MillisecondsText(alone.latency_us()), " ms (", MillisecondsText(alone.low_us()), " ... ",
                      MillisecondsText(alone.high_us()), ")\n");
}

}  // namespace cobra::client
