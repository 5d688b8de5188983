#include "model/predict/sheet_limits.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace cobra::predict {

SheetLimits::SheetLimits(const TargetSpec& sheet, const graph::Graph& graph)
    : graph_(graph), moving_(sheet), products_(sheet, graph) {}

double SheetLimits::Least(size_t call) const {
  const auto index = static_cast<int32_t>(call);
  return std::log(std::max(moving_.LeastUs(graph_, index), products_.LeastUs(index)));
}

double SheetLimits::Most(size_t call) const { return std::log(products_.MostUs(static_cast<int32_t>(call))); }

double SheetLimits::Within(size_t call, double log_us) const {
  return std::max(std::min(log_us, Most(call)), Least(call));
}

double SheetLimits::WithinOfAdapted(size_t call, double log_us, int samples) const {
  return samples > 0 ? std::max(log_us, Least(call)) : Within(call, log_us);
}

}  // namespace cobra::predict
