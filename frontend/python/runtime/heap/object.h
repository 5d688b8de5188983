// The heap objects. Plain structs: behaviour is in eval/ and types/. Create them with
// Interpreter::New...(); read them freely; change dicts and class attributes only through functions
// of Interpreter, which update the caches.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_OBJECT_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_OBJECT_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "frontend/python/runtime/heap/big_int.h"
#include "frontend/python/runtime/heap/dict_table.h"
#include "frontend/python/runtime/heap/heap.h"
#include "frontend/python/runtime/heap/value.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::python {

struct CallArgs;
struct CodeUnit;   // internal.h: a parsed file as one interpreter sees it
struct ScopeInfo;  // scope.h

struct Object {
  ObjectKind kind;
  bool ascii = false;     // of a Str: bytes are code points
  bool interned = false;  // of a Str: equal interned strings are the same object
  bool frozen = false;    // of a Set: a frozenset
  uint32_t mark = 0;      // of an instance: a number that the host sets; copies keep it
  ClassObject* cls = nullptr;
  DictObject* attrs = nullptr;  // instance __dict__, class namespace, module globals, function attributes; may be null
  explicit Object(ObjectKind k) : kind(k) {}
};

// Immutable UTF-8; data follows the struct.
struct StrObject : Object {
  StrObject() : Object(ObjectKind::kStr) {}
  mutable uint64_t hash = 0;  // 0: not computed
  int64_t size = 0;           // bytes
  int64_t length = 0;         // code points
  const char* data = nullptr;
  absl::string_view view() const { return absl::string_view(data, static_cast<size_t>(size)); }
};

struct BytesObject : Object {
  BytesObject() : Object(ObjectKind::kBytes) {}
  int64_t size = 0;
  const char* data = nullptr;
  absl::string_view view() const { return absl::string_view(data, static_cast<size_t>(size)); }
};

struct BigIntObject : Object {
  BigIntObject() : Object(ObjectKind::kBigInt) {}
  BigInt value;
};

struct FloatBoxObject : Object {
  FloatBoxObject() : Object(ObjectKind::kFloatBox) {}
  double value = 0;
};

struct ComplexObject : Object {
  ComplexObject() : Object(ObjectKind::kComplex) {}
  double real = 0, imag = 0;
};

struct TupleObject : Object {
  TupleObject() : Object(ObjectKind::kTuple) {}
  int64_t size = 0;
  Value* items = nullptr;
  absl::Span<const Value> span() const { return absl::Span<const Value>(items, static_cast<size_t>(size)); }
};

struct ListObject : Object {
  ListObject() : Object(ObjectKind::kList) {}
  HeapVector<Value> items;
};

// Insertion ordered. String keys, the common case, need no interpreter (dict_table.h).
struct DictObject : Object {
  DictObject() : Object(ObjectKind::kDict) {}
  DictTable table;
};

// CPython's table of a set (set_order.h).
struct SetSlot {
  enum class State : uint8_t { kEmpty, kUsed, kDeleted };
  State state = State::kEmpty;
  uint64_t hash = 0;
  Value key;
};

struct SetObject : Object {
  SetObject() : Object(ObjectKind::kSet) {}
  DictTable table;            // values are not used
  bool only_numbers = true;   // as long as it holds, `slots` has the keys as CPython's table has them
  uint32_t mask = 7;          // its size less one
  int64_t fill = 0;           // its slots that are used or were
  HeapVector<SetSlot> slots;  // empty until there is a key
};

struct DictViewObject : Object {
  enum class What : uint8_t { kKeys, kValues, kItems };
  DictViewObject() : Object(ObjectKind::kDictView) {}
  DictObject* dict = nullptr;
  What what = What::kKeys;
};

struct SliceObject : Object {
  SliceObject() : Object(ObjectKind::kSlice) {}
  Value start, stop, step;
};

// Bounds fit int64: a range of larger integers is refused as unsupported.
struct RangeObject : Object {
  RangeObject() : Object(ObjectKind::kRange) {}
  int64_t start = 0, stop = 0, step = 1, length = 0;
};

struct CellObject : Object {
  CellObject() : Object(ObjectKind::kCell) {}
  Value value = Value::Unbound();
};

// The C++ body of a native module's function, whose Python text only declares the signature:
// `locals` are the bound parameters. Lives on the heap and is never destroyed.
class NativeBody {
 public:
  virtual Result<Value> Run(Interpreter& interp, FunctionObject* function, Value* locals) const = 0;

 protected:
  ~NativeBody() = default;
};

struct FunctionObject : Object {
  FunctionObject() : Object(ObjectKind::kFunction) {}
  const NativeBody* body = nullptr;
  const CodeUnit* unit = nullptr;
  const ScopeInfo* scope = nullptr;
  ModuleObject* module = nullptr;  // whose globals
  CellObject** free = nullptr;     // one per free variable of code
  StrObject* name = nullptr;
  StrObject* qualname = nullptr;
  Value doc = Value::Unbound();                  // set from the body's first statement at first use
  const ast::FunctionDef* definition = nullptr;  // null for a lambda
  Value* defaults = nullptr;                     // of the last default_count positional parameters
  int default_count = 0;
  DictObject* keyword_defaults = nullptr;
  Value annotations = Value::Unbound();  // a dict from first use on
};

struct BoundMethodObject : Object {
  BoundMethodObject() : Object(ObjectKind::kBoundMethod) {}
  Value self;
  Value function;
};

using NativeFunction = std::function<Result<Value>(Interpreter&, const CallArgs&)>;
using HeapNativeFunction = HeapFunction<Result<Value>(Interpreter&, const CallArgs&)>;

struct BuiltinObject : Object {
  BuiltinObject() : Object(ObjectKind::kBuiltin) {}
  StrObject* name = nullptr;
  StrObject* qualname = nullptr;
  Value module;
  HeapNativeFunction function;
  ClassObject* owner = nullptr;   // of a method: what self must be an instance of
  bool is_method = false;         // binds like a function
  Value self = Value::Unbound();  // of a bound one: list.append of a list
};

struct PropertyObject : Object {
  PropertyObject() : Object(ObjectKind::kProperty) {}
  Value getter, setter, deleter, doc;  // None if absent
};

struct ClassMethodObject : Object {
  ClassMethodObject() : Object(ObjectKind::kClassMethod) {}
  Value function;
};

struct StaticMethodObject : Object {
  StaticMethodObject() : Object(ObjectKind::kStaticMethod) {}
  Value function;
};

struct SuperObject : Object {
  SuperObject() : Object(ObjectKind::kSuper) {}
  ClassObject* start = nullptr;   // look after this one
  Value self = Value::Unbound();  // instance or class
  ClassObject* self_class = nullptr;
};

// The C++ part of an instance of a native class, or of a user class that derives from one.
class NativeObject {
 public:
  explicit NativeObject(const void* tag = nullptr) : tag(tag) {}
  virtual ~NativeObject() = default;
  // For copy.deepcopy and copy.copy of an instance whose class defines no __deepcopy__/__copy__:
  // the payload of the copy. nullptr means "cannot be copied".
  virtual NativeObject* Copy(Interpreter& interp) { return nullptr; }
  const void* const tag;  // identifies a frequently tested class without RTTI
};
using NativeFactory = std::function<NativeObject*(Interpreter&)>;  // allocate with interp.heap().New<T>()

struct ClassObject : Object {
  ClassObject() : Object(ObjectKind::kClass) {}
  StrObject* name = nullptr;
  StrObject* qualname = nullptr;
  Value module;
  HeapVector<ClassObject*> bases;
  HeapVector<ClassObject*> mro;                       // this class first
  HeapVector<ClassObject*> subclasses;                // direct ones, for cache invalidation
  ObjectKind layout = ObjectKind::kInstance;          // of instances
  HeapFunction<NativeObject*(Interpreter&)> payload;  // inherited from the first base that has one
  HeapNativeFunction native_new;  // of built-in classes: called with the class as args.positional[0]
  bool is_native = false;         // attributes cannot be set by programs
  bool is_final = false;          // cannot be a base class (bool, NoneType, ...)
  // What instances look up on every access; UpdateClassFlags keeps it current.
  bool has_getattribute = false, has_getattr = false, has_setattr = false, has_delattr = false, has_eq = false,
       has_hash = false, has_bool_or_len = false, has_init = false, has_new = false, has_call = false, has_get = false,
       has_set_or_delete = false;
  bool has_metaclass = false;  // cls is a class other than type
  bool slots_only = false;     // instances have the attributes of __slots__ and no __dict__
};

struct ModuleObject : Object {
  ModuleObject() : Object(ObjectKind::kModule) {}
  StrObject* name = nullptr;
  const CodeUnit* unit = nullptr;  // null for native modules without source
  bool is_package = false;
  bool is_library = false;  // from a library root: its imports are lazy
  bool is_users = false;    // of the package of the model's file, where no module may be missing
  bool is_native = false;
  bool initializing = false;
  Value getattr_hook = Value::Unbound();
};

struct InstanceObject : Object {
  InstanceObject() : Object(ObjectKind::kInstance) {}
  NativeObject* native = nullptr;
};

struct TracebackEntry {
  const CodeUnit* unit = nullptr;
  const ast::Position* position = nullptr;  // in the unit's tree
  StrObject* function = nullptr;
};

struct ExceptionObject : Object {
  ExceptionObject() : Object(ObjectKind::kException) {}
  Value args;  // tuple
  Value cause, context;
  bool suppress_context = false;
  StrObject* suggestion = nullptr;       // of a NameError: a similar name that exists
  StrObject* hint = nullptr;             // what the user can do about it, if known
  HeapVector<TracebackEntry> traceback;  // innermost first
};

// Native iterators. Next returns Unbound at the end (a StopIteration is created only for next()).
class NativeIterator {
 public:
  virtual ~NativeIterator() = default;
  virtual Result<Value> Next(Interpreter& interp) = 0;
  virtual int64_t LengthHint() const { return -1; }
};
struct IteratorObject : Object {
  IteratorObject() : Object(ObjectKind::kIterator) {}
  NativeIterator* iterator = nullptr;
};

struct GeneratorObject : Object {
  GeneratorObject() : Object(ObjectKind::kGenerator) {}
  struct GeneratorState* state = nullptr;  // generator.h
  StrObject* name = nullptr;
  StrObject* qualname = nullptr;
};

struct GenericAliasObject : Object {
  GenericAliasObject() : Object(ObjectKind::kGenericAlias) {}
  Value origin;
  TupleObject* args = nullptr;
  bool is_union = false;  // X | Y: origin is None
};

// A module, or one name of it, that will be loaded at its first use.
struct LazyObject : Object {
  LazyObject() : Object(ObjectKind::kLazy) {}
  StrObject* module = nullptr;     // absolute dotted name
  StrObject* attribute = nullptr;  // null: the module itself
  Value resolved = Value::Unbound();
};

// `import PIL` in a library file when there is no PIL: every attribute is opaque too; calling one
// is unsupported.
struct OpaqueObject : Object {
  OpaqueObject() : Object(ObjectKind::kOpaque) {}
  StrObject* dotted_name = nullptr;
};

// ---- the part of dict_table.h that needs StrObject ----

inline uint64_t HashOfStr(const StrObject* s) {
  if (s->hash == 0) s->hash = HashOfText(s->view());
  return s->hash;
}

inline int64_t DictTable::FindStr(const StrObject* key) const {
  if (index_size_ == 0) return -1;
  const uint64_t hash = HashOfStr(key);
  const int32_t at = index_[hash & (index_size_ - 1)];
  if (at == kEmpty) return -1;
  if (at >= 0 && entries_[static_cast<size_t>(at)].key.IsObject(key)) return at;
  return FindStrFrom(key, hash);
}

inline Value* DictTable::GetStr(const StrObject* key) {
  const int64_t i = FindStr(key);
  return i < 0 ? nullptr : &entries_[static_cast<size_t>(i)].value;
}

template <typename Guess>
inline Value* DictTable::GetStr(const StrObject* key, Guess& guess) {
  const size_t guessed = guess.load(std::memory_order_relaxed);
  if (guessed < entries_.size() && entries_[guessed].key.IsObject(key)) return &entries_[guessed].value;
  const int64_t i = FindStr(key);
  if (i < 0) return nullptr;
  if (i < 0xffff) guess.store(static_cast<uint16_t>(i), std::memory_order_relaxed);
  return &entries_[static_cast<size_t>(i)].value;
}

inline bool Value::Is(ObjectKind kind) const { return tag_ == Tag::kObject && object_->kind == kind; }
inline absl::string_view Value::str() const { return as<StrObject>()->view(); }

// The payload of an instance if it is a T (or derived from one), else nullptr.
//   if (Tensor* t = NativeCast<Tensor>(value)) ...
template <typename T>
T* NativeCast(Value value) {
  if (!value.IsInstance()) return nullptr;
  return dynamic_cast<T*>(value.as<InstanceObject>()->native);
}

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_OBJECT_H_
