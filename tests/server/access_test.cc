// The access file, and which addresses need protection. tests/e2e/access_test.py asks a real
// server.
#include "server/access/access.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/bytes/hash.h"
#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/exposure.h"

namespace cobra::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string TokenLine(absl::string_view words, absl::string_view token) {
  return absl::StrCat(words, " token_sha256=", Sha256Hex(token), "\n");
}

std::string ProblemOf(absl::string_view text) {
  const absl::Status status = AccessTable::Parse("access", text).status();
  EXPECT_FALSE(status.ok()) << text;
  return std::string(status.message());
}

TEST(AccessTableTest, FindsByTokenAndByCertificate) {
  const std::string text = absl::StrCat("# who\n\n", TokenLine("name=ci role=ask", "one"),
                                        TokenLine("role=ask\tname=ci", "two"),  // the next token of the same principal
                                        "name=pi role=measure worker=pi targets=a,b certificate=pi.example.org\r\n");
  const absl::StatusOr<AccessTable> table = AccessTable::Parse("access", text);
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->size(), 3u);
  EXPECT_TRUE(table->has_certificates());
  EXPECT_EQ(table->FindToken("one")->name, "ci");
  EXPECT_EQ(table->FindToken("two")->role, Role::kAsk);
  for (const char* wrong : {"", "three", "one ", "pi.example.org"}) EXPECT_EQ(table->FindToken(wrong), nullptr);
  const std::shared_ptr<const Principal> pi = table->FindCertificate("pi.example.org");
  ASSERT_NE(pi, nullptr);
  EXPECT_EQ(pi->role, Role::kMeasure);
  EXPECT_EQ(pi->worker, "pi");
  EXPECT_THAT(pi->targets, ElementsAre("a", "b"));
  for (const char* wrong : {"", "one", "example.org"}) EXPECT_EQ(table->FindCertificate(wrong), nullptr);
}

TEST(AccessTableTest, ErrorsNameTheLineAndRepeatNoToken) {
  const std::string sha256 = " token_sha256=" + Sha256Hex("t");
  for (const auto& [line, words] : std::initializer_list<std::pair<std::string, const char*>>{
           {"name=a role=ask", "needs one of token_sha256= and certificate="},
           {"name=a role=ask certificate=c" + sha256, "needs one of token_sha256= and certificate="},
           {"role=ask" + sha256, "name: is empty"},
           {"name=a" + sha256, "role= is ask, measure or admin"},
           {"name=a role=king" + sha256, "role= is ask, measure or admin"},
           {"name=a role=any" + sha256, "role= is ask, measure or admin"},
           {"name=a name=b role=ask" + sha256, "has name= twice"},
           {"name=a role=ask worker=w" + sha256, "belong to role=measure"},
           {"name=a role=admin targets=t" + sha256, "belong to role=measure"},
           {"name=a role=measure worker=w" + sha256, "role=measure needs"},
           {"name=a role=measure targets=t" + sha256, "role=measure needs"},
           {"name=a role=measure worker=w targets=t,,u" + sha256, "target: is empty"},
           {"name=a role=measure worker=w targets=*" + sha256, "may have letters"},
           {"name=a role=ask token_sha256=cobra_secret", "is not a SHA-256"},
           {"name=a role=ask cobra_secret", "has a word other than"},
           {"name=a role=ask token=cobra_secret", "has a word other than"},
           {"name=b role=ask" + sha256 + "\nname=a role=ask" + sha256, "has the credential of an earlier line"},
           {"name=a role=ask certificate=c\nname=a role=admin" + sha256, "has another role"},
       }) {
    const std::string problem = ProblemOf(absl::StrCat("# a comment\n", line));
    EXPECT_THAT(problem, HasSubstr(words)) << line;
    EXPECT_THAT(problem, HasSubstr(absl::StrContains(line, '\n') ? "access:3: " : "access:2: "));
    EXPECT_FALSE(absl::StrContains(problem, "secret")) << problem;
  }
  EXPECT_EQ(ProblemOf("# nobody\n"),
            "access: has no credential, so that nobody could call; `cobra-server token` creates one");
}

TEST(AccessTest, ARoleIsBoundToItsWorkerAndTargets) {
  const Principal pi = {"pi", Role::kMeasure, "pi", {"a", "b"}}, ops = {"ops", Role::kAdmin, "", {}};
  EXPECT_TRUE(CheckWorker(&pi, "pi").ok());
  EXPECT_TRUE(CheckTarget(&pi, "b").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(CheckWorker(&pi, "pi2")));
  EXPECT_TRUE(absl::IsPermissionDenied(CheckTarget(&pi, "a,b")));
  for (const Principal* free : {&ops, static_cast<const Principal*>(nullptr)}) {
    EXPECT_TRUE(CheckWorker(free, "any").ok());
    EXPECT_TRUE(CheckTarget(free, "any").ok());
  }
}

Diagnostic Refused(const ServerOptions& options) {
  const absl::Status status = CheckExposure(options);
  EXPECT_FALSE(status.ok()) << options.listen << " " << options.metrics;
  return DiagnosticFromStatus(status).value_or(Diagnostic());
}

TEST(ExposureTest, WhatOtherMachinesReachNeedsTlsAndAccess) {
  for (const char* listen : {"0.0.0.0:50051", "[::]:50051", "192.0.2.1:0", "cobra.example.org:1", "127.0.0.2.example:1",
                             "ipv4:0.0.0.0:1", "ipv4:127.0.0.1:1,0.0.0.0:1", "ipv6:[::]:1", "dns:example.org:1"}) {
    ServerOptions options;
    options.listen = listen;
    EXPECT_EQ(Refused(options).message, absl::StrCat("--listen ", listen, ": other machines can reach it"));
    EXPECT_THAT(Refused(options).hint, HasSubstr("--insecure"));
    options.access_file = "access";
    EXPECT_THAT(Refused(options).hint, HasSubstr("give --tls-cert and --tls-key (TLS), or"));
    options.tls = {"cert", "key", ""};
    EXPECT_TRUE(CheckExposure(options).ok());
    options.access_file = "";
    EXPECT_THAT(Refused(options).hint, HasSubstr("give --access (who may do what), or"));
    options.insecure = true;
    EXPECT_TRUE(CheckExposure(options).ok());
  }
  for (const char* listen : {"127.0.0.1:0", "127.8.9.10:1", "localhost:50051", "[::1]:1", "unix:/run/cobra",
                             "unix-abstract:cobra", "ipv4:127.0.0.1:1", "ipv6:[::1]:1", "dns:localhost:1"}) {
    ServerOptions options;
    options.listen = listen;
    EXPECT_TRUE(CheckExposure(options).ok()) << listen;
  }
}

TEST(ExposureTest, MetricsHaveAFlagOfTheirOwn) {
  ServerOptions options;
  options.metrics = "0.0.0.0:9464";
  options.insecure = true;
  EXPECT_THAT(Refused(options).hint, HasSubstr("--insecure-metrics"));
  options.insecure_metrics = true;
  EXPECT_TRUE(CheckExposure(options).ok());
  options = {};
  options.metrics = "";
  EXPECT_TRUE(CheckExposure(options).ok());
}

TEST(ExposureTest, FlagsOfTlsBelongTogether) {
  ServerOptions options;
  options.tls.cert = "c.pem";
  EXPECT_EQ(Refused(options).message, "--tls-cert c.pem: was given without --tls-key");
  options.tls = {"", "k.pem", ""};
  EXPECT_EQ(Refused(options).message, "--tls-key k.pem: was given without --tls-cert");
  options.tls = {"", "", "ca.pem"};
  EXPECT_THAT(Refused(options).message, HasSubstr("client certificates need TLS"));
}

}  // namespace
}  // namespace cobra::server
