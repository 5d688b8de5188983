#include "worker/meter/plain_speed.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/statistics.h"
#include "worker/meter/meter.h"
#include "worker/meter/plain_kernels.h"

namespace cobra::worker {

namespace plain_base {
extern const PlainKernels kPlainKernels;
}
#ifdef COBRA_PLAIN_X86
namespace plain_avx2 {
extern const PlainKernels kPlainKernels;
}
namespace plain_avx512 {
extern const PlainKernels kPlainKernels;
}
#endif

const PlainKernels& PlainKernelsFor(int most_vector_bits) {
#ifdef COBRA_PLAIN_X86
  if (most_vector_bits >= 512 && __builtin_cpu_supports("avx512f")) return plain_avx512::kPlainKernels;
  if (most_vector_bits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return plain_avx2::kPlainKernels;
#endif
  return plain_base::kPlainKernels;
}

namespace {

constexpr int64_t kMostVectorFloats = 16;
constexpr size_t kLineBytes = 64;

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};
using Floats = std::shared_ptr<float>;

// Written once, so that all pages are there; null: no memory. `value` is small enough that sums of
// sums stay finite.
Floats NewFloats(int64_t count, float value) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, kLineBytes, static_cast<size_t>(count) * sizeof(float)) != 0) return nullptr;
  Floats floats(static_cast<float*>(memory), Free());
  std::fill_n(floats.get(), count, value);
  return floats;
}

int64_t RoundedUp(int64_t count, int64_t to) { return (count + to - 1) / to * to; }

// Threads wait for each other here, busily: their way to the next run must not take longer than one
// of OpenMP's.
class Meeting {
 public:
  explicit Meeting(int threads) : threads_(threads) {}
  void Wait() {
    const int round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    constexpr int kPatience = 10'000;  // then the last one may wait for this processor
    for (int i = 0; round_.load(std::memory_order_acquire) == round; ++i) {
      if (i > kPatience) std::this_thread::yield();
    }
  }

 private:
  const int threads_;
  std::atomic<int> arrived_{0}, round_{0};
};

// Each thread runs its part of the work.
double MedianUs(int threads, int runs, const std::function<void(int thread)>& part) {
  std::vector<double> samples_us;
  Meeting meeting(threads);
  const auto work = [&](int thread) {
    for (int i = 0; i < runs; ++i) {
      meeting.Wait();
      const double start_ns = SteadyNowNs();
      part(thread);
      meeting.Wait();
      if (thread == 0) samples_us.push_back((SteadyNowNs() - start_ns) / 1000);
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
  work(0);
  for (std::thread& other : others) other.join();
  return Median(std::move(samples_us));
}

// Of `count` in whole `unit`s, the part of a thread: from `first` to before `second`.
std::pair<int64_t, int64_t> PartOf(int64_t count, int64_t unit, int thread, int threads) {
  const int64_t units = (count + unit - 1) / unit;
  const auto edge = [&](int64_t at) { return std::min(count, units * at / threads * unit); };
  return {edge(thread), edge(thread + 1)};
}

// What lies in which cache while a product is computed: a panel of w in the first, a block of x in
// the second one.
constexpr int64_t kDepth = 256, kBlockRows = 96;

// The tiles of some rows. x is in panels of tile_rows rows, w in panels of tile_columns columns,
// both cut in slices of kDepth: as any library packs them before it multiplies.
void MultiplyRows(const PlainKernels& kernels, const float* x, const float* w, int64_t size, int64_t first_row,
                  int64_t last_row, int64_t rows, int64_t columns, float* y) {
  for (int64_t k = 0; k < size; k += kDepth) {
    const int64_t depth = std::min(kDepth, size - k);
    const float *const x_slice = x + k * rows, *const w_slice = w + k * columns;
    const int64_t block = std::max<int64_t>(1, kBlockRows / kernels.tile_rows) * kernels.tile_rows;
    for (int64_t begin = first_row; begin < last_row; begin += block) {
      const int64_t end = std::min(begin + block, last_row);
      for (int64_t column = 0; column < columns; column += kernels.tile_columns) {
        for (int64_t row = begin; row < end; row += kernels.tile_rows)
          kernels.add_tile(x_slice + row * depth, w_slice + column * depth, depth, y + row * columns + column, columns);
      }
    }
  }
}

}  // namespace

TimedLoop PlainProduct(int64_t size, const PlainLimits& limits) {
  constexpr float kSmall = 1e-3F;
  const PlainKernels& kernels = PlainKernelsFor(limits.most_vector_bits);
  const int64_t rows = RoundedUp(size, kernels.tile_rows), columns = RoundedUp(size, kernels.tile_columns);
  const Floats x = NewFloats(rows * size, kSmall), w = NewFloats(columns * size, kSmall),
               y = NewFloats(rows * columns, 0);
  return [=, &kernels](int runs) {
    if (x == nullptr || w == nullptr || y == nullptr) return 0.0;
    return MedianUs(limits.threads, runs, [&](int thread) {
      const auto [first, last] = PartOf(rows, kernels.tile_rows, thread, limits.threads);
      MultiplyRows(kernels, x.get(), w.get(), size, first, last, rows, columns, y.get());
    });
  };
}

TimedLoop PlainCopy(int64_t floats, const PlainLimits& limits) {
  const PlainKernels& kernels = PlainKernelsFor(limits.most_vector_bits);
  const int64_t count = RoundedUp(floats, kMostVectorFloats);
  const Floats from = NewFloats(count, 1), to = NewFloats(count, 0);
  return [=, &kernels](int runs) {
    if (from == nullptr || to == nullptr) return 0.0;
    return MedianUs(limits.threads, runs, [&](int thread) {
      const auto [first, last] = PartOf(count, kMostVectorFloats, thread, limits.threads);
      kernels.copy(from.get() + first, last - first, to.get() + first);
    });
  };
}

TimedLoop PlainRelu(int64_t floats, const PlainLimits& limits) {
  const PlainKernels& kernels = PlainKernelsFor(limits.most_vector_bits);
  const int64_t count = RoundedUp(floats, kMostVectorFloats);
  const Floats x = NewFloats(count, 1);
  // As PyTorch: fewer numbers than these are not worth a second thread.
  constexpr int64_t kFewest = 32'768;
  const int threads = count < kFewest ? 1 : limits.threads;
  return [=, &kernels](int runs) {
    if (x == nullptr) return 0.0;
    return MedianUs(threads, runs, [&](int thread) {
      const auto [first, last] = PartOf(count, kMostVectorFloats, thread, threads);
      kernels.relu(x.get() + first, last - first);
    });
  };
}

}  // namespace cobra::worker
