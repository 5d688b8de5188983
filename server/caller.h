// The caller of a request, to whom its share of the server belongs.
#ifndef COBRA_SERVER_CALLER_H_
#define COBRA_SERVER_CALLER_H_

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"
#include "server/access.h"

namespace cobra::server {

// The address without its port: "192.0.2.1". Of IPv6 the network of a site, "2001:db8::/64", because one host may use
// every address in it. "unix" for all callers on a Unix socket.
std::string CallerOfPeer(absl::string_view peer);  // grpc::ServerContext::peer(): "ipv4:192.0.2.1:40000"
std::string CallerOfAddress(const sockaddr_storage& address);
// The name of the principal, or the address if it is null.
std::string CallerOf(const Principal* principal, absl::string_view peer);

}  // namespace cobra::server

#endif  // COBRA_SERVER_CALLER_H_
