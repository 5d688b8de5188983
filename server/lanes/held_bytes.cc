#include "server/lanes/held_bytes.h"

#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"

namespace cobra::server {

absl::Status HeldBytes::CheckLocked(const OfCaller& caller, int64_t bytes) const {
  const bool has_too_much = caller.bytes >= max_bytes_of_caller_;
  const bool all_have = bytes_ >= max_bytes_ && caller.bytes > 0;
  // That many callers have little each is not a reason to hold more.
  const bool is_full = bytes_ > 0 && bytes_ + bytes > max_bytes_ + max_bytes_ / 2;
  if (!has_too_much && !is_full && !(all_have && caller.bytes * static_cast<int64_t>(callers_.size()) >= bytes_))
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(LimitMessage(absl::StrCat(has_too_much ? "this client's " : "the server's ", what_),
                                has_too_much ? max_bytes_of_caller_ : max_bytes_, "bytes"),
                   "; ", hint_));
}

absl::StatusOr<HeldBytes::Part> HeldBytes::Hold(const std::string& caller, size_t bytes) {
  Part part;
  if (bytes < kLeastBytes) return part;
  absl::MutexLock lock(&mutex_);
  const Callers::iterator own = callers_.try_emplace(caller).first;
  if (absl::Status room = CheckLocked(own->second, static_cast<int64_t>(bytes)); !room.ok()) {
    if (own->second.parts == 0) callers_.erase(own);
    return room;
  }
  part.held_ = this;
  part.caller_ = own;
  part.bytes_ = static_cast<int64_t>(bytes);
  ++own->second.parts;
  own->second.bytes += part.bytes_;
  bytes_ += part.bytes_;
  return part;
}

void HeldBytes::Release(Callers::iterator caller, int64_t bytes) {
  absl::MutexLock lock(&mutex_);
  bytes_ -= bytes;
  caller->second.bytes -= bytes;
  if (--caller->second.parts == 0) callers_.erase(caller);
}

}  // namespace cobra::server
