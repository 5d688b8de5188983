// The Python interpreter: its state, and the API for drivers and native modules.
//
// Driver:
//   NativeRegistry natives; AddStandardLibrary(&natives); AddTorch(&natives);        // once per
//                                                                                    // process
//   InterpreterOptions options; options.natives = &natives;
//   options.bundle = {{"model.py", text}}; options.library_roots = {...};
//   COBRA_ASSIGN_OR_RETURN(auto interp, Interpreter::Create(std::move(options)));
//   absl::Status status = interp->Run([&](Interpreter& interp) -> Result<void> {
//     COBRA_TRY_ASSIGN(ModuleObject * module, interp.LoadFile("model.py"));
//     COBRA_TRY_ASSIGN(Value model, interp.EvalExpression("resnet50(num_classes=10)", module));
//     COBRA_TRY_ASSIGN(Value out, interp.CallMethod(model, "forward", {x}));
//     return {};
//   });   // a Diagnostic (base/diagnostic.h) if it failed
//
// Everything that returns a Result must be called inside Run, which supplies a native stack of
// known size. An Interpreter is used by one thread at a time. Steps and bytes of several Runs are
// added; wall time is counted for each Run.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERPRETER_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERPRETER_H_

#include <chrono>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/diagnostic.h"
#include "base/limits.h"
#include "frontend/python/runtime/heap/heap.h"
#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/heap/value.h"

namespace cobra::python {

class Coroutine;
class Importer;

// The default hint of an uncaught exception.
inline constexpr char kPythonRaisesToo[] = "Python raises this too; if the model runs in PyTorch, please report it";

class NativeRegistry;
struct RuntimeState;  // internal.h

struct KeywordArg {
  StrObject* name;
  Value value;
};

// Steps of work on `n` bytes: comparing, copying or hashing them (0.1 ns each), or looking at them
// one by one.
inline constexpr int64_t StepsToCopy(size_t n) { return static_cast<int64_t>(n / 256); }
inline constexpr int64_t StepsToScan(size_t n) { return static_cast<int64_t>(n / 16); }

// The arguments of one call, borrowed for its duration.
struct CallArgs {
  Value self = Value::Unbound();  // of a method: the instance (of a class method: the class)
  absl::Span<const Value> positional;
  absl::Span<const KeywordArg> keywords;
};

// A source of library files: a directory, or files from a client.
class FileSource {
 public:
  virtual ~FileSource() = default;
  // Paths are relative to the root, with '/'. NotFound if there is no such file.
  virtual absl::StatusOr<std::string> Read(absl::string_view path) const = 0;
  virtual bool IsFile(absl::string_view path) const = 0;
  virtual bool IsDirectory(absl::string_view path) const = 0;
  // The names in a folder, in order; those of folders end with '/'. NotFound if there is no such
  // folder.
  virtual absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const = 0;
  // Changes when the file changes; 0 for files that cannot change.
  virtual uint64_t Stamp(absl::string_view path) const { return 0; }
  // Whether this is the package of the model's file and not an installed one.
  virtual bool is_users() const { return false; }
  // The name of the file in messages and in __file__.
  virtual std::string DisplayName(absl::string_view path) const = 0;
};
std::shared_ptr<const FileSource> DirectorySource(std::string root);
std::shared_ptr<const FileSource> MemorySource(std::map<std::string, std::string> files, std::string display_root = "");

struct InterpreterOptions {
  Limits limits;
  // The user's files, path -> text; their root is on the import path before library_roots.
  std::map<std::string, std::string> bundle;
  std::vector<std::shared_ptr<const FileSource>> library_roots;
  const NativeRegistry* natives = nullptr;  // not owned; must outlive the interpreter
  std::string torch_version;                // for the torch modules
  void* host = nullptr;                     // for native modules: interp.host<GraphState>()
};

// Every built-in class, by its C++ name: interp.types().ValueError.
struct BuiltinTypes {
#define COBRA_BUILTIN_TYPE(name, python_name) ClassObject* name = nullptr;
#define COBRA_EXCEPTION_TYPE(name, base) ClassObject* name = nullptr;
#include "frontend/python/runtime/interpreter/builtin_types.def"
#undef COBRA_BUILTIN_TYPE
#undef COBRA_EXCEPTION_TYPE
};

// Interned names that the runtime itself uses: interp.names().__init__.
struct CommonNames {
#define COBRA_NAME(name) StrObject* name = nullptr;
#include "frontend/python/runtime/interpreter/names.def"
#undef COBRA_NAME
  StrObject* throw_ = nullptr;  // a keyword of C++
};

// What is charged for a step: the model, or the libraries that it imports (Limits::library_steps).
enum class StepAccount : uint8_t { kProgram, kLibrary };

class Interpreter {
 public:
  static absl::StatusOr<std::unique_ptr<Interpreter>> Create(InterpreterOptions options);
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Runs `body` on the interpreter's own stack; turns its failure into a Diagnostic status.
  absl::Status Run(absl::FunctionRef<Result<void>(Interpreter&)> body);

  // ---- images (image.cc): imported libraries, shared by the runs that come after each other ----
  // Makes the current state, with its imports, the state that Rollback() restores. Call outside of
  // Run. False if that is impossible.
  bool Freeze();
  // Discards everything since Freeze(): objects, changes to imported modules, output, generators.
  // False if the image was damaged (heap.h): then the interpreter must be destroyed.
  bool Rollback();
  // The files and limits of the next run. Limits of sizes (memory, stack) stay those of Create.
  void StartRequest(std::map<std::string, std::string> bundle, const Limits& limits);
  Importer& importer();
  int64_t steps_used(StepAccount account = StepAccount::kProgram) const {
    return account == step_account_ ? steps_used_ - steps_until_check_ : other_steps_used_;
  }

  // ---- modules (import.cc) ----
  Result<ModuleObject*> ImportModule(absl::string_view dotted_name);
  // Loads a file of the bundle (by its path in it) or of a library root as a module.
  Result<ModuleObject*> LoadFile(absl::string_view path);
  // In the module's globals.
  Result<Value> EvalExpression(absl::string_view text, ModuleObject* module);
  const std::string& captured_output() const { return output_; }
  Result<void> Print(absl::string_view text);  // appends to captured_output

  // ---- making values ----
  Heap& heap() { return heap_; }
  const Heap& heap() const { return heap_; }
  const BuiltinTypes& types() const { return types_; }
  const CommonNames& names() const { return names_; }
  StrObject* NewStr(absl::string_view utf8);
  StrObject* Intern(absl::string_view text);  // for attribute names: lookups by interned strings are fastest
  StrObject* InternStr(StrObject* s);
  BytesObject* NewBytes(absl::string_view bytes);
  TupleObject* NewTuple(absl::Span<const Value> items);
  TupleObject* NewTuple(std::initializer_list<Value> items) {
    return NewTuple(absl::MakeConstSpan(items.begin(), items.size()));
  }
  TupleObject* NewTupleOfSize(int64_t size);  // items are None
  ListObject* NewList(absl::Span<const Value> items = {});
  DictObject* NewDict();
  SetObject* NewSet(bool frozen = false);
  Value NewInt(const BigInt& value);  // a 64-bit Value if it fits
  Value NewComplex(double real, double imag);
  SliceObject* NewSlice(Value start, Value stop, Value step);
  Result<Value> NewRange(int64_t start, int64_t stop, int64_t step);
  Value NewFunction(absl::string_view name, NativeFunction function);
  Value NewIterator(NativeIterator* iterator);  // allocate it with heap().New<T>()
  Value NewBoundMethod(Value self, Value function);
  Value NewProperty(Value getter, Value setter = Value::None());
  // An instance without running __init__. With a null payload, the class's own factory makes one.
  InstanceObject* NewInstance(ClassObject* cls, NativeObject* payload = nullptr);
  Value NewException(ClassObject* cls, absl::string_view message);
  // type(name, bases, namespace): __set_name__ and __init_subclass__ run.
  Result<ClassObject*> NewClass(absl::string_view name, absl::Span<const Value> bases, DictObject* attributes,
                                absl::Span<const KeywordArg> keywords = {});

  // ---- errors ----
  Failure Raise(ClassObject* exception_class, absl::string_view message);
  // The message in parts.
  template <typename First, typename Second, typename... Rest>
  Failure Raise(ClassObject* exception_class, const First& first, const Second& second, const Rest&... rest) {
    return Raise(exception_class, absl::StrCat(first, second, rest...));
  }
  Failure RaiseValue(Value exception);
  // An unsupported feature; `what` names it as the user wrote it: "torch.fft.rfft". Not catchable
  // by the program. `missing_module`: the import that was not found, if that is the reason
  // ("timm.layers").
  Failure Unsupported(absl::string_view what, absl::string_view hint = "", absl::string_view missing_module = "");
  // The same for something that was not found; `message` is the complete message.
  Failure NotFound(absl::string_view message, absl::string_view hint, absl::string_view missing_module);
  // Control flow or a shape that depends on tensor values. Not catchable.
  Failure DataDependent(absl::string_view what, absl::string_view hint = "");
  Failure LimitReached(absl::string_view what, absl::string_view hint = "");
  // The same for an int of more than big_int_bits, and for a program that needs more than
  // memory_bytes.
  Failure IntTooLarge();
  Failure OutOfMemory(absl::string_view hint = "");
  // From graph or base: a Diagnostic of kind kModelError or a plain InvalidArgument becomes a
  // Python RuntimeError, as in PyTorch; anything else is a failure that is not catchable. REQUIRES:
  // !status.ok().
  Failure FromStatus(const absl::Status& status);
  bool HasError() const { return !pending_exception_.IsUnbound() || failure_ != nullptr; }
  // If a Python exception of that class is pending, clears it and returns true. (For "try: ...
  // except X" in C++.)
  bool CatchException(ClassObject* cls, Value* exception = nullptr);
  // File, line and column of the innermost Python frame, for the graph's nodes.
  SourcePosition CurrentPosition() const;
  // The Python call chain, outermost first, for messages.
  std::vector<DiagnosticFrame> CurrentFrames() const;

  // Counts one step. Call it in every iteration of a native loop whose count the program chose.
  Result<void> Step() {
    if (--steps_until_check_ > 0 && !heap_.exhausted()) return {};
    return StepSlow();
  }
  // Counts work whose amount the program chose, in steps (about 50 ns each); the limit is checked
  // at the next Step(). Charge() is for amounts that could exceed the limit by themselves, and
  // fails before the work is done.
  void Spend(int64_t steps) { steps_until_check_ -= steps; }
  Result<void> Charge(int64_t steps) {
    steps_until_check_ -= steps;
    if (steps_until_check_ > 0 && !heap_.exhausted()) return {};
    return StepSlow();
  }
  // What follows is counted on `account`; returns the one before.
  StepAccount CountStepsOn(StepAccount account);
  // Call before creating a str, list or tuple of that many items.
  Result<void> CheckSize(int64_t items, int64_t bytes_per_item = 16);
  // Recursion in native code on the program's data (repr of nested lists): RecursionError when the
  // stack runs low.
  Result<void> CheckStack() {
    if (static_cast<const char*>(__builtin_frame_address(0)) > stack_low_) return {};
    return RaiseRecursion();
  }
  Failure RaiseRecursion();
  const Limits& limits() const { return options_.limits; }
  const InterpreterOptions& options() const { return options_; }
  template <typename T>
  T* host() const {
    return static_cast<T*>(options_.host);
  }

  // ---- the object protocol ----
  ClassObject* class_of(Value v) const {  // type(v)
    return v.IsObject() ? v.object()->cls : class_of_tag_[static_cast<size_t>(v.tag())];
  }
  absl::string_view TypeName(Value v) const;  // class_of(v)'s name, for messages
  Result<Value> GetAttr(Value v, StrObject* name);
  Result<Value> GetAttr(Value v, absl::string_view name) { return GetAttr(v, Intern(name)); }
  // Unbound instead of AttributeError; other errors stay errors.
  Result<Value> GetAttrOrUnbound(Value v, StrObject* name);
  Result<Value> GetAttrOrUnbound(Value v, absl::string_view name) { return GetAttrOrUnbound(v, Intern(name)); }
  Result<void> SetAttr(Value v, StrObject* name, Value value);
  Result<void> SetAttr(Value v, absl::string_view name, Value value) { return SetAttr(v, Intern(name), value); }
  Result<void> DelAttr(Value v, StrObject* name);
  // object.__getattribute__ (Unbound if there is none), object.__setattr__, object.__delattr__: the
  // defaults of hooks.
  Result<Value> ObjectGetAttr(Value v, StrObject* name);
  Result<void> ObjectSetAttr(Value v, StrObject* name, Value value);
  Result<void> ObjectDelAttr(Value v, StrObject* name);
  // Looks up along the MRO, without binding; Unbound if there is none. The result is cached.
  Value LookupClass(ClassObject* cls, StrObject* name);
  void SetClassAttr(ClassObject* cls, StrObject* name, Value value);  // also of native classes
  // The instance's __dict__, created on demand.
  DictObject* AttrsOf(Object* object);

  Result<Value> Call(Value callable, const CallArgs& args);
  Result<Value> Call(Value callable, std::initializer_list<Value> args) {
    CallArgs call;
    call.positional = absl::MakeConstSpan(args.begin(), args.size());
    return Call(callable, call);
  }
  Result<Value> Call(Value callable, absl::Span<const Value> args, absl::Span<const KeywordArg> keywords);
  Result<Value> CallMethod(Value v, StrObject* name, absl::Span<const Value> args = {},
                           absl::Span<const KeywordArg> keywords = {});
  Result<Value> CallMethod(Value v, absl::string_view name, std::initializer_list<Value> args = {}) {
    return CallMethod(v, Intern(name), absl::MakeConstSpan(args.begin(), args.size()));
  }
  // type(v).name(v, args...) as for operators: Unbound if the class has no such method.
  Result<Value> CallSpecial(Value v, StrObject* name, std::initializer_list<Value> args);
  bool IsCallable(Value v);

  Result<bool> Truth(Value v) {
    if (v.IsIntOrBool()) return v.as_int() != 0;
    if (v.IsNone()) return false;
    return TruthOfOther(v);
  }
  Result<StrObject*> Str(Value v);
  Result<StrObject*> Repr(Value v);
  Result<StrObject*> Format(Value v, absl::string_view spec);
  Result<bool> Equal(Value a, Value b);
  Result<uint64_t> Hash(Value v);
  Result<bool> IsInstance(Value v, Value class_or_tuple);
  Result<bool> IsSubclass(Value cls, Value class_or_tuple);
  bool IsInstanceOf(Value v, ClassObject* cls) { return IsSubclassOf(class_of(v), cls); }
  static bool IsSubclassOf(const ClassObject* cls, const ClassObject* base) {
    if (cls == base) return true;
    for (const ClassObject* c : cls->mro) {
      if (c == base) return true;
    }
    return false;
  }
  Result<int64_t> Length(Value v);
  Result<Value> GetItem(Value v, Value key);
  Result<void> SetItem(Value v, Value key, Value value);
  Result<void> DelItem(Value v, Value key);
  Result<bool> Contains(Value container, Value item);
  enum class BinaryOp : uint8_t {
    kAdd,
    kSub,
    kMult,
    kMatMult,
    kDiv,
    kMod,
    kPow,
    kLShift,
    kRShift,
    kBitOr,
    kBitXor,
    kBitAnd,
    kFloorDiv
  };
  enum class CompareOp : uint8_t { kEq, kNotEq, kLt, kLtE, kGt, kGtE };
  enum class UnaryOp : uint8_t { kInvert, kNot, kPlus, kMinus };
  Result<Value> Binary(BinaryOp op, Value a, Value b);
  Result<Value> InPlace(BinaryOp op, Value a, Value b);
  Result<Value> Compare(CompareOp op, Value a, Value b);
  Result<Value> Unary(UnaryOp op, Value v);
  // int(v) by __index__; TypeError if there is none.
  Result<int64_t> Index(Value v);
  // Converts int, bool, float, or a value with __float__.
  Result<double> AsFloat(Value v);
  // slice.indices(length), clamped as CPython does.
  struct SliceIndices {
    int64_t start, stop, step, length;
  };
  Result<SliceIndices> ResolveSlice(const SliceObject* slice, int64_t length);

  // iter(v); next: Unbound at the end.
  Result<Value> Iter(Value v);
  Result<Value> Next(Value iterator);
  // Every item of v; `visit` returns false to stop. Steps are counted.
  Result<void> Iterate(Value v, absl::FunctionRef<Result<bool>(Value)> visit);
  Result<std::vector<Value>> ToVector(Value v);
  Result<ListObject*> ToList(Value v);

  // Unbound if absent.
  Result<Value> DictGet(DictObject* dict, Value key);
  Value DictGetStr(DictObject* dict, absl::string_view key);
  Result<void> DictSet(DictObject* dict, Value key, Value value);
  void DictSetStr(DictObject* dict, absl::string_view key, Value value) {
    dict->table.SetStr(heap_, Intern(key), value);
  }
  Result<bool> DictErase(DictObject* dict, Value key);
  Result<void> DictUpdate(DictObject* dict, Value mapping_or_pairs);
  Result<bool> SetAdd(SetObject* set, Value item);  // true if it was absent
  Result<bool> SetContains(SetObject* set, Value item);
  Result<bool> SetErase(SetObject* set, Value item);

  // The payload of an instance of a native class; nullptr if it has none of that type.
  template <typename T>
  T* Payload(Value v) const {
    return NativeCast<T>(v);
  }

  // For the runtime itself (internal.h).
  RuntimeState& state() { return *state_; }
  const RuntimeState& state() const { return *state_; }
  const char* stack_low() const { return stack_low_; }
  void set_stack_low(const char* low) { stack_low_ = low; }

 private:
  friend struct RuntimeState;
  explicit Interpreter(InterpreterOptions options);
  Result<void> StepSlow();
  void SettleSteps();   // gives back what was granted in advance
  void ChargeMemory();  // what was allocated since the last time
  Result<bool> TruthOfOther(Value v);
  void UnwindGenerators();
  // Of the pending Python exception, which is cleared. Its str() may run the program's code: on
  // `stack`.
  Diagnostic DescribeException(Coroutine& stack);

  InterpreterOptions options_;
  Heap heap_;
  BuiltinTypes types_;
  CommonNames names_;
  ClassObject* class_of_tag_[9] = {};  // of values that are not objects
  const char* stack_low_ = nullptr;    // native stack must stay above
  int64_t steps_until_check_ = 0;
  int64_t steps_used_ = 0;  // of step_account_
  int64_t other_steps_used_ = 0;
  StepAccount step_account_ = StepAccount::kProgram;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
  Value pending_exception_ = Value::Unbound();
  std::unique_ptr<Diagnostic> failure_;
  std::string output_;
  std::unique_ptr<RuntimeState> state_;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERPRETER_H_
