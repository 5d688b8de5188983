// nn.Module's hot half: attribute access, registration, calls. The rest is py/module.py, whose class Module derives
// from _ModuleBase here. The state lives in the instance's __dict__ under PyTorch's own names (_parameters, _buffers,
// _modules ...), because programs read and change those.
#include "absl/strings/str_cat.h"
#include "frontend/python/torch/tensor.h"

namespace cobra::python {
namespace {

constexpr absl::string_view kRegistries[] = {"_parameters", "_buffers", "_modules"};

// The dict `name` of the instance, or null before Module.__init__ ran.
DictObject* Registry(Interpreter& interp, Value self, absl::string_view name) {
  DictObject* attrs = self.object()->attrs;
  if (attrs == nullptr) return nullptr;
  Value* found = attrs->table.GetStr(interp.Intern(name));
  return found == nullptr || !found->IsDict() ? nullptr : found->as<DictObject>();
}

bool IsModule(Interpreter& interp, Value v) {
  return v.IsInstance() && Interpreter::IsSubclassOf(interp.class_of(v), Torch(interp).module_class);
}
bool IsParameter(Interpreter& interp, Value v) {
  return AsTensor(v) != nullptr && Interpreter::IsSubclassOf(interp.class_of(v), Torch(interp).parameter_class);
}

Result<Value> Init(Interpreter& interp, const CallArgs& args) {
  DictObject* attrs = interp.AttrsOf(args.self.object());
  Heap& heap = interp.heap();
  attrs->table.SetStr(heap, interp.Intern("training"), Value::Bool(true));
  for (absl::string_view name : kRegistries) attrs->table.SetStr(heap, interp.Intern(name), interp.NewDict());
  attrs->table.SetStr(heap, interp.Intern("_non_persistent_buffers_set"), interp.NewSet());
  for (absl::string_view name :
       {"_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_state_dict_hooks", "_load_state_dict_pre_hooks"}) {
    attrs->table.SetStr(heap, interp.Intern(name), interp.NewDict());
  }
  return Value::None();
}

// A name means one thing: the others forget it.
Result<void> Forget(Interpreter& interp, Value self, StrObject* name, absl::string_view except) {
  self.object()->attrs->table.EraseStr(name);
  for (absl::string_view registry : kRegistries) {
    if (registry == except) continue;
    if (DictObject* dict = Registry(interp, self, registry)) dict->table.EraseStr(name);
  }
  return {};
}

Failure BeforeInit(Interpreter& interp, absl::string_view what) {
  return interp.Raise(interp.types().AttributeError,
                      absl::StrCat("cannot assign ", what, " before Module.__init__() call"));
}

Result<Value> SetAttr(Interpreter& interp, const CallArgs& args) {
  StrObject* name;
  Value value;
  ArgReader reader(interp, "__setattr__", args);
  COBRA_TRY(reader.Required("name", &name).Required("value", &value).Finish());
  name = interp.InternStr(name);
  const Value self = args.self;
  Heap& heap = interp.heap();
  DictObject* parameters = Registry(interp, self, "_parameters");
  if (IsParameter(interp, value)) {
    if (parameters == nullptr) return BeforeInit(interp, "parameters");
    COBRA_TRY(Forget(interp, self, name, "_parameters"));
    parameters->table.SetStr(heap, name, value);
    return Value::None();
  }
  if (Value* slot = parameters == nullptr ? nullptr : parameters->table.GetStr(name)) {
    if (!value.IsNone()) {
      return interp.Raise(interp.types().TypeError,
                          absl::StrCat("cannot assign '", interp.TypeName(value), "' as parameter '", name->view(),
                                       "' (torch.nn.Parameter or None expected)"));
    }
    *slot = value;
    return Value::None();
  }
  DictObject* modules = Registry(interp, self, "_modules");
  if (IsModule(interp, value)) {
    if (modules == nullptr) return BeforeInit(interp, "module");
    COBRA_TRY(Forget(interp, self, name, "_modules"));
    modules->table.SetStr(heap, name, value);
    return Value::None();
  }
  if (Value* slot = modules == nullptr ? nullptr : modules->table.GetStr(name)) {
    if (!value.IsNone()) {
      return interp.Raise(interp.types().TypeError,
                          absl::StrCat("cannot assign '", interp.TypeName(value), "' as child module '", name->view(),
                                       "' (torch.nn.Module or None expected)"));
    }
    *slot = value;
    return Value::None();
  }
  DictObject* buffers = Registry(interp, self, "_buffers");
  if (Value* slot = buffers == nullptr ? nullptr : buffers->table.GetStr(name)) {
    if (!value.IsNone() && AsTensor(value) == nullptr) {
      return interp.Raise(interp.types().TypeError,
                          absl::StrCat("cannot assign '", interp.TypeName(value), "' as buffer '", name->view(),
                                       "' (torch.Tensor or None expected)"));
    }
    *slot = value;
    return Value::None();
  }
  COBRA_TRY(interp.ObjectSetAttr(self, name, value));
  return Value::None();
}

Result<Value> GetAttr(Interpreter& interp, const CallArgs& args) {
  StrObject* name;
  ArgReader reader(interp, "__getattr__", args);
  COBRA_TRY(reader.Required("name", &name).Finish());
  name = interp.InternStr(name);
  for (absl::string_view registry : kRegistries) {
    DictObject* dict = Registry(interp, args.self, registry);
    Value* found = dict == nullptr ? nullptr : dict->table.GetStr(name);
    if (found != nullptr) return *found;
  }
  return interp.Raise(interp.types().AttributeError,
                      absl::StrCat("'", interp.TypeName(args.self), "' object has no attribute '", name->view(), "'"));
}

Result<Value> DelAttr(Interpreter& interp, const CallArgs& args) {
  StrObject* name;
  ArgReader reader(interp, "__delattr__", args);
  COBRA_TRY(reader.Required("name", &name).Finish());
  name = interp.InternStr(name);
  for (absl::string_view registry : kRegistries) {
    DictObject* dict = Registry(interp, args.self, registry);
    if (dict != nullptr && dict->table.EraseStr(name)) return Value::None();
  }
  COBRA_TRY(interp.ObjectDelAttr(args.self, name));
  return Value::None();
}

// The values of a dict of hooks, copied: a hook may remove itself.
std::vector<Value> Hooks(Interpreter& interp, Value self, absl::string_view name) {
  std::vector<Value> hooks;
  if (DictObject* dict = Registry(interp, self, name)) {
    for (size_t i = 0; i < dict->table.entry_count(); ++i) {
      if (!dict->table.entry(i).key.IsUnbound()) hooks.push_back(dict->table.entry(i).value);
    }
  }
  return hooks;
}

Result<Value> CallWithHooks(Interpreter& interp, const CallArgs& args) {
  std::vector<Value> positional(args.positional.begin(), args.positional.end());
  for (Value hook : Hooks(interp, args.self, "_forward_pre_hooks")) {
    COBRA_TRY_ASSIGN(Value changed, interp.Call(hook, {args.self, interp.NewTuple(positional)}));
    if (changed.IsNone()) continue;
    if (changed.IsTuple()) {
      positional.assign(changed.as<TupleObject>()->span().begin(), changed.as<TupleObject>()->span().end());
    } else {
      positional = {changed};
    }
  }
  COBRA_TRY_ASSIGN(Value result, interp.CallMethod(args.self, interp.Intern("forward"), positional, args.keywords));
  for (Value hook : Hooks(interp, args.self, "_forward_hooks")) {
    COBRA_TRY_ASSIGN(Value changed, interp.Call(hook, {args.self, interp.NewTuple(positional), result}));
    if (!changed.IsNone()) result = changed;
  }
  return result;
}

Result<Value> CallModule(Interpreter& interp, const CallArgs& args) {
  TorchState& torch = Torch(interp);
  if (!torch.recording) return CallWithHooks(interp, args);
  const auto path = torch.module_paths.find(args.self.object());
  torch.module_stack.push_back(path == torch.module_paths.end() ? torch.module_stack.back() : &path->second);
  Result<Value> result = CallWithHooks(interp, args);
  torch.module_stack.pop_back();
  return result;
}

// nn.Parameter(data=None, requires_grad=True): a tensor of its own with the same contents.
Result<Value> NewParameter(Interpreter& interp, const CallArgs& args) {
  Value data;
  bool requires_grad = true;
  ArgReader reader(interp, "Parameter", args);
  COBRA_TRY(reader.Optional("data", &data).Optional("requires_grad", &requires_grad).Finish());
  Tensor* made = interp.heap().New<Tensor>();
  if (data.IsNone()) {
    made->type.shape = {0};
  } else if (Tensor* from = AsTensor(data)) {
    if (from->ref.is_node()) return interp.Unsupported("nn.Parameter of a tensor that the network computes");
    made->type = from->type;
    made->values = from->values;
    made->is_random = from->is_random;
  } else {
    return interp.Raise(interp.types().TypeError,
                        absl::StrCat("Parameter(): argument 'data' must be Tensor, not ", interp.TypeName(data)));
  }
  made->label = "parameter";
  made->requires_grad = requires_grad;
  return interp.NewInstance(args.self.as<ClassObject>(), made);
}

Result<Value> SetModuleClass(Interpreter& interp, const CallArgs& args) {
  Torch(interp).module_class = args.positional[0].as<ClassObject>();
  return Value::None();
}

}  // namespace

void DefineModuleClass(Interpreter& interp, NativeModuleBuilder& m) {
  m.Class("_ModuleBase", {interp.types().object})
      .Method("__init__", Init)
      .Method("__setattr__", SetAttr)
      .Method("__getattr__", GetAttr)
      .Method("__delattr__", DelAttr)
      .Method("__call__", CallModule)
      .Method("_call_impl", CallModule)
      .Build();
  m.Function("_set_module_class", SetModuleClass);
}

Result<void> DefineParameterClass(Interpreter& interp, NativeModuleBuilder& m) {
  Torch(interp).parameter_class =
      m.Class("Parameter", {Torch(interp).tensor_class}).New(NewParameter).Mutable().Build();
  return {};
}

}  // namespace cobra::python
