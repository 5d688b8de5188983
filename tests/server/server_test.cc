// A whole server on a port of its own, with a predictor that is under the test's control, asked through the client
// library.
#include "server/server.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "client/client.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "gmock/gmock.h"
#include "graph/builder.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/graph_proto.h"
#include "tests/server/fake_predictor.h"
#include "tests/server/http_exchange.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

class ServerTest : public testing::Test {
 protected:
  void Start(int threads = 2, int max_queued = 10, const std::string& listen = "127.0.0.1:0") {
    ServerOptions options;
    options.listen = listen;
    options.metrics = "127.0.0.1:0";
    options.store_path = directory_.File("store.sqlite");
    options.threads = threads;
    options.limits.max_queued = max_queued;
    options.drain_timeout = absl::Seconds(20);
    options.loader = [this] { return predictor_; };
    absl::StatusOr<std::unique_ptr<Server>> server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  std::unique_ptr<client::Client> Connect(absl::Duration deadline = absl::Seconds(30)) {
    client::ClientOptions options;
    options.address = server_->listen_address();
    options.deadline = deadline;
    options.retry.max_attempts = 1;
    return client::Client::Connect(options);
  }

  // A network that no other call of this function gives, so that no cache has it.
  static v1::PredictRequest MakeRequest(const std::string& target = "cpu") {
    static std::atomic<int64_t> width{1};
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{1, ++width}, graph::DType::float32});
    const int32_t relu = builder.Add(graph::Op::relu, {}, {x}).value();
    v1::PredictRequest request;
    proto::GraphToProto(std::move(builder).Build({graph::ValueRef::Node(relu)}), request.mutable_graph());
    request.add_targets(target);
    return request;
  }

  // From now on predictions wait for `release_`; `started_` counts them.
  void BlockPredictions() {
    predictor_->during_predict = [this](const std::function<bool()>&) {
      ++started_;
      release_.WaitForNotification();
    };
  }
  void WaitForStarted(int count) {
    while (started_ < count) absl::SleepFor(absl::Milliseconds(1));
  }

  tests::TemporaryDirectory directory_;
  std::shared_ptr<FakePredictor> predictor_ = std::make_shared<FakePredictor>("v1");
  std::atomic<int> started_{0};
  absl::Notification release_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, AnswersTheFourMethods) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  absl::StatusOr<v1::PredictResponse> prediction = client->Predict(MakeRequest());
  ASSERT_TRUE(prediction.ok()) << prediction.status();
  EXPECT_EQ(prediction->predictions(0).latency_us(), 10);
  EXPECT_EQ(client->GetModelInfo({})->version(), "v1");
  v1::CalibrateRequest probe;
  probe.set_probe_json(SmallProbeJson());
  absl::StatusOr<v1::CalibrateResponse> calibration = client->Calibrate(probe);
  ASSERT_TRUE(calibration.ok()) << calibration.status();
  EXPECT_EQ(calibration->target().spec().name(), "this-machine");
  EXPECT_EQ(client->ListTargets({})->targets_size(), 2);
  EXPECT_EQ(client->Predict(MakeRequest("this-machine"))->predictions(0).latency_us(), 20);
}

TEST_F(ServerTest, ErrorsArriveWithTheirDiagnostic) {
  Start();
  absl::Status status = Connect()->Predict(MakeRequest("abacus")).status();
  EXPECT_TRUE(absl::IsNotFound(status));
  ASSERT_TRUE(DiagnosticFromStatus(status).has_value());
  EXPECT_TRUE(absl::StrContains(DiagnosticFromStatus(status)->hint, "cpu"));
}

TEST_F(ServerTest, FullQueueIsRefusedAtOnce) {
  Start(/*threads=*/1, /*max_queued=*/1);
  BlockPredictions();
  std::unique_ptr<client::Client> client = Connect();
  std::thread running([&] { EXPECT_TRUE(client->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  // One fits into the queue, whichever comes first; the other must not wait.
  absl::Notification refused;
  std::vector<std::thread> more;
  for (int i = 0; i < 2; ++i) {
    more.emplace_back([&] {
      if (absl::IsResourceExhausted(client->Predict(MakeRequest()).status())) refused.Notify();
    });
  }
  EXPECT_TRUE(refused.WaitForNotificationWithTimeout(absl::Seconds(20)));
  release_.Notify();
  running.join();
  for (std::thread& thread : more) thread.join();
}

TEST_F(ServerTest, CallersDeadlineReachesThePredictor) {
  Start();
  // The prediction does not end before the client has given up: its own deadline is what it sees, never the server's
  // answer to it.
  std::atomic<bool> entered{false}, stopped{false};
  absl::Notification given_up;
  predictor_->during_predict = [&](const std::function<bool()>& cancelled) {
    entered = true;
    while (!cancelled()) absl::SleepFor(absl::Milliseconds(1));
    stopped = true;
    given_up.WaitForNotification();
  };
  // On a busy machine a short deadline may pass before the prediction has begun.
  absl::Status status;
  for (absl::Duration deadline = absl::Milliseconds(200); !entered && deadline < absl::Minutes(1); deadline *= 4) {
    status = Connect(deadline)->Predict(MakeRequest()).status();
  }
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  for (int i = 0; i < 20000 && !stopped; ++i) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(stopped);
  given_up.Notify();
  server_->Drain();  // nothing of this is used any more
}

TEST_F(ServerTest, ExpiredRequestsAreDropped) {
  Start(/*threads=*/1);
  BlockPredictions();
  std::thread running([&] { EXPECT_TRUE(Connect()->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Connect(absl::Milliseconds(100))->Predict(MakeRequest()).status()));
  release_.Notify();
  running.join();
  server_->Drain();
  EXPECT_EQ(started_, 1);
}

TEST_F(ServerTest, DrainFinishesWhatRunsAndRefusesWhatIsNew) {
  Start();
  BlockPredictions();
  std::unique_ptr<client::Client> client = Connect();
  std::thread running([&] { EXPECT_TRUE(client->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  std::thread draining([&] { server_->Drain(); });
  absl::Status late;
  do {
    late = client->Predict(MakeRequest("abacus")).status();
  } while (absl::IsNotFound(late));  // until the drain has begun
  EXPECT_TRUE(absl::IsUnavailable(late)) << late;
  release_.Notify();
  running.join();
  draining.join();
}

TEST_F(ServerTest, ReloadWhileRequestsRun) {
  Start();
  std::atomic<bool> stop{false};
  std::atomic<int> answered{0};
  std::thread asking([&] {
    std::unique_ptr<client::Client> client = Connect();
    while (!stop) {
      EXPECT_TRUE(client->Predict(MakeRequest()).ok());
      ++answered;
    }
  });
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(server_->ReloadModel().ok());
    const int before = answered;
    while (answered == before) absl::SleepFor(absl::Milliseconds(1));
  }
  stop = true;
  asking.join();
}

TEST_F(ServerTest, WatchIsCountedAsTheOtherMethodsAre) {
  Start();
  auto stub =
      v1::Measurements::NewStub(grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials()));
  for (const char* task_id : {"0123456789abcdef0123456789abcdef", "no id"}) {
    grpc::ClientContext context;
    v1::WatchRequest request;
    request.add_task_ids(task_id);
    std::unique_ptr<grpc::ClientReader<v1::WatchResponse>> events = stub->Watch(&context, request);
    v1::WatchResponse response;
    while (events->Read(&response)) {
    }
    EXPECT_EQ(events->Finish().ok(), absl::string_view(task_id) != "no id");
  }
  const std::string address = server_->metrics_address();
  const std::string metrics =
      Exchange(std::stoi(address.substr(address.rfind(':') + 1)), "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(metrics, HasSubstr("cobra_requests_total{method=\"Watch\",status=\"OK\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("cobra_requests_total{method=\"Watch\",status=\"INVALID_ARGUMENT\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("cobra_request_duration_seconds_count{method=\"Watch\"} 2"));
}

TEST_F(ServerTest, AClientWaitsUntilTheServerListens) {
  Start();
  client::ClientOptions options;
  options.address = server_->listen_address();
  server_.reset();  // from now on connections to the port are refused
  std::thread asking([&] {
    const absl::Status status = client::Client::Connect(options)->GetModelInfo({}).status();
    EXPECT_TRUE(status.ok()) << status;
  });
  absl::SleepFor(absl::Seconds(2));
  Start(/*threads=*/2, /*max_queued=*/10, options.address);
  asking.join();
}

TEST_F(ServerTest, TakenPortIsAnError) {
  Start();
  ServerOptions options;
  options.listen = server_->listen_address();
  options.metrics = "";
  options.store_path = directory_.File("other.sqlite");
  options.loader = [this] { return predictor_; };
  const absl::Status status = Server::Start(options).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "--listen " + options.listen + ": Address already in use");
}

}  // namespace
}  // namespace cobra::server
