#include "base/address.h"

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

using testing::HasSubstr;

Diagnostic ProblemOf(absl::string_view address) {
  const absl::Status status = CheckAddress("--server", address);
  EXPECT_FALSE(status.ok()) << address;
  return DiagnosticFromStatus(status).value_or(Diagnostic());
}

TEST(AddressTest, HostAndPortAndNamesOfGrpc) {
  for (const char* address : {"127.0.0.1:50051", "localhost:1", "cobra.example.com:65535", "[::1]:50051",
                              "unix:/tmp/cobra", "unix:///tmp/cobra", "dns:///cobra:50051", "ipv6:[::1]:50051"}) {
    EXPECT_TRUE(CheckAddress("--server", address).ok()) << address;
  }
}

TEST(AddressTest, ErrorsAreReportedBeforeConnecting) {
  EXPECT_EQ(ProblemOf("http://127.0.0.1:50951").kind, Diagnostic::Kind::kUsage);
  EXPECT_THAT(ProblemOf("http://127.0.0.1:50951/").message, HasSubstr("--server http://127.0.0.1:50951/: is a URL"));
  EXPECT_EQ(ProblemOf("http://127.0.0.1:50951/x").hint, "write --server 127.0.0.1:50951");
  EXPECT_THAT(ProblemOf("localhost").message, HasSubstr("has no port"));
  EXPECT_EQ(ProblemOf("localhost").hint, "write --server localhost:50051");
  EXPECT_EQ(ProblemOf("50051").hint, "write --server 127.0.0.1:50051");
  EXPECT_EQ(ProblemOf(":50051").hint, "write --server 127.0.0.1:50051");
  EXPECT_EQ(ProblemOf("::1").hint, "write --server [::1]:50051");
  EXPECT_THAT(ProblemOf("localhost:http").message, HasSubstr("\"http\" is not a port"));
  EXPECT_THAT(ProblemOf("localhost:0").message, HasSubstr("is not a port"));
  EXPECT_THAT(ProblemOf("localhost:65536").message, HasSubstr("is not a port"));
  EXPECT_THAT(ProblemOf("[::1]").message, HasSubstr("has no port"));
  EXPECT_THAT(ProblemOf("").message, HasSubstr("has no port"));
}

TEST(AddressTest, AServerMayListenOnAnyPort) {
  for (const char* address : {"127.0.0.1:0", "[::]:50051", "0.0.0.0:65535", "unix:/tmp/cobra"})
    EXPECT_TRUE(CheckListenAddress("--listen", address, 50051).ok()) << address;
  const auto problem = [](absl::string_view address) {
    return DiagnosticFromStatus(CheckListenAddress("--listen", address, 9464)).value_or(Diagnostic());
  };
  EXPECT_EQ(problem("foo").kind, Diagnostic::Kind::kUsage);
  EXPECT_EQ(problem("foo").message, "--listen foo: has no port");
  EXPECT_EQ(problem("127.0.0.1").hint, "write --listen 127.0.0.1:9464");
  EXPECT_EQ(problem("127.0.0.1:99999").message, "--listen 127.0.0.1:99999: \"99999\" is not a port (0 to 65535)");
}

}  // namespace
}  // namespace cobra
