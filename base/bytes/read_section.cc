#include "base/bytes/read_section.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cobra {
namespace {

struct alignas(64) ReadingThread {  // a cache line of its own: only its thread writes to it
  std::atomic<uint64_t> epoch{0};
  std::atomic<bool> is_taken{false};
};

std::array<ReadingThread, kMostReadingThreads> reading_threads;
std::atomic<int> num_ever_taken{0};  // places at the end that no thread has ever had
std::atomic<uint64_t> this_epoch{1};

// A thread's place until it ends.
struct Place {
  Place() {
    for (int i = 0; i < kMostReadingThreads; ++i) {
      bool expected = false;
      if (!reading_threads[i].is_taken.compare_exchange_strong(expected, true)) continue;
      thread = &reading_threads[i];
      int before = num_ever_taken.load();
      while (before < i + 1 && !num_ever_taken.compare_exchange_weak(before, i + 1)) {
      }
      return;
    }
  }
  ~Place() {
    if (thread != nullptr) std::exchange(thread, nullptr)->is_taken.store(false);
  }
  ReadingThread* thread = nullptr;
};

}  // namespace

// Sequentially consistent: either OldestReadEpoch() sees the store, or what this thread reads
// afterwards is what is linked after the unlinking.
ReadSection::ReadSection() : epoch_(nullptr) {
  thread_local Place place;
  if (place.thread == nullptr) return;
  epoch_ = &place.thread->epoch;
  epoch_->store(this_epoch.load(std::memory_order_acquire), std::memory_order_seq_cst);
}

uint64_t UnlinkEpoch() { return this_epoch.fetch_add(1, std::memory_order_seq_cst); }

uint64_t OldestReadEpoch() {
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  const int count = num_ever_taken.load(std::memory_order_seq_cst);
  for (int i = 0; i < count; ++i) {
    const uint64_t epoch = reading_threads[static_cast<size_t>(i)].epoch.load(std::memory_order_seq_cst);
    if (epoch != 0) oldest = std::min(oldest, epoch);
  }
  return oldest;
}

}  // namespace cobra
