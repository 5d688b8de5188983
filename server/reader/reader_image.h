// One image process (reader/image_process.h) and the readers that it has forked ahead.
#ifndef COBRA_SERVER_READER_READER_IMAGE_H_
#define COBRA_SERVER_READER_READER_IMAGE_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "reader/channel.h"
#include "reader/needed_pages.h"
#include "reader/reader.pb.h"

namespace cobra::server {

// A process that answers requests of one sender on `socket`.
struct WaitingReader {
  reader::Channel socket;
  pid_t process = 0;
  Descriptor process_fd;  // pidfd_open(2): kills this process and no later one of the same number

  // Until the reader reports that it is confined and waits for a request.
  absl::Status AwaitReady(absl::Time deadline);
  void Kill() const;
  // Whether it can take no request any more.
  bool HasEnded() const;
};

class ReaderImage {
 public:
  // `control` leads to the process, which may still be importing.
  ReaderImage(reader::Channel control, int ahead) : ahead_(ahead), control_(std::move(control)) {}

  // Whether the process has made its image. False also while it is being made; then gone() decides
  // whether to wait.
  bool IsReady();
  bool gone();
  // Whether the process has ended because its imports failed.
  bool failed();
  // False if a library file that the image has read was changed since. Asks the process once a
  // second at most.
  bool FilesUnchanged(absl::Time now);

  // Whether a reader waits already, so that the next request need not wait for a fork.
  bool HasWaiting() const { return num_waiting_.load(std::memory_order_relaxed) > 0; }
  // A reader that waits for its request. Those that have died meanwhile are left out.
  absl::StatusOr<WaitingReader> Take(absl::Time deadline);
  // Has readers forked until enough wait or come. A request calls for it when its own reader is at
  // work.
  void ForkAhead();
  // Waits for those that ForkAhead() has begun. One thread calls both.
  void AwaitForked();
  // Forks an image process that imports these modules.
  absl::StatusOr<std::unique_ptr<ReaderImage>> Fork(const reader::ImageCommand::Image& image);
  // waitpid's status of a reader that has died; nullopt if the image does not report it in time.
  std::optional<int> WaitStatus(pid_t process, absl::Time deadline);

  // Pages that readers have needed: the next readers take them before their request comes.
  bool WantsPages();
  void AddPages(const reader::Pages& pages);

 private:
  void GiveUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<WaitingReader> ForkReader() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Takes one report from the process, or none if it does not come in time.
  std::optional<reader::ImageReport> NextReport(absl::Time deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int ahead_;
  absl::Mutex mutex_;
  reader::Channel control_ ABSL_GUARDED_BY(mutex_);
  std::deque<WaitingReader> waiting_ ABSL_GUARDED_BY(mutex_);
  std::atomic<size_t> num_waiting_{0};  // of waiting_, for those who do not want to wait for the lock
  std::vector<WaitingReader> forked_;   // have not reported yet; of the thread that forks ahead
  absl::flat_hash_map<pid_t, int> exits_ ABSL_GUARDED_BY(mutex_);
  reader::NeededPages pages_ ABSL_GUARDED_BY(mutex_);
  int replies_with_pages_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Time files_checked_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  bool made_ ABSL_GUARDED_BY(mutex_) = false;
  bool failed_ ABSL_GUARDED_BY(mutex_) = false;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_READER_READER_IMAGE_H_
