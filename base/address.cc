#include "base/address.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/user_error.h"

namespace cobra {
namespace {

constexpr absl::string_view kGrpcNames[] = {"unix:", "unix-abstract:", "dns:", "ipv4:", "ipv6:"};
constexpr absl::string_view kUsualPort = "50051";

bool IsPort(absl::string_view text) {
  int port;
  return absl::SimpleAtoi(text, &port) && port > 0 && port <= 65535;
}

}  // namespace

absl::Status CheckAddress(absl::string_view flag, absl::string_view address) {
  const auto wrong = [&](absl::string_view what, absl::string_view instead) {
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat(flag, " ", address, ": ", what),
                     absl::StrCat("write ", flag, " ", instead));
  };
  for (absl::string_view name : kGrpcNames) {
    if (absl::StartsWith(address, name)) return absl::OkStatus();
  }
  if (const size_t scheme = address.find("://"); scheme != absl::string_view::npos) {
    absl::string_view rest = address.substr(scheme + 3);
    rest = rest.substr(0, rest.find('/'));
    return wrong("is a URL, the address of a gRPC server is HOST:PORT", rest.empty() ? "HOST:PORT" : rest);
  }
  const bool bracketed = absl::StartsWith(address, "[") && absl::StrContains(address, ']');
  const auto colons = std::count(address.begin(), address.end(), ':');
  if (!bracketed && colons > 1) {
    return wrong("write an IPv6 address in brackets before the port", absl::StrCat("[", address, "]:", kUsualPort));
  }
  const absl::string_view after = bracketed ? address.substr(address.find(']') + 1) : address;
  const size_t colon = after.find(':');
  if (colon == absl::string_view::npos) {
    const bool is_port = IsPort(address);
    return wrong(is_port ? "is a port without a host" : "has no port",
                 is_port ? absl::StrCat("127.0.0.1:", address)
                         : absl::StrCat(address.empty() ? "HOST" : address, ":", kUsualPort));
  }
  if (!IsPort(after.substr(colon + 1))) {
    return wrong(absl::StrCat("\"", after.substr(colon + 1), "\" is not a port (1 to 65535)"), "HOST:PORT");
  }
  if (!bracketed && colon == 0) return wrong("has no host", absl::StrCat("127.0.0.1", address));
  return absl::OkStatus();
}

}  // namespace cobra
