#include "base/file/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"

namespace cobra {
namespace {

constexpr int64_t kMaxPemBytes = int64_t{4} << 20;  // a bundle of all public authorities has 0.2 MB

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio Open(absl::string_view pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free}; }

// Without it OpenSSL would ask for a password on the terminal.
int NoPassword(char*, int, int, void*) { return -1; }

// A pipe would be waited for, and empty when the file is read again.
absl::StatusOr<std::string> ReadPem(absl::string_view path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(std::string(path), error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return absl::InvalidArgumentError(absl::StrCat(path, ": is not a regular file"));
  return ReadFile(path, kMaxPemBytes);
}

Certificate FirstCertificate(absl::string_view pem) {
  const Bio bio = Open(pem);
  Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, &NoPassword, nullptr), &X509_free);
  ERR_clear_error();  // OpenSSL's queue of this thread is gRPC's too
  return certificate;
}

Key FirstKey(absl::string_view pem) {
  const Bio bio = Open(pem);
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &NoPassword, nullptr), &EVP_PKEY_free);
  ERR_clear_error();
  return key;
}

}  // namespace

absl::StatusOr<std::string> ReadCertificates(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(std::string pem, ReadPem(path));
  if (FirstCertificate(pem) == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(path, ": does not begin with a certificate in PEM"));
  return pem;
}

absl::StatusOr<KeyPair> ReadKeyPair(absl::string_view certificate_path, absl::string_view key_path) {
  COBRA_ASSIGN_OR_RETURN(std::string certificates, ReadCertificates(certificate_path));
  COBRA_ASSIGN_OR_RETURN(std::string key, ReadPem(key_path));
  const Certificate certificate = FirstCertificate(certificates);
  const Key parsed = FirstKey(key);
  if (parsed == nullptr)
    return absl::InvalidArgumentError(absl::StrCat(key_path, ": is not a private key in PEM without a password"));
  const bool matches = X509_check_private_key(certificate.get(), parsed.get()) == 1;
  ERR_clear_error();
  if (!matches) {
    return absl::InvalidArgumentError(
        absl::StrCat(key_path, ": is not the private key of the certificate in ", certificate_path));
  }
  return KeyPair{std::move(certificates), std::move(key)};
}

}  // namespace cobra
