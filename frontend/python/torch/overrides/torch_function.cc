// Tensor.__torch_function__, and what programs switch and ask: torch.overrides, torch._C.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/torch/overrides/overrides.h"

namespace cobra::python {
namespace {

bool IsNowrap(Interpreter& interp, Value function) {
  if (!function.IsBoundMethod()) return false;
  const Value property = function.as<BoundMethodObject>()->self;
  for (const char* name : {"grad", "_grad", "_base"}) {
    const Value* known = Torch(interp).tensor_class->attrs->table.GetStr(interp.Intern(name));
    if (known != nullptr && known->IsSame(property)) return true;
  }
  return false;
}

Result<Value> Converted(Interpreter& interp, Value v, ClassObject* cls) {
  COBRA_TRY(interp.CheckStack());
  if (AsTensor(v) != nullptr) {
    if (interp.IsInstanceOf(v, cls)) return v;
    return TensorAs(interp, v, cls);
  }
  if (!v.IsTuple() && !v.IsList()) return v;
  std::vector<Value> items;
  COBRA_TRY_ASSIGN(const std::vector<Value> given, interp.ToVector(v));
  for (Value item : given) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(const Value converted, Converted(interp, item, cls));
    items.push_back(converted);
  }
  if (v.IsList()) return interp.NewList(items);
  if (items.empty()) return v;
  TupleObject* tuple = interp.NewTuple(items);
  tuple->cls = v.object()->cls;
  tuple->attrs = v.object()->attrs;
  return tuple;
}

Result<Value> CallWith(Interpreter& interp, Value function, Value positional, Value keywords) {
  COBRA_TRY_ASSIGN(const std::vector<Value> arguments, interp.ToVector(positional));
  std::vector<KeywordArg> named;
  if (keywords.IsDict()) {
    const DictTable& table = keywords.as<DictObject>()->table;
    for (size_t i = 0; i < table.entry_count(); ++i) {
      if (table.entry(i).key.IsStr())
        named.push_back({interp.InternStr(table.entry(i).key.as<StrObject>()), table.entry(i).value});
    }
  }
  return interp.Call(function, arguments, named);
}

struct HandlerArguments {
  Value function, types, positional, keywords;
};

Result<HandlerArguments> ReadHandlerArguments(Interpreter& interp, const CallArgs& args) {
  HandlerArguments given;
  given.positional = interp.NewTuple({});
  COBRA_TRY(ArgReader(interp, "__torch_function__", args)
                .Required("func", &given.function)
                .Required("types", &given.types)
                .Optional("args", &given.positional)
                .Optional("kwargs", &given.keywords)
                .Finish());
  return given;
}

// Runs the function unseen, and makes the tensors that it returns tensors of the class.
Result<Value> DefaultTorchFunction(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const HandlerArguments given, ReadHandlerArguments(interp, args));
  if (!args.self.IsClass()) return interp.Raise(interp.types().TypeError, "__torch_function__() is a class method");
  auto* cls = args.self.as<ClassObject>();
  COBRA_TRY_ASSIGN(const std::vector<Value> types, interp.ToVector(given.types));
  for (Value type : types) {
    COBRA_TRY_ASSIGN(const bool derives, interp.IsSubclass(cls, type));
    if (!derives) return Value::NotImplemented();
  }
  const Unseen unseen(Torch(interp), /*modes_too=*/false);
  COBRA_TRY_ASSIGN(const Value result, CallWith(interp, given.function, given.positional, given.keywords));
  if (cls == Torch(interp).tensor_class || IsNowrap(interp, given.function)) return result;
  return Converted(interp, result, cls);
}

// torch._C._disabled_torch_function_impl
Result<Value> DisabledTorchFunction(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const HandlerArguments given, ReadHandlerArguments(interp, args));
  const Unseen unseen(Torch(interp), /*modes_too=*/false);
  return CallWith(interp, given.function, given.positional, given.keywords);
}

// _has_torch_function(values)
Result<Value> HasTorchFunction(Interpreter& interp, const CallArgs& args) {
  std::vector<Value> values;
  COBRA_TRY(ArgReader(interp, "has_torch_function", args).Required("relevant_args", &values).Finish());
  const bool seen = std::any_of(values.begin(), values.end(), [&](Value v) { return IsSeen(interp, v); });
  return Value::Bool(seen || IsSeen(interp, Value::None()));  // by a mode
}

// Of one value, and of several arguments.
Result<Value> HasTorchFunctionOf(Interpreter& interp, const CallArgs& args) {
  const Value values = interp.NewTuple(args.positional);
  return HasTorchFunction(interp, CallArgs{Value::Unbound(), {&values, 1}, {}});
}

// torch.overrides.handle_torch_function(public_api, relevant_args, *args, **kwargs)
Result<Value> HandleTorchFunction(Interpreter& interp, const CallArgs& args) {
  Value relevant;
  absl::Span<const Value> rest;
  std::vector<KeywordArg> keywords;
  Handed handed;
  COBRA_TRY(ArgReader(interp, "handle_torch_function", args)
                .Required("public_api", &handed.function)
                .Required("relevant_args", &relevant)
                .VarArgs(&rest)
                .KwArgs(&keywords)
                .Finish());
  COBRA_TRY_ASSIGN(const std::vector<Value> asked, interp.ToVector(relevant));
  AskRelevant(interp, asked, &handed.overloaded);
  COBRA_TRY_ASSIGN(const Value module, interp.GetAttr(handed.function, "__module__"));
  COBRA_TRY_ASSIGN(const Value name, interp.GetAttr(handed.function, "__name__"));
  COBRA_TRY_ASSIGN(StrObject * module_text, interp.Str(module));
  COBRA_TRY_ASSIGN(StrObject * name_text, interp.Str(name));
  handed.name = absl::StrCat(module_text->view(), ".", name_text->view());
  handed.positional.assign(rest.begin(), rest.end());
  handed.keywords = KeywordsOf(interp, keywords);
  return HandOver(interp, handed);
}

// _switch_overrides(classes, modes): adds to how often each was switched off.
Result<Value> SwitchOverrides(Interpreter& interp, const CallArgs& args) {
  int64_t classes, modes;
  ArgReader reader(interp, "_switch_overrides", args);
  COBRA_TRY(reader.Required("classes", &classes).Required("modes", &modes).Finish());
  Torch(interp).overrides_off += static_cast<int>(classes);
  Torch(interp).modes_off += static_cast<int>(modes);
  return Value::None();
}

Result<Value> PushMode(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value mode, OnlyArgument(interp, "_push_function_mode", "mode", args));
  Torch(interp).function_modes.push_back(mode);
  return Value::None();
}
Result<Value> PopMode(Interpreter& interp, const CallArgs&) {
  if (Torch(interp).function_modes.empty()) return interp.Raise(interp.types().RuntimeError, "no mode to leave");
  Torch(interp).function_modes.pop_back();
  return Value::None();
}

}  // namespace

void DefineOverrides(Interpreter& interp, NativeModuleBuilder& m) {
  DefineOverridable(m);
  m.Function("_has_torch_function", HasTorchFunction)
      .Function("_has_torch_function_unary", HasTorchFunctionOf)
      .Function("_has_torch_function_variadic", HasTorchFunctionOf)
      .Function("_handle_torch_function", HandleTorchFunction)
      .Function("_switch_overrides", SwitchOverrides)
      .Function("_push_function_mode", PushMode)
      .Function("_pop_function_mode", PopMode);
  const Value disabled = interp.NewFunction("_disabled_torch_function_impl", DisabledTorchFunction);
  Torch(interp).disabled_torch_function = disabled;
  m.Value("_disabled_torch_function_impl", disabled);
}

void DefineSubclassMethods(Interpreter& interp, NativeClassBuilder& tensor_class) {
  Torch(interp).names.torch_function = interp.Intern("__torch_function__");
  Torch(interp).names.torch_dispatch = interp.Intern("__torch_dispatch__");
  DefineSubclassMaking(tensor_class);
  tensor_class.ClassMethod("__torch_function__", DefaultTorchFunction);
}

}  // namespace cobra::python
