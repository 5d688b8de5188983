#include "model/predict/manifest.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cobra::predict {
namespace {

using nlohmann::json;

// As it stands in the text: in a string these quotes would have backslashes.
constexpr absl::string_view kHashMember = "\"manifest_sha256\": \"";
constexpr size_t kHashDigits = 64;

json ErrorsToJson(const MeasuredErrors& e) {
  return {{"layer_mape", e.layer_mape},
          {"network_mape", e.network_mape},
          {"network_within_5", e.network_within_5},
          {"network_within_10", e.network_within_10},
          {"network_within_25", e.network_within_25},
          {"repeatability_floor", e.repeatability_floor},
          {"layers_tested", e.layers_tested},
          {"networks_tested", e.networks_tested}};
}

MeasuredErrors ErrorsFromJson(const json& j) {
  MeasuredErrors e;
  e.layer_mape = j.value("layer_mape", 0.0);
  e.network_mape = j.value("network_mape", 0.0);
  e.network_within_5 = j.value("network_within_5", 0.0);
  e.network_within_10 = j.value("network_within_10", 0.0);
  e.network_within_25 = j.value("network_within_25", 0.0);
  e.repeatability_floor = j.value("repeatability_floor", 0.0);
  e.layers_tested = j.value("layers_tested", int64_t{0});
  e.networks_tested = j.value("networks_tested", int64_t{0});
  return e;
}

json NetToJson(const net::NetConfig& c) {
  return {{"vocabulary_size", c.vocabulary_size}, {"value_features", c.value_features},
          {"target_features", c.target_features}, {"graph_features", c.graph_features},
          {"work_terms", c.work_terms},           {"width", c.width},
          {"encoder_layers", c.encoder_layers},   {"heads", c.heads},
          {"feed_forward", c.feed_forward},       {"graph_width", c.graph_width},
          {"graph_layers", c.graph_layers}};
}

// Older versions also list parts of the network that a variant could omit. Only a network that has all of them can be
// read.
absl::Status CheckParts(const json& net) {
  for (const char* part : {"numeric_tokens", "target_conditioning", "additive", "prices"}) {
    if (!net.value(part, true)) {
      return absl::DataLossError(absl::StrCat("manifest: a network without ", part, ", which this build cannot read"));
    }
  }
  return absl::OkStatus();
}

net::NetConfig NetFromJson(const json& j) {
  net::NetConfig c;
  c.vocabulary_size = j.value("vocabulary_size", int64_t{0});
  c.value_features = j.value("value_features", int64_t{0});
  c.target_features = j.value("target_features", int64_t{0});
  c.graph_features = j.value("graph_features", int64_t{0});
  c.work_terms = j.value("work_terms", int64_t{0});
  c.width = j.value("width", int64_t{0});
  c.encoder_layers = j.value("encoder_layers", int64_t{0});
  c.heads = j.value("heads", int64_t{1});
  c.feed_forward = j.value("feed_forward", int64_t{0});
  c.graph_width = j.value("graph_width", int64_t{0});
  c.graph_layers = j.value("graph_layers", int64_t{0});
  return c;
}

json LinearCostsToJson(const LinearCosts& lines) {
  json j = json::object();
  for (const auto& [key, line] : lines) {
    j[key] = {{"us_per_gflop", line.us_per_gflop}, {"us_per_gb", line.us_per_gb}, {"max_us", line.max_us}};
  }
  return j;
}

LinearCosts LinearCostsFromJson(const json& j) {
  LinearCosts lines;
  for (const auto& [key, line] : j.items()) {
    lines[key] = {line.at("us_per_gflop").get<double>(), line.at("us_per_gb").get<double>(),
                  line.at("max_us").get<double>()};
  }
  return lines;
}

json IntervalToJson(const IntervalWidth& width) {
  return {{"half_width_log", width.half_width},
          {"spread_bias", width.spread.bias},
          {"spread_weights", width.spread.weights},
          {"spread_range", {width.spread.least, width.spread.greatest}}};
}

// Older versions have one width for all, or a spread without its range.
IntervalWidth IntervalFromJson(const json& target, const std::string& name) {
  const auto found = target.find(name);
  if (found == target.end()) return {target.value(name + "_log", 0.0), {}};
  const double bias = found->at("spread_bias").get<double>();
  const json range = found->value("spread_range", json::array({bias - 3, bias + 3}));
  return {found->at("half_width_log").get<double>(),
          {bias, found->at("spread_weights").get<std::vector<float>>(), range.at(0).get<double>(),
           range.at(1).get<double>()}};
}

absl::StatusOr<TargetEntry> TargetFromJson(const json& j) {
  TargetEntry entry;
  COBRA_ASSIGN_OR_RETURN(entry.spec, TargetSpecFromJson(j.at("spec").dump()));
  entry.errors = ErrorsFromJson(j.at("errors"));
  entry.interval.network = IntervalFromJson(j, "interval_network");
  entry.interval.layer = IntervalFromJson(j, "interval_layer");
  entry.cost_lines = LinearCostsFromJson(j.value("cost_lines", json::object()));
  entry.max_network_gflops = j.value("max_network_gflops", 0.0);
  entry.probe_reference_us = j.at("probe_reference_us").get<std::map<std::string, double>>();
  return entry;
}

}  // namespace

std::string ManifestToJson(const Manifest& m) {
  json targets = json::array();
  for (const TargetEntry& t : m.targets) {
    targets.push_back({{"spec", ParseJson<json>(TargetSpecToJson(t.spec))},
                       {"errors", ErrorsToJson(t.errors)},
                       {"interval_network", IntervalToJson(t.interval.network)},
                       {"interval_layer", IntervalToJson(t.interval.layer)},
                       {"cost_lines", LinearCostsToJson(t.cost_lines)},
                       {"max_network_gflops", t.max_network_gflops},
                       {"probe_reference_us", t.probe_reference_us}});
  }
  std::string text = json{
      {"format", m.format},
      {"trained_at", m.trained_at},
      {"net", NetToJson(m.net)},
      {"num_ops", m.num_ops},
      {"vocabulary", m.vocabulary},
      {"value_ranges", m.value_ranges},
      {"targets", targets},
      {"layers_trained", m.layers_trained},
      {"networks_trained", m.networks_trained},
      {"training_notes", m.training_notes},
      {"tensors_sha256", m.tensors_sha256},
      {"manifest_sha256",
       ""}}.dump(1);
  const std::string hash = Sha256Hex(text);
  return text.insert(text.find(std::string(kHashMember)) + kHashMember.size(), hash);
}

absl::Status CheckManifestHash(absl::string_view text) {
  const size_t member = text.find(kHashMember);
  if (member == absl::string_view::npos) return absl::DataLossError("no manifest_sha256; fit it again");
  const size_t hash = member + kHashMember.size();
  const absl::string_view rest = text.substr(std::min(text.size(), hash + kHashDigits));
  if (Sha256Hex(absl::StrCat(text.substr(0, hash), rest)) != text.substr(hash, kHashDigits))
    return absl::DataLossError("its SHA-256 is not its manifest_sha256; the file is damaged");
  return absl::OkStatus();
}

absl::StatusOr<Manifest> ManifestFromJson(absl::string_view text) {
  const json j = ParseJson<json>(text);
  if (!j.is_object()) return absl::DataLossError("manifest: not a JSON object");
  if (j.value("format", 0) != 1) {
    return absl::DataLossError(absl::StrCat("manifest: format ", j.value("format", 0), ", this build reads 1"));
  }
  Manifest m;
  // The library reports a missing or mistyped field with an exception, which is caught here.
  try {
    m.trained_at = j.value("trained_at", "");
    COBRA_RETURN_IF_ERROR(CheckParts(j.at("net")));
    m.net = NetFromJson(j.at("net"));
    m.num_ops = j.value("num_ops", 0);
    m.vocabulary = j.at("vocabulary").get<std::vector<std::string>>();
    m.value_ranges = j.at("value_ranges").get<std::vector<std::pair<double, double>>>();
    for (const json& t : j.at("targets")) {
      COBRA_ASSIGN_OR_RETURN(TargetEntry entry, TargetFromJson(t));
      m.targets.push_back(std::move(entry));
    }
    m.layers_trained = j.value("layers_trained", int64_t{0});
    m.networks_trained = j.value("networks_trained", int64_t{0});
    m.training_notes = j.value("training_notes", std::vector<std::string>{});
    m.tensors_sha256 = j.at("tensors_sha256").get<std::string>();
  } catch (const json::exception& e) {
    return absl::DataLossError(absl::StrCat("manifest: ", e.what()));
  }
  if (m.net.vocabulary_size != static_cast<int64_t>(m.vocabulary.size()) ||
      m.value_ranges.size() != m.vocabulary.size() || m.targets.empty()) {
    return absl::DataLossError("manifest: vocabulary, value_ranges and targets do not fit together");
  }
  return m;
}

}  // namespace cobra::predict
