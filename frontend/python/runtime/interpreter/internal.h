// Declarations that only the runtime uses: frames, the interpreter's private state, and functions
// that eval/, types/ and modules/ define for each other.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERNAL_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERNAL_H_

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/bytes/hash.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/interpreter/scope.h"

namespace cobra::python {

class Coroutine;
using BinaryOp = Interpreter::BinaryOp;
using CompareOp = Interpreter::CompareOp;

// A source file in one interpreter: the shared tree, and this interpreter's objects for its names
// and constants.
struct CodeUnit {
  std::shared_ptr<const ResolvedAst> code;
  std::string display_name;
  StrObject** names = nullptr;               // by symbol id; null until used
  Value* constants = nullptr;                // by constant index; Unbound until used
  const uint32_t* table = nullptr;           // code->table()
  std::atomic<uint16_t>* guesses = nullptr;  // code->guesses()
  bool internal = false;                     // the text of an embedded module: messages and positions skip its frames
};

struct Frame {
  Frame* back = nullptr;
  const CodeUnit* unit = nullptr;
  const ScopeInfo* scope = nullptr;
  ModuleObject* module = nullptr;
  DictObject* globals = nullptr;
  DictObject* names = nullptr;  // of a class body
  Value* locals = nullptr;
  CellObject** free = nullptr;
  FunctionObject* function = nullptr;
  const ast::Position* position = nullptr;
  Value result;  // of return
  GeneratorObject* generator = nullptr;
  int try_depth = 0;         // enclosing try statements with handlers that are executing
  uint32_t expressions = 0;  // evaluated, but not counted as steps yet
};

constexpr size_t kClassCacheSize = 4096;

struct ClassCacheEntry {
  ClassObject* cls = nullptr;
  StrObject* name = nullptr;
  Value value = Value::Unbound();
  uint32_t epoch = 0;
};

class Importer;

// All interned strings of an interpreter, on its heap.
class InternTable {
 public:
  StrObject* Find(absl::string_view text, uint64_t hash) const;
  void Add(Heap& heap, StrObject* s);  // REQUIRES: hash computed, text absent

 private:
  void Place(StrObject* s);
  HeapVector<StrObject*> slots_;  // open addressing, a power of two, at most half full
  size_t count_ = 0;
};

// The part of the state outside the heap that Rollback() restores.
struct ImageState {
  std::array<StrObject*, 128> single_characters;
  InternTable interned;
  size_t units = 0;
  absl::flat_hash_map<std::string, CodeUnit*> texts;
  uint32_t class_epoch = 0;
  int64_t source_bytes = 0;
  int64_t steps_used = 0, steps_until_check = 0, library_steps_used = 0, charged_bytes = 0;
  std::string output;
};

// A field that is added here and changes while a program runs must be restored in
// Interpreter::Rollback() (image.cc).
struct RuntimeState {
  explicit RuntimeState(Interpreter& interp);
  ~RuntimeState();

  InternTable interned;
  std::array<StrObject*, 128> single_characters = {};
  StrObject* empty_str = nullptr;
  BytesObject* empty_bytes = nullptr;
  TupleObject* empty_tuple = nullptr;
  std::array<ClassCacheEntry, kClassCacheSize> class_cache;
  uint32_t class_epoch = 1;                   // changes whenever a class does
  uint32_t last_class_epoch = 1;              // never used twice; not rolled back
  std::vector<uint16_t> class_cache_changed;  // slots filled since the image was made
  // Number of targets of `a, b = x`, while x.__iter__() is called; 0: any number is accepted
  int64_t unpacking = 0;
  DictObject* builtins = nullptr;
  ModuleObject* builtins_module = nullptr;

  Frame* frame = nullptr;
  int call_depth = 0;
  Value handled_exception;  // what a bare `raise` re-raises; None if nothing is being handled
  std::vector<Value> repr_in_progress;
  std::unique_ptr<Importer> importer;
  std::vector<std::unique_ptr<CodeUnit>> units;
  std::unique_ptr<Coroutine> main_stack;  // of the last successful Run, for the next one
  std::vector<Coroutine*> idle_coroutines;
  std::vector<std::unique_ptr<Coroutine>> all_coroutines;
  int suspended_generators = 0;
  int64_t source_bytes = 0;
  int64_t charged_bytes = 0;                          // bytes of the heap for which steps were counted
  std::unique_ptr<ImageState> image;                  // once frozen
  absl::flat_hash_map<std::string, CodeUnit*> texts;  // parsed arguments of eval() and exec()
  const StrObject* decoded_of = nullptr;              // the string whose characters `decoded` holds (stdlib_re.cc)
  std::vector<uint32_t> decoded;
};

Value FindInClassSlow(Interpreter& interp, ClassObject* cls, StrObject* name, ClassCacheEntry* entry);
void RollbackClassCache(RuntimeState& state, const Heap& heap);

// Interpreter::LookupClass for a name that is interned.
inline Value FindInClass(Interpreter& interp, ClassObject* cls, StrObject* name) {
  RuntimeState& state = interp.state();
  const size_t slot =
      (reinterpret_cast<uintptr_t>(cls) / 16 * 31 + reinterpret_cast<uintptr_t>(name) / 16) % kClassCacheSize;
  ClassCacheEntry& entry = state.class_cache[slot];
  if (entry.cls == cls && entry.name == name && entry.epoch == state.class_epoch) return entry.value;
  return FindInClassSlow(interp, cls, name, &entry);
}

// Whether the class is the built-in one or does not redefine `name` below it.
inline bool UsesBuiltin(Interpreter& interp, Value v, StrObject* name) {
  ClassObject* cls = v.object()->cls;
  if (v.IsInstance()) return false;
  if (cls->is_native) return true;
  Value method = interp.LookupClass(cls, name);
  return method.IsUnbound() || method.IsBuiltin();
}

inline StrObject* NameOfSymbol(Interpreter& interp, const CodeUnit* unit, uint32_t id) {
  StrObject*& s = unit->names[id];
  if (s == nullptr) s = interp.Intern(unit->code->symbol_text(id));
  return s;
}
inline StrObject* NameOf(Interpreter& interp, const CodeUnit* unit, ast::Identifier id) {
  return NameOfSymbol(interp, unit, id->id);
}

// Steps for writing an integer in any base: about one division of the integer per word.
inline int64_t DigitsSteps(const BigInt& value) {
  const int64_t words = value.bits() / 32;
  return words * words / 8;
}

// Steps for one pass over the words of an integer: copying it, adding, comparing.
inline int64_t WordsSteps(int64_t bits) { return bits / 2048; }

// Steps for multiplying or dividing integers of so many bits.
inline int64_t ProductSteps(int64_t a_bits, int64_t b_bits) { return (1 + a_bits / 64) * (1 + b_bits / 64) / 16; }

// Steps for searching `pattern`: in the worst case, every byte of it is compared at every position.
inline int64_t SearchSteps(absl::string_view text, absl::string_view pattern) {
  if (text.size() < pattern.size()) return 0;
  return StepsToScan(text.size()) * static_cast<int64_t>(1 + pattern.size() / 128);
}

// One expression costs a fraction of a step; a statement may have very many.
inline void CountExpressions(Interpreter& interp, Frame& frame, size_t n = 1) {
  constexpr uint32_t kExpressionsAStep = 16;
  frame.expressions += static_cast<uint32_t>(n);
  if (frame.expressions < kExpressionsAStep) return;
  interp.Spend(frame.expressions / kExpressionsAStep);
  frame.expressions %= kExpressionsAStep;
}

inline const char* StackPointer() { return static_cast<const char*>(__builtin_frame_address(0)); }

// ---- call.cc ----
Result<Value> CallFunction(Interpreter& interp, FunctionObject* function, const CallArgs& args);
// Runs the Python text of a function with a native body, for cases that the body does not handle.
// REQUIRES: neither a generator nor async.
Result<Value> RunText(Interpreter& interp, FunctionObject* function, Value* locals);
Result<Value> CallClass(Interpreter& interp, ClassObject* cls, const CallArgs& args);
Result<Value> ConstructInstance(Interpreter& interp, ClassObject* cls, const CallArgs& args);  // type.__call__
// The positional arguments with self in front, if there is one.
std::vector<Value> FlattenSelf(const CallArgs& args);

// ---- class.cc ----
void InitBuiltinTypes(Interpreter& interp, BuiltinTypes* types);
void UpdateClassFlags(Interpreter& interp, ClassObject* cls);
ClassObject* NewBuiltinClass(Interpreter& interp, absl::string_view name, ClassObject* base, ObjectKind layout);
Result<void> ComputeMro(Interpreter& interp, ClassObject* cls);
// type.__new__ as a class statement calls it.
Result<ClassObject*> BuildClass(Interpreter& interp, ClassObject* metaclass, StrObject* name,
                                const std::vector<ClassObject*>& bases, DictObject* attributes,
                                absl::Span<const KeywordArg> keywords);
// The most derived metaclass of `bases` and `explicit_metaclass` (may be null).
Result<ClassObject*> FindMetaclass(Interpreter& interp, Value explicit_metaclass,
                                   const std::vector<ClassObject*>& bases);

// ---- attribute.cc ----
// v.name as a call needs it: *function and, if it is to be passed first, *self (else Unbound).
Result<void> GetMethod(Interpreter& interp, Value v, StrObject* name, std::atomic<uint16_t>& guess, Value* function,
                       Value* self);
// Interpreter::GetAttr at a place in the program, for an interned name.
Result<Value> GetAttrAt(Interpreter& interp, Value v, StrObject* name, std::atomic<uint16_t>& guess);
// A class attribute as seen through an instance (or, with Unbound instance, through the class).
Result<Value> BindDescriptor(Interpreter& interp, Value attribute, Value instance, ClassObject* owner);
Failure RaiseNoAttribute(Interpreter& interp, Value v, StrObject* name);
Result<Value> GetClassAttr(Interpreter& interp, ClassObject* cls, StrObject* name);  // Unbound if there is none

// ---- eval_*.cc ----
enum class Completion : uint8_t { kNormal, kBreak, kContinue, kReturn, kError };
Completion ExecBlock(Interpreter& interp, Frame& frame, ast::Seq<ast::StmtNode> body);

// In functions that return a Completion.
#define COBRA_EXEC(expr)                         \
  do {                                           \
    if (!(expr).ok()) return Completion::kError; \
  } while (false)
#define COBRA_EXEC_ASSIGN(lhs, expr) COBRA_EXEC_ASSIGN_IMPL_(COBRA_TRY_CONCAT_(cobra_result_, __LINE__), lhs, expr)
#define COBRA_EXEC_ASSIGN_IMPL_(var, lhs, expr) \
  auto var = (expr);                            \
  if (!var.ok()) return Completion::kError;     \
  lhs = std::move(*var)
#define COBRA_EXEC_SET(lhs, expr)                       \
  do {                                                  \
    auto cobra_result_ = (expr);                        \
    if (!cobra_result_.ok()) return Completion::kError; \
    lhs = std::move(*cobra_result_);                    \
  } while (false)

Result<Value> EvalNode(Interpreter& interp, Frame& frame, const ast::ExprNode* e);
// The fast path for the most frequent expression: a bound local variable.
inline Result<Value> Eval(Interpreter& interp, Frame& frame, const ast::ExprNode* e) {
  if (e->node_kind == ast::ExprKind::Name) {
    const Ref ref = ResolvedAst::RefOf(frame.unit->table[e->node_id]);
    if (ref.kind == RefKind::kLocal && !frame.locals[ref.slot].IsUnbound()) return frame.locals[ref.slot];
  }
  return EvalNode(interp, frame, e);
}
Result<void> Assign(Interpreter& interp, Frame& frame, const ast::ExprNode* target, Value value);
Result<void> StoreRef(Interpreter& interp, Frame& frame, Ref ref, StrObject* name, Value value);
Result<void> StoreName(Interpreter& interp, Frame& frame, ast::Identifier name, Value value);
Result<Value> LoadGlobal(Interpreter& interp, Frame& frame, StrObject* name);
Result<void> DeleteTarget(Interpreter& interp, Frame& frame, const ast::ExprNode* target);
// Runs the body of a def, lambda or module in a frame that is set up; the traceback entry on
// failure is added here.
Result<Value> RunFrame(Interpreter& interp, Frame& frame);
void AddTraceback(Interpreter& interp, const Frame& frame);
// Cells for captured locals; parameters are in their slots already.
void InitCells(Interpreter& interp, Frame& frame);
CellObject** MakeClosure(Interpreter& interp, Frame& frame, const ScopeInfo& scope);
Result<Value> EvalComprehension(Interpreter& interp, Frame& frame, const ast::ExprNode* e);
Result<Value> MakeGeneratorExpression(Interpreter& interp, Frame& frame, const ast::GeneratorExp* e);
Result<Value> MakeFunction(Interpreter& interp, Frame& frame, const ScopeInfo& scope, const ast::Arguments* args,
                           StrObject* name);
// eval_try.cc
Completion ExecRaise(Interpreter& interp, Frame& frame, const ast::Raise* s);
Completion ExecTry(Interpreter& interp, Frame& frame, const ast::Try* s);
Completion ExecTryStar(Interpreter& interp, Frame& frame, const ast::TryStar* s);
Completion ExecWith(Interpreter& interp, Frame& frame, const ast::With* s);
Completion ExecAsyncWith(Interpreter& interp, Frame& frame, const ast::AsyncWith* s);
Completion ExecMatch(Interpreter& interp, Frame& frame, const ast::Match* s);
Result<Value> EvalConstant(Interpreter& interp, const CodeUnit* unit, const ast::Constant* c);
Completion ExecClassDef(Interpreter& interp, Frame& frame, const ast::ClassDef* s);
Completion ExecFunctionDef(Interpreter& interp, Frame& frame, const ast::StmtNode* s);
Result<Value> EvalCall(Interpreter& interp, Frame& frame, const ast::Call* e);
Result<Value> EvalJoinedStr(Interpreter& interp, Frame& frame, const ast::JoinedStr* e);
DictObject* LocalsDict(Interpreter& interp, Frame& frame);

CellObject* NewCell(Interpreter& interp, Value value);
// Of a def, in the frame that `definition` is in.
Result<DictObject*> EvalAnnotations(Interpreter& interp, Frame& frame, const ast::FunctionDef* definition);
// Evaluated at the first request if lazy.
Result<DictObject*> FunctionAnnotations(Interpreter& interp, FunctionObject* f);
Value FunctionDoc(Interpreter& interp, FunctionObject* f);
bool IsIterable(Interpreter& interp, Value v);

// ---- generator.cc ----
Result<Value> MakeGenerator(Interpreter& interp, FunctionObject* function, const Frame& prototype);
Result<Value> EvalYield(Interpreter& interp, Frame& frame, const ast::ExprNode* e);
// Runs to the next yield; Unbound at the end, with the return value in *returned.
Result<Value> ResumeGenerator(Interpreter& interp, GeneratorObject* generator, Value sent, Value* returned);
Result<Value> ThrowIntoGenerator(Interpreter& interp, GeneratorObject* generator, Value exception, Value* returned);
void InitGeneratorType(Interpreter& interp);

// The same for an iterator: yield from, await.
Result<Value> DelegateTo(Interpreter& interp, Frame& frame, Value iterator);

// ---- async.cc: coroutines and asynchronous generators are generators of another class ----
Result<Value> Await(Interpreter& interp, Frame& frame, Value awaitable);
Completion ExecAsyncFor(Interpreter& interp, Frame& frame, const ast::AsyncFor* s);
// Every item of an asynchronous iterable; `visit` returns false to stop.
Result<void> IterateAsync(Interpreter& interp, Frame& frame, Value iterable,
                          absl::FunctionRef<Result<bool>(Value)> visit);
void InitAsyncTypes(Interpreter& interp);

// ---- exception_group.cc ----
struct SplitGroup {
  Value match, rest;  // None if there is none
};
Result<SplitGroup> MatchExceptStar(Interpreter& interp, Value exception, Value classes);
// The part of `original` that is in `parts`, with the same nesting.
Result<Value> ProjectGroup(Interpreter& interp, Value original, const std::vector<Value>& parts);
Result<StrObject*> GroupText(Interpreter& interp, ExceptionObject* group);  // str() of it
void InitExceptionGroupTypes(Interpreter& interp);

// ---- eval_text.cc: eval, exec, compile ----
void InitTextFunctions(Interpreter& interp);

// ---- code_unit.cc ----
// Parses (or finds parsed) a file; `internal` for the runtime's own Python.
Result<CodeUnit*> ParseUnit(Interpreter& interp, absl::string_view source, absl::string_view display_name,
                            bool internal);
Result<CodeUnit*> MakeUnit(Interpreter& interp, std::shared_ptr<const ResolvedAst> code, absl::string_view display_name,
                           bool internal);

// ---- import.cc ----
Completion ExecImport(Interpreter& interp, Frame& frame, const ast::Import* s);
Completion ExecImportFrom(Interpreter& interp, Frame& frame, const ast::ImportFrom* s);
Result<Value> ForceLazy(Interpreter& interp, Value lazy);
// Reads a value from a module's namespace; a lazy value in `slot` is replaced by the real one.
inline Result<Value> Forced(Interpreter& interp, Value* slot);
Result<Value> GetModuleAttr(Interpreter& interp, ModuleObject* module, StrObject* name);  // Unbound if there is none
Result<void> ForceAll(Interpreter& interp, ModuleObject* module);
// Loads the attributes that a native module provides on demand (torch.nn's classes): calls its hook
// for __dict__.
Result<void> DefineAll(Interpreter& interp, ModuleObject* module);
Result<Value> CallOpaque(Interpreter& interp, OpaqueObject* opaque, const CallArgs& args);

// ---- operators.cc, operator_methods.cc, numbers.cc ----
struct OperatorNames {
  absl::string_view symbol;
  StrObject* CommonNames::*direct;
  StrObject* CommonNames::*reflected;
  StrObject* CommonNames::*in_place;
};
const OperatorNames& NamesOf(BinaryOp op);
// NotImplemented if these types have no such operator.
Result<Value> BuiltinBinary(Interpreter& interp, BinaryOp op, Value a, Value b);
Result<Value> BuiltinCompare(Interpreter& interp, CompareOp op, Value a, Value b);
void AddOperatorMethods(Interpreter& interp, ClassObject* cls, std::initializer_list<BinaryOp> ops, bool compare);
bool AsComplex(Value v, double* real, double* imag);
// Sets with the order of CPython's (set_order.h).
Result<void> MergeSet(Interpreter& interp, SetObject* into, SetObject* from);
// Symmetric difference: adds the items that are absent, erases those that are present.
Result<void> ToggleAll(Interpreter& interp, SetObject* into, SetObject* from);
// False: no such operator.
Result<bool> SetInPlace(Interpreter& interp, BinaryOp op, SetObject* a, SetObject* b);
// keys() and items() behave as sets.
Result<Value> ViewAsSet(Interpreter& interp, Value v);
StrObject* CompareName(Interpreter& interp, CompareOp op);  // __eq__, ...
// Whether the value's class overrides nothing.
inline bool IsPlain(Value v) { return !v.IsObject() || (v.object()->cls->is_native && !v.IsInstance()); }
Result<StrObject*> DefaultRepr(Interpreter& interp, Value v);
std::string FloatRepr(double d);
bool IsIntLike(Value v);   // int, bool or heap int
BigInt ToBigInt(Value v);  // REQUIRES: IsIntLike(v)
// b ** e % m. REQUIRES: m is not zero.
Result<Value> ModularPower(Interpreter& interp, BigInt b, BigInt e, BigInt m);
// An unknown number (stdlib/_unknown_number.py) as a text, an int or a float: the result of its
// method of that name. Any other value is returned as it is.
Result<Value> OfUnknownNumber(Interpreter& interp, Value v, absl::string_view method);
double IntToDouble(Value v);  // REQUIRES: IsIntLike(v); infinity if too large
// OverflowError if too large.
Result<int64_t> ToInt64(Interpreter& interp, Value v, absl::string_view what);
// Of int, bool, float and their subclasses; false for others.
bool NumberAsDouble(Value v, double* out);
Result<Value> IntFromText(Interpreter& interp, absl::string_view text, int base, Value original);
Result<Value> FloatFromText(Interpreter& interp, absl::string_view text, Value original);
// "1+2j", with blanks and parentheses around it; false for any other text.
bool ComplexFromText(absl::string_view original, double* real, double* imag);
Result<Value> RoundFloat(double d, int64_t digits);
uint64_t HashDouble(double d);
uint64_t HashInt(int64_t i);
void InitNumberTypes(Interpreter& interp);

// ---- str_format.cc ----
Result<StrObject*> FormatNumber(Interpreter& interp, Value v, absl::string_view spec);
Result<StrObject*> FormatStr(Interpreter& interp, StrObject* s, absl::string_view spec);
int64_t CodePoints(absl::string_view utf8);
Result<Value> PercentFormat(Interpreter& interp, absl::string_view format, Value args, bool bytes);
Result<Value> StrFormatMethod(Interpreter& interp, StrObject* format, const CallArgs& args);
Result<StrObject*> AsciiRepr(Interpreter& interp, Value v);  // ascii()
std::string QuotedStr(absl::string_view text, bool ascii_only = false);
std::string QuotedBytes(absl::string_view bytes);
std::string FormatDouble(double d, char type, int precision, bool alternate, bool upper);

// ---- the rest of the built-in types ----
void InitObjectType(Interpreter& interp);     // builtin_object.cc: object, type
void InitFunctionTypes(Interpreter& interp);  // builtin_function.cc
void InitStrType(Interpreter& interp);
void AddStrCaseMethods(Interpreter& interp);   // str_case.cc
void AddStrSplitMethods(Interpreter& interp);  // str_split.cc
// Steps of a method of str. Those that compare a prefix count it themselves. All others read their
// string; those that search for another string may have to compare it at every position; those that
// create a new string take some nanoseconds per byte more.
enum class StrMethodCost : uint8_t { kPrefix, kSearch, kNewString };
void AddStrMethod(Interpreter& interp, absl::string_view name, Result<Value> (*method)(Interpreter&, const CallArgs&),
                  StrMethodCost cost);
void InitBytesType(Interpreter& interp);
void InitSequenceTypes(Interpreter& interp);  // list, tuple, range, slice
void InitDictTypes(Interpreter& interp);
void InitSetTypes(Interpreter& interp);
void InitExceptionTypes(Interpreter& interp);
void InitIteratorTypes(Interpreter& interp);
void InitBuiltins(Interpreter& interp);    // builtins.cc: the functions
void InitSmallTypes(Interpreter& interp);  // property, classmethod, super, module, generic alias, None, Ellipsis
void InitOpaqueType(Interpreter& interp);

Value MakeGenericAlias(Interpreter& interp, Value origin, Value args);
Value MakeUnion(Interpreter& interp, Value a, Value b);
Result<void> SortValues(Interpreter& interp, std::vector<Value>* values, Value key, bool reverse);
Result<bool> LessThan(Interpreter& interp, Value a, Value b);
Result<bool> DictsEqual(Interpreter& interp, DictObject* a, DictObject* b);
Result<Value> StrGetItem(Interpreter& interp, StrObject* s, Value key);
Result<Value> Concat(Interpreter& interp, StrObject* a, StrObject* b);
// codecs.cc
Result<Value> EncodeText(Interpreter& interp, StrObject* s, absl::string_view encoding, absl::string_view errors);
Result<Value> DecodeText(Interpreter& interp, absl::string_view bytes, absl::string_view encoding,
                         absl::string_view errors);
Result<Value> DecodeBytes(Interpreter& interp, absl::string_view utf8);  // UnicodeDecodeError if it is not
// Byte offset of a code point; `index` in [0, length].
int64_t ByteOffset(const StrObject* s, int64_t index);
void AppendUtf8(std::string* out, uint32_t code_point);
uint32_t DecodeUtf8(const char* data, int64_t* position);
Result<Value> SeqGetItem(Interpreter& interp, absl::Span<const Value> items, Value key, bool as_tuple,
                         absl::string_view type_name);
// The result of a slice, sum or repetition of `like`, converted to the class of `like` if that
// class is closed under these operations (torch.Size).
Value WithTupleClassOf(Interpreter& interp, Value like, Value made);
Result<void> ListSetItem(Interpreter& interp, ListObject* list, Value key, Value value);
Result<void> ListDelItem(Interpreter& interp, ListObject* list, Value key);
void AddSequenceMethods(Interpreter& interp, ClassObject* cls);
Result<Value> RepeatSequence(Interpreter& interp, Value sequence, Value count);
Result<void> ListExtend(Interpreter& interp, ListObject* list, Value items);
// The result of str(exception).
Result<StrObject*> ExceptionText(Interpreter& interp, ExceptionObject* e);
ExceptionObject* NewException(Interpreter& interp, ClassObject* cls, int argument_count, const Value* arguments);

// Native methods of a class in one line each.
void AddMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function);
void AddStaticMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function);
void AddClassMethod(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction function);
// Sets the function that creates the instance of cls(...) before __init__ runs (args.self is the
// class), also as cls.__new__.
void SetNativeNew(Interpreter& interp, ClassObject* cls, const NativeFunction& function);
void AddProperty(Interpreter& interp, ClassObject* cls, absl::string_view name, NativeFunction getter,
                 NativeFunction setter = nullptr);
BuiltinObject* NewBuiltin(Interpreter& interp, absl::string_view name, NativeFunction function);

inline Result<Value> Forced(Interpreter& interp, Value* slot) {
  if (!slot->IsLazy()) return *slot;
  return ForceLazy(interp, *slot);
}

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_INTERNAL_H_
