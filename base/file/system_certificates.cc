#include "base/file/system_certificates.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/file.h"

namespace cobra {
namespace {

constexpr const char* kPlaces[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch, Alpine, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL and its images
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/var/lib/ca-certificates/ca-bundle.pem",             // SUSE
    "/etc/pki/tls/cacert.pem",                            // OpenELEC
    "/etc/ssl/cert.pem",                                  // Alpine without its package of certificates
};

}  // namespace

absl::StatusOr<std::string> SystemCertificates() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != 0) return std::string(named);
  for (const char* place : kPlaces) {
    if (FileExists(place)) return std::string(place);
  }
  return absl::NotFoundError(
      absl::StrCat("this machine's certificates are at none of ", absl::StrJoin(kPlaces, ", "),
                   "; install them (package ca-certificates), or set SSL_CERT_FILE to a file of certificates (PEM)"));
}

}  // namespace cobra
