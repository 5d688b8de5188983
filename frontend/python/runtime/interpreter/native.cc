// Reading arguments, and the builders of native classes and modules.
#include "frontend/python/runtime/interpreter/native.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

bool ArgConverter<int64_t>::Convert(Interpreter& interp, Value v, int64_t* out) {
  if (v.IsIntOrBool()) return *out = v.as_int(), true;
  if (!v.IsObject()) return false;
  if (!v.IsBigInt() && interp.LookupClass(v.object()->cls, interp.names().__index__).IsUnbound()) return false;
  Result<int64_t> i = interp.Index(v);
  if (i.ok()) *out = *i;
  return i.ok();
}

bool ArgConverter<double>::Convert(Interpreter& interp, Value v, double* out) {
  if (NumberAsDouble(v, out)) return true;
  if (!v.IsObject() || v.IsStr()) return false;
  if (interp.LookupClass(v.object()->cls, interp.names().__float__).IsUnbound()) return false;
  Result<double> d = interp.AsFloat(v);
  if (d.ok()) *out = *d;
  return d.ok();
}

bool ArgConverter<bool>::Convert(Interpreter& interp, Value v, bool* out) {
  Result<bool> b = interp.Truth(v);
  if (b.ok()) *out = *b;
  return b.ok();
}

bool ArgReader::TakeOther(absl::string_view name, bool required, Value* out) {
  if (failed_) return false;
  if (!keyword_only_) {
    ++declared_positional_;
    if (next_ < args_.positional.size()) {
      *out = args_.positional[next_++];
      for (size_t i = 0; i < args_.keywords.size(); ++i) {
        if (args_.keywords[i].name->view() == name) {
          (void)interp_.Raise(interp_.types().TypeError, name_, "() got multiple values for argument '", name, "'");
          failed_ = true;
          return false;
        }
      }
      given_.push_back(name);
      return true;
    }
  }
  for (size_t i = 0; i < args_.keywords.size() && i < 64; ++i) {
    if (args_.keywords[i].name->view() == name) {
      used_keywords_ |= uint64_t{1} << i;
      *out = args_.keywords[i].value;
      given_.push_back(name);
      return true;
    }
  }
  if (required) {
    (void)interp_.Raise(interp_.types().TypeError, name_, "() missing required argument '", name, "' (pos ",
                        declared_positional_, ")");
    failed_ = true;
  }
  return false;
}

void ArgReader::BadType(absl::string_view name, Value got, absl::string_view expected) {
  failed_ = true;
  if (interp_.HasError()) return;
  if (got.IsOpaque()) {
    (void)OpaqueUsed(interp_, got.as<OpaqueObject>()->dotted_name->view(), absl::StrCat(name_, "() of "));
    return;
  }
  (void)interp_.Raise(interp_.types().TypeError, name_, "(): argument '", name, "' must be ", expected, ", not ",
                      interp_.TypeName(got));
}

ArgReader& ArgReader::PositionalOnly() { return *this; }

ArgReader& ArgReader::KeywordOnly() {
  keyword_only_ = true;
  return *this;
}

ArgReader& ArgReader::VarArgs(absl::Span<const Value>* out) {
  *out = args_.positional.subspan(std::min(next_, args_.positional.size()));
  next_ = args_.positional.size();
  keyword_only_ = true;
  return *this;
}

ArgReader& ArgReader::KwArgs(std::vector<KeywordArg>* out) {
  for (size_t i = 0; i < args_.keywords.size(); ++i) {
    if (i >= 64 || !(used_keywords_ >> i & 1)) out->push_back(args_.keywords[i]);
  }
  takes_kw_args_ = true;
  return *this;
}

ArgReader& ArgReader::IgnoreKwArgs() {
  takes_kw_args_ = true;
  return *this;
}

bool ArgReader::Given(absl::string_view name) const {
  for (absl::string_view g : given_) {
    if (g == name) return true;
  }
  return false;
}

Result<void> ArgReader::Finish() {
  if (failed_) return Failure();
  if (next_ < args_.positional.size()) {
    std::string takes = declared_positional_ == 0 ? "no arguments"
                                                  : absl::StrCat("at most ", declared_positional_, " argument",
                                                                 declared_positional_ == 1 ? "" : "s");
    return interp_.Raise(interp_.types().TypeError, name_, "() takes ", takes, " (", args_.positional.size(),
                         " given)");
  }
  if (takes_kw_args_) return {};
  for (size_t i = 0; i < args_.keywords.size(); ++i) {
    if (i < 64 && (used_keywords_ >> i & 1)) continue;
    return interp_.Raise(interp_.types().TypeError, name_, "() got an unexpected keyword argument '",
                         args_.keywords[i].name->view(), "'");
  }
  return {};
}

// ---- classes ----

namespace {
BuiltinObject* NewMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function) {
  BuiltinObject* b = NewBuiltin(interp, name, std::move(function));
  b->cls = interp.types().method_descriptor;
  b->qualname = interp.NewStr(absl::StrCat(cls->name->view(), ".", name));
  b->owner = cls;
  b->is_method = true;
  return b;
}
}  // namespace

void AddMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function) {
  cls->attrs->table.SetStr(interp.heap(), interp.Intern(name), NewMethod(interp, cls, name, std::move(function)));
}

void AddStaticMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function) {
  auto* s = interp.heap().New<StaticMethodObject>();
  s->cls = interp.types().staticmethod;
  s->function = NewBuiltin(interp, name, std::move(function));
  cls->attrs->table.SetStr(interp.heap(), interp.Intern(name), s);
}

void AddClassMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function) {
  auto* c = interp.heap().New<ClassMethodObject>();
  c->cls = interp.types().classmethod;
  BuiltinObject* b = NewMethod(interp, cls, name, std::move(function));
  b->owner = nullptr;  // self is the class
  c->function = b;
  cls->attrs->table.SetStr(interp.heap(), interp.Intern(name), c);
}

void SetNativeNew(Interpreter& interp, ClassObject* cls, const NativeFunction& function) {
  cls->native_new = HeapNativeFunction(interp.heap(), function);
  AddStaticMethod(interp, cls, "__new__", [function](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.empty() || !args.positional[0].IsClass())
      return interp.Raise(interp.types().TypeError, "__new__(): not enough arguments");
    CallArgs rest = args;
    rest.self = args.positional[0];
    rest.positional.remove_prefix(1);
    return function(interp, rest);
  });
}

void AddProperty(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction getter,
                 NativeFunction setter) {
  Value get = NewMethod(interp, cls, name, std::move(getter));
  Value set = setter ? Value(NewMethod(interp, cls, name, std::move(setter))) : Value::None();
  cls->attrs->table.SetStr(interp.heap(), interp.Intern(name), interp.NewProperty(get, set));
}

NativeClassBuilder::NativeClassBuilder(Interpreter& interp, ModuleObject* module, absl::string_view name,
                                       std::vector<ClassObject*> bases)
    : interp_(interp) {
  if (bases.empty()) bases.push_back(interp.types().object);
  class_ = NewBuiltinClass(interp, name, bases[0], bases[0]->layout);
  if (bases.size() > 1) {
    for (size_t i = 1; i < bases.size(); ++i) bases[i]->subclasses.push_back(interp.heap(), class_);
    class_->bases.assign(interp.heap(), bases);
    (void)ComputeMro(interp, class_);  // cannot fail: the bases are built-in classes
    for (ClassObject* base : class_->bases) {
      if (base->payload && !class_->payload) class_->payload = base->payload;
    }
  }
  if (module != nullptr) {
    class_->module = module->name;
    module->attrs->table.SetStr(interp.heap(), interp.Intern(name), class_);
  }
}

NativeClassBuilder& NativeClassBuilder::Payload(NativeFactory factory) {
  class_->payload = {interp_.heap(), std::move(factory)};
  return *this;
}

NativeClassBuilder& NativeClassBuilder::New(NativeFunction function) {
  SetNativeNew(interp_, class_, std::move(function));
  return *this;
}

NativeClassBuilder& NativeClassBuilder::Method(absl::string_view name, NativeFunction function) {
  AddMethod(interp_, class_, name, std::move(function));
  return *this;
}
NativeClassBuilder& NativeClassBuilder::ClassMethod(absl::string_view name, NativeFunction function) {
  AddClassMethod(interp_, class_, name, std::move(function));
  return *this;
}
NativeClassBuilder& NativeClassBuilder::StaticMethod(absl::string_view name, NativeFunction function) {
  AddStaticMethod(interp_, class_, name, std::move(function));
  return *this;
}
NativeClassBuilder& NativeClassBuilder::Property(absl::string_view name, NativeFunction getter, NativeFunction setter) {
  AddProperty(interp_, class_, name, std::move(getter), std::move(setter));
  return *this;
}
NativeClassBuilder& NativeClassBuilder::Attribute(absl::string_view name, Value value) {
  class_->attrs->table.SetStr(interp_.heap(), interp_.Intern(name), value);
  return *this;
}
NativeClassBuilder& NativeClassBuilder::Doc(absl::string_view text) {
  return Attribute("__doc__", interp_.NewStr(text));
}
NativeClassBuilder& NativeClassBuilder::Final() {
  class_->is_final = true;
  return *this;
}
NativeClassBuilder& NativeClassBuilder::Mutable() {
  class_->is_native = false;
  return *this;
}
ClassObject* NativeClassBuilder::Build() {
  DictTable& table = class_->attrs->table;
  if (table.GetStr(interp_.names().__eq__) != nullptr && table.GetStr(interp_.names().__hash__) == nullptr) {
    table.SetStr(interp_.heap(), interp_.names().__hash__, Value::None());
  }
  interp_.state().class_epoch = ++interp_.state().last_class_epoch;
  UpdateClassFlags(interp_, class_);
  return class_;
}

// ---- modules ----

NativeModuleBuilder& NativeModuleBuilder::Function(absl::string_view name, NativeFunction function) {
  BuiltinObject* b = NewBuiltin(interp_, name, std::move(function));
  b->module = module_->name;
  return Value(name, b);
}
NativeModuleBuilder& NativeModuleBuilder::Value(absl::string_view name, python::Value value) {
  module_->attrs->table.SetStr(interp_.heap(), interp_.Intern(name), value);
  return *this;
}
NativeClassBuilder NativeModuleBuilder::Class(absl::string_view name, std::vector<ClassObject*> bases) {
  return NativeClassBuilder(interp_, module_, name, std::move(bases));
}
NativeModuleBuilder& NativeModuleBuilder::GetAttrHook(NativeFunction function) {
  module_->getattr_hook = NewBuiltin(interp_, "__getattr__", std::move(function));
  return *this;
}
NativeModuleBuilder& NativeModuleBuilder::Source(absl::string_view text) {
  sources_.push_back(text);
  return *this;
}

void NativeRegistry::Add(NativeModule module) {
  std::string name = module.name;
  modules_[name] = std::move(module);
}
const NativeModule* NativeRegistry::Find(absl::string_view name) const {
  auto it = modules_.find(std::string(name));
  return it == modules_.end() ? nullptr : &it->second;
}
std::vector<std::string> NativeRegistry::NamesUnder(absl::string_view prefix) const {
  std::vector<std::string> names;
  for (auto it = modules_.lower_bound(prefix); it != modules_.end() && absl::StartsWith(it->first, prefix); ++it)
    names.push_back(it->first);
  return names;
}
bool NativeRegistry::Covers(absl::string_view name) const {
  while (true) {
    if (Find(name) != nullptr) return true;
    size_t dot = name.rfind('.');
    if (dot == absl::string_view::npos) return false;
    name = name.substr(0, dot);
  }
}

}  // namespace cobra::python
