#include "base/file/system_certificates.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(SystemCertificatesTest, TheFileThatTheUserNamesComesFirst) {
  ::setenv("SSL_CERT_FILE", "/somewhere/authorities.pem", 1);
  const absl::StatusOr<std::string> file = SystemCertificates();
  ::unsetenv("SSL_CERT_FILE");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file, "/somewhere/authorities.pem");
}

TEST(SystemCertificatesTest, OneThatIsThereOrAllPlacesAreNamed) {
  ::setenv("SSL_CERT_FILE", "", 1);  // as if it were not set
  const absl::StatusOr<std::string> file = SystemCertificates();
  ::unsetenv("SSL_CERT_FILE");
  if (file.ok()) {
    EXPECT_EQ(file->rfind("/etc/", 0), 0u) << *file;
    return;
  }
  for (const char* place : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "SSL_CERT_FILE"})
    EXPECT_NE(file.status().message().find(place), absl::string_view::npos) << place;
}

}  // namespace
}  // namespace cobra
