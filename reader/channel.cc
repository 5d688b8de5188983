#include "reader/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"

namespace cobra::reader {
namespace {

constexpr absl::Duration kStopPeriod = absl::Milliseconds(20);

absl::Status Gone() { return absl::UnavailableError("the other end of the socket was closed"); }

}  // namespace

absl::StatusOr<std::pair<Descriptor, Descriptor>> MakeSocketPair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
    return absl::ErrnoToStatus(errno, "a socket for a reader");
  return std::make_pair(Descriptor(fds[0]), Descriptor(fds[1]));
}

absl::Status Channel::WaitFor(short events, absl::Time deadline, const std::function<bool()>& stopped) const {
  while (true) {
    if (stopped && stopped()) return absl::CancelledError("stopped");
    const absl::Duration left = deadline - absl::Now();
    if (left <= absl::ZeroDuration()) return absl::DeadlineExceededError("no answer in time");
    const absl::Duration wait = stopped ? std::min(left, kStopPeriod) : std::min(left, absl::Hours(1));
    pollfd entry = {socket_.get(), events, 0};
    const int n =
        ::poll(&entry, 1, static_cast<int>(absl::ToInt64Milliseconds(absl::Ceil(wait, absl::Milliseconds(1)))));
    if (n > 0) return absl::OkStatus();  // an error shows when the socket is used
    if (n < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "poll");
  }
}

absl::Status Channel::Send(const google::protobuf::MessageLite& message, int descriptor, absl::Time deadline) {
  const size_t size = message.ByteSizeLong();
  std::string bytes(sizeof(uint32_t) + size, '\0');
  const auto length = static_cast<uint32_t>(size);
  std::memcpy(bytes.data(), &length, sizeof(length));
  if (size > size_t{1} << 30 || !message.SerializeToArray(bytes.data() + sizeof(length), static_cast<int>(size)))
    return absl::InternalError(absl::StrCat("a message of ", size, " bytes cannot be sent"));
  return SendFramed(bytes, descriptor, deadline);
}

absl::Status Channel::SendFramed(absl::string_view frame, int descriptor, absl::Time deadline) {
  if (!valid()) return Gone();
  size_t sent = 0;
  while (sent < frame.size()) {
    iovec part = {const_cast<char*>(frame.data()) + sent, frame.size() - sent};  // sendmsg(2) only reads
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (sent == 0 && descriptor >= 0) {
      header.msg_control = control;
      header.msg_controllen = sizeof(control);
      cmsghdr* c = CMSG_FIRSTHDR(&header);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
    }
    const ssize_t n = ::sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      COBRA_RETURN_IF_ERROR(WaitFor(POLLOUT, deadline, nullptr));
    } else if (n < 0 && errno != EINTR) {
      return Gone();
    }
  }
  return absl::OkStatus();
}

absl::Status Channel::ReceiveExactly(char* to, size_t bytes, Descriptor* descriptor, absl::Time deadline,
                                     const std::function<bool()>& stopped) const {
  size_t got = 0;
  while (got < bytes) {
    iovec part = {to + got, bytes - got};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    const ssize_t n = ::recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n == 0) return Gone();
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Gone();
      COBRA_RETURN_IF_ERROR(WaitFor(POLLIN, deadline, stopped));
      continue;
    }
    for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
      if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
        Descriptor received(fd);
        if (descriptor != nullptr) *descriptor = std::move(received);
      }
    }
    got += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<Received> Channel::Receive(int64_t max_bytes, absl::Time deadline,
                                          const std::function<bool()>& stopped) {
  if (!valid()) return Gone();
  Received received;
  uint32_t length = 0;
  COBRA_RETURN_IF_ERROR(
      ReceiveExactly(reinterpret_cast<char*>(&length), sizeof(length), &received.descriptor, deadline, stopped));
  if (length > max_bytes) return absl::ResourceExhaustedError(LimitMessage("a message", length, max_bytes, "bytes"));
  received.bytes.resize(length);
  COBRA_RETURN_IF_ERROR(ReceiveExactly(received.bytes.data(), length, &received.descriptor, deadline, stopped));
  return received;
}

}  // namespace cobra::reader
