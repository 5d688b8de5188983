// A whole server on a port of its own, with a predictor that is under the test's control, asked
// through the client library.
#ifndef COBRA_TESTS_SERVER_SERVER_TESTING_H_
#define COBRA_TESTS_SERVER_SERVER_TESTING_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "client/client.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "proto/graph_proto.h"
#include "server/server.h"
#include "tests/server/fake_predictor.h"
#include "tests/server/http_exchange.h"
#include "tests/server/insecure_reader.h"
#include "tests/temporary_directory.h"

namespace cobra::server {

class ServerTest : public testing::Test {
 protected:
  void Start(int threads = 2, int max_queued = 10, const std::string& listen = "127.0.0.1:0") {
    ServerOptions options;
    options.limits = limits_;
    options.listen = listen;
    options.metrics = "127.0.0.1:0";
    options.store_path = directory_.File("store.sqlite");
    options.threads = threads;
    options.insecure_reader = tests::MayStartInsecureReaders();
    options.limits.max_queued = max_queued;
    options.limits.slow_request = slow_request_;
    options.watchdog.grace = absl::Milliseconds(100);
    options.watchdog.period = absl::Milliseconds(10);
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
    options.retry.wait_while_busy = false;
    options.labels = labels_;
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

  bool Drain(absl::Duration time = absl::Seconds(30)) { return server_->Drain(absl::Now() + time); }

  std::string MetricsText() const {
    const std::string address = server_->metrics_address();
    return Exchange(std::stoi(address.substr(address.rfind(':') + 1)), "GET /metrics HTTP/1.1\r\n\r\n");
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

  // A network whose breakdown has some `rows` times 4,000 bytes.
  static v1::PredictRequest MakeLongRequest(int rows) {
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{1, 8}, graph::DType::float32});
    graph::Origin origin;
    origin.module_path = std::string(4000, 'm');
    graph::ValueRef last = x;
    for (int i = 0; i < rows; ++i)
      last = graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {last}, origin).value());
    v1::PredictRequest request;
    proto::GraphToProto(std::move(builder).Build({last}), request.mutable_graph());
    request.add_targets("cpu");
    request.set_breakdown(true);
    return request;
  }

  tests::TemporaryDirectory directory_;
  std::vector<std::pair<std::string, std::string>> labels_;  // of clients that Connect() makes from now on
  ServerLimits limits_;                                      // of the next server
  std::shared_ptr<FakePredictor> predictor_ = std::make_shared<FakePredictor>("v1");
  absl::Duration slow_request_ = absl::InfiniteDuration();
  std::atomic<int> started_{0};
  absl::Notification release_;
  std::unique_ptr<Server> server_;
};

}  // namespace cobra::server

#endif  // COBRA_TESTS_SERVER_SERVER_TESTING_H_
