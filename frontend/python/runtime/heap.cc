#include "frontend/python/runtime/heap.h"

#include <algorithm>
#include <cstdlib>

namespace cobra::python {
namespace {
constexpr size_t kLargestChunkBytes = size_t{4} << 20;
constexpr int kSmallBlockLog2 = 15;  // larger blocks get memory of their own, so that chunks waste little
}  // namespace

Heap::~Heap() {
  for (size_t i = destructors_.size(); i > 0; --i) destructors_[i - 1].run(destructors_[i - 1].object);
  for (const Chunk& chunk : chunks_) std::free(chunk.memory);
}

void* Heap::AllocateSlow(size_t bytes) {
  if (bytes > chunk_bytes_ / 4) {
    void* memory = std::malloc(bytes);
    if (memory == nullptr) std::abort();
    chunks_.push_back({memory, bytes});
    used_bytes_ += static_cast<int64_t>(bytes);
    return memory;
  }
  char* memory = static_cast<char*>(std::malloc(chunk_bytes_));
  if (memory == nullptr) std::abort();
  chunks_.push_back({memory, chunk_bytes_});
  used_bytes_ += static_cast<int64_t>(chunk_bytes_);
  next_ = memory;
  end_ = memory + chunk_bytes_;
  chunk_bytes_ = std::min(chunk_bytes_ * 2, kLargestChunkBytes);
  char* p = next_;
  next_ += bytes;
  return p;
}

void* Heap::AllocateBlock(int log2_bytes) {
  if (void* block = free_blocks_[log2_bytes]) {
    free_blocks_[log2_bytes] = *static_cast<void**>(block);
    return block;
  }
  if (log2_bytes <= kSmallBlockLog2) return Allocate(size_t{1} << log2_bytes);
  size_t bytes = size_t{1} << log2_bytes;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  chunks_.push_back({memory, bytes});
  used_bytes_ += static_cast<int64_t>(bytes);
  return memory;
}

void Heap::FreeBlock(void* block, int log2_bytes) {
  *static_cast<void**>(block) = free_blocks_[log2_bytes];
  free_blocks_[log2_bytes] = block;
}

}  // namespace cobra::python
