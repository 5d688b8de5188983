// The files that --credentials makes. tests/e2e/access_test.py starts a server with them.
#include "server/access/first_credentials.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/file/pem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/access/access.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

int ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return static_cast<int>(status.st_mode & 0777);
}

std::string ContentOf(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(FirstCredentialsTest, AreMadeOnce) {
  const tests::TemporaryDirectory directory;
  const std::string folder = absl::StrCat(directory.path(), "/credentials");
  const absl::StatusOr<CredentialFiles> made = PrepareCredentials(folder, {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->are_new);
  EXPECT_TRUE(ReadKeyPair(made->cert, made->key).ok());
  EXPECT_EQ(ModeOf(made->key), 0600);
  EXPECT_EQ(ModeOf(made->token), 0600);
  EXPECT_EQ(ModeOf(folder), 0755);
  const absl::StatusOr<AccessTable> table = AccessTable::Parse(made->access, ContentOf(made->access));
  ASSERT_TRUE(table.ok()) << table.status();
  const std::string token = ContentOf(made->token);
  EXPECT_EQ(table->FindToken(absl::StripSuffix(token, "\n"))->role, Role::kAdmin);

  const std::string certificate = ContentOf(made->cert);
  const absl::StatusOr<CredentialFiles> again = PrepareCredentials(folder + "/", {"localhost", "127.0.0.1", "::1"});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->are_new);
  EXPECT_EQ(ContentOf(again->cert), certificate);
  EXPECT_EQ(ContentOf(again->token), token);
  EXPECT_EQ(ListFiles(directory.path(), "")->size(), 4u);  // and nothing is left over
}

TEST(FirstCredentialsTest, WhatOthersMayChangeOrReadIsNotUsed) {
  const tests::TemporaryDirectory directory;
  const std::string folder = absl::StrCat(directory.path(), "/credentials");
  const absl::StatusOr<CredentialFiles> made = PrepareCredentials(folder, {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(ModeOf(made->access), 0644);  // whatever the umask is
  struct Case {
    std::string path;
    mode_t open, usual;
  };
  for (const Case& c : {Case{folder, 0777, 0755}, {made->access, 0666, 0644}, {made->key, 0644, 0600}}) {
    ASSERT_EQ(::chmod(c.path.c_str(), c.open), 0);
    const absl::Status status = PrepareCredentials(folder, {}).status();
    ASSERT_TRUE(DiagnosticFromStatus(status)) << status;
    EXPECT_THAT(DiagnosticFromStatus(status)->message, HasSubstr(c.path + ": another user owns it or can change it"));
    ASSERT_EQ(::chmod(c.path.c_str(), c.usual), 0);
  }
  EXPECT_TRUE(PrepareCredentials(folder, {}).ok());
}

TEST(FirstCredentialsTest, TheCertificateIsForTheNames) {
  const tests::TemporaryDirectory directory;
  const std::string folder = absl::StrCat(directory.path(), "/credentials");
  ASSERT_TRUE(PrepareCredentials(folder, {"cobra.example.org", "192.0.2.7"}).ok());
  EXPECT_TRUE(PrepareCredentials(folder, {"192.0.2.7", "cobra.example.org"}).ok());
  for (const char* other : {"other.example.org", "192.0.2.8"}) {
    const absl::Status status = PrepareCredentials(folder, {other}).status();
    ASSERT_TRUE(DiagnosticFromStatus(status)) << status;
    EXPECT_EQ(DiagnosticFromStatus(status)->message,
              absl::StrCat("--tls-name ", other, ": ", folder, "/server.pem is not for this name"));
  }
}

// As a server of ten years finds it.
void Expire(const CredentialFiles& files) {
  const absl::StatusOr<KeyPair> pair = ReadKeyPair(files.cert, files.key);
  ASSERT_TRUE(pair.ok()) << pair.status();
  BIO* const text = BIO_new_mem_buf(pair->certificates.data(), static_cast<int>(pair->certificates.size()));
  X509* const certificate = PEM_read_bio_X509(text, nullptr, nullptr, nullptr);
  BIO* const key_text = BIO_new_mem_buf(pair->key.data(), static_cast<int>(pair->key.size()));
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text, nullptr, nullptr, nullptr);
  X509_gmtime_adj(X509_getm_notAfter(certificate), -60);
  ASSERT_GT(X509_sign(certificate, key, EVP_sha256()), 0);
  BIO* const written = BIO_new_file(files.cert.c_str(), "w");
  ASSERT_EQ(PEM_write_bio_X509(written, certificate), 1);
  for (BIO* bio : {text, key_text, written}) BIO_free(bio);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

TEST(FirstCredentialsTest, AnExpiredCertificateIsNotServed) {
  const tests::TemporaryDirectory directory;
  const std::string folder = absl::StrCat(directory.path(), "/credentials");
  const absl::StatusOr<CredentialFiles> made = PrepareCredentials(folder, {});
  ASSERT_TRUE(made.ok()) << made.status();
  Expire(*made);
  const absl::Status status = PrepareCredentials(folder, {}).status();
  ASSERT_TRUE(DiagnosticFromStatus(status)) << status;
  EXPECT_THAT(DiagnosticFromStatus(status)->message, HasSubstr(made->cert + " expired on "));
}

TEST(FirstCredentialsTest, ErrorsLeaveNothingBehind) {
  const tests::TemporaryDirectory directory;
  const std::string folder = absl::StrCat(directory.path(), "/credentials");
  for (const char* name : {"", "host:50051", "a,DNS:b", "a b", "*"}) {
    const absl::Status status = PrepareCredentials(folder, {name}).status();
    EXPECT_TRUE(absl::EndsWith(status.message(), "neither a host name nor an IP address")) << status;
  }
  EXPECT_THAT(PrepareCredentials(folder + "/no/such", {}).status().message(), HasSubstr("cannot be created"));
  EXPECT_TRUE(ListFiles(directory.path(), "")->empty());
  ASSERT_TRUE(MakeDirectories(folder).ok());
  const absl::Status status = PrepareCredentials(folder, {}).status();
  ASSERT_TRUE(DiagnosticFromStatus(status)) << status;
  EXPECT_EQ(DiagnosticFromStatus(status)->message, absl::StrCat("--credentials ", folder, ": has no server.pem"));
}

}  // namespace
}  // namespace cobra::server
