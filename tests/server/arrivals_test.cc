#include "server/rpc/arrivals.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/file/descriptor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/lanes/fair_room.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

bool Within(absl::Duration time, const std::function<bool()>& is_so) {
  for (const absl::Time until = absl::Now() + time; absl::Now() < until; absl::SleepFor(absl::Milliseconds(5))) {
    if (is_so()) return true;
  }
  return is_so();
}

class RefusableCall final : public Arrivals::Call {
 public:
  void Refuse(const absl::Status& why) override {
    absl::MutexLock lock(&mutex_);
    refused_.push_back(why);
  }
  std::vector<absl::Status> refused() {
    absl::MutexLock lock(&mutex_);
    return refused_;
  }

 private:
  absl::Mutex mutex_;
  std::vector<absl::Status> refused_ ABSL_GUARDED_BY(mutex_);
};

std::shared_ptr<Connection> OfCaller(const std::string& caller) { return std::make_shared<Connection>(caller); }

// A client's and the server's end of a TCP connection on this machine.
class TcpPair {
 public:
  TcpPair() : listener_(::socket(AF_INET, SOCK_STREAM, 0)), client_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 1), 0);
    EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    EXPECT_EQ(::connect(client_.get(), reinterpret_cast<sockaddr*>(&at), size), 0);
    sockaddr_storage peer = {};
    size = sizeof(peer);
    server_ = Descriptor(::accept(listener_.get(), reinterpret_cast<sockaddr*>(&peer), &size));
    connection_ = std::make_shared<Connection>(server_.get(), peer);
  }

  // The client sends them and the server takes them from the system, as gRPC does, until the
  // connection is ended.
  void Send(size_t bytes) {
    std::vector<char> part(16 << 10);
    while (bytes > 0) {
      const size_t some = std::min(bytes, part.size());
      if (::send(client_.get(), part.data(), some, MSG_NOSIGNAL) != static_cast<ssize_t>(some)) return;
      for (size_t left = some; left > 0;) {
        const ssize_t taken = ::recv(server_.get(), part.data(), left, 0);
        if (taken <= 0) return;
        left -= static_cast<size_t>(taken);
      }
      bytes -= some;
    }
  }
  void CloseServer() { server_.Close(); }
  const std::shared_ptr<Connection>& connection() const { return connection_; }

 private:
  Descriptor listener_, client_, server_;
  std::shared_ptr<Connection> connection_;
};

ArrivalLimits Patient() {
  ArrivalLimits limits;
  limits.period = absl::Milliseconds(5);
  limits.call_time = absl::Hours(1);
  return limits;
}

TEST(ArrivalsTest, AMessageThatComesEndsTheWait) {
  ConnectionTable table;
  Arrivals arrivals(Patient(), &table, nullptr);
  RefusableCall call;
  ASSERT_TRUE(arrivals.Begin(&call, OfCaller("a")).ok());
  EXPECT_EQ(arrivals.num_waiting(), 1);
  EXPECT_TRUE(arrivals.End(&call));
  EXPECT_EQ(arrivals.num_waiting(), 0);
  EXPECT_FALSE(arrivals.End(&call));
  EXPECT_THAT(call.refused(), IsEmpty());
}

TEST(ArrivalsTest, ACallHasItsTime) {
  ArrivalLimits limits = Patient();
  limits.call_time = absl::Milliseconds(50);
  ConnectionTable table;
  Arrivals arrivals(limits, &table, nullptr);
  RefusableCall call;
  ASSERT_TRUE(arrivals.Begin(&call, OfCaller("a")).ok());
  ASSERT_TRUE(Within(absl::Seconds(10), [&] { return !call.refused().empty(); }));
  EXPECT_TRUE(absl::IsDeadlineExceeded(call.refused()[0]));
  EXPECT_THAT(std::string(call.refused()[0].message()),
              HasSubstr("did not arrive within 50ms, and a second for each 256 KiB"));
  EXPECT_FALSE(arrivals.End(&call));  // whoever was refused does not end by itself too
}

TEST(ArrivalsTest, ALargeMessageOnASlowLineHasMore) {
  ArrivalLimits limits = Patient();
  limits.call_time = absl::Milliseconds(50);
  limits.bytes_per_second = 1000;
  ConnectionTable table;
  TcpPair slow;
  table.Add(slow.connection());
  Arrivals arrivals(limits, &table, nullptr);
  RefusableCall call;
  slow.connection()->CallBegan();
  slow.Send(1 << 20);  // worth a thousand seconds
  ASSERT_TRUE(arrivals.Begin(&call, slow.connection()).ok());
  absl::SleepFor(absl::Milliseconds(300));
  EXPECT_THAT(call.refused(), IsEmpty());
  EXPECT_TRUE(arrivals.End(&call));
}

TEST(ArrivalsTest, TheOldestCallsOfTheCallerWithTheMostMakeRoom) {
  ArrivalLimits limits = Patient();
  limits.max_calls = 20;
  ConnectionTable table;
  Arrivals arrivals(limits, &table, nullptr);
  std::vector<std::unique_ptr<RefusableCall>> greedy;
  RefusableCall modest;
  ASSERT_TRUE(arrivals.Begin(&modest, OfCaller("modest")).ok());
  for (int i = 0; i < 30; ++i) {
    greedy.push_back(std::make_unique<RefusableCall>());
    const absl::Status begun = arrivals.Begin(greedy.back().get(), OfCaller("greedy"));
    ASSERT_TRUE(begun.ok()) << begun;
    absl::SleepFor(absl::Milliseconds(1));
  }
  EXPECT_TRUE(Within(absl::Seconds(10), [&] { return arrivals.num_waiting() <= 20; }));
  EXPECT_THAT(modest.refused(), IsEmpty());
  ASSERT_EQ(greedy.front()->refused().size(), 1);
  EXPECT_TRUE(absl::IsResourceExhausted(greedy.front()->refused()[0]));
  EXPECT_THAT(greedy.back()->refused(), IsEmpty());
  EXPECT_TRUE(arrivals.End(&modest));
  for (const auto& call : greedy) EXPECT_EQ(arrivals.End(call.get()), call->refused().empty());
}

TEST(ArrivalsTest, OfOneCallerTheConnectionWithTheMostMakesRoom) {
  ArrivalLimits limits = Patient();
  limits.max_calls = 20;
  ConnectionTable table;
  Arrivals arrivals(limits, &table, nullptr);
  const auto few = OfCaller("a"), many = OfCaller("a");
  RefusableCall own;  // the oldest of all
  ASSERT_TRUE(arrivals.Begin(&own, few).ok());
  std::vector<std::unique_ptr<RefusableCall>> calls;
  for (int i = 0; i < 30; ++i) {
    calls.push_back(std::make_unique<RefusableCall>());
    ASSERT_TRUE(arrivals.Begin(calls.back().get(), many).ok());
  }
  EXPECT_TRUE(Within(absl::Seconds(10), [&] { return arrivals.num_waiting() <= 20; }));
  EXPECT_THAT(own.refused(), IsEmpty());
  EXPECT_TRUE(arrivals.End(&own));
  for (const auto& call : calls) EXPECT_EQ(arrivals.End(call.get()), call->refused().empty());
}

TEST(ArrivalsTest, WhenTheThreadIsBehindNewcomersAreRefused) {
  ArrivalLimits limits = Patient();
  limits.max_calls = 0;
  ConnectionTable table;
  Arrivals arrivals(limits, &table, nullptr);
  RefusableCall call;
  EXPECT_TRUE(absl::IsResourceExhausted(arrivals.Begin(&call, OfCaller("a"))));
  EXPECT_EQ(arrivals.num_waiting(), 0);
  EXPECT_FALSE(arrivals.End(&call));
}

TEST(ArrivalsTest, AServerThatStopsWaitsForNobody) {
  ConnectionTable table;
  Arrivals arrivals(Patient(), &table, nullptr);
  RefusableCall before, after, health, late_health;
  ASSERT_TRUE(arrivals.Begin(&before, OfCaller("a")).ok());
  ASSERT_TRUE(arrivals.Begin(&health, OfCaller("a"), /*to_the_end=*/true).ok());
  arrivals.Close();
  EXPECT_THAT(health.refused(), IsEmpty());
  EXPECT_TRUE(arrivals.Begin(&late_health, OfCaller("a"), /*to_the_end=*/true).ok());
  EXPECT_TRUE(arrivals.End(&health));
  EXPECT_TRUE(arrivals.End(&late_health));
  ASSERT_EQ(before.refused().size(), 1);
  EXPECT_TRUE(absl::IsUnavailable(before.refused()[0]));
  EXPECT_TRUE(absl::IsUnavailable(arrivals.Begin(&after, OfCaller("a"))));
  EXPECT_THAT(after.refused(), IsEmpty());
}

TEST(ArrivalsTest, TheConnectionThatHoldsMostIsEndedAndNoOther) {
  ArrivalLimits limits = Patient();
  limits.max_caller_bytes = 4 << 20;
  ConnectionTable table;
  TcpPair modest, greedy;
  for (const TcpPair* pair : {&modest, &greedy}) {
    table.Add(pair->connection());
    pair->connection()->CallBegan();
  }
  Arrivals arrivals(limits, &table, nullptr);
  RefusableCall of_modest, of_greedy;
  ASSERT_TRUE(arrivals.Begin(&of_modest, modest.connection()).ok());
  ASSERT_TRUE(arrivals.Begin(&of_greedy, greedy.connection()).ok());
  modest.Send(1 << 20);
  greedy.Send(6 << 20);
  EXPECT_TRUE(Within(absl::Seconds(10), [&] { return greedy.connection()->ended(); }));
  EXPECT_FALSE(modest.connection()->ended());
  EXPECT_TRUE(arrivals.End(&of_modest));
  EXPECT_TRUE(arrivals.End(&of_greedy));
}

TEST(ArrivalsTest, TheConnectionWithTheMostOpenCallsIsEnded) {
  ArrivalLimits limits = Patient();
  limits.max_open_calls = 100;
  ConnectionTable table;
  TcpPair modest, greedy;
  for (const TcpPair* pair : {&modest, &greedy}) table.Add(pair->connection());
  for (int i = 0; i < 30; ++i) modest.connection()->CallBegan();
  for (int i = 0; i < 80; ++i) greedy.connection()->CallBegan();
  Arrivals arrivals(limits, &table, nullptr);
  EXPECT_TRUE(Within(absl::Seconds(10), [&] { return greedy.connection()->ended(); }));
  EXPECT_FALSE(modest.connection()->ended());
}

TEST(ConnectionTest, WhoResetsCallsAtOnceIsEnded) {
  TcpPair pair;
  for (int i = 0; i < 5000; ++i) {  // whatever is answered in time does no harm
    pair.connection()->CallBegan();
    pair.connection()->CallEnded();
  }
  EXPECT_FALSE(pair.connection()->ended());
  for (int i = 0; i < 2049; ++i) pair.connection()->CallBegan();
  EXPECT_TRUE(pair.connection()->ended());
}

TEST(ConnectionTest, HoldsWhatItHasReceivedAndNobodyHasTaken) {
  TcpPair pair;
  Connection& connection = *pair.connection();
  const absl::Time began = absl::Now();
  connection.CallBegan();
  pair.Send(1 << 20);
  connection.Sample(absl::Now(), began);
  EXPECT_NEAR(connection.held_bytes(), 1 << 20, 32 << 10);
  pair.Send(1 << 20);
  connection.Sample(absl::Now(), began);
  EXPECT_NEAR(connection.held_bytes(), 2 << 20, 32 << 10);
  connection.Took(2 << 20);
  connection.Sample(absl::Now(), began);
  EXPECT_LT(connection.held_bytes(), 32 << 10);
  pair.Send(1 << 20);
  connection.Sample(absl::Now(), began);
  EXPECT_GT(connection.held_bytes(), 900 << 10);
  connection.CallEnded();  // gRPC gives up what it has for a call that has ended
  connection.Sample(absl::Now(), absl::InfiniteFuture());
  EXPECT_EQ(connection.held_bytes(), 0);
}

// Headers and frames of many small calls are not held by anybody.
TEST(ConnectionTest, LargeHeadersOfManySmallCallsDoNotAddUp) {
  TcpPair pair;
  Connection& connection = *pair.connection();
  connection.CallBegan();  // one that stays open, such as a watch
  for (int i = 0; i < 2000; ++i) {
    pair.Send(300 + 6000);
    connection.Took(300);
    if (i % 100 == 0) connection.Sample(absl::Now(), absl::InfiniteFuture());
  }
  connection.Sample(absl::Now(), absl::Now());
  EXPECT_LT(connection.held_bytes(), 700 << 10);
}

// Whoever sends many small messages cannot hide the beginning of a large one behind them.
TEST(ConnectionTest, SmallMessagesHideNoLargeOne) {
  TcpPair pair;
  Connection& connection = *pair.connection();
  const absl::Time began = absl::Now();
  connection.CallBegan();
  for (int i = 0; i < 2000; ++i) {
    pair.Send(40);
    connection.Took(5);
    pair.Send(1000);
    if (i % 100 == 0) connection.Sample(absl::Now(), began);
  }
  connection.Sample(absl::Now(), began);
  EXPECT_GT(connection.held_bytes(), 1'600'000);
}

TEST(ConnectionTest, IsFoundByThePeerThatGrpcNames) {
  ConnectionTable table;
  TcpPair pair;
  table.Add(pair.connection());
  EXPECT_THAT(pair.connection()->peer(), testing::MatchesRegex("ipv4:127\\.0\\.0\\.1:[0-9]+"));
  EXPECT_EQ(table.Find(pair.connection()->peer()), pair.connection());
  EXPECT_EQ(table.Find("unix:")->caller(), "unix");
  sockaddr_storage address = {};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(77);
  ASSERT_EQ(::inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr), 1);
  EXPECT_EQ(Connection(-1, address).peer(), "ipv6:%5B2001:db8::1%5D:77");
  ASSERT_EQ(::inet_pton(AF_INET6, "::ffff:192.0.2.1", &v6.sin6_addr), 1);
  EXPECT_EQ(Connection(-1, address).peer(), "ipv4:192.0.2.1:77");
  EXPECT_TRUE(pair.connection()->IsOpen());
  pair.CloseServer();
  EXPECT_FALSE(pair.connection()->IsOpen());
  table.Remove(*pair.connection());
  EXPECT_THAT(table.All(), IsEmpty());
}

TEST(FairRoomTest, OfCallersWithEquallyManyTheOldestGivesWay) {
  const std::vector<absl::string_view> callers = {"z", "a", "m"};
  const std::optional<GivesWay> oldest = WhoGivesWay(callers, "b", {/*most=*/3, /*most_of_caller=*/2});
  ASSERT_TRUE(oldest.has_value());
  EXPECT_EQ(oldest->position, 0);
}

TEST(FairRoomTest, OnesOwnOldestOrThatOfTheCallerWithTheMostGivesWay) {
  const std::vector<absl::string_view> callers = {"a", "b", "b", "c"};
  EXPECT_FALSE(WhoGivesWay(callers, "a", {/*most=*/5, /*most_of_caller=*/2}).has_value());
  const std::optional<GivesWay> own = WhoGivesWay(callers, "b", {5, 2});
  ASSERT_TRUE(own.has_value());
  EXPECT_TRUE(own->is_own);
  EXPECT_EQ(own->position, 1);
  const std::optional<GivesWay> greediest = WhoGivesWay(callers, "d", {4, 2});
  ASSERT_TRUE(greediest.has_value());
  EXPECT_FALSE(greediest->is_own);
  EXPECT_EQ(greediest->position, 1);
}

}  // namespace
}  // namespace cobra::server
