#include "model/predict/price/moving_time.h"

#include <algorithm>
#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "graph/cost/distinct_inputs.h"

namespace cobra::predict {
namespace {

// Reads all of its inputs and writes all of its output, whatever their values.
bool IsOnePass(graph::Op op) {
  using graph::Op;
  constexpr Op kOnePass[] = {Op::add,        Op::sub,        Op::mul,        Op::div,          Op::pow,
                             Op::relu,       Op::relu6,      Op::gelu,       Op::silu,         Op::tanh,
                             Op::sigmoid,    Op::hardswish,  Op::hardtanh,   Op::hardsigmoid,  Op::leaky_relu,
                             Op::elu,        Op::mish,       Op::softplus,   Op::exp,          Op::sqrt,
                             Op::neg,        Op::abs,        Op::clamp,      Op::softmax,      Op::log_softmax,
                             Op::layer_norm, Op::batch_norm, Op::group_norm, Op::instance_norm};
  return absl::c_linear_search(kOnePass, op);
}

bool RunsCallByCall(const TargetSpec& spec) { return spec.kind == "gpu" && spec.compile == "eager" && IsPyTorch(spec); }

// A view may show the same few bytes many times (expand).
bool IsRead(const graph::Graph& graph, const graph::ValueRef& input) {
  if (!input.is_node()) return true;
  const graph::Op op = graph.nodes()[static_cast<size_t>(input.index)].op;
  return graph::GetOpInfo(op).cost_class != graph::CostClass::kView;
}

}  // namespace

MovingTime::MovingTime(const TargetSpec& spec) {
  if (!RunsCallByCall(spec)) return;
  bytes_per_us_ = std::max(0.0, 1e3 * spec.memory_gb_per_s);
  // Of what was written last and what is read next the caches keep as much as they hold, each.
  cache_bytes_ = 2e6 * spec.last_level_cache_mb;
  bytes_of_byte_ = spec.precision == "float32" || absl::StartsWith(spec.precision, "tf32") ? 1 : 0.5;
}

double MovingTime::LeastUs(const graph::Graph& graph, int32_t call) const {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(call)];
  if (!(bytes_per_us_ > 0) || !IsOnePass(node.op)) return 0;
  double bytes = 0;
  for (const graph::TensorType& output : node.outputs) bytes += static_cast<double>(output.num_bytes());
  for (const size_t i : graph::DistinctInputs(node)) {
    if (IsRead(graph, node.inputs[i])) bytes += static_cast<double>(graph.TypeOf(node.inputs[i]).num_bytes());
  }
  return std::max(0.0, bytes_of_byte_ * bytes - cache_bytes_) / bytes_per_us_;
}

}  // namespace cobra::predict
