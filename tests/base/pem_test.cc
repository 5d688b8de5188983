#include "base/file/pem.h"

#include <sys/stat.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra {
namespace {

using testing::HasSubstr;

class PemTest : public testing::Test {
 protected:
  // NAME.pem and NAME.key. `more`: further arguments of openssl.
  void Make(const std::string& name, const std::vector<std::string>& more = {"-nodes"}) {
    std::vector<std::string> command = {
        "openssl", "req",      "-x509", "-newkey",  "ec",      "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-subj",   "/CN=test", "-out",  Cert(name), "-keyout", Key(name)};
    command.insert(command.end(), more.begin(), more.end());
    ASSERT_TRUE(RunProgram(command).ok());
  }
  std::string Cert(const std::string& name) const { return directory_.File(name + ".pem"); }
  std::string Key(const std::string& name) const { return directory_.File(name + ".key"); }
  std::string Problem(const std::string& certificate, const std::string& key) const {
    return std::string(ReadKeyPair(certificate, key).status().message());
  }

  tests::TemporaryDirectory directory_;
};

TEST_F(PemTest, AKeyBelongsToItsCertificate) {
  Make("a");
  Make("b");
  const absl::StatusOr<KeyPair> pair = ReadKeyPair(Cert("a"), Key("a"));
  ASSERT_TRUE(pair.ok()) << pair.status();
  EXPECT_EQ(pair->certificates, ReadFile(Cert("a")).value());
  EXPECT_EQ(pair->key, ReadFile(Key("a")).value());
  EXPECT_EQ(Problem(Cert("a"), Key("b")),
            absl::StrCat(Key("b"), ": is not the private key of the certificate in ", Cert("a")));
}

TEST_F(PemTest, WhatIsNotPemIsNamed) {
  Make("a");
  EXPECT_THAT(Problem(Key("a"), Key("a")), HasSubstr(Key("a") + ": does not begin with a certificate"));
  EXPECT_THAT(Problem(Cert("a"), Cert("a")), HasSubstr(Cert("a") + ": is not a private key"));
  EXPECT_THAT(Problem(Cert("none"), Key("a")), HasSubstr(Cert("none") + ": cannot be opened"));
  ASSERT_TRUE(WriteFileAtomic(Cert("cut"), ReadFile(Cert("a")).value().substr(0, 200)).ok());
  EXPECT_THAT(std::string(ReadCertificates(Cert("cut")).status().message()), HasSubstr("does not begin with"));
}

TEST_F(PemTest, APipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(Cert("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadCertificates(Cert("pipe")).status().message(), Cert("pipe") + ": is not a regular file");
}

TEST_F(PemTest, AKeyWithAPasswordIsRefusedWithoutAskingForIt) {
  Make("locked", {"-passout", "pass:secret"});
  EXPECT_THAT(Problem(Cert("locked"), Key("locked")), HasSubstr("without a password"));
}

}  // namespace
}  // namespace cobra
