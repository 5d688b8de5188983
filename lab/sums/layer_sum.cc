#include "lab/sums/layer_sum.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/builder/extract.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using nlohmann::json;
using LatencyByFingerprint = absl::flat_hash_map<std::string, double>;

// Bounds of LayerSum::sizes: data that fits into a first-level cache, a second-level one, a shared
// third-level one, all of the third-level cache, and more.
constexpr int64_t kSizes[] = {int64_t{64} << 10, int64_t{1} << 20, int64_t{8} << 20, int64_t{32} << 20,
                              std::numeric_limits<int64_t>::max()};

// A call that computes, with its measured times.
struct ProfiledCall {
  std::string op;
  int64_t bytes = 0;  // read and written
  double inside_us = 0;
  double alone_us = 0;  // 0: never measured alone
};

absl::StatusOr<std::vector<ProfiledCall>> CallsOf(const training::Sample& network, const LatencyByFingerprint& alone) {
  std::vector<ProfiledCall> calls;
  const double scale = network.profile_us / network.latency_us();  // node_latency_us sum to latency_us
  for (size_t i = 0; i < network.graph().nodes().size(); ++i) {
    const graph::Node& node = network.graph().nodes()[i];
    if (graph::IsView(node) || graph::IsAlias(network.graph(), node)) continue;
    COBRA_ASSIGN_OR_RETURN(const graph::Graph layer, graph::ExtractLayer(network.graph(), static_cast<int32_t>(i)));
    const auto found = alone.find(graph::Fingerprint(layer).ToHex());
    const graph::GraphCost cost = graph::CostOf(layer);
    calls.push_back({std::string(graph::OpName(node.op)), cost.activation_bytes + cost.weight_bytes,
                     network.node_latency_us[i] * scale, found == alone.end() ? 0 : found->second});
  }
  return calls;
}

struct Family {
  std::vector<double> profile_over_measured, sum_over_measured, sums_us, measured_us;
  double inside_us = 0, covered_us = 0, alone_us = 0;

  void Add(const training::Sample& network, const std::vector<ProfiledCall>& calls) {
    profile_over_measured.push_back(network.profile_us / network.latency_us());
    double sum_us = 0;
    bool complete = true;
    for (const ProfiledCall& call : calls) {
      inside_us += call.inside_us;
      complete = complete && call.alone_us > 0;
      if (call.alone_us <= 0) continue;
      covered_us += call.inside_us;
      alone_us += call.alone_us;
      sum_us += call.alone_us;
    }
    if (!complete || sum_us <= 0) return;
    sum_over_measured.push_back(sum_us / network.latency_us());
    sums_us.push_back(sum_us);
    measured_us.push_back(network.latency_us());
  }

  LayerSumRow Row() const {
    LayerSumRow row;
    row.networks = static_cast<int64_t>(profile_over_measured.size());
    row.profile_over_measured = Median(profile_over_measured);
    if (inside_us > 0) row.covered = covered_us / inside_us;
    if (covered_us > 0) row.alone_over_inside = alone_us / covered_us;
    row.complete = static_cast<int64_t>(sums_us.size());
    row.sum_over_measured = Median(sum_over_measured);
    if (!sums_us.empty()) row.sum = training::ComputeMetrics(sums_us, measured_us);
    return row;
  }
};

// The methods, as predictions of whole networks.
std::vector<std::pair<std::string, training::Metrics>> Methods(const LayerSum& sum,
                                                               const training::Evaluation& evaluation) {
  std::vector<std::pair<std::string, training::Metrics>> methods;
  if (const training::Metrics& measured = sum.families.at("all").sum; measured.n > 0)
    methods.emplace_back("layers measured alone, added", measured);
  methods.emplace_back("layers predicted alone, added (test networks)", evaluation.baselines.at("layer_sum"));
  methods.emplace_back("the same, one factor fitted on training networks", evaluation.baselines.at("layer_sum_scaled"));
  methods.emplace_back("graph network (test networks)", evaluation.networks.at("all"));
  return methods;
}

class Pairs {
 public:
  void Add(const ProfiledCall& call) {
    ++pairs_.calls;
    pairs_.inside_us += call.inside_us;
    pairs_.alone_us += call.alone_us;
    if (call.inside_us > 0) ratios_.push_back(call.alone_us / call.inside_us);
  }
  PairedCalls Row() const {
    PairedCalls row = pairs_;
    row.median_ratio = Median(ratios_);
    return row;
  }

 private:
  PairedCalls pairs_;
  std::vector<double> ratios_;
};

std::string SizeText(int64_t bytes) {
  if (bytes == std::numeric_limits<int64_t>::max()) return "more";
  return bytes < (1 << 20) ? absl::StrCat("up to ", bytes >> 10, " KB") : absl::StrCat("up to ", bytes >> 20, " MB");
}

void AppendPairs(absl::string_view name, const PairedCalls& row, std::string* out) {
  absl::StrAppendFormat(out, "| %s | %d | %.1f | %.1f | %.3f | %.3f |\n", name, row.calls, row.inside_us / 1000,
                        row.alone_us / 1000, row.inside_us > 0 ? row.alone_us / row.inside_us : 0, row.median_ratio);
}

constexpr char kPairsHead[] =
    "calls measured both ways | inside the network, ms | alone, ms | alone / inside | median of it "
    "|\n|---|---|---|---|---|---|\n";

json PairsToJson(const PairedCalls& row) {
  return {{"calls", row.calls},
          {"inside_us", row.inside_us},
          {"alone_us", row.alone_us},
          {"median_ratio", row.median_ratio}};
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

void AppendFamily(const std::string& name, const LayerSumRow& row, std::string* out) {
  absl::StrAppendFormat(out, "| %s | %d | %.3f | %s | %s | %d |", name, row.networks, row.profile_over_measured,
                        Percent(row.covered), row.covered > 0 ? absl::StrFormat("%.3f", row.alone_over_inside) : "",
                        row.complete);
  if (row.complete == 0) {
    absl::StrAppend(out, " | | |\n");
    return;
  }
  absl::StrAppendFormat(out, " %.3f | %s | %s |\n", row.sum_over_measured, Percent(row.sum.mape),
                        Percent(row.sum.within_10));
}

}  // namespace

absl::StatusOr<LayerSum> CompareLayerSums(const training::Dataset& data, absl::Span<const training::Sample> more) {
  LatencyByFingerprint alone;
  for (const training::Sample& layer : more) {
    if (!layer.is_network()) alone.try_emplace(layer.fingerprint(), layer.latency_us());
  }
  for (const training::Sample& layer : data.samples) {
    if (!layer.is_network()) alone.try_emplace(layer.fingerprint(), layer.latency_us());
  }
  std::map<std::string, Family> families;
  std::map<std::string, Pairs> operators;
  std::map<int64_t, Pairs> sizes;
  for (const training::Sample& network : data.samples) {
    if (!network.is_network() || network.node_latency_us.empty()) continue;
    COBRA_ASSIGN_OR_RETURN(const std::vector<ProfiledCall> calls, CallsOf(network, alone));
    families[network.label()].Add(network, calls);
    families["all"].Add(network, calls);
    for (const ProfiledCall& call : calls) {
      if (call.alone_us <= 0) continue;
      operators[call.op].Add(call);
      sizes[*std::lower_bound(std::begin(kSizes), std::end(kSizes), call.bytes)].Add(call);
    }
  }
  if (families.empty()) return absl::NotFoundError("the measurements have no network with node_latency_us");
  LayerSum sum;
  for (const auto& [name, family] : families) sum.families[name] = family.Row();
  for (const auto& [op, pairs] : operators) sum.operators[op] = pairs.Row();
  for (const auto& [size, pairs] : sizes) sum.sizes[size] = pairs.Row();
  return sum;
}

std::string LayerSumToTable(const LayerSum& sum, const training::Evaluation& evaluation) {
  std::string out =
      "| networks | n | profile / latency, median | time of layers also measured alone | those alone / inside | "
      "complete networks | "
      "sum alone / latency, median | MAPE | within 10 % |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& [name, row] : sum.families) {
    if (name != "all") AppendFamily(name, row, &out);
  }
  AppendFamily("all", sum.families.at("all"), &out);
  absl::StrAppend(&out, "\n| bytes that a call reads and writes | ", kPairsHead);
  for (const auto& [size, row] : sum.sizes) AppendPairs(SizeText(size), row, &out);
  std::vector<std::pair<std::string, PairedCalls>> operators(sum.operators.begin(), sum.operators.end());
  std::sort(operators.begin(), operators.end(),
            [](const auto& a, const auto& b) { return a.second.inside_us > b.second.inside_us; });
  absl::StrAppend(&out, "\n| operator | ", kPairsHead);
  for (const auto& [op, row] : operators) AppendPairs(absl::StrCat("`", op, "`"), row, &out);
  absl::StrAppend(&out, "\n| whole networks | n | MAPE | within 10 % | within 25 % |\n|---|---|---|---|---|\n");
  for (const auto& [method, metrics] : Methods(sum, evaluation)) {
    absl::StrAppendFormat(&out, "| %s | %d | %s | %s | %s |\n", method, metrics.n, Percent(metrics.mape),
                          Percent(metrics.within_10), Percent(metrics.within_25));
  }
  return out;
}

std::string LayerSumToJson(const LayerSum& sum, const training::Evaluation& evaluation) {
  json j = {
      {"table", "layer_sum"}, {"rows", json::array()}, {"families", json::object()}, {"operators", json::object()}};
  for (const auto& [method, m] : Methods(sum, evaluation)) {
    j["rows"].push_back(
        {{"method", method},
         {"metrics", {{"mape", m.mape}, {"within_10", m.within_10}, {"within_25", m.within_25}, {"n", m.n}}},
         {"seeds", 1}});
  }
  for (const auto& [name, row] : sum.families) {
    j["families"][name] = {{"networks", row.networks},
                           {"profile_over_measured", row.profile_over_measured},
                           {"covered", row.covered},
                           {"complete", row.complete}};
    if (row.covered > 0) j["families"][name]["alone_over_inside"] = row.alone_over_inside;
    if (row.complete > 0) j["families"][name]["sum_over_measured"] = row.sum_over_measured;
  }
  for (const auto& [op, row] : sum.operators) j["operators"][op] = PairsToJson(row);
  for (const auto& [size, row] : sum.sizes) j["sizes"][SizeText(size)] = PairsToJson(row);
  return j.dump(1);
}

}  // namespace cobra::lab
