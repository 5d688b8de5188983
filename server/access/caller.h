// The caller of a request, to whom its share of the server belongs.
#ifndef COBRA_SERVER_ACCESS_CALLER_H_
#define COBRA_SERVER_ACCESS_CALLER_H_

#include <sys/socket.h>

#include <string>

#include "absl/strings/string_view.h"
#include "server/access/access.h"
#include "server/lanes/call_context.h"

namespace cobra::server {

// The address without its port: "192.0.2.1". Of IPv6 the network of a site, "2001:db8::/64",
// because one host may use every address in it. "unix" for all callers on a Unix socket.
std::string CallerOfPeer(absl::string_view peer);  // grpc::ServerContext::peer(): "ipv4:192.0.2.1:40000"
std::string CallerOfAddress(const sockaddr_storage& address);
// The name of the principal, or the address if it is null.
std::string CallerOf(const Principal* principal, absl::string_view peer);
// For the store: who requested a task, reported a measurement, sent a probe. Without access control
// nobody proves who they are: then it is the name that the request itself gives, or "".
std::string CallerName(const CallContext& call, absl::string_view given);

}  // namespace cobra::server

#endif  // COBRA_SERVER_ACCESS_CALLER_H_
