#include "model/predict/weights/manifest.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/significant.h"
#include "nlohmann/json.hpp"

namespace cobra::predict {
namespace {

using nlohmann::json;

// As it stands in the text: in a string these quotes would have backslashes.
constexpr absl::string_view kHashMember = "\"manifest_sha256\":\"";
constexpr absl::string_view kIndentedHashMember = "\"manifest_sha256\": \"";  // as older versions have it
constexpr size_t kHashDigits = 64;

// What was fitted or measured is not known to more digits than these, and there are thirty thousand
// such numbers.
json Rounded(json numbers) {
  if (numbers.is_number_float()) {
    numbers = Significant(numbers.get<double>(), 6);
  } else if (numbers.is_structured()) {
    for (json& each : numbers) each = Rounded(std::move(each));
  }
  return numbers;
}

json ErrorsToJson(const MeasuredErrors& e) {
  json spaces = json::array();
  for (const SpaceErrors& s : e.spaces) {
    spaces.push_back({{"space", s.space},
                      {"networks", s.networks},
                      {"mape", s.mape},
                      {"within_10", s.within_10},
                      {"coverage", s.coverage}});
  }
  return {{"layer_mape", e.layer_mape},
          {"network_mape", e.network_mape},
          {"network_within_5", e.network_within_5},
          {"network_within_10", e.network_within_10},
          {"network_within_25", e.network_within_25},
          {"repeatability_floor", e.repeatability_floor},
          {"layers_tested", e.layers_tested},
          {"networks_tested", e.networks_tested},
          {"layer_coverage", e.layer_coverage},
          {"network_coverage", e.network_coverage},
          {"layers_trained", e.layers_trained},
          {"networks_trained", e.networks_trained},
          {"not_run", e.not_run},
          {"spaces", std::move(spaces)}};
}

// The library converts any number, and one that does not fit is undefined behaviour. Throws for
// what is not a whole number.
int64_t WholeNumber(const json& j, const char* name, int64_t missing = 0) {
  const auto found = j.find(name);
  return found == j.end() ? missing : found->get_ref<const json::number_integer_t&>();
}

MeasuredErrors ErrorsFromJson(const json& j) {
  MeasuredErrors e;
  e.layer_mape = j.value("layer_mape", 0.0);
  e.network_mape = j.value("network_mape", 0.0);
  e.network_within_5 = j.value("network_within_5", 0.0);
  e.network_within_10 = j.value("network_within_10", 0.0);
  e.network_within_25 = j.value("network_within_25", 0.0);
  e.repeatability_floor = j.value("repeatability_floor", 0.0);
  e.layers_tested = WholeNumber(j, "layers_tested");
  e.networks_tested = WholeNumber(j, "networks_tested");
  e.layer_coverage = j.value("layer_coverage", 0.0);
  e.network_coverage = j.value("network_coverage", 0.0);
  e.layers_trained = WholeNumber(j, "layers_trained");
  e.networks_trained = WholeNumber(j, "networks_trained");
  e.not_run = WholeNumber(j, "not_run");
  for (const json& s : j.value("spaces", json::array())) {
    e.spaces.push_back({s.value("space", ""), WholeNumber(s, "networks"), s.value("mape", 0.0),
                        s.value("within_10", 0.0), s.value("coverage", 0.0)});
  }
  return e;
}

json NetToJson(const net::NetConfig& c) {
  return {{"vocabulary_size", c.vocabulary_size}, {"value_features", c.value_features},
          {"target_features", c.target_features}, {"graph_features", c.graph_features},
          {"work_terms", c.work_terms},           {"width", c.width},
          {"encoder_layers", c.encoder_layers},   {"heads", c.heads},
          {"feed_forward", c.feed_forward},       {"graph_width", c.graph_width},
          {"graph_layers", c.graph_layers},       {"shared_graph_net", c.shared_graph_net}};
}

// Older versions also list parts of the network that a variant could omit. Only a network that has
// all of them can be read.
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
  c.vocabulary_size = WholeNumber(j, "vocabulary_size");
  c.value_features = WholeNumber(j, "value_features");
  c.target_features = WholeNumber(j, "target_features");
  c.graph_features = WholeNumber(j, "graph_features");
  c.work_terms = WholeNumber(j, "work_terms");
  c.width = WholeNumber(j, "width");
  c.encoder_layers = WholeNumber(j, "encoder_layers");
  c.heads = WholeNumber(j, "heads", 1);
  c.feed_forward = WholeNumber(j, "feed_forward");
  c.graph_width = WholeNumber(j, "graph_width");
  c.graph_layers = WholeNumber(j, "graph_layers");
  c.shared_graph_net = j.value("shared_graph_net", false);
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

// What targets refer to by number, so that each is written once: operators, and fingerprints of
// networks.
struct SharedNames {
  std::vector<std::string> operators, networks;
};

absl::Status ReadOperators(const json& numbers, const SharedNames& names, std::vector<bool>* operators) {
  if (numbers.is_null()) return absl::OkStatus();  // an older version
  operators->resize(graph::kNumOps);
  for (const json& number : numbers) {
    const auto at = number.get<size_t>();
    if (at >= names.operators.size()) return absl::DataLossError("manifest: \"operators\": a number names none");
    // One that this build does not know is in no graph.
    if (const auto op = graph::OpFromName(names.operators[at]); op.has_value())
      (*operators)[static_cast<size_t>(*op)] = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<TargetEntry> TargetFromJson(const json& j, const SharedNames& names) {
  TargetEntry entry;
  COBRA_ASSIGN_OR_RETURN(entry.spec, TargetSpecFromJson(j.at("spec").dump()));
  entry.errors = ErrorsFromJson(j.at("errors"));
  entry.interval.network = IntervalFromJson(j, "interval_network");
  entry.interval.layer = IntervalFromJson(j, "interval_layer");
  for (const IntervalWidth& width : {entry.interval.network, entry.interval.layer}) {
    for (const float weight : width.spread.weights) {
      if (!std::isfinite(weight)) return absl::DataLossError("manifest: \"spread_weights\": has one beyond a float");
    }
  }
  entry.cost_lines = LinearCostsFromJson(j.value("cost_lines", json::object()));
  entry.max_network_gflops = j.value("max_network_gflops", 0.0);
  entry.max_batch = j.value("max_batch", int64_t{0});
  entry.min_batch = j.value("min_batch", int64_t{0});
  entry.is_training_alone = j.value("is_training_alone", false);
  entry.probe_reference_us = j.at("probe_reference_us").get<std::map<std::string, double>>();
  COBRA_RETURN_IF_ERROR(ReadOperators(j.value("operators", json()), names, &entry.operators));
  const auto networks = j.value("networks", std::vector<size_t>{});
  const auto network_us = j.value("network_us", std::vector<double>{});
  for (size_t n = 0; n < networks.size(); ++n) {
    if (networks[n] >= names.networks.size() || networks.size() != network_us.size())
      return absl::DataLossError("manifest: \"networks\", \"network_us\": do not fit together");
    entry.network_us[names.networks[networks[n]]] = network_us[n];
  }
  return entry;
}

}  // namespace

std::string ManifestToJson(const Manifest& m) {
  json targets = json::array(), networks = json::array();
  std::map<std::string, size_t> number_of_network;
  for (const TargetEntry& t : m.targets) {
    targets.push_back({{"spec", ParseJson<json>(TargetSpecToJson(t.spec))},
                       {"errors", Rounded(ErrorsToJson(t.errors))},
                       {"interval_network", Rounded(IntervalToJson(t.interval.network))},
                       {"interval_layer", Rounded(IntervalToJson(t.interval.layer))},
                       {"cost_lines", Rounded(LinearCostsToJson(t.cost_lines))},
                       {"max_network_gflops", t.max_network_gflops},
                       {"max_batch", t.max_batch},
                       {"min_batch", t.min_batch},
                       {"is_training_alone", t.is_training_alone},
                       {"probe_reference_us", t.probe_reference_us}});
    json numbers_of_networks = json::array(), network_us = json::array();
    for (const auto& [fingerprint, us] : t.network_us) {
      const auto number = number_of_network.emplace(fingerprint, number_of_network.size()).first->second;
      if (number == networks.size()) networks.push_back(fingerprint);
      numbers_of_networks.push_back(number);
      network_us.push_back(us);
    }
    targets.back()["networks"] = std::move(numbers_of_networks);
    targets.back()["network_us"] = std::move(network_us);
    if (t.operators.empty()) continue;
    json& numbers = targets.back()["operators"] = json::array();
    for (size_t op = 0; op < t.operators.size(); ++op) {
      if (t.operators[op]) numbers.push_back(op);
    }
  }
  json operators = json::array();
  for (int op = 0; op < graph::kNumOps; ++op) operators.push_back(graph::OpName(static_cast<graph::Op>(op)));
  std::string text = json{
      {"format", m.format},
      {"trained_at", m.trained_at},
      {"net", NetToJson(m.net)},
      {"num_ops", m.num_ops},
      {"knows_gpu_work", m.knows_gpu_work},
      {"vocabulary", m.vocabulary},
      {"value_ranges", m.value_ranges},
      {"targets", targets},
      {"operators", operators},
      {"networks", networks},
      {"layers_trained", m.layers_trained},
      {"networks_trained", m.networks_trained},
      {"training_notes", m.training_notes},
      {"tensors_sha256", m.tensors_sha256},
      {"manifest_sha256",
       ""}}.dump();
  const std::string hash = Sha256Hex(text);
  return text.insert(text.find(std::string(kHashMember)) + kHashMember.size(), hash);
}

absl::Status CheckManifestHash(absl::string_view text) {
  absl::string_view name = kHashMember;
  size_t member = text.find(name);
  if (member == absl::string_view::npos) member = text.find(name = kIndentedHashMember);
  if (member == absl::string_view::npos) return absl::DataLossError("no manifest_sha256; fit it again");
  const size_t hash = member + name.size();
  const absl::string_view rest = text.substr(std::min(text.size(), hash + kHashDigits));
  if (Sha256Hex(absl::StrCat(text.substr(0, hash), rest)) != text.substr(hash, kHashDigits))
    return absl::DataLossError("its SHA-256 is not its manifest_sha256; the file is damaged");
  return absl::OkStatus();
}

absl::StatusOr<Manifest> ManifestFromJson(absl::string_view text) {
  const json j = ParseJson<json>(text);
  if (!j.is_object()) return absl::DataLossError("manifest: not a JSON object");
  Manifest m;
  // The library reports a missing or mistyped field with an exception, which is caught here.
  try {
    if (const int64_t format = WholeNumber(j, "format"); format != 1)
      return absl::DataLossError(absl::StrCat("manifest: format ", format, ", this build reads 1"));
    m.trained_at = j.value("trained_at", "");
    COBRA_RETURN_IF_ERROR(CheckParts(j.at("net")));
    m.net = NetFromJson(j.at("net"));
    m.num_ops = static_cast<int>(WholeNumber(j, "num_ops"));
    m.knows_gpu_work = j.value("knows_gpu_work", false);
    m.vocabulary = j.at("vocabulary").get<std::vector<std::string>>();
    m.value_ranges = j.at("value_ranges").get<std::vector<std::pair<double, double>>>();
    const SharedNames names{j.value("operators", std::vector<std::string>{}),
                            j.value("networks", std::vector<std::string>{})};
    for (const json& t : j.at("targets")) {
      COBRA_ASSIGN_OR_RETURN(TargetEntry entry, TargetFromJson(t, names));
      m.targets.push_back(std::move(entry));
    }
    m.layers_trained = WholeNumber(j, "layers_trained");
    m.networks_trained = WholeNumber(j, "networks_trained");
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

std::vector<const TargetEntry*> CalibrationBases(const Manifest& manifest, const TargetSpec& machine) {
  std::vector<const TargetEntry*> all, of_kind, of_runtime;
  for (const TargetEntry& target : manifest.targets) {
    all.push_back(&target);
    if (target.spec.kind != machine.kind) continue;
    of_kind.push_back(&target);
    if (RuntimeFamily(target.spec) == RuntimeFamily(machine) && target.spec.compile == machine.compile)
      of_runtime.push_back(&target);
  }
  return !of_runtime.empty() ? of_runtime : !of_kind.empty() ? of_kind : all;
}

}  // namespace cobra::predict
