#include "server/exposure.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/address.h"
#include "base/status_macros.h"
#include "base/user_error.h"

namespace cobra::server {
namespace {

absl::Status CheckTlsFlags(const TlsFiles& tls) {
  if (tls.cert.empty() != tls.key.empty()) {
    const bool has_key = tls.cert.empty();
    return UsageError(absl::StrCat(has_key ? "--tls-key " : "--tls-cert ", has_key ? tls.key : tls.cert,
                                   ": was given without ", has_key ? "--tls-cert" : "--tls-key"),
                      "give both: the server's certificate and its private key");
  }
  if (!tls.ca.empty() && tls.cert.empty()) {
    return UsageError(absl::StrCat("--tls-ca ", tls.ca, ": client certificates need TLS"),
                      "give --tls-cert and --tls-key too");
  }
  return absl::OkStatus();
}

absl::Status CheckApiAddress(const char* flag, const std::string& address, const ServerOptions& options) {
  if (options.insecure || IsLocalAddress(address)) return absl::OkStatus();
  std::vector<std::string> missing;
  if (options.tls.cert.empty()) missing.push_back("--tls-cert and --tls-key (TLS)");
  if (options.access_file.empty()) missing.push_back("--access (who may do what)");
  if (missing.empty()) return absl::OkStatus();
  const bool has_neither = missing.size() == 2;
  return UsageError(
      absl::StrCat(flag, " ", address, ": other machines can reach it"),
      absl::StrCat("give ", absl::StrJoin(missing, " and "),
                   has_neither ? ", or --credentials FOLDER, which makes both" : "",
                   ", or listen on 127.0.0.1. If anyone who reaches the address may do anything, and may read "
                   "what others send, add --insecure (docs/operations.md, Access)"));
}

}  // namespace

absl::Status CheckExposure(const ServerOptions& options) {
  COBRA_RETURN_IF_ERROR(CheckTlsFlags(options.tls));
  COBRA_RETURN_IF_ERROR(CheckApiAddress("--listen", options.listen, options));
  if (!options.http.empty()) COBRA_RETURN_IF_ERROR(CheckApiAddress("--http", options.http, options));
  if (options.http.empty() && !options.http_hosts.empty()) {
    return UsageError(absl::StrCat("--http-host ", options.http_hosts[0], ": has no effect without --http"),
                      "give --http HOST:PORT too");
  }
  if (!options.metrics.empty() && !options.insecure_metrics && !IsLocalAddress(options.metrics)) {
    return UsageError(
        absl::StrCat("--metrics ", options.metrics, ": other machines can reach it"),
        "metrics have no credentials: use 127.0.0.1 or --metrics '', or, if anyone who reaches the address "
        "may read them, add --insecure-metrics");
  }
  return absl::OkStatus();
}

}  // namespace cobra::server
