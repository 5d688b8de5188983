#include "graph/graph.h"

#include "graph/getitem.h"
#include "graph/op_rules.h"

namespace cobra::graph {

const TensorType& Graph::TypeOf(ValueRef ref) const {
  switch (ref.kind) {
    case ValueRef::Kind::kInput: return contents_->inputs[ref.index].type;
    case ValueRef::Kind::kParameter: return contents_->parameters[ref.index].type;
    case ValueRef::Kind::kBuffer: return contents_->buffers[ref.index].type;
    case ValueRef::Kind::kConstant: return contents_->constants[ref.index].type;
    default: return contents_->nodes[ref.index].outputs[ref.output];
  }
}

bool Graph::Contains(ValueRef ref) const {
  const auto within = [&](size_t size) { return ref.index >= 0 && static_cast<size_t>(ref.index) < size; };
  switch (ref.kind) {
    case ValueRef::Kind::kNone: return true;
    case ValueRef::Kind::kInput: return within(contents_->inputs.size());
    case ValueRef::Kind::kParameter: return within(contents_->parameters.size());
    case ValueRef::Kind::kBuffer: return within(contents_->buffers.size());
    case ValueRef::Kind::kConstant: return within(contents_->constants.size());
    case ValueRef::Kind::kNode:
      return within(contents_->nodes.size()) && ref.output >= 0 &&
             static_cast<size_t>(ref.output) < contents_->nodes[ref.index].outputs.size();
  }
  return false;
}

std::shared_ptr<const std::vector<double>> Graph::KnownValues(ValueRef ref) const {
  for (const auto& [known, values] : contents_->known_values) {
    if (known == ref) return values;
  }
  return nullptr;
}

int64_t Graph::num_parameters() const {
  int64_t n = 0;
  for (const NamedTensor& parameter : contents_->parameters) n += parameter.type.num_elements();
  return n;
}

bool IsForTraining(Op op, absl::string_view attribute) {
  const OpAttributeSpec* spec = GetOpInfo(op).FindAttribute(attribute);
  return spec != nullptr && spec->use == AttributeUse::kTraining;
}

bool IsAlias(const Graph& graph, const Node& node) {
  switch (RulesOf(node.op).storage) {
    case Storage::kUnlessTraining: return !node.attributes.Bool("training");
    case Storage::kUnlessCast: return graph.TypeOf(node.inputs[0]).dtype == node.outputs[0].dtype;
    case Storage::kUnlessComplex: return !IsComplex(node.outputs[0].dtype);
    case Storage::kSame: return true;
    case Storage::kOwn:
    case Storage::kResizes:
    case Storage::kView:
    case Storage::kViewAsNew:
    case Storage::kViewOrGather: return false;
  }
  return false;
}

namespace {

constexpr CostClass kCostClasses[] = {
#define COBRA_OP(name, cost_class, ...) CostClass::cost_class,
#include "graph/ops.def"
#undef COBRA_OP
};

constexpr bool IsViewRule(StrideRule rule) { return rule >= StrideRule::kKept; }

// The class kView contains exactly the operators whose outputs may be views.
constexpr bool AgreesWithItsClass(Op op) {
  const bool view = kCostClasses[static_cast<size_t>(op)] == CostClass::kView;
  const Storage storage = RulesOf(op).storage;
  const bool shares = storage == Storage::kView || storage == Storage::kViewAsNew ||
                      storage == Storage::kViewOrGather || storage == Storage::kUnlessComplex;
  return view == IsViewRule(RulesOf(op).strides) && (storage == Storage::kSame || view == shares);
}
COBRA_CHECK_EVERY_OP(AgreesWithItsClass);

}  // namespace

bool IsView(const Node& node) {
  if (GetOpInfo(node.op).cost_class != CostClass::kView) return false;
  if (RulesOf(node.op).storage != Storage::kViewOrGather) return true;
  return node.inputs.size() == 1 && !Gathers(node.attributes.String("index"));
}

}  // namespace cobra::graph
