// Bytes that the server keeps for its callers: requests that wait, replies that are not sent. A
// caller who sends much at once, or asks for large replies and reads none, is refused before the
// memory is full. Other callers go on.
#ifndef COBRA_SERVER_LANES_HELD_BYTES_H_
#define COBRA_SERVER_LANES_HELD_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace cobra::server {

class HeldBytes {
  struct OfCaller {
    int64_t bytes = 0, parts = 0;
  };
  using Callers = std::map<std::string, OfCaller>;

 public:
  // Less than this is not counted, so that usual requests and replies need no lock.
  static constexpr size_t kLeastBytes = 4 << 10;

  // `what`: "requests that wait". `hint`: what the caller shall do.
  HeldBytes(std::string what, std::string hint, int64_t max_bytes, int64_t max_bytes_of_caller)
      : what_(std::move(what)),
        hint_(std::move(hint)),
        max_bytes_(max_bytes),
        max_bytes_of_caller_(max_bytes_of_caller) {}

  // Some bytes of a caller, until it is destroyed.
  class Part {
   public:
    Part() = default;
    Part(Part&& other) noexcept { *this = std::move(other); }
    Part& operator=(Part&& other) noexcept {
      std::swap(held_, other.held_);
      std::swap(caller_, other.caller_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Part() {
      if (held_ != nullptr) held_->Release(caller_, bytes_);
    }

   private:
    friend class HeldBytes;
    HeldBytes* held_ = nullptr;
    Callers::iterator caller_;
    int64_t bytes_ = 0;
  };

  // ResourceExhausted if the caller has too much already, or all have and this one has its share of
  // it. Half as much again as all may have is there for callers who have nothing yet; beyond that
  // nobody gets any.
  absl::StatusOr<Part> Hold(const std::string& caller, size_t bytes);

 private:
  absl::Status CheckLocked(const OfCaller& caller, int64_t bytes) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  void Release(Callers::iterator caller, int64_t bytes);

  const std::string what_, hint_;
  const int64_t max_bytes_, max_bytes_of_caller_;
  absl::Mutex mutex_;
  Callers callers_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_HELD_BYTES_H_
