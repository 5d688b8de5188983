#include "export/aliasing.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/constants/const_eval.h"

namespace cobra::exporting {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 27;  // whose positions are kept; some hundred million

}  // namespace

absl::StatusOr<std::vector<int64_t>> ViewPositions(const graph::Node& view, const graph::TensorType& base,
                                                   size_t output) {
  // What views several tensors at once is not a view of the first one alone.
  const bool several = graph::GetOpInfo(view.op).inputs.back().variadic && view.inputs.size() > 1;
  const int64_t count = base.num_elements();
  int64_t largest = count;
  graph::TensorTypes outputs = view.outputs;
  for (graph::TensorType& type : outputs) {
    type.dtype = graph::DType::int64;
    largest = std::max(largest, type.num_elements());
  }
  if (largest > kMostElements) return absl::UnimplementedError("so large a tensor is changed through a view");
  // The values of the view of 0, 1, 2 ... are the positions. Other inputs of a view only give their
  // shape.
  std::vector<double> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  const graph::TensorType type{base.shape, graph::DType::int64};
  std::vector<graph::ConstInput> inputs{{&type, &numbers}};
  const graph::TensorType shape_only = outputs[output];
  const std::vector<double> zeros(view.inputs.size() > 1 ? static_cast<size_t>(shape_only.num_elements()) : 0, 0);
  for (size_t i = 1; i < view.inputs.size(); ++i)
    inputs.push_back(view.inputs[i].is_none() ? graph::ConstInput{} : graph::ConstInput{&shape_only, &zeros});
  const auto values = graph::EvalConst(view.op, view.attributes, inputs, outputs, kMostElements);
  if (several || output >= values.size() || values[output] == nullptr) {
    return absl::UnimplementedError(absl::StrCat("a tensor is changed through a view by ", graph::OpName(view.op),
                                                 ", whose elements are not known"));
  }
  return std::vector<int64_t>(values[output]->begin(), values[output]->end());
}

Aliases::Aliases(const graph::Graph& graph) : graph_(graph) {
  ids_[static_cast<int>(graph::ValueRef::Kind::kInput)].assign(graph.inputs().size(), -1);
  ids_[static_cast<int>(graph::ValueRef::Kind::kParameter)].assign(graph.parameters().size(), -1);
  ids_[static_cast<int>(graph::ValueRef::Kind::kBuffer)].assign(graph.buffers().size(), -1);
  ids_[static_cast<int>(graph::ValueRef::Kind::kConstant)].assign(graph.constants().size(), -1);
  for (const graph::Node& node : graph.nodes()) nodes_.emplace_back(node.outputs.size(), -1);
}

int Aliases::IdOf(graph::ValueRef ref) const {
  if (ref.is_node()) return nodes_[static_cast<size_t>(ref.index)][static_cast<size_t>(ref.output)];
  return ids_[static_cast<int>(ref.kind)][static_cast<size_t>(ref.index)];
}

void Aliases::SetId(graph::ValueRef ref, int id) {
  if (ref.is_node()) {
    nodes_[static_cast<size_t>(ref.index)][static_cast<size_t>(ref.output)] = id;
  } else {
    ids_[static_cast<int>(ref.kind)][static_cast<size_t>(ref.index)] = id;
  }
}

void Aliases::AddRoot(graph::ValueRef ref, std::string name) {
  const int id = static_cast<int>(entries_.size());
  SetId(ref, id);
  entries_.push_back({ref, -1, id, 0, std::move(name)});
}

void Aliases::AddView(graph::ValueRef ref, graph::ValueRef of, std::string name) {
  const int parent = IdOf(of), memory = entries_[static_cast<size_t>(parent)].memory;
  SetId(ref, static_cast<int>(entries_.size()));
  entries_.push_back({ref, parent, memory, entries_[static_cast<size_t>(memory)].version, std::move(name)});
}

void Aliases::AddViews(int32_t index, const std::vector<std::string>& names) {
  const graph::Node& node = graph_.nodes()[index];
  const bool each = graph::GetOpInfo(node.op).inputs.back().variadic && node.op != graph::Op::getitem;
  for (size_t i = 0; i < names.size(); ++i) {
    const graph::ValueRef ref = graph::ValueRef::Node(index, static_cast<int32_t>(i));
    AddView(ref, node.inputs[each ? std::min(i, node.inputs.size() - 1) : 0], names[i]);
  }
}

void Aliases::AddSame(graph::ValueRef ref, graph::ValueRef of) { SetId(ref, IdOf(of)); }

const std::string& Aliases::NameOf(graph::ValueRef ref) const {
  static const std::string* const kNone = new std::string;
  const Entry& entry = Of(ref);
  return entry.version == entries_[static_cast<size_t>(entry.memory)].version ? entry.name : *kNone;
}

std::vector<graph::ValueRef> Aliases::OutOfDate(graph::ValueRef ref) const {
  std::vector<graph::ValueRef> views;
  int id = IdOf(ref);
  while (entries_[static_cast<size_t>(id)].parent >= 0) {
    const Entry& entry = entries_[static_cast<size_t>(id)];
    if (entry.version == entries_[static_cast<size_t>(entry.memory)].version) break;
    views.push_back(entry.ref);
    id = entry.parent;
  }
  std::reverse(views.begin(), views.end());
  return views;
}

void Aliases::Rename(graph::ValueRef ref, std::string name) {
  Entry& entry = entries_[static_cast<size_t>(IdOf(ref))];
  entry.name = std::move(name);
  entry.version = entries_[static_cast<size_t>(entry.memory)].version;
}

void Aliases::Write(graph::ValueRef ref, std::string root, std::string name) {
  Entry& memory = entries_[static_cast<size_t>(Of(ref).memory)];
  ++memory.version;
  memory.name = std::move(root);
  Rename(ref, std::move(name));
}

graph::ValueRef Aliases::RootOf(graph::ValueRef ref) const { return entries_[static_cast<size_t>(Of(ref).memory)].ref; }

absl::StatusOr<std::vector<int64_t>> Aliases::PositionsInRoot(graph::ValueRef ref) const {
  std::vector<int> chain;
  for (int id = IdOf(ref); entries_[static_cast<size_t>(id)].parent >= 0; id = entries_[static_cast<size_t>(id)].parent)
    chain.push_back(id);
  std::reverse(chain.begin(), chain.end());
  std::vector<int64_t> positions;
  for (size_t i = 0; i < chain.size(); ++i) {
    const Entry& entry = entries_[static_cast<size_t>(chain[i])];
    const graph::ValueRef of = entries_[static_cast<size_t>(entry.parent)].ref;
    COBRA_ASSIGN_OR_RETURN(std::vector<int64_t> step, ViewPositions(graph_.nodes()[entry.ref.index], graph_.TypeOf(of),
                                                                    static_cast<size_t>(entry.ref.output)));
    if (i > 0) {
      for (int64_t& position : step) position = positions[static_cast<size_t>(position)];
    }
    positions = std::move(step);
  }
  return positions;
}

}  // namespace cobra::exporting
