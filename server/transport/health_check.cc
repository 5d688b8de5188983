#include "server/transport/health_check.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/descriptor.h"
#include "base/status_macros.h"
#include "server/transport/listen_socket.h"

namespace cobra::server {
namespace {

constexpr char kRequest[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
constexpr size_t kMaxReplyBytes = 4096;

// Connecting, sending and receiving each fail with EAGAIN or EINPROGRESS after `timeout`.
void LimitTime(const Descriptor& socket, absl::Duration timeout) {
  const timeval time = absl::ToTimeval(timeout);
  for (const int option : {SO_SNDTIMEO, SO_RCVTIMEO})
    ::setsockopt(socket.get(), SOL_SOCKET, option, &time, sizeof(time));
}

// Not valid if it cannot connect; errno says why.
Descriptor Connect(const addrinfo& to, absl::Duration timeout) {
  Descriptor socket(::socket(to.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return socket;
  LimitTime(socket, timeout);
  if (::connect(socket.get(), to.ai_addr, to.ai_addrlen) == 0) return socket;
  const int error = errno;
  socket.Close();
  errno = error;
  return socket;
}

// The whole reply, or as much as came in time.
std::string Ask(const Descriptor& socket, absl::Time deadline) {
  std::string reply;
  if (::send(socket.get(), kRequest, sizeof(kRequest) - 1, MSG_NOSIGNAL) != sizeof(kRequest) - 1) return reply;
  char buffer[1024];
  while (reply.size() < kMaxReplyBytes && absl::Now() < deadline) {
    LimitTime(socket, deadline - absl::Now() + absl::Milliseconds(1));  // zero would be no limit
    const ssize_t n = ::recv(socket.get(), buffer, sizeof(buffer), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    reply.append(buffer, static_cast<size_t>(n));
  }
  return reply;
}

}  // namespace

absl::Status CheckHealth(absl::string_view address, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  COBRA_ASSIGN_OR_RETURN(const SocketAddresses addresses, Resolve(address, address, /*flags=*/0));
  Descriptor socket;
  // "localhost" may have an address of IPv6 at which no server listens.
  for (const addrinfo* found = addresses.get(); found != nullptr && !socket.valid(); found = found->ai_next)
    socket = Connect(*found, timeout);
  if (!socket.valid()) {
    const std::string why = std::strerror(errno);
    return absl::UnavailableError(
        absl::StrCat(address, ": no server listens there (", why, "); the address of --metrics is meant"));
  }
  const std::string reply = Ask(socket, deadline);
  if (absl::StartsWith(reply, "HTTP/1.1 200 ") && absl::EndsWith(reply, "\r\n\r\nSERVING\n")) return absl::OkStatus();
  if (absl::StartsWith(reply, "HTTP/1.1 503 "))
    return absl::UnavailableError(absl::StrCat(address, ": the server is NOT_SERVING"));
  return absl::UnavailableError(
      absl::StrCat(address, reply.empty() ? ": does not answer" : ": is not the --metrics address of a cobra-server"));
}

}  // namespace cobra::server
