// Finds the pages of a private mapping that have been written to. The first write to such a page
// makes the kernel copy it; the copy belongs to no file, and /proc/self/pagemap shows that. Reading
// it costs about 25 ns per page. It is not necessary if no page was copied, that is, if this thread
// has had no page fault since.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DIRTY_PAGES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DIRTY_PAGES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cobra::python {

// Whether the two functions below work on this system; tested once per process.
bool CanFindDirtyPages();

// The numbers of the pages of [begin, begin + bytes), a private mapping of a file, that are copies.
// False if the system does not provide it.
bool FindDirtyPages(const char* begin, size_t bytes, std::vector<uint32_t>* pages);

// Opens the file that FindDirtyPages() reads, which otherwise opens it each time: for a process
// that may open none later.
void KeepDirtyPagesOpen();

// The number of page faults of this thread, and its id. If neither has changed, the thread has
// copied no page.
struct FaultCount {
  long faults = -1;
  int64_t thread = -1;  // of a process
  bool operator==(const FaultCount& other) const { return faults == other.faults && thread == other.thread; }
};
FaultCount CountFaults();

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_HEAP_DIRTY_PAGES_H_
