#include "graph/op.h"

#include <climits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace cobra::graph {
namespace {

constexpr std::pair<absl::string_view, Selects> kSelects[] = {
    {"mask", Selects::kMask},   {"count", Selects::kCount},      {"dim", Selects::kDim},
    {"each", Selects::kEach},   {"any", Selects::kAny},          {"element", Selects::kElement},
    {"last", Selects::kLast},   {"last_two", Selects::kLastTwo}, {"last_three", Selects::kLastThree},
    {"class", Selects::kClass}, {"row", Selects::kRow},          {"value", Selects::kValue},
    {"bag", Selects::kBag},     {"group", Selects::kGroup},
};

// "offsets?#bag"
OpInputSpec InputOf(absl::string_view text) {
  OpInputSpec spec;
  const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('#', 1));
  spec.name = parts.first;
  spec.optional = absl::ConsumeSuffix(&spec.name, "?");
  spec.variadic = absl::ConsumeSuffix(&spec.name, "*");
  for (const auto& [name, selects] : kSelects) {
    if (name == parts.second) spec.selects = selects;
  }
  return spec;
}

// "norm_type&max_norm"
OpAttributeSpec AttributeOf(absl::string_view text) {
  constexpr std::pair<char, AttributeUse> kMarks[] = {{'~', AttributeUse::kTraining},
                                                      {'-', AttributeUse::kNever},
                                                      {'+', AttributeUse::kWhereTrue},
                                                      {'&', AttributeUse::kBeside},
                                                      {'=', AttributeUse::kOutputSize}};
  OpAttributeSpec spec{text};
  for (const auto& [mark, use] : kMarks) {
    const size_t at = text.find(mark);
    if (at != absl::string_view::npos) spec = {text.substr(0, at), use, text.substr(at + 1)};
  }
  return spec;
}

OpInfo MakeInfo(Op op, absl::string_view name, CostClass cost_class, absl::string_view inputs,
                absl::string_view attributes) {
  absl::ConsumeSuffix(&name, "_");
  OpInfo info{op, name, cost_class};
  for (absl::string_view input : absl::StrSplit(inputs, ' ', absl::SkipEmpty())) {
    const OpInputSpec spec = InputOf(input);
    info.inputs.push_back(spec);
    if (!spec.optional && !spec.variadic) info.min_inputs = static_cast<int>(info.inputs.size());
  }
  for (absl::string_view attribute : absl::StrSplit(attributes, ' ', absl::SkipEmpty()))
    info.attributes.push_back(AttributeOf(attribute));
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

const OpAttributeSpec* OpInfo::FindAttribute(absl::string_view wanted) const {
  for (const OpAttributeSpec& attribute : attributes) {
    if (attribute.name == wanted) return &attribute;
  }
  return nullptr;
}

}  // namespace cobra::graph
