#include "server/metrics_endpoint.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/metrics.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// What the endpoint answers to the bytes of `request`.
std::string Exchange(int port, const std::string& request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string reply;
  char buffer[4096];
  for (ssize_t n; (n = ::recv(fd, buffer, sizeof(buffer), 0)) > 0;) reply.append(buffer, n);
  ::close(fd);
  return reply;
}

TEST(MetricsEndpointTest, ServesWhatIsCounted) {
  Metrics metrics;
  metrics.RequestDone("Predict", absl::StatusCode::kNotFound, absl::Milliseconds(3));
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics.collectables());
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string reply = Exchange((*endpoint)->port(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("cobra_requests_total{method=\"Predict\",status=\"NOT_FOUND\"} 1"));
  EXPECT_THAT(reply, HasSubstr("process_resident_memory_bytes "));
}

TEST(MetricsEndpointTest, OtherRequestsGetNothing) {
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", Metrics().collectables());
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const int port = (*endpoint)->port();
  EXPECT_THAT(Exchange(port, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(port, "GET /metricsx HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(port, "POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  Exchange(port, std::string(20000, 'x'));  // no end of the headers in sight: hung up on
  EXPECT_THAT(Exchange(port, "GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST(MetricsEndpointTest, TakenOrNonsenseAddressesAreErrors) {
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", {});
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  EXPECT_FALSE(MetricsEndpoint::Start(absl::StrCat("127.0.0.1:", (*endpoint)->port()), {}).ok());
  EXPECT_FALSE(MetricsEndpoint::Start("nonsense", {}).ok());
}

}  // namespace
}  // namespace cobra::server
