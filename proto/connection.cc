#include "proto/connection.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/address.h"
#include "base/file/file.h"
#include "base/file/pem.h"
#include "base/file/system_certificates.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "proto/compression.h"

namespace cobra::proto {
namespace {

constexpr int64_t kMaxTokenBytes = 4096;  // gRPC accepts 8 KiB of metadata
constexpr unsigned kReadAgainSeconds = 10;

absl::Status FlagError(absl::string_view flag, const absl::Status& status, absl::string_view hint = "") {
  if (status.ok()) return status;
  return UsageError(absl::StrCat(flag, " ", status.message()), std::string(hint));
}

absl::StatusOr<std::string> ReadToken(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, kMaxTokenBytes);
  if (!text.ok()) return FlagError("--token-file", text.status());
  const std::string token(absl::StripAsciiWhitespace(*text));
  // Anything else would not be valid as metadata.
  if (!token.empty() && std::all_of(token.begin(), token.end(), [](unsigned char c) { return absl::ascii_isgraph(c); }))
    return token;
  return FlagError("--token-file", absl::InvalidArgumentError(absl::StrCat(path, ": does not hold one token")),
                   "`cobra-server token` creates such a file");
}

absl::StatusOr<std::string> FileOfAuthorities(const std::string& tls_ca) {
  if (tls_ca != "system") return tls_ca;
  absl::StatusOr<std::string> file = SystemCertificates();
  if (!file.ok()) return UsageError(absl::StrCat("--tls-ca system: ", file.status().message()));
  return file;
}

}  // namespace

absl::Status CheckConnection(const ConnectionFiles& files, const std::string& address) {
  if (files.tls_ca.empty() && !(files.tls_cert.empty() && files.tls_key.empty())) {
    return UsageError("--tls-cert, --tls-key: need --tls-ca",
                      "give the authority that has signed the server's certificate");
  }
  if (!files.tls_ca.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string authorities, FileOfAuthorities(files.tls_ca));
    COBRA_RETURN_IF_ERROR(FlagError("--tls-ca", ReadCertificates(authorities).status()));
    if (files.tls_cert.empty() != files.tls_key.empty())
      return UsageError("--tls-cert, --tls-key: one was given without the other", "give both");
    if (!files.tls_cert.empty())
      COBRA_RETURN_IF_ERROR(FlagError("--tls-cert", ReadKeyPair(files.tls_cert, files.tls_key).status()));
  }
  if (files.token_file.empty()) return absl::OkStatus();
  if (files.tls_ca.empty() && !IsLocalAddress(address)) {
    return UsageError(
        absl::StrCat("--token-file ", files.token_file, ": anyone between here and ", address, " could read the token"),
        "give --tls-ca, the authority that has signed the server's certificate");
  }
  return ReadToken(files.token_file).status();
}

std::shared_ptr<grpc::Channel> Connect(const ConnectionFiles& files, const std::string& address,
                                       grpc::ChannelArguments arguments) {
  RefuseCompression([&arguments](const char* name, int value) { arguments.SetInt(name, value); });
  if (files.tls_ca.empty()) return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  namespace tls = grpc::experimental;
  tls::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(std::make_shared<tls::FileWatcherCertificateProvider>(
      files.tls_key, files.tls_cert, FileOfAuthorities(files.tls_ca).value_or(files.tls_ca), kReadAgainSeconds));
  options.watch_root_certs();
  if (!files.tls_cert.empty()) options.watch_identity_key_cert_pairs();
  return grpc::CreateCustomChannel(address, tls::TlsCredentials(options), arguments);
}

absl::Status AddToken(const ConnectionFiles& files, grpc::ClientContext* context) {
  if (files.token_file.empty()) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::string token, ReadToken(files.token_file));
  context->AddMetadata("authorization", absl::StrCat("Bearer ", token));
  return absl::OkStatus();
}

}  // namespace cobra::proto
