// A forked process shares its parent's memory until it writes: then the kernel copies the page,
// which costs a microsecond or two. Pages of files, the program's code among them, are mapped when
// they are first touched. A request would pay that some five hundred times, so a reader does it
// before its request comes, for the pages that earlier readers of the same parent needed.
#ifndef COBRA_READER_NEEDED_PAGES_H_
#define COBRA_READER_NEEDED_PAGES_H_

#include <cstdint>
#include <vector>

#include "base/file/descriptor.h"
#include "reader/reader.pb.h"

namespace cobra::reader {

// Ranges of pages, by their number in the address space, in order and apart.
struct PageRange {
  uint64_t begin = 0, end = 0;
};
using PageRanges = std::vector<PageRange>;

struct NeededPages {
  PageRanges written;  // memory of this process only
  PageRanges read;     // pages of files
};

constexpr uint64_t kMaxNeededBytes = uint64_t{16} << 20;  // of each kind, of each waiting reader
constexpr int kMaxPageRanges = 1024;                      // of each kind

// Copies the pages of `written` and maps those of `read`. Pages that do not exist are skipped.
void TakePages(const NeededPages& pages);

// Finds the pages that this process has copied or mapped since it was forked.
class PageFinder {
 public:
  PageFinder();  // opens files: before the process is confined
  NeededPages Find() const;

 private:
  Descriptor maps_, pagemap_;
};

// The pages of both; `a` if that exceeds the limits.
PageRanges Union(const PageRanges& a, const PageRanges& b);

// Between ranges and their message. Ranges out of order or beyond the limits give none.
void PagesToProto(const NeededPages& pages, Pages* message);
NeededPages PagesFromProto(const Pages& message);

}  // namespace cobra::reader

#endif  // COBRA_READER_NEEDED_PAGES_H_
