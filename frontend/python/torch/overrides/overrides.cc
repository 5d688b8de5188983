#include "frontend/python/torch/overrides/overrides.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

using HowHanded = OverrideRule::Kind;

bool HasModes(const TorchState& torch) { return torch.modes_off == 0 && !torch.function_modes.empty(); }

// Whether calls with `v` are handed to its class: as PyTorch's has_torch_function(), which leaves
// out plain tensors.
bool IsSeenByClass(Interpreter& interp, Value v) {
  const TorchState& torch = Torch(interp);
  if (!v.IsInstance()) return false;
  ClassObject* cls = v.object()->cls;
  if (cls == torch.tensor_class || cls == torch.parameter_class) return false;
  const Value method = interp.LookupClass(cls, torch.names.torch_function);
  return !method.IsUnbound() && !method.IsSame(torch.disabled_torch_function);
}

absl::Span<const Value> ItemsOf(Value v) {
  if (v.IsTuple()) return v.as<TupleObject>()->span();
  if (v.IsList()) return {v.as<ListObject>()->items.data(), v.as<ListObject>()->items.size()};
  return {};
}

// The values that PyTorch asks for their classes: arguments, and the items of lists.
template <typename Visit>
void ForEachArgument(const CallArgs& args, Visit visit) {
  const auto one = [&](Value v) {
    visit(v, false);
    for (Value item : ItemsOf(v)) visit(item, true);
  };
  if (!args.self.IsUnbound()) visit(args.self, false);
  for (Value v : args.positional) one(v);
  for (const KeywordArg& keyword : args.keywords) one(keyword.value);
}

bool IsSeenInside(Interpreter& interp, Value v) {
  if (IsSeenByClass(interp, v)) return true;
  for (Value item : ItemsOf(v)) {
    if (IsSeenByClass(interp, item)) return true;
  }
  return false;
}

bool IsAnySeen(Interpreter& interp, const CallArgs& args) {
  if (!args.self.IsUnbound() && IsSeenByClass(interp, args.self)) return true;
  for (Value v : args.positional) {
    if (IsSeenInside(interp, v)) return true;
  }
  for (const KeywordArg& keyword : args.keywords) {
    if (IsSeenInside(interp, keyword.value)) return true;
  }
  return false;
}

// Each class once, and a subclass before the classes that it derives from.
class Overloaded {
 public:
  void Add(Interpreter& interp, Value v) {
    const ClassObject* cls = interp.class_of(v);
    size_t at = values_.size();
    for (size_t i = values_.size(); i-- > 0;) {
      const ClassObject* other = interp.class_of(values_[i]);
      if (other == cls) return;
      if (Interpreter::IsSubclassOf(cls, other)) at = i;
    }
    values_.insert(values_.begin() + static_cast<int64_t>(at), v);
  }
  const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
};

Result<Value> CallHandler(Interpreter& interp, Value receiver, const Handed& handed, Value types) {
  COBRA_TRY_ASSIGN(const Value method, interp.GetAttr(receiver, Torch(interp).names.torch_function));
  std::vector<Value> arguments{handed.function, types, interp.NewTuple(handed.positional)};
  if (!handed.keywords.IsNone()) arguments.push_back(handed.keywords);
  return interp.Call(method, arguments, {});
}

// One function of torch, and how it is handed over.
struct Overridable {
  std::string name;
  char space = 't';
  DictObject* names = nullptr;  // that it is found in
  OverrideRule rule;
  Value function;            // what a class sees, unless `rule` says another
  HeapNativeFunction run;    // what it does
  bool runs_unseen = false;  // Python text whose calls are not PyTorch's
  bool asks_self = false;    // a mode sees the class of self, whatever that is
};

Result<Value> FunctionNamed(Interpreter& interp, const Overridable& f, absl::string_view name) {
  const bool of_tensor = absl::ConsumePrefix(&name, "m.");
  DictObject* names = of_tensor ? Torch(interp).tensor_class->attrs : f.names;
  const Value* found = names->table.GetStr(interp.Intern(name));
  if (found == nullptr)
    return interp.Unsupported(absl::StrCat(f.name, "() of a subclass of Tensor, which sees it as ", name, "()"));
  return *found;
}

std::string ShownName(const Overridable& f) {
  switch (f.space) {
    case 'm': return absl::StrCat("torch.Tensor.", f.name);
    case 'F': return absl::StrCat("torch.nn.functional.", f.name);
    case 'f': return absl::StrCat("torch.fft.", f.name);
    case 'l': return absl::StrCat("torch.linalg.", f.name);
    case 's': return absl::StrCat("torch.special.", f.name);
    case 'N': return absl::StrCat("torch.nn.init.", f.name);
    default: return absl::StrCat("torch.", f.name);
  }
}

Failure Refuse(Interpreter& interp, const Overridable& f, const CallArgs& args, absl::string_view where = "") {
  std::string cls = "a TorchFunctionMode";
  ForEachArgument(args, [&](Value v, bool) {
    if (IsSeenByClass(interp, v)) cls = absl::StrCat("tensors of class ", interp.TypeName(v));
  });
  return interp.Unsupported(absl::StrCat(ShownName(f), "() ", where, "with ", cls),
                            "use a plain tensor there: x.as_subclass(torch.Tensor)");
}

// What an operator in C accepts beside its tensor; it is not handed over with anything else.
bool IsOperand(Interpreter& interp, Value v) {
  return AsTensor(v) != nullptr || v.IsComplex() || AsNumber(UnwrapArray(interp, v)).has_value() ||
         IsSeenByClass(interp, v);
}

bool IsBinaryOperator(const Overridable& f, const CallArgs& args) {
  return f.space == 'm' && absl::StartsWith(f.name, "__") && args.positional.size() == 1 && f.name != "__getitem__";
}

std::vector<Value> WithSelf(const CallArgs& args) {
  std::vector<Value> all;
  if (!args.self.IsUnbound()) all.push_back(args.self);
  all.insert(all.end(), args.positional.begin(), args.positional.end());
  return all;
}

Result<Value> OverrideOfC(Interpreter& interp, const Overridable& f, const CallArgs& args) {
  if (IsBinaryOperator(f, args) && !IsOperand(interp, args.positional[0])) return f.run(interp, args);
  Handed handed;
  handed.is_in_c = true;
  Overloaded overloaded;
  const bool asks = Torch(interp).overrides_off == 0 && f.rule.kind == HowHanded::kC;
  if (asks) {
    ForEachArgument(args, [&](Value v, bool) {
      if (IsSeenByClass(interp, v)) overloaded.Add(interp, v);
    });
  }
  handed.overloaded = overloaded.values();
  if (handed.overloaded.empty() && !HasModes(Torch(interp))) return f.run(interp, args);
  const bool by_name = std::any_of(args.keywords.begin(), args.keywords.end(), [&](const KeywordArg& keyword) {
    return keyword.name->view() != "out" && IsSeenInside(interp, keyword.value);
  });
  if (by_name && handed.overloaded.size() > 1)  // PyTorch's order is that of the signature
    return Refuse(interp, f, args, "by name ");
  handed.function = f.function;
  if (!f.rule.shown.empty()) COBRA_TRY_SET(handed.function, FunctionNamed(interp, f, f.rule.shown));
  handed.name = ShownName(f);
  handed.positional = WithSelf(args);
  if (!args.keywords.empty()) handed.keywords = KeywordsOf(interp, args.keywords);
  if (handed.overloaded.empty() && f.asks_self) handed.overloaded.push_back(args.self);
  Result<Value> result = HandOver(interp, handed);
  if (result.ok() || !IsBinaryOperator(f, args) || !interp.CatchException(interp.types().TypeError)) return result;
  return Value::NotImplemented();
}

Result<Value> OverrideOfPython(Interpreter& interp, const Overridable& f, const CallArgs& args) {
  COBRA_TRY_ASSIGN(PythonCall call, BindPythonCall(interp, f.name, f.rule.text, WithSelf(args), args.keywords));
  Handed handed;
  handed.function = f.function;
  if (!f.rule.shown.empty()) COBRA_TRY_SET(handed.function, FunctionNamed(interp, f, f.rule.shown));
  if (call.with_indices && !absl::EndsWith(f.name, "_with_indices"))
    COBRA_TRY_SET(handed.function, FunctionNamed(interp, f, absl::StrCat(f.name, "_with_indices")));
  if (!AskRelevant(interp, call.relevant, &handed.overloaded)) {
    // PyTorch runs its own text, whose calls the class then sees.
    if (Torch(interp).overrides_off == 0 && IsAnySeen(interp, args)) return Refuse(interp, f, args, "in that place ");
    return f.run(interp, args);
  }
  handed.name = ShownName(f);
  handed.positional = std::move(call.positional);
  handed.keywords = call.keywords;
  return HandOver(interp, handed);
}

Result<Value> OverrideOfOperator(Interpreter& interp, const Overridable& f, const CallArgs& args) {
  Handed handed;
  handed.positional = WithSelf(args);
  if (!AskRelevant(interp, handed.positional, &handed.overloaded)) return f.run(interp, args);
  handed.function = f.function;
  handed.name = ShownName(f);
  handed.keywords = KeywordsOf(interp, args.keywords);
  Result<Value> result = HandOver(interp, handed);
  if (result.ok() || !interp.CatchException(interp.types().TypeError)) return result;
  return Value::NotImplemented();
}

bool HoldsTensor(const CallArgs& args) {
  bool holds = false;
  ForEachArgument(args, [&](Value v, bool) { holds = holds || AsTensor(v) != nullptr; });
  return holds;
}

Result<Value> RunUnseen(Interpreter& interp, const Overridable& f, const CallArgs& args) {
  if (!f.runs_unseen) return f.run(interp, args);
  const Unseen unseen(Torch(interp));
  return f.run(interp, args);
}

// Of a call with an argument whose class may see it, or while a mode is on.
Result<Value> Override(Interpreter& interp, const Overridable& f, const CallArgs& args) {
  switch (f.rule.kind) {
    case HowHanded::kC: return OverrideOfC(interp, f, args);
    case HowHanded::kPython: return OverrideOfPython(interp, f, args);
    case HowHanded::kOperator: return OverrideOfOperator(interp, f, args);
    case HowHanded::kFactory: {
      bool in_list = false;
      ForEachArgument(args, [&](Value v, bool item) { in_list = in_list || (item && IsSeenByClass(interp, v)); });
      if (in_list && Torch(interp).overrides_off == 0) return Refuse(interp, f, args);  // __float__() of each
      return HasModes(Torch(interp)) ? OverrideOfC(interp, f, args) : f.run(interp, args);
    }
    case HowHanded::kNever: return RunUnseen(interp, f, args);
    case HowHanded::kRefused: break;
  }
  const bool seen = Torch(interp).overrides_off == 0 && IsAnySeen(interp, args);
  return seen || HoldsTensor(args) ? Refuse(interp, f, args) : Result<Value>(f.run(interp, args));
}

NativeFunction Asking(Overridable f) {
  return [f = std::move(f)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const TorchState& torch = Torch(interp);
    if (!HasModes(torch) && (torch.overrides_off > 0 || !IsAnySeen(interp, args))) return f.run(interp, args);
    return Override(interp, f, args);
  };
}

// ---- functions in Python text of our library

// Asks before the text runs, or the body that stands for it.
class AskingBody final : public NativeBody {
 public:
  AskingBody(Overridable overridable, const NativeBody* body) : f_(std::move(overridable)), body_(body) {}

  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    const TorchState& torch = Torch(interp);
    const ScopeInfo& scope = *f->scope;
    const int named = scope.positional + scope.keyword_only;
    bool seen = HasModes(torch);
    for (int i = 0; i < named && !seen && torch.overrides_off == 0; ++i) seen = IsSeenInside(interp, locals[i]);
    if (scope.vararg_slot >= 0 && torch.overrides_off == 0)
      seen = seen || IsSeenInside(interp, locals[scope.vararg_slot]);
    if (!seen) return RunBody(interp, f, locals);
    std::vector<Value> positional;
    std::vector<KeywordArg> keywords;
    for (int i = 0; i < named; ++i) {
      const ast::Identifier name = scope.slot_names[static_cast<size_t>(i)];
      if (i < scope.positional && scope.vararg_slot >= 0) {
        positional.push_back(locals[i]);
      } else {
        keywords.push_back({interp.Intern(name->text), locals[i]});
      }
    }
    if (scope.vararg_slot >= 0) {
      const auto rest = ItemsOf(locals[scope.vararg_slot]);
      positional.insert(positional.end(), rest.begin(), rest.end());
    }
    Overridable bound = f_;
    bound.run = HeapNativeFunction(
        interp.heap(), [this, f, locals](Interpreter& i, const CallArgs&) { return RunBody(i, f, locals); });
    return Override(interp, bound, CallArgs{Value::Unbound(), positional, keywords});
  }

 private:
  Result<Value> RunBody(Interpreter& interp, FunctionObject* f, Value* locals) const {
    return body_ != nullptr ? body_->Run(interp, f, locals) : RunText(interp, f, locals);
  }

  const Overridable f_;
  const NativeBody* const body_;
};

// ---- the names of a module or a class

struct OtherName {
  char space;
  absl::string_view attribute, name;
};
constexpr OtherName kOtherNames[] = {{'m', "__pow__", "pow"},
                                     {'m', "__ipow__", "pow_"},
                                     {'m', "__rtruediv__", "__rdiv__"},
                                     {'F', "logsigmoid", "log_sigmoid"},
                                     {'F', "threshold", "_threshold"}};

// What PyTorch has as __name__: torch.fft.fft is "fft_fft".
std::string PyTorchName(char space, absl::string_view attribute) {
  for (const OtherName& other : kOtherNames) {
    if (other.space == space && other.attribute == attribute) return std::string(other.name);
  }
  const absl::string_view prefix = space == 'f' ? "fft_" : space == 'l' ? "linalg_" : space == 's' ? "special_" : "";
  return absl::StrCat(prefix, attribute);
}

constexpr uint32_t kAsks = 1;  // Object::mark of a function that asks already

void MakeAsk(Interpreter& interp, BuiltinObject* builtin, Overridable f) {
  if (builtin->mark == kAsks) return;
  builtin->mark = kAsks;
  f.run = builtin->function;
  builtin->function = HeapNativeFunction(interp.heap(), Asking(std::move(f)));
}

void MakePropertyAsk(Interpreter& interp, Overridable f, PropertyObject* property) {
  f.rule = OverrideRule();
  f.asks_self = true;
  for (const auto& [accessor, name] :
       {std::pair(property->getter, "__get__"), std::pair(property->setter, "__set__")}) {
    if (!accessor.IsBuiltin()) continue;
    f.function = interp.NewBoundMethod(property, interp.LookupClass(interp.types().property, interp.Intern(name)));
    MakeAsk(interp, accessor.as<BuiltinObject>(), f);
  }
}

bool IsOfTorch(Value module) { return module.IsStr() && absl::StartsWith(module.str(), "torch"); }

// Our Python text of a function that is in C in PyTorch, as such a function.
Value AsBuiltin(Interpreter& interp, Overridable f, Value text) {
  f.run =
      HeapNativeFunction(interp.heap(), [text](Interpreter& i, const CallArgs& args) { return i.Call(text, args); });
  const Value made = interp.NewFunction(f.name, nullptr);
  auto* builtin = made.as<BuiltinObject>();
  builtin->module = interp.NewStr("torch");
  builtin->mark = kAsks;
  f.function = made;
  f.runs_unseen = f.rule.kind == HowHanded::kNever;
  builtin->function = HeapNativeFunction(interp.heap(), Asking(std::move(f)));
  return made;
}

bool IsPublicFunction(Value v) { return v.IsFunction() && v.as<FunctionObject>()->unit->internal; }

}  // namespace

Value KeywordsOf(Interpreter& interp, absl::Span<const KeywordArg> keywords) {
  DictObject* dict = interp.NewDict();
  for (const KeywordArg& keyword : keywords) dict->table.SetStr(interp.heap(), keyword.name, keyword.value);
  return dict;
}

bool AskRelevant(Interpreter& interp, absl::Span<const Value> relevant, std::vector<Value>* asked) {
  const TorchState& torch = Torch(interp);
  if (torch.overrides_off > 0) return HasModes(torch);
  bool seen = HasModes(torch);
  Overloaded overloaded;
  for (Value v : relevant) {
    seen = seen || IsSeenByClass(interp, v);
    if (IsSeenByClass(interp, v) || (v.IsInstance() && v.object()->cls == torch.tensor_class))
      overloaded.Add(interp, v);
  }
  *asked = overloaded.values();
  return seen;
}

Result<Value> HandOver(Interpreter& interp, const Handed& handed) {
  TorchState& torch = Torch(interp);
  COBRA_TRY(interp.Step());
  COBRA_TRY(interp.CheckStack());
  std::vector<Value> classes;
  std::vector<absl::string_view> names;
  for (Value v : handed.overloaded) {
    classes.push_back(interp.class_of(v));
    names.push_back(interp.TypeName(v));
  }
  const Value types = interp.NewTuple(classes);
  if (HasModes(torch)) {  // which does not see its own calls
    const Value mode = torch.function_modes.back();
    torch.function_modes.pop_back();
    Result<Value> result = CallHandler(interp, mode, handed, types);
    torch.function_modes.push_back(mode);
    if (!result.ok() || !result->IsNotImplemented()) return result;
  }
  for (Value v : handed.overloaded) {
    COBRA_TRY_ASSIGN(const Value result, CallHandler(interp, v, handed, types));
    if (!result.IsNotImplemented()) return result;
  }
  const bool shortly = handed.is_in_c && torch.AtLeast(2, 0);
  return interp.Raise(
      interp.types().TypeError,
      shortly ? absl::StrCat("Multiple dispatch failed for '", handed.name,
                             "'; all __torch_function__ handlers returned NotImplemented: ", absl::StrJoin(names, ", "))
              : absl::StrCat("no implementation found for '", handed.name,
                             "' on types that implement __torch_function__: [", absl::StrJoin(names, ", "), "]"));
}

bool IsSeen(Interpreter& interp, Value v) {
  const TorchState& torch = Torch(interp);
  return HasModes(torch) || (torch.overrides_off == 0 && IsSeenByClass(interp, v));
}

Result<void> CheckNoMode(Interpreter& interp) {
  if (!HasModes(Torch(interp))) return {};
  return interp.Unsupported("making a layer of torch.nn while a TorchFunctionMode is on", "make it before");
}

Result<void> MakeOverridable(Interpreter& interp, DictObject* names, char space) {
  TorchState& torch = Torch(interp);
  for (size_t i = 0; i < names->table.entry_count(); ++i) {
    const DictTable::Entry entry = names->table.entry(i);
    if (!entry.key.IsStr() || !entry.value.IsObject()) continue;
    Overridable f;
    f.name = std::string(entry.key.str());
    f.space = space;
    f.names = names;
    f.rule = OverrideRuleOf(torch, space, f.name);
    f.function = entry.value;
    if (absl::StartsWith(f.rule.shown, "t.")) {  // the same object as torch's
      COBRA_TRY_ASSIGN(ModuleObject * module, interp.ImportModule("torch"));
      COBRA_TRY_ASSIGN(const Value same, interp.GetAttrOrUnbound(Value(module), f.rule.shown.substr(2)));
      if (same.IsBuiltin()) names->table.SetStr(interp.heap(), entry.key.as<StrObject>(), same);
      if (same.IsBuiltin()) continue;
      f.rule.shown.clear();
    }
    if (entry.value.IsBuiltin()) {
      auto* builtin = entry.value.as<BuiltinObject>();
      if (space != 'm' && !IsOfTorch(builtin->module)) continue;
      if (builtin->mark != kAsks) builtin->name = interp.Intern(PyTorchName(space, f.name));
      MakeAsk(interp, builtin, std::move(f));
    } else if (entry.value.IsProperty() && space == 'm') {
      MakePropertyAsk(interp, std::move(f), entry.value.as<PropertyObject>());
    } else if (IsPublicFunction(entry.value)) {
      auto* function = entry.value.as<FunctionObject>();
      if (f.rule.kind == HowHanded::kPython || (f.rule.kind == HowHanded::kRefused && space == 'N')) {
        if (function->mark == kAsks) continue;
        function->mark = kAsks;
        function->body = interp.heap().New<AskingBody>(std::move(f), function->body);
      } else if (f.rule.has_row) {
        names->table.SetStr(interp.heap(), entry.key.as<StrObject>(), AsBuiltin(interp, std::move(f), entry.value));
      }
    }
  }
  return {};
}

namespace {

Result<Value> MakeModuleOverridable(Interpreter& interp, const CallArgs& args) {
  absl::string_view module;
  DictObject* names = nullptr;
  COBRA_TRY(ArgReader(interp, "_overridable", args).Required("module", &module).Required("names", &names).Finish());
  constexpr std::pair<absl::string_view, char> kSpaces[] = {
      {"torch", 't'},        {"torch.nn.functional", 'F'}, {"torch.nn.init", 'N'},        {"torch.fft", 'f'},
      {"torch.linalg", 'l'}, {"torch.special", 's'},       {"torch.ops.torchvision", 'v'}};
  for (const auto& [name, space] : kSpaces) {
    if (name == module) COBRA_TRY(MakeOverridable(interp, names, space));
  }
  return Value::None();
}

}  // namespace

void DefineOverridable(NativeModuleBuilder& m) { m.Function("_overridable", MakeModuleOverridable); }

}  // namespace cobra::python
