#include "frontend/python/torch/layers/layers.h"

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/overrides/overrides.h"

namespace cobra::python {

bool IsEllipsisOnly(const FunctionObject* f) {
  const auto& body = f->scope->body;
  if (body.size() != 1 || !body[0]->Is<ast::Expr>()) return false;
  const auto* constant = body[0]->As<ast::Expr>()->value->AsOrNull<ast::Constant>();
  return constant != nullptr && constant->constant_kind == ast::ConstantKind::kEllipsis;
}

int SlotOf(const FunctionObject* f, absl::string_view name) {
  const int parameters = static_cast<int>(f->scope->slot_names.size());
  for (int i = 0; i < parameters; ++i) {
    const ast::Identifier parameter = f->scope->slot_names[static_cast<size_t>(i)];
    if (parameter != nullptr && parameter->text == name) return i;
  }
  return -1;
}

// ---- attributes of self

namespace {

// Where an attribute was found: the registry (0: the __dict__ itself, else a ModuleSlot) and the
// position in it.
constexpr uint16_t kNowhere = 0xffff;
constexpr int kPositionBits = 12;

uint16_t PlaceOf(size_t registry, int64_t position) {
  if (position >= int64_t{1} << kPositionBits) return kNowhere;
  return static_cast<uint16_t>(registry << kPositionBits | static_cast<size_t>(position));
}

}  // namespace

void SelfAttributes::Add(Interpreter& interp, StrObject* name) { names_.push_back(interp.heap(), name); }

bool SelfAttributes::IsPlainFor(Interpreter& interp, ClassObject* cls) const {
  if (cls->has_getattribute || names_.size() > std::tuple_size_v<decltype(AttributePlaces::places)>) return false;
  if (!interp.LookupClass(cls, interp.names().__getattr__).IsSame(Torch(interp).names.getattr)) return false;
  for (StrObject* name : names_) {
    if (!interp.LookupClass(cls, name).IsUnbound()) return false;
  }
  return true;
}

Result<Value> SelfAttributes::Find(Interpreter& interp, Value self, StrObject* name, uint16_t* place) {
  DictTable& own = self.object()->attrs->table;
  if (const int64_t at = own.FindStr(name); at >= 0) {
    *place = PlaceOf(0, at);
    return own.entry(static_cast<size_t>(at)).value;
  }
  for (ModuleSlot slot : {kParametersSlot, kBuffersSlot, kModulesSlot}) {
    DictObject* registry = ModuleRegistry(interp, self, slot);
    const int64_t at = registry == nullptr ? -1 : registry->table.FindStr(name);
    if (at < 0) continue;
    *place = PlaceOf(slot, at);
    return registry->table.entry(static_cast<size_t>(at)).value;
  }
  return interp.GetAttr(self, name);
}

Result<void> SelfAttributes::Read(Interpreter& interp, Value self, Value* out) const {
  const bool instance = self.IsInstance() && self.object()->attrs != nullptr;
  AttributePlaces* known = nullptr;
  if (instance) {
    known = &Torch(interp).attribute_places[{this, self.object()->cls}];
    if (known->epoch != interp.state().class_epoch) {
      known->epoch = interp.state().class_epoch;
      known->plain = IsPlainFor(interp, self.object()->cls);
      known->places.fill(kNowhere);
    }
  }
  if (!instance || !known->plain) {
    for (size_t i = 0; i < names_.size(); ++i) COBRA_TRY_SET(out[i], interp.GetAttr(self, names_[i]));
    return {};
  }
  // As long as the table is an unchanged copy from its constructor, a registered name is not in the
  // __dict__ itself.
  DictTable& own = self.object()->attrs->table;
  const bool as_made = own.version() == 1;
  for (size_t i = 0; i < names_.size(); ++i) {
    const uint16_t place = known->places[i];
    const size_t registry = place >> kPositionBits, position = place & ((1 << kPositionBits) - 1);
    if (place != kNowhere && (registry == 0 || as_made)) {
      DictTable* table = &own;
      if (registry != 0) {
        DictObject* dict = ModuleRegistry(interp, self, static_cast<ModuleSlot>(registry));
        table = dict == nullptr ? nullptr : &dict->table;
      }
      if (table != nullptr && position < table->entry_count() && table->entry(position).key.IsSame(Value(names_[i]))) {
        out[i] = table->entry(position).value;
        continue;
      }
    }
    COBRA_TRY_ASSIGN(out[i], Find(interp, self, names_[i], &known->places[i]));
  }
  return {};
}

bool IsLibraryMethod(Value method) { return method.IsFunction() && method.as<FunctionObject>()->unit->internal; }

namespace {

// ---- _forward

class LayerForward final : public NativeBody {
 public:
  Result<void> Declare(Interpreter& interp, FunctionObject* f, const CallArgs& args) {
    runs_text_ = !IsEllipsisOnly(f);
    const Value target = args.positional[0];
    if (target.IsModule()) {
      module_ = target.as<ModuleObject>();
    } else {
      target_slot_ = target.IsStr() ? SlotOf(f, target.str()) : -1;
      if (target_slot_ < 0)
        return interp.Raise(interp.types().ValueError, "_forward() of neither a module nor a parameter");
    }
    name_ = interp.InternStr(args.positional[1].as<StrObject>());
    for (Value v : args.positional.subspan(2)) COBRA_TRY(DeclareArguments(interp, f, nullptr, v));
    for (const KeywordArg& keyword : args.keywords) {
      if (keyword.name->view() == "_where") {
        const auto given = keyword.value.as<TupleObject>()->span();
        condition_ = static_cast<int>(attributes_.size());
        attributes_.Add(interp, interp.InternStr(given[0].as<StrObject>()));
        condition_value_ = given[1];
        runs_text_ = false;
        continue;
      }
      COBRA_TRY(DeclareArguments(interp, f, keyword.name, keyword.value));
    }
    if (attributes_.size() > kMostAttributes)
      return interp.Raise(interp.types().ValueError, "_forward() of too many attributes");
    return {};
  }

  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    if (runs_text_) {
      COBRA_TRY_ASSIGN(Value result, RunText(interp, f, locals));
      if (!result.IsNone()) return result;
    }
    interp.Spend(static_cast<int64_t>(arguments_.size()));
    Value attributes[kMostAttributes];
    if (attributes_.size() > 0) COBRA_TRY(attributes_.Read(interp, locals[0], attributes));
    if (condition_ >= 0) {
      COBRA_TRY_ASSIGN(const bool holds, interp.Equal(attributes[condition_], condition_value_));
      if (!holds) return RunText(interp, f, locals);
    }
    absl::InlinedVector<Value, 12> positional;
    absl::InlinedVector<KeywordArg, 6> keywords;
    for (const Argument& argument : arguments_) {
      const Value v = argument.attribute >= 0 ? attributes[argument.attribute]
                      : argument.slot >= 0    ? locals[argument.slot]
                                              : argument.constant;
      if (argument.keyword == nullptr) {
        positional.push_back(v);
      } else {
        keywords.push_back({argument.keyword, v});
      }
    }
    CallArgs call;
    call.positional = positional;
    call.keywords = keywords;
    if (module_ == nullptr) return interp.CallMethod(locals[target_slot_], name_, call.positional, call.keywords);
    const Value* function = module_->attrs->table.GetStr(name_);
    if (function != nullptr && function->IsBuiltin()) return interp.Call(*function, call);
    COBRA_TRY_ASSIGN(Value found, interp.GetAttr(Value(module_), name_));
    return interp.Call(found, call);
  }

 private:
  static constexpr size_t kMostAttributes = 12;
  struct Argument {
    StrObject* keyword = nullptr;
    int attribute = -1;  // index of an attribute of self
    int slot = -1;
    Value constant;
  };

  // `v`: names of parameters and attributes, or one value that is not a text.
  Result<void> DeclareArguments(Interpreter& interp, FunctionObject* f, StrObject* keyword, Value v) {
    if (!v.IsStr()) {
      arguments_.push_back(interp.heap(), {keyword, -1, -1, v});
      return {};
    }
    for (absl::string_view name : absl::StrSplit(v.str(), ' ')) {
      Argument argument;
      argument.keyword = keyword;
      if (absl::ConsumePrefix(&name, "self.")) {
        argument.attribute = static_cast<int>(attributes_.size());
        attributes_.Add(interp, interp.Intern(name));
      } else {
        argument.slot = SlotOf(f, name);
        if (argument.slot < 0) return interp.Raise(interp.types().ValueError, "_forward(): no parameter ", name);
      }
      arguments_.push_back(interp.heap(), argument);
    }
    return {};
  }

  bool runs_text_ = false;
  ModuleObject* module_ = nullptr;
  int target_slot_ = -1;
  StrObject* name_ = nullptr;
  HeapVector<Argument> arguments_;
  SelfAttributes attributes_;
  int condition_ = -1;  // of _where: the attribute whose value is compared
  Value condition_value_;
};

// ---- _accepts_rank, _body

class RankCheck final : public NativeBody {
 public:
  explicit RankCheck(uint64_t ranks) : ranks_(ranks) {}
  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    const Tensor* tensor = AsTensor(locals[1]);
    if (tensor != nullptr && !IsSeen(interp, locals[1])) {
      if (tensor->type.rank() < 64 && (ranks_ >> tensor->type.rank() & 1) != 0) return Value::None();
      return RunText(interp, f, locals);
    }
    COBRA_TRY_ASSIGN(const Value rank, interp.CallMethod(locals[1], "dim"));
    for (int64_t accepted = 0; accepted < 64; ++accepted) {
      if ((ranks_ >> accepted & 1) == 0) continue;
      COBRA_TRY_ASSIGN(const bool equal, interp.Equal(rank, Value::Int(accepted)));
      if (equal) return Value::None();
    }
    return RunText(interp, f, locals);
  }

 private:
  uint64_t ranks_;
};

class NamedBody final : public NativeBody {
 public:
  NamedBody(Interpreter& interp, LayerBody body, absl::Span<const Value> names) : body_(body) {
    for (Value name : names) names_.push_back(interp.heap(), interp.InternStr(name.as<StrObject>()));
  }
  Result<Value> Run(Interpreter& interp, FunctionObject* f, Value* locals) const override {
    COBRA_TRY_ASSIGN(Value result, body_(interp, f, names_.data(), locals));
    if (!result.IsUnbound()) return result;
    return RunText(interp, f, locals);
  }

 private:
  LayerBody body_;
  HeapVector<StrObject*> names_;
};

// decorator(...)(function): `declare` sets the body of the function.
template <typename Declare>
NativeFunction Decorator(Declare declare) {
  return [declare](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    std::vector<Value> positional(args.positional.begin(), args.positional.end());
    std::vector<KeywordArg> keywords(args.keywords.begin(), args.keywords.end());
    return interp.NewFunction("decorator", [=](Interpreter& interp, const CallArgs& given) -> Result<Value> {
      auto* f = given.positional[0].as<FunctionObject>();
      CallArgs declared;
      declared.positional = positional;
      declared.keywords = keywords;
      COBRA_TRY_ASSIGN(f->body, declare(interp, f, declared));
      return given.positional[0];
    });
  };
}

}  // namespace

void DefineLayerDecorators(NativeModuleBuilder& m) {
  m.Function("_init", Decorator(DeclareInit));
  m.Function("_conv_init", Decorator(DeclareConvInit));
  m.Function("_batch_norm", Decorator(DeclareBatchNorm));
  m.Function("_forward",
             Decorator([](Interpreter& interp, FunctionObject* f, const CallArgs& args) -> Result<const NativeBody*> {
               auto* forward = interp.heap().New<LayerForward>();
               COBRA_TRY(forward->Declare(interp, f, args));
               return forward;
             }));
  m.Function("_accepts_rank",
             Decorator([](Interpreter& interp, FunctionObject*, const CallArgs& args) -> Result<const NativeBody*> {
               uint64_t ranks = 0;
               for (Value rank : args.positional) ranks |= uint64_t{1} << rank.as_int();
               return interp.heap().New<RankCheck>(ranks);
             }));
  m.Function("_body",
             Decorator([](Interpreter& interp, FunctionObject*, const CallArgs& args) -> Result<const NativeBody*> {
               const LayerBody body = FindLayerBody(args.positional[0].str());
               if (body == nullptr)
                 return interp.Raise(interp.types().ValueError, "no body ", args.positional[0].str());
               return interp.heap().New<NamedBody>(interp, body, args.positional.subspan(1));
             }));
}

}  // namespace cobra::python
