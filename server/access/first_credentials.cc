#include "server/access/first_credentials.h"

#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/file/file.h"
#include "base/file/pem.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "server/access/access_token.h"

namespace cobra::server {
namespace {

constexpr long kValidDays = 3650;
constexpr long kSecondsOfDay = 24 * 60 * 60;
constexpr char kRemedy[] = "remove the folder, and the next start makes new ones; clients then need those";

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using PrivateKey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

bool IsIp(const std::string& name) {
  unsigned char bytes[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, name.c_str(), bytes) == 1 || ::inet_pton(AF_INET6, name.c_str(), bytes) == 1;
}

// Nothing else may reach OpenSSL's list of names, in which a comma begins another one.
bool IsHostName(absl::string_view name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '.' || c == '_';
  });
}

// "DNS:localhost,IP:127.0.0.1"
std::string AlternativeNames(std::vector<std::string> names) {
  names.insert(names.begin(), {"localhost", "127.0.0.1", "::1"});
  char machine[256] = {};
  if (::gethostname(machine, sizeof(machine) - 1) == 0 && IsHostName(machine)) names.emplace_back(machine);
  return absl::StrJoin(names, ",", [](std::string* out, const std::string& name) {
    absl::StrAppend(out, IsIp(name) ? "IP:" : "DNS:", name);
  });
}

bool AddExtension(X509* certificate, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509V3_set_ctx_nodb(&context);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  const bool added = extension != nullptr && X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

// Null if OpenSSL fails. It is no authority for other certificates: some TLS libraries do not
// accept one as a server's own.
Certificate SignItself(EVP_PKEY* key, const std::string& names) {
  Certificate certificate(X509_new(), &X509_free);
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> serial(BN_new(), &BN_free);
  X509* const x509 = certificate.get();
  if (x509 == nullptr || serial == nullptr) return {nullptr, &X509_free};
  X509_NAME* const subject = X509_get_subject_name(x509);
  const unsigned char common_name[] = "cobra-server";
  const bool made = X509_set_version(x509, X509_VERSION_3) == 1 &&
                    BN_rand(serial.get(), 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
                    BN_to_ASN1_INTEGER(serial.get(), X509_get_serialNumber(x509)) != nullptr &&
                    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, common_name, -1, -1, 0) == 1 &&
                    X509_set_issuer_name(x509, subject) == 1 &&
                    // Clocks of clients may be behind.
                    X509_gmtime_adj(X509_getm_notBefore(x509), -kSecondsOfDay) != nullptr &&
                    X509_gmtime_adj(X509_getm_notAfter(x509), kValidDays * kSecondsOfDay) != nullptr &&
                    X509_set_pubkey(x509, key) == 1 && AddExtension(x509, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(x509, NID_ext_key_usage, "serverAuth") &&
                    AddExtension(x509, NID_subject_alt_name, names) && X509_sign(x509, key, EVP_sha256()) > 0;
  if (!made) certificate.reset();
  return certificate;
}

std::string Written(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(std::max(0L, size)));
}

absl::StatusOr<KeyPair> MakeKeyPair(const std::vector<std::string>& names) {
  const PrivateKey key(EVP_EC_gen("P-256"), &EVP_PKEY_free);
  const Certificate certificate =
      key == nullptr ? Certificate(nullptr, &X509_free) : SignItself(key.get(), AlternativeNames(names));
  const Bio cert_text(BIO_new(BIO_s_mem()), &BIO_free), key_text(BIO_new(BIO_s_mem()), &BIO_free);
  const bool made =
      certificate != nullptr && PEM_write_bio_X509(cert_text.get(), certificate.get()) == 1 &&
      PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1;
  ERR_clear_error();  // OpenSSL's queue of this thread is gRPC's too
  if (!made) return absl::InternalError("OpenSSL cannot make a certificate");
  return KeyPair{Written(cert_text.get()), Written(key_text.get())};
}

CredentialFiles FilesIn(const std::string& folder) {
  return {absl::StrCat(folder, "/server.pem"), absl::StrCat(folder, "/server.key"), absl::StrCat(folder, "/access"),
          absl::StrCat(folder, "/admin.token")};
}

absl::Status WriteAll(const CredentialFiles& files, const std::vector<std::string>& names) {
  COBRA_ASSIGN_OR_RETURN(const KeyPair pair, MakeKeyPair(names));
  COBRA_RETURN_IF_ERROR(WriteSecret(files.key, pair.key));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(files.cert, pair.certificates));
  TokenRequest request;
  request.name = request.role = "admin";
  request.token_file = files.token;
  COBRA_ASSIGN_OR_RETURN(const std::string line, MakeToken(request));
  COBRA_RETURN_IF_ERROR(WriteFileAtomic(files.access, line + "\n"));
  for (const std::string& path : {files.cert, files.access}) {  // whatever the umask is
    if (::chmod(path.c_str(), 0644) != 0) return absl::ErrnoToStatus(errno, path);
  }
  return absl::OkStatus();
}

// In a folder beside, which gets its name when all is written.
absl::Status Make(const std::string& folder, const std::vector<std::string>& names) {
  std::string beside = absl::StrCat(folder, ".XXXXXX");
  if (::mkdtemp(&beside[0]) == nullptr) return absl::ErrnoToStatus(errno, "cannot be created");
  const CredentialFiles files = FilesIn(beside);
  auto remove = absl::MakeCleanup([&] {
    for (const std::string& path : {files.cert, files.key, files.access, files.token}) ::unlink(path.c_str());
    ::rmdir(beside.c_str());
  });
  COBRA_RETURN_IF_ERROR(WriteAll(files, names));
  // The key and the token can be read by their owner only; clients of this machine need the rest.
  if (::chmod(beside.c_str(), 0755) != 0) return absl::ErrnoToStatus(errno, "cannot be created");
  if (::rename(beside.c_str(), folder.c_str()) != 0) {
    if (errno == ENOTEMPTY || errno == EEXIST) return absl::AlreadyExistsError("another server has just made it");
    return absl::ErrnoToStatus(errno, "cannot be created");
  }
  std::move(remove).Cancel();
  return absl::OkStatus();
}

// Whether no other user but root can change what is there, nor read it if it is a secret.
bool IsOnlyOurs(const std::string& path, bool is_secret) {
  struct stat status = {};
  return ::lstat(path.c_str(), &status) == 0 && !S_ISLNK(status.st_mode) &&
         (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & (is_secret ? 077 : 022)) == 0;
}

// The first one of a file.
absl::StatusOr<Certificate> ReadCertificate(const std::string& path) {
  COBRA_ASSIGN_OR_RETURN(const std::string pem, ReadCertificates(path));
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  return Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), &X509_free);
}

bool IsFor(X509* certificate, const std::string& name) {
  const bool is_for = IsIp(name) ? X509_check_ip_asc(certificate, name.c_str(), 0) == 1
                                 : X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
  ERR_clear_error();
  return is_for;
}

// "Nov 29 08:00:00 2036 GMT"
std::string TimeText(const ASN1_TIME* time) {
  const Bio bio(BIO_new(BIO_s_mem()), &BIO_free);
  return ASN1_TIME_print(bio.get(), time) == 1 ? Written(bio.get()) : "an unknown time";
}

// Every client would refuse one that has expired.
absl::Status CheckCertificate(const std::string& folder, const std::string& path,
                              const std::vector<std::string>& names) {
  COBRA_ASSIGN_OR_RETURN(const Certificate certificate, ReadCertificate(path));
  const ASN1_TIME* const end = X509_get0_notAfter(certificate.get());
  if (X509_cmp_current_time(end) < 0)
    return UsageError(absl::StrCat("--credentials ", folder, ": ", path, " expired on ", TimeText(end)), kRemedy);
  for (const std::string& name : names) {
    if (!IsFor(certificate.get(), name))
      return UsageError(absl::StrCat("--tls-name ", name, ": ", path, " is not for this name"), kRemedy);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<CredentialFiles> PrepareCredentials(const std::string& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (IsIp(name) || IsHostName(name)) continue;
    return UsageError(absl::StrCat("--tls-name ", name, ": is neither a host name nor an IP address"),
                      "write --tls-name cobra.example.org, without a port");
  }
  const std::string path(absl::StripSuffix(folder, "/"));
  CredentialFiles files = FilesIn(path);
  struct stat status = {};
  files.are_new = ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
  if (files.are_new) {
    const absl::Status made = Make(path, names);
    if (made.ok()) return files;
    if (absl::IsAlreadyExists(made)) return PrepareCredentials(folder, names);
    const std::string message = absl::StrCat("--credentials ", folder, ": ", made.message());
    if (absl::IsInternal(made)) return absl::InternalError(message);
    return UsageError(message, "its parent folder must exist, and the user of the server must be able to write to it");
  }
  for (const std::string& each : {files.cert, files.key, files.access}) {
    if (!FileExists(each))
      return UsageError(absl::StrCat("--credentials ", folder, ": has no ", each.substr(path.size() + 1)), kRemedy);
  }
  for (const std::string& each : {path, files.cert, files.key, files.access}) {
    if (IsOnlyOurs(each, each == files.key)) continue;
    return UsageError(absl::StrCat("--credentials ", folder, ": ", each, ": another user owns it or can change it",
                                   each == files.key ? ", or can read the key" : ""),
                      kRemedy);
  }
  COBRA_RETURN_IF_ERROR(CheckCertificate(folder, files.cert, names));
  return files;
}

}  // namespace cobra::server
