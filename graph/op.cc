#include "graph/op.h"

#include <climits>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"

namespace cobra::graph {
namespace {

OpInfo MakeInfo(Op op, absl::string_view name, CostClass cost_class, absl::string_view inputs,
                absl::string_view attributes) {
  if (name.back() == '_') name.remove_suffix(1);
  OpInfo info{op, name, cost_class, {}, absl::StrSplit(attributes, ' ', absl::SkipEmpty()), 0, 0};
  for (absl::string_view input : absl::StrSplit(inputs, ' ', absl::SkipEmpty())) {
    OpInputSpec spec{input, input.back() == '?', input.back() == '*'};
    if (spec.optional || spec.variadic) spec.name.remove_suffix(1);
    info.inputs.push_back(spec);
    if (!spec.optional && !spec.variadic) info.min_inputs = static_cast<int>(info.inputs.size());
  }
  const bool variadic = !info.inputs.empty() && info.inputs.back().variadic;
  info.max_inputs = variadic ? INT_MAX : static_cast<int>(info.inputs.size());
  return info;
}

const std::vector<OpInfo>& Table() {
  static const auto* const kTable = new std::vector<OpInfo>{
#define COBRA_OP(name, cost_class, inputs, attributes, shape, work) \
  MakeInfo(Op::name, #name, CostClass::cost_class, inputs, attributes),
#include "graph/ops.def"
#undef COBRA_OP
  };
  return *kTable;
}

}  // namespace

const OpInfo& GetOpInfo(Op op) { return Table()[static_cast<size_t>(op)]; }

std::optional<Op> OpFromName(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Op>();
    for (const OpInfo& info : Table()) map->emplace(info.name, info.op);
    return map;
  }();
  const auto it = kByName->find(name);
  if (it == kByName->end()) return std::nullopt;
  return it->second;
}

absl::Span<const OpInfo> AllOps() { return Table(); }

bool DrawsRandomNumbers(Op op) {
  switch (op) {
    case Op::normal:
    case Op::uniform:
    case Op::bernoulli:
    case Op::exponential:
    case Op::log_normal:
    case Op::cauchy:
    case Op::geometric:
    case Op::random:
    case Op::multinomial: return true;
    default: return false;
  }
}

}  // namespace cobra::graph
