// Messages over a Unix stream socket: four bytes of length (in this machine's order), then the
// message. Blocking, for one thread. A descriptor may travel with a message.
#ifndef COBRA_READER_CHANNEL_H_
#define COBRA_READER_CHANNEL_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "google/protobuf/message_lite.h"

namespace cobra::reader {

// Two connected sockets, closed on exec.
absl::StatusOr<std::pair<Descriptor, Descriptor>> MakeSocketPair();

// A message as it arrives: its bytes, and the descriptor that came with it, if any.
struct Received {
  std::string bytes;
  Descriptor descriptor;
};

class Channel {
 public:
  Channel() = default;
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}
  int fd() const { return socket_.get(); }
  bool valid() const { return socket_.valid(); }
  void Close() { socket_.Close(); }

  // Unavailable if the other side is gone. `descriptor` is passed along and stays open here; -1:
  // none. DeadlineExceeded if the other side does not read.
  absl::Status Send(const google::protobuf::MessageLite& message, int descriptor = -1,
                    absl::Time deadline = absl::InfiniteFuture());

  // The same for a message that has its length in front of it.
  absl::Status SendFramed(absl::string_view frame, int descriptor = -1, absl::Time deadline = absl::InfiniteFuture());

  // Unavailable at the end of the stream, ResourceExhausted for a message of more than `max_bytes`,
  // DeadlineExceeded, or Cancelled when `stopped` (asked every 20 ms, may be empty) returns true.
  absl::StatusOr<Received> Receive(int64_t max_bytes, absl::Time deadline = absl::InfiniteFuture(),
                                   const std::function<bool()>& stopped = nullptr);

 private:
  absl::Status WaitFor(short events, absl::Time deadline, const std::function<bool()>& stopped) const;
  absl::Status ReceiveExactly(char* to, size_t bytes, Descriptor* descriptor, absl::Time deadline,
                              const std::function<bool()>& stopped) const;

  Descriptor socket_;
};

}  // namespace cobra::reader

#endif  // COBRA_READER_CHANNEL_H_
