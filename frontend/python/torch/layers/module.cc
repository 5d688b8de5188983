// The part of nn.Module that runs often: registration, calls, iteration (attributes are in
// module_state.cc). The rest is library/torch/nn/modules/module.py, whose class Module derives from
// _ModuleBase, which is defined here.
#include "frontend/python/torch/layers/module.h"

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/torch/layers/layers.h"
#include "frontend/python/torch/layers/module_state.h"
#include "frontend/python/torch/overrides/overrides.h"
#include "frontend/python/torch/tensor/refused.h"
#include "graph/builder/untrusted.h"

namespace cobra::python {
namespace {

struct Hook {
  Value function;
  bool with_kwargs = false;
};

void AppendHooks(Interpreter& interp, DictObject* dict, DictObject* with_kwargs, std::vector<Hook>* hooks) {
  const size_t flags = with_kwargs == nullptr ? 0 : with_kwargs->table.entry_count();
  for (size_t i = 0; dict != nullptr && i < dict->table.entry_count(); ++i) {
    interp.Spend(1 + StepsToScan(flags));
    const auto& entry = dict->table.entry(i);
    if (entry.key.IsUnbound()) continue;
    bool kwargs = false;
    for (size_t j = 0; j < flags; ++j) {
      const Value key = with_kwargs->table.entry(j).key;
      kwargs = kwargs || (key.IsInt() && entry.key.IsInt() && key.as_int() == entry.key.as_int());
    }
    hooks->push_back({entry.value, kwargs});
  }
}

// The hooks of all modules, then the module's own. They are copied, because a hook may remove
// itself.
std::vector<Hook> Hooks(Interpreter& interp, Value self, Value global, absl::string_view name,
                        absl::string_view flags_name) {
  std::vector<Hook> hooks;
  AppendHooks(interp, global.IsDict() ? global.as<DictObject>() : nullptr, nullptr, &hooks);
  DictObject* own = ModuleRegistry(self, interp.Intern(name));
  if (own != nullptr && own->table.entry_count() > 0)
    AppendHooks(interp, own, ModuleRegistry(self, interp.Intern(flags_name)), &hooks);
  return hooks;
}

Value KeywordDict(Interpreter& interp, absl::Span<const KeywordArg> keywords) {
  DictObject* dict = interp.NewDict();
  for (const KeywordArg& keyword : keywords) dict->table.SetStr(interp.heap(), keyword.name, keyword.value);
  return dict;
}

// A pre-hook returns new arguments: one, a tuple, or with keywords a pair (arguments, keywords).
Result<void> RunPreHook(Interpreter& interp, Value self, const Hook& hook, std::vector<Value>* positional,
                        std::vector<KeywordArg>* keywords) {
  std::vector<Value> given{self, interp.NewTuple(*positional)};
  if (hook.with_kwargs) given.push_back(KeywordDict(interp, *keywords));
  COBRA_TRY_ASSIGN(Value changed, interp.Call(hook.function, given, {}));
  if (changed.IsNone()) return {};
  Value arguments = changed;
  if (hook.with_kwargs) {
    const bool pair =
        changed.IsTuple() && changed.as<TupleObject>()->size == 2 && changed.as<TupleObject>()->items[1].IsDict();
    if (!pair) {
      return interp.Raise(interp.types().RuntimeError,
                          "forward pre-hook must return None or a tuple of (new_args, new_kwargs)");
    }
    arguments = changed.as<TupleObject>()->items[0];
    const DictTable& table = changed.as<TupleObject>()->items[1].as<DictObject>()->table;
    keywords->clear();
    for (size_t i = 0; i < table.entry_count(); ++i) {
      if (table.entry(i).key.IsStr())
        keywords->push_back({interp.InternStr(table.entry(i).key.as<StrObject>()), table.entry(i).value});
    }
  }
  if (arguments.IsTuple()) {
    const auto span = arguments.as<TupleObject>()->span();
    positional->assign(span.begin(), span.end());
  } else {
    *positional = {arguments};
  }
  return {};
}

bool IsEmpty(const DictObject* dict) { return dict == nullptr || dict->table.entry_count() == 0; }

Result<Value> CallWithHooks(Interpreter& interp, const CallArgs& args) {
  const TorchState& torch = Torch(interp);
  if (IsEmpty(ModuleRegistry(interp, args.self, kForwardPreHooksSlot)) &&
      IsEmpty(ModuleRegistry(interp, args.self, kForwardHooksSlot)) &&
      IsEmpty(torch.global_forward_pre_hooks.as<DictObject>()) &&
      IsEmpty(torch.global_forward_hooks.as<DictObject>())) {
    return interp.CallMethod(args.self, torch.names.forward, args.positional, args.keywords);
  }
  std::vector<Value> positional(args.positional.begin(), args.positional.end());
  std::vector<KeywordArg> keywords(args.keywords.begin(), args.keywords.end());
  for (const Hook& hook : Hooks(interp, args.self, torch.global_forward_pre_hooks, "_forward_pre_hooks",
                                "_forward_pre_hooks_with_kwargs")) {
    COBRA_TRY(RunPreHook(interp, args.self, hook, &positional, &keywords));
  }
  COBRA_TRY_ASSIGN(Value result, interp.CallMethod(args.self, torch.names.forward, positional, keywords));
  for (const Hook& hook :
       Hooks(interp, args.self, torch.global_forward_hooks, "_forward_hooks", "_forward_hooks_with_kwargs")) {
    std::vector<Value> given{args.self, interp.NewTuple(positional)};
    if (hook.with_kwargs) given.push_back(KeywordDict(interp, keywords));
    given.push_back(result);
    COBRA_TRY_ASSIGN(Value changed, interp.Call(hook.function, given, {}));
    if (!changed.IsNone()) result = changed;
  }
  return result;
}

// An error propagates through the modules from the inside out, so it happened in the first module
// that sees it.
void NoteFailedModule(Interpreter& interp) {
  TorchState& torch = Torch(interp);
  const Object* failure = PendingException(interp);
  if (torch.failed_module != nullptr && torch.failure == failure) return;
  torch.failed_module = &torch.module_stack.back()->path;
  torch.failure = failure;
}

Result<Value> CallModule(Interpreter& interp, const CallArgs& args) {
  TorchState& torch = Torch(interp);
  if (!torch.recording) return CallWithHooks(interp, args);
  const auto module = torch.modules.find(args.self.object());
  torch.module_stack.push_back(module == torch.modules.end() ? torch.module_stack.back() : &module->second);
  Result<Value> result = CallWithHooks(interp, args);
  if (!result.ok()) NoteFailedModule(interp);
  torch.module_stack.pop_back();
  return result;
}

// _children(module, named): the direct children, each once; as (name, module) if `named`.
Result<Value> Children(Interpreter& interp, const CallArgs& args) {
  Value self;
  bool named;
  COBRA_TRY(ArgReader(interp, "_children", args).Required("module", &self).Required("named", &named).Finish());
  absl::InlinedVector<Value, 16> found;
  absl::flat_hash_set<const Object*> seen;
  DictObject* modules = ModuleRegistry(interp, self, kModulesSlot);
  for (size_t i = 0; modules != nullptr && i < modules->table.entry_count(); ++i) {
    const auto& entry = modules->table.entry(i);
    if (entry.key.IsUnbound() || entry.value.IsNone() || !entry.value.IsObject()) continue;
    if (!seen.insert(entry.value.object()).second) continue;
    COBRA_TRY(interp.Step());
    found.push_back(named ? Value(interp.NewTuple({entry.key, entry.value})) : entry.value);
  }
  return interp.NewList(found);
}

// _members(module, registry, prefix, recurse, remove_duplicate, named): the tensors of the
// registry, if `recurse` also those of the modules below, depth first. The stack is explicit
// because the program determines the nesting depth of modules.
Result<Value> Members(Interpreter& interp, const CallArgs& args) {
  Value self;
  std::string registry, prefix;
  bool recurse, remove_duplicate, named;
  COBRA_TRY(ArgReader(interp, "_members", args)
                .Required("module", &self)
                .Required("registry", &registry)
                .Required("prefix", &prefix)
                .Required("recurse", &recurse)
                .Required("remove_duplicate", &remove_duplicate)
                .Required("named", &named)
                .Finish());
  std::vector<Value> found;
  absl::flat_hash_set<const Object*> seen, visited;
  std::vector<std::pair<std::string, Value>> stack{{prefix, self}};
  while (!stack.empty()) {
    const auto [path, module] = std::move(stack.back());
    stack.pop_back();
    COBRA_TRY(interp.Charge(1 + static_cast<int64_t>(path.size()) /
                                    32));  // a module that contains itself has paths of any length
    if (remove_duplicate && !visited.insert(module.object()).second) continue;
    const std::string dotted = path.empty() ? "" : path + ".";
    DictObject* tensors = ModuleRegistry(module, interp.Intern(registry));
    for (size_t i = 0; tensors != nullptr && i < tensors->table.entry_count(); ++i) {
      const auto& entry = tensors->table.entry(i);
      if (entry.key.IsUnbound() || !entry.key.IsStr() || !entry.value.IsObject() || entry.value.IsNone()) continue;
      if (remove_duplicate && !seen.insert(entry.value.object()).second) continue;
      COBRA_TRY(interp.Step());
      found.push_back(named
                          ? Value(interp.NewTuple({interp.NewStr(absl::StrCat(dotted, entry.key.str())), entry.value}))
                          : entry.value);
    }
    DictObject* modules = recurse ? ModuleRegistry(interp, module, kModulesSlot) : nullptr;
    for (size_t i = modules == nullptr ? 0 : modules->table.entry_count(); i-- > 0;) {
      const auto& entry = modules->table.entry(i);
      if (!entry.key.IsUnbound() && entry.key.IsStr() && IsModule(interp, entry.value))
        stack.emplace_back(absl::StrCat(dotted, entry.key.str()), entry.value);
    }
  }
  return interp.NewList(found);
}

// modules() and named_modules(): depth first, each module once. Programs may replace layers during
// the iteration, so the children of a module are read only when the next module is requested.
class ModuleIterator : public NativeIterator {
 public:
  // `memo`: the argument of that name; null if the program gives none.
  ModuleIterator(ListObject* waiting, SetObject* memo, bool remove_duplicate, bool named)
      : waiting_(waiting), memo_(memo), remove_duplicate_(remove_duplicate), named_(named) {}

  Result<Value> Next(Interpreter& interp) override {
    if (!last_.IsUnbound()) AddChildren(interp);
    last_ = Value::Unbound();
    while (!waiting_->items.empty()) {
      COBRA_TRY(interp.Step());
      const Value module = Pop();
      last_path_ = Pop();
      COBRA_TRY_ASSIGN(const bool known, IsKnown(interp, module));
      if (known) continue;
      last_ = module;
      return named_ ? Value(interp.NewTuple({last_path_, module})) : module;
    }
    return Value::Unbound();
  }

 private:
  // Returns whether the module was visited before, and marks it as visited.
  Result<bool> IsKnown(Interpreter& interp, Value module) {
    const ClassObject* cls = interp.class_of(module);
    if (memo_ == nullptr && !cls->has_eq && !cls->has_hash && module.IsObject())  // compared by identity
      return remove_duplicate_ && !seen_.insert(module.object()).second;
    if (memo_ == nullptr) memo_ = interp.NewSet();
    COBRA_TRY_ASSIGN(const bool known, interp.SetContains(memo_, module));
    if (!known && remove_duplicate_) COBRA_TRY(interp.SetAdd(memo_, module));
    return known;
  }

  Value Pop() {
    const Value last = waiting_->items[waiting_->items.size() - 1];
    waiting_->items.pop_back();
    return last;
  }

  void AddChildren(Interpreter& interp) {
    DictObject* modules = ModuleRegistry(interp, last_, kModulesSlot);
    if (modules == nullptr) return;
    const std::string prefix = !named_ || last_path_.str().empty() ? "" : absl::StrCat(last_path_.str(), ".");
    for (size_t i = modules->table.entry_count(); i-- > 0;) {
      const auto& entry = modules->table.entry(i);
      if (entry.key.IsUnbound() || !entry.key.IsStr() || !IsModule(interp, entry.value)) continue;
      const Value path = named_ ? Value(interp.NewStr(absl::StrCat(prefix, entry.key.str()))) : last_path_;
      waiting_->items.push_back(interp.heap(), path);
      waiting_->items.push_back(interp.heap(), entry.value);
    }
  }

  ListObject* waiting_;  // path, module, path, module ...; the next one is at the end
  SetObject* memo_;
  absl::flat_hash_set<const Object*> seen_;  // without a memo: modules that are compared by identity
  const bool remove_duplicate_, named_;
  Value last_ = Value::Unbound();
  Value last_path_;
};

// _walk(module, memo, prefix, remove_duplicate, named)
Result<Value> Walk(Interpreter& interp, const CallArgs& args) {
  Value self, memo, prefix;
  bool remove_duplicate, named;
  COBRA_TRY(ArgReader(interp, "named_modules", args)
                .Required("module", &self)
                .Required("memo", &memo)
                .Required("prefix", &prefix)
                .Required("remove_duplicate", &remove_duplicate)
                .Required("named", &named)
                .Finish());
  if (!memo.IsSet() && !memo.IsNone()) return interp.Raise(interp.types().TypeError, "named_modules(): memo is a set");
  if (!prefix.IsStr()) return interp.Raise(interp.types().TypeError, "named_modules(): prefix is a str");
  SetObject* seen = memo.IsSet() ? memo.as<SetObject>() : nullptr;
  return interp.NewIterator(
      interp.heap().New<ModuleIterator>(interp.NewList({prefix, self}), seen, remove_duplicate, named));
}

// The registry in which register_buffer() or register_parameter() stores a tensor, if the name is
// free there.
Result<DictObject*> RegistryFor(Interpreter& interp, Value self, ModuleSlot registry, absl::string_view kind,
                                Value name) {
  DictObject* dict = ModuleRegistry(interp, self, registry);
  if (dict == nullptr) return BeforeModuleInit(interp, kind);
  COBRA_TRY(CheckMemberName(interp, kind, name));
  StrObject* key = interp.InternStr(name.as<StrObject>());
  if (dict->table.GetStr(key) != nullptr) return dict;
  COBRA_TRY_ASSIGN(Value taken, interp.GetAttrOrUnbound(self, key));
  if (taken.IsUnbound()) return dict;
  return NameIsTaken(interp, key);
}

Result<Value> RegisterBuffer(Interpreter& interp, const CallArgs& args) {
  Value name, tensor;
  bool persistent = true;
  ArgReader reader(interp, "register_buffer", args);
  COBRA_TRY(reader.Required("name", &name).Required("tensor", &tensor).Optional("persistent", &persistent).Finish());
  COBRA_TRY_ASSIGN(DictObject * buffers, RegistryFor(interp, args.self, kBuffersSlot, "buffer", name));
  StrObject* key = interp.InternStr(name.as<StrObject>());
  if (IsRefused(interp, tensor)) {  // whoever reads it finds it, and no list of buffers has it
    interp.AttrsOf(args.self.object())->table.SetStr(interp.heap(), key, tensor);
    return Value::None();
  }
  if (!tensor.IsNone() && AsTensor(tensor) == nullptr) {
    return interp.Raise(interp.types().TypeError, "cannot assign '", interp.TypeName(tensor), "' object to buffer '",
                        key->view(), "' (torch Tensor or None required)");
  }
  buffers->table.SetStr(interp.heap(), key, tensor);
  Value* fleeting = args.self.object()->attrs->table.GetStr(Torch(interp).names.slots[kNonPersistentBuffersSlot]);
  if (fleeting == nullptr || !fleeting->IsSet()) return Value::None();
  if (!persistent) {
    COBRA_TRY(interp.SetAdd(fleeting->as<SetObject>(), key));
  } else if (fleeting->as<SetObject>()->table.size() > 0) {
    COBRA_TRY(interp.CallMethod(*fleeting, "discard", {Value(key)}));
  }
  return Value::None();
}

Result<Value> RegisterParameter(Interpreter& interp, const CallArgs& args) {
  Value name, parameter;
  ArgReader reader(interp, "register_parameter", args);
  COBRA_TRY(reader.Required("name", &name).Required("param", &parameter).Finish());
  COBRA_TRY_ASSIGN(DictObject * parameters, RegistryFor(interp, args.self, kParametersSlot, "parameter", name));
  StrObject* key = interp.InternStr(name.as<StrObject>());
  if (!parameter.IsNone() && !IsParameter(interp, parameter)) {
    return interp.Raise(interp.types().TypeError, "cannot assign '", interp.TypeName(parameter),
                        "' object to parameter '", key->view(), "' (torch.nn.Parameter or None required)");
  }
  parameters->table.SetStr(interp.heap(), key, parameter);
  return Value::None();
}

// nn.Parameter(data=None, requires_grad=True): a new tensor with the same contents.
Result<Value> NewParameter(Interpreter& interp, const CallArgs& args) {
  Value data;
  bool requires_grad = true;
  ArgReader reader(interp, "Parameter", args);
  COBRA_TRY(reader.Optional("data", &data).Optional("requires_grad", &requires_grad).IgnoreKwArgs().Finish());
  Tensor* made = interp.heap().New<Tensor>();
  if (data.IsNone()) {
    made->type.shape = {0};
  } else if (Tensor* from = AsTensor(data)) {
    if (IsSeen(interp, data)) {  // PyTorch marks the tensor itself as a parameter
      return interp.Unsupported(absl::StrCat("nn.Parameter of a tensor of class ", interp.TypeName(data)),
                                "derive the class from nn.Parameter");
    }
    if (from->ref.is_node()) return interp.Unsupported("nn.Parameter of a tensor that the network computes");
    Refresh(interp, from);
    made->type = from->type;
    made->values = from->values;
    made->is_random = from->is_random;
    made->computed = from->computed;
  } else if (IsUnread(interp, data)) {
    return UnreadTensor(interp);
  } else {
    return interp.Raise(interp.types().AttributeError, "'", interp.TypeName(data),
                        "' object has no attribute 'detach'");
  }
  if (requires_grad && !graph::IsFloatingPoint(made->type.dtype) && !graph::IsComplex(made->type.dtype))
    return interp.Raise(interp.types().RuntimeError,
                        "Only Tensors of floating point and complex dtype can require gradients");
  made->label = "parameter";
  made->requires_grad = requires_grad;
  return interp.NewInstance(args.self.as<ClassObject>(), made);
}

// _new_uninitialized(class, dtype): a parameter or buffer whose shape is determined by the first
// call.
Result<Value> NewUninitialized(Interpreter& interp, const CallArgs& args) {
  Value cls, dtype;
  bool requires_grad = true;
  ArgReader reader(interp, "_new_uninitialized", args);
  COBRA_TRY(reader.Required("cls", &cls).Required("dtype", &dtype).Optional("requires_grad", &requires_grad).Finish());
  Tensor* made = interp.heap().New<Tensor>();
  made->type = {{0}, AsDType(interp, dtype).value_or(Torch(interp).default_dtype)};
  made->label = "parameter";
  made->is_random = true;
  made->is_uninitialized = true;
  made->requires_grad = requires_grad;
  return interp.NewInstance(cls.as<ClassObject>(), made);
}

// _materialize(tensor, shape, class): sets the tensor's shape and its usual class. While the
// network runs, the tensor also enters the graph under the name that NameTensors found for it.
Result<Value> Materialize(Interpreter& interp, const CallArgs& args) {
  Tensor* tensor;
  std::vector<int64_t> shape;
  Value cls, dtype;
  COBRA_TRY(ArgReader(interp, "materialize", args)
                .Required("tensor", &tensor)
                .Required("shape", &shape)
                .Required("cls", &cls)
                .Optional("dtype", &dtype)
                .Finish());
  TorchState& torch = Torch(interp);
  tensor->type.shape.assign(shape.begin(), shape.end());
  tensor->type.dtype = AsDType(interp, dtype).value_or(tensor->type.dtype);
  if (graph::IsTooLarge(tensor->type, interp.limits().graph.max_tensor_bytes))
    return interp.LimitReached(LimitMessage(absl::StrCat("a lazy parameter of ", graph::TypeText(tensor->type)),
                                            interp.limits().graph.max_tensor_bytes, "bytes"));
  tensor->is_uninitialized = false;
  args.positional[0].object()->cls = cls.as<ClassObject>();
  const auto name = torch.uninitialized_names.find(tensor);
  if (name != torch.uninitialized_names.end()) {
    const bool parameter = Interpreter::IsSubclassOf(cls.as<ClassObject>(), torch.parameter_class);
    tensor->ref = parameter ? torch.builder.AddParameter(name->second, tensor->type)
                            : torch.builder.AddBuffer(name->second, tensor->type);
  }
  return args.positional[0];
}

Result<Value> IsUninitialized(Interpreter&, const CallArgs& args) {
  Tensor* tensor = args.positional.empty() ? nullptr : AsTensor(args.positional[0]);
  return Value::Bool(tensor != nullptr && tensor->is_uninitialized);
}

Result<Value> SetModuleClass(Interpreter& interp, const CallArgs& args) {
  TorchState& torch = Torch(interp);
  torch.module_class = args.positional[0].as<ClassObject>();
  torch.global_forward_pre_hooks = args.positional[1];
  torch.global_forward_hooks = args.positional[2];
  return Value::None();
}

Result<Value> SetBufferClass(Interpreter& interp, const CallArgs& args) {
  Torch(interp).buffer_class = args.positional[0].as<ClassObject>();
  return Value::None();
}

}  // namespace

const Object* PendingException(Interpreter& interp) {
  Value exception;
  if (!interp.CatchException(interp.types().BaseException, &exception)) return nullptr;
  auto* e = exception.as<ExceptionObject>();
  const Value context = e->context;
  (void)interp.RaiseValue(exception);
  e->context = context;
  return e;
}

void DefineModuleClass(Interpreter& interp, NativeModuleBuilder& m) {
  NativeClassBuilder module_base = m.Class("_ModuleBase", {interp.types().object});
  DefineModuleState(interp, module_base);
  module_base.Method("__call__", CallModule)
      .Method("_call_impl", CallModule)
      .Method("register_buffer", RegisterBuffer)
      .Method("register_parameter", RegisterParameter)
      .Build();
  m.Function("_set_module_class", SetModuleClass).Function("_children", Children).Function("_members", Members);
  m.Function("_walk", Walk);
  DefineLayerDecorators(m);
}

Result<void> DefineParameterClass(Interpreter& interp, NativeModuleBuilder& m) {
  Torch(interp).parameter_class = m.Class("Parameter", {Torch(interp).tensor_class})
                                      .New(NewParameter)
                                      .Attribute("__torch_function__", Torch(interp).disabled_torch_function)
                                      .Mutable()
                                      .Build();
  m.Function("_set_buffer_class", SetBufferClass)
      .Function("_new_uninitialized", NewUninitialized)
      .Function("_materialize", Materialize)
      .Function("is_lazy", IsUninitialized);
  return {};
}

}  // namespace cobra::python
