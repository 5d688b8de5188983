// Heap memory of values, as glibc's malloc counts it: for caches that are bounded in bytes.
#ifndef COBRA_BASE_BYTES_HEAP_BYTES_H_
#define COBRA_BASE_BYTES_HEAP_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"

namespace cobra {

// One allocation of `size` bytes: with malloc's header, in units of 16 bytes, at least 32.
constexpr int64_t MallocBytes(size_t size) {
  return size == 0 ? 0 : static_cast<int64_t>(std::max<size_t>(32, (size + 8 + 15) & ~size_t{15}));
}

// A short text is kept inside the string itself.
inline int64_t HeapBytes(const std::string& text) {
  return text.capacity() <= std::string().capacity() ? 0 : MallocBytes(text.capacity() + 1);
}

// Excluding what the elements hold.
template <typename T>
int64_t HeapBytes(const std::vector<T>& values) {
  return MallocBytes(values.capacity() * sizeof(T));
}

template <typename T, size_t N>
int64_t HeapBytes(const absl::InlinedVector<T, N>& values) {
  return values.capacity() <= N ? 0 : MallocBytes(values.capacity() * sizeof(T));
}

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_HEAP_BYTES_H_
