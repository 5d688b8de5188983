// def and class statements: decorators, annotations, class bodies.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/eval/type_params.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

// A decorator that nothing is known of. One that registers gives back what it was given, and those
// of torch and the standard library change no graph. What any other one makes of it is unknown, and
// whoever uses that gets an error.
Value ApplyOpaque(Interpreter& interp, OpaqueObject* decorator, Value value) {
  absl::string_view name = decorator->dotted_name->view();
  name = name.substr(0, name.find('('));
  const absl::string_view top = name.substr(0, name.find('.'));
  if (interp.options().natives->Find(top) != nullptr || IsStandardLibraryName(top)) return value;
  if (absl::StrContains(absl::AsciiStrToLower(name), "regist")) return value;
  return interp.state().importer->Opaque(name);
}

Result<Value> ApplyDecorators(Interpreter& interp, Frame& frame, ast::Seq<ast::ExprNode> nodes,
                              const std::vector<Value>& decorators, Value value) {
  for (size_t i = decorators.size(); i > 0; --i) {
    if (decorators[i - 1].IsOpaque()) {
      value = ApplyOpaque(interp, decorators[i - 1].as<OpaqueObject>(), value);
      continue;
    }
    frame.position = &nodes[i - 1]->pos;
    COBRA_TRY_ASSIGN(value, interp.Call(decorators[i - 1], {value}));
  }
  return value;
}

Result<std::vector<Value>> EvalDecorators(Interpreter& interp, Frame& frame, ast::Seq<ast::ExprNode> nodes) {
  std::vector<Value> decorators;
  for (const ast::ExprNode* e : nodes) {
    if (const auto* call = e->AsOrNull<ast::Call>()) {  // @opaque.thing(...)
      COBRA_TRY_ASSIGN(Value f, Eval(interp, frame, call->func));
      if (f.IsOpaque()) {
        decorators.push_back(f);
        continue;
      }
    }
    COBRA_TRY_ASSIGN(Value d, Eval(interp, frame, e));
    decorators.push_back(d);
  }
  return decorators;
}

Result<Value> EvalAnnotation(Interpreter& interp, Frame& frame, const ast::ExprNode* e) {
  if (frame.unit->code->future_annotations()) return Value(interp.NewStr(frame.unit->code->ast().Text(e->pos)));
  return Eval(interp, frame, e);
}

template <typename Def>
Result<Value> DefineFunction(Interpreter& interp, Frame& frame, const Def* def) {
  COBRA_TRY_ASSIGN(std::vector<Value> decorators, EvalDecorators(interp, frame, def->decorator_list));
  const ScopeInfo& scope = frame.unit->code->scope(def->node_id);
  COBRA_TRY_ASSIGN(TupleObject * type_params, BindTypeParams(interp, frame, def));
  COBRA_TRY_ASSIGN(Value f, MakeFunction(interp, frame, scope, def->args, NameOf(interp, frame.unit, def->name)));
  auto* function = f.as<FunctionObject>();
  if (type_params != nullptr) interp.DictSetStr(interp.AttrsOf(function), "__type_params__", type_params);
  if constexpr (std::is_same_v<Def, ast::FunctionDef>) {
    function->definition = def;
    // In libraries, annotations of functions are evaluated when first read: evaluation can only
    // fail or import something.
    bool module_or_class = frame.scope->kind == ScopeKind::kModule || frame.scope->kind == ScopeKind::kClass;
    bool lazy =
        frame.module->is_library && module_or_class && frame.scope->free_names.empty() && scope.simple_annotations;
    if (!lazy) COBRA_TRY_SET(function->annotations, EvalAnnotations(interp, frame, def));
  }
  return ApplyDecorators(interp, frame, def->decorator_list, decorators, f);
}

// A class may derive from a class of a missing module; creating an instance of it is refused.
ClassObject* OpaqueBase(Interpreter& interp, OpaqueObject* opaque) {
  std::string name(opaque->dotted_name->view());
  ClassObject* cls = NewBuiltinClass(interp, name, interp.types().object, ObjectKind::kInstance);
  cls->is_native = false;
  cls->native_new =
      HeapNativeFunction(interp.heap(), [name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        return OpaqueUsed(interp, name, "instantiating a class derived from ");
      });
  // Its own may take the keywords of a class statement.
  AddClassMethod(interp, cls, "__init_subclass__",
                 [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
  return cls;
}

// `type_params`: null if the class has none.
Result<std::vector<ClassObject*>> EvalBases(Interpreter& interp, Frame& frame, const ast::ClassDef* s,
                                            TupleObject* type_params, std::vector<Value>* original) {
  std::vector<Value> values;
  for (const ast::ExprNode* e : s->bases) {
    if (const auto* starred = e->AsOrNull<ast::Starred>()) {
      COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, starred->value));
      COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(v));
      values.insert(values.end(), items.begin(), items.end());
      continue;
    }
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, e));
    values.push_back(v);
  }
  if (type_params != nullptr) {  // Generic[T] is the last one
    COBRA_TRY_ASSIGN(ModuleObject * typing, interp.ImportModule("typing"));
    COBRA_TRY_ASSIGN(Value generic, interp.GetAttr(typing, "Generic"));
    COBRA_TRY_ASSIGN(Value base, interp.GetItem(generic, type_params));
    values.push_back(base);
  }
  *original = values;
  std::vector<ClassObject*> bases;
  for (size_t i = 0; i < values.size(); ++i) {
    Value v = values[i];
    if (v.IsClass()) {
      bases.push_back(v.as<ClassObject>());
      continue;
    }
    if (v.IsOpaque()) {
      bases.push_back(OpaqueBase(interp, v.as<OpaqueObject>()));
      continue;
    }
    frame.position = &s->pos;
    Value hook = v.IsGenericAlias() ? Value::Unbound() : Value::None();
    if (hook.IsUnbound()) {
      Value origin = v.as<GenericAliasObject>()->origin;
      if (origin.IsClass()) {
        bases.push_back(origin.as<ClassObject>());
        continue;
      }
    }
    COBRA_TRY_ASSIGN(hook, interp.GetAttrOrUnbound(v, interp.names().__mro_entries__));
    if (hook.IsUnbound()) return interp.Raise(interp.types().TypeError, "bases must be types");
    COBRA_TRY_ASSIGN(Value entries, interp.Call(hook, {Value(interp.NewTuple(values))}));
    COBRA_TRY_ASSIGN(std::vector<Value> classes, interp.ToVector(entries));
    for (Value c : classes) {
      if (!c.IsClass()) return interp.Raise(interp.types().TypeError, "bases must be types");
      bases.push_back(c.as<ClassObject>());
    }
  }
  return bases;
}

Result<void> RunClassBody(Interpreter& interp, Frame& outer, const ast::ClassDef* s, DictObject* names) {
  const ScopeInfo& scope = outer.unit->code->scope(s->node_id);
  Frame frame;
  frame.unit = outer.unit;
  frame.scope = &scope;
  frame.module = outer.module;
  frame.globals = outer.globals;
  frame.names = names;
  frame.free = MakeClosure(interp, outer, scope);
  frame.locals = static_cast<Value*>(interp.heap().Allocate(static_cast<size_t>(scope.slot_count + 1) * sizeof(Value)));
  for (int i = 0; i < scope.slot_count; ++i) frame.locals[i] = Value::Unbound();
  // __prepare__ may return an object of the program's own class that reacts to new keys.
  bool plain = names->cls == interp.types().dict;
  auto set = [&](StrObject* name, Value v) -> Result<void> {
    if (!plain) return interp.SetItem(Value(names), Value(name), v);
    names->table.SetStr(interp.heap(), name, v);
    return {};
  };
  Value* module_name = outer.globals->table.GetStr(interp.names().__name__);
  if (module_name != nullptr) COBRA_TRY(set(interp.names().__module__, *module_name));
  COBRA_TRY(set(interp.names().__qualname__, interp.NewStr(absl::StrCat(scope.qualname_prefix, s->name->text))));
  if (!s->body.empty() && s->body[0]->Is<ast::Expr>()) {
    const auto* doc = s->body[0]->As<ast::Expr>()->value->AsOrNull<ast::Constant>();
    if (doc != nullptr && doc->constant_kind == ast::ConstantKind::kStr) {
      COBRA_TRY_ASSIGN(Value text, EvalConstant(interp, outer.unit, doc));
      COBRA_TRY(set(interp.names().__doc__, text));
    }
  }
  ++interp.state().call_depth;
  Result<Value> done = RunFrame(interp, frame);
  --interp.state().call_depth;
  COBRA_TRY(done);
  if (scope.class_cell_slot >= 0) COBRA_TRY(set(interp.Intern("__classcell__"), frame.locals[scope.class_cell_slot]));
  return {};
}

// The namespace that a class body runs in: what the metaclass's __prepare__ returns, or a new dict.
Result<DictObject*> PrepareNames(Interpreter& interp, ClassObject* metaclass, StrObject* name, TupleObject* bases,
                                 const std::vector<KeywordArg>& keywords) {
  if (metaclass == interp.types().type) return interp.NewDict();
  COBRA_TRY_ASSIGN(Value prepare, interp.GetAttrOrUnbound(Value(metaclass), interp.names().__prepare__));
  if (prepare.IsUnbound()) return interp.NewDict();
  Value args[2] = {name, bases};
  COBRA_TRY_ASSIGN(Value prepared, interp.Call(prepare, absl::MakeConstSpan(args, 2), keywords));
  return prepared.IsDict() ? prepared.as<DictObject>() : interp.NewDict();
}

Result<Value> DefineClass(Interpreter& interp, Frame& frame, const ast::ClassDef* s) {
  COBRA_TRY_ASSIGN(std::vector<Value> decorators, EvalDecorators(interp, frame, s->decorator_list));
  COBRA_TRY_ASSIGN(TupleObject * type_params, BindTypeParams(interp, frame, s));
  std::vector<Value> original_bases;
  COBRA_TRY_ASSIGN(std::vector<ClassObject*> bases, EvalBases(interp, frame, s, type_params, &original_bases));
  Value explicit_metaclass;
  std::vector<KeywordArg> keywords;
  for (const ast::Keyword* k : s->keywords) {
    COBRA_TRY_ASSIGN(Value v, Eval(interp, frame, k->value));
    if (k->arg == nullptr) {
      if (!v.IsDict()) return interp.Raise(interp.types().TypeError, "argument after ** must be a mapping");
      for (size_t i = 0; i < v.as<DictObject>()->table.entry_count(); ++i) {
        const auto& e = v.as<DictObject>()->table.entry(i);
        if (e.key.IsStr()) keywords.push_back({interp.InternStr(e.key.as<StrObject>()), e.value});
      }
      continue;
    }
    StrObject* name = NameOf(interp, frame.unit, k->arg);
    if (name == interp.names().metaclass) {
      if (!v.IsOpaque()) explicit_metaclass = v;
      continue;
    }
    keywords.push_back({name, v});
  }
  frame.position = &s->pos;
  COBRA_TRY(interp.CheckStack());
  if (interp.state().call_depth >= interp.limits().call_depth) {
    return interp.Raise(interp.types().RecursionError, "maximum recursion depth exceeded");
  }
  COBRA_TRY_ASSIGN(ClassObject * metaclass, FindMetaclass(interp, explicit_metaclass, bases));
  StrObject* name = NameOf(interp, frame.unit, s->name);
  std::vector<Value> base_values(bases.begin(), bases.end());
  TupleObject* base_tuple = interp.NewTuple(base_values);
  COBRA_TRY_ASSIGN(DictObject * names, PrepareNames(interp, metaclass, name, base_tuple, keywords));
  if (type_params != nullptr) names->table.SetStr(interp.heap(), interp.Intern("__type_params__"), type_params);
  COBRA_TRY(RunClassBody(interp, frame, s, names));
  frame.position = &s->pos;
  if (original_bases.size() != bases.size() ||
      !std::equal(original_bases.begin(), original_bases.end(), base_values.begin(),
                  [](Value a, Value b) { return a.IsSame(b); })) {
    names->table.SetStr(interp.heap(), interp.Intern("__orig_bases__"), interp.NewTuple(original_bases));
  }
  Value cls;
  if (metaclass == interp.types().type && !explicit_metaclass.IsFunction()) {
    COBRA_TRY_ASSIGN(ClassObject * made, BuildClass(interp, metaclass, name, bases, names, keywords));
    cls = made;
  } else {
    Value args[3] = {name, base_tuple, names};
    Value maker = explicit_metaclass.IsFunction() ? explicit_metaclass : Value(metaclass);
    COBRA_TRY_ASSIGN(cls, interp.Call(maker, absl::MakeConstSpan(args, 3), keywords));
  }
  return ApplyDecorators(interp, frame, s->decorator_list, decorators, cls);
}

}  // namespace

Result<DictObject*> EvalAnnotations(Interpreter& interp, Frame& frame, const ast::FunctionDef* def) {
  DictObject* out = interp.NewDict();
  auto add = [&](const ast::Arg* a) -> Result<void> {
    if (a == nullptr || a->annotation == nullptr) return {};
    COBRA_TRY_ASSIGN(Value v, EvalAnnotation(interp, frame, a->annotation));
    out->table.SetStr(interp.heap(), NameOf(interp, frame.unit, a->arg), v);
    return {};
  };
  for (const ast::Arg* a : def->args->posonlyargs) COBRA_TRY(add(a));
  for (const ast::Arg* a : def->args->args) COBRA_TRY(add(a));
  COBRA_TRY(add(def->args->vararg));
  for (const ast::Arg* a : def->args->kwonlyargs) COBRA_TRY(add(a));
  COBRA_TRY(add(def->args->kwarg));
  if (def->returns != nullptr) {
    COBRA_TRY_ASSIGN(Value v, EvalAnnotation(interp, frame, def->returns));
    out->table.SetStr(interp.heap(), interp.Intern("return"), v);
  }
  return out;
}

Result<DictObject*> FunctionAnnotations(Interpreter& interp, FunctionObject* f) {
  if (f->annotations.IsDict()) return f->annotations.as<DictObject>();
  DictObject* out = nullptr;
  if (f->definition != nullptr && f->annotations.IsUnbound()) {
    Frame frame;
    frame.unit = f->unit;
    frame.scope = &f->unit->code->root();
    frame.module = f->module;
    frame.globals = f->module->attrs;
    frame.position = &f->definition->pos;
    frame.back = interp.state().frame;
    interp.state().frame = &frame;
    Result<DictObject*> made = EvalAnnotations(interp, frame, f->definition);
    interp.state().frame = frame.back;
    COBRA_TRY_ASSIGN(out, made);
  } else {
    out = interp.NewDict();
  }
  f->annotations = out;
  return out;
}

Value FunctionDoc(Interpreter& interp, FunctionObject* f) {
  if (!f->doc.IsUnbound()) return f->doc;
  f->doc = Value::None();
  if (!f->scope->body.empty() && f->scope->body[0]->Is<ast::Expr>()) {
    const auto* doc = f->scope->body[0]->As<ast::Expr>()->value->AsOrNull<ast::Constant>();
    if (doc != nullptr && doc->constant_kind == ast::ConstantKind::kStr) {
      Result<Value> text = EvalConstant(interp, f->unit, doc);
      if (text.ok()) f->doc = *text;
    }
  }
  return f->doc;
}

Completion ExecFunctionDef(Interpreter& interp, Frame& frame, const ast::StmtNode* s) {
  bool is_async = s->Is<ast::AsyncFunctionDef>();
  Result<Value> f = is_async ? DefineFunction(interp, frame, s->As<ast::AsyncFunctionDef>())
                             : DefineFunction(interp, frame, s->As<ast::FunctionDef>());
  if (!f.ok()) return Completion::kError;
  ast::Identifier name = is_async ? s->As<ast::AsyncFunctionDef>()->name : s->As<ast::FunctionDef>()->name;
  return StoreName(interp, frame, name, *f).ok() ? Completion::kNormal : Completion::kError;
}

Completion ExecClassDef(Interpreter& interp, Frame& frame, const ast::ClassDef* s) {
  Result<Value> cls = DefineClass(interp, frame, s);
  if (!cls.ok()) return Completion::kError;
  return StoreName(interp, frame, s->name, *cls).ok() ? Completion::kNormal : Completion::kError;
}

}  // namespace cobra::python
