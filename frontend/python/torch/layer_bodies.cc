// The functions of py/*.py that have a body of their own in C++ (@_body): containers, modes, initialisation,
// normalisation. Each does the usual case and leaves the others to the text.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/internal.h"
#include "frontend/python/torch/layers.h"

namespace cobra::python {
namespace {

bool IsLibrarys(Interpreter& interp, Value self, StrObject* name) {
  if (self.object()->attrs != nullptr && self.object()->attrs->table.GetStr(name) != nullptr) return false;
  return IsLibrarys(interp.LookupClass(self.object()->cls, name));
}

bool HasPlainAttributes(Interpreter& interp, Value self) {
  const ModuleNames& names = Torch(interp).names;
  return interp.LookupClass(self.object()->cls, interp.names().__getattr__).IsSame(names.getattr) &&
         interp.LookupClass(self.object()->cls, interp.names().__setattr__).IsSame(names.setattr) &&
         !self.object()->cls->has_getattribute;
}

// ---- containers

// add_module(self, name, module), where the name is free.
Result<Value> AddModule(Interpreter& interp, StrObject* const*, Value* locals) {
  const Value self = locals[0], module = locals[2];
  DictObject* modules = self.IsInstance() ? ModuleRegistry(interp, self, kModulesSlot) : nullptr;
  if (modules == nullptr || !locals[1].IsStr() || !(module.IsNone() || IsModule(interp, module)))
    return Value::Unbound();
  StrObject* name = interp.InternStr(locals[1].as<StrObject>());
  if (modules->table.GetStr(name) == nullptr) {
    if (name->size == 0 || absl::StrContains(name->view(), '.') || !HasPlainAttributes(interp, self))
      return Value::Unbound();
    if (!interp.LookupClass(self.object()->cls, name).IsUnbound()) return Value::Unbound();
    if (self.object()->attrs->table.GetStr(name) != nullptr) return Value::Unbound();
    for (ModuleSlot slot : {kParametersSlot, kBuffersSlot}) {
      DictObject* registry = ModuleRegistry(interp, self, slot);
      if (registry != nullptr && registry->table.size() > 0 && registry->table.GetStr(name) != nullptr)
        return Value::Unbound();
    }
  }
  modules->table.SetStr(interp.heap(), name, module);
  return Value::None();
}

// Sequential.__init__(self, *args) of modules. names: add_module
Result<Value> SequentialInit(Interpreter& interp, StrObject* const* names, Value* locals) {
  const Value self = locals[0];
  if (!self.IsInstance() || self.object()->attrs != nullptr || !HasPlainAttributes(interp, self))
    return Value::Unbound();
  ClassObject* cls = self.object()->cls;
  if (!IsLibrarys(interp.LookupClass(cls, names[0]))) return Value::Unbound();
  // What super().__init__ is: no class behind Sequential has one but the base of Module.
  bool sequential = false;
  for (ClassObject* c : cls->mro) {
    const Value* init = c->attrs->table.GetStr(interp.names().__init__);
    if (init == nullptr) continue;
    if (sequential) {
      if (!init->IsSame(Torch(interp).names.init)) return Value::Unbound();
      break;
    }
    sequential = IsLibrarys(*init);
  }
  const auto modules = locals[1].as<TupleObject>()->span();
  for (Value module : modules) {
    if (!module.IsNone() && !IsModule(interp, module)) return Value::Unbound();
  }
  DictObject* state = NewModuleState(interp, Torch(interp).module_prototype);
  self.object()->attrs = state;
  DictTable& table = state->table.entry(kModulesSlot).value.as<DictObject>()->table;
  for (size_t i = 0; i < modules.size(); ++i) {
    COBRA_TRY(interp.Step());
    table.SetStr(interp.heap(), IndexName(interp, static_cast<int64_t>(i)), modules[i]);
  }
  return Value::None();
}

// Sequential.forward(self, input). names: __iter__
Result<Value> SequentialForward(Interpreter& interp, StrObject* const* names, Value* locals) {
  const Value self = locals[0];
  DictObject* modules = self.IsInstance() ? ModuleRegistry(interp, self, kModulesSlot) : nullptr;
  if (modules == nullptr || !IsLibrarys(interp.LookupClass(self.object()->cls, names[0]))) return Value::Unbound();
  Value x = locals[1];
  const int64_t size = modules->table.size();
  for (size_t i = 0; i < modules->table.entry_count(); ++i) {
    if (modules->table.entry(i).key.IsUnbound()) continue;
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(x, interp.Call(modules->table.entry(i).value, {x}));
    if (modules->table.size() != size)
      return interp.Raise(interp.types().RuntimeError, "dictionary changed size during iteration");
  }
  return x;
}

// len(container), iter(container) of the containers whose modules are their items.
Result<Value> ContainerLength(Interpreter& interp, StrObject* const*, Value* locals) {
  DictObject* modules = locals[0].IsInstance() ? ModuleRegistry(interp, locals[0], kModulesSlot) : nullptr;
  return modules == nullptr ? Value::Unbound() : Value::Int(modules->table.size());
}

// container[index] of a ModuleList or Sequential whose names count up. names: __len__
Result<Value> ContainerItem(Interpreter& interp, StrObject* const* names, Value* locals) {
  DictObject* modules = locals[0].IsInstance() ? ModuleRegistry(interp, locals[0], kModulesSlot) : nullptr;
  if (modules == nullptr || !locals[1].IsInt() || !IsLibrarys(interp.LookupClass(locals[0].object()->cls, names[0])))
    return Value::Unbound();
  const int64_t size = modules->table.size();
  const int64_t index = locals[1].as_int() < 0 ? locals[1].as_int() + size : locals[1].as_int();
  if (index < 0 || index >= size || static_cast<int64_t>(modules->table.entry_count()) != size) return Value::Unbound();
  const DictTable::Entry& entry = modules->table.entry(static_cast<size_t>(index));
  return entry.key.IsSame(Value(IndexName(interp, index))) ? entry.value : Value::Unbound();
}

// ModuleList.extend(self, modules) of a list or tuple. names: add_module, __len__
Result<Value> ListExtend(Interpreter& interp, StrObject* const* names, Value* locals) {
  const Value self = locals[0], given = locals[1];
  DictObject* modules = self.IsInstance() ? ModuleRegistry(interp, self, kModulesSlot) : nullptr;
  if (modules == nullptr || !(given.IsList() || given.IsTuple()) || !HasPlainAttributes(interp, self))
    return Value::Unbound();
  for (int i : {0, 1}) {
    if (!IsLibrarys(interp.LookupClass(self.object()->cls, names[i]))) return Value::Unbound();
  }
  COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(given));
  for (Value item : items) {
    if (!item.IsNone() && !IsModule(interp, item)) return Value::Unbound();
  }
  int64_t index = modules->table.size();
  for (Value item : items) modules->table.SetStr(interp.heap(), IndexName(interp, index++), item);
  return self;
}

// ---- modes

// Every module below it, each as its class says. names: train, training
Result<void> SetTraining(Interpreter& interp, StrObject* const* names, Value self, Value mode) {
  COBRA_TRY(interp.Step());
  COBRA_TRY(interp.CheckStack());
  DictTable& attrs = self.object()->attrs->table;
  const bool plain = HasPlainAttributes(interp, self) && interp.LookupClass(self.object()->cls, names[1]).IsUnbound() &&
                     attrs.entry_count() > kTrainingSlot && attrs.entry(kTrainingSlot).key.IsSame(Value(names[1]));
  if (plain) {
    attrs.entry(kTrainingSlot).value = mode;
  } else {
    COBRA_TRY(interp.SetAttr(self, names[1], mode));
  }
  DictObject* modules = ModuleRegistry(interp, self, kModulesSlot);
  for (size_t i = 0; modules != nullptr && i < modules->table.entry_count(); ++i) {
    const DictTable::Entry entry = modules->table.entry(i);
    if (entry.key.IsUnbound() || !entry.value.IsObject()) continue;
    bool again = false;  // the same module under another name
    for (size_t j = 0; j < i && !again; ++j) again = modules->table.entry(j).value.IsSame(entry.value);
    if (again) continue;
    if (IsModule(interp, entry.value) && entry.value.object()->attrs != nullptr &&
        IsLibrarys(interp, entry.value, names[0])) {
      if (interp.state().call_depth >= interp.limits().call_depth) return interp.RaiseRecursion();
      ++interp.state().call_depth;  // as a call of train()
      const Result<void> done = SetTraining(interp, names, entry.value, mode);
      --interp.state().call_depth;
      COBRA_TRY(done);
    } else {
      COBRA_TRY(interp.CallMethod(entry.value, names[0], {&mode, 1}));
    }
  }
  return {};
}

Result<Value> Train(Interpreter& interp, StrObject* const* names, Value* locals) {
  if (!IsModule(interp, locals[0]) || locals[0].object()->attrs == nullptr || !locals[1].IsBool())
    return Value::Unbound();
  COBRA_TRY(SetTraining(interp, names, locals[0], locals[1]));
  return locals[0];
}

// ---- torch.nn.init: locals[0] is the tensor

Result<Value> Randomize(Interpreter& interp, StrObject* const*, Value* locals) {
  return OverwriteConstant(interp, locals[0], std::nullopt) ? locals[0] : Value::Unbound();
}
// Of what needs two dimensions.
Result<Value> RandomizeMatrix(Interpreter& interp, StrObject* const*, Value* locals) {
  const Tensor* tensor = AsTensor(locals[0]);
  return tensor != nullptr && tensor->type.rank() >= 2 && OverwriteConstant(interp, locals[0], std::nullopt)
             ? locals[0]
             : Value::Unbound();
}
Result<Value> Fill(Interpreter& interp, StrObject* const*, Value* locals) {
  double value;
  const bool number = locals[1].IsInt() || locals[1].IsFloat();
  return number && NumberAsDouble(locals[1], &value) && OverwriteConstant(interp, locals[0], value) ? locals[0]
                                                                                                    : Value::Unbound();
}
Result<Value> FillOnes(Interpreter& interp, StrObject* const*, Value* locals) {
  return OverwriteConstant(interp, locals[0], 1) ? locals[0] : Value::Unbound();
}
Result<Value> FillZeros(Interpreter& interp, StrObject* const*, Value* locals) {
  return OverwriteConstant(interp, locals[0], 0) ? locals[0] : Value::Unbound();
}

// ---- normalisation

// _BatchNorm.forward(self, input) in eval.
class BatchNormForward final : public NativeBody {
 public:
  explicit BatchNormForward(Interpreter& interp)
      : check_(interp.Intern("_check_input_dim")), name_(interp.Intern("batch_norm")) {
    for (const char* name : {"training", "running_mean", "running_var", "weight", "bias", "momentum", "eps"})
      attributes_.Add(interp, interp.Intern(name));
  }

  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    const Value self = locals[0];
    if (AsTensor(locals[1]) == nullptr || !IsModule(interp, self)) return RunText(interp, f, locals);
    Value attributes[7];
    COBRA_TRY(attributes_.Read(interp, self, attributes));
    const auto [training, mean, var, weight, bias, momentum, eps] = attributes;
    if (!training.IsBool() || training.as_bool() || (mean.IsNone() && var.IsNone())) return RunText(interp, f, locals);
    COBRA_TRY(interp.CallMethod(self, check_, {&locals[1], 1}));
    const Value arguments[] = {locals[1], mean, var, weight, bias, Value::Bool(false), momentum, eps};
    COBRA_TRY_ASSIGN(Value batch_norm, interp.GetAttr(Value(Torch(interp).functional), name_));
    return interp.Call(batch_norm, absl::MakeConstSpan(arguments), {});
  }

 private:
  SelfAttributes attributes_;
  StrObject *check_, *name_;
};

struct NamedLayerBody {
  absl::string_view name;
  LayerBody body;
};
constexpr NamedLayerBody kBodies[] = {
    {"add_module", AddModule},
    {"sequential_init", SequentialInit},
    {"sequential_forward", SequentialForward},
    {"length", ContainerLength},
    {"item", ContainerItem},
    {"extend", ListExtend},
    {"train", Train},
    {"random", Randomize},
    {"random_matrix", RandomizeMatrix},
    {"fill", Fill},
    {"ones", FillOnes},
    {"zeros", FillZeros},
};

}  // namespace

Result<const NativeBody*> DeclareBatchNorm(Interpreter& interp, FunctionObject*, const CallArgs&) {
  return interp.heap().New<BatchNormForward>(interp);
}

LayerBody FindLayerBody(absl::string_view name) {
  for (const NamedLayerBody& named : kBodies) {
    if (named.name == name) return named.body;
  }
  return nullptr;
}

}  // namespace cobra::python
