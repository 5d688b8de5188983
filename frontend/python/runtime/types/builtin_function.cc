// Functions, methods, descriptors, super, modules, generic aliases, opaque objects and the
// singletons.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/eval/code_object.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

template <typename T>
void AddField(Interpreter& interp, ClassObject* cls, absl::string_view name, Value T::*field, bool writable = false) {
  NativeFunction setter;
  if (writable) {
    setter = [field](Interpreter&, const CallArgs& args) -> Result<Value> {
      args.self.as<T>()->*field = args.positional[0];
      return Value::None();
    };
  }
  AddProperty(
      interp, cls, name,
      [field](Interpreter&, const CallArgs& args) -> Result<Value> {
        Value v = args.self.as<T>()->*field;
        return v.IsUnbound() ? Value::None() : v;
      },
      setter);
}

FunctionObject* Fn(const CallArgs& args) { return args.self.as<FunctionObject>(); }

// inspect.signature in C++: [(name, kind, default or Unbound marker)], used by stdlib/inspect.py.
Result<Value> Parameters(Interpreter& interp, const CallArgs& args) {
  FunctionObject* f = Fn(args);
  const ScopeInfo& s = *f->scope;
  ListObject* out = interp.NewList();
  auto add = [&](int slot, int kind, Value fallback) {
    Value name = interp.Intern(f->unit->code->symbol_text(s.slot_names[static_cast<size_t>(slot)]->id));
    out->items.push_back(interp.heap(), fallback.IsUnbound() ? interp.NewTuple({name, Value::Int(kind)})
                                                             : interp.NewTuple({name, Value::Int(kind), fallback}));
  };
  for (int i = 0; i < s.positional; ++i) {
    int d = i - (s.positional - f->default_count);
    add(i, i < s.positional_only ? 0 : 1, d < 0 ? Value::Unbound() : f->defaults[d]);
  }
  if (s.vararg_slot >= 0) add(s.vararg_slot, 2, Value::Unbound());
  for (int i = s.positional; i < s.positional + s.keyword_only; ++i) {
    StrObject* name = interp.Intern(f->unit->code->symbol_text(s.slot_names[static_cast<size_t>(i)]->id));
    Value* d = f->keyword_defaults == nullptr ? nullptr : f->keyword_defaults->table.GetStr(name);
    add(i, 3, d == nullptr ? Value::Unbound() : *d);
  }
  if (s.kwarg_slot >= 0) add(s.kwarg_slot, 4, Value::Unbound());
  return Value(out);
}

// __call__ of objects that are callable themselves.
Result<Value> CallSelf(Interpreter& interp, const CallArgs& args) {
  CallArgs rest = args;
  rest.self = Value::Unbound();
  return interp.Call(args.self, rest);
}

void AddFunctionNames(Interpreter& interp, ClassObject* cls) {
  AddProperty(
      interp, cls, "__name__", [](Interpreter&, const CallArgs& a) -> Result<Value> { return Value(Fn(a)->name); },
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        if (!a.positional[0].IsStr())
          return interp.Raise(interp.types().TypeError, "__name__ must be set to a string object");
        Fn(a)->name = a.positional[0].as<StrObject>();
        return Value::None();
      });
  AddProperty(
      interp, cls, "__qualname__",
      [](Interpreter&, const CallArgs& a) -> Result<Value> { return Value(Fn(a)->qualname); },
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        if (!a.positional[0].IsStr())
          return interp.Raise(interp.types().TypeError, "__qualname__ must be set to a string object");
        Fn(a)->qualname = a.positional[0].as<StrObject>();
        return Value::None();
      });
  AddProperty(
      interp, cls, "__doc__",
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> { return FunctionDoc(interp, Fn(a)); },
      [](Interpreter&, const CallArgs& a) -> Result<Value> {
        Fn(a)->doc = a.positional[0];
        return Value::None();
      });
  AddProperty(
      interp, cls, "__module__",
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        if (Fn(a)->attrs != nullptr) {
          Value* own = Fn(a)->attrs->table.GetStr(interp.names().__module__);
          if (own != nullptr) return *own;
        }
        Value* name = Fn(a)->module->attrs->table.GetStr(interp.names().__name__);
        return name == nullptr ? Value::None() : *name;
      },
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        interp.AttrsOf(a.self.object())->table.SetStr(interp.heap(), interp.names().__module__, a.positional[0]);
        return Value::None();
      });
}

// Adds the attributes that define what a function computes: its globals, defaults and annotations.
void AddFunctionParts(Interpreter& interp, ClassObject* cls) {
  AddProperty(interp, cls, "__globals__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
    COBRA_TRY(ForceAll(interp, Fn(a)->module));
    return Value(Fn(a)->module->attrs);
  });
  AddProperty(
      interp, cls, "__defaults__",
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        if (Fn(a)->default_count == 0) return Value::None();
        return Value(interp.NewTuple(absl::MakeConstSpan(Fn(a)->defaults, static_cast<size_t>(Fn(a)->default_count))));
      },
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        Value v = a.positional[0];
        if (v.IsNone()) {
          Fn(a)->default_count = 0;
        } else if (v.IsTuple()) {  // of more than there are parameters, the last ones
          auto* const given = v.as<TupleObject>();
          const int64_t count = std::min<int64_t>(given->size, Fn(a)->scope->positional);
          Fn(a)->default_count = static_cast<int>(count);
          Fn(a)->defaults = given->items + (given->size - count);
        } else {
          return interp.Raise(interp.types().TypeError, "__defaults__ must be set to a tuple object");
        }
        return Value::None();
      });
  AddProperty(
      interp, cls, "__kwdefaults__",
      [](Interpreter&, const CallArgs& a) -> Result<Value> {
        return Fn(a)->keyword_defaults == nullptr ? Value::None() : Value(Fn(a)->keyword_defaults);
      },
      [](Interpreter&, const CallArgs& a) -> Result<Value> {
        Fn(a)->keyword_defaults = a.positional[0].IsDict() ? a.positional[0].as<DictObject>() : nullptr;
        return Value::None();
      });
  AddProperty(
      interp, cls, "__annotations__",
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        COBRA_TRY_ASSIGN(DictObject * d, FunctionAnnotations(interp, Fn(a)));
        return Value(d);
      },
      [](Interpreter&, const CallArgs& a) -> Result<Value> {
        Fn(a)->annotations = a.positional[0];
        return Value::None();
      });
}

// Likewise its closure and code.
void AddFunctionCode(Interpreter& interp, ClassObject* cls) {
  AddProperty(interp, cls, "__closure__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
    size_t n = Fn(a)->scope->free_names.size();
    if (n == 0) return Value::None();
    TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(n));
    const std::vector<size_t> order = FreeOrder(*Fn(a)->scope);
    for (size_t i = 0; i < n; ++i) t->items[i] = Fn(a)->free[order[i]];
    return Value(t);
  });
  AddProperty(
      interp, cls, "__code__",
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> { return CodeOfFunction(interp, Fn(a)); },
      [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
        COBRA_TRY(SetCode(interp, Fn(a), a.positional[0]));
        return Value::None();
      });
  AddProperty(interp, cls, "_parameters", Parameters);
}

void InitFunction(Interpreter& interp) {
  ClassObject* cls = interp.types().function;
  AddFunctionNames(interp, cls);
  AddFunctionParts(interp, cls);
  AddFunctionCode(interp, cls);
  AddMethod(interp, cls, "__call__", CallSelf);
  AddMethod(interp, cls, "__get__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value instance, owner;
    COBRA_TRY(ArgReader(interp, "__get__", args).Required("instance", &instance).Optional("owner", &owner).Finish());
    return instance.IsNone() ? args.self : interp.NewBoundMethod(instance, args.self);
  });
  SetNativeNew(interp, cls, NewFunctionOfCode);
}

void InitMethods(Interpreter& interp) {
  ClassObject* method = interp.types().method;
  AddField(interp, method, "__self__", &BoundMethodObject::self);
  AddField(interp, method, "__func__", &BoundMethodObject::function);
  for (absl::string_view name : {"__name__", "__qualname__", "__doc__", "__module__", "__annotations__", "__defaults__",
                                 "__code__", "__globals__"}) {
    AddProperty(interp, method, name, [key = std::string(name)](Interpreter& interp, const CallArgs& args) {
      return interp.GetAttr(args.self.as<BoundMethodObject>()->function, key);
    });
  }
  // Other attributes are those of the function.
  AddMethod(interp, method, "__getattr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return interp.GetAttr(args.self.as<BoundMethodObject>()->function, args.positional[0].as<StrObject>());
  });
  AddMethod(interp, method, "__call__", CallSelf);
  SetNativeNew(interp, method, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value function, self;
    COBRA_TRY(ArgReader(interp, "method", args).Required("function", &function).Required("instance", &self).Finish());
    return interp.NewBoundMethod(self, function);
  });
  for (ClassObject* cls : {interp.types().builtin_function, interp.types().method_descriptor}) {
    AddProperty(interp, cls, "__name__", [](Interpreter&, const CallArgs& a) -> Result<Value> {
      return Value(a.self.as<BuiltinObject>()->name);
    });
    AddProperty(interp, cls, "__qualname__", [](Interpreter&, const CallArgs& a) -> Result<Value> {
      return Value(a.self.as<BuiltinObject>()->qualname);
    });
    AddProperty(interp, cls, "__module__",
                [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self.as<BuiltinObject>()->module; });
    AddProperty(interp, cls, "__doc__", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
    AddMethod(interp, cls, "__call__", CallSelf);
    AddMethod(interp, cls, "__get__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      if (args.positional.empty() || args.positional[0].IsNone() || !args.self.as<BuiltinObject>()->is_method)
        return args.self;
      return interp.NewBoundMethod(args.positional[0], args.self);
    });
  }
}

// Adds __get__ and __set__ to property and member_descriptor; instances of both are
// PropertyObjects.
void AddGetAndSet(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__get__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty() || args.positional[0].IsNone()) return args.self;
    return interp.Call(args.self.as<PropertyObject>()->getter, {args.positional[0]});
  });
  AddMethod(interp, cls, "__set__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.size() != 2) return interp.Raise(interp.types().TypeError, "expected 2 arguments");
    return interp.Call(args.self.as<PropertyObject>()->setter, {args.positional[0], args.positional[1]});
  });
}

void InitProperty(Interpreter& interp) {
  ClassObject* property = interp.types().property;
  SetNativeNew(interp, property, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    PropertyObject* p = interp.heap().New<PropertyObject>();
    p->cls = args.self.as<ClassObject>();
    return Value(p);
  });
  AddMethod(interp, property, "__init__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto* p = args.self.as<PropertyObject>();
    COBRA_TRY(ArgReader(interp, "property", args)
                  .Optional("fget", &p->getter)
                  .Optional("fset", &p->setter)
                  .Optional("fdel", &p->deleter)
                  .Optional("doc", &p->doc)
                  .Finish());
    if (p->doc.IsNone() && p->getter.IsFunction()) p->doc = FunctionDoc(interp, p->getter.as<FunctionObject>());
    return Value::None();
  });
  AddField(interp, property, "fget", &PropertyObject::getter);
  AddField(interp, property, "fset", &PropertyObject::setter);
  AddField(interp, property, "fdel", &PropertyObject::deleter);
  AddField(interp, property, "__doc__", &PropertyObject::doc, true);
  auto replace = [&](absl::string_view name, Value PropertyObject::*field) {
    AddMethod(interp, property, name, [field](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      if (args.positional.size() != 1) return interp.Raise(interp.types().TypeError, "expected 1 argument");
      PropertyObject* p = interp.heap().New<PropertyObject>(*args.self.as<PropertyObject>());
      p->*field = args.positional[0];
      return Value(p);
    });
  };
  replace("getter", &PropertyObject::getter);
  replace("setter", &PropertyObject::setter);
  replace("deleter", &PropertyObject::deleter);
  AddGetAndSet(interp, property);
}

void InitMemberDescriptor(Interpreter& interp) {
  ClassObject* member = interp.types().member_descriptor;
  AddGetAndSet(interp, member);
  AddProperty(interp, member, "__name__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value(args.self.as<PropertyObject>()->getter.as<BuiltinObject>()->name);
  });
}

// __init__ of classmethod and staticmethod. A subclass may take other arguments, so __new__ takes
// any.
template <typename Wrapper>
void AddWrapperInit(Interpreter& interp, ClassObject* cls, Value Wrapper::*function) {
  const std::string name(cls->name->view());
  AddMethod(interp, cls, "__init__", [name, function](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(ArgReader(interp, name, args).Required("function", &(args.self.as<Wrapper>()->*function)).Finish());
    return Value::None();
  });
}

void InitClassMethod(Interpreter& interp) {
  ClassObject* cm = interp.types().classmethod;
  SetNativeNew(interp, cm, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto* c = interp.heap().New<ClassMethodObject>();
    c->cls = args.self.as<ClassObject>();
    return Value(c);
  });
  AddWrapperInit(interp, cm, &ClassMethodObject::function);
  AddField(interp, cm, "__func__", &ClassMethodObject::function);
  AddField(interp, cm, "__wrapped__", &ClassMethodObject::function);
  AddMethod(interp, cm, "__get__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value owner = args.positional.size() > 1
                      ? args.positional[1]
                      : Value(interp.class_of(args.positional.empty() ? Value::None() : args.positional[0]));
    return interp.NewBoundMethod(owner, args.self.as<ClassMethodObject>()->function);
  });
}

void InitStaticMethod(Interpreter& interp) {
  ClassObject* sm = interp.types().staticmethod;
  SetNativeNew(interp, sm, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto* c = interp.heap().New<StaticMethodObject>();
    c->cls = args.self.as<ClassObject>();
    return Value(c);
  });
  AddWrapperInit(interp, sm, &StaticMethodObject::function);
  AddField(interp, sm, "__func__", &StaticMethodObject::function);
  AddField(interp, sm, "__wrapped__", &StaticMethodObject::function);
  AddMethod(interp, sm, "__get__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return args.self.as<StaticMethodObject>()->function;
  });
}

Result<Value> SuperNew(Interpreter& interp, const CallArgs& args) {
  auto* s = interp.heap().New<SuperObject>();
  s->cls = args.self.as<ClassObject>();
  auto p = args.positional;
  if (p.empty()) {
    Frame* f = interp.state().frame;
    if (f == nullptr || f->scope->class_free < 0 || f->scope->positional == 0) {
      if (f != nullptr && f->scope->class_free >= 0 && f->scope->vararg_slot == 0)
        return interp.Raise(interp.types().RuntimeError, "super(): no arguments");
      return interp.Raise(interp.types().RuntimeError, f == nullptr || f->scope->positional == 0
                                                           ? "super(): no arguments"
                                                           : "super(): __class__ cell not found");
    }
    Value cls = f->free[f->scope->class_free]->value;
    if (!cls.IsClass()) return interp.Raise(interp.types().RuntimeError, "super(): empty __class__ cell");
    s->start = cls.as<ClassObject>();
    s->self = f->locals[0].IsCell() ? f->locals[0].as<CellObject>()->value : f->locals[0];
    if (s->self.IsUnbound()) return interp.Raise(interp.types().RuntimeError, "super(): arg[0] deleted");
  } else {
    if (!p[0].IsClass())
      return interp.Raise(interp.types().TypeError, "super() argument 1 must be a type, not ", interp.TypeName(p[0]));
    s->start = p[0].as<ClassObject>();
    if (p.size() == 1) return interp.Unsupported("super() with one argument");
    s->self = p[1];
  }
  if (s->self.IsClass() && Interpreter::IsSubclassOf(s->self.as<ClassObject>(), s->start)) {
    s->self_class = s->self.as<ClassObject>();
  } else if (Interpreter::IsSubclassOf(interp.class_of(s->self), s->start)) {
    s->self_class = interp.class_of(s->self);
  } else {
    return interp.Raise(interp.types().TypeError, "super(type, obj): obj must be an instance or subtype of type");
  }
  return Value(s);
}

void InitModuleType(Interpreter& interp) {
  ClassObject* cls = interp.types().module;
  // A subclass may take other arguments (transformers' _LazyModule), so __new__ leaves the
  // arguments to __init__.
  SetNativeNew(interp, cls, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    ModuleObject* m = interp.heap().New<ModuleObject>();
    m->cls = args.self.as<ClassObject>();
    m->name = interp.NewStr("");
    m->attrs = interp.NewDict();
    return Value(m);
  });
  AddMethod(interp, cls, "__init__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    StrObject* name;
    Value doc;
    COBRA_TRY(ArgReader(interp, "module", args).Required("name", &name).Optional("doc", &doc).Finish());
    auto* m = args.self.as<ModuleObject>();
    m->name = name;
    const CommonNames& n = interp.names();
    m->attrs->table.SetStr(interp.heap(), n.__name__, Value(name));
    m->attrs->table.SetStr(interp.heap(), n.__doc__, doc);
    for (StrObject* key : {n.__package__, n.__loader__, n.__spec__})
      m->attrs->table.SetStr(interp.heap(), key, Value::None());
    return Value::None();
  });
}

void InitCell(Interpreter& interp) {
  ClassObject* cell = interp.types().cell;
  SetNativeNew(interp, cell, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value contents = Value::Unbound();
    COBRA_TRY(ArgReader(interp, "cell", args).Optional("contents", &contents).PositionalOnly().Finish());
    return Value(NewCell(interp, contents));
  });
  AddMethod(interp, cell, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    const auto* c = args.self.as<CellObject>();
    const std::string shown = absl::StrCat("<cell at 0x", absl::Hex(reinterpret_cast<uintptr_t>(c)), ": ");
    if (c->value.IsUnbound()) return Value(interp.NewStr(shown + "empty>"));
    return Value(interp.NewStr(absl::StrCat(shown, interp.TypeName(c->value), " object>")));
  });
  AddProperty(
      interp, cell, "cell_contents",
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        Value v = args.self.as<CellObject>()->value;
        return v.IsUnbound() ? Result<Value>(interp.Raise(interp.types().ValueError, "Cell is empty"))
                             : Result<Value>(v);
      },
      [](Interpreter&, const CallArgs& args) -> Result<Value> {
        args.self.as<CellObject>()->value = args.positional[0];
        return Value::None();
      });
  Value* const contents = cell->attrs->table.GetStr(interp.Intern("cell_contents"));
  contents->as<PropertyObject>()->deleter =
      NewBuiltin(interp, "cell_contents", [](Interpreter&, const CallArgs& args) -> Result<Value> {
        args.positional[0].as<CellObject>()->value = Value::Unbound();
        return Value::None();
      });
}

void InitSingletons(Interpreter& interp) {
  const BuiltinTypes& t = interp.types();
  SetNativeNew(interp, t.none_type, [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
  SetNativeNew(interp, t.ellipsis_type,
               [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Ellipsis(); });
  AddMethod(interp, t.none_type, "__bool__",
            [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Bool(false); });
  InitCell(interp);
}

}  // namespace

void InitFunctionTypes(Interpreter& interp) {
  InitFunction(interp);
  InitMethods(interp);
  InitCodeType(interp);
}

void InitSmallTypes(Interpreter& interp) {
  InitProperty(interp);
  InitMemberDescriptor(interp);
  InitClassMethod(interp);
  InitStaticMethod(interp);
  SetNativeNew(interp, interp.types().super, SuperNew);
  InitModuleType(interp);
  InitSingletons(interp);
  for (ClassObject* cls : {interp.types().generic_alias, interp.types().union_type}) {
    AddField(interp, cls, "__origin__", &GenericAliasObject::origin);
    AddProperty(interp, cls, "__args__", [](Interpreter&, const CallArgs& a) -> Result<Value> {
      return Value(a.self.as<GenericAliasObject>()->args);
    });
    AddProperty(interp, cls, "__parameters__",
                [](Interpreter& interp, const CallArgs&) -> Result<Value> { return Value(interp.NewTupleOfSize(0)); });
    AddMethod(interp, cls, "__getitem__", [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self; });
    AddMethod(interp, cls, "__or__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
      return a.positional.empty() ? Value::NotImplemented() : MakeUnion(interp, a.self, a.positional[0]);
    });
    AddMethod(interp, cls, "__ror__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
      return a.positional.empty() ? Value::NotImplemented() : MakeUnion(interp, a.positional[0], a.self);
    });
  }
  SetNativeNew(interp, interp.types().generic_alias, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value origin, items;
    COBRA_TRY(ArgReader(interp, "GenericAlias", args).Required("origin", &origin).Required("args", &items).Finish());
    return MakeGenericAlias(interp, origin, items);
  });
}

void InitOpaqueType(Interpreter& interp) {
  ClassObject* cls = interp.types().opaque;
  AddMethod(interp, cls, "__or__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
    return a.positional.empty() ? Value::NotImplemented() : MakeUnion(interp, a.self, a.positional[0]);
  });
  AddMethod(interp, cls, "__ror__", [](Interpreter& interp, const CallArgs& a) -> Result<Value> {
    return a.positional.empty() ? Value::NotImplemented() : MakeUnion(interp, a.positional[0], a.self);
  });
  AddProperty(interp, cls, "__name__", [](Interpreter&, const CallArgs& a) -> Result<Value> {
    return Value(a.self.as<OpaqueObject>()->dotted_name);
  });
}

Value MakeGenericAlias(Interpreter& interp, Value origin, Value args) {
  GenericAliasObject* a = interp.heap().New<GenericAliasObject>();
  a->cls = interp.types().generic_alias;
  a->origin = origin;
  a->args = args.IsTuple() ? args.as<TupleObject>() : interp.NewTuple({args});
  return a;
}

Value MakeUnion(Interpreter& interp, Value a, Value b) {
  std::vector<Value> items;
  auto add = [&](Value v) {
    if (v.IsNone()) v = interp.types().none_type;
    interp.Spend(static_cast<int64_t>(items.size()) / 16);
    for (Value x : items) {
      if (x.IsSame(v)) return;
    }
    items.push_back(v);
  };
  for (Value v : {a, b}) {
    if (v.IsGenericAlias() && v.as<GenericAliasObject>()->is_union) {
      for (Value item : v.as<GenericAliasObject>()->args->span()) add(item);
    } else {
      add(v);
    }
  }
  if (items.size() == 1) return items[0];
  GenericAliasObject* u = interp.heap().New<GenericAliasObject>();
  u->cls = interp.types().union_type;
  u->args = interp.NewTuple(items);
  u->is_union = true;
  return u;
}

}  // namespace cobra::python
