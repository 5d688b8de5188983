#include "model/predict/profile_adapter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"

namespace cobra::predict {
namespace {

constexpr size_t kFewestDevices = 10, kFewestNetworks = 12, kMostNetworks = 64, kMostKnown = 32;
constexpr double kMeasuredShare = 0.6;  // of the targets, on which a network of the reference was measured
// Of what a network took more than predicted on other targets, expected on one where it was not measured.
constexpr double kSharedError = 0.7;
constexpr double kQuantileOfInterval = 1.645;
constexpr double kLeastError = 0.2;  // in log-latency, of a network that was measured nowhere
constexpr size_t kMostTotals = 1024;

double LogOf(const ProfiledTarget& target, const std::string& fingerprint) {
  const auto found = target.network_us->find(fingerprint);
  return found == target.network_us->end() ? std::numeric_limits<double>::quiet_NaN() : std::log(found->second);
}

// Networks by targets. What is missing comes from targets with the nearest shape, at the target's level.
void FillGaps(std::vector<std::vector<double>>* reference) {
  constexpr double kNear = 0.05;  // variance of a difference that halves what it says, about
  const std::vector<std::vector<double>> measured = *reference;
  const size_t targets = measured[0].size();
  std::vector<double> mean(measured.size());
  for (size_t n = 0; n < measured.size(); ++n) {
    double sum = 0, count = 0;
    for (const double value : measured[n]) {
      if (std::isnan(value)) continue;
      sum += value;
      count += 1;
    }
    mean[n] = sum / count;
  }
  for (size_t a = 0; a < targets; ++a) {
    if (absl::c_none_of(measured, [a](const std::vector<double>& row) { return std::isnan(row[a]); })) continue;
    std::vector<double> shift(targets), weight(targets);
    double level = 0, known = 0;
    for (size_t n = 0; n < measured.size(); ++n) {
      if (std::isnan(measured[n][a])) continue;
      level += measured[n][a] - mean[n];
      known += 1;
    }
    level = known > 0 ? level / known : 0;
    for (size_t b = 0; b < targets; ++b) {
      double sum = 0, squares = 0, count = 0;
      for (size_t n = 0; n < measured.size() && b != a; ++n) {
        const double difference = measured[n][a] - measured[n][b];
        if (std::isnan(difference)) continue;
        sum += difference;
        squares += difference * difference;
        count += 1;
      }
      if (count < 3) continue;
      shift[b] = sum / count;
      weight[b] = std::pow(kNear / (kNear + squares / count - shift[b] * shift[b]), 4);
    }
    for (size_t n = 0; n < measured.size(); ++n) {
      if (!std::isnan(measured[n][a])) continue;
      double sum = 1e-3 * (mean[n] + level), weights = 1e-3;
      for (size_t b = 0; b < targets; ++b) {
        if (std::isnan(measured[n][b])) continue;
        sum += weight[b] * (measured[n][b] + shift[b]);
        weights += weight[b];
      }
      (*reference)[n][a] = sum / weights;
    }
  }
}

bool IsQuantized(const graph::Graph& graph) {
  return absl::c_any_of(graph.nodes(), [](const graph::Node& node) {
    const std::string type = node.attributes.String("quantized");
    return !type.empty() && type != "float32";
  });
}

}  // namespace

ProfileAdapter::ProfileAdapter(std::vector<ProfiledTarget> targets, PredictTotals predict)
    : targets_(std::move(targets)), predict_(std::move(predict)) {}

std::shared_ptr<const ProfileAdapter::Peers> ProfileAdapter::PeersOf(
    const TargetSpec& machine, absl::Span<const std::string> without_devices) const {
  std::vector<size_t> targets;
  std::set<std::string> devices;
  for (size_t t = 0; t < targets_.size(); ++t) {
    const auto& [spec, network_us] = targets_[t];
    if (spec.kind != machine.kind || RuntimeFamily(spec) != RuntimeFamily(machine) || spec.compile != machine.compile ||
        network_us->size() < kFewestNetworks || absl::c_linear_search(without_devices, spec.device))
      continue;
    targets.push_back(t);
    devices.insert(spec.device);
  }
  if (devices.size() < kFewestDevices) return nullptr;
  return Make(std::move(targets));
}

absl::StatusOr<std::shared_ptr<const ProfileAdapter::Peers>> ProfileAdapter::PeersOf(
    const CalibrationProfile& profile) const {
  std::vector<size_t> targets;
  for (const std::string& name : profile.targets) {
    const auto found = absl::c_find_if(targets_, [&](const ProfiledTarget& t) { return t.spec.name == name; });
    if (found == targets_.end())
      return absl::FailedPreconditionError(absl::StrCat(name, ": the version has no such target; adapt again"));
    targets.push_back(static_cast<size_t>(found - targets_.begin()));
  }
  std::shared_ptr<const Peers> peers = Make(std::move(targets));
  if (peers == nullptr) return absl::FailedPreconditionError("the version has other networks; adapt again");
  return peers;
}

std::shared_ptr<const ProfileAdapter::Peers> ProfileAdapter::Make(std::vector<size_t> targets) const {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = known_.find(targets); found != known_.end()) return found->second;
  }
  std::map<std::string, size_t> measured_on;
  for (const size_t t : targets) {
    for (const auto& [fingerprint, us] : *targets_[t].network_us) ++measured_on[fingerprint];
  }
  std::vector<std::pair<size_t, std::string>> common;
  for (const auto& [fingerprint, count] : measured_on) {
    if (static_cast<double>(count) >= kMeasuredShare * static_cast<double>(targets.size()))
      common.emplace_back(count, fingerprint);
  }
  std::sort(common.rbegin(), common.rend());
  if (common.size() > kMostNetworks) common.resize(kMostNetworks);
  std::shared_ptr<Peers> peers;
  if (common.size() >= kFewestNetworks) {
    peers = std::make_shared<Peers>();
    peers->targets = targets;
    std::vector<TargetSpec> specs;
    for (const size_t t : targets) {
      specs.push_back(targets_[t].spec);
      peers->names.push_back(targets_[t].spec.name);
    }
    std::vector<std::vector<double>> reference;
    for (const auto& [count, fingerprint] : common) {
      std::vector<double>& row = reference.emplace_back();
      for (const size_t t : targets) row.push_back(LogOf(targets_[t], fingerprint));
    }
    FillGaps(&reference);
    peers->model = std::make_unique<const ProfileModel>(std::move(specs), std::move(reference));
  }
  absl::MutexLock lock(&mutex_);
  // Users who leave devices out in many ways must not fill the memory.
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(std::move(targets), std::move(peers)).first->second;
}

absl::StatusOr<ProfileAdapter::Totals> ProfileAdapter::TotalsOf(const Peers& peers, const graph::Graph& graph,
                                                                const std::string& fingerprint) const {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = peers.totals.find(fingerprint); found != peers.totals.end()) return found->second;
  }
  COBRA_ASSIGN_OR_RETURN(Totals totals, predict_(graph, peers.targets));
  absl::MutexLock lock(&mutex_);
  if (peers.totals.size() >= kMostTotals) peers.totals.clear();
  peers.totals[fingerprint] = totals;
  return totals;
}

absl::StatusOr<CalibrationProfile::Network> ProfileAdapter::View(const Peers& peers, const graph::Graph& graph) const {
  const std::string fingerprint = graph::Fingerprint(graph).ToHex();
  COBRA_ASSIGN_OR_RETURN(Totals totals, TotalsOf(peers, graph, fingerprint));
  CalibrationProfile::Network network{std::move(totals.log_us), 0, IsQuantized(graph)};
  std::vector<double> measured;
  double error = 0, count = 0;
  for (size_t j = 0; j < peers.targets.size(); ++j) {
    measured.push_back(LogOf(targets_[peers.targets[j]], fingerprint));
    if (std::isnan(measured[j])) continue;
    error += measured[j] - network.log_us[j];
    count += 1;
  }
  if (count == 0) {
    network.variance = std::pow(std::max(kLeastError, totals.half_width / kQuantileOfInterval), 2);
    return network;
  }
  error *= kSharedError / count;
  for (size_t j = 0; j < measured.size(); ++j)
    network.log_us[j] = std::isnan(measured[j]) ? network.log_us[j] + error : measured[j];
  return network;
}

std::vector<double> ProfileAdapter::HeldOutScores(const Peers& peers, size_t samples) const {
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = peers.held_out_scores.find(samples); found != peers.held_out_scores.end())
      return found->second;
  }
  std::vector<double> scores = peers.model->HeldOutScores(samples);
  absl::MutexLock lock(&mutex_);
  peers.held_out_scores[samples] = scores;
  return scores;
}

}  // namespace cobra::predict
