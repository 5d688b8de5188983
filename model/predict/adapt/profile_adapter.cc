#include "model/predict/adapt/profile_adapter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/keyed_hash.h"
#include "base/status_macros.h"
#include "graph/exact_bytes.h"
#include "graph/form/fingerprint.h"

namespace cobra::predict {
namespace {

constexpr size_t kFewestDevices = 10, kFewestNetworks = 12, kMostNetworks = 64, kMostKnown = 32;
constexpr double kMeasuredShare = 0.6;  // of the targets, on which a network of the reference was measured
constexpr size_t kFewestMeasured = 8;   // targets, from which others follow
// Of what a network took more than predicted on other targets, expected on one where it was not
// measured.
constexpr double kSharedError = 0.7;
constexpr double kQuantileOfInterval = 1.645;
// In log-latency, of a network that was measured nowhere. With it the 90 % intervals hold 89 % of
// the networks left out of table `boards` (with 0.2: 77 %).
constexpr double kLeastError = 0.35;
constexpr size_t kMostTotals = 1024;
// Of more peers only so many are asked about a network, and so many of these because they matter.
constexpr size_t kMostAsked = 10, kMostThatMatter = 5;
constexpr double kMatters = 0.003;  // of the weights' sum

double LogOf(const ProfiledTarget& target, const std::string& fingerprint) {
  const auto found = target.network_us->find(fingerprint);
  return found == target.network_us->end() ? std::numeric_limits<double>::quiet_NaN() : std::log(found->second);
}

// Places in order. Empty: all.
std::vector<size_t> WhomToAsk(const ProfileLandmarks& landmarks, absl::Span<const double> weights) {
  if (weights.size() <= kMostAsked) return {};
  std::vector<size_t> heaviest(weights.size());
  std::iota(heaviest.begin(), heaviest.end(), size_t{0});
  std::partial_sort(heaviest.begin(), heaviest.begin() + kMostThatMatter, heaviest.end(),
                    [&](size_t a, size_t b) { return weights[a] != weights[b] ? weights[a] > weights[b] : a < b; });
  std::set<size_t> asked;
  for (size_t i = 0; i < kMostThatMatter && weights[heaviest[i]] >= kMatters; ++i) asked.insert(heaviest[i]);
  for (const size_t landmark : landmarks.best()) {
    if (asked.size() < kMostAsked) asked.insert(landmark);
  }
  return {asked.begin(), asked.end()};
}

bool IsQuantized(const graph::Graph& graph) {
  return absl::c_any_of(graph.nodes(), [](const graph::Node& node) {
    const std::string type = node.attributes.String("quantized");
    return !type.empty() && type != "float32";
  });
}

}  // namespace

ProfileAdapter::ProfileAdapter(std::vector<ProfiledTarget> targets, PredictTotals predict)
    : targets_(std::move(targets)), predict_(std::move(predict)) {
  for (size_t t = 0; t < targets_.size(); ++t) place_of_.emplace(targets_[t].spec.name, t);
}

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
    const auto found = place_of_.find(name);
    if (found == place_of_.end())
      return absl::FailedPreconditionError(absl::StrCat(name, ": the version has no such target; adapt again"));
    targets.push_back(found->second);
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
    std::vector<std::string> devices;
    for (const size_t t : targets) {
      specs.push_back(targets_[t].spec);
      devices.push_back(targets_[t].spec.device);
      peers->names.push_back(targets_[t].spec.name);
    }
    std::vector<std::vector<double>> reference;
    for (const auto& [count, fingerprint] : common) {
      std::vector<double>& row = reference.emplace_back();
      for (const size_t t : targets) row.push_back(LogOf(targets_[t], fingerprint));
    }
    peers->gaps = std::make_unique<const ProfileGaps>(std::move(devices), reference);
    for (std::vector<double>& row : reference) peers->gaps->Fill(&row);
    peers->landmarks = std::make_unique<const ProfileLandmarks>(reference);
    peers->model = std::make_unique<const ProfileModel>(std::move(specs), std::move(reference));
  }
  absl::MutexLock lock(&mutex_);
  // Users who leave devices out in many ways must not fill the memory.
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace(std::move(targets), std::move(peers)).first->second;
}

absl::StatusOr<ProfileAdapter::Totals> ProfileAdapter::TotalsOf(const Peers& peers, const graph::Graph& graph,
                                                                absl::Span<const size_t> asked,
                                                                const std::function<bool()>& cancelled) const {
  // Networks are untrusted, and callers share what is kept: a call that returns its argument takes
  // time, too.
  SipHasher hasher = KeyedHasher();
  hasher.Add(absl::StrCat(asked.size(), " "));  // where the graph begins
  for (const size_t place : asked) hasher.Add(absl::StrCat(place, " "));
  hasher.Add(graph::ExactBytes(graph));
  const Hash128 key = std::move(hasher).Finish();
  {
    absl::MutexLock lock(&mutex_);
    if (const auto found = peers.totals.find(key); found != peers.totals.end()) return found->second;
  }
  std::vector<size_t> targets;
  for (const size_t place : asked) targets.push_back(peers.targets[place]);
  COBRA_ASSIGN_OR_RETURN(Totals totals, predict_(graph, asked.empty() ? peers.targets : targets, cancelled));
  if (!asked.empty()) {
    std::vector<double> all(peers.targets.size(), std::numeric_limits<double>::quiet_NaN());
    for (size_t i = 0; i < asked.size(); ++i) all[asked[i]] = totals.log_us[i];
    peers.landmarks->Fill(&all);
    totals.log_us = std::move(all);
  }
  absl::MutexLock lock(&mutex_);
  if (peers.totals.size() >= kMostTotals) peers.totals.clear();
  peers.totals[key] = totals;
  return totals;
}

absl::StatusOr<CalibrationProfile::Network> ProfileAdapter::View(const Peers& peers, const graph::Graph& graph,
                                                                 absl::Span<const double> weights,
                                                                 const std::function<bool()>& cancelled) const {
  const std::string fingerprint = graph::Fingerprint(graph).ToHex();
  CalibrationProfile::Network network;
  network.is_quantized = IsQuantized(graph);
  size_t known = 0;
  for (const size_t t : peers.targets) {
    network.log_us.push_back(LogOf(targets_[t], fingerprint));
    known += !std::isnan(network.log_us.back());
  }
  if (known == peers.targets.size()) return network;
  COBRA_ASSIGN_OR_RETURN(const Totals totals, TotalsOf(peers, graph, WhomToAsk(*peers.landmarks, weights), cancelled));
  double error = 0;
  for (size_t j = 0; j < network.log_us.size(); ++j) {
    if (!std::isnan(network.log_us[j])) error += network.log_us[j] - totals.log_us[j];
  }
  if (known > 0) error *= kSharedError / static_cast<double>(known);
  std::vector<double> filled = network.log_us;
  const bool is_known = known >= kFewestMeasured;
  if (is_known) {
    const double all = static_cast<double>(filled.size());
    network.variance = peers.gaps->Fill(&filled) * (all - static_cast<double>(known)) / all;
  } else {
    const double alone = std::max(kLeastError, totals.half_width / kQuantileOfInterval);
    network.variance = std::pow(alone / (1 + static_cast<double>(known)), 2);
  }
  for (size_t j = 0; j < network.log_us.size(); ++j) {
    if (!std::isnan(network.log_us[j])) continue;
    const double predicted = totals.log_us[j] + error;
    network.log_us[j] = is_known ? (predicted + filled[j]) / 2 : predicted;
  }
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
