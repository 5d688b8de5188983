#include "model/predict/price/training_time.h"

#include <algorithm>

namespace cobra::predict {

double StatisticsUs(const graph::Graph& graph, const graph::Node& call, const TargetSpec& spec,
                    const TargetEntry& target) {
  constexpr double kCycles = 4.4, kUsualMhz = 2600;
  if (call.op != graph::Op::batch_norm || !call.attributes.Bool("training") || target.is_training_alone) return 0;
  if (spec.kind != "cpu" || !IsPyTorch(spec) || spec.compile != "eager") return 0;
  const graph::TensorType& input = graph.TypeOf(call.inputs[0]);
  const int64_t channels = input.rank() > 1 ? input.shape[1] : 1;
  const auto threads = static_cast<double>(std::clamp<int64_t>(channels, 1, std::max(1, spec.threads)));
  const double mhz = spec.clock_mhz > 0 ? spec.clock_mhz : kUsualMhz;
  return kCycles * static_cast<double>(input.num_elements()) / (mhz * threads);
}

}  // namespace cobra::predict
