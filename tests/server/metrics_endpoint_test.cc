#include "server/transport/metrics_endpoint.h"

#include <sys/socket.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/descriptor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/transport/health_check.h"
#include "server/transport/listen_socket.h"
#include "tests/server/http_exchange.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

bool Serves() { return true; }

TEST(MetricsEndpointTest, ServesWhatIsCounted) {
  Metrics metrics;
  metrics.RequestDone(Rpc::kPredict, absl::StatusCode::kNotFound, absl::Milliseconds(3));
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics.collectables(), Serves);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string reply = Exchange((*endpoint)->port(), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(reply, HasSubstr("cobra_requests_total{method=\"Predict\",status=\"NOT_FOUND\"} 1"));
  EXPECT_THAT(reply, HasSubstr("process_resident_memory_bytes "));
}

TEST(MetricsEndpointTest, EveryRpcIsThereFromTheStart) {
  Metrics metrics;
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics.collectables(), Serves);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string reply = Exchange((*endpoint)->port(), "GET /metrics HTTP/1.1\r\n\r\n");
  for (const RpcInfo& rpc : kRpcs) {
    const std::string label = absl::StrCat("{method=\"", rpc.method, "\"");
    EXPECT_THAT(reply, HasSubstr(absl::StrCat("cobra_requests_total", label, ",status=\"OK\"} 0")));
    EXPECT_THAT(reply, HasSubstr(absl::StrCat("cobra_request_duration_seconds_count", label, "} 0")));
  }
}

TEST(MetricsEndpointTest, HealthIsThatOfTheMoment) {
  std::atomic<bool> is_serving{false};
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", {}, [&is_serving] { return is_serving.load(); });
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string address = absl::StrCat("127.0.0.1:", (*endpoint)->port());
  EXPECT_THAT(Exchange((*endpoint)->port(), "GET /health HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 503"));
  EXPECT_EQ(CheckHealth(address, absl::Seconds(60)).message(), address + ": the server is NOT_SERVING");
  is_serving = true;
  EXPECT_THAT(Exchange((*endpoint)->port(), "GET /health HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(CheckHealth(address, absl::Seconds(60)).ok()) << CheckHealth(address, absl::Seconds(60));
}

TEST(MetricsEndpointTest, HealthOfNobodyIsAnError) {
  EXPECT_THAT(CheckHealth("127.0.0.1:1", absl::Seconds(60)).message(),
              HasSubstr("127.0.0.1:1: no server listens there (Connection refused)"));
  // A socket that nobody accepts from: connected, and silent.
  auto silent = ListenAt("127.0.0.1:0");
  ASSERT_TRUE(silent.ok()) << silent.status();
  const std::string address = absl::StrCat("127.0.0.1:", PortOf((*silent)[0]));
  EXPECT_EQ(CheckHealth(address, absl::Milliseconds(100)).message(), address + ": does not answer");
}

TEST(MetricsEndpointTest, OtherRequestsGetNothing) {
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", Metrics().collectables(), Serves);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const int port = (*endpoint)->port();
  EXPECT_THAT(Exchange(port, "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(port, "GET /healthy HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(port, "GET /metricsx HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Exchange(port, "POST /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  Exchange(port, std::string(20000, 'x'));  // no end of the headers in sight: hung up on
  EXPECT_THAT(Exchange(port, "GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
}

TEST(MetricsEndpointTest, IdleConnectionsKeepNobodyOut) {
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", {}, Serves);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const int port = (*endpoint)->port();
  std::vector<Descriptor> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(ConnectTo(port));
    if (i % 2 == 0) ASSERT_EQ(::send(idle.back().get(), "GET", 3, MSG_NOSIGNAL), 3);  // and never the rest
  }
  const absl::Time start = absl::Now();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Exchange(port, "GET /metrics HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 200"));
  // One after the other, they would take five seconds each.
  EXPECT_LT(absl::Now() - start, absl::Seconds(60));
}

TEST(MetricsEndpointTest, TakenOrNonsenseAddressesAreErrors) {
  auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", {}, Serves);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string taken = absl::StrCat("127.0.0.1:", (*endpoint)->port());
  EXPECT_EQ(MetricsEndpoint::Start(taken, {}, Serves).status().message(), taken + ": Address already in use");
  EXPECT_FALSE(MetricsEndpoint::Start("nonsense", {}, Serves).ok());
}

}  // namespace
}  // namespace cobra::server
