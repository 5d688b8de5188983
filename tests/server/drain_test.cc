// The end of a server, and threads that are stuck.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "grpcpp/impl/client_unary_call.h"
#include "gtest/gtest.h"
#include "proto/grpc_status.h"
#include "tests/server/server_testing.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

class DrainTest : public ServerTest {
 protected:
  // Of grpc.health.v1: 1 SERVING, 2 NOT_SERVING. Its message is one number.
  int Health(const std::string& service) {
    auto channel = grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials());
    const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check", grpc::internal::RpcMethod::NORMAL_RPC);
    grpc::Slice request(service.empty() ? "" : std::string("\x0a") + static_cast<char>(service.size()) + service);
    const grpc::ByteBuffer message(&request, 1);
    grpc::ByteBuffer reply;
    grpc::ClientContext context;
    const grpc::Status status = grpc::internal::BlockingUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        channel.get(), method, &context, message, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    grpc::Slice slice;
    return reply.TrySingleSlice(&slice).ok() && slice.size() == 2 ? slice.begin()[1] : 0;
  }
  void WaitForHealth(const std::string& service, int wanted) {
    for (int i = 0; i < 3000 && Health(service) != wanted; ++i) absl::SleepFor(absl::Milliseconds(10));
    EXPECT_EQ(Health(service), wanted);
  }
};

TEST_F(DrainTest, DrainFinishesWhatRunsAndRefusesWhatIsNew) {
  Start();
  BlockPredictions();
  std::unique_ptr<client::Client> client = Connect();
  std::thread running([&] { EXPECT_TRUE(client->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  std::thread draining([&] { EXPECT_TRUE(Drain()); });
  absl::Status late;
  do {
    late = client->Predict(MakeRequest("abacus")).status();
  } while (absl::IsNotFound(late));  // until the drain has begun
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
  release_.Notify();
  running.join();
  draining.join();
}

TEST_F(DrainTest, NobodyIsCancelledUnderLoad) {
  // Replies and new requests are under way at every moment of the drain.
  for (int round = 0; round < 5; ++round) {
    Start(/*threads=*/2, /*max_queued=*/1000);
    absl::Mutex mutex;
    std::map<absl::StatusCode, int> codes;
    std::atomic<bool> stop{false};
    std::vector<std::thread> callers;
    for (int i = 0; i < 6; ++i) {
      callers.emplace_back([&] {
        std::unique_ptr<client::Client> client = Connect();
        while (!stop) {
          const absl::StatusCode code = client->Predict(MakeRequest()).status().code();
          absl::MutexLock lock(&mutex);
          ++codes[code];
        }
      });
    }
    const auto answered = [&] {
      absl::MutexLock lock(&mutex);
      return codes[absl::StatusCode::kOk];
    };
    while (answered() < 50) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(Drain());
    server_.reset();
    absl::SleepFor(absl::Milliseconds(50));
    stop = true;
    for (std::thread& caller : callers) caller.join();
    codes.erase(absl::StatusCode::kOk);
    codes.erase(absl::StatusCode::kUnavailable);
    EXPECT_TRUE(codes.empty()) << absl::StatusCodeToString(codes.begin()->first);
  }
}

TEST_F(DrainTest, WhatDoesNotEndIsLeft) {
  Start();
  BlockPredictions();
  absl::Status status;
  std::thread running([&] { status = Connect()->Predict(MakeRequest()).status(); });
  WaitForStarted(1);
  const absl::Time start = absl::Now();
  EXPECT_FALSE(Drain(absl::Seconds(2)));
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
  running.join();  // the caller does not wait for the stuck thread
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  release_.Notify();
}

TEST_F(DrainTest, WhatCanBeStoppedIsUnavailable) {
  Start(/*threads=*/1);
  predictor_->during_predict = [this](const std::function<bool()>& cancelled) {
    ++started_;
    while (!cancelled()) absl::SleepFor(absl::Milliseconds(1));
  };
  std::vector<absl::Status> statuses(3);  // one runs, the others wait
  std::vector<std::thread> callers;
  for (absl::Status& status : statuses)
    callers.emplace_back([&] { status = Connect()->Predict(MakeRequest()).status(); });
  WaitForStarted(1);
  EXPECT_TRUE(Drain(absl::Seconds(4)));
  for (std::thread& caller : callers) caller.join();
  for (const absl::Status& status : statuses) EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(DrainTest, AWatchEndsWithUnavailable) {
  Start();
  auto stub =
      v1::Measurements::NewStub(grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials()));
  v1::EnqueueRequest request;
  v1::MeasurementTask* task = request.add_tasks();
  task->set_target("cpu");
  task->mutable_sample()->set_space("space");
  v1::EnqueueResponse enqueued;
  grpc::ClientContext context, watch_context;
  ASSERT_TRUE(stub->Enqueue(&context, request, &enqueued).ok());
  v1::WatchRequest watch;
  watch.add_task_ids(enqueued.task_ids(0));
  auto events = stub->Watch(&watch_context, watch);
  v1::WatchResponse response;
  ASSERT_TRUE(events->Read(&response));
  std::thread draining([&] { EXPECT_TRUE(Drain()); });
  EXPECT_FALSE(events->Read(&response));
  EXPECT_EQ(events->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  draining.join();
}

TEST_F(DrainTest, HealthFollowsWhatTheThreadsCanDo) {
  Start(/*threads=*/2);
  BlockPredictions();  // whatever the deadline
  EXPECT_EQ(Health("cobra.v1.Cobra"), 1);
  std::vector<std::thread> callers;
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      // On a busy machine a short deadline may pass before the prediction has begun.
      for (absl::Duration deadline = absl::Milliseconds(300); started_ < 2 && deadline < absl::Minutes(1);
           deadline *= 2)
        Connect(deadline)->Predict(MakeRequest()).IgnoreError();
    });
  }
  WaitForStarted(2);
  WaitForHealth("cobra.v1.Cobra", 2);
  WaitForHealth("", 2);
  EXPECT_EQ(Health("cobra.v1.Measurements"), 1);  // a lane of its own
  EXPECT_TRUE(Connect()->GetModelInfo({}).ok());
  EXPECT_THAT(MetricsText(), HasSubstr("cobra_requests_overdue_total{method=\"Predict\"} 2"));
  EXPECT_THAT(MetricsText(), HasSubstr("cobra_threads_stuck{lane=\"predictions\"} 2"));
  release_.Notify();
  for (std::thread& caller : callers) caller.join();
  WaitForHealth("cobra.v1.Cobra", 1);
  WaitForHealth("", 1);
}

}  // namespace
}  // namespace cobra::server
