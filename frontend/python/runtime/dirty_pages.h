// Which pages of a private mapping have been written to. The kernel knows: the first write to such a page makes a copy
// of it, which then belongs to no file, and /proc/self/pagemap says so. Asking costs about 25 ns a page, so whoever can
// tell that nothing new was copied (no page fault of this thread since) need not ask.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_DIRTY_PAGES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_DIRTY_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cobra::python {

constexpr size_t kPageBytes = 4096;

// Whether the two functions below tell the truth on this system: tried out once per process.
bool CanFindDirtyPages();

// The numbers of the pages of [begin, begin + bytes), a private mapping of a file, that are copies. False if the system
// does not say.
bool FindDirtyPages(const char* begin, size_t bytes, std::vector<uint32_t>* pages);

// How many page faults this thread has had, and which thread it is: as long as neither changes, it has copied no page.
struct FaultCount {
  long faults = -1;
  int64_t thread = -1;  // of a process
  bool operator==(const FaultCount& other) const { return faults == other.faults && thread == other.thread; }
};
FaultCount CountFaults();

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_DIRTY_PAGES_H_
