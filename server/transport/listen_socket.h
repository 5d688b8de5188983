// Sockets at an address that the user gave.
#ifndef COBRA_SERVER_TRANSPORT_LISTEN_SOCKET_H_
#define COBRA_SERVER_TRANSPORT_LISTEN_SOCKET_H_

#include <netdb.h>

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file/descriptor.h"

namespace cobra::server {

// Non-blocking sockets that listen at "HOST:PORT" or "[V6]:PORT", one for each address of the host,
// or at one of gRPC's names ("unix:PATH", "unix-abstract:NAME", "ipv4:...", "ipv6:...", "dns:...").
// Port 0 chooses a free port, the same for all. A file that an earlier server left at a Unix
// socket's path is replaced. The error begins with the address and gives the reason: "127.0.0.1:80:
// Address already in use".
absl::StatusOr<std::vector<Descriptor>> ListenAt(absl::string_view address);

// As getaddrinfo() lists them: a chain of ai_next.
using SocketAddresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;
// Of "HOST:PORT" or "[V6]:PORT", a part of `address`, with which errors begin. `flags` are
// getaddrinfo()'s.
absl::StatusOr<SocketAddresses> Resolve(absl::string_view address, absl::string_view host_and_port, int flags);

// 0 for a Unix socket.
int PortOf(const Descriptor& socket);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TRANSPORT_LISTEN_SOCKET_H_
