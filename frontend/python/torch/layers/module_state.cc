#include "frontend/python/torch/layers/module_state.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

constexpr int kIndexNames = 128;
constexpr ModuleSlot kRegistries[] = {kParametersSlot, kBuffersSlot, kModulesSlot};

Result<Value> Init(Interpreter& interp, const CallArgs& args) {
  if (!args.keywords.empty()) {
    return interp.Raise(interp.types().TypeError, interp.TypeName(args.self),
                        ".__init__() got an unexpected keyword argument '", args.keywords[0].name->view(), "'");
  }
  if (!args.positional.empty()) {
    return interp.Raise(interp.types().TypeError, interp.TypeName(args.self),
                        ".__init__() takes 1 positional argument but ", args.positional.size() + 1, " were given");
  }
  NoteConstruction(interp, args.self);
  const DictTable& prototype = Torch(interp).module_prototype;
  DictObject* made = NewModuleState(interp, prototype);
  if (args.self.object()->attrs == nullptr) {
    args.self.object()->attrs = made;
    return Value::None();
  }
  DictObject* attrs = args.self.object()->attrs;  // a program may set attributes before this call
  for (size_t i = 0; i < kModuleSlots; ++i)
    attrs->table.SetStr(interp.heap(), made->table.entry(i).key.as<StrObject>(), made->table.entry(i).value);
  return Value::None();
}

// The entry of a name in one registry; null if there is none.
Value* Registered(DictObject* registry, StrObject* name) {
  return registry == nullptr || registry->table.size() == 0 ? nullptr : registry->table.GetStr(name);
}

void RemoveFromModule(Interpreter& interp, Value self, ModuleSlot except, StrObject* name) {
  self.object()->attrs->table.EraseStr(name);
  for (ModuleSlot other : kRegistries) {
    if (other == except) continue;
    DictObject* dict = ModuleRegistry(interp, self, other);
    if (dict != nullptr && dict->table.size() > 0) dict->table.EraseStr(name);
  }
}

Failure CannotAssign(Interpreter& interp, Value value, absl::string_view kind, StrObject* name,
                     absl::string_view expected) {
  return interp.Raise(interp.types().TypeError, "cannot assign '", interp.TypeName(value), "' as ", kind, " '",
                      name->view(), "' (", expected, " or None expected)");
}

// `self.name = parameter` is register_parameter(), which looks whether a class has the name, or a
// __getattr__() of the program's answers to it.
Result<void> SetParameter(Interpreter& interp, Value self, DictObject* parameters, StrObject* name, Value value) {
  if (parameters == nullptr) return BeforeModuleInit(interp, "parameters");
  COBRA_TRY(CheckMemberName(interp, "parameter", name));
  ClassObject* cls = self.object()->cls;
  const bool may_be_taken = Registered(parameters, name) == nullptr &&
                            (!interp.LookupClass(cls, name).IsUnbound() ||
                             !interp.LookupClass(cls, interp.names().__getattr__).IsSame(Torch(interp).names.getattr));
  if (may_be_taken) {
    RemoveFromModule(interp, self, kParametersSlot, name);
    COBRA_TRY_ASSIGN(Value taken, interp.GetAttrOrUnbound(self, name));
    if (!taken.IsUnbound()) return NameIsTaken(interp, name);
  }
  RegisterInModule(interp, self, kParametersSlot, name, value);
  return {};
}

Result<void> SetModuleAttr(Interpreter& interp, Value self, StrObject* name, Value value) {
  const bool instance = value.IsInstance();
  DictObject* parameters = ModuleRegistry(interp, self, kParametersSlot);
  if (instance && IsParameter(interp, value)) {
    return SetParameter(interp, self, parameters, name, value);
  }
  if (Value* slot = Registered(parameters, name)) {
    if (!value.IsNone()) return CannotAssign(interp, value, "parameter", name, "torch.nn.Parameter");
    *slot = value;
    return {};
  }
  DictObject* modules = ModuleRegistry(interp, self, kModulesSlot);
  if (instance && IsModule(interp, value)) {
    if (modules == nullptr) return BeforeModuleInit(interp, "module");
    COBRA_TRY(CheckNameLength(interp, "module", name->view()));
    RegisterInModule(interp, self, kModulesSlot, name, value);
    return {};
  }
  if (Value* slot = Registered(modules, name)) {
    if (!value.IsNone()) return CannotAssign(interp, value, "child module", name, "torch.nn.Module");
    *slot = value;
    return {};
  }
  DictObject* buffers = ModuleRegistry(interp, self, kBuffersSlot);
  if (const TorchState& torch = Torch(interp);
      torch.buffer_class != nullptr && Interpreter::IsSubclassOf(interp.class_of(value), torch.buffer_class)) {
    if (buffers == nullptr) return BeforeModuleInit(interp, "buffer");
    COBRA_TRY(CheckNameLength(interp, "buffer", name->view()));
    RegisterInModule(interp, self, kBuffersSlot, name, value);
    return {};
  }
  if (Value* slot = Registered(buffers, name)) {
    if (!value.IsNone() && AsTensor(value) == nullptr)
      return CannotAssign(interp, value, "buffer", name, "torch.Tensor");
    *slot = value;
    return {};
  }
  return interp.ObjectSetAttr(self, name, value);
}

Result<Value> SetAttr(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() == 2 && args.keywords.empty() && args.positional[0].IsStr()) {
    COBRA_TRY(
        SetModuleAttr(interp, args.self, interp.InternStr(args.positional[0].as<StrObject>()), args.positional[1]));
    return Value::None();
  }
  StrObject* name;
  Value value;
  COBRA_TRY(ArgReader(interp, "__setattr__", args).Required("name", &name).Required("value", &value).Finish());
  COBRA_TRY(SetModuleAttr(interp, args.self, interp.InternStr(name), value));
  return Value::None();
}

Result<Value> GetAttr(Interpreter& interp, const CallArgs& args) {
  StrObject* name;
  if (args.positional.size() == 1 && args.keywords.empty() && args.positional[0].IsStr()) {
    name = args.positional[0].as<StrObject>();
  } else {
    COBRA_TRY(ArgReader(interp, "__getattr__", args).Required("name", &name).Finish());
  }
  name = interp.InternStr(name);
  for (ModuleSlot slot : kRegistries) {
    if (const Value* found = Registered(ModuleRegistry(interp, args.self, slot), name)) return *found;
  }
  return RaiseNoAttribute(interp, args.self, name);
}

Result<Value> DelAttr(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(StrObject * name, OnlyArgument<StrObject*>(interp, "__delattr__", "name", args));
  name = interp.InternStr(name);
  for (ModuleSlot slot : kRegistries) {
    DictObject* dict = ModuleRegistry(interp, args.self, slot);
    if (dict != nullptr && dict->table.EraseStr(name)) return Value::None();
  }
  COBRA_TRY(interp.ObjectDelAttr(args.self, name));
  return Value::None();
}

}  // namespace

DictObject* ModuleRegistry(Value self, StrObject* name) {
  DictObject* attrs = self.object()->attrs;
  if (attrs == nullptr) return nullptr;
  Value* found = attrs->table.GetStr(name);
  return found == nullptr || !found->IsDict() ? nullptr : found->as<DictObject>();
}

DictObject* ModuleRegistry(Interpreter& interp, Value self, ModuleSlot slot) {
  DictObject* attrs = self.object()->attrs;
  if (attrs == nullptr) return nullptr;
  StrObject* name = Torch(interp).names.slots[slot];
  if (slot < attrs->table.entry_count()) {
    const DictTable::Entry& entry = attrs->table.entry(slot);
    if (entry.key.IsSame(Value(name)) && entry.value.IsDict()) return entry.value.as<DictObject>();
  }
  return ModuleRegistry(self, name);
}

bool IsModule(Interpreter& interp, Value v) {
  return v.IsInstance() && Interpreter::IsSubclassOf(v.object()->cls, Torch(interp).module_class);
}

bool IsParameter(Interpreter& interp, Value v) {
  return AsTensor(v) != nullptr && Interpreter::IsSubclassOf(v.object()->cls, Torch(interp).parameter_class);
}

Failure BeforeModuleInit(Interpreter& interp, absl::string_view what) {
  return interp.Raise(interp.types().AttributeError, "cannot assign ", what, " before Module.__init__() call");
}

Result<void> CheckMemberName(Interpreter& interp, absl::string_view kind, Value name) {
  if (!name.IsStr())
    return interp.Raise(interp.types().TypeError, kind, " name should be a string. Got ", interp.TypeName(name));
  COBRA_TRY(CheckNameLength(interp, kind, name.str()));
  if (absl::StrContains(name.str(), '.')) {
    const std::string given = kind == "module" ? absl::StrCat(", got: ", name.str()) : "";
    return interp.Raise(interp.types().KeyError, kind, " name can't contain \".\"", given);
  }
  if (name.str().empty()) return interp.Raise(interp.types().KeyError, kind, " name can't be empty string \"\"");
  return {};
}

Result<void> CheckNameLength(Interpreter& interp, absl::string_view kind, absl::string_view name) {
  const int64_t limit = interp.limits().name_bytes;
  const auto size = static_cast<int64_t>(name.size());
  if (size <= limit) return {};
  constexpr size_t kShown = 40;
  return interp.LimitReached(
      LimitMessage(absl::StrCat("'", name.substr(0, kShown), "...', the name of a ", kind), size, limit, "bytes"),
      "every call of the graph carries the names of its modules: give it a shorter one");
}

Failure NameIsTaken(Interpreter& interp, StrObject* name) {
  return interp.Raise(interp.types().KeyError, "attribute '", name->view(), "' already exists");
}

void NoteConstruction(Interpreter& interp, Value self) {
  const Frame* f = interp.state().frame;
  const auto is_its_own = [&](const Frame* frame) {  // the __init__ of a class that derives from the layer's
    return frame->function != nullptr && frame->scope->positional > 0 && frame->locals[0].IsSame(self);
  };
  while (f != nullptr && (f->position == nullptr || f->unit->internal || is_its_own(f))) f = f->back;
  if (f == nullptr || f->unit->display_name[0] == '<') return;  // in the entry's expression
  auto& constructions = Torch(interp).constructions;
  const SourceLine here{f->unit, f->position->line};
  if (constructions.empty() || !(constructions[constructions.size() - 1] == here))
    constructions.push_back(interp.heap(), here);
  self.object()->mark = static_cast<uint32_t>(constructions.size());
}

DictTable ModulePrototype(Interpreter& interp) {
  DictTable table;
  for (StrObject* name : Torch(interp).names.slots) table.SetStr(interp.heap(), name, Value::None());
  table.entry(kTrainingSlot).value = Value::Bool(true);
  return table;
}

DictObject* NewModuleState(Interpreter& interp, const DictTable& prototype) {
  DictObject* state = interp.NewDict();
  state->table.CopyFrom(interp.heap(), prototype);
  for (size_t slot = kParametersSlot; slot < kModuleSlots; ++slot) {
    state->table.entry(slot).value =
        slot == kNonPersistentBuffersSlot ? Value(interp.NewSet()) : Value(interp.NewDict());
  }
  return state;
}

// A name refers to one thing only, so it is removed from the other registries.
void RegisterInModule(Interpreter& interp, Value self, ModuleSlot slot, StrObject* name, Value value) {
  RemoveFromModule(interp, self, slot, name);
  ModuleRegistry(interp, self, slot)->table.SetStr(interp.heap(), name, value);
}

StrObject* IndexName(Interpreter& interp, int64_t index) {
  const auto& names = Torch(interp).index_names;
  return index >= 0 && index < static_cast<int64_t>(names.size()) ? names[static_cast<size_t>(index)]
                                                                  : interp.Intern(absl::StrCat(index));
}

void DefineModuleState(Interpreter& interp, NativeClassBuilder& module_base) {
  static constexpr absl::string_view kSlotNames[kModuleSlots] = {
      "training",       "_parameters",        "_buffers",        "_modules",          "_non_persistent_buffers_set",
      "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks"};
  TorchLibrary& torch = Torch(interp);
  static_assert(kModuleSlots == std::tuple_size_v<decltype(torch.names.slots)>);
  for (size_t i = 0; i < kModuleSlots; ++i) torch.names.slots[i] = interp.Intern(kSlotNames[i]);
  for (int i = 0; i < kIndexNames; ++i) torch.index_names.push_back(interp.heap(), interp.Intern(absl::StrCat(i)));
  torch.names.forward = interp.Intern("forward");
  torch.module_prototype = ModulePrototype(interp);
  module_base.Method("__init__", Init)
      .Method("__setattr__", SetAttr)
      .Method("__getattr__", GetAttr)
      .Method("__delattr__", DelAttr);
  const auto method = [&](StrObject* name) { return interp.LookupClass(module_base.get(), name); };
  torch.names.init = method(interp.names().__init__);
  torch.names.setattr = method(interp.names().__setattr__);
  torch.names.getattr = method(interp.names().__getattr__);
}

}  // namespace cobra::python
