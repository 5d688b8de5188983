// Calls: binding of arguments to parameters, bound methods, construction of instances.
#include <alloca.h>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

constexpr int kMaxStackSlots = 256;  // more locals than this are on the heap, to keep native frames small

StrObject* ParameterName(Interpreter& interp, FunctionObject* f, int slot) {
  return NameOf(interp, f->unit, f->scope->slot_names[static_cast<size_t>(slot)]);
}

// Null if there is none. In lists and tuples too: nn.Linear(8, cfg["width"]) makes a shape of it.
OpaqueObject* FindOpaque(Value v, int depth) {
  if (v.IsOpaque()) return v.as<OpaqueObject>();
  absl::Span<const Value> items;
  if (v.IsTuple()) items = v.as<TupleObject>()->span();
  if (v.IsList()) items = absl::MakeConstSpan(v.as<ListObject>()->items.data(), v.as<ListObject>()->items.size());
  for (size_t i = 0; depth > 0 && i < std::min<size_t>(items.size(), 64); ++i) {
    if (OpaqueObject* const found = FindOpaque(items[i], depth - 1)) return found;
  }
  return nullptr;
}

OpaqueObject* FindOpaque(const CallArgs& args) {
  constexpr int kDepth = 2;
  for (const Value v : args.positional) {
    if (OpaqueObject* const found = FindOpaque(v, kDepth)) return found;
  }
  for (const KeywordArg& k : args.keywords) {
    if (OpaqueObject* const found = FindOpaque(k.value, kDepth)) return found;
  }
  return nullptr;
}

// What a native function has rejected, `args`, may come from a module that was not found. Then that
// is the error.
Failure OpaqueFailure(Interpreter& interp, StrObject* function, const CallArgs& args) {
  OpaqueObject* const opaque = FindOpaque(args);
  if (opaque == nullptr || !interp.CatchException(interp.types().TypeError)) return {};
  return OpaqueUsed(interp, opaque->dotted_name->view(), absl::StrCat(function->view(), "() of "));
}

// "a", "a and b", "a, b, and c", quoted.
std::string NameList(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) absl::StrAppend(&out, names.size() > 2 ? ", " : " ", i + 1 == names.size() ? "and " : "");
    absl::StrAppend(&out, "'", names[i], "'");
  }
  return out;
}

Failure MissingArguments(Interpreter& interp, FunctionObject* f, const Value* locals) {
  const ScopeInfo& s = *f->scope;
  std::vector<std::string> names;
  int required = s.positional - f->default_count;
  for (int i = 0; i < required; ++i) {
    if (locals[i].IsUnbound()) names.emplace_back(ParameterName(interp, f, i)->view());
  }
  absl::string_view what = "positional";
  if (names.empty()) {
    what = "keyword-only";
    for (int i = s.positional; i < s.positional + s.keyword_only; ++i) {
      StrObject* name = ParameterName(interp, f, i);
      bool has_default = f->keyword_defaults != nullptr && f->keyword_defaults->table.GetStr(name) != nullptr;
      if (locals[i].IsUnbound() && !has_default) names.emplace_back(name->view());
    }
  }
  return interp.Raise(interp.types().TypeError, f->qualname->view(), "() missing ", names.size(), " required ", what,
                      " argument", names.size() == 1 ? "" : "s", ": ", NameList(names));
}

Failure TooManyPositional(Interpreter& interp, FunctionObject* f, size_t given, const Value* locals) {
  const ScopeInfo& s = *f->scope;
  int keyword_only_given = 0;
  for (int i = s.positional; i < s.positional + s.keyword_only; ++i) keyword_only_given += !locals[i].IsUnbound();
  int required = s.positional - f->default_count;
  std::string takes =
      f->default_count > 0 ? absl::StrCat("from ", required, " to ", s.positional) : absl::StrCat(s.positional);
  bool plural = f->default_count > 0 || s.positional != 1;
  std::string extra;
  if (keyword_only_given > 0) {
    extra = absl::StrCat(" positional argument", given == 1 ? "" : "s", " (and ", keyword_only_given,
                         " keyword-only argument", keyword_only_given == 1 ? "" : "s", ")");
  }
  return interp.Raise(interp.types().TypeError, f->qualname->view(), "() takes ", takes, " positional argument",
                      plural ? "s" : "", " but ", given, extra,
                      given == 1 && keyword_only_given == 0 ? " was given" : " were given");
}

// The slot of a parameter that may be given by keyword, or -1.
int FindParameter(Interpreter& interp, FunctionObject* f, StrObject* name) {
  const ScopeInfo& s = *f->scope;
  int end = s.positional + s.keyword_only;
  for (int i = s.positional_only; i < end; ++i) {
    StrObject* p = ParameterName(interp, f, i);
    if (p == name || (!(p->interned && name->interned) && p->view() == name->view())) return i;
  }
  return -1;
}

Result<void> BindKeywords(Interpreter& interp, FunctionObject* f, absl::Span<const KeywordArg> keywords,
                          Value* locals) {
  const ScopeInfo& s = *f->scope;
  interp.Spend(static_cast<int64_t>(keywords.size()) * (s.positional + s.keyword_only) / 64);
  DictObject* rest = nullptr;
  if (s.kwarg_slot >= 0) {
    rest = interp.NewDict();
    locals[s.kwarg_slot] = rest;
  }
  for (const KeywordArg& k : keywords) {
    int slot = FindParameter(interp, f, k.name);
    if (slot >= 0) {
      if (!locals[slot].IsUnbound()) {
        return interp.Raise(interp.types().TypeError, f->qualname->view(), "() got multiple values for argument '",
                            k.name->view(), "'");
      }
      locals[slot] = k.value;
      continue;
    }
    if (rest != nullptr) {
      if (rest->table.FindStr(k.name) >= 0) {
        return interp.Raise(interp.types().TypeError, f->qualname->view(),
                            "() got multiple values for keyword argument '", k.name->view(), "'");
      }
      rest->table.SetStr(interp.heap(), k.name, k.value);
      continue;
    }
    for (int i = 0; i < s.positional_only; ++i) {
      if (ParameterName(interp, f, i)->view() == k.name->view()) {
        return interp.Raise(interp.types().TypeError, f->qualname->view(),
                            "() got some positional-only arguments passed as keyword arguments: '", k.name->view(),
                            "'");
      }
    }
    return interp.Raise(interp.types().TypeError, f->qualname->view(), "() got an unexpected keyword argument '",
                        k.name->view(), "'");
  }
  return {};
}

__attribute__((noinline)) Result<void> BindAnyArguments(Interpreter& interp, FunctionObject* f, const CallArgs& args,
                                                        Value* locals) {
  const ScopeInfo& s = *f->scope;
  for (int i = 0; i < s.slot_count; ++i) locals[i] = Value::Unbound();
  size_t shift = args.self.IsUnbound() ? 0 : 1;
  size_t given = args.positional.size() + shift;
  size_t direct = std::min(given, static_cast<size_t>(s.positional));
  if (shift == 1 && direct > 0) locals[0] = args.self;
  for (size_t i = shift; i < direct; ++i) locals[i] = args.positional[i - shift];
  if (s.vararg_slot >= 0) {
    if (given > direct) {
      TupleObject* rest = interp.NewTupleOfSize(static_cast<int64_t>(given - direct));
      for (size_t i = direct; i < given; ++i)
        rest->items[i - direct] = i < shift ? args.self : args.positional[i - shift];
      locals[s.vararg_slot] = rest;
    } else {
      locals[s.vararg_slot] = interp.NewTupleOfSize(0);
    }
  }
  if (!args.keywords.empty() || s.kwarg_slot >= 0) COBRA_TRY(BindKeywords(interp, f, args.keywords, locals));
  if (given > direct && s.vararg_slot < 0) return TooManyPositional(interp, f, given, locals);
  for (int i = static_cast<int>(direct); i < s.positional; ++i) {
    if (!locals[i].IsUnbound()) continue;
    int d = i - (s.positional - f->default_count);
    if (d < 0) return MissingArguments(interp, f, locals);
    locals[i] = f->defaults[d];
  }
  for (int i = s.positional; i < s.positional + s.keyword_only; ++i) {
    if (!locals[i].IsUnbound()) continue;
    Value* d =
        f->keyword_defaults == nullptr ? nullptr : f->keyword_defaults->table.GetStr(ParameterName(interp, f, i));
    if (d == nullptr) return MissingArguments(interp, f, locals);
    locals[i] = *d;
  }
  return {};
}

// Handles the commonest case directly: only positional arguments and defaults, and neither too many
// nor too few.
inline Result<void> BindPositional(Interpreter& interp, FunctionObject* f, const CallArgs& args, Value* locals) {
  const ScopeInfo& s = *f->scope;
  const int shift = args.self.IsUnbound() ? 0 : 1;
  const int given = static_cast<int>(args.positional.size()) + shift;
  const int first_default = s.positional - f->default_count;
  if (!args.keywords.empty() || s.vararg_slot >= 0 || s.kwarg_slot >= 0 || s.keyword_only > 0 || given > s.positional ||
      given < first_default) {
    return BindAnyArguments(interp, f, args, locals);
  }
  if (shift == 1) locals[0] = args.self;
  for (int i = shift; i < given; ++i) locals[i] = args.positional[static_cast<size_t>(i - shift)];
  for (int i = given; i < s.positional; ++i) locals[i] = f->defaults[i - first_default];
  for (int i = s.positional; i < s.slot_count; ++i) locals[i] = Value::Unbound();
  return {};
}

void FillFrame(FunctionObject* f, Frame* frame) {
  frame->unit = f->unit;
  frame->scope = f->scope;
  frame->module = f->module;
  frame->globals = f->module->attrs;
  frame->free = f->free;
  frame->function = f;
}

}  // namespace

Result<Value> RunText(Interpreter& interp, FunctionObject* f, Value* locals) {
  Frame frame;
  frame.locals = locals;
  FillFrame(f, &frame);
  return RunFrame(interp, frame);
}

Result<Value> CallFunction(Interpreter& interp, FunctionObject* f, const CallArgs& args) {
  const ScopeInfo& s = *f->scope;
  RuntimeState& state = interp.state();
  COBRA_TRY(interp.Step());
  if (state.call_depth >= interp.limits().call_depth || StackPointer() < interp.stack_low())
    return interp.RaiseRecursion();
  Frame frame;
  bool on_heap = s.is_generator || s.is_async || s.slot_count > kMaxStackSlots;
  size_t bytes = static_cast<size_t>(s.slot_count + 1) * sizeof(Value);
  frame.locals = static_cast<Value*>(on_heap ? interp.heap().Allocate(bytes) : alloca(bytes));
  COBRA_TRY(BindPositional(interp, f, args, frame.locals));
  if (f->body != nullptr) {
    ++state.call_depth;
    Result<Value> result = f->body->Run(interp, f, frame.locals);
    --state.call_depth;
    return result.ok() ? result : OpaqueFailure(interp, f->qualname, args);
  }
  FillFrame(f, &frame);
  if (s.is_generator || s.is_async) return MakeGenerator(interp, f, frame);
  ++state.call_depth;
  Result<Value> result = RunFrame(interp, frame);
  --state.call_depth;
  return result;
}

std::vector<Value> FlattenSelf(const CallArgs& args) {
  std::vector<Value> all;
  all.reserve(args.positional.size() + 1);
  if (!args.self.IsUnbound()) all.push_back(args.self);
  all.insert(all.end(), args.positional.begin(), args.positional.end());
  return all;
}

namespace {

Result<Value> CallNative(Interpreter& interp, BuiltinObject* b, const CallArgs& args) {
  COBRA_TRY(interp.CheckStack());
  interp.Spend(1 + static_cast<int64_t>(args.positional.size() + args.keywords.size()) / 16);
  if (!b->is_method) {
    if (args.self.IsUnbound()) return b->function(interp, args);
    std::vector<Value> all = FlattenSelf(args);
    CallArgs flat;
    flat.positional = all;
    flat.keywords = args.keywords;
    return b->function(interp, flat);
  }
  CallArgs bound = args;
  if (bound.self.IsUnbound()) {
    if (bound.positional.empty())
      return interp.Raise(interp.types().TypeError, "unbound method ", b->qualname->view(), "() needs an argument");
    bound.self = bound.positional[0];
    bound.positional.remove_prefix(1);
  }
  if (b->owner != nullptr && !interp.IsInstanceOf(bound.self, b->owner)) {
    return interp.Raise(interp.types().TypeError, "descriptor '", b->name->view(), "' for '", b->owner->name->view(),
                        "' objects doesn't apply to a '", interp.TypeName(bound.self), "' object");
  }
  return b->function(interp, bound);
}

__attribute__((noinline)) Result<Value> CallBuiltin(Interpreter& interp, BuiltinObject* b, const CallArgs& args) {
  Result<Value> result = CallNative(interp, b, args);
  return result.ok() ? result : OpaqueFailure(interp, b->name, args);
}

// callable(self, *args) where the callable is neither a function nor a builtin: self becomes an
// ordinary argument.
Result<Value> CallFlattened(Interpreter& interp, Value callable, const CallArgs& args) {
  std::vector<Value> all = FlattenSelf(args);
  CallArgs flat;
  flat.positional = all;
  flat.keywords = args.keywords;
  return interp.Call(callable, flat);
}

Result<Value> CallInstance(Interpreter& interp, Value callable, const CallArgs& args) {
  ClassObject* cls = interp.class_of(callable);
  Value call = FindInClass(interp, cls, interp.names().__call__);
  if (call.IsUnbound() || call.IsNone())
    return interp.Raise(interp.types().TypeError, "'", cls->name->view(), "' object is not callable");
  if (call.IsFunction() || (call.IsBuiltin() && call.as<BuiltinObject>()->is_method)) {
    CallArgs method = args;
    method.self = callable;
    return interp.Call(call, method);
  }
  COBRA_TRY_ASSIGN(Value bound, BindDescriptor(interp, call, callable, cls));
  return interp.Call(bound, args);
}

}  // namespace

namespace {

__attribute__((noinline)) Result<Value> CallOther(Interpreter& interp, Value callable, const CallArgs& args) {
  if (!callable.IsObject())
    return interp.Raise(interp.types().TypeError, "'", interp.TypeName(callable), "' object is not callable");
  if (!args.self.IsUnbound()) return CallFlattened(interp, callable, args);
  COBRA_TRY(interp.CheckStack());
  switch (callable.object()->kind) {
    case ObjectKind::kBoundMethod: {
      auto* m = callable.as<BoundMethodObject>();
      CallArgs bound = args;
      bound.self = m->self;
      return interp.Call(m->function, bound);
    }
    case ObjectKind::kClass: return CallClass(interp, callable.as<ClassObject>(), args);
    case ObjectKind::kGenericAlias: {
      auto* alias = callable.as<GenericAliasObject>();
      if (!alias->is_union) return interp.Call(alias->origin, args);
      break;
    }
    case ObjectKind::kStaticMethod: return interp.Call(callable.as<StaticMethodObject>()->function, args);
    case ObjectKind::kLazy: {
      COBRA_TRY_ASSIGN(Value forced, ForceLazy(interp, callable));
      return interp.Call(forced, args);
    }
    case ObjectKind::kOpaque: return CallOpaque(interp, callable.as<OpaqueObject>(), args);
    default: break;
  }
  return CallInstance(interp, callable, args);
}

}  // namespace

Result<Value> Interpreter::Call(Value callable, const CallArgs& args) {
  if (callable.IsFunction()) return CallFunction(*this, callable.as<FunctionObject>(), args);
  if (callable.IsBuiltin()) return CallBuiltin(*this, callable.as<BuiltinObject>(), args);
  return CallOther(*this, callable, args);
}

Result<Value> Interpreter::Call(Value callable, absl::Span<const Value> args, absl::Span<const KeywordArg> keywords) {
  CallArgs call;
  call.positional = args;
  call.keywords = keywords;
  return Call(callable, call);
}

Result<Value> Interpreter::CallMethod(Value v, StrObject* name, absl::Span<const Value> args,
                                      absl::Span<const KeywordArg> keywords) {
  if (!name->interned) name = InternStr(name);
  CallArgs call;
  call.positional = args;
  call.keywords = keywords;
  Value function;
  std::atomic<uint16_t> guess(0);
  COBRA_TRY(GetMethod(*this, v, name, guess, &function, &call.self));
  return Call(function, call);
}

Result<Value> Interpreter::CallSpecial(Value v, StrObject* name, std::initializer_list<Value> args) {
  ClassObject* cls = class_of(v);
  Value method = LookupClass(cls, name);
  if (method.IsUnbound()) return method;
  CallArgs call;
  call.positional = absl::MakeConstSpan(args.begin(), args.size());
  if (method.IsFunction() || (method.IsBuiltin() && method.as<BuiltinObject>()->is_method)) {
    call.self = v;
    return Call(method, call);
  }
  COBRA_TRY_ASSIGN(Value bound, BindDescriptor(*this, method, v, cls));
  if (bound.IsNone()) return Value::Unbound();  // __hash__ = None and the like
  return Call(bound, call);
}

bool Interpreter::IsCallable(Value v) {
  if (!v.IsObject()) return false;
  switch (v.object()->kind) {
    case ObjectKind::kFunction:
    case ObjectKind::kBuiltin:
    case ObjectKind::kBoundMethod:
    case ObjectKind::kClass:
    case ObjectKind::kStaticMethod:
    case ObjectKind::kOpaque: return true;
    case ObjectKind::kGenericAlias: return !v.as<GenericAliasObject>()->is_union;
    default: return !LookupClass(v.object()->cls, names_.__call__).IsUnbound();
  }
}

namespace {

// cls.__new__(cls, *args): either the user's, or the built-in one of the layout.
Result<Value> CallNew(Interpreter& interp, ClassObject* cls, const CallArgs& args) {
  Value user = FindInClass(interp, cls, interp.names().__new__);
  if (user.IsStaticMethod()) user = user.as<StaticMethodObject>()->function;
  if (user.IsFunction() || !user.IsBuiltin()) {
    std::vector<Value> all;
    all.reserve(args.positional.size() + 1);
    all.push_back(cls);
    all.insert(all.end(), args.positional.begin(), args.positional.end());
    return interp.Call(user, absl::MakeConstSpan(all), args.keywords);
  }
  CallArgs with_class = args;
  with_class.self = cls;
  for (ClassObject* c : cls->mro) {
    if (!c->native_new) continue;
    Result<Value> made = c->native_new(interp, with_class);
    return made.ok() ? made : OpaqueFailure(interp, c->name, args);
  }
  return Value(interp.NewInstance(cls));
}

}  // namespace

Result<Value> CallClass(Interpreter& interp, ClassObject* cls, const CallArgs& args) {
  COBRA_TRY(interp.Step());
  const CommonNames& n = interp.names();
  if (cls->has_metaclass) {
    Value meta_call = FindInClass(interp, cls->cls, n.__call__);
    if (meta_call.IsFunction()) {
      CallArgs method = args;
      method.self = cls;
      return interp.Call(meta_call, method);
    }
  }
  return ConstructInstance(interp, cls, args);
}

Result<Value> ConstructInstance(Interpreter& interp, ClassObject* cls, const CallArgs& args) {
  const CommonNames& n = interp.names();
  if (cls == interp.types().type && args.positional.size() == 1 && args.keywords.empty())
    return Value(interp.class_of(args.positional[0]));
  COBRA_TRY_ASSIGN(Value instance, CallNew(interp, cls, args));
  ClassObject* made = interp.class_of(instance);
  if (made != cls && !Interpreter::IsSubclassOf(made, cls)) return instance;
  if (!made->has_init) {
    // object.__init__ ignores arguments only if __new__ took them.
    if (!made->has_new && made->layout == ObjectKind::kInstance &&
        (!args.positional.empty() || !args.keywords.empty())) {
      bool native = false;
      for (ClassObject* c : made->mro) native |= static_cast<bool>(c->native_new) && c != interp.types().object;
      if (!native) return interp.Raise(interp.types().TypeError, made->name->view(), "() takes no arguments");
    }
    return instance;
  }
  Value init = FindInClass(interp, made, n.__init__);
  CallArgs method = args;
  Result<Value> result = Value::None();
  if (init.IsFunction() || (init.IsBuiltin() && init.as<BuiltinObject>()->is_method)) {
    method.self = instance;
    result = interp.Call(init, method);
  } else {
    COBRA_TRY_ASSIGN(Value bound, BindDescriptor(interp, init, instance, made));
    result = interp.Call(bound, method);
  }
  if (!result.ok()) return Failure();
  if (!result->IsNone()) {
    return interp.Raise(interp.types().TypeError, "__init__() should return None, not '", interp.TypeName(*result),
                        "'");
  }
  return instance;
}

}  // namespace cobra::python
