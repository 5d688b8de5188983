#include "model/predict/weights/linear_cost.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace cobra::predict {
namespace {

constexpr size_t kFewSamples = 20;
constexpr char kCompute[] = "compute", kMemory[] = "memory";

double Gflop(const graph::NodeCost& cost) { return static_cast<double>(cost.flops) / 1e9; }
double Gb(const graph::NodeCost& cost) {
  return static_cast<double>(cost.input_bytes + cost.weight_bytes + cost.output_bytes) / 1e9;
}

const char* ClassKey(graph::CostClass cost_class) {
  return cost_class == graph::CostClass::kCompute ? kCompute : kMemory;
}

// min over a, b >= 0 of sum ((a x + b y) / t - 1)^2: the unconstrained solution, or the better one
// on an axis.
LinearCost Fit(const std::vector<const CostSample*>& samples) {
  double xx = 0, xy = 0, yy = 0, x1 = 0, y1 = 0;
  for (const CostSample* s : samples) {
    const double x = Gflop(s->cost) / s->latency_us, y = Gb(s->cost) / s->latency_us;
    xx += x * x, xy += x * y, yy += y * y, x1 += x, y1 += y;
  }
  const double determinant = xx * yy - xy * xy;
  if (determinant > 1e-9 * xx * yy) {
    const double a = (x1 * yy - y1 * xy) / determinant, b = (y1 * xx - x1 * xy) / determinant;
    if (a >= 0 && b >= 0) return {a, b, 0};
  }
  // How much each axis explains: (sum x)^2 / sum x^2.
  const double gain_x = xx > 0 ? x1 * x1 / xx : 0, gain_y = yy > 0 ? y1 * y1 / yy : 0;
  if (gain_x > gain_y) return {x1 / xx, 0, 0};
  return {0, yy > 0 ? y1 / yy : 0, 0};
}

}  // namespace

double LinearCost::Us(const graph::NodeCost& cost) const { return us_per_gflop * Gflop(cost) + us_per_gb * Gb(cost); }

std::string CostKey(const graph::Node& node) {
  const std::string name(graph::OpName(node.op));
  return node.attributes.Int("groups", 1) > 1 ? absl::StrCat(name, "/grouped") : name;
}

const LinearCost* FindLinearCost(const LinearCosts& lines, const graph::Node& node) {
  const graph::CostClass cost_class = graph::GetOpInfo(node.op).cost_class;
  if (cost_class == graph::CostClass::kView) return nullptr;
  auto found = lines.find(CostKey(node));
  if (found == lines.end()) found = lines.find(ClassKey(cost_class));
  return found == lines.end() ? nullptr : &found->second;
}

LinearCosts FitLinearCosts(const std::vector<CostSample>& samples) {
  std::map<std::string, std::vector<const CostSample*>> kinds;
  for (const CostSample& s : samples) {
    if (s.latency_us <= 0 || s.cost_class == graph::CostClass::kView) continue;
    kinds[s.key].push_back(&s);
    kinds[ClassKey(s.cost_class)].push_back(&s);
  }
  LinearCosts lines;
  for (auto& [key, of_kind] : kinds) {
    if (of_kind.size() < kFewSamples) continue;
    std::sort(of_kind.begin(), of_kind.end(),
              [](const CostSample* a, const CostSample* b) { return a->latency_us > b->latency_us; });
    const std::vector<const CostSample*> large(of_kind.begin(),
                                               of_kind.begin() + static_cast<std::ptrdiff_t>(of_kind.size() / 2));
    LinearCost line = Fit(large);
    for (const CostSample* s : of_kind) line.max_us = std::max(line.max_us, line.Us(s->cost));
    if (line.max_us > 0) lines[key] = line;
  }
  return lines;
}

}  // namespace cobra::predict
