// Views of constants that are written to. A view stores the call that made it. To find which
// elements of the base it contains, that call is run on the numbers 0, 1, 2 ... in place of the
// base's values. Most views never need this, so it happens only in two cases: a tensor with a base
// is written to, or the base was written to after the view got its values.
#include "frontend/python/torch/tensor/tensor.h"
#include "frontend/python/torch/tensor/torch_rules.h"
#include "graph/constants/const_eval.h"
#include "graph/op_rules.h"

namespace cobra::python {
namespace {

enum class ViewAccess : uint8_t { kElements, kCopy, kUnknown };

struct Places {
  ViewAccess sees = ViewAccess::kUnknown;
  std::vector<int64_t> at;  // for each element, its index in the base
};

bool MayCopy(graph::Op op) {
  const graph::StrideRule rule = graph::RulesOf(op).strides;
  return rule == graph::StrideRule::kReshaped || rule == graph::StrideRule::kMadeContiguous;
}

// Strides of a tensor of `shape` whose elements are at the indices `at` of the base; all views in
// PyTorch have strides.
graph::Strides StridesAt(const graph::Shape& shape, const std::vector<int64_t>& at) {
  graph::Strides strides = graph::ContiguousStrides(shape);
  if (at.empty()) return strides;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 1) strides[d] = at[static_cast<size_t>(strides[d])] - at[0];
  }
  return strides;
}

bool HasPlaces(const graph::TensorType& type) {
  return type.num_elements() <= graph::kMaxConstElements && !graph::IsComplex(type.dtype);
}

// The indices in the base of the elements of the call's output; `parent` gives those of its first
// input.
Places PlacesIn(const ConstView& view, const Places& parent) {
  Places places;
  std::vector<graph::TensorType> types = view.inputs;
  std::vector<const graph::TensorType*> pointers;
  for (graph::TensorType& type : types) {
    if (!HasPlaces(type)) return places;
    type.dtype = graph::DType::float64;
    pointers.push_back(&type);
  }
  const absl::StatusOr<graph::TensorTypes> outputs = graph::InferTypes(view.op, view.attributes, pointers);
  if (!outputs.ok() || view.output >= outputs->size() || (*outputs)[view.output].dtype != graph::DType::float64)
    return places;
  if (MayCopy(view.op)) {
    const graph::Shape& in = types[0].shape;
    const graph::Strides strides = parent.at.empty() ? graph::ContiguousStrides(in) : StridesAt(in, parent.at);
    const bool views = graph::RulesOf(view.op).strides == graph::StrideRule::kMadeContiguous
                           ? graph::IsContiguous(in, strides)
                           : graph::ViewStrides(in, strides, (*outputs)[view.output].shape).has_value();
    if (!views) {
      places.sees = ViewAccess::kCopy;
      return places;
    }
  }
  ConstValues numbers(static_cast<size_t>(types[0].num_elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = parent.at.empty() ? static_cast<double>(i) : static_cast<double>(parent.at[i]);
  std::vector<graph::ConstInput> inputs{{&types[0], &numbers}};
  std::vector<ConstValues> others(types.size());
  for (size_t i = 1; i < types.size(); ++i) {  // view_as and similar calls read only its shape
    others[i].resize(static_cast<size_t>(types[i].num_elements()));
    inputs.push_back({&types[i], &others[i]});
  }
  const auto values = graph::EvalConst(view.op, view.attributes, inputs, *outputs);
  if (values[view.output] == nullptr) return places;
  places.sees = ViewAccess::kElements;
  for (double v : *values[view.output]) places.at.push_back(static_cast<int64_t>(v));
  return places;
}

Places PlacesOf(const ConstView* view) {
  std::vector<const ConstView*> chain;  // innermost first
  for (; view != nullptr; view = view->parent.get()) chain.push_back(view);
  Places places;
  places.sees = ViewAccess::kElements;  // the base contains itself; its indices stay empty: 0, 1, 2 ...
  for (size_t i = chain.size(); i-- > 0 && places.sees == ViewAccess::kElements;) places = PlacesIn(*chain[i], places);
  return places;
}

Places PlacesOf(Interpreter& interp, const Tensor* tensor) {
  if (tensor->view == nullptr || AsTensor(tensor->base)->is_reordered) return {};
  int64_t links = 0;
  for (const ConstView* v = tensor->view.get(); v != nullptr; v = v->parent.get()) ++links;
  interp.Spend(links * (2 + AsTensor(tensor->base)->type.num_elements() / 64));
  return PlacesOf(tensor->view.get());
}

// Whether the indices of the elements must be computed: the values are known, or the tensor may be
// a copy.
bool NeedsPlaces(const Tensor* tensor, bool known) {
  for (const ConstView* v = tensor->view.get(); !known && v != nullptr; v = v->parent.get()) known = MayCopy(v->op);
  return known;
}

void Detach(Tensor* tensor) {
  tensor->base = nullptr;
  tensor->view = nullptr;
}

}  // namespace

void Refresh(Interpreter& interp, Tensor* tensor) {
  if (tensor->base == nullptr) return;
  const Tensor* base = AsTensor(tensor->base);
  if (tensor->seen == base->writes || !tensor->is_const()) return;
  tensor->seen = base->writes;
  Places places;
  if (NeedsPlaces(tensor, base->is_const() && base->values != nullptr)) places = PlacesOf(interp, tensor);
  if (places.sees == ViewAccess::kCopy) return Detach(tensor);
  if (tensor->ref.kind == graph::ValueRef::Kind::kConstant) tensor->ref = graph::ValueRef::None();
  tensor->is_random = base->is_random;
  const bool known = places.sees == ViewAccess::kElements && base->is_const() && base->values != nullptr &&
                     interp.heap().CanAllocate(places.at.size() * 8);
  if (!known) {
    tensor->values = nullptr;
    return;
  }
  ConstValues values;
  values.reserve(places.at.size());
  for (int64_t at : places.at) values.push_back((*base->values)[static_cast<size_t>(at)]);
  interp.heap().Allocate(values.size() * 8);
  tensor->values = std::make_shared<const ConstValues>(std::move(values));
}

void NoteWrite(Interpreter& interp, Tensor* tensor, graph::Op op) {
  const bool reorders = TorchRulesOf(op).constants == ConstantRule::kReorders;
  if (tensor->base == nullptr) {
    ++tensor->writes;
    tensor->is_reordered = tensor->is_reordered || reorders;
    return;
  }
  if (graph::GetOpInfo(op).cost_class ==
      graph::CostClass::kView) {  // x.t_() of a view: another view of the same elements
    tensor->view = nullptr;
    return;
  }
  Tensor* base = AsTensor(tensor->base);
  Places places;
  if (NeedsPlaces(tensor, base->values != nullptr && tensor->values != nullptr)) places = PlacesOf(interp, tensor);
  if (places.sees == ViewAccess::kCopy) return Detach(tensor);
  tensor->seen = ++base->writes;
  base->is_random = base->is_random || tensor->is_random;
  if (base->ref.kind == graph::ValueRef::Kind::kConstant) base->ref = graph::ValueRef::None();
  const bool known = places.sees == ViewAccess::kElements && base->values != nullptr && tensor->values != nullptr &&
                     places.at.size() == tensor->values->size();
  const bool alone = known && base->values.shared().use_count() == 1;  // loops write to one tensor many times
  if (!known || (!alone && !interp.heap().CanAllocate(base->values->size() * 8))) {
    base->values = nullptr;
    return;
  }
  if (!alone) {
    interp.heap().Allocate(base->values->size() * 8);
    base->values = std::make_shared<const ConstValues>(*base->values);
  }
  ConstValues& values = const_cast<ConstValues&>(*base->values);  // the only reference
  for (size_t i = 0; i < places.at.size(); ++i) values[static_cast<size_t>(places.at[i])] = (*tensor->values)[i];
}

graph::Strides StridesNow(Interpreter& interp, const Tensor* tensor) {
  const graph::ValueRef made = tensor->computed.is_none() ? tensor->ref : tensor->computed;
  if (made.is_node()) {
    graph::LayoutTracker& layout = *Torch(interp).layout;
    layout.Update();
    return layout.Of(made);
  }
  const graph::Shape& shape = tensor->type.shape;
  if (tensor->base == nullptr || tensor->view == nullptr) return graph::ContiguousStrides(shape);
  const Places places = PlacesOf(interp, tensor);
  return places.sees == ViewAccess::kElements ? StridesAt(shape, places.at) : graph::ContiguousStrides(shape);
}

bool IsContiguousNow(Interpreter& interp, const Tensor* tensor) {
  return graph::IsContiguous(tensor->type.shape, StridesNow(interp, tensor));
}

}  // namespace cobra::python
