#include "server/server.h"

#include <atomic>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "client/client.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "tests/server/server_testing.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

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

TEST_F(ServerTest, ARequestThatWasAnsweredBeforeWaitsForNobody) {
  Start(/*threads=*/1);
  std::unique_ptr<client::Client> client = Connect();
  const v1::PredictRequest known = MakeRequest();
  const absl::StatusOr<v1::PredictResponse> first = client->Predict(known);
  ASSERT_TRUE(first.ok()) << first.status();
  BlockPredictions();
  std::thread running([&] { EXPECT_TRUE(client->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  absl::StatusOr<v1::PredictResponse> again = client->Predict(known);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->predictions(0).SerializeAsString(), first->predictions(0).SerializeAsString());
  EXPECT_EQ(again->fingerprint(), first->fingerprint());
  EXPECT_EQ(again->read_us(), 0);  // nothing was read
  EXPECT_THAT(MetricsText(), HasSubstr("cobra_predictions_total{source=\"cache\",target=\"cpu\"} 1"));
  release_.Notify();
  running.join();
}

TEST_F(ServerTest, ANewVersionAnswersAnew) {
  Start();
  std::unique_ptr<client::Client> client = Connect();
  const v1::PredictRequest request = MakeRequest();
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client->Predict(request)->model_version(), "v1");
  predictor_ = std::make_shared<FakePredictor>("v2");
  ASSERT_TRUE(server_->ReloadModel().ok());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(client->Predict(request)->model_version(), "v2");
}

class BatchTest : public ServerTest {
 protected:
  grpc::Status Ask(const v1::PredictBatchRequest& batch, v1::PredictBatchResponse* reply,
                   absl::Duration deadline = absl::Seconds(60)) {
    if (stub_ == nullptr)
      stub_ = v1::Cobra::NewStub(grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + deadline));
    return stub_->PredictBatch(&context, batch, reply);
  }

  std::unique_ptr<v1::Cobra::Stub> stub_;
};

TEST_F(BatchTest, EachRequestHasItsResultInItsPlace) {
  Start();
  const v1::PredictRequest known = MakeRequest();
  const absl::StatusOr<v1::PredictResponse> alone = Connect()->Predict(known);
  ASSERT_TRUE(alone.ok()) << alone.status();
  v1::PredictBatchRequest batch;
  *batch.add_requests() = MakeRequest();
  *batch.add_requests() = known;
  *batch.add_requests() = MakeRequest("abacus");
  *batch.add_requests() = batch.requests(0);
  batch.add_requests()->add_targets("cpu");  // no model
  for (int i = 0; i < 200; ++i) *batch.add_requests() = MakeRequest();
  predictor_->calls = 0;
  v1::PredictBatchResponse reply;
  const grpc::Status status = Ask(batch, &reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(reply.results_size(), batch.requests_size());
  EXPECT_EQ(reply.results(0).response().predictions(0).latency_us(), 10);
  EXPECT_EQ(reply.results(1).response().fingerprint(), alone->fingerprint());
  EXPECT_EQ(reply.results(2).error().code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
  EXPECT_THAT(reply.results(2).error().message(), HasSubstr("abacus: no such target"));
  EXPECT_EQ(reply.results(2).error().details_size(), 1);
  EXPECT_EQ(reply.results(3).response().fingerprint(), reply.results(0).response().fingerprint());
  EXPECT_EQ(reply.results(4).error().code(), static_cast<int>(grpc::StatusCode::INVALID_ARGUMENT));
  EXPECT_EQ(predictor_->calls, 201);  // neither the known one nor the equal one
  for (int i = 5; i < reply.results_size(); ++i) {
    v1::PredictBatchRequest one;
    *one.add_requests() = batch.requests(i);
    v1::PredictBatchResponse again;
    ASSERT_TRUE(Ask(one, &again).ok());
    ASSERT_EQ(again.results(0).response().fingerprint(), reply.results(i).response().fingerprint()) << i;
  }
  EXPECT_EQ(predictor_->calls, 201);
}

TEST_F(BatchTest, LimitsAreSaidBeforeTheWork) {
  Start();
  v1::PredictBatchResponse reply;
  EXPECT_EQ(Ask({}, &reply).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  v1::PredictBatchRequest many;
  for (int i = 0; i < 10'001; ++i) many.add_requests();
  grpc::Status status = Ask(many, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("10,000 of one batch"));
  v1::PredictBatchRequest long_reply;
  for (int i = 0; i < 5000; ++i) {
    v1::PredictRequest* request = long_reply.add_requests();
    for (int k = 0; k < 64; ++k) request->add_targets("cpu");
  }
  status = Ask(long_reply, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("the reply"));
  EXPECT_EQ(predictor_->calls, 1);  // the warm-up
}

TEST_F(BatchTest, ALongBatchLeavesOthersTheirTurns) {
  Start(/*threads=*/2, /*max_queued=*/100);
  predictor_->during_predict = [](const std::function<bool()>&) { absl::SleepFor(absl::Milliseconds(5)); };
  v1::PredictBatchRequest batch;
  for (int i = 0; i < 400; ++i) *batch.add_requests() = MakeRequest();
  std::atomic<bool> ended{false};
  v1::PredictBatchResponse reply;
  std::thread asking([&] {
    EXPECT_TRUE(Ask(batch, &reply).ok());
    ended = true;
  });
  std::unique_ptr<client::Client> client = Connect();
  absl::SleepFor(absl::Milliseconds(50));
  int answered = 0;
  while (!ended && answered < 10) {
    EXPECT_TRUE(client->Predict(MakeRequest()).ok());
    ++answered;
  }
  EXPECT_EQ(answered, 10);  // before the batch ended
  asking.join();
  EXPECT_EQ(reply.results_size(), 400);
}

TEST_F(BatchTest, WhatIsAnsweredBeforeTheDeadlineIsSent) {
  for (const bool of_server : {false, true}) {
    if (of_server) limits_.default_deadline = absl::Seconds(2);
    Start();
    stub_ = nullptr;
    predictor_->during_predict = [](const std::function<bool()>&) { absl::SleepFor(absl::Milliseconds(20)); };
    v1::PredictBatchRequest batch;
    for (int i = 0; i < 1000; ++i) *batch.add_requests() = MakeRequest();
    v1::PredictBatchResponse reply;
    const grpc::Status status = Ask(batch, &reply, absl::Seconds(of_server ? 60 : 2));
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(reply.results_size(), 1000);
    EXPECT_EQ(reply.results(0).response().predictions(0).latency_us(), 10);
    EXPECT_EQ(reply.results(999).error().code(), static_cast<int>(grpc::StatusCode::DEADLINE_EXCEEDED));
    EXPECT_EQ(reply.results(999).error().message(), "the deadline of the request has passed");
    EXPECT_TRUE(Drain());
  }
}

TEST_F(BatchTest, NothingIsComputedAfterTheDeadline) {
  Start();
  predictor_->during_predict = [](const std::function<bool()>&) { absl::SleepFor(absl::Milliseconds(400)); };
  v1::PredictBatchRequest batch;
  for (int i = 0; i < 1000; ++i) *batch.add_requests() = MakeRequest();
  v1::PredictBatchResponse reply;
  EXPECT_EQ(Ask(batch, &reply, absl::Milliseconds(300)).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(Drain());
  EXPECT_LT(predictor_->calls, 10);
}

class StreamTest : public ServerTest {
 protected:
  using Stream = grpc::ClientReaderWriter<v1::PredictStreamRequest, v1::PredictStreamResponse>;

  std::unique_ptr<Stream> Open() {
    if (stub_ == nullptr)
      stub_ = v1::Cobra::NewStub(grpc::CreateChannel(server_->listen_address(), grpc::InsecureChannelCredentials()));
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(60)));
    return stub_->PredictStream(context_.get());
  }
  static bool Send(Stream* stream, uint64_t id, const v1::PredictRequest& request) {
    v1::PredictStreamRequest message;
    message.set_request_id(id);
    *message.mutable_request() = request;
    return stream->Write(message);
  }

  std::unique_ptr<v1::Cobra::Stub> stub_;
  std::unique_ptr<grpc::ClientContext> context_;
};

TEST_F(StreamTest, EveryRequestIsAnsweredUnderItsNumber) {
  Start(/*threads=*/2, /*max_queued=*/100);
  std::unique_ptr<Stream> stream = Open();
  constexpr uint64_t kRequests = 1000;
  const v1::PredictRequest known = MakeRequest();
  std::thread sending([&] {
    for (uint64_t id = 0; id < kRequests; ++id)
      EXPECT_TRUE(Send(stream.get(), id, id % 10 == 0 ? MakeRequest("abacus") : id % 3 == 0 ? known : MakeRequest()));
    EXPECT_TRUE(stream->WritesDone());
  });
  std::set<uint64_t> answered;
  v1::PredictStreamResponse answer;
  while (stream->Read(&answer)) {
    EXPECT_TRUE(answered.insert(answer.request_id()).second) << answer.request_id();
    if (answer.request_id() % 10 == 0) {
      EXPECT_EQ(answer.error().code(), static_cast<int>(grpc::StatusCode::NOT_FOUND));
    } else {
      EXPECT_EQ(answer.response().predictions(0).latency_us(), 10);
    }
  }
  sending.join();
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(answered.size(), kRequests);
  const std::string labels = R"(grpc_method="PredictStream",grpc_service="cobra.v1.Cobra",grpc_type="bidi_stream"} )";
  EXPECT_THAT(MetricsText(), HasSubstr(absl::StrCat("grpc_server_msg_received_total{", labels, kRequests, "\n")));
  EXPECT_THAT(MetricsText(), HasSubstr(absl::StrCat("grpc_server_msg_sent_total{", labels, kRequests, "\n")));
}

TEST_F(StreamTest, AnAnswerGoesAsSoonAsItIsThere) {
  Start(/*threads=*/1, /*max_queued=*/100);
  const v1::PredictRequest known = MakeRequest();
  ASSERT_TRUE(Connect()->Predict(known).ok());
  BlockPredictions();
  std::unique_ptr<Stream> stream = Open();
  ASSERT_TRUE(Send(stream.get(), 1, MakeRequest()));
  WaitForStarted(1);
  ASSERT_TRUE(Send(stream.get(), 2, known));
  v1::PredictStreamResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.request_id(), 2u);
  release_.Notify();
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.request_id(), 1u);
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, WhoNeverReadsIsReadNoFurther) {
  Start(/*threads=*/1, /*max_queued=*/100);
  std::unique_ptr<Stream> stream = Open();
  BlockPredictions();
  for (uint64_t id = 0; id < 200; ++id) ASSERT_TRUE(Send(stream.get(), id, MakeRequest()));
  WaitForStarted(1);
  absl::SleepFor(absl::Milliseconds(300));
  EXPECT_THAT(MetricsText(), HasSubstr("cobra_requests_queued{class=\"bulk\",lane=\"predictions\"} 63\n"));
  release_.Notify();
  EXPECT_TRUE(stream->WritesDone());
  v1::PredictStreamResponse answer;
  int answered = 0;
  while (stream->Read(&answer)) ++answered;
  EXPECT_EQ(answered, 200);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, AnswersThatNobodyReadsAreBounded) {
  limits_.max_unsent_bytes_per_caller = 1 << 20;
  Start(/*threads=*/2, /*max_queued=*/100);
  std::unique_ptr<Stream> stream = Open();
  constexpr int kRequests = 20;
  std::thread sending([&] {
    for (uint64_t id = 0; id < kRequests; ++id) EXPECT_TRUE(Send(stream.get(), id, MakeLongRequest(/*rows=*/100)));
    EXPECT_TRUE(stream->WritesDone());
  });
  absl::SleepFor(absl::Seconds(1));  // nothing is read meanwhile
  EXPECT_TRUE(Connect()->Predict(MakeRequest()).ok());
  v1::PredictStreamResponse answer;
  int answered = 0, refused = 0;
  while (stream->Read(&answer)) {
    ++answered;
    if (!answer.has_error()) continue;
    ++refused;
    EXPECT_THAT(answer.error().message(), HasSubstr("this client's replies that were not read"));
  }
  sending.join();
  EXPECT_EQ(answered, kRequests);
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, kRequests - 2);
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, LargeRequestsThatWaitAreBounded) {
  limits_.max_waiting_bytes_per_caller = 3 << 20;
  Start(/*threads=*/1, /*max_queued=*/100);
  BlockPredictions();
  std::unique_ptr<Stream> stream = Open();
  for (uint64_t id = 0; id < 3; ++id) ASSERT_TRUE(Send(stream.get(), id, MakeLongRequest(/*rows=*/300)));
  WaitForStarted(1);
  std::unique_ptr<Stream> first = std::move(stream);
  const std::unique_ptr<grpc::ClientContext> first_context = std::move(context_);
  stream = Open();
  ASSERT_TRUE(Send(stream.get(), 9, MakeLongRequest(/*rows=*/300)));
  v1::PredictStreamResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.request_id(), 9u);
  EXPECT_THAT(answer.error().message(), HasSubstr("this client's requests that wait"));
  release_.Notify();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(first->Read(&answer));
  EXPECT_TRUE(first->WritesDone());
  EXPECT_TRUE(stream->WritesDone());
  EXPECT_TRUE(first->Finish().ok());
  EXPECT_TRUE(stream->Finish().ok());
}

TEST_F(StreamTest, EndsWithADrainWhenAllIsAnswered) {
  Start(/*threads=*/2, /*max_queued=*/100);
  BlockPredictions();
  std::unique_ptr<Stream> stream = Open();
  ASSERT_TRUE(Send(stream.get(), 7, MakeRequest()));
  WaitForStarted(1);
  std::thread draining([this] { EXPECT_TRUE(Drain()); });
  absl::SleepFor(absl::Milliseconds(100));
  release_.Notify();
  v1::PredictStreamResponse answer;
  ASSERT_TRUE(stream->Read(&answer));
  EXPECT_EQ(answer.request_id(), 7u);
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  draining.join();
}

TEST_F(StreamTest, ACallerThatGoesAwayEndsItsRequests) {
  Start(/*threads=*/1, /*max_queued=*/100);
  predictor_->during_predict = [](const std::function<bool()>&) { absl::SleepFor(absl::Milliseconds(20)); };
  {
    std::unique_ptr<Stream> stream = Open();
    for (uint64_t id = 0; id < 60; ++id) ASSERT_TRUE(Send(stream.get(), id, MakeRequest()));
    context_->TryCancel();
    (void)stream->Finish();
  }
  EXPECT_TRUE(Drain(absl::Seconds(10)));
  EXPECT_LT(predictor_->calls, 30);
}

// Calls whose replies their caller does not read: a generic call reads when it is asked to.
class UnreadCalls {
 public:
  UnreadCalls(const std::string& address, const std::string& method)
      : stub_(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), Arguments())), method_(method) {}
  ~UnreadCalls() {
    for (const auto& context : contexts_) context->TryCancel();
    queue_.Shutdown();
    void* tag = nullptr;
    for (bool ok = false; queue_.Next(&tag, &ok);) continue;
  }

  void Open() {
    contexts_.push_back(std::make_unique<grpc::ClientContext>());
    calls_.push_back(stub_.PrepareCall(contexts_.back().get(), method_, &queue_));
    calls_.back()->StartCall(this);
    Wait();
  }
  void Send(const google::protobuf::Message& message) {
    const grpc::Slice slice(message.SerializeAsString());
    calls_.back()->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), this);
    Wait();
  }

 private:
  // A client that is in no hurry would otherwise allow the server more and more bytes ahead.
  static grpc::ChannelArguments Arguments() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    return arguments;
  }

  void Wait() {
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
  }

  grpc::CompletionQueue queue_;
  grpc::GenericStub stub_;
  const std::string method_;
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts_;
  std::vector<std::unique_ptr<grpc::GenericClientAsyncReaderWriter>> calls_;
};

TEST_F(ServerTest, RepliesThatNobodyReadsAreBounded) {
  limits_.max_unsent_bytes_per_caller = 1 << 20;
  Start(/*threads=*/2, /*max_queued=*/100);
  UnreadCalls unread(server_->listen_address(), "/cobra.v1.Cobra/Predict");
  for (int i = 0; i < 20; ++i) {
    unread.Open();
    unread.Send(MakeLongRequest(/*rows=*/100));
  }
  const auto refused = [this] {
    return absl::StrContains(MetricsText(), R"(method="Predict",status="RESOURCE_EXHAUSTED"})");
  };
  for (int i = 0; i < 1000 && !refused(); ++i) absl::SleepFor(absl::Milliseconds(10));
  EXPECT_TRUE(refused());
  EXPECT_TRUE(Connect()->Predict(MakeRequest()).ok());  // a small reply
}

TEST_F(ServerTest, CallsOfReflectionHoldFewThreads) {
  Start();
  const auto threads = [] {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (absl::StartsWith(line, "Threads:")) return std::stoi(line.substr(8));
    return 0;
  };
  const int before = threads();
  {
    UnreadCalls open(server_->listen_address(), "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");
    for (int i = 0; i < 200; ++i) open.Open();
    absl::SleepFor(absl::Milliseconds(500));
    EXPECT_LT(threads(), before + limits_.max_reflection_calls + 20);
    EXPECT_TRUE(Connect()->Predict(MakeRequest()).ok());
  }
  EXPECT_TRUE(Drain());
}

TEST_F(ServerTest, CallersDeadlineReachesThePredictor) {
  Start();
  // The prediction does not end before the client has given up: its own deadline is what it sees,
  // never the server's answer to it.
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
  Drain();  // nothing of this is used any more
}

TEST_F(ServerTest, ExpiredRequestsAreDropped) {
  Start(/*threads=*/1);
  BlockPredictions();
  std::thread running([&] { EXPECT_TRUE(Connect()->Predict(MakeRequest()).ok()); });
  WaitForStarted(1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Connect(absl::Milliseconds(100))->Predict(MakeRequest()).status()));
  // The server counts from the arrival, and gRPC rounds a time-out up: its deadline passes later
  // than the client's.
  absl::SleepFor(absl::Milliseconds(300));
  release_.Notify();
  running.join();
  Drain();
  EXPECT_EQ(started_, 1);
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
  const std::string metrics = MetricsText();
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
  options.insecure_reader = tests::MayStartInsecureReaders();
  options.loader = [this] { return predictor_; };
  const absl::Status status = Server::Start(options).status();
  EXPECT_TRUE(absl::IsUnavailable(status));
  EXPECT_EQ(status.message(), "--listen " + options.listen + ": Address already in use");
}

}  // namespace
}  // namespace cobra::server
