#include "client/explain/explain.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/text/without_escapes.h"
#include "client/answer/path_pattern.h"
#include "client/terminal/text_table.h"
#include "graph/cost/cost.h"
#include "graph/saturated.h"
#include "report/call_text.h"

namespace cobra::client {
namespace {

// A deeper path counts as one name: no real network is nested so deeply, but a hostile graph may
// be.
constexpr int kMaxDepth = 64;

CallCost DescribeCall(const graph::Graph& graph, int32_t index, const graph::NodeCost& cost, const SourceLookup& source,
                      report::SourceLines* lines) {
  const graph::Node& node = graph.nodes()[index];
  CallCost call;
  call.node = index;
  call.op = std::string(graph::OpName(node.op));
  call.module_path = WithoutEscapes(node.origin.module_path);
  if (const auto& file = node.origin.shown_file(); file != nullptr) {
    call.line = node.origin.shown_line();
    call.file = WithoutEscapes(source.user_path ? source.user_path(*file) : *file);
    call.source = WithoutEscapes(lines->Line(*file, call.line));
  }
  call.input = report::FirstInput(graph, node);
  call.output = report::OutputText(node);
  call.cost.calls = 1;
  call.cost.macs = cost.macs;
  call.cost.flops = cost.flops;
  call.cost.bytes = graph::Plus(graph::Plus(cost.input_bytes, cost.weight_bytes), cost.output_bytes);
  return call;
}

// Returns the child `name`, creating it if necessary; children are in the order in which they are
// first seen. `known` has the position of every path among its siblings.
ModuleCost* Child(ModuleCost* parent, absl::string_view name, absl::flat_hash_map<std::string, size_t>* known) {
  std::string path = parent->path.empty() ? std::string(name) : absl::StrCat(parent->path, ".", name);
  auto [it, added] = known->try_emplace(path, parent->children.size());
  if (added) {
    ModuleCost& child = parent->children.emplace_back();
    child.name = std::string(name);
    child.path = std::move(path);
  }
  return &parent->children[it->second];
}

// The properties that equal calls share. In a file of nodes every node has its own number, so the
// line is left out.
std::string CallGroupKey(const CallCost& call) {
  std::string key = PathPattern(call.module_path);
  const Cost& c = call.cost;
  const int line = HasLineNumbers(call.file) ? call.line : 0;
  absl::StrAppend(&key, "\n", call.op, "\n", call.file, "\n", line, "\n", call.input, "\n", call.output);
  absl::StrAppend(&key, "\n", c.macs, "\n", c.flops, "\n", c.bytes);
  return key;
}

std::string CallGroupPath(const std::vector<const CallCost*>& calls) {
  std::vector<absl::string_view> paths;
  for (const CallCost* call : calls) paths.push_back(call->module_path);
  return CommonPath(paths);
}

// A hash of the properties that equal blocks share: everything except their own names and times.
size_t Signature(const ModuleCost& m, bool with_name) {
  size_t hash = absl::HashOf(with_name ? m.name : "", m.own.calls, m.own.parameters, m.own.macs, m.own.flops,
                             m.own.bytes, m.alike, m.children.size());
  for (const ModuleCost& child : m.children) hash = absl::HashOf(hash, Signature(child, true));
  return hash;
}

void AddTree(ModuleCost* to, const ModuleCost& from) {
  to->cost += from.cost;
  to->own += from.own;
  for (size_t i = 0; i < to->children.size(); ++i) AddTree(&to->children[i], from.children[i]);
}

void MergeRepeatedModules(ModuleCost* m) {
  for (ModuleCost& child : m->children) MergeRepeatedModules(&child);
  std::vector<ModuleCost> merged;
  size_t previous = 0;
  std::optional<absl::string_view> stem;
  std::string first_name;
  for (ModuleCost& child : m->children) {
    const size_t signature = Signature(child, false);
    const std::optional<absl::string_view> own_stem = report::NumberedStem(child.name);
    const bool same = !merged.empty() && own_stem.has_value() && report::NumberedStem(first_name) == own_stem &&
                      signature == previous && merged.back().children.size() == child.children.size();
    if (same) {
      AddTree(&merged.back(), child);
      ++merged.back().alike;
      merged.back().name = absl::StrCat(first_name, " ... ", child.name.substr(own_stem->size()));
    } else {
      first_name = child.name;
      merged.push_back(std::move(child));
    }
    previous = signature;
  }
  m->children = std::move(merged);
}

void SumUp(ModuleCost* m) {
  m->cost = m->own;
  for (ModuleCost& child : m->children) {
    SumUp(&child);
    m->cost += child.cost;
  }
}

// Groups by `key`, largest first; equal ones in the order in which they are first seen.
template <typename Key, typename Make>
std::vector<GroupCost> GroupBy(const Explanation& explanation, Key key, Make make) {
  std::vector<GroupCost> groups;
  absl::flat_hash_map<std::string, size_t> known;
  for (const CallCost& call : explanation.calls) {
    auto [it, added] = known.try_emplace(key(call), groups.size());
    if (added) groups.push_back(make(call));
    groups[it->second].cost += call.cost;
  }
  std::stable_sort(groups.begin(), groups.end(), [&](const GroupCost& a, const GroupCost& b) {
    return explanation.Share(a.cost) > explanation.Share(b.cost);
  });
  return groups;
}

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

Cost& Cost::operator+=(const Cost& other) {
  calls += other.calls;
  parameters = graph::Plus(parameters, other.parameters);
  macs = graph::Plus(macs, other.macs);
  flops = graph::Plus(flops, other.flops);
  bytes = graph::Plus(bytes, other.bytes);
  latency_us += other.latency_us;
  return *this;
}

double Explanation::TimeShare(const Cost& cost) const { return Ratio(cost.latency_us, total.latency_us); }
double Explanation::FlopsShare(const Cost& cost) const {
  return Ratio(static_cast<double>(cost.flops), static_cast<double>(total.flops));
}
double Explanation::BytesShare(const Cost& cost) const {
  return Ratio(static_cast<double>(cost.bytes), static_cast<double>(total.bytes));
}
double Explanation::Share(const Cost& cost) const {
  return prediction.has_value() ? TimeShare(cost) : std::max(FlopsShare(cost), BytesShare(cost));
}

absl::StatusOr<Explanation> Explain(const graph::Graph& graph, const std::string& title, const SourceLookup& source,
                                    const v1::PredictResponse* response) {
  Explanation e;
  e.title = title;
  for (const graph::NamedTensor& input : graph.inputs()) e.inputs.push_back(graph::TypeText(input.type));
  e.peak_memory_bytes = graph::PeakMemoryBytes(graph);
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  report::SourceLines lines(source.text);
  std::vector<bool> used(graph.parameters().size(), false);
  for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i) {
    CallCost& call = e.calls.emplace_back(DescribeCall(graph, i, costs[i], source, &lines));
    for (const graph::ValueRef& input : graph.nodes()[i].inputs) {
      if (input.kind != graph::ValueRef::Kind::kParameter || used[input.index]) continue;
      used[input.index] = true;
      call.cost.parameters += graph.parameters()[input.index].type.num_elements();
    }
  }
  if (response != nullptr) {
    if (response->predictions_size() != 1 ||
        response->predictions(0).breakdown_size() != static_cast<int>(e.calls.size())) {
      return absl::InternalError("the server's breakdown does not match this graph");
    }
    e.prediction = response->predictions(0);
    e.model_version = response->model_version();
    for (const v1::NodeLatency& row : e.prediction->breakdown()) {
      if (row.node() < 0 || row.node() >= static_cast<int>(e.calls.size())) {
        return absl::InternalError("the server's breakdown names a call that this graph does not have");
      }
      e.calls[row.node()].cost.latency_us += row.latency_us();
      e.calls[row.node()].unknown = row.unknown();
      e.calls[row.node()].alone_us = row.alone_us();
    }
    e.prediction->clear_breakdown();
  }
  for (const CallCost& call : e.calls) e.total += call.cost;
  e.unused_parameters = graph.num_parameters() - e.total.parameters;
  return e;
}

bool IsFused(const CallCost& call, const Cost& total) {
  constexpr double kOfAlone = 0.25, kLeastOfTotal = 1e-4;
  if (call.cost.macs > 0) return false;  // others are run with these
  return call.alone_us > kLeastOfTotal * total.latency_us && call.cost.latency_us < kOfAlone * call.alone_us;
}

ModuleCost ByModule(const Explanation& explanation, bool merge_repeated_modules) {
  ModuleCost root;
  absl::flat_hash_map<std::string, size_t> known;
  for (const CallCost& call : explanation.calls) {
    ModuleCost* m = &root;
    absl::string_view rest = call.module_path;
    for (int depth = 0; !rest.empty(); ++depth) {
      const size_t dot = depth < kMaxDepth ? rest.find('.') : absl::string_view::npos;
      m = Child(m, rest.substr(0, dot), &known);
      rest = dot == absl::string_view::npos ? absl::string_view() : rest.substr(dot + 1);
    }
    m->own += call.cost;
  }
  SumUp(&root);
  if (merge_repeated_modules) MergeRepeatedModules(&root);
  return root;
}

std::vector<GroupCost> ByOperator(const Explanation& explanation) {
  return GroupBy(
      explanation, [](const CallCost& call) { return call.op; },
      [](const CallCost& call) {
        return GroupCost{call.op, "", {}};
      });
}

std::vector<GroupCost> ByLine(const Explanation& explanation) {
  const auto where = [](const CallCost& call) {
    return call.file.empty() ? std::string(kUnknownLine) : PlaceText(call.file, call.line);
  };
  return GroupBy(explanation, where, [&](const CallCost& call) { return GroupCost{where(call), call.source, {}}; });
}

std::vector<const CallCost*> LargestCalls(const Explanation& explanation, size_t most) {
  std::vector<const CallCost*> calls;
  for (const CallCost& call : explanation.calls) {
    if (explanation.Share(call.cost) > 0) calls.push_back(&call);
  }
  std::stable_sort(calls.begin(), calls.end(), [&](const CallCost* a, const CallCost* b) {
    return explanation.Share(a->cost) > explanation.Share(b->cost);
  });
  if (calls.size() > most) calls.resize(most);
  return calls;
}

std::vector<CallGroup> GroupCalls(const Explanation& explanation) {
  std::vector<CallGroup> groups;
  absl::flat_hash_map<std::string, size_t> known;
  for (const CallCost& call : explanation.calls) {
    const auto [it, added] = known.try_emplace(CallGroupKey(call), groups.size());
    if (added) groups.emplace_back();
    groups[it->second].calls.push_back(&call);
    groups[it->second].cost += call.cost;
  }
  for (CallGroup& group : groups) group.module_path = CallGroupPath(group.calls);
  const auto nothing = [&](const CallGroup& group) { return !(explanation.Share(group.cost) > 0); };
  groups.erase(std::remove_if(groups.begin(), groups.end(), nothing), groups.end());
  std::stable_sort(groups.begin(), groups.end(), [&](const CallGroup& a, const CallGroup& b) {
    return explanation.Share(a.cost) > explanation.Share(b.cost);
  });
  return groups;
}

}  // namespace cobra::client
