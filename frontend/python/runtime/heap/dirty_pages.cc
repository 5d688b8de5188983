#include "frontend/python/runtime/heap/dirty_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>

#include "base/process/address_space.h"

namespace cobra::python {
namespace {

// Bits of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63, kSwapped = uint64_t{1} << 62, kOfFile = uint64_t{1} << 61;

constexpr char kPagemap[] = "/proc/self/pagemap";

// After a fork, an open file still refers to the process that opened it.
struct KeptFile {
  int fd = -1;
  pid_t process = 0;
};
KeptFile& Kept() {
  static KeptFile kept;
  return kept;
}

// Tests whether pagemap shows a page that is only read as a page of the file and a written page as
// a copy, and whether the write is counted as a page fault.
bool IsPagemapUsable() {
  const int fd = memfd_create("cobra-dirty-pages", MFD_CLOEXEC);
  if (fd < 0) return false;
  bool ok = false;
  const size_t page = PageBytes();
  if (ftruncate(fd, static_cast<off_t>(3 * page)) == 0) {
    void* memory = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (memory != MAP_FAILED) {
      auto* bytes = static_cast<volatile char*>(memory);
      (void)bytes[0];
      (void)bytes[2 * page];
      const FaultCount before = CountFaults();
      bytes[page] = 1;
      const bool counted = CountFaults().faults > before.faults;
      std::vector<uint32_t> pages;
      ok = counted && FindDirtyPages(static_cast<const char*>(memory), 3 * page, &pages) && pages.size() == 1 &&
           pages[0] == 1;
      munmap(memory, 3 * page);
    }
  }
  close(fd);
  return ok;
}

}  // namespace

bool CanFindDirtyPages() {
  static const bool can = IsPagemapUsable();
  return can;
}

void KeepDirtyPagesOpen() { Kept() = {open(kPagemap, O_RDONLY | O_CLOEXEC), getpid()}; }

bool FindDirtyPages(const char* begin, size_t bytes, std::vector<uint32_t>* pages) {
  pages->clear();
  const bool is_kept = Kept().process == getpid();
  const int fd = is_kept ? Kept().fd : open(kPagemap, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  bool ok = true;
  const uintptr_t first = reinterpret_cast<uintptr_t>(begin) / PageBytes();
  const size_t count = bytes / PageBytes();
  uint64_t entries[512];
  for (size_t at = 0; at < count && ok; at += 512) {
    const size_t n = count - at < 512 ? count - at : 512;
    const auto offset = static_cast<off_t>((first + at) * sizeof(uint64_t));
    ok = pread(fd, entries, n * sizeof(uint64_t), offset) == static_cast<ssize_t>(n * sizeof(uint64_t));
    for (size_t i = 0; ok && i < n; ++i) {
      if ((entries[i] & (kPresent | kSwapped)) != 0 && (entries[i] & kOfFile) == 0)
        pages->push_back(static_cast<uint32_t>(at + i));
    }
  }
  if (!is_kept) close(fd);
  return ok;
}

FaultCount CountFaults() {
  // The system reuses the id of a thread that has ended, so threads are counted here.
  static std::atomic<int64_t> threads{0};
  thread_local const int64_t thread = ++threads;
  rusage usage = {};
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return {};
  return {usage.ru_minflt + usage.ru_majflt, thread << 32 | getpid()};
}

}  // namespace cobra::python
