#include "model/predict/target/timings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "graph/form/fingerprint.h"
#include "graph/form/graph_bytes.h"
#include "model/predict/target/device_table.h"
#include "model/predict/target/disturbance.h"
#include "model/predict/target/plausibility.h"

namespace cobra::predict {
namespace {

constexpr double kMostApart = 2;
constexpr double kLongestMs = 600e3, kShortestMs = 1e-5;
constexpr int64_t kMostTimings = 1'000'000'000;

absl::Status CheckTiming(const store::TimedNetwork& timed, const TargetSpec& machine) {
  const double ms = timed.latency_us / 1000;
  if (!std::isfinite(ms) || ms <= 0)
    return absl::InvalidArgumentError(absl::StrCat("latency_ms ", ms, ": is not a time"));
  if (timed.timings < 1 || timed.timings > kMostTimings)
    return absl::InvalidArgumentError(absl::StrCat("timings ", timed.timings, ": from 1 to ", kMostTimings));
  if (ms > kLongestMs || ms < kShortestMs) {
    return absl::InvalidArgumentError(
        absl::StrFormat("latency_ms %.6g: not plausible for a network: is it in milliseconds?", ms));
  }
  const absl::Status plausible = CheckPlausible(timed.graph, timed.latency_us, &machine, ShownUnit::kMilliseconds);
  if (plausible.ok()) return plausible;
  return absl::InvalidArgumentError(absl::StrCat(plausible.message(), ": is it in milliseconds?"));
}

// Medians of one network, weighted.
struct Medians {
  std::vector<std::pair<double, int64_t>> values;

  double Middle() {
    std::sort(values.begin(), values.end());
    int64_t all = 0, sum = 0;
    for (const auto& [us, count] : values) all += count;
    for (size_t i = 0; i < values.size(); ++i) {
      sum += values[i].second;
      if (2 * sum == all) return (values[i].first + values[i + 1].first) / 2;
      if (2 * sum > all) return values[i].first;
    }
    return values.back().first;
  }
  int64_t Count() const {
    int64_t all = 0;
    for (const auto& [us, count] : values) all += count;
    return all;
  }
};

int64_t RunsOf(const store::Measurement& measurement) { return std::max(1, measurement.latency.runs); }

// As ProbeResultToJson writes it, so that a fit to it is the same later.
double AsStored(double us) { return std::max(1e-3, std::round(1000 * us) / 1000); }

store::Measurement RecordOf(store::TimedNetwork timed, std::string fingerprint) {
  store::Measurement record;
  record.subject.is_network = true;
  record.subject.space = "timed";
  record.subject.label = std::move(timed.name);
  record.subject.fingerprint = std::move(fingerprint);
  record.subject.graph = std::move(timed.graph);
  record.latency.median_us = AsStored(timed.latency_us);
  record.latency.runs = static_cast<int>(timed.timings);
  return record;
}

// Records of one subject become one.
std::vector<store::Measurement> Join(std::vector<store::Measurement> records) {
  std::vector<store::Measurement> joined;
  std::vector<Medians> medians;
  std::map<std::string, size_t> places;
  for (store::Measurement& record : records) {
    const auto [place, is_new] = places.emplace(record.subject.fingerprint, joined.size());
    if (is_new) {
      medians.emplace_back();
      joined.push_back(std::move(record));
    }
    const store::Measurement& measurement = is_new ? joined[place->second] : record;
    medians[place->second].values.push_back({measurement.undisturbed_us(), RunsOf(measurement)});
  }
  for (size_t i = 0; i < joined.size(); ++i) {
    if (medians[i].values.size() < 2) continue;
    store::Measurement& measurement = joined[i];
    measurement.latency.median_us = AsStored(medians[i].Middle());
    measurement.latency.quiet_us = 0;
    measurement.conditions.suspect = false;
    measurement.latency.runs = static_cast<int>(std::min(medians[i].Count(), kMostTimings));
  }
  return joined;
}

}  // namespace

namespace {

// With what rows of a network are compared, and how far apart they may be.
struct Usual {
  double us, most_apart;
  std::string where;
  bool is_earlier = false;
};

Usual UsualOf(const std::map<std::string, double>& known_us, const std::string& fingerprint, const Medians& rows,
              const std::string& first_row) {
  if (const auto known = known_us.find(fingerprint); known != known_us.end())
    return {known->second, kMostApart, "which the target has", true};
  const double first = rows.values.front().first;
  if (rows.values.size() < 3) return {first, kMostApart, absl::StrCat("of row ", first_row)};
  Medians sorted = rows;
  const double middle = sorted.Middle();
  // Sorted now. One bad row of several does not speak against the others; those that stay are
  // twofold apart at most.
  const bool is_apart = sorted.values.back().first > kMostApart * sorted.values.front().first;
  return {middle, is_apart ? std::sqrt(kMostApart) : kMostApart, "the median of its rows"};
}

}  // namespace

CheckedTimings CheckTimings(std::vector<store::TimedNetwork> timed, const TargetSpec& machine,
                            absl::Span<const store::Measurement> earlier, const std::function<bool()>& cancelled) {
  std::map<std::string, double> known_us;
  for (const store::Measurement& record : earlier) known_us[record.subject.fingerprint] = record.undisturbed_us();
  CheckedTimings checked;
  std::map<std::string, Medians> of_network;
  std::map<std::string, std::string> first_row;
  std::vector<std::string> fingerprints;
  std::vector<store::TimedNetwork> times;
  const TargetSpec filled = CompletedSheet(machine);
  for (store::TimedNetwork& network : timed) {
    if (cancelled && cancelled()) return {};
    if (absl::Status status = CheckTiming(network, filled); !status.ok()) {
      checked.refused.push_back({network.name, std::move(status)});
      continue;
    }
    of_network[fingerprints.emplace_back(graph::Fingerprint(network.graph).ToHex())].values.push_back(
        {network.latency_us, network.timings});
    first_row.emplace(fingerprints.back(), network.name);
    times.push_back(std::move(network));
  }
  std::vector<store::Measurement> records;
  for (size_t i = 0; i < times.size(); ++i) {
    store::TimedNetwork& network = times[i];
    const Usual usual = UsualOf(known_us, fingerprints[i], of_network[fingerprints[i]], first_row[fingerprints[i]]);
    if (std::fabs(std::log(network.latency_us / usual.us)) > std::log(usual.most_apart)) {
      checked.refused.push_back(
          {network.name, absl::InvalidArgumentError(absl::StrFormat(
                             "latency_ms %.6g: the same network took %.6g ms (%s), more than a factor of two apart; if "
                             "that is wrong, adapt again with all timings that are right%s",
                             network.latency_us / 1000, usual.us / 1000, usual.where,
                             usual.is_earlier ? "; if the device has another host, driver or power mode now, time a "
                                                "third of its networks again and observe them together"
                                              : ""))});
      continue;
    }
    records.push_back(RecordOf(std::move(network), std::move(fingerprints[i])));
  }
  checked.records = Join(std::move(records));
  return checked;
}

void AddTimings(std::vector<store::Measurement> records, ProbeResult* probe) {
  const double typical = DisturbanceOf(probe->disturbance).typical;
  for (store::Measurement& record : records) {
    record.latency.median_us = AsStored(record.latency.median_us / typical);
    probe->records.push_back(std::move(record));
  }
  probe->records = Join(std::move(probe->records));
  size_t networks = 0;
  int64_t bytes = 0;
  for (const store::Measurement& record : probe->records) {
    networks += record.subject.is_network;
    bytes += graph::GraphBytes(record.subject.graph);
  }
  const auto is_one_too_many = [&](const store::Measurement& record) {
    if (!record.subject.is_network || (networks <= kMaxTimedNetworks && bytes <= kMaxProbeGraphBytes)) return false;
    --networks;
    bytes -= graph::GraphBytes(record.subject.graph);
    return true;
  };
  probe->records.erase(std::remove_if(probe->records.begin(), probe->records.end(), is_one_too_many),
                       probe->records.end());
}

bool HasLayers(const ProbeResult& probe) {
  return std::any_of(probe.records.begin(), probe.records.end(),
                     [](const store::Measurement& r) { return !r.subject.is_network; });
}

}  // namespace cobra::predict
