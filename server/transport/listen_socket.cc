#include "server/transport/listen_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"

namespace cobra::server {
namespace {

// Not valid if it cannot listen; errno says why.
Descriptor Listen(const sockaddr* to, size_t size) {
  Descriptor socket(::socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return socket;
  const int yes = 1;
  if (to->sa_family != AF_UNIX) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));  // accepted sockets inherit it
  }
  if (::bind(socket.get(), to, static_cast<socklen_t>(size)) == 0 && ::listen(socket.get(), SOMAXCONN) == 0)
    return socket;
  const int error = errno;
  socket.Close();
  errno = error;
  return socket;
}

absl::StatusOr<std::vector<Descriptor>> ListenAtPath(absl::string_view address, const std::string& path, bool is_file) {
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  if (path.empty() || path.size() + 1 > sizeof(to.sun_path))
    return absl::InvalidArgumentError(absl::StrCat(address, ": the path is empty or too long"));
  // An abstract name begins with a zero byte.
  std::memcpy(to.sun_path + (is_file ? 0 : 1), path.data(), path.size());
  struct stat status = {};
  if (is_file && ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
  std::vector<Descriptor> sockets(1);
  const size_t size = offsetof(sockaddr_un, sun_path) + path.size() + 1;
  sockets[0] = Listen(reinterpret_cast<const sockaddr*>(&to), size);
  if (!sockets[0].valid()) return absl::ErrnoToStatus(errno, std::string(address));
  return sockets;
}

void SetPort(sockaddr* address, int port) {
  const in_port_t wanted = htons(static_cast<uint16_t>(port));
  if (address->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = wanted;
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = wanted;
  }
}

absl::StatusOr<std::vector<Descriptor>> ListenAtHost(absl::string_view address, absl::string_view host_and_port) {
  COBRA_ASSIGN_OR_RETURN(const SocketAddresses addresses, Resolve(address, host_and_port, AI_PASSIVE));
  std::vector<Descriptor> sockets;
  for (addrinfo* found = addresses.get(); found != nullptr; found = found->ai_next) {
    if (!sockets.empty()) SetPort(found->ai_addr, PortOf(sockets[0]));
    Descriptor socket = Listen(found->ai_addr, found->ai_addrlen);
    // "localhost" may have an address of IPv6 on a machine without it.
    const bool is_other = !sockets.empty() || found->ai_next != nullptr;
    if (!socket.valid() && is_other && (errno == EADDRNOTAVAIL || errno == EAFNOSUPPORT)) continue;
    if (!socket.valid()) return absl::ErrnoToStatus(errno, std::string(address));
    sockets.push_back(std::move(socket));
  }
  return sockets;
}

}  // namespace

absl::StatusOr<SocketAddresses> Resolve(absl::string_view address, absl::string_view host_and_port, int flags) {
  const size_t colon = host_and_port.rfind(':');
  if (colon == absl::string_view::npos) return absl::InvalidArgumentError(absl::StrCat(address, ": is not HOST:PORT"));
  absl::string_view host = host_and_port.substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const std::string port(host_and_port.substr(colon + 1));
  if (int error = ::getaddrinfo(std::string(host).c_str(), port.c_str(), &hints, &found); error != 0)
    return absl::UnavailableError(absl::StrCat(address, ": ", ::gai_strerror(error)));
  return SocketAddresses(found, &::freeaddrinfo);
}

absl::StatusOr<std::vector<Descriptor>> ListenAt(absl::string_view address) {
  absl::string_view rest = address;
  if (absl::ConsumePrefix(&rest, "unix-abstract:")) return ListenAtPath(address, std::string(rest), /*is_file=*/false);
  if (absl::ConsumePrefix(&rest, "unix:")) {
    absl::ConsumePrefix(&rest, "//");  // unix:///absolute/path
    return ListenAtPath(address, std::string(rest), /*is_file=*/true);
  }
  for (const absl::string_view scheme : {"ipv4:", "ipv6:", "dns:"}) {
    if (absl::ConsumePrefix(&rest, scheme)) break;
  }
  if (absl::ConsumePrefix(&rest, "//")) rest = rest.substr(rest.find('/') + 1);  // dns://AUTHORITY/HOST:PORT
  return ListenAtHost(address, rest);
}

int PortOf(const Descriptor& socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return address.ss_family == AF_INET ? ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port) : 0;
}

}  // namespace cobra::server
