// Classes: the built-in ones, C3 linearisation, creation by class statement or type(), and the
// lookup cache.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

ClassObject* NewBuiltinClass(Interpreter& interp, absl::string_view name, ClassObject* base, ObjectKind layout) {
  ClassObject* cls = interp.heap().New<ClassObject>();
  cls->cls = interp.types().type;
  cls->attrs = interp.heap().New<DictObject>();
  cls->attrs->cls = interp.types().dict;
  cls->name = cls->qualname = interp.Intern(name);
  cls->layout = layout;
  cls->is_native = true;
  Heap& heap = interp.heap();
  cls->mro.push_back(heap, cls);
  if (base != nullptr) {
    cls->bases.push_back(heap, base);
    for (ClassObject* c : base->mro) cls->mro.push_back(heap, c);
    base->subclasses.push_back(heap, cls);
    cls->payload = base->payload;
  }
  return cls;
}

void InitBuiltinTypes(Interpreter& interp, BuiltinTypes* types) {
  // `type`, `str` and `dict` are needed to make the others: fix their headers up afterwards.
  auto layout_of = [](absl::string_view name) {
#define COBRA_OBJECT_KIND(kind, python_name) \
  if (name == python_name) return ObjectKind::k##kind;
#include "frontend/python/runtime/heap/object_kinds.def"
#undef COBRA_OBJECT_KIND
    return ObjectKind::kInstance;
  };
#define COBRA_BUILTIN_TYPE(name, python_name) \
  types->name = NewBuiltinClass(interp, python_name, types->object, layout_of(python_name));
#define COBRA_EXCEPTION_TYPE(name, base) \
  types->name = NewBuiltinClass(interp, #name, types->base, ObjectKind::kException);
#include "frontend/python/runtime/interpreter/builtin_types.def"
#undef COBRA_BUILTIN_TYPE
#undef COBRA_EXCEPTION_TYPE
  Value builtins = interp.Intern("builtins");
  auto fix = [&](ClassObject* c) {
    c->cls = types->type;
    c->attrs->cls = types->dict;
    c->name->cls = types->str;
    c->module = builtins;
  };
  builtins.object()->cls = types->str;
#define COBRA_BUILTIN_TYPE(name, python_name) fix(types->name);
#define COBRA_EXCEPTION_TYPE(name, base) fix(types->name);
#include "frontend/python/runtime/interpreter/builtin_types.def"
#undef COBRA_BUILTIN_TYPE
#undef COBRA_EXCEPTION_TYPE
  const Value types_module = interp.Intern("types");
  types_module.object()->cls = types->str;
  types->generic_alias->module = types->union_type->module = types_module;
  types->frozenset->layout = ObjectKind::kSet;
  types->member_descriptor->layout = ObjectKind::kProperty;
  types->bool_type->layout = ObjectKind::kBigInt;
  types->bool_type->bases.assign(interp.heap(), std::initializer_list<ClassObject*>{types->int_type});
  types->bool_type->mro.assign(interp.heap(),
                               std::initializer_list<ClassObject*>{types->bool_type, types->int_type, types->object});
  for (ClassObject* c : {types->bool_type, types->none_type, types->ellipsis_type, types->not_implemented_type,
                         types->range, types->slice, types->function, types->method, types->builtin_function,
                         types->generator, types->coroutine, types->async_generator, types->iterator, types->cell,
                         types->dict_keys, types->dict_values, types->dict_items, types->opaque}) {
    c->is_final = true;
  }
}

absl::string_view Interpreter::TypeName(Value v) const { return class_of(v)->name->view(); }

Value Interpreter::LookupClass(ClassObject* cls, StrObject* name) {
  if (!name->interned) name = InternStr(name);
  return FindInClass(*this, cls, name);
}

Value FindInClassSlow(Interpreter& interp, ClassObject* cls, StrObject* name, ClassCacheEntry* entry) {
  RuntimeState& state = interp.state();
  interp.Spend(static_cast<int64_t>(cls->mro.size()) / 8);
  Value found = Value::Unbound();
  for (ClassObject* c : cls->mro) {
    if (Value* v = c->attrs->table.GetStr(name)) {
      found = *v;
      break;
    }
  }
  if (state.image != nullptr)
    state.class_cache_changed.push_back(static_cast<uint16_t>(entry - state.class_cache.data()));
  *entry = {cls, name, found, state.class_epoch};
  return found;
}

// Keeps the cache entries that are valid after the rollback: their class, name and value are in the
// image, and no class had changed before the lookup.
void RollbackClassCache(RuntimeState& state, const Heap& heap) {
  for (uint16_t slot : state.class_cache_changed) {
    ClassCacheEntry& entry = state.class_cache[slot];
    const bool holds = entry.epoch == state.image->class_epoch && heap.InImage(entry.cls) && heap.InImage(entry.name) &&
                       (!entry.value.IsObject() || heap.InImage(entry.value.object()));
    if (!holds) entry = ClassCacheEntry();
  }
  state.class_cache_changed.clear();
  state.class_epoch = state.image->class_epoch;
}

void UpdateClassFlags(Interpreter& interp, ClassObject* cls) {
  interp.Spend(static_cast<int64_t>(cls->mro.size()) * 4);
  const CommonNames& n = interp.names();
  auto has = [&](StrObject* name) {  // defined in a class before object in the MRO
    for (ClassObject* c : cls->mro) {
      if (c == interp.types().object) return false;
      if (c->attrs->table.GetStr(name) != nullptr) return true;
    }
    return false;
  };
  cls->has_getattribute = has(n.__getattribute__);
  cls->has_getattr = has(n.__getattr__);
  cls->has_setattr = has(n.__setattr__);
  cls->has_delattr = has(n.__delattr__);
  cls->has_eq = has(n.__eq__);
  cls->has_hash = has(n.__hash__);
  cls->has_bool_or_len = has(n.__bool__) || has(n.__len__);
  cls->has_init = has(n.__init__);
  cls->has_new = has(n.__new__);
  cls->has_call = has(n.__call__);
  cls->has_get = has(n.__get__);
  cls->has_set_or_delete = has(n.__set__) || has(n.__delete__);
  cls->has_metaclass = cls->cls != interp.types().type;
  for (ClassObject* sub : cls->subclasses) UpdateClassFlags(interp, sub);
}

void Interpreter::SetClassAttr(ClassObject* cls, StrObject* name, Value value) {
  name = InternStr(name);
  if (value.IsUnbound()) {
    cls->attrs->table.EraseStr(name);
  } else {
    cls->attrs->table.SetStr(heap_, name, value);
  }
  state_->class_epoch = ++state_->last_class_epoch;
  absl::string_view text = name->view();
  if (text.size() > 4 && text[0] == '_' && text[1] == '_') UpdateClassFlags(*this, cls);
}

// C3 linearisation: merges the MROs of the bases. Each step takes the first class that is not in
// the tail of any list.
Result<void> ComputeMro(Interpreter& interp, ClassObject* cls) {
  std::vector<std::vector<ClassObject*>> lists;
  for (ClassObject* base : cls->bases) lists.emplace_back(base->mro.begin(), base->mro.end());
  lists.emplace_back(cls->bases.begin(), cls->bases.end());
  std::vector<size_t> heads(lists.size(), 0);
  cls->mro.clear();
  cls->mro.push_back(interp.heap(), cls);
  while (true) {
    COBRA_TRY(interp.Step());
    ClassObject* next = nullptr;
    bool done = true;
    for (size_t i = 0; i < lists.size() && next == nullptr; ++i) {
      if (heads[i] == lists[i].size()) continue;
      done = false;
      ClassObject* candidate = lists[i][heads[i]];
      bool in_tail = false;
      for (size_t j = 0; j < lists.size() && !in_tail; ++j) {
        interp.Spend(1 + static_cast<int64_t>(lists[j].size()) / 16);
        in_tail = heads[j] < lists[j].size() && std::find(lists[j].begin() + static_cast<std::ptrdiff_t>(heads[j]) + 1,
                                                          lists[j].end(), candidate) != lists[j].end();
      }
      if (!in_tail) next = candidate;
    }
    if (done) return {};
    if (next == nullptr) {
      std::string names;
      for (ClassObject* base : cls->bases) absl::StrAppend(&names, names.empty() ? "" : ", ", base->name->view());
      return interp.Raise(interp.types().TypeError,
                          "Cannot create a consistent method resolution\norder (MRO) for bases ", names);
    }
    cls->mro.push_back(interp.heap(), next);
    for (size_t i = 0; i < lists.size(); ++i) {
      if (heads[i] < lists[i].size() && lists[i][heads[i]] == next) ++heads[i];
    }
  }
}

Result<ClassObject*> FindMetaclass(Interpreter& interp, Value explicit_metaclass,
                                   const std::vector<ClassObject*>& bases) {
  ClassObject* winner = interp.types().type;
  if (explicit_metaclass.IsClass()) winner = explicit_metaclass.as<ClassObject>();
  for (ClassObject* base : bases) {
    ClassObject* meta = base->cls;
    if (Interpreter::IsSubclassOf(winner, meta)) continue;
    if (!Interpreter::IsSubclassOf(meta, winner)) {
      return interp.Raise(interp.types().TypeError,
                          "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the "
                          "metaclasses of all its bases");
    }
    winner = meta;
  }
  return winner;
}

namespace {

// Takes the layout of instances and the C++ payload from the only base whose instances are not
// plain objects.
Result<void> InheritLayout(Interpreter& interp, ClassObject* cls) {
  for (ClassObject* base : cls->bases) {
    if (base->is_final)
      return interp.Raise(interp.types().TypeError, "type '", base->name->view(), "' is not an acceptable base type");
    if (base->layout != ObjectKind::kInstance) {
      if (cls->layout != ObjectKind::kInstance && cls->layout != base->layout)
        return interp.Raise(interp.types().TypeError, "multiple bases have instance lay-out conflict");
      cls->layout = base->layout;
    }
    if (base->payload && !cls->payload) cls->payload = base->payload;
  }
  return {};
}

Result<void> CallSetNames(Interpreter& interp, ClassObject* cls) {
  // __set_name__ may change the class: work on a copy.
  std::vector<std::pair<Value, Value>> attributes;
  for (size_t i = 0; i < cls->attrs->table.entry_count(); ++i) {
    const auto& e = cls->attrs->table.entry(i);
    if (!e.key.IsUnbound() && e.value.IsObject() && !e.value.IsFunction() && !e.value.IsStr())
      attributes.emplace_back(e.key, e.value);
  }
  for (auto& [name, value] : attributes) {
    ClassObject* type = interp.class_of(value);
    if (type->is_native) continue;
    COBRA_TRY(interp.CallSpecial(value, interp.names().__set_name__, {Value(cls), name}));
  }
  return {};
}

// Converts the methods that CPython implicitly makes static or class methods, and sets __hash__ to
// None if the class defines only __eq__.
void FixImplicitMethods(Interpreter& interp, ClassObject* cls) {
  const CommonNames& n = interp.names();
  DictTable& table = cls->attrs->table;
  if (Value* f = table.GetStr(n.__new__); f != nullptr && f->IsFunction()) {
    auto* s = interp.heap().New<StaticMethodObject>();
    s->cls = interp.types().staticmethod;
    s->function = *f;
    *f = s;
  }
  for (StrObject* name : {n.__init_subclass__, n.__class_getitem__}) {
    if (Value* f = table.GetStr(name); f != nullptr && f->IsFunction()) {
      auto* c = interp.heap().New<ClassMethodObject>();
      c->cls = interp.types().classmethod;
      c->function = *f;
      *f = c;
    }
  }
  if (table.GetStr(n.__eq__) != nullptr && table.GetStr(n.__hash__) == nullptr)
    table.SetStr(interp.heap(), n.__hash__, Value::None());
}

PropertyObject* NewSlotDescriptor(Interpreter& interp, StrObject* name) {
  auto* p = interp.heap().New<PropertyObject>();
  p->cls = interp.types().member_descriptor;
  p->getter = NewBuiltin(interp, name->view(), [name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value self = args.self.IsUnbound() ? args.positional[0] : args.self;
    Value* own = self.object()->attrs == nullptr ? nullptr : self.object()->attrs->table.GetStr(name);
    if (own == nullptr) return RaiseNoAttribute(interp, self, name);
    return *own;
  });
  p->setter = NewBuiltin(interp, name->view(), [name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value self = args.self.IsUnbound() ? args.positional[0] : args.self;
    interp.AttrsOf(self.object())->table.SetStr(interp.heap(), name, args.positional.back());
    return Value::None();
  });
  p->deleter = NewBuiltin(interp, name->view(), [name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value self = args.self.IsUnbound() ? args.positional[0] : args.self;
    if (self.object()->attrs == nullptr || !self.object()->attrs->table.EraseStr(name))
      return RaiseNoAttribute(interp, self, name);
    return Value::None();
  });
  p->doc = Value::None();
  return p;
}

// The names in __slots__ become descriptors. Their values are still stored in the instance's
// attributes; slots_only only prevents other attributes.
Result<void> DefineSlots(Interpreter& interp, ClassObject* cls) {
  StrObject* key = interp.Intern("__slots__");
  Value* declared = cls->attrs->table.GetStr(key);
  bool bases_have_dict = false;
  for (ClassObject* base : cls->bases) {
    bool without = base == interp.types().object || base->slots_only ||
                   (base->is_native && base->layout != ObjectKind::kInstance && base->layout != ObjectKind::kException);
    bases_have_dict = bases_have_dict || !without;
  }
  if (declared == nullptr) return {};
  std::vector<Value> names = {*declared};
  if (!declared->IsStr()) COBRA_TRY_SET(names, interp.ToVector(*declared));
  bool dict = false;
  for (Value v : names) {
    if (!v.IsStr())
      return interp.Raise(interp.types().TypeError, "__slots__ items must be strings, not '", interp.TypeName(v), "'");
    if (v.str() == "__dict__") {
      dict = true;
      continue;
    }
    if (v.str() == "__weakref__") continue;
    std::string text(v.str());
    if (text.size() > 2 && text.substr(0, 2) == "__" && text.substr(text.size() - 2) != "__") {
      absl::string_view owner = cls->name->view();
      while (!owner.empty() && owner[0] == '_') owner.remove_prefix(1);
      text = absl::StrCat("_", owner, text);
    }
    StrObject* name = interp.Intern(text);
    if (Value* known = cls->attrs->table.GetStr(name); known != nullptr) {
      if (known->IsProperty() && known->object()->cls == interp.types().member_descriptor) continue;  // named twice
      return interp.Raise(interp.types().ValueError, "'", v.str(), "' in __slots__ conflicts with class variable");
    }
    COBRA_TRY(interp.Charge(10));
    cls->attrs->table.SetStr(interp.heap(), name, NewSlotDescriptor(interp, name));
  }
  cls->slots_only = !bases_have_dict && !dict;
  return {};
}

}  // namespace

Result<ClassObject*> BuildClass(Interpreter& interp, ClassObject* metaclass, StrObject* name,
                                const std::vector<ClassObject*>& bases, DictObject* attributes,
                                absl::Span<const KeywordArg> keywords) {
  const CommonNames& n = interp.names();
  ClassObject* cls = interp.heap().New<ClassObject>();
  cls->cls = metaclass;
  cls->name = cls->qualname = name;
  cls->bases.assign(interp.heap(), bases);
  if (cls->bases.empty()) cls->bases.push_back(interp.heap(), interp.types().object);
  for (size_t i = 0; i < cls->bases.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (cls->bases[i] == cls->bases[j])
        return interp.Raise(interp.types().TypeError, "duplicate base class ", cls->bases[i]->name->view());
    }
  }
  COBRA_TRY(InheritLayout(interp, cls));
  COBRA_TRY(ComputeMro(interp, cls));
  DictObject* own = interp.NewDict();
  for (size_t i = 0; i < attributes->table.entry_count(); ++i) {
    const auto& e = attributes->table.entry(i);
    if (e.key.IsUnbound()) continue;
    if (e.key.IsStr()) own->table.SetStr(interp.heap(), interp.InternStr(e.key.as<StrObject>()), e.value);
  }
  cls->attrs = own;
  if (Value* q = own->table.GetStr(n.__qualname__)) {
    if (q->IsStr()) cls->qualname = q->as<StrObject>();
    own->table.EraseStr(n.__qualname__);
  }
  if (Value* m = own->table.GetStr(n.__module__)) cls->module = *m;
  if (own->table.GetStr(n.__doc__) == nullptr) own->table.SetStr(interp.heap(), n.__doc__, Value::None());
  FixImplicitMethods(interp, cls);
  COBRA_TRY(DefineSlots(interp, cls));
  for (ClassObject* base : cls->bases) base->subclasses.push_back(interp.heap(), cls);
  UpdateClassFlags(interp, cls);
  // The cell of __class__, which methods with super() close over.
  if (Value* cell = own->table.GetStr(interp.Intern("__classcell__"))) {
    if (cell->IsCell()) cell->as<CellObject>()->value = cls;
    own->table.EraseStr(interp.Intern("__classcell__"));
  }
  COBRA_TRY(CallSetNames(interp, cls));
  // super(cls, cls).__init_subclass__(**keywords)
  for (size_t i = 1; i < cls->mro.size(); ++i) {
    Value* hook = cls->mro[i]->attrs->table.GetStr(n.__init_subclass__);
    if (hook == nullptr) continue;
    COBRA_TRY_ASSIGN(Value bound, BindDescriptor(interp, *hook, Value::Unbound(), cls));
    COBRA_TRY(interp.Call(bound, {}, keywords));
    break;
  }
  return cls;
}

Result<ClassObject*> Interpreter::NewClass(absl::string_view name, absl::Span<const Value> bases,
                                           DictObject* attributes, absl::Span<const KeywordArg> keywords) {
  std::vector<ClassObject*> classes;
  for (Value b : bases) {
    if (!b.IsClass()) return Raise(types_.TypeError, "bases must be types");
    classes.push_back(b.as<ClassObject>());
  }
  COBRA_TRY_ASSIGN(ClassObject * metaclass, FindMetaclass(*this, Value::None(), classes));
  return BuildClass(*this, metaclass, Intern(name), classes, attributes, keywords);
}

}  // namespace cobra::python
