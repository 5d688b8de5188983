#include "model/predict/weights/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cobra::predict {

double SpreadOf(const SpreadModel& model, absl::Span<const float> embedding) {
  if (model.weights.empty()) return 1;
  double log_spread = model.bias;
  for (size_t i = 0; i < model.weights.size(); ++i)
    log_spread += static_cast<double>(model.weights[i]) * static_cast<double>(embedding[i]);
  return std::exp(std::clamp(log_spread, model.least, model.greatest));
}

}  // namespace cobra::predict
