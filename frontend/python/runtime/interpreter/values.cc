// Making objects.
#include <cstring>

#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

// Determines whether the text is ASCII and how many code points it has.
void Measure(StrObject* s) {
  constexpr uint64_t kHighBits = 0x8080808080808080u;
  uint64_t seen = 0;
  int64_t i = 0;
  for (; i + 8 <= s->size; i += 8) {
    uint64_t word;
    std::memcpy(&word, s->data + i, 8);
    seen |= word;
  }
  for (; i < s->size; ++i) seen |= static_cast<unsigned char>(s->data[i]);
  s->ascii = (seen & kHighBits) == 0;
  s->length = s->size;
  if (s->ascii) return;
  for (i = 0; i < s->size; ++i) s->length -= (static_cast<unsigned char>(s->data[i]) & 0xc0) == 0x80;
}

StrObject* MakeStr(Interpreter& interp, absl::string_view text) {
  Heap& heap = interp.heap();
  char* memory = static_cast<char*>(heap.Allocate(sizeof(StrObject) + text.size()));
  StrObject* s = new (memory) StrObject();
  char* data = memory + sizeof(StrObject);
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  s->cls = interp.types().str;
  s->data = data;
  s->size = static_cast<int64_t>(text.size());
  Measure(s);
  return s;
}

template <typename T>
T* Make(Interpreter& interp, ClassObject* cls) {
  T* t = interp.heap().New<T>();
  t->cls = cls;
  return t;
}

}  // namespace

StrObject* InternTable::Find(absl::string_view text, uint64_t hash) const {
  if (slots_.empty()) return nullptr;
  const size_t mask = slots_.size() - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    StrObject* s = slots_[i];
    if (s == nullptr || (s->hash == hash && s->view() == text)) return s;
  }
}

void InternTable::Add(Heap& heap, StrObject* s) {
  if ((count_ + 1) * 2 > slots_.size()) {
    HeapVector<StrObject*> old = slots_;
    slots_ = {};
    slots_.resize(heap, old.empty() ? 4096 : old.size() * 2, nullptr);
    for (StrObject* other : old) {
      if (other != nullptr) Place(other);
    }
    old.release(heap);
  }
  ++count_;
  Place(s);
}

void InternTable::Place(StrObject* s) {
  const size_t mask = slots_.size() - 1;
  size_t i = s->hash & mask;
  while (slots_[i] != nullptr) i = (i + 1) & mask;
  slots_[i] = s;
}

StrObject* Interpreter::NewStr(absl::string_view utf8) {
  if (utf8.empty() && state_->empty_str != nullptr) return state_->empty_str;
  if (utf8.size() == 1 && static_cast<unsigned char>(utf8[0]) < 128) {
    StrObject*& s = state_->single_characters[static_cast<unsigned char>(utf8[0])];
    if (s == nullptr) s = Intern(utf8);
    return s;
  }
  return MakeStr(*this, utf8);
}

StrObject* Interpreter::Intern(absl::string_view text) {
  Spend(StepsToCopy(text.size()));
  const uint64_t hash = HashOfText(text);
  if (StrObject* found = state_->interned.Find(text, hash)) return found;
  Spend(20);
  StrObject* s = MakeStr(*this, text);
  s->interned = true;
  s->hash = hash;
  state_->interned.Add(heap_, s);
  return s;
}

StrObject* Interpreter::InternStr(StrObject* s) {
  if (s->interned) return s;
  Spend(StepsToCopy(s->view().size()));
  if (StrObject* found = state_->interned.Find(s->view(), HashOfStr(s))) return found;
  if (s->cls != types_.str) return Intern(s->view());
  Spend(20);
  s->interned = true;
  state_->interned.Add(heap_, s);
  return s;
}

BytesObject* Interpreter::NewBytes(absl::string_view bytes) {
  if (bytes.empty() && state_->empty_bytes != nullptr) return state_->empty_bytes;
  char* memory = static_cast<char*>(heap_.Allocate(sizeof(BytesObject) + bytes.size()));
  BytesObject* b = new (memory) BytesObject();
  char* data = memory + sizeof(BytesObject);
  if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
  b->cls = types_.bytes;
  b->data = data;
  b->size = static_cast<int64_t>(bytes.size());
  return b;
}

TupleObject* Interpreter::NewTupleOfSize(int64_t size) {
  if (size == 0 && state_->empty_tuple != nullptr) return state_->empty_tuple;
  char* memory = static_cast<char*>(heap_.Allocate(sizeof(TupleObject) + static_cast<size_t>(size) * sizeof(Value)));
  TupleObject* t = new (memory) TupleObject();
  t->cls = types_.tuple;
  t->size = size;
  t->items = reinterpret_cast<Value*>(memory + sizeof(TupleObject));
  for (int64_t i = 0; i < size; ++i) new (&t->items[i]) Value();
  return t;
}
static_assert(sizeof(TupleObject) % alignof(Value) == 0);

TupleObject* Interpreter::NewTuple(absl::Span<const Value> items) {
  TupleObject* t = NewTupleOfSize(static_cast<int64_t>(items.size()));
  for (size_t i = 0; i < items.size(); ++i) t->items[i] = items[i];
  return t;
}

ListObject* Interpreter::NewList(absl::Span<const Value> items) {
  ListObject* l = Make<ListObject>(*this, types_.list);
  l->items.reserve(heap_, items.size());
  for (Value v : items) l->items.push_back(heap_, v);
  return l;
}

DictObject* Interpreter::NewDict() { return Make<DictObject>(*this, types_.dict); }

SetObject* Interpreter::NewSet(bool frozen) {
  SetObject* s = Make<SetObject>(*this, frozen ? types_.frozenset : types_.set);
  s->frozen = frozen;
  return s;
}

Value Interpreter::NewInt(const BigInt& value) {
  if (value.FitsInt64()) return Value::Int(value.ToInt64());
  BigIntObject* b = Make<BigIntObject>(*this, types_.int_type);
  b->value = value;
  // The words are outside the heap but are counted, plus half as much for touched pages between the
  // objects.
  heap_.Allocate(static_cast<size_t>(32 + value.bits() / 16 * 3));
  return b;
}

Value Interpreter::NewComplex(double real, double imag) {
  ComplexObject* c = Make<ComplexObject>(*this, types_.complex_type);
  c->real = real;
  c->imag = imag;
  return c;
}

SliceObject* Interpreter::NewSlice(Value start, Value stop, Value step) {
  SliceObject* s = Make<SliceObject>(*this, types_.slice);
  s->start = start;
  s->stop = stop;
  s->step = step;
  return s;
}

Result<Value> Interpreter::NewRange(int64_t start, int64_t stop, int64_t step) {
  if (step == 0) return Raise(types_.ValueError, "range() arg 3 must not be zero");
  RangeObject* r = Make<RangeObject>(*this, types_.range);
  r->start = start;
  r->stop = stop;
  r->step = step;
  if (step > 0 && start < stop) {
    uint64_t span = static_cast<uint64_t>(stop) - static_cast<uint64_t>(start) - 1;
    r->length = static_cast<int64_t>(span / static_cast<uint64_t>(step)) + 1;
  } else if (step < 0 && start > stop) {
    uint64_t span = static_cast<uint64_t>(start) - static_cast<uint64_t>(stop) - 1;
    r->length = static_cast<int64_t>(span / (uint64_t{0} - static_cast<uint64_t>(step))) + 1;
  }
  if (r->length < 0) return Unsupported("a range of more than 2^63 items");
  return Value(r);
}

BuiltinObject* NewBuiltin(Interpreter& interp, absl::string_view name, NativeFunction function) {
  BuiltinObject* b = Make<BuiltinObject>(interp, interp.types().builtin_function);
  b->name = b->qualname = interp.Intern(name);
  b->function = HeapNativeFunction(interp.heap(), std::move(function));
  return b;
}

Value Interpreter::NewFunction(absl::string_view name, NativeFunction function) {
  return NewBuiltin(*this, name, std::move(function));
}

Value Interpreter::NewIterator(NativeIterator* iterator) {
  IteratorObject* i = Make<IteratorObject>(*this, types_.iterator);
  i->iterator = iterator;
  return i;
}

Value Interpreter::NewBoundMethod(Value self, Value function) {
  BoundMethodObject* m = Make<BoundMethodObject>(*this, types_.method);
  m->self = self;
  m->function = function;
  return m;
}

Value Interpreter::NewProperty(Value getter, Value setter) {
  PropertyObject* p = Make<PropertyObject>(*this, types_.property);
  p->getter = getter;
  p->setter = setter;
  return p;
}

InstanceObject* Interpreter::NewInstance(ClassObject* cls, NativeObject* payload) {
  InstanceObject* i = Make<InstanceObject>(*this, cls);
  i->native = payload != nullptr || !cls->payload ? payload : cls->payload(*this);
  return i;
}

Value Interpreter::NewException(ClassObject* cls, absl::string_view message) {
  ExceptionObject* e = Make<ExceptionObject>(*this, cls);
  e->args = NewTuple({Value(NewStr(message))});
  return e;
}

}  // namespace cobra::python
