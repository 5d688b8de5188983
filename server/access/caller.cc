#include "server/access/caller.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace cobra::server {

std::string CallerOfAddress(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text));
    return text;
  }
  if (address.ss_family != AF_INET6) return "unix";
  in6_addr v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    ::inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof(text));
    return text;
  }
  std::fill(v6.s6_addr + 8, v6.s6_addr + 16, uint8_t{0});
  ::inet_ntop(AF_INET6, &v6, text, sizeof(text));
  return absl::StrCat(text, "/64");
}

std::string CallerOfPeer(absl::string_view peer) {
  sockaddr_storage address = {};
  const bool v6 = absl::ConsumePrefix(&peer, "ipv6:");
  if (!v6 && !absl::ConsumePrefix(&peer, "ipv4:")) return std::string(peer.substr(0, peer.find(':')));
  std::string host = absl::StrReplaceAll(peer.substr(0, peer.rfind(':')), {{"%5B", ""}, {"%5D", ""}});
  host = absl::StrReplaceAll(host, {{"[", ""}, {"]", ""}});
  host = host.substr(0, host.find('%'));  // without the zone of a link-local address
  address.ss_family = v6 ? AF_INET6 : AF_INET;
  void* const to = v6 ? static_cast<void*>(&reinterpret_cast<sockaddr_in6&>(address).sin6_addr)
                      : static_cast<void*>(&reinterpret_cast<sockaddr_in&>(address).sin_addr);
  return ::inet_pton(address.ss_family, host.c_str(), to) == 1 ? CallerOfAddress(address) : host;
}

std::string CallerOf(const Principal* principal, absl::string_view peer) {
  return principal == nullptr ? CallerOfPeer(peer) : principal->name;
}

std::string CallerName(const CallContext& call, absl::string_view given) {
  return call.principal == nullptr ? std::string(given) : call.principal->name;
}

}  // namespace cobra::server
