#include "frontend/python/kept_constants.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/scope.h"
#include "frontend/python/torch/layers/module_state.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {
namespace {

constexpr int64_t kMostValues = 200'000;

class Search {
 public:
  explicit Search(Interpreter& interp) : interp_(interp) {}

  bool From(Value root) {
    Add(root);
    while (!found_ && !open_.empty() && left_ > 0) {
      const Object* object = open_.back();
      open_.pop_back();
      Enter(object);
    }
    const int64_t steps = (kMostValues - left_) / 8;  // of all roots so far
    interp_.Spend(steps - spent_);
    spent_ = steps;
    return found_;
  }

 private:
  void Add(Value value) {
    --left_;
    if (const Tensor* tensor = AsTensor(value); tensor != nullptr) {
      // A parameter without a name that the network has read: a layer that it made, which has a
      // name from now on.
      const bool is_new = tensor->ref.kind == graph::ValueRef::Kind::kConstant && IsParameter(interp_, value);
      found_ = found_ || is_new || !tensor->computed.is_none();
      return;
    }
    if (value.IsObject() && Holds(value.object()->kind) && seen_.insert(value.object()).second)
      open_.push_back(value.object());
  }

  static bool Holds(ObjectKind kind) {
    switch (kind) {
      case ObjectKind::kTuple:
      case ObjectKind::kList:
      case ObjectKind::kDict:
      case ObjectKind::kFunction:
      case ObjectKind::kBoundMethod:
      case ObjectKind::kProperty:
      case ObjectKind::kClassMethod:
      case ObjectKind::kStaticMethod:
      case ObjectKind::kClass:
      case ObjectKind::kInstance: return true;
      default: return false;
    }
  }

  void AddAll(absl::Span<const Value> values) {
    for (const Value value : values) Add(value);
  }
  void AddAll(const DictObject* dict) {
    if (dict == nullptr) return;
    for (size_t i = 0; i < dict->table.entry_count() && left_ > 0; ++i) {
      if (!dict->table.entry(i).key.IsUnbound()) Add(dict->table.entry(i).value);
    }
  }

  void Enter(const Object* object) {
    switch (object->kind) {
      case ObjectKind::kTuple: return AddAll(static_cast<const TupleObject*>(object)->span());
      case ObjectKind::kList: {
        const auto& items = static_cast<const ListObject*>(object)->items;
        return AddAll(absl::MakeConstSpan(items.data(), items.size()));
      }
      case ObjectKind::kDict: return AddAll(static_cast<const DictObject*>(object));
      case ObjectKind::kFunction: return EnterFunction(static_cast<const FunctionObject*>(object));
      case ObjectKind::kBoundMethod: Add(static_cast<const BoundMethodObject*>(object)->function); return;
      case ObjectKind::kProperty: Add(static_cast<const PropertyObject*>(object)->getter); return;
      case ObjectKind::kClassMethod: Add(static_cast<const ClassMethodObject*>(object)->function); return;
      case ObjectKind::kStaticMethod: Add(static_cast<const StaticMethodObject*>(object)->function); return;
      case ObjectKind::kClass: return EnterClass(static_cast<const ClassObject*>(object));
      default:  // an instance
        AddAll(object->attrs);
        if (object->cls != nullptr) Add(Value(object->cls));
        return;
    }
  }

  void EnterClass(const ClassObject* cls) {
    if (cls->is_native) return;
    AddAll(cls->attrs);
    for (size_t i = 0; i < cls->bases.size(); ++i) Add(Value(cls->bases.data()[i]));
  }

  // Caches of functools are variables of closures.
  void EnterFunction(const FunctionObject* function) {
    AddAll(function->attrs);
    if (function->scope == nullptr || function->free == nullptr) return;
    for (size_t i = 0; i < function->scope->free_names.size(); ++i) {
      const CellObject* cell = function->free[i];
      if (cell != nullptr && !cell->value.IsUnbound()) Add(cell->value);
    }
  }

  Interpreter& interp_;
  absl::flat_hash_set<const Object*> seen_;
  std::vector<const Object*> open_;
  int64_t left_ = kMostValues;
  int64_t spent_ = 0;
  bool found_ = false;
};

}  // namespace

bool KeepsConstants(Interpreter& interp, Value model) {
  const TorchState& torch = Torch(interp);
  if (!torch.has_constant_calls && torch.builder.graph().constants().empty()) return false;
  Search search(interp);
  if (search.From(model)) return true;
  const DictObject* modules = interp.importer().modules();
  for (size_t i = 0; i < modules->table.entry_count(); ++i) {
    const auto& entry = modules->table.entry(i);
    if (entry.key.IsUnbound() || !entry.value.IsModule()) continue;
    const auto* module = entry.value.as<ModuleObject>();
    if (module->unit == nullptr || module->unit->internal || module->attrs == nullptr) continue;
    for (size_t k = 0; k < module->attrs->table.entry_count(); ++k) {
      const auto& global = module->attrs->table.entry(k);
      if (!global.key.IsUnbound() && search.From(global.value)) return true;
    }
  }
  return false;
}

}  // namespace cobra::python
