#include "base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/user_error.h"

namespace cobra {
namespace {

constexpr absl::string_view kGrpcNames[] = {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"};

bool IsPort(absl::string_view text, int least) {
  int port;
  return absl::SimpleAtoi(text, &port) && port >= least && port <= 65535;
}

absl::Status Check(absl::string_view flag, absl::string_view address, int least_port, int usual_port) {
  const auto wrong = [&](absl::string_view what, absl::string_view instead) {
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(flag, " ", address, ": ", what),
                     absl::StrCat("write ", flag, " ", instead));
  };
  if (IsGrpcName(address)) return absl::OkStatus();
  if (const size_t scheme = address.find("://"); scheme != absl::string_view::npos) {
    absl::string_view rest = address.substr(scheme + 3);
    rest = rest.substr(0, rest.find('/'));
    return wrong("is a URL; the address of a gRPC server is HOST:PORT", rest.empty() ? "HOST:PORT" : rest);
  }
  const bool bracketed = absl::StartsWith(address, "[") && absl::StrContains(address, ']');
  const auto colons = std::count(address.begin(), address.end(), ':');
  if (!bracketed && colons > 1) {
    return wrong("write an IPv6 address in brackets before the port", absl::StrCat("[", address, "]:", usual_port));
  }
  const absl::string_view after = bracketed ? address.substr(address.find(']') + 1) : address;
  const size_t colon = after.find(':');
  if (colon == absl::string_view::npos) {
    const bool is_port = IsPort(address, least_port);
    return wrong(is_port ? "is a port without a host" : "has no port",
                 is_port ? absl::StrCat("127.0.0.1:", address)
                         : absl::StrCat(address.empty() ? "HOST" : address, ":", usual_port));
  }
  const absl::string_view port = after.substr(colon + 1);
  if (!IsPort(port, least_port)) {
    return wrong(absl::StrCat("\"", port, "\" is not a port (", least_port, " to 65535)"), "HOST:PORT");
  }
  if (!bracketed && colon == 0) return wrong("has no host", absl::StrCat("127.0.0.1", address));
  return absl::OkStatus();
}

}  // namespace

bool IsGrpcName(absl::string_view address) {
  return std::any_of(std::begin(kGrpcNames), std::end(kGrpcNames),
                     [address](absl::string_view name) { return absl::StartsWith(address, name); });
}

bool IsLocalAddress(absl::string_view address) {
  if (absl::StartsWith(address, "unix:") || absl::StartsWith(address, "unix-abstract:")) return true;
  for (const absl::string_view scheme : {"dns:", "ipv4:", "ipv6:"})
    if (absl::ConsumePrefix(&address, scheme)) break;
  absl::string_view host = address.substr(0, address.rfind(':'));
  if (absl::ConsumePrefix(&host, "[")) {
    in6_addr v6 = {};
    return absl::ConsumeSuffix(&host, "]") && ::inet_pton(AF_INET6, std::string(host).c_str(), &v6) == 1 &&
           IN6_IS_ADDR_LOOPBACK(&v6);
  }
  if (host == "localhost") return true;
  in_addr v4 = {};
  return ::inet_pton(AF_INET, std::string(host).c_str(), &v4) == 1 && (ntohl(v4.s_addr) >> 24) == 127;
}

absl::Status CheckAddress(absl::string_view flag, absl::string_view address) {
  return Check(flag, address, /*least_port=*/1, /*usual_port=*/50051);
}

absl::Status CheckListenAddress(absl::string_view flag, absl::string_view address, int usual_port) {
  return Check(flag, address, /*least_port=*/0, usual_port);
}

}  // namespace cobra
