// The heap of an interpreter: one range of address space, allocated by incrementing a pointer and
// released at once. Buffers of growing containers are returned to a free list of their size class,
// so appending costs at most twice the final size.
//
// A heap can be FROZEN once. Its contents become the image, and Rollback() restores the image byte
// for byte, whatever was written or allocated since. The image is a private mapping of a memory
// file, so the kernel copies a page before it is written to, and knows which pages it copied
// (dirty_pages.h). Rollback() fills those pages from the image again. They stay mapped, because a
// request writes mostly to the same pages as the one before, and a page fault costs as much as
// running twenty statements. No change has to be undone by its author. This holds for every byte on
// the heap. Objects that own memory elsewhere (those with a destructor) are compared with the image
// instead; if one has changed, Rollback() returns false, and the heap must be destroyed.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_HEAP_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/python/runtime/heap/dirty_pages.h"

namespace cobra::python {

// For types that own memory outside the heap but are immutable: Rollback() does not compare them.
template <typename T>
struct IsImmutable : std::false_type {};

class Heap {
 public:
  // Reserves address space for the budget and `spare_bytes`; 0: three times the budget and 64 MiB.
  explicit Heap(int64_t budget_bytes, int64_t spare_bytes = 0);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Never fails: the interpreter checks exhausted() at every step, and code that allocates an
  // amount chosen by the program calls CanAllocate() first.
  void* Allocate(size_t bytes) {
    bytes = (bytes + 15) & ~size_t{15};
    if (bytes > static_cast<size_t>(end_ - next_)) OutOfSpace();
    char* p = next_;
    next_ += bytes;
    return p;
  }
  bool CanAllocate(int64_t bytes) const { return bytes <= budget_bytes_ - used_bytes(); }
  bool exhausted() const { return used_bytes() > budget_bytes_; }
  int64_t used_bytes() const { return next_ - begin_; }
  int64_t budget_bytes() const { return budget_bytes_; }

  // Runs T's destructor at the end if it has one.
  template <typename T, typename... Args>
  T* New(Args&&... args) {
    T* t = new (Allocate(sizeof(T))) T(std::forward<Args>(args)...);
    if constexpr (!std::is_trivially_destructible_v<T>) {
      destructors_.push_back({t, &Destroy<T>, IsImmutable<T>::value ? 0 : sizeof(T)});
    }
    return t;
  }

  // Calls `visit`(T&) for each T that New() made and that has a destructor.
  template <typename T, typename F>
  void ForEach(F visit) {
    for (const Destructor& destructor : destructors_) {
      if (destructor.run == &Destroy<T>) visit(*static_cast<T*>(destructor.object));
    }
  }

  // A buffer of 2^log2_bytes bytes, to be released with FreeBlock().
  void* AllocateBlock(int log2_bytes);
  void FreeBlock(void* block, int log2_bytes);

  // Makes the current contents the image. False if the system does not support it; the heap is then
  // unchanged.
  bool Freeze();
  bool frozen() const { return image_ != nullptr; }
  // Destroys objects created since Freeze() and restores the image. REQUIRES: frozen().
  bool Rollback();
  bool InImage(const void* p) const { return p >= begin_ && p < begin_ + image_bytes_; }
  // Call before another thread writes to this heap, because Rollback() counts page faults of its
  // own thread only.
  void NoteThread();

 private:
  struct Destructor {
    void* object;
    void (*run)(void*);
    size_t compared_bytes;
  };
  template <typename T>
  static void Destroy(void* object) {
    static_cast<T*>(object)->~T();
  }
  [[noreturn]] void OutOfSpace() const;
  bool RestorePages();

  char* next_ = nullptr;
  char* end_ = nullptr;
  char* begin_ = nullptr;
  size_t reserved_bytes_ = 0;
  int64_t budget_bytes_;
  std::vector<Destructor> destructors_;
  void* free_blocks_[64] = {};

  const char* image_ = nullptr;  // a second, read-only mapping of the frozen bytes
  size_t image_bytes_ = 0;
  size_t image_destructors_ = 0;
  void* image_free_blocks_[64] = {};
  std::vector<Destructor> image_compared_;  // those of the image whose bytes must not have changed
  std::vector<uint32_t> dirty_pages_;       // of the image: those that have been written to since it was mapped
  FaultCount faults_;                       // when dirty_pages_ was right
  bool other_threads_ = false;              // one of them ran since
};

// A growing array of trivially copyable T whose buffer is on the Heap; itself trivially
// destructible.
template <typename T>
class HeapVector {
 public:
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  void push_back(Heap& heap, T value) {
    if (size_ == capacity()) Grow(heap, size_ + 1);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void reserve(Heap& heap, size_t n) {
    if (n > capacity()) Grow(heap, n);
  }
  void resize(Heap& heap, size_t n, T fill = T()) {
    reserve(heap, n);
    for (size_t i = size_; i < n; ++i) data_[i] = fill;
    size_ = n;
  }
  void clear() { size_ = 0; }
  void insert(Heap& heap, size_t at, T value) {
    push_back(heap, value);
    std::memmove(static_cast<void*>(data_ + at + 1), data_ + at, (size_ - 1 - at) * sizeof(T));
    data_[at] = value;
  }
  void erase(size_t first, size_t last) {
    if (first == last) return;  // of nothing, perhaps at null
    std::memmove(static_cast<void*>(data_ + first), data_ + last, (size_ - last) * sizeof(T));
    size_ -= last - first;
  }
  // With the same capacity. REQUIRES: this one is new.
  void copy(Heap& heap, const HeapVector& other) {
    if (other.log2_bytes_ == 0) return;
    data_ = static_cast<T*>(heap.AllocateBlock(other.log2_bytes_));
    std::memcpy(static_cast<void*>(data_), other.data_, other.size_ * sizeof(T));
    size_ = other.size_;
    log2_bytes_ = other.log2_bytes_;
  }
  void swap(HeapVector& other) { std::swap(*this, other); }
  void release(Heap& heap) {
    if (log2_bytes_ != 0) heap.FreeBlock(data_, log2_bytes_);
    *this = HeapVector();
  }
  template <typename Range>
  void assign(Heap& heap, const Range& range) {
    clear();
    for (const T& t : range) push_back(heap, t);
  }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  size_t capacity() const { return log2_bytes_ == 0 ? 0 : (size_t{1} << log2_bytes_) / sizeof(T); }
  void Grow(Heap& heap, size_t want) {
    int log2 = log2_bytes_ == 0 ? 6 : log2_bytes_ + 1;
    while ((size_t{1} << log2) / sizeof(T) < want) ++log2;
    T* data = static_cast<T*>(heap.AllocateBlock(log2));
    if (size_ > 0) std::memcpy(static_cast<void*>(data), data_, size_ * sizeof(T));
    if (log2_bytes_ != 0) heap.FreeBlock(data_, log2_bytes_);
    data_ = data;
    log2_bytes_ = log2;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  int log2_bytes_ = 0;
};

template <typename Signature>
struct FunctionHolder {
  std::function<Signature> function;
};
template <typename Signature>
struct IsImmutable<FunctionHolder<Signature>> : std::true_type {};

// A callable whose captures are outside the heap: created once, shared by copies, never changed.
template <typename Signature>
class HeapFunction {
 public:
  HeapFunction() = default;
  HeapFunction(Heap& heap, std::function<Signature> function)
      : function_(function ? heap.New<Holder>(Holder{std::move(function)}) : nullptr) {}
  explicit operator bool() const { return function_ != nullptr; }
  template <typename... Args>
  auto operator()(Args&&... args) const {
    return function_->function(std::forward<Args>(args)...);
  }

 private:
  using Holder = FunctionHolder<Signature>;
  const Holder* function_ = nullptr;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_HEAP_H_
