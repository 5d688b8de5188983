#include "server/targets/new_level.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/device_name.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/counted.h"

namespace cobra::server {
namespace {

// Between two probes of one machine: a disturbed minute, or another clock, changes its speed by
// less than a half.
constexpr double kMostChange = 2;

std::string UndoText(absl::string_view target) {
  return absl::StrCat("; cobra-client calibrate --undo --name ", target, " undoes this");
}

// The median of measured over predicted; 1 if nothing was predicted.
absl::StatusOr<double> MedianFactor(const ModelSnapshot& model, absl::string_view target,
                                    const predict::Calibration* calibration,
                                    absl::Span<const store::Measurement> records, bool only_known,
                                    const std::function<bool()>& cancelled) {
  std::vector<double> factors;
  for (const store::Measurement& record : records) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction predicted,
                           model.predictor->Predict(record.subject.graph, target, calibration, cancelled));
    if (only_known && predicted.extrapolating) continue;
    factors.push_back(record.latency.median_us / predicted.latency_us);
  }
  return factors.empty() ? 1 : Median(std::move(factors));
}

bool IsSameMachine(const predict::TargetSpec& known, const predict::TargetSpec& sheet) {
  return known.kind == sheet.kind && DeviceNameHas(known.device, sheet.device) &&
         predict::RuntimeFamily(known) == predict::RuntimeFamily(sheet) && known.precision == sheet.precision &&
         known.compile == sheet.compile && known.layout == sheet.layout &&
         (known.kind == "gpu" || known.threads == sheet.threads);
}

}  // namespace

bool IsTimed(const predict::Calibration& serving) { return serving.parts.empty() || serving.samples > 0; }

absl::StatusOr<double> LevelOf(const ModelSnapshot& model, absl::string_view target,
                               absl::Span<const store::Measurement> records, const std::function<bool()>& cancelled) {
  const predict::Calibration* const serving = model.FindCalibration(target);
  if (serving == nullptr || !IsTimed(*serving)) return 1;
  COBRA_ASSIGN_OR_RETURN(const double factor,
                         MedianFactor(model, target, serving, records, /*only_known=*/false, cancelled));
  return factor <= kMostChange && factor >= 1 / kMostChange ? 1 : factor;
}

std::string ReplacedWarning(double level, absl::string_view target) {
  if (level == 1) return "";
  return absl::StrFormat(
      "by these timings networks take %.2g times as long as by the earlier ones, which they replace: another host, "
      "driver or power mode%s",
      level, UndoText(target));
}

std::string JoinedWarning(double level) {
  if (level == 1) return "";
  return absl::StrFormat(
      "these networks take %.2g times as long as the earlier timings make the target expect: if host, driver or power "
      "mode have changed, time its networks again",
      level);
}

std::string NewLevelWarning(const predict::TimingLevel& level, size_t left_out, absl::string_view target) {
  const std::string others = left_out == 0 ? ""
                                           : absl::StrCat("; ", Counted(static_cast<int64_t>(left_out), "network"),
                                                          " of the target that were not timed again no longer count");
  return absl::StrFormat(
      "%s that the target has now %s %.2g times as long as before: another host, driver or power mode? The earlier "
      "timings no longer count%s%s",
      Counted(static_cast<int64_t>(level.networks), "network"), level.networks == 1 ? "takes" : "take", level.factor,
      others, UndoText(target));
}

absl::StatusOr<std::string> PublishedWarning(const ModelSnapshot& model, const predict::TargetSpec& sheet,
                                             absl::Span<const store::Measurement> records,
                                             const std::function<bool()>& cancelled) {
  std::string nearest;
  double level = 0;
  for (const predict::TargetInfo& trained : model.predictor->targets()) {
    if (records.empty() || !IsSameMachine(trained.spec, sheet)) continue;
    COBRA_ASSIGN_OR_RETURN(const double factor, MedianFactor(model, trained.spec.name, nullptr, records,
                                                             /*only_known=*/true, cancelled));
    if (!nearest.empty() && std::fabs(std::log(factor)) >= std::fabs(std::log(level))) continue;
    nearest = trained.spec.name;
    level = factor;
  }
  if (nearest.empty() || (level <= kMostChange && level >= 1 / kMostChange)) return "";
  return absl::StrFormat(
      "these timings are %.2g times those that %s has of this device: yours count, the published ones do not; are they "
      "for its threads and power mode, and in milliseconds?",
      level, nearest);
}

void AddWarning(const std::string& text, v1::AdaptResponse* response) {
  if (!text.empty()) response->mutable_target()->add_doubted(absl::StrCat("warning: ", text));
}

}  // namespace cobra::server
