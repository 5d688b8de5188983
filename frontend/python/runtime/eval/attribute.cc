// Attribute access: descriptors, instance dictionaries, hooks, classes, modules and super().
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/standard_names.h"

namespace cobra::python {
namespace {

bool IsDataDescriptor(Value v) {
  if (!v.IsObject()) return false;
  if (v.IsProperty()) return true;
  return v.IsInstance() && v.object()->cls->has_set_or_delete;
}

Result<Value> CallProperty(Interpreter& interp, PropertyObject* p, Value instance) {
  if (p->getter.IsNone()) {
    return interp.Raise(interp.types().AttributeError, "property of '", interp.TypeName(instance),
                        "' object has no getter");
  }
  if (p->getter.IsBuiltin()) {
    CallArgs args;
    args.self = instance;
    return p->getter.as<BuiltinObject>()->function(interp, args);
  }
  return interp.Call(p->getter, {instance});
}

Result<Value> SuperGetAttr(Interpreter& interp, SuperObject* super, StrObject* name) {
  if (name == interp.names().__class__) return Value(interp.types().super);
  if (name->view() == "__thisclass__") return Value(super->start);
  if (name->view() == "__self__") return super->self;
  if (name->view() == "__self_class__") return Value(super->self_class);
  auto& mro = super->self_class->mro;
  auto it = std::find(mro.begin(), mro.end(), super->start);
  bool through_class = super->self.IsClass() && super->self.as<ClassObject>() == super->self_class;
  if (it != mro.end()) ++it;
  for (; it != mro.end(); ++it) {
    Value* v = (*it)->attrs->table.GetStr(name);
    if (v == nullptr) continue;
    return BindDescriptor(interp, *v, through_class ? Value::Unbound() : super->self, super->self_class);
  }
  return Value::Unbound();
}

}  // namespace

// What a subclass of property, classmethod or staticmethod has in place of the built-in __get__ or
// __set__; Unbound if it has nothing of its own.
static Value OwnHook(Interpreter& interp, Value descriptor, StrObject* name) {
  const ClassObject* cls = descriptor.object()->cls;
  if (cls->is_native) return Value::Unbound();
  const Value hook = interp.LookupClass(descriptor.object()->cls, name);
  return hook.IsBuiltin() ? Value::Unbound() : hook;
}

Result<Value> BindDescriptor(Interpreter& interp, Value attribute, Value instance, ClassObject* owner) {
  if (!attribute.IsObject()) return attribute;
  if (attribute.IsProperty() || attribute.IsClassMethod() || attribute.object()->kind == ObjectKind::kStaticMethod) {
    const Value get = OwnHook(interp, attribute, interp.names().__get__);
    if (!get.IsUnbound())
      return interp.Call(get, {attribute, instance.IsUnbound() ? Value::None() : instance, Value(owner)});
  }
  switch (attribute.object()->kind) {
    case ObjectKind::kFunction: return instance.IsUnbound() ? attribute : interp.NewBoundMethod(instance, attribute);
    case ObjectKind::kBuiltin: {
      auto* b = attribute.as<BuiltinObject>();
      return instance.IsUnbound() || !b->is_method ? attribute : interp.NewBoundMethod(instance, attribute);
    }
    case ObjectKind::kClassMethod: {
      Value f = attribute.as<ClassMethodObject>()->function;
      if (f.IsObject() && !f.IsFunction() && !f.IsBuiltin()) {
        // classmethod over another descriptor, e.g. a property.
        if (f.IsProperty()) return CallProperty(interp, f.as<PropertyObject>(), Value(owner));
      }
      return interp.NewBoundMethod(Value(owner), f);
    }
    case ObjectKind::kStaticMethod: return attribute.as<StaticMethodObject>()->function;
    case ObjectKind::kProperty:
      if (instance.IsUnbound()) return attribute;
      return CallProperty(interp, attribute.as<PropertyObject>(), instance);
    case ObjectKind::kInstance: {
      if (!attribute.object()->cls->has_get) return attribute;
      Value get = interp.LookupClass(attribute.object()->cls, interp.names().__get__);
      return interp.Call(get, {attribute, instance.IsUnbound() ? Value::None() : instance, Value(owner)});
    }
    default: return attribute;
  }
}

Result<Value> Interpreter::ObjectGetAttr(Value v, StrObject* name) {
  ClassObject* cls = class_of(v);
  if (!name->interned) name = InternStr(name);
  Value meta = FindInClass(*this, cls, name);
  if (IsDataDescriptor(meta)) return BindDescriptor(*this, meta, v, cls);
  if (v.IsObject() && v.object()->attrs != nullptr && !v.IsModule()) {
    if (Value* own = v.object()->attrs->table.GetStr(name)) return *own;
  }
  if (meta.IsUnbound()) return meta;
  return BindDescriptor(*this, meta, v, cls);
}

Result<Value> GetClassAttr(Interpreter& interp, ClassObject* cls, StrObject* name) {
  Value meta = interp.LookupClass(cls->cls, name);
  if (IsDataDescriptor(meta)) return BindDescriptor(interp, meta, Value(cls), cls->cls);
  Value own = interp.LookupClass(cls, name);
  if (!own.IsUnbound()) return BindDescriptor(interp, own, Value::Unbound(), cls);
  if (!meta.IsUnbound()) return BindDescriptor(interp, meta, Value(cls), cls->cls);
  if (cls->cls->has_getattr) {
    Value hook = interp.LookupClass(cls->cls, interp.names().__getattr__);
    return interp.Call(hook, {Value(cls), Value(name)});
  }
  return MissingStandardAttribute(interp, cls, name);
}

namespace {

// REQUIRES: cls->has_getattr.
Result<Value> CallGetAttrHook(Interpreter& interp, Value v, ClassObject* cls, StrObject* name) {
  Value hook = FindInClass(interp, cls, interp.names().__getattr__);
  if (!hook.IsBuiltin()) return interp.Call(hook, {v, Value(name)});
  CallArgs args;
  args.self = v;
  Value argument(name);
  args.positional = absl::MakeConstSpan(&argument, 1);
  return hook.as<BuiltinObject>()->function(interp, args);
}

// Finds the attribute, by calling __getattr__ if necessary; Unbound if there is none.
Result<Value> FindAttr(Interpreter& interp, Value v, StrObject* name) {
  if (v.IsObject()) {
    switch (v.object()->kind) {
      case ObjectKind::kClass: return GetClassAttr(interp, v.as<ClassObject>(), name);
      case ObjectKind::kModule:
        if (v.object()->cls->has_getattribute) break;
        return GetModuleAttr(interp, v.as<ModuleObject>(), name);
      case ObjectKind::kSuper: return SuperGetAttr(interp, v.as<SuperObject>(), name);
      case ObjectKind::kGenericAlias: {
        Result<Value> own = interp.ObjectGetAttr(v, name);
        auto* alias = v.as<GenericAliasObject>();
        if (!own.ok() || !own->IsUnbound() || alias->is_union || name->view().substr(0, 2) == "__") return own;
        return interp.GetAttrOrUnbound(alias->origin, name);
      }
      case ObjectKind::kOpaque: {
        if (name->view().substr(0, 2) == "__" && name != interp.names().__version__)
          return interp.ObjectGetAttr(v, name);
        auto* o = interp.heap().New<OpaqueObject>();
        o->cls = interp.types().opaque;
        o->dotted_name = interp.NewStr(absl::StrCat(v.as<OpaqueObject>()->dotted_name->view(), ".", name->view()));
        return Value(o);
      }
      case ObjectKind::kLazy: {
        COBRA_TRY_ASSIGN(Value forced, ForceLazy(interp, v));
        return interp.GetAttrOrUnbound(forced, name);
      }
      default: break;
    }
  }
  ClassObject* cls = interp.class_of(v);
  Result<Value> found = Value::Unbound();
  if (cls->has_getattribute) {
    Value hook = interp.LookupClass(cls, interp.names().__getattribute__);
    found = interp.Call(hook, {v, Value(name)});
    if (!found.ok() && !(cls->has_getattr && interp.CatchException(interp.types().AttributeError))) return found;
    if (!found.ok()) found = Value::Unbound();
  } else {
    found = interp.ObjectGetAttr(v, name);
    // AttributeError inside a property also reaches __getattr__.
    if (!found.ok()) {
      Value original;
      if (!cls->has_getattr || !interp.CatchException(interp.types().AttributeError, &original)) return found;
      found = Value::Unbound();
    }
  }
  if (!found->IsUnbound()) return found;
  return cls->has_getattr ? CallGetAttrHook(interp, v, cls, name) : MissingStandardAttribute(interp, cls, name);
}

}  // namespace

Failure RaiseNoAttribute(Interpreter& interp, Value v, StrObject* name) {
  std::string message;
  if (v.IsClass()) {
    message =
        absl::StrCat("type object '", v.as<ClassObject>()->name->view(), "' has no attribute '", name->view(), "'");
  } else if (v.IsModule()) {
    auto* m = v.as<ModuleObject>();
    message = absl::StrCat(m->initializing ? "partially initialized module '" : "module '", m->name->view(),
                           "' has no attribute '", name->view(), "'",
                           m->initializing ? " (most likely due to a circular import)" : "");
  } else if (v.IsSuper()) {
    message = absl::StrCat("'super' object has no attribute '", name->view(), "'");
  } else {
    message = absl::StrCat("'", interp.TypeName(v), "' object has no attribute '", name->view(), "'");
  }
  Value e = interp.NewException(interp.types().AttributeError, message);
  DictObject* attrs = interp.AttrsOf(e.object());
  attrs->table.SetStr(interp.heap(), interp.names().name, Value(name));
  attrs->table.SetStr(interp.heap(), interp.names().obj, v);
  return interp.RaiseValue(e);
}

Result<Value> Interpreter::GetAttr(Value v, StrObject* name) {
  if (!name->interned) name = InternStr(name);
  std::atomic<uint16_t> guess(0);
  return GetAttrAt(*this, v, name, guess);
}

namespace {

// Stores the name and the object in an AttributeError that a hook raised, as CPython does.
void NoteName(Interpreter& interp, Value v, StrObject* name) {
  Value exception;
  if (!interp.CatchException(interp.types().AttributeError, &exception)) return;
  auto* e = exception.as<ExceptionObject>();
  const Value context = e->context;
  DictTable& attrs = interp.AttrsOf(e)->table;
  if (attrs.GetStr(interp.names().name) == nullptr && attrs.GetStr(interp.names().obj) == nullptr) {
    attrs.SetStr(interp.heap(), interp.names().name, Value(name));
    attrs.SetStr(interp.heap(), interp.names().obj, v);
  }
  (void)interp.RaiseValue(exception);
  e->context = context;
}

__attribute__((noinline)) Result<Value> GetAttrSlow(Interpreter& interp, Value v, StrObject* name) {
  Result<Value> found = FindAttr(interp, v, name);
  if (!found.ok() && v.IsModule()) NoteName(interp, v, name);
  if (!found.ok() || !found->IsUnbound()) return found;
  return RaiseNoAttribute(interp, v, name);
}

// For a plain instance whose class has no __getattribute__. `meta` is the attribute of that name in
// the class; it is not a data descriptor.
inline Result<Value> InstanceAttr(Interpreter& interp, Value v, Value meta, StrObject* name,
                                  std::atomic<uint16_t>& guess) {
  DictObject* attrs = v.object()->attrs;
  if (attrs != nullptr) {
    if (Value* own = attrs->table.GetStr(name, guess)) return *own;
  }
  ClassObject* cls = v.object()->cls;
  if (meta.IsUnbound() && cls->has_getattr) return CallGetAttrHook(interp, v, cls, name);
  if (meta.IsUnbound()) {
    const Value missing = MissingStandardAttribute(interp, cls, name);
    return missing.IsUnbound() ? Result<Value>(RaiseNoAttribute(interp, v, name)) : missing;
  }
  // Its __get__ may raise an AttributeError, after which __getattr__ is called.
  if (meta.IsInstance() || meta.IsClassMethod()) return GetAttrSlow(interp, v, name);
  return BindDescriptor(interp, meta, v, cls);
}

inline bool IsMethod(Value v) { return v.IsFunction() || (v.IsBuiltin() && v.as<BuiltinObject>()->is_method); }

}  // namespace

Result<Value> GetAttrAt(Interpreter& interp, Value v, StrObject* name, std::atomic<uint16_t>& guess) {
  if (v.IsInstance() && !v.object()->cls->has_getattribute) {
    const Value meta = FindInClass(interp, v.object()->cls, name);
    if (!IsDataDescriptor(meta)) return InstanceAttr(interp, v, meta, name, guess);
  } else if (v.IsModule()) {
    Value* own = v.object()->attrs->table.GetStr(name, guess);
    if (own != nullptr && !own->IsLazy()) return *own;
  }
  return GetAttrSlow(interp, v, name);
}

Result<Value> Interpreter::GetAttrOrUnbound(Value v, StrObject* name) {
  if (!name->interned) name = InternStr(name);
  Result<Value> found = FindAttr(*this, v, name);
  if (!found.ok() && CatchException(types_.AttributeError)) return Value::Unbound();
  return found;
}

Result<void> GetMethod(Interpreter& interp, Value v, StrObject* name, std::atomic<uint16_t>& guess, Value* function,
                       Value* self) {
  *self = Value::Unbound();
  if (!v.IsModule() && !v.IsClass() && !v.IsSuper() && !v.IsOpaque() && !v.IsGenericAlias()) {
    ClassObject* cls = interp.class_of(v);
    if (!cls->has_getattribute) {
      const Value meta = FindInClass(interp, cls, name);
      if (IsMethod(meta)) {
        Value* own = v.IsObject() && v.object()->attrs != nullptr ? v.object()->attrs->table.GetStr(name) : nullptr;
        *function = own != nullptr ? *own : meta;
        if (own == nullptr) *self = v;
        return {};
      }
      if (v.IsInstance() && !IsDataDescriptor(meta)) {
        COBRA_TRY_ASSIGN(*function, InstanceAttr(interp, v, meta, name, guess));
        return {};
      }
    }
  } else if (v.IsSuper()) {
    auto* super = v.as<SuperObject>();
    if (!super->self.IsClass()) {
      auto& mro = super->self_class->mro;
      auto it = std::find(mro.begin(), mro.end(), super->start);
      if (it != mro.end()) ++it;
      for (; it != mro.end(); ++it) {
        Value* found = (*it)->attrs->table.GetStr(name);
        if (found == nullptr) continue;
        if (IsMethod(*found)) {
          *function = *found;
          *self = super->self;
          return {};
        }
        break;
      }
    }
  }
  COBRA_TRY_ASSIGN(*function, GetAttrAt(interp, v, name, guess));
  return {};
}

DictObject* Interpreter::AttrsOf(Object* object) {
  if (object->attrs == nullptr) object->attrs = NewDict();
  return object->attrs;
}

Result<void> Interpreter::ObjectSetAttr(Value v, StrObject* name, Value value) {
  if (!name->interned) name = InternStr(name);
  ClassObject* cls = class_of(v);
  Value meta = FindInClass(*this, cls, name);
  if (meta.IsProperty()) {
    auto* p = meta.as<PropertyObject>();
    if (const Value set = OwnHook(*this, meta, names_.__set__); !set.IsUnbound()) {
      COBRA_TRY(Call(set, {meta, v, value}));
      return {};
    }
    if (p->setter.IsNone()) {
      return Raise(types_.AttributeError, "property '", name->view(), "' of '", cls->name->view(),
                   "' object has no setter");
    }
    Result<Value> r = Value::None();
    if (p->setter.IsBuiltin()) {
      CallArgs args;
      args.self = v;
      args.positional = absl::MakeConstSpan(&value, 1);
      r = p->setter.as<BuiltinObject>()->function(*this, args);
    } else {
      r = Call(p->setter, {v, value});
    }
    COBRA_TRY(r);
    return {};
  }
  if (meta.IsInstance() && meta.object()->cls->has_set_or_delete) {
    Value set = LookupClass(meta.object()->cls, names_.__set__);
    if (set.IsUnbound()) return Raise(types_.AttributeError, "__set__");
    COBRA_TRY(Call(set, {meta, v, value}));
    return {};
  }
  bool has_dict = v.IsObject() && (v.IsInstance() || v.IsFunction() || v.IsModule() || v.IsException() ||
                                   !cls->is_native || (v.IsBuiltin() && v.as<BuiltinObject>()->owner == nullptr));
  if (!has_dict || cls->slots_only || (v.IsInstance() && cls == types_.object)) {
    if (meta.IsUnbound()) return RaiseNoAttribute(*this, v, name);
    return Raise(types_.AttributeError, "'", cls->name->view(), "' object attribute '", name->view(), "' is read-only");
  }
  if (v.IsModule()) COBRA_TRY(state_->importer->BeforeChange(v.as<ModuleObject>(), name));
  AttrsOf(v.object())->table.SetStr(heap_, name, value);
  return {};
}

Result<void> Interpreter::ObjectDelAttr(Value v, StrObject* name) {
  ClassObject* cls = class_of(v);
  Value meta = LookupClass(cls, name);
  if (meta.IsProperty()) {
    if (meta.as<PropertyObject>()->deleter.IsNone()) {
      return Raise(types_.AttributeError, "property '", name->view(), "' of '", cls->name->view(),
                   "' object has no deleter");
    }
    COBRA_TRY(Call(meta.as<PropertyObject>()->deleter, {v}));
    return {};
  }
  if (meta.IsInstance() && meta.object()->cls->has_set_or_delete) {
    Value del = LookupClass(meta.object()->cls, names_.__delete__);
    if (del.IsUnbound()) return Raise(types_.AttributeError, "__delete__");
    COBRA_TRY(Call(del, {meta, v}));
    return {};
  }
  if (v.IsModule()) COBRA_TRY(state_->importer->BeforeChange(v.as<ModuleObject>(), name));
  if (v.IsObject() && v.object()->attrs != nullptr && v.object()->attrs->table.EraseStr(name)) return {};
  return RaiseNoAttribute(*this, v, name);
}

Result<void> Interpreter::SetAttr(Value v, StrObject* name, Value value) {
  if (!name->interned) name = InternStr(name);
  ClassObject* cls = class_of(v);
  if (cls->has_setattr) {
    Value hook = FindInClass(*this, cls, names_.__setattr__);
    if (hook.IsBuiltin()) {
      Value arguments[2] = {Value(name), value};
      CallArgs args;
      args.self = v;
      args.positional = absl::MakeConstSpan(arguments, 2);
      COBRA_TRY(hook.as<BuiltinObject>()->function(*this, args));
      return {};
    }
    COBRA_TRY(Call(hook, {v, Value(name), value}));
    return {};
  }
  if (v.IsClass()) {
    auto* target = v.as<ClassObject>();
    if (target->is_native) {
      return Raise(types_.TypeError, "cannot set '", name->view(), "' attribute of immutable type '",
                   target->name->view(), "'");
    }
    Value meta = LookupClass(cls, name);
    if (IsDataDescriptor(meta)) return ObjectSetAttr(v, name, value);
    SetClassAttr(target, name, value);
    return {};
  }
  if (v.IsOpaque()) return {};
  return ObjectSetAttr(v, name, value);
}

Result<void> Interpreter::DelAttr(Value v, StrObject* name) {
  if (!name->interned) name = InternStr(name);
  ClassObject* cls = class_of(v);
  if (cls->has_delattr) {
    Value hook = LookupClass(cls, names_.__delattr__);
    COBRA_TRY(Call(hook, {v, Value(name)}));
    return {};
  }
  if (v.IsClass()) {
    auto* target = v.as<ClassObject>();
    if (target->is_native || target->attrs->table.GetStr(name) == nullptr) return RaiseNoAttribute(*this, v, name);
    SetClassAttr(target, name, Value::Unbound());
    return {};
  }
  return ObjectDelAttr(v, name);
}

}  // namespace cobra::python
