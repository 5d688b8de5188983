#include "model/training/selection/active.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "model/training/selection/active_gaussian_process.h"

namespace cobra::training {
namespace {

// The pool in random order (Efraimidis and Spirakis 2006): all layers equally likely, or in
// proportion to 1 / cost.
std::vector<size_t> RandomOrder(const SelectionTask& task, uint64_t seed, bool by_second) {
  std::vector<std::pair<double, size_t>> keys;
  for (size_t i = 0; i < task.cost_s.size(); ++i) {
    const uint64_t bits = HashBytes(absl::StrCat("select/", seed, "/", i)).low >> 11;
    const double unit = (static_cast<double>(bits) + 0.5) * 0x1.0p-53;
    keys.emplace_back(by_second ? -std::log(unit) * task.cost_s[i] : unit, i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<size_t> order;
  for (const auto& [key, i] : keys) order.push_back(i);
  return order;
}

// Selects until the next layer does not fit into the budget.
Selection SelectAtRandom(const SelectionTask& task, const SelectionOptions& options) {
  Selection selection;
  for (size_t i : RandomOrder(task, options.seed, options.strategy == Strategy::kRandomBySecond)) {
    if (selection.seconds + task.cost_s[i] > options.budget_s) break;
    selection.chosen.push_back(i);
    selection.seconds += task.cost_s[i];
  }
  return selection;
}

Hash128 KeyOf(const LayerVectors& v, size_t i) {
  return HashBytes(
      absl::string_view(reinterpret_cast<const char*>(v.row(i)), static_cast<size_t>(v.width) * sizeof(float)));
}

// The layers from which the two rules choose. Layers with bitwise equal vectors are the same call:
// measuring it again adds no information.
std::vector<size_t> Shortlist(const SelectionTask& task, const SelectionOptions& options) {
  absl::flat_hash_set<Hash128> seen;
  for (size_t i = 0; i < task.measured.size(); ++i) seen.insert(KeyOf(task.measured.vectors, i));
  std::vector<size_t> listed;
  double seconds = 0;
  for (size_t i : RandomOrder(task, options.seed, /*by_second=*/true)) {
    if (options.shortlist > 0 && seconds > options.shortlist * options.budget_s) break;
    if (!seen.insert(KeyOf(task.pool.vectors, i)).second) continue;
    listed.push_back(i);
    seconds += task.cost_s[i];
  }
  std::sort(listed.begin(), listed.end());
  return listed;
}

Selection SelectByRule(SelectionTask task, const SelectionOptions& options) {
  const std::vector<size_t> listed = Shortlist(task, options);
  if (listed.empty()) return {};
  LayerSet pool;
  pool.vectors.width = task.pool.vectors.width;
  std::vector<double> cost_s;
  for (size_t i : listed) {
    pool.vectors.values.insert(pool.vectors.values.end(), task.pool.vectors.row(i),
                               task.pool.vectors.row(i) + pool.vectors.width);
    pool.kinds.push_back(task.pool.kinds[i]);
    cost_s.push_back(task.cost_s[i]);
  }
  task.pool = std::move(pool);
  task.cost_s = std::move(cost_s);
  Selection selection = SelectByGaussianProcess(task, options);
  for (size_t& i : selection.chosen) i = listed[i];
  return selection;
}

absl::Status CheckSets(const SelectionTask& task) {
  for (const LayerSet* set : {&task.measured, &task.tried, &task.targets, &task.pool}) {
    if (set->vectors.size() != set->kinds.size() ||
        (set->size() > 0 && set->vectors.width != task.pool.vectors.width)) {
      return absl::InvalidArgumentError("select: the sets of layers do not agree in width, or lack kinds");
    }
  }
  if (task.tried_error.size() != task.tried.size() || task.cost_s.size() != task.pool.size()) {
    return absl::InvalidArgumentError("select: one error for each layer tried, one cost for each of the pool");
  }
  return task.targets.size() > 0 ? absl::OkStatus() : absl::InvalidArgumentError("select: there are no targets");
}

}  // namespace

absl::string_view StrategyName(Strategy strategy) {
  switch (strategy) {
    case Strategy::kRandom: return "random";
    case Strategy::kRandomBySecond: return "random, 1 / cost";
    case Strategy::kInformation: return "information";
    case Strategy::kVariance: return "variance";
  }
  return "";
}

absl::StatusOr<Selection> SelectLayers(const SelectionTask& task, const SelectionOptions& options) {
  if (std::any_of(task.cost_s.begin(), task.cost_s.end(), [](double s) { return !(s > 0); })) {
    return absl::InvalidArgumentError("select: a cost is not positive");
  }
  if (options.strategy == Strategy::kRandom || options.strategy == Strategy::kRandomBySecond)
    return SelectAtRandom(task, options);
  if (absl::Status status = CheckSets(task); !status.ok()) return status;
  try {
    return SelectByRule(task, options);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("select: ", e.what()));
  }
}

}  // namespace cobra::training
