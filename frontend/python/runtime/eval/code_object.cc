#include "frontend/python/runtime/eval/code_object.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace cobra::python {
namespace {

// What only a compiler to CPython's instructions has.
constexpr absl::string_view kUnknown[] = {"co_code",      "co_consts",         "co_names", "co_stacksize", "co_lnotab",
                                          "co_linetable", "co_exceptiontable", "co_lines", "co_positions"};
// Attributes that are not shown.
constexpr absl::string_view kScope = "_scope";        // the place of its ScopeInfo: which code it is
constexpr absl::string_view kFunction = "_function";  // a function that runs it and that no program has changed

Value Attribute(Interpreter& interp, Value code, absl::string_view name) {
  Value* const found = code.object()->attrs->table.GetStr(interp.Intern(name));
  return found == nullptr ? Value::None() : *found;
}

bool IsCode(Interpreter& interp, Value v) { return v.IsInstance() && v.object()->cls == interp.types().code; }

std::string NameOfScope(const ScopeInfo& s) {
  if (s.name != nullptr) return std::string(s.name->text);
  return s.kind == ScopeKind::kModule ? "<module>" : s.kind == ScopeKind::kLambda ? "<lambda>" : "";
}

bool IsOfFunction(const ScopeInfo& s) { return s.kind == ScopeKind::kFunction || s.kind == ScopeKind::kLambda; }

int64_t FlagsOf(const ScopeInfo& s) {
  if (!IsOfFunction(s)) return 0;
  int64_t flags = 1 | 2;                                               // fast locals, and new ones at each call
  if (absl::StrContains(s.qualname_prefix, "<locals>.")) flags |= 16;  // nested
  if (s.vararg_slot >= 0) flags |= 4;
  if (s.kwarg_slot >= 0) flags |= 8;
  if (s.is_async) return flags | (s.is_generator ? 512 : 128);
  return s.is_generator ? flags | 32 : flags;
}

int FirstLine(const ScopeInfo& s, const ast::FunctionDef* definition) {
  if (definition != nullptr && !definition->decorator_list.empty()) return definition->decorator_list[0]->pos.line;
  return s.kind == ScopeKind::kModule ? 1 : s.pos.line;
}

struct Variables {
  std::vector<Value> names, cells, free;
};

Variables VariablesOf(Interpreter& interp, const ScopeInfo& s) {
  Variables v;
  for (size_t i : FreeOrder(s)) v.free.push_back(interp.Intern(s.free_names[i]->text));
  if (!IsOfFunction(s)) return v;
  const size_t parameters =
      static_cast<size_t>(s.positional + s.keyword_only + (s.vararg_slot >= 0) + (s.kwarg_slot >= 0));
  for (size_t i = 0; i < s.slot_names.size(); ++i) {
    if (s.slot_names[i] == nullptr) continue;
    const Value name = interp.Intern(s.slot_names[i]->text);
    const bool is_cell = std::find(s.cell_slots.begin(), s.cell_slots.end(), i) != s.cell_slots.end();
    if (is_cell) v.cells.push_back(name);
    if (i < parameters || !is_cell) v.names.push_back(name);  // other locals that a closure has are not among them
  }
  std::sort(v.cells.begin(), v.cells.end(), [](Value a, Value b) { return a.str() < b.str(); });
  return v;
}

void Describe(Interpreter& interp, InstanceObject* code, const CodeUnit* unit, const ScopeInfo& s,
              const ast::FunctionDef* definition) {
  DictObject* attrs = interp.AttrsOf(code);
  auto set = [&](absl::string_view name, Value v) { attrs->table.SetStr(interp.heap(), interp.Intern(name), v); };
  const std::string name = NameOfScope(s);
  const bool has_parameters = IsOfFunction(s);
  set("co_argcount", Value::Int(has_parameters ? s.positional : 0));
  set("co_posonlyargcount", Value::Int(has_parameters ? s.positional_only : 0));
  set("co_kwonlyargcount", Value::Int(has_parameters ? s.keyword_only : 0));
  set("co_name", interp.Intern(name));
  set("co_qualname", interp.Intern(absl::StrCat(s.qualname_prefix, name)));
  set("co_filename", interp.NewStr(unit->display_name));
  set("co_firstlineno", Value::Int(FirstLine(s, definition)));
  set("co_flags", Value::Int(FlagsOf(s)));
  const Variables variables = VariablesOf(interp, s);
  set("co_cellvars", interp.NewTuple(variables.cells));
  set("co_nlocals", Value::Int(static_cast<int64_t>(variables.names.size())));
  set("co_varnames", interp.NewTuple(variables.names));
  set("co_freevars", interp.NewTuple(variables.free));
  set(kScope, Value::Int(reinterpret_cast<intptr_t>(&s)));
}

// The code objects of a file that were asked for: by the place of the scope, and of functions whose
// code is a changed copy by the place of the function.
Result<DictObject*> CodesOf(Interpreter& interp, const CodeUnit* unit) {
  Value& slot = unit->constants[unit->code->constant_count()];
  if (slot.IsUnbound()) slot = interp.NewDict();
  return slot.as<DictObject>();
}

Value PlaceOf(const void* p) { return Value::Int(reinterpret_cast<intptr_t>(p)); }

Result<Value> CodeOf(Interpreter& interp, const CodeUnit* unit, const ScopeInfo& s, const FunctionObject* f) {
  COBRA_TRY_ASSIGN(DictObject * codes, CodesOf(interp, unit));
  if (f != nullptr) {
    COBRA_TRY_ASSIGN(Value own, interp.DictGet(codes, PlaceOf(f)));
    if (!own.IsUnbound()) return own;
  }
  COBRA_TRY_ASSIGN(Value code, interp.DictGet(codes, PlaceOf(&s)));
  if (code.IsUnbound()) {
    InstanceObject* made = interp.NewInstance(interp.types().code);
    Describe(interp, made, unit, s, f == nullptr ? nullptr : f->definition);
    code = Value(made);
    COBRA_TRY(interp.DictSet(codes, PlaceOf(&s), code));
  }
  if (f != nullptr && Attribute(interp, code, kFunction).IsNone()) {
    FunctionObject* copy = interp.heap().New<FunctionObject>(*f);
    copy->attrs = nullptr;
    copy->default_count = 0;
    copy->keyword_defaults = nullptr;
    copy->doc = copy->annotations = Value::Unbound();
    interp.DictSetStr(code.object()->attrs, kFunction, Value(copy));
  }
  return code;
}

Result<FunctionObject*> FunctionOf(Interpreter& interp, Value code, absl::string_view what) {
  const Value function = Attribute(interp, code, kFunction);
  if (!function.IsFunction()) return interp.Unsupported(absl::StrCat(what, " the code of a module or a class"));
  return function.as<FunctionObject>();
}

// The function has a changed copy of its code, or (None) the code of its def.
Result<void> Remember(Interpreter& interp, FunctionObject* f, Value code) {
  COBRA_TRY_ASSIGN(DictObject * codes, CodesOf(interp, f->unit));
  COBRA_TRY_ASSIGN(Value plain, interp.DictGet(codes, PlaceOf(f->scope)));
  if (!plain.IsUnbound() && !plain.IsSame(code)) return interp.DictSet(codes, PlaceOf(f), code);
  COBRA_TRY(interp.DictErase(codes, PlaceOf(f)));
  return {};
}

Result<Value> Replace(Interpreter& interp, const CallArgs& args) {
  if (!args.positional.empty()) return interp.Raise(interp.types().TypeError, "replace() takes 0 positional arguments");
  InstanceObject* made = interp.NewInstance(interp.types().code, args.self.as<InstanceObject>()->native);
  DictObject* attrs = interp.AttrsOf(made);
  COBRA_TRY(interp.DictUpdate(attrs, Value(args.self.object()->attrs)));
  for (const KeywordArg& k : args.keywords) {
    const absl::string_view name = k.name->view();
    const bool text = name == "co_name" || name == "co_qualname" || name == "co_filename";
    if (text && !k.value.IsStr()) {
      return interp.Raise(interp.types().TypeError, "replace() argument '", name, "' must be str, not ",
                          interp.TypeName(k.value));
    }
    if (text || (name == "co_firstlineno" && k.value.IsIntOrBool())) {
      attrs->table.SetStr(interp.heap(), k.name, k.value);
      continue;
    }
    Value* const now = absl::StartsWith(name, "co_") ? attrs->table.GetStr(k.name) : nullptr;
    if (now == nullptr && std::find(std::begin(kUnknown), std::end(kUnknown), name) == std::end(kUnknown))
      return interp.Raise(interp.types().TypeError, "'", name, "' is an invalid keyword argument for replace()");
    bool same = false;
    if (now != nullptr) COBRA_TRY_SET(same, interp.Equal(*now, k.value));
    if (!same) return interp.Unsupported(absl::StrCat("code.replace(", name, "=...)"));
  }
  return Value(made);
}

Result<Value> Equals(Interpreter& interp, const CallArgs& args) {
  const Value other = args.positional.empty() ? Value::None() : args.positional[0];
  if (!IsCode(interp, other)) return Value::NotImplemented();
  for (const absl::string_view name : {kScope, absl::string_view("co_name"), absl::string_view("co_firstlineno")}) {
    COBRA_TRY_ASSIGN(bool same, interp.Equal(Attribute(interp, args.self, name), Attribute(interp, other, name)));
    if (!same) return Value::Bool(false);
  }
  return Value::Bool(true);
}

// The closure has its cells in the order of the free variables' names; a function, in that of its
// code.
Result<CellObject**> Cells(Interpreter& interp, absl::Span<const Value> closure, const ScopeInfo& s) {
  auto** cells = static_cast<CellObject**>(interp.heap().Allocate((closure.size() + 1) * sizeof(CellObject*)));
  const std::vector<size_t> order = FreeOrder(s);
  for (size_t i = 0; i < closure.size(); ++i) {
    if (!closure[i].IsCell()) {
      return interp.Raise(interp.types().TypeError, "arg 5 (closure) expected cell, found ",
                          interp.TypeName(closure[i]));
    }
    cells[order[i]] = closure[i].as<CellObject>();
  }
  return cells;
}

Failure ReadOnly(Interpreter& interp, const CallArgs& args) {
  const Value name = args.positional.empty() ? Value::None() : args.positional[0];
  if (name.IsStr() && absl::StartsWith(name.str(), "co_"))
    return interp.Raise(interp.types().AttributeError, "readonly attribute");
  return interp.Raise(interp.types().AttributeError, "'code' object has no attribute '", name.IsStr() ? name.str() : "",
                      "'");
}

// Its globals are those of a module: that of the code's own, or one made for the dictionary.
ModuleObject* ModuleOfGlobals(Interpreter& interp, ModuleObject* own, DictObject* globals) {
  if (own->attrs == globals) return own;
  for (Frame* f = interp.state().frame; f != nullptr; f = f->back) {
    if (f->globals == globals) return f->module;
  }
  auto* m = interp.heap().New<ModuleObject>();
  m->cls = interp.types().module;
  Value* name = globals->table.GetStr(interp.names().__name__);
  m->name = name != nullptr && name->IsStr() ? name->as<StrObject>() : interp.Intern("builtins");
  m->attrs = globals;
  if (globals->table.GetStr(interp.Intern("__builtins__")) == nullptr)
    interp.DictSetStr(globals, "__builtins__", Value(interp.state().builtins));
  return m;
}

Result<void> SetClosure(Interpreter& interp, FunctionObject* f, Value closure) {
  const size_t needed = f->scope->free_names.size();
  if (!closure.IsTuple()) {
    if (!closure.IsNone() || needed > 0)
      return interp.Raise(interp.types().TypeError,
                          needed > 0 ? "arg 5 (closure) must be tuple" : "arg 5 (closure) must be None or tuple");
    return {};
  }
  const absl::Span<const Value> cells = closure.as<TupleObject>()->span();
  if (cells.size() != needed) {
    return interp.Raise(interp.types().ValueError, NameOfScope(*f->scope), " requires closure of length ", needed,
                        ", not ", cells.size());
  }
  COBRA_TRY_SET(f->free, Cells(interp, cells, *f->scope));
  return {};
}

}  // namespace

std::vector<size_t> FreeOrder(const ScopeInfo& scope) {
  std::vector<size_t> order(scope.free_names.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return scope.free_names[a]->text < scope.free_names[b]->text; });
  return order;
}

Result<Value> CodeOfFunction(Interpreter& interp, FunctionObject* f) { return CodeOf(interp, f->unit, *f->scope, f); }

Result<Value> CodeOfFrame(Interpreter& interp, const Frame& frame) {
  const bool own = frame.function != nullptr && frame.function->scope == frame.scope;
  return CodeOf(interp, frame.unit, *frame.scope, own ? frame.function : nullptr);
}

void DescribeCode(Interpreter& interp, InstanceObject* code, const CodeUnit* unit, const ScopeInfo& scope) {
  Describe(interp, code, unit, scope, nullptr);
}

Result<void> SetCode(Interpreter& interp, FunctionObject* f, Value code) {
  if (!IsCode(interp, code)) return interp.Raise(interp.types().TypeError, "__code__ must be set to a code object");
  COBRA_TRY_ASSIGN(const FunctionObject* from, FunctionOf(interp, code, "setting __code__ to"));
  const size_t had = f->scope->free_names.size(), needed = from->scope->free_names.size();
  if (had != needed) {
    return interp.Raise(interp.types().ValueError, f->name->view(), "() requires a code object with ", had,
                        " free vars, not ", needed);
  }
  // Read now what would be read from the def when it is asked for.
  f->doc = FunctionDoc(interp, f);
  COBRA_TRY_ASSIGN(DictObject * annotations, FunctionAnnotations(interp, f));
  f->annotations = Value(annotations);
  std::vector<Value> closure;
  for (size_t i : FreeOrder(*f->scope)) closure.push_back(f->free[i]);
  f->unit = from->unit;
  f->scope = from->scope;
  f->body = from->body;
  f->definition = from->definition;
  COBRA_TRY_SET(f->free, Cells(interp, closure, *f->scope));
  if (f->default_count > f->scope->positional) {
    f->defaults += f->default_count - f->scope->positional;
    f->default_count = f->scope->positional;
  }
  return Remember(interp, f, code);
}

Result<Value> NewFunctionOfCode(Interpreter& interp, const CallArgs& args) {
  Value code, name, defaults, closure;
  DictObject* globals = nullptr;
  COBRA_TRY(ArgReader(interp, "function", args)
                .Required("code", &code)
                .Required("globals", &globals)
                .Optional("name", &name)
                .Optional("argdefs", &defaults)
                .Optional("closure", &closure)
                .Finish());
  if (!IsCode(interp, code))
    return interp.Raise(interp.types().TypeError,
                        "function() argument 'code' must be code, not " + std::string(interp.TypeName(code)));
  COBRA_TRY_ASSIGN(const FunctionObject* from, FunctionOf(interp, code, "a function of"));
  FunctionObject* f = interp.heap().New<FunctionObject>(*from);
  f->module = ModuleOfGlobals(interp, from->module, globals);
  f->name = name.IsStr() ? name.as<StrObject>() : Attribute(interp, code, "co_name").as<StrObject>();
  f->qualname = Attribute(interp, code, "co_qualname").as<StrObject>();
  f->annotations = Value(interp.NewDict());
  if (defaults.IsTuple()) {
    auto* const given = defaults.as<TupleObject>();
    const int64_t count = std::min<int64_t>(given->size, f->scope->positional);
    f->defaults = given->items + (given->size - count);
    f->default_count = static_cast<int>(count);
  } else if (!defaults.IsNone()) {
    return interp.Raise(interp.types().TypeError, "arg 4 (defaults) must be None or tuple");
  }
  COBRA_TRY(SetClosure(interp, f, closure));
  COBRA_TRY(Remember(interp, f, code));
  return Value(f);
}

void InitCodeType(Interpreter& interp) {
  ClassObject* cls = interp.types().code;
  SetNativeNew(interp, cls, [](Interpreter& interp, const CallArgs&) -> Result<Value> {
    return interp.Unsupported("types.CodeType()", "take the code of a function and its replace()");
  });
  AddMethod(interp, cls, "replace", Replace);
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * line, interp.Str(Attribute(interp, args.self, "co_firstlineno")));
    return Value(
        interp.NewStr(absl::StrCat("<code object ", Attribute(interp, args.self, "co_name").str(), " at 0x",
                                   absl::Hex(reinterpret_cast<uintptr_t>(args.self.object())), ", file \"",
                                   Attribute(interp, args.self, "co_filename").str(), "\", line ", line->view(), ">")));
  });
  AddMethod(interp, cls, "__eq__", Equals);
  AddMethod(interp, cls, "__hash__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const Value line = Attribute(interp, args.self, "co_firstlineno");
    COBRA_TRY_ASSIGN(uint64_t hash,
                     interp.Hash(Value(interp.NewTuple({Attribute(interp, args.self, "co_name"), line}))));
    return Value::Int(static_cast<int64_t>(hash >> 2));
  });
  AddMethod(interp, cls, "__setattr__",
            [](Interpreter& interp, const CallArgs& args) -> Result<Value> { return ReadOnly(interp, args); });
  AddMethod(interp, cls, "__delattr__",
            [](Interpreter& interp, const CallArgs& args) -> Result<Value> { return ReadOnly(interp, args); });
  for (const absl::string_view name : kUnknown) {
    AddProperty(interp, cls, name, [name](Interpreter& interp, const CallArgs&) -> Result<Value> {
      return interp.Unsupported(absl::StrCat("code.", name));
    });
  }
}

}  // namespace cobra::python
