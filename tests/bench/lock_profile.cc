// How long a program's threads hold their locks (absl::Mutex), by the function that takes them: for
// `cobra-bench locks`, which loads this library into cobra-server (LD_PRELOAD) and reads what it
// writes at the end to the file of the environment variable COBRA_LOCK_PROFILE: a line for each
// place with its offset in its program, how often it took a lock, how often the kernel preempted
// the holder, the sum and the longest of the other times in nanoseconds, and their histogram in
// steps of 100 ns. Works with an Abseil that is a shared library, as Debian's.
#include <dlfcn.h>
#include <sys/resource.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/mutex.h"

namespace {

constexpr size_t kSites = 4096, kDepth = 32, kBuckets = 400;
constexpr uint64_t kStepNs = 100, kLongNs = 2000;

struct Site {
  std::atomic<const void*> address{nullptr};
  std::atomic<uint64_t> count{0}, preempted{0}, sum_ns{0}, longest_ns{0};
  std::array<std::atomic<uint32_t>, kBuckets> histogram{};
};
std::array<Site, kSites> sites;

struct Held {
  const void* mutex;
  const void* site;
  uint64_t since_ns;
};
struct Thread {
  std::array<Held, kDepth> held;
  size_t depth = 0;
  long preemptions = 0;
};
thread_local Thread self;

uint64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Since this thread last asked. Asking takes longer than most locks are held.
bool WasPreempted() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  const bool was = usage.ru_nivcsw != self.preemptions;
  self.preemptions = usage.ru_nivcsw;
  return was;
}

Site* SiteOf(const void* address) {
  size_t slot = (reinterpret_cast<uintptr_t>(address) >> 2) % kSites;
  for (size_t i = 0; i < kSites; ++i, slot = (slot + 1) % kSites) {
    const void* expected = nullptr;
    Site& site = sites[slot];
    if (site.address.load(std::memory_order_relaxed) == address ||
        site.address.compare_exchange_strong(expected, address) || expected == address)
      return &site;
  }
  return nullptr;
}

void Taken(const void* mutex, const void* site) {
  if (self.depth < kDepth) self.held[self.depth] = {mutex, site, NowNs()};
  ++self.depth;
}

// Returns where it was taken. Most locks are released in the reverse order.
const void* Released(const void* mutex) {
  if (self.depth > kDepth || self.depth == 0) {
    self.depth -= self.depth > 0 ? 1 : 0;
    return nullptr;
  }
  size_t at = self.depth;
  while (at > 0 && self.held[at - 1].mutex != mutex) --at;
  if (at == 0) return nullptr;
  const Held held = self.held[at - 1];
  for (; at < self.depth; ++at) self.held[at - 1] = self.held[at];
  --self.depth;
  const uint64_t ns = NowNs() - held.since_ns;
  Site* const site = SiteOf(held.site);
  if (site == nullptr) return held.site;
  site->count.fetch_add(1, std::memory_order_relaxed);
  if (ns > kLongNs && WasPreempted()) {
    site->preempted.fetch_add(1, std::memory_order_relaxed);
    return held.site;
  }
  site->sum_ns.fetch_add(ns, std::memory_order_relaxed);
  const size_t bucket = ns / kStepNs < kBuckets ? ns / kStepNs : kBuckets - 1;
  site->histogram[bucket].fetch_add(1, std::memory_order_relaxed);
  uint64_t longest = site->longest_ns.load(std::memory_order_relaxed);
  while (ns > longest && !site->longest_ns.compare_exchange_weak(longest, ns)) {
  }
  return held.site;
}

// The function that this library stands before.
template <typename Function>
Function Following(const char* symbol) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

__attribute__((destructor)) void Write() {
  const char* const path = std::getenv("COBRA_LOCK_PROFILE");
  std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  for (const Site& site : sites) {
    const auto* const address = static_cast<const char*>(site.address.load());
    Dl_info info = {};
    if (address == nullptr || site.count == 0 || dladdr(address, &info) == 0) continue;
    std::fprintf(file, "%s %zx %lu %lu %lu %lu", info.dli_fname,
                 static_cast<size_t>(address - static_cast<const char*>(info.dli_fbase)), site.count.load(),
                 site.preempted.load(), site.sum_ns.load(), site.longest_ns.load());
    for (const auto& count : site.histogram) std::fprintf(file, " %u", count.load());
    std::fputc('\n', file);
  }
  std::fclose(file);
}

}  // namespace

#define COBRA_TEXT_OF(x) #x
#define COBRA_TEXT(x) COBRA_TEXT_OF(x)

namespace absl {
ABSL_NAMESPACE_BEGIN

namespace {
// A symbol of the name space that Abseil's release has.
const char* Mangled(const char* name) {
  thread_local char symbol[128];
  constexpr char kSpace[] = COBRA_TEXT(ABSL_OPTION_INLINE_NAMESPACE_NAME);
  std::snprintf(symbol, sizeof(symbol), "_ZN4absl%zu%s%s", sizeof(kSpace) - 1, kSpace, name);
  return symbol;
}
}  // namespace

void Mutex::Lock() {
  static const auto next = Following<void (*)(Mutex*)>(Mangled("5Mutex4LockEv"));
  next(this);
  Taken(this, __builtin_return_address(0));
}

void Mutex::Unlock() {
  static const auto next = Following<void (*)(Mutex*)>(Mangled("5Mutex6UnlockEv"));
  Released(this);
  next(this);
}

bool Mutex::TryLock() {
  static const auto next = Following<bool (*)(Mutex*)>(Mangled("5Mutex7TryLockEv"));
  const bool taken = next(this);
  if (taken) Taken(this, __builtin_return_address(0));
  return taken;
}

void Mutex::ReaderLock() {
  static const auto next = Following<void (*)(Mutex*)>(Mangled("5Mutex10ReaderLockEv"));
  next(this);
  Taken(this, __builtin_return_address(0));
}

void Mutex::ReaderUnlock() {
  static const auto next = Following<void (*)(Mutex*)>(Mangled("5Mutex12ReaderUnlockEv"));
  Released(this);
  next(this);
}

void Mutex::LockWhen(const Condition& condition) {
  static const auto next = Following<void (*)(Mutex*, const Condition&)>(Mangled("5Mutex8LockWhenERKNS0_9ConditionE"));
  next(this, condition);
  Taken(this, __builtin_return_address(0));
}

// Who waits does not hold.
void Mutex::Await(const Condition& condition) {
  static const auto next = Following<void (*)(Mutex*, const Condition&)>(Mangled("5Mutex5AwaitERKNS0_9ConditionE"));
  const void* const site = Released(this);
  next(this, condition);
  Taken(this, site);
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static const auto next = Following<bool (*)(Mutex*, const Condition&, Duration)>(
      Mangled("5Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE"));
  const void* const site = Released(this);
  const bool is_true = next(this, condition, timeout);
  Taken(this, site);
  return is_true;
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  static const auto next = Following<bool (*)(Mutex*, const Condition&, Time)>(
      Mangled("5Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE"));
  const void* const site = Released(this);
  const bool is_true = next(this, condition, deadline);
  Taken(this, site);
  return is_true;
}

void CondVar::Wait(Mutex* mutex) {
  static const auto next = Following<void (*)(CondVar*, Mutex*)>(Mangled("7CondVar4WaitEPNS0_5MutexE"));
  const void* const site = Released(mutex);
  next(this, mutex);
  Taken(mutex, site);
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static const auto next =
      Following<bool (*)(CondVar*, Mutex*, Duration)>(Mangled("7CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE"));
  const void* const site = Released(mutex);
  const bool is_late = next(this, mutex, timeout);
  Taken(mutex, site);
  return is_late;
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static const auto next =
      Following<bool (*)(CondVar*, Mutex*, Time)>(Mangled("7CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE"));
  const void* const site = Released(mutex);
  const bool is_late = next(this, mutex, deadline);
  Taken(mutex, site);
  return is_late;
}

ABSL_NAMESPACE_END
}  // namespace absl
