#include "frontend/python/runtime/heap/heap.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/process/address_space.h"
#include "base/sanitizer.h"
#ifdef COBRA_ASAN
#include <sanitizer/lsan_interface.h>
#endif

namespace cobra::python {
namespace {

// A process that has no address space even for this cannot read anything.
constexpr int64_t kLeastBudget = int64_t{32} << 20;
// Of the memory that a run used beyond the image, this much stays mapped for the next run. The rest
// is returned to the system.
constexpr size_t kKeptBytes = size_t{8} << 20;
// If more of the image than this is dirty, it is dropped, not restored: an idle heap should not
// hold it all.
constexpr size_t kMaxDirtyBytes = size_t{3} << 20;

size_t RoundUp(size_t bytes) { return (bytes + PageBytes() - 1) & ~(PageBytes() - 1); }

bool WriteAll(int fd, const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t n = write(fd, data, bytes);
    if (n <= 0) return false;
    data += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

}  // namespace

// Reserved address space takes no memory: pages count when they are first touched. Between two
// checks of exhausted() a program can double its largest container at most a few times. So four
// times the budget and a little more is never used up.
//
// A process may have less address space (ulimit -v): its programs then have a smaller budget.
Heap::Heap(int64_t budget_bytes, int64_t spare_bytes) : budget_bytes_(budget_bytes) {
  void* memory = MAP_FAILED;
  while (true) {
    const int64_t spare = spare_bytes == 0 ? 3 * budget_bytes_ + (int64_t{64} << 20) : spare_bytes;
    reserved_bytes_ = RoundUp(static_cast<size_t>(budget_bytes_ + spare));
    memory = mmap(nullptr, reserved_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED || budget_bytes_ < kLeastBudget) break;
    budget_bytes_ /= 2;
  }
  if (memory == MAP_FAILED) OutOfSpace();
  begin_ = next_ = static_cast<char*>(memory);
  end_ = begin_ + reserved_bytes_;
}

Heap::~Heap() {
  for (size_t i = destructors_.size(); i > 0; --i) destructors_[i - 1].run(destructors_[i - 1].object);
#ifdef COBRA_ASAN
  if (image_ != nullptr) __lsan_unregister_root_region(begin_, image_bytes_);
#endif
  munmap(begin_, reserved_bytes_);
  if (image_ != nullptr) munmap(const_cast<char*>(image_), image_bytes_);
}

void Heap::OutOfSpace() const {
  if (const std::new_handler handler = std::get_new_handler()) handler();  // a process may end differently
  std::fprintf(stderr, "python heap: no address space (budget %lld bytes)\n", static_cast<long long>(budget_bytes_));
  std::abort();
}

void* Heap::AllocateBlock(int log2_bytes) {
  if (void* block = free_blocks_[log2_bytes]) {
    free_blocks_[log2_bytes] = *static_cast<void**>(block);
    return block;
  }
  return Allocate(size_t{1} << log2_bytes);
}

void Heap::FreeBlock(void* block, int log2_bytes) {
  *static_cast<void**>(block) = free_blocks_[log2_bytes];
  free_blocks_[log2_bytes] = block;
}

bool Heap::Freeze() {
  next_ = begin_ + RoundUp(static_cast<size_t>(next_ - begin_));
  const size_t bytes = static_cast<size_t>(next_ - begin_);
  const int fd = memfd_create("cobra-python-image", MFD_CLOEXEC);
  if (fd < 0) return false;
  void* image = MAP_FAILED;
  if (WriteAll(fd, begin_, bytes)) image = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  bool ok = image != MAP_FAILED;
  if (ok) {
    // If this fails, the old pages may be lost, and there is no recovery.
    if (mmap(begin_, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED)
      OutOfSpace();
    image_ = static_cast<const char*>(image);
    image_bytes_ = bytes;
#ifdef COBRA_ASAN
    __lsan_register_root_region(begin_, bytes);  // it owns memory of the C++ heap
#endif
    image_destructors_ = destructors_.size();
    for (const Destructor& d : destructors_) {
      if (d.compared_bytes > 0) image_compared_.push_back(d);
    }
    std::sort(image_compared_.begin(), image_compared_.end(),
              [](const Destructor& a, const Destructor& b) { return a.object < b.object; });
    std::memcpy(image_free_blocks_, free_blocks_, sizeof(free_blocks_));
  }
  close(fd);
  return ok;
}

void Heap::NoteThread() { other_threads_ = other_threads_ || CountFaults().thread != faults_.thread; }

// Restores the image's bytes in every page that has been written to. Returns false if an object
// that owns memory elsewhere has changed in such a page.
bool Heap::RestorePages() {
  bool known = CanFindDirtyPages();
  if (known && (other_threads_ || !(CountFaults() == faults_)))
    known = FindDirtyPages(begin_, image_bytes_, &dirty_pages_);
  const size_t page_bytes = PageBytes();
  size_t page = 0;  // both lists are in order
  for (const Destructor& d : image_compared_) {
    const char* object = static_cast<const char*>(d.object);
    const size_t offset = static_cast<size_t>(object - begin_);
    while (page < dirty_pages_.size() && (dirty_pages_[page] + size_t{1}) * page_bytes <= offset) ++page;
    const bool dirty =
        !known || (page < dirty_pages_.size() && dirty_pages_[page] * page_bytes < offset + d.compared_bytes);
    if (dirty && std::memcmp(object, image_ + offset, d.compared_bytes) != 0) return false;
  }
  if (!known || dirty_pages_.size() * page_bytes > kMaxDirtyBytes) {
    dirty_pages_.clear();
    if (madvise(begin_, image_bytes_, MADV_DONTNEED) != 0) return false;
  }
  for (uint32_t p : dirty_pages_) std::memcpy(begin_ + p * page_bytes, image_ + p * page_bytes, page_bytes);
  return true;
}

bool Heap::Rollback() {
  for (; destructors_.size() > image_destructors_; destructors_.pop_back())
    destructors_.back().run(destructors_.back().object);
  if (!RestorePages()) return false;
  const size_t used = static_cast<size_t>(next_ - begin_) - image_bytes_;
  if (used > kKeptBytes) {
    char* spare = begin_ + image_bytes_ + kKeptBytes;
    madvise(spare, RoundUp(used - kKeptBytes), MADV_DONTNEED);
  }
  next_ = begin_ + image_bytes_;
  std::memcpy(free_blocks_, image_free_blocks_, sizeof(free_blocks_));
  faults_ = CountFaults();
  other_threads_ = false;
  return true;
}

}  // namespace cobra::python
