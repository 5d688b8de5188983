#include "reader/needed_pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <string>

#include "absl/strings/str_split.h"
#include "base/process/address_space.h"

namespace cobra::reader {
namespace {

// Bits of an entry of pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63, kOfFile = uint64_t{1} << 61, kExclusive = uint64_t{1} << 56;

// A sanitizer maps terabytes, and looking at each of those pages takes minutes.
constexpr uint64_t kMaxMappingBytes = uint64_t{1} << 34;

// A failure leaves the pages as they are: they come one by one.
void Take(const PageRanges& pages, int advice) {
  const uint64_t page_bytes = PageBytes();
  for (const PageRange& range : pages)
    ::madvise(reinterpret_cast<void*>(range.begin * page_bytes), (range.end - range.begin) * page_bytes, advice);
}

void Append(uint64_t page, PageRanges* ranges) {
  if (!ranges->empty() && ranges->back().end == page) {
    ++ranges->back().end;
  } else {
    ranges->push_back({page, page + 1});
  }
}

bool IsWithinLimits(const PageRanges& ranges) {
  const uint64_t most = kMaxNeededBytes / PageBytes();
  uint64_t pages = 0, end = 0;
  for (const PageRange& range : ranges) {
    if (range.begin < end || range.end <= range.begin || range.end - range.begin > most) return false;
    end = range.end;
    pages += range.end - range.begin;
  }
  return ranges.size() <= kMaxPageRanges && pages <= most;
}

void ToProto(const PageRanges& ranges, google::protobuf::RepeatedField<uint64_t>* numbers) {
  for (const PageRange& range : ranges) {
    numbers->Add(range.begin);
    numbers->Add(range.end);
  }
}

PageRanges FromProto(const google::protobuf::RepeatedField<uint64_t>& numbers) {
  PageRanges ranges;
  for (int i = 0; i + 1 < numbers.size(); i += 2) ranges.push_back({numbers[i], numbers[i + 1]});
  if (!IsWithinLimits(ranges)) ranges.clear();
  return ranges;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(fd, buffer, sizeof(buffer), at);
    if (n <= 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    at += n;
  }
}

}  // namespace

void TakePages(const NeededPages& pages) {
  Take(pages.read, MADV_POPULATE_READ);
  Take(pages.written, MADV_POPULATE_WRITE);
}

PageFinder::PageFinder()
    : maps_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)),
      pagemap_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}

NeededPages PageFinder::Find() const {
  NeededPages pages;
  const uint64_t page_bytes = PageBytes();
  const std::string maps = ReadAll(maps_.get());
  for (absl::string_view line : absl::StrSplit(maps, '\n')) {
    uint64_t begin = 0, end = 0;
    char access[5] = {};
    if (std::sscanf(std::string(line).c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &begin, &end, access) != 3) continue;
    if (access[3] != 'p' || end - begin > kMaxMappingBytes) continue;
    uint64_t entries[512];
    for (uint64_t page = begin / page_bytes; page < end / page_bytes; page += std::size(entries)) {
      const size_t bytes = std::min<uint64_t>(std::size(entries), end / page_bytes - page) * sizeof(uint64_t);
      const auto offset = static_cast<off_t>(page * sizeof(uint64_t));
      if (::pread(pagemap_.get(), entries, bytes, offset) != static_cast<ssize_t>(bytes)) break;
      for (size_t i = 0; i < bytes / sizeof(uint64_t); ++i) {
        if ((entries[i] & kPresent) == 0) continue;
        // A page that is not of a file and is shared was there when the process was forked.
        if ((entries[i] & kOfFile) != 0) {
          Append(page + i, &pages.read);
        } else if ((entries[i] & kExclusive) != 0) {
          Append(page + i, &pages.written);
        }
      }
    }
  }
  return pages;
}

PageRanges Union(const PageRanges& a, const PageRanges& b) {
  PageRanges sorted = a;
  sorted.insert(sorted.end(), b.begin(), b.end());
  std::sort(sorted.begin(), sorted.end(), [](const PageRange& x, const PageRange& y) { return x.begin < y.begin; });
  PageRanges both;
  for (const PageRange& range : sorted) {
    if (!both.empty() && range.begin <= both.back().end) {
      both.back().end = std::max(both.back().end, range.end);
    } else {
      both.push_back(range);
    }
  }
  return IsWithinLimits(both) ? both : a;
}

void PagesToProto(const NeededPages& pages, Pages* message) {
  ToProto(pages.written, message->mutable_written());
  ToProto(pages.read, message->mutable_read());
}

NeededPages PagesFromProto(const Pages& message) { return {FromProto(message.written()), FromProto(message.read())}; }

}  // namespace cobra::reader
