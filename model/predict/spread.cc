#include "model/predict/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cobra {

double SpreadOf(const SpreadModel& model, absl::Span<const float> embedding) {
  constexpr double kMost = 3;  // in logarithms, either way: beyond that the line has left what it was fitted to
  if (model.weights.empty()) return 1;
  double log_spread = model.bias;
  for (size_t i = 0; i < model.weights.size(); ++i)
    log_spread += static_cast<double>(model.weights[i]) * static_cast<double>(embedding[i]);
  return std::exp(std::clamp(log_spread, model.bias - kMost, model.bias + kMost));
}

}  // namespace cobra
