// Reading without a lock what writers replace meanwhile (epoch-based reclamation: Fraser,
// "Practical lock-freedom", 2004, section 5.2.3). A reader opens a section. A writer that has
// unlinked something asks for an epoch, and frees it when all sections are of later epochs.
#ifndef COBRA_BASE_BYTES_READ_SECTION_H_
#define COBRA_BASE_BYTES_READ_SECTION_H_

#include <atomic>
#include <cstdint>

namespace cobra {

// REQUIRES: sections of a thread are not nested, and are short: nothing that was unlinked
// meanwhile, in any cache, is freed before they end.
class ReadSection {
 public:
  ReadSection();
  ~ReadSection() {
    if (epoch_ != nullptr) epoch_->store(0, std::memory_order_release);
  }
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;

  // False: as many threads as can have one do (kMostReadingThreads). What is read needs its lock.
  bool is_open() const { return epoch_ != nullptr; }

 private:
  std::atomic<uint64_t>* epoch_;  // of this thread; 0: it reads nothing
};

inline constexpr int kMostReadingThreads = 256;

// To be asked after something was unlinked.
uint64_t UnlinkEpoch();

// What was unlinked in an earlier epoch than this may be freed: no section can see it.
uint64_t OldestReadEpoch();

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_READ_SECTION_H_
