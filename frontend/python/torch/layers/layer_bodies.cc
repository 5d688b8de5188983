// The functions of library/torch that have a body in C++ (@_body in layers.h): containers, modes,
// initialization; and forward() of batch normalization. They run often. Most begin with the usual
// case, in which the program has overridden nothing. The other cases follow the Python code step by
// step.
#include <algorithm>

#include "absl/strings/match.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/layers/layers.h"

namespace cobra::python {
namespace {

bool HasLibraryMethod(Interpreter& interp, Value self, StrObject* name) {
  if (self.object()->attrs != nullptr && self.object()->attrs->table.GetStr(name) != nullptr) return false;
  return IsLibraryMethod(interp.LookupClass(self.object()->cls, name));
}

bool HasPlainAttributes(Interpreter& interp, Value self) {
  const ModuleNames& names = Torch(interp).names;
  return interp.LookupClass(self.object()->cls, interp.names().__getattr__).IsSame(names.getattr) &&
         interp.LookupClass(self.object()->cls, interp.names().__setattr__).IsSame(names.setattr) &&
         !self.object()->cls->has_getattribute;
}

// ---- containers

// self._modules; null if it is not the dict that Module.__init__ made.
DictObject* ModulesOf(Interpreter& interp, Value self) {
  return self.IsInstance() ? ModuleRegistry(interp, self, kModulesSlot) : nullptr;
}
// self._modules, whatever object it is.
Result<Value> GetModules(Interpreter& interp, Value self) {
  return interp.GetAttr(self, Torch(interp).names.slots[kModulesSlot]);
}

bool IsModuleOrNone(Interpreter& interp, Value v) { return v.IsNone() || IsModule(interp, v); }

// Whether add_module() may store a module without further checks: the name belongs to a module
// already, or is unused.
bool IsFreeForModule(Interpreter& interp, Value self, DictObject* modules, StrObject* name) {
  if (modules->table.GetStr(name) != nullptr) return true;
  if (name->size == 0 || absl::StrContains(name->view(), '.') || !HasPlainAttributes(interp, self)) return false;
  if (!interp.LookupClass(self.object()->cls, name).IsUnbound()) return false;
  if (self.object()->attrs->table.GetStr(name) != nullptr) return false;
  for (ModuleSlot slot : {kParametersSlot, kBuffersSlot}) {
    DictObject* registry = ModuleRegistry(interp, self, slot);
    if (registry != nullptr && registry->table.size() > 0 && registry->table.GetStr(name) != nullptr) return false;
  }
  return true;
}

// Module.add_module(self, name, module)
Result<Value> AddModule(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  const Value self = locals[0], name = locals[1], module = locals[2];
  if (!IsModuleOrNone(interp, module))
    return interp.Raise(interp.types().TypeError, interp.TypeName(module), " is not a Module subclass");
  StrObject* key = name.IsStr() ? interp.InternStr(name.as<StrObject>()) : nullptr;
  DictObject* modules = ModulesOf(interp, self);
  if (modules != nullptr && key != nullptr && IsFreeForModule(interp, self, modules, key)) {
    modules->table.SetStr(interp.heap(), key, module);
    return Value::None();
  }
  if (key != nullptr) {
    COBRA_TRY_ASSIGN(const Value taken, interp.GetAttrOrUnbound(self, key));
    if (!taken.IsUnbound()) {
      COBRA_TRY_ASSIGN(const Value registry, GetModules(interp, self));
      COBRA_TRY_ASSIGN(const bool known, interp.Contains(registry, name));
      if (!known) return NameIsTaken(interp, key);
    }
  }
  COBRA_TRY(CheckMemberName(interp, "module", name));
  COBRA_TRY_ASSIGN(const Value registry, GetModules(interp, self));
  COBRA_TRY(interp.SetItem(registry, name, module));
  return Value::None();
}

// self.add_module(str(index), module)
Result<void> AddNumbered(Interpreter& interp, Value self, StrObject* add_module, int64_t index, Value module) {
  const Value arguments[] = {Value(IndexName(interp, index)), module};
  COBRA_TRY(interp.CallMethod(self, add_module, arguments));
  return {};
}

// Sequential.__init__(self, *args) of modules; the Python text handles a single argument that is
// not a module. names: add_module
Result<Value> SequentialInit(Interpreter& interp, const FunctionObject* f, StrObject* const* names, Value* locals) {
  const Value self = locals[0];
  const auto modules = locals[1].as<TupleObject>()->span();
  const bool are_modules =
      std::all_of(modules.begin(), modules.end(), [&](Value module) { return IsModuleOrNone(interp, module); });
  if (modules.size() == 1 && !are_modules) return Value::Unbound();
  if (are_modules && self.IsInstance() && self.object()->attrs == nullptr && HasPlainAttributes(interp, self) &&
      IsLibraryMethod(interp.LookupClass(self.object()->cls, names[0])) &&
      NextInit(interp, self.object()->cls, f).IsSame(Torch(interp).names.init)) {
    DictObject* state = NewModuleState(interp, Torch(interp).module_prototype);
    self.object()->attrs = state;
    DictTable& table = state->table.entry(kModulesSlot).value.as<DictObject>()->table;
    for (size_t i = 0; i < modules.size(); ++i) {
      COBRA_TRY(interp.Step());
      table.SetStr(interp.heap(), IndexName(interp, static_cast<int64_t>(i)), modules[i]);
    }
    return Value::None();
  }
  COBRA_TRY(CallNextInit(interp, f, self));
  for (size_t i = 0; i < modules.size(); ++i) {
    COBRA_TRY(interp.Step());
    COBRA_TRY(AddNumbered(interp, self, names[0], static_cast<int64_t>(i), modules[i]));
  }
  return Value::None();
}

// Sequential.forward(self, input). names: __iter__
Result<Value> SequentialForward(Interpreter& interp, const FunctionObject*, StrObject* const* names, Value* locals) {
  const Value self = locals[0];
  Value x = locals[1];
  DictObject* modules = ModulesOf(interp, self);
  if (modules == nullptr || !IsLibraryMethod(interp.LookupClass(self.object()->cls, names[0]))) {
    COBRA_TRY(interp.Iterate(self, [&](Value module) -> Result<bool> {
      COBRA_TRY_ASSIGN(x, interp.Call(module, {x}));
      return true;
    }));
    return x;
  }
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

// len(container) of a ModuleList or Sequential
Result<Value> ContainerLength(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  if (DictObject* modules = ModulesOf(interp, locals[0])) return Value::Int(modules->table.size());
  COBRA_TRY_ASSIGN(const Value registry, GetModules(interp, locals[0]));
  COBRA_TRY_ASSIGN(const int64_t length, interp.Length(registry));
  return Value::Int(length);
}

// container[index] of a ModuleList or Sequential; the Python text handles slices. names: __len__,
// _key
Result<Value> ContainerItem(Interpreter& interp, const FunctionObject*, StrObject* const* names, Value* locals) {
  const Value self = locals[0], given = locals[1];
  if (given.IsSlice()) return Value::Unbound();
  DictObject* modules = ModulesOf(interp, self);
  if (modules != nullptr && given.IsInt() && IsLibraryMethod(interp.LookupClass(self.object()->cls, names[0]))) {
    // If the names are consecutive numbers, the index is the position of the module.
    const int64_t size = modules->table.size();
    const int64_t index = given.as_int() < 0 ? given.as_int() + size : given.as_int();
    if (index >= 0 && index < size && static_cast<int64_t>(modules->table.entry_count()) == size) {
      const DictTable::Entry& entry = modules->table.entry(static_cast<size_t>(index));
      if (entry.key.IsSame(Value(IndexName(interp, index)))) return entry.value;
    }
  }
  COBRA_TRY_ASSIGN(const Value registry, GetModules(interp, self));
  COBRA_TRY_ASSIGN(const Value key, interp.CallMethod(self, names[1], {&given, 1}));
  return interp.GetItem(registry, key);
}

// ModuleList.extend(self, modules). names: add_module, __len__
Result<Value> ModuleListExtend(Interpreter& interp, const FunctionObject*, StrObject* const* names, Value* locals) {
  const Value self = locals[0], given = locals[1];
  DictObject* modules = ModulesOf(interp, self);
  if (modules != nullptr && (given.IsList() || given.IsTuple()) && HasPlainAttributes(interp, self) &&
      IsLibraryMethod(interp.LookupClass(self.object()->cls, names[0])) &&
      IsLibraryMethod(interp.LookupClass(self.object()->cls, names[1]))) {
    COBRA_TRY_ASSIGN(const std::vector<Value> items, interp.ToVector(given));
    if (std::all_of(items.begin(), items.end(), [&](Value item) { return IsModuleOrNone(interp, item); })) {
      int64_t index = modules->table.size();
      for (Value item : items) modules->table.SetStr(interp.heap(), IndexName(interp, index++), item);
      return self;
    }
  }
  COBRA_TRY_ASSIGN(int64_t index, interp.Length(self));
  COBRA_TRY(interp.Iterate(given, [&](Value module) -> Result<bool> {
    COBRA_TRY(AddNumbered(interp, self, names[0], index++, module));
    return true;
  }));
  return self;
}

// ---- modes

// Sets the mode of every module below it, in the way that its class defines. names: train, training
Result<void> SetTraining(Interpreter& interp, StrObject* const* names, Value self, Value mode) {
  COBRA_TRY(interp.Step());
  COBRA_TRY(interp.CheckStack());
  bool plain = IsModule(interp, self) && self.object()->attrs != nullptr && HasPlainAttributes(interp, self) &&
               interp.LookupClass(self.object()->cls, names[1]).IsUnbound();
  if (plain) {
    DictTable& attrs = self.object()->attrs->table;
    plain = attrs.entry_count() > kTrainingSlot && attrs.entry(kTrainingSlot).key.IsSame(Value(names[1]));
    if (plain) attrs.entry(kTrainingSlot).value = mode;
  }
  if (!plain) COBRA_TRY(interp.SetAttr(self, names[1], mode));
  DictObject* modules = ModuleRegistry(interp, self, kModulesSlot);
  for (size_t i = 0; modules != nullptr && i < modules->table.entry_count(); ++i) {
    const DictTable::Entry entry = modules->table.entry(i);
    if (entry.key.IsUnbound() || !entry.value.IsObject()) continue;
    interp.Spend(StepsToScan(i));
    bool again = false;  // the same module under another name
    for (size_t j = 0; j < i && !again; ++j) again = modules->table.entry(j).value.IsSame(entry.value);
    if (again) continue;
    if (IsModule(interp, entry.value) && entry.value.object()->attrs != nullptr &&
        HasLibraryMethod(interp, entry.value, names[0])) {
      if (interp.state().call_depth >= interp.limits().call_depth) return interp.RaiseRecursion();
      ++interp.state().call_depth;  // counts as a call of train()
      const Result<void> done = SetTraining(interp, names, entry.value, mode);
      --interp.state().call_depth;
      COBRA_TRY(done);
    } else {
      COBRA_TRY(interp.CallMethod(entry.value, names[0], {&mode, 1}));
    }
  }
  return {};
}

// Module.train(self, mode)
Result<Value> Train(Interpreter& interp, const FunctionObject*, StrObject* const* names, Value* locals) {
  if (!locals[1].IsBool()) return interp.Raise(interp.types().ValueError, "training mode is expected to be boolean");
  COBRA_TRY(SetTraining(interp, names, locals[0], locals[1]));
  return locals[0];
}

// ---- torch.nn.init: locals[0] is the tensor

Result<Value> Randomize(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  if (OverwriteConstant(interp, locals[0], std::nullopt)) return locals[0];
  return interp.CallMethod(locals[0], "normal_");
}
// For functions that need at least two dimensions; the Python text handles all other cases.
Result<Value> RandomizeMatrix(Interpreter& interp, const FunctionObject* f, StrObject* const* names, Value* locals) {
  const Tensor* tensor = AsTensor(locals[0]);
  return tensor != nullptr && tensor->type.rank() >= 2 ? Randomize(interp, f, names, locals) : Value::Unbound();
}
Result<Value> Fill(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  double value;
  const bool is_number = locals[1].IsInt() || locals[1].IsFloat();
  if (is_number && NumberAsDouble(locals[1], &value) && OverwriteConstant(interp, locals[0], value)) return locals[0];
  return interp.CallMethod(locals[0], "fill_", {locals[1]});
}
Result<Value> FillOnes(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  if (OverwriteConstant(interp, locals[0], 1)) return locals[0];
  return interp.CallMethod(locals[0], "fill_", {Value::Float(1)});
}
Result<Value> FillZeros(Interpreter& interp, const FunctionObject*, StrObject* const*, Value* locals) {
  if (OverwriteConstant(interp, locals[0], 0)) return locals[0];
  return interp.CallMethod(locals[0], "zero_");
}

// ---- normalization

// _BatchNorm.forward(self, input)
class BatchNormForward final : public NativeBody {
 public:
  explicit BatchNormForward(Interpreter& interp)
      : check_(interp.Intern("_check_input_dim")),
        tracks_(interp.Intern("track_running_stats")),
        batches_(interp.Intern("num_batches_tracked")),
        name_(interp.Intern("batch_norm")) {
    for (const char* name : {"training", "running_mean", "running_var", "weight", "bias", "momentum", "eps"})
      attributes_.Add(interp, interp.Intern(name));
  }

  Result<Value> Run(Interpreter& interp, FunctionObject*, Value* locals) const override {
    const Value self = locals[0];
    COBRA_TRY(interp.CallMethod(self, check_, {&locals[1], 1}));
    Value attributes[7];
    COBRA_TRY(attributes_.Read(interp, self, attributes));
    auto [training, mean, var, weight, bias, momentum, eps] = attributes;
    COBRA_TRY_ASSIGN(const bool is_training, interp.Truth(training));
    const bool uses_batch = is_training || (mean.IsNone() && var.IsNone());
    if (is_training) {
      COBRA_TRY_ASSIGN(const Value tracks, interp.GetAttr(self, tracks_));
      COBRA_TRY_ASSIGN(const bool is_tracking, interp.Truth(tracks));
      if (!is_tracking) mean = var = Value::None();
      COBRA_TRY_ASSIGN(const Value batches, interp.GetAttr(self, batches_));
      if (is_tracking && !batches.IsNone()) COBRA_TRY(interp.CallMethod(batches, "add_", {Value::Int(1)}));
    }
    const Value arguments[] = {locals[1], mean, var, weight, bias, Value::Bool(uses_batch), momentum, eps};
    COBRA_TRY_ASSIGN(Value batch_norm, interp.GetAttr(Value(Torch(interp).functional), name_));
    return interp.Call(batch_norm, absl::MakeConstSpan(arguments), {});
  }

 private:
  SelfAttributes attributes_;
  StrObject *check_, *tracks_, *batches_, *name_;
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
    {"extend", ModuleListExtend},
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
