#include "model/predict/price/sheet_limits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cobra::predict {
namespace {

// A call for which no least is known still takes some of what it was predicted to.
constexpr double kLeastKept = 0.3;

}  // namespace

SheetLimits::SheetLimits(const TargetSpec& sheet, const graph::Graph& graph)
    : graph_(graph), moving_(sheet), products_(sheet, graph) {}

double SheetLimits::Least(size_t call) const {
  const auto index = static_cast<int32_t>(call);
  return std::log(std::max(moving_.LeastUs(graph_, index), products_.LeastUs(index)));
}

double SheetLimits::Most(size_t call) const { return std::log(products_.MostUs(static_cast<int32_t>(call))); }

void SheetLimits::Keep(std::vector<double>* log_us, bool at_most) const {
  if (!moving_.is_known() && !products_.is_known()) return;  // the least of every call is 0
  std::vector<double> us, least_us;
  double lacking = 0, beyond = 0;
  for (size_t call = 0; call < log_us->size(); ++call) {
    double& log = (*log_us)[call];
    if (at_most) log = std::min(log, Most(call));
    us.push_back(std::exp(log));
    least_us.push_back(std::exp(Least(call)));
    (us.back() < least_us.back() ? lacking : beyond) += std::fabs(us.back() - least_us.back());
  }
  if (lacking == 0) return;
  const double kept = std::max(0.0, 1 - lacking / std::max(beyond, lacking));
  for (size_t call = 0; call < log_us->size(); ++call) {
    const double more = std::max(0.0, us[call] - least_us[call]);
    (*log_us)[call] = std::log(std::max(least_us[call] + kept * more, kLeastKept * us[call]));
  }
}

}  // namespace cobra::predict
