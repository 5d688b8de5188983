// The tensors of nested tuples, lists, dicts and plain objects, in order.
#ifndef COBRA_FRONTEND_PYTHON_NESTED_TENSORS_H_
#define COBRA_FRONTEND_PYTHON_NESTED_TENSORS_H_

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/tensor/refused.h"
#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

class NestedTensors {
 public:
  // Calls visit(Tensor*) for each that is found: as often as it is there. A dict or an object is
  // entered once, a layer never: its parameters are the network's.
  template <typename F>
  Result<void> Visit(Interpreter& interp, Value value, F visit) {
    COBRA_TRY(interp.Step());
    COBRA_TRY(interp.CheckStack());
    if (Tensor* tensor = AsTensor(value)) {
      visit(tensor);
      return {};
    }
    if (IsRefused(interp, value)) return RefuseUse(interp, value);
    if (value.IsTuple() || value.IsList()) {
      COBRA_TRY_ASSIGN(const std::vector<Value> items, interp.ToVector(value));
      for (Value item : items) COBRA_TRY(Visit(interp, item, visit));
      return {};
    }
    DictObject* dict = value.IsDict() ? value.as<DictObject>() : value.IsInstance() ? value.object()->attrs : nullptr;
    if (dict == nullptr || IsLayer(interp, value) || !entered_.insert(dict).second) return {};
    for (size_t i = 0; i < dict->table.entry_count(); ++i) {
      if (!dict->table.entry(i).key.IsUnbound()) COBRA_TRY(Visit(interp, dict->table.entry(i).value, visit));
    }
    return {};
  }

 private:
  // A module with parameters, buffers or layers. Without them it is a container, as the caches of
  // transformers 4.45 and 4.49 are.
  static bool IsLayer(Interpreter& interp, Value v) {
    if (!v.IsInstance() || !Interpreter::IsSubclassOf(interp.class_of(v), Torch(interp).module_class)) return false;
    DictObject* const attrs = v.object()->attrs;
    for (const char* name : {"_parameters", "_buffers", "_modules"}) {
      const Value* own = attrs == nullptr ? nullptr : attrs->table.GetStr(interp.Intern(name));
      if (own == nullptr || !own->IsDict() || own->as<DictObject>()->table.size() > 0) return true;
    }
    return false;
  }

  absl::flat_hash_set<const DictObject*> entered_;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_NESTED_TENSORS_H_
