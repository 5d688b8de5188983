#include "graph/constants/constant_calls.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/builder/builder.h"
#include "graph/op_rules.h"

namespace cobra::graph {
namespace {

bool IsDrawn(const Node& node) {
  const Randomness randomness = RulesOf(node.op).randomness;
  return randomness == Randomness::kDrawn || randomness == Randomness::kRandom || node.attributes.Bool("training");
}

class Removal {
 public:
  Removal(const Graph& graph, std::vector<bool> gone) : graph_(graph), gone_(std::move(gone)) {}

  std::optional<WithoutCalls> Run() {
    builder_.AddTensorsOf(graph_);
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!AddCall(i)) return std::nullopt;
    }
    std::vector<ValueRef> outputs;
    for (const ValueRef& output : graph_.outputs()) outputs.push_back(Here(output));
    return WithoutCalls{std::move(builder_).Build(std::move(outputs)), std::move(place_of_call_)};
  }

 private:
  ValueRef Here(const ValueRef& value) {
    if (!value.is_node()) return value;
    const auto call = static_cast<size_t>(value.index);
    if (!gone_[call]) return ValueRef::Node(place_of_call_[call], value.output);
    const auto [found, is_new] = constants_.try_emplace({value.index, value.output});
    if (is_new) {
      const std::string name = absl::StrCat(OpName(graph_.nodes()[call].op), ".", value.index,
                                            value.output == 0 ? "" : absl::StrCat(".", value.output));
      found->second = builder_.AddConstant(name, graph_.TypeOf(value));
      if (auto values = graph_.KnownValues(value); values != nullptr)
        builder_.SetKnownValues(found->second, std::move(values));
    }
    return found->second;
  }

  bool AddCall(size_t index) {
    if (gone_[index]) {
      place_of_call_.push_back(WithoutCalls::kGone);
      return true;
    }
    const Node& call = graph_.nodes()[index];
    ValueRefs inputs;
    for (const ValueRef& input : call.inputs) inputs.push_back(Here(input));
    const auto added = builder_.Add(call.op, call.attributes, std::move(inputs), call.origin, call.inplace);
    if (!added.ok()) return false;
    place_of_call_.push_back(*added);
    return true;
  }

  const Graph& graph_;
  const std::vector<bool> gone_;
  std::vector<int32_t> place_of_call_;
  std::map<std::pair<int32_t, int32_t>, ValueRef> constants_;  // by call and output
  GraphBuilder builder_;
};

}  // namespace

bool ReadsOnlyTheType(Op op, size_t index) {
  if (index != 1) return false;
  switch (op) {
    case Op::expand_as:
    case Op::reshape_as:
    case Op::to:
    case Op::type_as:
    case Op::view_as: return true;
    default: return false;
  }
}

std::vector<bool> ConstantCalls(const Graph& graph, bool of_parameters) {
  std::vector<bool> constant;
  constant.reserve(graph.nodes().size());
  const auto is_constant = [&](const ValueRef& value) {
    switch (value.kind) {
      case ValueRef::Kind::kNode: return static_cast<bool>(constant[static_cast<size_t>(value.index)]);
      case ValueRef::Kind::kInput: return false;
      case ValueRef::Kind::kParameter: return of_parameters;
      case ValueRef::Kind::kNone:
      case ValueRef::Kind::kBuffer:
      case ValueRef::Kind::kConstant: return true;
    }
    return false;
  };
  for (const Node& node : graph.nodes()) {
    bool same = !IsDrawn(node);
    for (size_t i = 0; i < node.inputs.size() && same; ++i)
      same = ReadsOnlyTheType(node.op, i) || is_constant(node.inputs[i]);
    constant.push_back(same);
  }
  return constant;
}

std::optional<WithoutCalls> WithoutConstantCalls(const Graph& graph, bool of_parameters) {
  std::vector<bool> gone = ConstantCalls(graph, of_parameters);
  const auto count = std::count(gone.begin(), gone.end(), true);
  if (count == 0 || count == static_cast<std::ptrdiff_t>(gone.size())) return std::nullopt;
  return Removal(graph, std::move(gone)).Run();
}

}  // namespace cobra::graph
