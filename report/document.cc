#include "report/document.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "graph/cost/cost.h"
#include "graph/cost/memory.h"
#include "graph/saturated.h"
#include "graph/types.h"
#include "proto/target_json.h"
#include "report/boxes.h"
#include "report/call_text.h"

namespace cobra::report {
namespace {

using nlohmann::json;

std::string Clean(absl::string_view text) { return WithoutEscapes(ReplaceInvalidUtf8(text)); }

// Six digits are more than a prediction has, and a third of the bytes of a double in full.
double Rounded(double value) { return std::strtod(absl::StrFormat("%.6g", value).c_str(), nullptr); }

// Texts that many calls share, each once.
class Texts {
 public:
  int Add(std::string text) {
    const auto [it, added] = known_.try_emplace(text, static_cast<int>(known_.size()));
    if (added) all_.push_back(std::move(text));
    return it->second;
  }
  json Take() && { return std::move(all_); }

 private:
  absl::flat_hash_map<std::string, int> known_;
  json all_ = json::array();
};

// The places in the source that calls come from.
class Places {
 public:
  explicit Places(const Contents& contents) : contents_(contents), lines_(contents.source_text) {}

  // -1: unknown
  int Add(const graph::Origin& origin) {
    const auto& file = origin.shown_file();
    if (file == nullptr) return -1;
    const int line = origin.shown_line();
    const auto [it, added] = known_.try_emplace({*file, line}, static_cast<int>(known_.size()));
    if (added) {
      const std::string shown = contents_.shown_file ? contents_.shown_file(*file) : *file;
      all_.push_back({{"file", Clean(shown)}, {"line", line}, {"text", Clean(lines_.Line(*file, line))}});
    }
    return it->second;
  }
  json Take() && { return std::move(all_); }

 private:
  const Contents& contents_;
  SourceLines lines_;
  absl::flat_hash_map<std::pair<std::string, int>, int> known_;
  json all_ = json::array();
};

// Column by column: names once, not once for each call.
json CallsJson(const graph::Graph& graph, const Contents& contents) {
  json ops = json::array(), modules = json::array(), places = json::array(), inputs = json::array();
  json outputs = json::array(), macs = json::array(), flops = json::array(), bytes = json::array();
  Texts texts;
  Places lines(contents);
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    ops.push_back(texts.Add(std::string(graph::OpName(node.op))));
    modules.push_back(texts.Add(Clean(node.origin.module_path)));
    places.push_back(lines.Add(node.origin));
    inputs.push_back(texts.Add(FirstInput(graph, node)));
    outputs.push_back(texts.Add(OutputText(node)));
    macs.push_back(costs[i].macs);
    flops.push_back(costs[i].flops);
    bytes.push_back(graph::Plus(graph::Plus(costs[i].input_bytes, costs[i].weight_bytes), costs[i].output_bytes));
  }
  return {{"op", std::move(ops)},
          {"module", std::move(modules)},
          {"place", std::move(places)},
          {"input", std::move(inputs)},
          {"output", std::move(outputs)},
          {"macs", std::move(macs)},
          {"flops", std::move(flops)},
          {"bytes", std::move(bytes)},
          {"texts", std::move(texts).Take()},
          {"places", std::move(lines).Take()}};
}

json BoxesJson(const graph::Graph& graph) {
  json kinds = json::array(), labels = json::array(), parents = json::array(), firsts = json::array();
  json ends = json::array(), rows = json::array(), enters = json::array(), edges = json::array();
  Texts texts;
  for (const Box& box : MakeBoxes(graph)) {
    kinds.push_back(static_cast<int>(box.kind));
    labels.push_back(texts.Add(Clean(box.label)));
    parents.push_back(box.parent);
    firsts.push_back(box.first_call);
    ends.push_back(box.end_call);
    rows.push_back(box.row);
    enters.push_back(box.reads_outside ? 1 : 0);
    for (const auto& [from, to] : box.edges) {
      edges.push_back(from);
      edges.push_back(to);
    }
  }
  return {{"kind", std::move(kinds)},    {"label", std::move(labels)}, {"parent", std::move(parents)},
          {"first", std::move(firsts)},  {"end", std::move(ends)},     {"row", std::move(rows)},
          {"enters", std::move(enters)}, {"edges", std::move(edges)},  {"texts", std::move(texts).Take()}};
}

json TensorsJson(absl::Span<const graph::NamedTensor> tensors) {
  json list = json::array();
  for (const graph::NamedTensor& tensor : tensors)
    list.push_back({{"name", Clean(tensor.name)}, {"type", ShortType(tensor.type)}});
  return list;
}

json OutputsJson(const graph::Graph& graph) {
  json list = json::array();
  for (const graph::ValueRef& output : graph.outputs()) {
    if (!output.is_none()) list.push_back(ShortType(graph.TypeOf(output)));
  }
  return list;
}

json NetworkJson(const Answer& answer, const Contents& contents) {
  const graph::Graph& graph = *answer.graph;
  const v1::PredictResponse& r = answer.response;
  graph::MemoryUse memory = graph::MemoryUseOf(graph);
  return {
      {"fingerprint", r.fingerprint()},
      {"parameters", r.parameter_count()},
      {"macs", r.macs()},
      {"flops", r.flops()},
      {"peak_memory_bytes", r.peak_memory_bytes()},
      {"inputs", TensorsJson(graph.inputs())},
      {"outputs", OutputsJson(graph)},
      {"calls", CallsJson(graph, contents)},
      {"boxes", BoxesJson(graph)},
      {"memory", {{"always_bytes", memory.always_bytes}, {"during_call_bytes", std::move(memory.during_call_bytes)}}}};
}

json UnknownJson(const v1::TargetPrediction& prediction) {
  json unknown = json::array();
  for (const v1::UnknownPart& part : prediction.unknown())
    unknown.push_back({{"why", Clean(part.why())}, {"share", Rounded(part.share())}});
  return unknown;
}

absl::StatusOr<json> BreakdownJson(const v1::TargetPrediction& prediction, size_t calls) {
  if (static_cast<size_t>(prediction.breakdown_size()) != calls)
    return absl::InternalError("the server's breakdown does not match this graph");
  std::vector<double> latency(calls), alone(calls);
  std::vector<int> why(calls, -1);
  Texts reasons;
  for (const v1::NodeLatency& row : prediction.breakdown()) {
    if (row.node() < 0 || static_cast<size_t>(row.node()) >= calls)
      return absl::InternalError("the server's breakdown names a call that this graph does not have");
    const auto node = static_cast<size_t>(row.node());
    latency[node] = Rounded(row.latency_us());
    alone[node] = Rounded(row.alone_us());
    if (!row.unknown().empty()) why[node] = reasons.Add(Clean(row.unknown()));
  }
  return json{{"latency_us", latency}, {"alone_us", alone}, {"unknown", why}, {"reasons", std::move(reasons).Take()}};
}

json ErrorsJson(const v1::MeasuredErrors& errors) {
  return {{"network_mape", errors.network_mape()},
          {"network_within_10_percent", errors.network_within_10_percent()},
          {"network_coverage", errors.network_coverage()},
          {"networks_tested", errors.networks_tested()},
          {"repeatability_floor", errors.repeatability_floor()}};
}

absl::StatusOr<json> TargetJson(const v1::TargetPrediction& p, const Answer& answer, size_t network,
                                const v1::ListTargetsResponse* sheets) {
  json target = {{"target", Clean(p.target())},
                 {"network", network},
                 {"latency_us", p.latency_us()},
                 {"low_us", p.low_us()},
                 {"high_us", p.high_us()},
                 {"coverage", p.coverage()},
                 {"confidence", p.confidence()},
                 {"extrapolating", p.extrapolating()},
                 {"torch_version", Clean(p.torch_version())},
                 {"unknown", UnknownJson(p)}};
  const v1::PredictResponse& r = answer.response;
  target["peak_memory_bytes"] = p.peak_memory_bytes() > 0 ? p.peak_memory_bytes() : r.peak_memory_bytes();
  if (p.has_undisturbed()) {
    const v1::UndisturbedLatency& alone = p.undisturbed();
    target["undisturbed"] = {
        {"latency_us", alone.latency_us()}, {"low_us", alone.low_us()}, {"high_us", alone.high_us()}};
  }
  COBRA_ASSIGN_OR_RETURN(target["calls"], BreakdownJson(p, answer.graph->nodes().size()));
  if (sheets == nullptr) return target;
  for (const v1::Target& sheet : sheets->targets()) {
    if (sheet.spec().name() != p.target()) continue;
    target["spec"] = ParseJson<json>(Clean(proto::TargetSpecToJson(sheet.spec())));
    target["calibrated"] = sheet.calibrated();
    target[sheet.calibrated() ? "base_target_errors" : "errors"] = ErrorsJson(sheet.errors());
    if (sheet.calibrated()) target["base_target"] = Clean(sheet.base_target());
  }
  return target;
}

}  // namespace

absl::StatusOr<json> MakeDocument(const Contents& contents) {
  if (contents.answers.empty()) return absl::InternalError("a report about no answer");
  json networks = json::array(), targets = json::array();
  for (const Answer& answer : contents.answers) {
    for (const v1::TargetPrediction& prediction : answer.response.predictions()) {
      COBRA_ASSIGN_OR_RETURN(json target, TargetJson(prediction, answer, networks.size(), contents.sheets));
      targets.push_back(std::move(target));
    }
    networks.push_back(NetworkJson(answer, contents));
  }
  const auto place_of = [&contents](const json& target) {
    return std::find(contents.targets.begin(), contents.targets.end(), target["target"].get<std::string>()) -
           contents.targets.begin();
  };
  std::stable_sort(targets.begin(), targets.end(),
                   [&](const json& a, const json& b) { return place_of(a) < place_of(b); });
  return json{{"version", kDocumentVersion},     {"title", Clean(contents.title)},
              {"question", contents.question},   {"model_version", Clean(contents.answers[0].response.model_version())},
              {"networks", std::move(networks)}, {"targets", std::move(targets)},
              {"sweep", contents.sweep}};
}

}  // namespace cobra::report
