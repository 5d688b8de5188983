// Defines Python functions, classes and modules in C++. For authors of native modules
// (frontend/python/torch, stdlib_*.cc):
//
// A FUNCTION. Any callable Result<Value>(Interpreter&, const CallArgs&). Read the arguments with an
// ArgReader, which writes every arity and type error once:
//
//   Result<Value> Relu(Interpreter& interp, const CallArgs& args) {
//     Tensor* input;                                // see ArgConverter below for your own types
//     bool inplace = false;
//     COBRA_TRY(ArgReader(interp, "relu", args)
//                   .Required("input", &input)
//                   .Optional("inplace", &inplace)
//                   .Finish());
//     ...
//     return value;
//   }
//
// A MODULE. Fill a NativeModule and put it into a NativeRegistry given to the Interpreter; Define
// runs at the first import:
//
//   registry.Add({"torch.nn.functional", [](Interpreter& interp, NativeModuleBuilder& m) -> Result<void> {
//     m.Function("relu", Relu);
//     m.Value("pi", Value::Float(3.14));
//     m.Source(R"py(... Python text, run after the above with the module as its globals ...)py");
//     return {};
//   }});
//   Parents ("torch", "torch.nn") must be in the registry too; an attribute "nn" missing from
//   module torch is looked for as the native module "torch.nn", so that `import torch; torch.nn`
//   works without listing children. m.GetAttrHook(f) is PEP 562's __getattr__.
//
// A CLASS.
//
//   ClassObject* module_class = m.Class("Module", {interp.types().object})
//       .Payload([](Interpreter& interp) -> NativeObject* { return interp.heap().New<ModulePayload>(); })
//       .Method("__init__", ModuleInit)            // args.self is the instance; args.positional
//                                                  // starts after it
//       .Method("__call__", ModuleCall)
//       .Method("__getattr__", ModuleGetAttr)      // called when normal lookup fails, as in Python
//       .Method("__setattr__", ModuleSetAttr)      // called for every assignment; fall back:
//                                                  // interp.ObjectSetAttr()
//       .Property("shape", ShapeGet)               // optional second function: setter
//       .StaticMethod("f", F).ClassMethod("g", G)  // args.self of a class method is the class
//       .Attribute("dump_patches", Value::Bool(false))
//       .Build();
//
//   - object.__new__ makes an instance and calls Payload's factory before any __init__ runs, for
//     user subclasses too, so interp.Payload<ModulePayload>(args.self) is always there even before
//     super().__init__().
//   - Instances keep their Python attributes in object()->attrs (a DictObject); generic access is
//     interp.GetAttr/SetAttr.
//   - .New(f) replaces object.__new__ (args.self is the class): for types whose constructor returns
//     existing objects.
//   - Operators are methods: "__add__", "__radd__", "__iadd__", "__getitem__", "__len__",
//     "__bool__", "__iter__", "__eq__", ... Return Value::NotImplemented() to let the other operand
//     try. Iterators: return interp.NewIterator(heap.New<MyIterator>()).
//   - User classes may derive from it: MRO, super() and overriding work as for Python classes.
//   - To make an instance from C++: interp.NewInstance(cls, payload) (no __init__ runs), or
//     interp.Call(cls, {...}).
//
// CALLING BACK: interp.Call(f, {a, b}), interp.CallMethod(v, "forward", {x}), interp.GetAttr(v,
// "weight"), interp.Iterate(v, fn), ... (interpreter.h).
// LOOPS over amounts the program chose: COBRA_TRY(interp.Step()) in each turn.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NATIVE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NATIVE_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/heap/value.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

// Converts an argument to T. `what` is for the message: "argument 'stride'". Specialize for your
// own types:
//   template <> struct ArgConverter<Tensor*> {
//     static bool Convert(Interpreter& interp, Value v, Tensor** out) {
//       *out = NativeCast<Tensor>(v);
//       return *out != nullptr;
//     }
//     static absl::string_view Expected() { return "Tensor"; }
//   };
// Convert returns false for "wrong type": the reader then raises TypeError
//   conv2d(): argument 'input' must be Tensor, not str
// unless an error is pending already (interp.HasError()). With Failable conversions, raise yourself
// and return false.
template <typename T>
struct ArgConverter;

template <>
struct ArgConverter<Value> {
  static bool Convert(Interpreter&, Value v, Value* out) { return *out = v, true; }
  static absl::string_view Expected() { return "object"; }
};
template <>
struct ArgConverter<int64_t> {  // int, bool, and whatever has __index__; not float
  static bool Convert(Interpreter& interp, Value v, int64_t* out);
  static absl::string_view Expected() { return "int"; }
};
template <>
struct ArgConverter<double> {  // float, int, bool, and whatever has __float__
  static bool Convert(Interpreter& interp, Value v, double* out);
  static absl::string_view Expected() { return "float"; }
};
template <>
struct ArgConverter<bool> {  // by truth value, as PyTorch's constructors do
  static bool Convert(Interpreter& interp, Value v, bool* out);
  static absl::string_view Expected() { return "bool"; }
};
template <>
struct ArgConverter<absl::string_view> {
  static bool Convert(Interpreter& interp, Value v, absl::string_view* out) {
    return v.IsStr() ? (interp.Spend(StepsToCopy(v.str().size())), *out = v.str(), true) : false;
  }
  static absl::string_view Expected() { return "str"; }
};
template <>
struct ArgConverter<std::string> {
  static bool Convert(Interpreter& interp, Value v, std::string* out) {
    if (!v.IsStr()) return false;
    interp.Spend(StepsToCopy(v.str().size()));
    return out->assign(v.str().data(), v.str().size()), true;
  }
  static absl::string_view Expected() { return "str"; }
};
template <>
struct ArgConverter<StrObject*> {
  static bool Convert(Interpreter&, Value v, StrObject** out) {
    return v.IsStr() ? (*out = v.as<StrObject>(), true) : false;
  }
  static absl::string_view Expected() { return "str"; }
};
template <>
struct ArgConverter<ListObject*> {
  static bool Convert(Interpreter&, Value v, ListObject** out) {
    return v.IsList() ? (*out = v.as<ListObject>(), true) : false;
  }
  static absl::string_view Expected() { return "list"; }
};
template <>
struct ArgConverter<DictObject*> {
  static bool Convert(Interpreter&, Value v, DictObject** out) {
    return v.IsDict() ? (*out = v.as<DictObject>(), true) : false;
  }
  static absl::string_view Expected() { return "dict"; }
};
template <typename T>
struct ArgConverter<std::optional<T>> {  // None becomes nullopt
  static bool Convert(Interpreter& interp, Value v, std::optional<T>* out) {
    if (v.IsNone()) return out->reset(), true;
    T value{};
    if (!ArgConverter<T>::Convert(interp, v, &value)) return false;
    *out = std::move(value);
    return true;
  }
  static absl::string_view Expected() { return ArgConverter<T>::Expected(); }
};
template <typename T>
struct ArgConverter<std::vector<T>> {  // a list or tuple
  static bool Convert(Interpreter& interp, Value v, std::vector<T>* out) {
    absl::Span<const Value> items;
    if (v.IsTuple()) {
      items = v.as<TupleObject>()->span();
    } else if (v.IsList()) {
      items = absl::MakeConstSpan(v.as<ListObject>()->items.data(), v.as<ListObject>()->items.size());
    } else {
      return false;
    }
    interp.Spend(static_cast<int64_t>(items.size()) / 4);
    out->clear();
    for (Value item : items) {
      T value{};
      if (!ArgConverter<T>::Convert(interp, item, &value)) return false;
      out->push_back(std::move(value));
    }
    return true;
  }
  static absl::string_view Expected() { return "list or tuple"; }
};

// Parameters are declared in order, like a signature:
//   reader.Required("input", &x).Optional("dim", &dim).KeywordOnly().Optional("dtype", &dtype).Finish()
// After an error every call does nothing, and Finish() returns the failure.
class ArgReader {
 public:
  // Includes neither self nor the class: they are args.self.
  ArgReader(Interpreter& interp, absl::string_view function_name, const CallArgs& args)
      : interp_(interp), name_(function_name), args_(args) {}

  template <typename T>
  ArgReader& Required(absl::string_view name, T* out) {
    Value v;
    if (Take(name, /*required=*/true, &v) && !ArgConverter<T>::Convert(interp_, v, out))
      BadType(name, v, ArgConverter<T>::Expected());
    return *this;
  }
  // `*out` keeps its value if the argument is absent.
  template <typename T>
  ArgReader& Optional(absl::string_view name, T* out) {
    Value v;
    if (Take(name, /*required=*/false, &v) && !ArgConverter<T>::Convert(interp_, v, out))
      BadType(name, v, ArgConverter<T>::Expected());
    return *this;
  }
  // Parameters declared so far are positional-only.
  ArgReader& PositionalOnly();
  // Parameters declared after this are keyword-only.
  ArgReader& KeywordOnly();
  // *args: the remaining positional arguments; parameters declared after this are keyword-only.
  ArgReader& VarArgs(absl::Span<const Value>* out);
  // **kwargs: the keywords not declared; must come last.
  ArgReader& KwArgs(std::vector<KeywordArg>* out);
  // Accepts and ignores all other keywords.
  ArgReader& IgnoreKwArgs();
  // Whether the argument was given (by position or keyword). Valid after it was declared.
  bool Given(absl::string_view name) const;
  Result<void> Finish();

 private:
  bool Take(absl::string_view name, bool required, Value* out) {
    if (next_ >= args_.positional.size() || !args_.keywords.empty() || failed_ || keyword_only_)
      return TakeOther(name, required, out);
    *out = args_.positional[next_++];
    ++declared_positional_;
    given_.push_back(name);
    return true;
  }
  bool TakeOther(absl::string_view name, bool required, Value* out);
  void BadType(absl::string_view name, Value got, absl::string_view expected);

  Interpreter& interp_;
  absl::string_view name_;
  const CallArgs& args_;
  size_t next_ = 0;
  size_t declared_positional_ = 0;
  uint64_t used_keywords_ = 0;  // bit i: args_.keywords[i] is taken; more than 64 keywords are rejected by Finish
  absl::InlinedVector<absl::string_view, 16> given_;
  bool keyword_only_ = false;
  bool takes_kw_args_ = false;
  bool failed_ = false;
};

// The argument of a function that takes only this one.
template <typename T = Value>
Result<T> OnlyArgument(Interpreter& interp, absl::string_view function_name, absl::string_view name,
                       const CallArgs& args) {
  T value{};
  COBRA_TRY(ArgReader(interp, function_name, args).Required(name, &value).Finish());
  return value;
}

class NativeClassBuilder {
 public:
  NativeClassBuilder(Interpreter& interp, ModuleObject* module, absl::string_view name,
                     std::vector<ClassObject*> bases);
  NativeClassBuilder& Payload(NativeFactory factory);
  NativeClassBuilder& New(NativeFunction function);
  NativeClassBuilder& Method(absl::string_view name, NativeFunction function);
  NativeClassBuilder& ClassMethod(absl::string_view name, NativeFunction function);
  NativeClassBuilder& StaticMethod(absl::string_view name, NativeFunction function);
  NativeClassBuilder& Property(absl::string_view name, NativeFunction getter, NativeFunction setter = nullptr);
  NativeClassBuilder& Attribute(absl::string_view name, Value value);
  NativeClassBuilder& Doc(absl::string_view text);
  NativeClassBuilder& Final();  // programs cannot derive from it
  // Programs may set attributes on the class (they can on Python classes; not on native ones unless
  // this is called).
  NativeClassBuilder& Mutable();
  // The class under construction, for methods that need it; complete after Build().
  ClassObject* get() const { return class_; }
  ClassObject* Build();

 private:
  Interpreter& interp_;
  ClassObject* class_;
};

class NativeModuleBuilder {
 public:
  NativeModuleBuilder(Interpreter& interp, ModuleObject* module) : interp_(interp), module_(module) {}
  ModuleObject* module() const { return module_; }
  NativeModuleBuilder& Function(absl::string_view name, NativeFunction function);
  NativeModuleBuilder& Value(absl::string_view name, python::Value value);
  // The class is also bound to its name in the module.
  NativeClassBuilder Class(absl::string_view name, std::vector<ClassObject*> bases = {});
  // Called with the attribute's name (a str) when the module has no such attribute; raise
  // AttributeError for "no such name".
  NativeModuleBuilder& GetAttrHook(NativeFunction function);
  // Python text run once Define has returned, with this module's globals. `text` must outlive the
  // interpreter (a literal).
  NativeModuleBuilder& Source(absl::string_view text);
  const std::vector<absl::string_view>& sources() const { return sources_; }

 private:
  Interpreter& interp_;
  ModuleObject* module_;
  std::vector<absl::string_view> sources_;
};

// Number of targets of the statement `a, b = x`, for use at the start of x.__iter__(); 0 if any
// number is accepted.
int64_t TakeUnpackCount(Interpreter& interp);
// The globals of the caller of the running function; null if there is none.
DictObject* CallerGlobals(Interpreter& interp);

struct NativeModule {
  std::string name;  // dotted
  std::function<Result<void>(Interpreter&, NativeModuleBuilder&)> define;
  // For a top-level package ("torch"): modules and names inside it that are not registered exist,
  // but are unknown. Importing one gives an opaque value, whose use is rejected as unsupported,
  // instead of an ImportError.
  bool open = false;
  // For an open package, optional: whether its version has the module. A missing module cannot be
  // imported under `try`, where the program handles that case itself. Elsewhere it can be imported,
  // because the program may not use it.
  std::function<bool(Interpreter&, absl::string_view)> has_module = nullptr;
  // Optional: the Python text that `define` hands to Source(), for parse_ahead.h.
  absl::string_view source = "";
};

// Immutable once interpreters use it; shared by all of them.
class NativeRegistry {
 public:
  void Add(NativeModule module);
  const NativeModule* Find(absl::string_view name) const;
  // Whether `name` or a module inside it is native; library roots are then not searched for it.
  bool Covers(absl::string_view name) const;
  std::vector<std::string> NamesUnder(absl::string_view prefix) const;

 private:
  std::map<std::string, NativeModule, std::less<>> modules_;
};

// math, functools, collections, ... (stdlib_*.cc and stdlib/).
void AddStandardLibrary(NativeRegistry* registry);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_NATIVE_H_
