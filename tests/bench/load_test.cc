#include "tests/bench/load.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "tests/bench/architectures.h"
#include "tests/bench/echo.h"
#include "tests/bench/latency_histogram.h"
#include "tests/bench/stream_load.h"

namespace cobra::bench {
namespace {

constexpr double kBucketError = 0.004;

TEST(LatencyHistogramTest, PercentilesAreThoseOfTheSortedList) {
  LatencyHistogram histogram;
  for (int64_t us = 1000; us >= 1; --us) histogram.Add(us * 1000);
  EXPECT_EQ(histogram.count(), 1000);
  for (const double percent : {0.1, 1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const double exact_us = percent * 10;
    EXPECT_NEAR(histogram.PercentileUs(percent), exact_us, kBucketError * exact_us) << percent;
  }
  EXPECT_EQ(histogram.MaxUs(), 1000);
}

TEST(LatencyHistogramTest, EveryMagnitudeIsKept) {
  for (int64_t ns = 1; ns < int64_t{1} << 41; ns += ns / 3 + 1) {
    LatencyHistogram histogram;
    histogram.Add(ns);
    const double exact_us = static_cast<double>(ns) / 1e3;
    EXPECT_NEAR(histogram.PercentileUs(50), exact_us, kBucketError * exact_us);
  }
}

TEST(LatencyHistogramTest, NoLatencyIsOutOfRange) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.PercentileUs(99), 0);
  histogram.Add(-1);
  EXPECT_EQ(histogram.PercentileUs(99), 0);
  histogram.Add(int64_t{1} << 62);
  EXPECT_NEAR(histogram.PercentileUs(100), std::ldexp(1, 41) / 1e3, std::ldexp(kBucketError, 41) / 1e3);
  EXPECT_EQ(histogram.count(), 2);
}

TEST(LatencyHistogramTest, MergedIsAsIfOneHadCountedAll) {
  LatencyHistogram all, even, odd;
  for (int64_t ns = 0; ns < 100000; ns += 7) {
    all.Add(ns);
    (ns % 2 == 0 ? even : odd).Add(ns);
  }
  even.Merge(odd);
  EXPECT_EQ(even.count(), all.count());
  EXPECT_EQ(even.MaxUs(), all.MaxUs());
  for (const double percent : {1.0, 50.0, 99.0}) EXPECT_EQ(even.PercentileUs(percent), all.PercentileUs(percent));
}

TEST(DueTimesTest, GapsAreExponentialWithTheMeanThatWasAskedFor) {
  constexpr int kCount = 100000;
  constexpr double kMeanNs = 1e9 / 2000;
  DueTimes due_times(2000, /*seed=*/7);
  int64_t before_ns = 0;
  int longer_than_mean = 0;
  for (int i = 0; i < kCount; ++i) {
    const int64_t due_ns = due_times.NextNs();
    ASSERT_GE(due_ns, before_ns);
    longer_than_mean += static_cast<double>(due_ns - before_ns) > kMeanNs;
    before_ns = due_ns;
  }
  EXPECT_NEAR(static_cast<double>(before_ns) / kCount, kMeanNs, 0.01 * kMeanNs);
  EXPECT_NEAR(static_cast<double>(longer_than_mean) / kCount, std::exp(-1), 0.01);
}

TEST(DueTimesTest, TheSeedDecides) {
  DueTimes a(100, 1), b(100, 1), c(100, 2);
  EXPECT_EQ(a.NextNs(), b.NextNs());
  EXPECT_NE(a.NextNs(), c.NextNs());
}

// A service whose replies are under the test's control.
class ScriptedService final : public grpc::CallbackGenericService {
 public:
  class Call final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Call(ScriptedService* service) : service_(service) { StartRead(&request_); }
    void OnReadDone(bool ok) override { service_->on_call_(this, service_->arrived_++); }
    void OnDone() override { delete this; }
    void Reply() { StartWriteAndFinish(&request_, grpc::WriteOptions(), grpc::Status::OK); }

   private:
    ScriptedService* const service_;
    grpc::ByteBuffer request_;
  };

  // `on_call` gets the number of the call, from 0; it may answer later, from any thread.
  explicit ScriptedService(std::function<void(Call*, int)> on_call) : on_call_(std::move(on_call)) {}
  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override { return new Call(this); }

 private:
  const std::function<void(Call*, int)> on_call_;
  std::atomic<int> arrived_{0};
};

class LoadTest : public testing::Test {
 protected:
  void Serve(std::unique_ptr<grpc::CallbackGenericService> service, int connections) {
    auto server = GenericServer::Start(std::move(service));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    auto generator = LoadGenerator::Connect({.address = server_->address(), .connections = connections});
    ASSERT_TRUE(generator.ok()) << generator.status();
    generator_ = *std::move(generator);
  }
  void Serve(std::function<void(ScriptedService::Call*, int)> on_call, int connections) {
    Serve(std::make_unique<ScriptedService>(std::move(on_call)), connections);
  }

  static std::vector<grpc::ByteBuffer> Requests(size_t count) {
    return std::vector<grpc::ByteBuffer>(count, ToByteBuffer("request"));
  }

  // When the first `count` calls of `loop` are due.
  static std::vector<int64_t> DueNs(const OpenLoop& loop, size_t count) {
    DueTimes due_times(loop.rate_per_s, loop.seed);
    std::vector<int64_t> due_ns;
    while (due_ns.size() < count) due_ns.push_back(due_times.NextNs());
    return due_ns;
  }
  // Sends that many calls and no more.
  static OpenLoop FirstCalls(size_t count) {
    OpenLoop loop;
    loop.rate_per_s = 1000;
    loop.duration = absl::Nanoseconds(DueNs(loop, count).back() + 1);
    return loop;
  }

  // Of the test's service, so they outlive the server.
  absl::Mutex mutex_;
  std::vector<ScriptedService::Call*> waiting_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> arrived_{0};
  std::unique_ptr<GenericServer> server_;
  std::unique_ptr<LoadGenerator> generator_;
};

// Ends before the time of its loop is over, which no machine is too slow for.
ClosedLoop EachOnce(int in_flight) {
  ClosedLoop loop;
  loop.in_flight = in_flight;
  loop.duration = absl::Minutes(2);
  loop.each_once = true;
  return loop;
}

TEST_F(LoadTest, ClosedLoopSendsEachRequestOnce) {
  Serve(MakeEchoService(164), /*connections=*/3);
  for (const int in_flight : {1, 7, 200}) {
    const LoadResult result = generator_->Run(EachOnce(in_flight), Requests(100));
    EXPECT_EQ(result.ErrorText(), "");
    EXPECT_EQ(result.latencies.count(), 100);
    EXPECT_EQ(result.reply_bytes, 100 * 164);
    EXPECT_GT(result.requests_per_s(), 0);
  }
}

TEST_F(LoadTest, ClosedLoopSendsRequestsInTurnUntilItsTimeIsOver) {
  Serve(
      [this](ScriptedService::Call* call, int) {
        ++arrived_;
        call->Reply();
      },
      /*connections=*/1);
  ClosedLoop loop;
  loop.duration = absl::Milliseconds(1);
  while (arrived_ < 5) EXPECT_EQ(generator_->Run(loop, Requests(2)).ErrorText(), "");
}

TEST_F(LoadTest, WarmUpDoesNotCount) {
  Serve(MakeEchoService(1), /*connections=*/1);
  ClosedLoop loop = EachOnce(2);
  loop.warm_up = absl::Minutes(2);
  const LoadResult result = generator_->Run(loop, Requests(20));
  EXPECT_EQ(result.latencies.count(), 0);
  EXPECT_EQ(result.requests_per_s(), 0);
}

TEST_F(LoadTest, ErrorsAreCountedByCode) {
  Serve(
      [](ScriptedService::Call* call, int number) {
        if (number % 3 == 0) {
          call->Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full"));
        } else if (number == 1) {
          call->Finish(grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining"));
        } else {
          call->Reply();
        }
      },
      /*connections=*/2);
  const LoadResult result = generator_->Run(EachOnce(4), Requests(9));
  EXPECT_EQ(result.ErrorText(), "3 x RESOURCE_EXHAUSTED, 1 x UNAVAILABLE");
  EXPECT_EQ(result.latencies.count(), 5);
}

TEST_F(LoadTest, RepliesAreCheckedByThePositionOfTheirRequest) {
  Serve([](ScriptedService::Call* call, int) { call->Reply(); }, /*connections=*/2);  // with the request's own bytes
  std::vector<grpc::ByteBuffer> requests;
  for (size_t i = 0; i < 20; ++i) requests.push_back(ToByteBuffer(std::string(i, 'x')));
  ClosedLoop loop = EachOnce(4);
  loop.is_right = [](size_t request, const grpc::ByteBuffer& reply) { return reply.Length() == request; };
  LoadResult result = generator_->Run(loop, requests);
  EXPECT_EQ(result.wrong, 0);
  loop.is_right = [](size_t request, const grpc::ByteBuffer&) { return request % 2 == 0; };
  result = generator_->Run(loop, requests);
  EXPECT_EQ(result.ErrorText(), "10 x wrong");
  EXPECT_EQ(result.latencies.count(), 20);
}

TEST_F(LoadTest, OpenLoopCountsTheCallsThatAreDueAfterTheWarmUp) {
  Serve(MakeEchoService(10), /*connections=*/2);
  OpenLoop loop;
  loop.rate_per_s = 2000;
  const std::vector<int64_t> due_ns = DueNs(loop, 101);
  loop.warm_up = absl::Nanoseconds(due_ns[20]);
  loop.duration = absl::Nanoseconds(due_ns[100] - due_ns[20]);
  const LoadResult result = generator_->Run(loop, Requests(3));
  EXPECT_EQ(result.ErrorText(), "");
  EXPECT_EQ(result.latencies.count(), 80);
  EXPECT_EQ(result.reply_bytes, 80 * 10);
}

// No reply comes before the tenth call has arrived, and that one is not sent before it is due.
TEST_F(LoadTest, OpenLoopDoesNotWaitForReplies) {
  Serve(
      [this](ScriptedService::Call* call, int) {
        absl::MutexLock lock(&mutex_);
        waiting_.push_back(call);
        if (waiting_.size() < 10) return;
        for (ScriptedService::Call* each : waiting_) each->Reply();
      },
      /*connections=*/2);
  const OpenLoop loop = FirstCalls(10);
  const std::vector<int64_t> due_ns = DueNs(loop, 10);
  const LoadResult result = generator_->Run(loop, Requests(1));
  EXPECT_EQ(result.latencies.count(), 10);
  EXPECT_GE(result.latencies.MaxUs() * 1e3, static_cast<double>(due_ns[9] - due_ns[0]));
}

// One call at a time, and the server keeps the first until the last is due. What the others wait is
// part of their latency: sorted, each is at least as long as the wait in its place.
TEST_F(LoadTest, CallsThatWaitForAStalledServerCountFromWhenTheyWereDue) {
  OpenLoop loop = FirstCalls(10);
  loop.max_in_flight = 1;
  const std::vector<int64_t> due_ns = DueNs(loop, 10);
  Serve(
      [due_ns](ScriptedService::Call* call, int number) {
        if (number == 0) std::this_thread::sleep_for(std::chrono::nanoseconds(due_ns[9] - due_ns[0]));
        call->Reply();
      },
      /*connections=*/1);
  const LoadResult result = generator_->Run(loop, Requests(1));
  EXPECT_EQ(result.latencies.count(), 10);
  EXPECT_GE(result.latencies.PercentileUs(50) * 1e3, (1 - kBucketError) * static_cast<double>(due_ns[9] - due_ns[5]));
}

TEST_F(LoadTest, AServerThatIsNotThereIsAnError) {
  const std::string address = [] {
    auto server = GenericServer::Start(MakeEchoService(1));
    return (*server)->address();
  }();
  LoadTarget target;
  target.address = address;
  target.connect_time = absl::Milliseconds(100);
  EXPECT_TRUE(absl::IsUnavailable(LoadGenerator::Connect(target).status()));
}

TEST_F(LoadTest, AStreamSendsEachRequestOnceAndWaitsForAllAnswers) {
  Serve(MakeStreamEchoService(164), /*connections=*/1);
  StreamLoop loop;
  loop.each_once = true;
  int64_t seen = 0;
  loop.on_answer = [&seen](const grpc::ByteBuffer& answer) { seen += answer.Length() == 164; };
  const auto result = RunStream(generator_->channel(), loop, Requests(1000));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(seen, 1000);
  EXPECT_EQ(result->answers, 1000);
  EXPECT_EQ(result->answer_bytes, 1000 * 164);
  EXPECT_GT(result->answers_per_s(), 0);
}

TEST_F(LoadTest, AStreamSendsRequestsInTurnUntilItsTimeIsOver) {
  Serve(MakeStreamEchoService(1), /*connections=*/1);
  StreamLoop loop;
  loop.warm_up = absl::Milliseconds(10);
  int64_t seen = 0;
  loop.on_answer = [&seen](const grpc::ByteBuffer&) { ++seen; };
  absl::StatusOr<StreamResult> result;
  for (loop.duration = absl::Milliseconds(50); loop.duration < absl::Minutes(2) && !result.ok(); loop.duration *= 2)
    result = RunStream(generator_->channel(), loop, Requests(2));
  ASSERT_TRUE(result.ok()) << result.status();  // on a busy machine no answer may come in the first of these times
  EXPECT_GT(result->answers, 0);
  EXPECT_LE(result->answers, seen);
  EXPECT_DOUBLE_EQ(result->seconds, absl::ToDoubleSeconds(loop.duration / 2));
}

TEST_F(LoadTest, AStreamWithoutAllItsAnswersIsAnError) {
  Serve(MakeEchoService(1), /*connections=*/1);  // answers the first message and ends
  StreamLoop loop;
  loop.each_once = true;
  EXPECT_FALSE(RunStream(generator_->channel(), loop, Requests(3)).ok());
}

TEST_F(LoadTest, AStreamThatEndsWithAnErrorIsOne) {
  Serve([](ScriptedService::Call* call,
           int) { call->Finish(grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "full")); },
        /*connections=*/1);
  const absl::Status status = RunStream(generator_->channel(), {}, Requests(3)).status();
  EXPECT_EQ(status.message(), "the stream ended with 8: full");
}

TEST(ArchitecturesTest, TheCellsAreThoseOfTheSpace) {
  EXPECT_EQ(Nasbench201Cell(0), "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|");
  EXPECT_EQ(Nasbench201Cell(3 + 5 * 1), "|nor_conv_3x3~0|+|skip_connect~0|none~1|+|none~0|none~1|none~2|");
  std::set<std::string> cells;
  for (size_t i = 0; i < kNasbench201Cells; ++i) cells.insert(Nasbench201Cell(i));
  EXPECT_EQ(cells.size(), kNasbench201Cells);
}

TEST(ArchitecturesTest, RequestsAreSpreadOverTheSpace) {
  const auto requests = Nasbench201Requests(5, "cpu");
  ASSERT_EQ(requests.size(), 5u);
  EXPECT_EQ(requests[1].architecture().text(), "nasbench201:" + Nasbench201Cell(kNasbench201Cells / 5));
  EXPECT_EQ(requests[1].targets(0), "cpu");
}

}  // namespace
}  // namespace cobra::bench
