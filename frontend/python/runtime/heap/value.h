// The Python value: a 16-byte, trivially copyable handle. None, bool, 64-bit int, float, Ellipsis
// and NotImplemented live in the handle itself; everything else is an Object (object.h) on the
// interpreter's Heap (heap.h).
//
// Nothing is reference counted or collected: an object lives until its Interpreter dies, and the
// heap's byte budget bounds that. So a Value may be stored anywhere (in a graph, a native payload,
// a C++ container).
//
// Errors. A function that can fail returns Result<T>. A failed Result carries nothing: the error (a
// Python exception, or an interpreter failure that the program cannot catch) is pending in the
// Interpreter, which alone can make one:
//   return interp.Raise(interp.types().ValueError, "bad stride");   // Python exception, catchable
//                                                                   // by the program
//   return interp.Unsupported("torch.foo");                         // diagnostic kUnsupported, not
//                                                                   // catchable
//   return interp.DataDependent("bool(Tensor)");                    // diagnostic kDataDependent,
//                                                                   // not catchable
// All of these return a Failure, which converts to any Result<T>.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_VALUE_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_VALUE_H_

#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"

namespace cobra::python {

class Interpreter;
struct Object;
struct StrObject;
struct BytesObject;
struct BigIntObject;
struct TupleObject;
struct ListObject;
struct DictObject;
struct SetObject;
struct ClassObject;
struct ModuleObject;
struct FunctionObject;
struct BuiltinObject;
struct InstanceObject;
struct ExceptionObject;

// The memory layout of an Object. A user class that derives from a built-in one has that one's
// kind, but its own class: IsList() tests for the layout of a list, class_of() returns the class.
enum class ObjectKind : uint8_t {
#define COBRA_OBJECT_KIND(name, python_name) k##name,
#include "frontend/python/runtime/heap/object_kinds.def"
#undef COBRA_OBJECT_KIND
};

class Value {
 public:
  enum class Tag : uint8_t { kError, kUnbound, kNone, kEllipsis, kNotImplemented, kBool, kInt, kFloat, kObject };

  constexpr Value() : tag_(Tag::kNone), int_(0) {}
  Value(Object* object) : tag_(Tag::kObject), object_(object) {}  // NOLINT: implicit on purpose, never nullptr

  static constexpr Value None() { return Value(); }
  static constexpr Value Ellipsis() { return Value(Tag::kEllipsis); }
  static constexpr Value NotImplemented() { return Value(Tag::kNotImplemented); }
  static constexpr Value Bool(bool b) { return Value(Tag::kBool, b ? 1 : 0); }
  static constexpr Value Int(int64_t i) { return Value(Tag::kInt, i); }
  static constexpr Value Float(double d) { return Value(d); }
  // An empty slot: a local that is not bound, a deleted dict entry. Never visible to a program.
  static constexpr Value Unbound() { return Value(Tag::kUnbound); }
  static constexpr Value Error() { return Value(Tag::kError); }

  Tag tag() const { return tag_; }
  bool IsError() const { return tag_ == Tag::kError; }
  bool IsUnbound() const { return tag_ == Tag::kUnbound; }
  bool IsNone() const { return tag_ == Tag::kNone; }
  bool IsEllipsis() const { return tag_ == Tag::kEllipsis; }
  bool IsNotImplemented() const { return tag_ == Tag::kNotImplemented; }
  bool IsBool() const { return tag_ == Tag::kBool; }
  bool IsInt() const { return tag_ == Tag::kInt; }                              // fits int64; neither bool nor big
  bool IsIntOrBool() const { return tag_ == Tag::kInt || tag_ == Tag::kBool; }  // as_int() is valid
  bool IsFloat() const { return tag_ == Tag::kFloat; }
  bool IsObject() const { return tag_ == Tag::kObject; }
  bool IsObject(const Object* object) const { return tag_ == Tag::kObject && object_ == object; }
  inline bool Is(ObjectKind kind) const;

#define COBRA_OBJECT_KIND(name, python_name) \
  bool Is##name() const { return Is(ObjectKind::k##name); }
#include "frontend/python/runtime/heap/object_kinds.def"
#undef COBRA_OBJECT_KIND

  // Valid only when the matching Is...() holds.
  bool as_bool() const { return int_ != 0; }
  int64_t as_int() const { return int_; }  // of int and bool
  double as_float() const { return float_; }
  Object* object() const { return object_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(object_);
  }
  inline absl::string_view str() const;  // of a Str

  // Python's `is`.
  bool IsSame(Value other) const { return tag_ == other.tag_ && int_ == other.int_; }

 private:
  constexpr explicit Value(Tag tag) : tag_(tag), int_(0) {}
  constexpr Value(Tag tag, int64_t i) : tag_(tag), int_(i) {}
  constexpr explicit Value(double d) : tag_(Tag::kFloat), float_(d) {}

  Tag tag_;
  union {
    int64_t int_;
    double float_;
    Object* object_;
  };
};
static_assert(sizeof(Value) == 16 && std::is_trivially_copyable_v<Value>);

// "An error is pending in the interpreter." Only Interpreter makes them.
struct [[nodiscard]] Failure {};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(Failure) : ok_(false), value_() {}                 // NOLINT
  Result(T value) : ok_(true), value_(std::move(value)) {}  // NOLINT
  bool ok() const { return ok_; }
  T& operator*() { return value_; }
  const T& operator*() const { return value_; }
  T* operator->() { return &value_; }

 private:
  bool ok_;
  T value_;
};

// Two registers.
template <>
class [[nodiscard]] Result<Value> {
 public:
  Result(Failure) : value_(Value::Error()) {}  // NOLINT
  Result(Value value) : value_(value) {}       // NOLINT
  Result(Object* object) : value_(object) {}   // NOLINT
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Object, T>>>
  Result(T* object) : value_(static_cast<Object*>(object)) {}  // NOLINT
  bool ok() const { return !value_.IsError(); }
  Value& operator*() { return value_; }
  const Value& operator*() const { return value_; }
  Value* operator->() { return &value_; }

 private:
  Value value_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() : ok_(true) {}
  Result(Failure) : ok_(false) {}  // NOLINT
  bool ok() const { return ok_; }

 private:
  bool ok_;
};

// COBRA_TRY(F()): returns Failure() from the enclosing function if F() failed.
#define COBRA_TRY(expr)                                  \
  do {                                                   \
    if (!(expr).ok()) return ::cobra::python::Failure(); \
  } while (false)

// COBRA_TRY_ASSIGN(Value v, F()): declares or assigns, or returns Failure().
#define COBRA_TRY_ASSIGN(lhs, expr) COBRA_TRY_ASSIGN_IMPL_(COBRA_TRY_CONCAT_(cobra_result_, __LINE__), lhs, expr)
#define COBRA_TRY_ASSIGN_IMPL_(var, lhs, expr)      \
  auto var = (expr);                                \
  if (!var.ok()) return ::cobra::python::Failure(); \
  lhs = std::move(*var)
// COBRA_TRY_SET(v, F()): the same for a variable that exists; one statement, so it may follow an
// `if` without braces.
#define COBRA_TRY_SET(lhs, expr)                                \
  do {                                                          \
    auto cobra_result_ = (expr);                                \
    if (!cobra_result_.ok()) return ::cobra::python::Failure(); \
    lhs = std::move(*cobra_result_);                            \
  } while (false)
#define COBRA_TRY_CONCAT_INNER_(a, b) a##b
#define COBRA_TRY_CONCAT_(a, b) COBRA_TRY_CONCAT_INNER_(a, b)

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_VALUE_H_
