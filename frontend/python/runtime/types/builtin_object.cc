// object and type.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

Result<Value> TypeNew(Interpreter& interp, const CallArgs& args) {
  auto* metaclass = args.self.as<ClassObject>();
  if (args.positional.size() == 1 && args.keywords.empty()) return Value(interp.class_of(args.positional[0]));
  if (args.positional.size() != 3 || !args.positional[0].IsStr() || !args.positional[1].IsTuple() ||
      !args.positional[2].IsDict()) {
    return interp.Raise(interp.types().TypeError, args.positional.size() == 3
                                                      ? "type.__new__() takes a name, a tuple of bases and a dict"
                                                      : "type() takes 1 or 3 arguments");
  }
  std::vector<ClassObject*> bases;
  for (Value b : args.positional[1].as<TupleObject>()->span()) {
    if (!b.IsClass()) return interp.Raise(interp.types().TypeError, "bases must be types");
    bases.push_back(b.as<ClassObject>());
  }
  COBRA_TRY_ASSIGN(ClassObject * winner, FindMetaclass(interp, Value(metaclass), bases));
  if (winner != metaclass) {  // the most derived metaclass creates the class, as in a class statement
    Value make = interp.LookupClass(winner, interp.names().__new__);
    if (make.IsStaticMethod()) make = make.as<StaticMethodObject>()->function;
    if (make.IsFunction()) {
      std::vector<Value> all = {Value(winner)};
      all.insert(all.end(), args.positional.begin(), args.positional.end());
      return interp.Call(make, absl::MakeConstSpan(all), args.keywords);
    }
  }
  auto* attributes = args.positional[2].as<DictObject>();
  // A class made by type(...) belongs to the module that calls type().
  if (attributes->table.GetStr(interp.names().__module__) == nullptr && interp.state().frame != nullptr) {
    DictObject* copy = interp.NewDict();
    COBRA_TRY(interp.DictUpdate(copy, Value(attributes)));
    if (Value* name = interp.state().frame->globals->table.GetStr(interp.names().__name__))
      copy->table.SetStr(interp.heap(), interp.names().__module__, *name);
    attributes = copy;
  }
  COBRA_TRY_ASSIGN(ClassObject * cls, BuildClass(interp, winner, interp.InternStr(args.positional[0].as<StrObject>()),
                                                 bases, attributes, args.keywords));
  return Value(cls);
}

Result<Value> ObjectNew(Interpreter& interp, const CallArgs& args) {
  auto* cls = args.self.as<ClassObject>();
  if (cls->layout == ObjectKind::kInstance) {
    if (Value* abstract = cls->attrs->table.GetStr(interp.names().__abstractmethods__);
        abstract != nullptr && abstract->IsSet()) {
      DictTable& t = abstract->as<SetObject>()->table;
      if (t.size() > 0) {
        std::vector<std::string> names;
        for (size_t i = 0; i < t.entry_count(); ++i) {
          if (t.entry(i).key.IsStr()) names.emplace_back(t.entry(i).key.str());
        }
        std::sort(names.begin(), names.end());
        std::string list;
        for (const std::string& n : names) absl::StrAppend(&list, list.empty() ? "" : ", ", n);
        return interp.Raise(interp.types().TypeError, "Can't instantiate abstract class ", cls->name->view(),
                            " with abstract method", names.size() == 1 ? " " : "s ", list);
      }
    }
    if ((!args.positional.empty() || !args.keywords.empty()) && cls->has_new && !cls->has_init) {
      return interp.Raise(interp.types().TypeError,
                          "object.__new__() takes exactly one argument (the type to instantiate)");
    }
    return Value(interp.NewInstance(cls));
  }
  return interp.Raise(interp.types().TypeError, "object.__new__(", cls->name->view(),
                      ") is not safe, use the base's __new__()");
}

Result<Value> ObjectInit(Interpreter& interp, const CallArgs& args) {
  ClassObject* cls = interp.class_of(args.self);
  if ((!args.positional.empty() || !args.keywords.empty()) && (cls->has_init || !cls->has_new)) {
    return interp.Raise(interp.types().TypeError, cls->name->view(),
                        ".__init__() takes exactly one argument (the instance to initialize)");
  }
  return Value::None();
}

std::vector<Value> Names(const DictTable& t) {
  std::vector<Value> names;
  for (size_t i = 0; i < t.entry_count(); ++i) {
    if (!t.entry(i).key.IsUnbound()) names.push_back(t.entry(i).key);
  }
  return names;
}

Result<Value> CopyOfAttrs(Interpreter& interp, DictObject* attrs) {
  DictObject* copy = interp.NewDict();
  if (attrs != nullptr) COBRA_TRY(interp.DictUpdate(copy, Value(attrs)));
  return Value(copy);
}

Result<Value> GetDict(Interpreter& interp, const CallArgs& args) {
  Object* o = args.self.IsObject() ? args.self.object() : nullptr;
  bool has = o != nullptr && (args.self.IsInstance() || args.self.IsFunction() || args.self.IsException() ||
                              args.self.IsModule() || !o->cls->is_native);
  if (!has || o->cls == interp.types().object || o->cls->slots_only) {
    return interp.Raise(interp.types().AttributeError, "'", interp.TypeName(args.self),
                        "' object has no attribute '__dict__'");
  }
  if (args.self.IsModule()) COBRA_TRY(ForceAll(interp, args.self.as<ModuleObject>()));
  return Value(interp.AttrsOf(o));
}

Result<Value> SetDict(Interpreter& interp, const CallArgs& args) {
  if (!args.positional[0].IsDict())
    return interp.Raise(interp.types().TypeError, "__dict__ must be set to a dictionary");
  args.self.object()->attrs = args.positional[0].as<DictObject>();
  return Value::None();
}

Result<Value> SetClass(Interpreter& interp, const CallArgs& args) {
  if (!args.positional[0].IsClass() || (!args.self.IsInstance() && !args.self.IsModule()))
    return interp.Raise(interp.types().TypeError, "__class__ must be set to a class");
  auto* cls = args.positional[0].as<ClassObject>();
  if (cls->layout != args.self.object()->kind)
    return interp.Raise(interp.types().TypeError, "__class__ assignment: object layout differs");
  args.self.object()->cls = cls;
  return Value::None();
}

Result<Value> Dir(Interpreter& interp, const CallArgs& args) {
  SetObject* names = interp.NewSet();
  auto add = [&](DictObject* d) -> Result<void> {
    if (d == nullptr) return {};
    for (Value v : Names(d->table)) COBRA_TRY(interp.SetAdd(names, v));
    return {};
  };
  if (args.self.IsModule()) COBRA_TRY(DefineAll(interp, args.self.as<ModuleObject>()));
  if (args.self.IsObject()) COBRA_TRY(add(args.self.object()->attrs));
  if (!args.self.IsModule()) {
    ClassObject* cls = args.self.IsClass() ? args.self.as<ClassObject>() : interp.class_of(args.self);
    for (ClassObject* c : cls->mro) COBRA_TRY(add(c->attrs));
  }
  COBRA_TRY_ASSIGN(std::vector<Value> all, interp.ToVector(Value(names)));
  COBRA_TRY(SortValues(interp, &all, Value::None(), false));
  return Value(interp.NewList(all));
}

void AddObjectTextMethods(Interpreter& interp, ClassObject* object) {
  AddMethod(interp, object, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
  AddMethod(interp, object, "__str__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(args.self));
    return Value(s);
  });
  AddMethod(interp, object, "__format__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(absl::string_view spec,
                     OnlyArgument<absl::string_view>(interp, "__format__", "format_spec", args));
    if (!spec.empty()) {
      return interp.Raise(interp.types().TypeError, "unsupported format string passed to ", interp.TypeName(args.self),
                          ".__format__");
    }
    COBRA_TRY_ASSIGN(StrObject * s, interp.Str(args.self));
    return Value(s);
  });
}

void AddObjectComparisonMethods(Interpreter& interp, ClassObject* object) {
  AddMethod(interp, object, "__eq__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return !args.positional.empty() && args.self.IsSame(args.positional[0]) ? Value::Bool(true)
                                                                            : Value::NotImplemented();
  });
  AddMethod(interp, object, "__ne__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty()) return Value::NotImplemented();
    COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(args.self, interp.names().__eq__, {args.positional[0]}));
    if (r.IsNotImplemented() || r.IsUnbound()) return Value::NotImplemented();
    COBRA_TRY_ASSIGN(bool b, interp.Truth(r));
    return Value::Bool(!b);
  });
  AddMethod(interp, object, "__hash__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (!args.self.IsObject()) {
      COBRA_TRY_ASSIGN(uint64_t h, interp.Hash(args.self));
      return Value::Int(static_cast<int64_t>(h));
    }
    return Value::Int(static_cast<int64_t>(reinterpret_cast<uintptr_t>(args.self.object()) >> 4));
  });
}

void AddObjectAttributeMethods(Interpreter& interp, ClassObject* object) {
  AddMethod(interp, object, "__getattribute__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * name, OnlyArgument<StrObject*>(interp, "__getattribute__", "name", args));
    name = interp.InternStr(name);
    COBRA_TRY_ASSIGN(Value v, args.self.IsModule() ? GetModuleAttr(interp, args.self.as<ModuleObject>(), name)
                                                   : interp.ObjectGetAttr(args.self, name));
    if (v.IsUnbound()) return RaiseNoAttribute(interp, args.self, name);
    return v;
  });
  AddMethod(interp, object, "__setattr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    StrObject* name;
    Value value;
    COBRA_TRY(ArgReader(interp, "__setattr__", args).Required("name", &name).Required("value", &value).Finish());
    if (args.self.IsClass()) {
      interp.SetClassAttr(args.self.as<ClassObject>(), name, value);
    } else {
      COBRA_TRY(interp.ObjectSetAttr(args.self, interp.InternStr(name), value));
    }
    return Value::None();
  });
  AddMethod(interp, object, "__delattr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * name, OnlyArgument<StrObject*>(interp, "__delattr__", "name", args));
    COBRA_TRY(interp.ObjectDelAttr(args.self, interp.InternStr(name)));
    return Value::None();
  });
  AddMethod(interp, object, "__dir__", Dir);
}

void AddObjectHooks(Interpreter& interp, ClassObject* object) {
  AddMethod(interp, object, "__reduce_ex__",
            [](Interpreter& interp, const CallArgs&) -> Result<Value> { return interp.Unsupported("pickling"); });
  AddClassMethod(interp, object, "__init_subclass__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.keywords.empty() && args.positional.empty()) return Value::None();
    return interp.Raise(interp.types().TypeError, args.self.as<ClassObject>()->name->view(),
                        ".__init_subclass__() takes no keyword arguments");
  });
  AddClassMethod(interp, object, "__subclasshook__",
                 [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::NotImplemented(); });
}

void AddObjectProperties(Interpreter& interp, ClassObject* object) {
  AddProperty(
      interp, object, "__class__",
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> { return Value(interp.class_of(args.self)); },
      SetClass);
  AddProperty(interp, object, "__dict__", GetDict, SetDict);
  object->attrs->table.SetStr(interp.heap(), interp.names().__doc__, Value::None());
}

ClassObject* Cls(const CallArgs& args) { return args.self.as<ClassObject>(); }

void AddTypeMethods(Interpreter& interp, ClassObject* type) {
  AddMethod(interp, type, "__init__", [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::None(); });
  AddMethod(interp, type, "__call__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    // type.__call__ itself: without the metaclass's override.
    CallArgs rest = args;
    rest.self = Value::Unbound();
    return ConstructInstance(interp, Cls(args), rest);
  });
  AddMethod(interp, type, "__or__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty()) return Value::NotImplemented();
    return BuiltinBinary(interp, Interpreter::BinaryOp::kBitOr, args.self, args.positional[0]);
  });
  AddMethod(interp, type, "__ror__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty()) return Value::NotImplemented();
    return BuiltinBinary(interp, Interpreter::BinaryOp::kBitOr, args.positional[0], args.self);
  });
  AddMethod(interp, type, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
}

void AddTypeHierarchyMethods(Interpreter& interp, ClassObject* type) {
  AddClassMethod(interp, type, "__prepare__",
                 [](Interpreter& interp, const CallArgs&) -> Result<Value> { return Value(interp.NewDict()); });
  AddMethod(interp, type, "mro", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto& mro = Cls(args)->mro;
    return Value(interp.NewList(std::vector<Value>(mro.begin(), mro.end())));
  });
  AddMethod(interp, type, "__subclasses__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto& subs = Cls(args)->subclasses;
    return Value(interp.NewList(std::vector<Value>(subs.begin(), subs.end())));
  });
  AddMethod(interp, type, "__instancecheck__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty()) return Value::Bool(false);
    return Value::Bool(Interpreter::IsSubclassOf(interp.class_of(args.positional[0]), Cls(args)));
  });
  AddMethod(interp, type, "__subclasscheck__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty() || !args.positional[0].IsClass()) return Value::Bool(false);
    return Value::Bool(Interpreter::IsSubclassOf(args.positional[0].as<ClassObject>(), Cls(args)));
  });
}

void AddTypeNames(Interpreter& interp, ClassObject* type) {
  AddProperty(
      interp, type, "__name__",
      [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value(Cls(args)->name); },
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        if (!args.positional[0].IsStr())
          return interp.Raise(interp.types().TypeError, "can only assign string to __name__");
        Cls(args)->name = interp.InternStr(args.positional[0].as<StrObject>());
        return Value::None();
      });
  AddProperty(
      interp, type, "__qualname__",
      [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value(Cls(args)->qualname); },
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        if (!args.positional[0].IsStr())
          return interp.Raise(interp.types().TypeError, "can only assign string to __qualname__");
        Cls(args)->qualname = interp.InternStr(args.positional[0].as<StrObject>());
        return Value::None();
      });
  AddProperty(
      interp, type, "__module__", [](Interpreter&, const CallArgs& args) -> Result<Value> { return Cls(args)->module; },
      [](Interpreter&, const CallArgs& args) -> Result<Value> {
        Cls(args)->module = args.positional[0];
        return Value::None();
      });
}

// The order of a class and of all that derive from it, after the bases of one of them have changed.
Result<void> ComputeMroBelow(Interpreter& interp, ClassObject* cls) {
  COBRA_TRY(interp.CheckStack());
  COBRA_TRY(ComputeMro(interp, cls));
  for (ClassObject* sub : cls->subclasses) COBRA_TRY(ComputeMroBelow(interp, sub));
  return {};
}

void ReplaceBases(Interpreter& interp, ClassObject* cls, const std::vector<ClassObject*>& bases) {
  for (ClassObject* base : cls->bases) {
    const auto* it = std::find(base->subclasses.begin(), base->subclasses.end(), cls);
    const size_t at = static_cast<size_t>(it - base->subclasses.begin());
    if (at < base->subclasses.size()) base->subclasses.erase(at, at + 1);
  }
  cls->bases.assign(interp.heap(), bases);
  for (ClassObject* base : bases) base->subclasses.push_back(interp.heap(), cls);
}

Result<Value> SetBases(Interpreter& interp, const CallArgs& args) {
  ClassObject* cls = Cls(args);
  const Value given = args.positional[0];
  const absl::string_view name = cls->name->view();
  auto refuse = [&](const std::string& message) { return interp.Raise(interp.types().TypeError, message); };
  if (cls->is_native) return refuse(absl::StrCat("cannot set '__bases__' attribute of immutable type '", name, "'"));
  if (!given.IsTuple())
    return refuse(absl::StrCat("can only assign tuple to ", name, ".__bases__, not ", interp.TypeName(given)));
  std::vector<ClassObject*> bases;
  ObjectKind layout = ObjectKind::kInstance;
  bool has_payload = false;
  for (Value base : given.as<TupleObject>()->span()) {
    if (!base.IsClass())
      return refuse(absl::StrCat(name, ".__bases__ must be tuple of classes, not '", interp.TypeName(base), "'"));
    bases.push_back(base.as<ClassObject>());
    if (Interpreter::IsSubclassOf(bases.back(), cls)) return refuse("a __bases__ item causes an inheritance cycle");
    if (bases.back()->layout != ObjectKind::kInstance) layout = bases.back()->layout;
    has_payload = has_payload || static_cast<bool>(bases.back()->payload);
  }
  if (bases.empty()) return refuse(absl::StrCat("can only assign non-empty tuple to ", name, ".__bases__, not ()"));
  if (layout != cls->layout || has_payload != static_cast<bool>(cls->payload)) {
    return refuse(absl::StrCat("__bases__ assignment: '", bases[0]->name->view(), "' object layout differs from '",
                               cls->bases[0]->name->view(), "'"));
  }
  const std::vector<ClassObject*> before(cls->bases.begin(), cls->bases.end());
  ReplaceBases(interp, cls, bases);
  if (!ComputeMroBelow(interp, cls).ok()) {  // no order, or a base twice
    Value error;
    if (!interp.CatchException(interp.types().TypeError, &error)) return Failure();
    ReplaceBases(interp, cls, before);
    COBRA_TRY(ComputeMroBelow(interp, cls));
    return interp.RaiseValue(error);
  }
  interp.state().class_epoch = ++interp.state().last_class_epoch;
  UpdateClassFlags(interp, cls);
  return Value::None();
}

void AddTypeHierarchyProperties(Interpreter& interp, ClassObject* type) {
  AddProperty(interp, type, "__mro__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    auto& mro = Cls(args)->mro;
    return Value(interp.NewTuple(std::vector<Value>(mro.begin(), mro.end())));
  });
  AddProperty(
      interp, type, "__bases__",
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        auto& bases = Cls(args)->bases;
        return Value(interp.NewTuple(std::vector<Value>(bases.begin(), bases.end())));
      },
      SetBases);
  AddProperty(interp, type, "__base__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Cls(args)->bases.empty() ? Value::None() : Value(Cls(args)->bases[0]);
  });
}

void AddTypeAttributeProperties(Interpreter& interp, ClassObject* type) {
  AddProperty(interp, type, "__dict__",
              [](Interpreter& interp, const CallArgs& args) { return CopyOfAttrs(interp, Cls(args)->attrs); });
  AddProperty(
      interp, type, "__annotations__",
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        Value* own = Cls(args)->attrs->table.GetStr(interp.names().__annotations__);
        if (own == nullptr) {
          if (Cls(args)->is_native) return RaiseNoAttribute(interp, args.self, interp.names().__annotations__);
          Cls(args)->attrs->table.SetStr(interp.heap(), interp.names().__annotations__, interp.NewDict());
          own = Cls(args)->attrs->table.GetStr(interp.names().__annotations__);
        }
        return *own;
      },
      [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        Cls(args)->attrs->table.SetStr(interp.heap(), interp.names().__annotations__, args.positional[0]);
        return Value::None();
      });
}

}  // namespace

void InitObjectType(Interpreter& interp) {
  ClassObject* object = interp.types().object;
  SetNativeNew(interp, object, ObjectNew);
  AddMethod(interp, object, "__init__", ObjectInit);
  AddObjectTextMethods(interp, object);
  AddObjectComparisonMethods(interp, object);
  AddObjectAttributeMethods(interp, object);
  AddObjectHooks(interp, object);
  AddObjectProperties(interp, object);

  ClassObject* type = interp.types().type;
  SetNativeNew(interp, type, TypeNew);
  AddTypeMethods(interp, type);
  AddTypeHierarchyMethods(interp, type);
  AddTypeNames(interp, type);
  AddTypeHierarchyProperties(interp, type);
  AddTypeAttributeProperties(interp, type);
}

}  // namespace cobra::python
