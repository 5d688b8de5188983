// Readers that a call keeps from one of its requests to the next (predict_batch.h): what a program
// does to its reader may cost other requests of its own sender, and nobody else's. To fork a reader
// and to end it takes longer than to read a small file.
#ifndef COBRA_SERVER_READER_KEPT_READERS_H_
#define COBRA_SERVER_READER_KEPT_READERS_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/reader/reader_image.h"

namespace cobra::server {

// Any thread. Those that are left end with it.
class KeptReaders {
 public:
  // A reader of the image, which may still be at work; the caller waits for its report.
  std::optional<WaitingReader> Take(const ReaderImage* image) {
    absl::MutexLock lock(&mutex_);
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].first.get() != image) continue;
      WaitingReader reader = std::move(kept_[i].second);
      kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
      return reader;
    }
    return std::nullopt;
  }

  // It has answered, and expects that more may come. False: there are enough.
  bool Keep(const std::shared_ptr<ReaderImage>& image, WaitingReader* reader) {
    absl::MutexLock lock(&mutex_);
    if (kept_.size() >= kMost) return false;
    kept_.emplace_back(image, std::move(*reader));
    return true;
  }

  size_t size() const {
    absl::MutexLock lock(&mutex_);
    return kept_.size();
  }

 private:
  static constexpr size_t kMost = 4;  // each takes some megabytes until the call ends
  mutable absl::Mutex mutex_;
  std::vector<std::pair<std::shared_ptr<ReaderImage>, WaitingReader>> kept_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_READER_KEPT_READERS_H_
