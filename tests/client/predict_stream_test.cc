#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/retry_delay.h"
#include "client/client.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/status_proto.h"

namespace cobra::client {
namespace {

using Stream = grpc::ServerReaderWriter<v1::PredictStreamResponse, v1::PredictStreamRequest>;

// A server whose streams do what a test says; the number of the stream is counted from 0.
class FakeServer final : public v1::Cobra::Service {
 public:
  using Handler = std::function<grpc::Status(int stream, Stream*)>;
  explicit FakeServer(Handler handler, int port = 0) : handler_(std::move(handler)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(absl::StrCat("127.0.0.1:", port), grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  grpc::Status PredictStream(grpc::ServerContext* context, Stream* stream) override {
    const auto labels = context->client_metadata().count("cobra-label-team");
    labels_ += static_cast<int>(labels);
    return handler_(streams_++, stream);
  }
  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  int streams() const { return streams_; }
  int labels() const { return labels_; }

 private:
  const Handler handler_;
  int port_ = 0;
  std::atomic<int> streams_{0}, labels_{0};
  std::unique_ptr<grpc::Server> server_;
};

v1::PredictStreamResponse AnswerTo(const v1::PredictStreamRequest& request) {
  v1::PredictStreamResponse answer;
  answer.set_request_id(request.request_id());
  answer.mutable_response()->set_fingerprint(request.request().targets(0));
  return answer;
}

v1::PredictStreamResponse ErrorTo(const v1::PredictStreamRequest& request, const absl::Status& error) {
  v1::PredictStreamResponse answer;
  answer.set_request_id(request.request_id());
  proto::StatusToProto(error, answer.mutable_error());
  return answer;
}

grpc::Status AnswerAll(Stream* stream) {
  v1::PredictStreamRequest request;
  while (stream->Read(&request)) stream->Write(AnswerTo(request));
  return grpc::Status::OK;
}

// Asks `count` questions, target "0", "1", ...
struct Asker {
  explicit Asker(int count, std::string address) : count(count) {
    options.address = std::move(address);
    options.retry.initial_backoff = absl::Milliseconds(5);
    options.retry.max_backoff = absl::Milliseconds(20);
  }

  absl::Status Run() {
    return Client::Connect(options)->PredictMany(
        {[this]() -> std::optional<v1::PredictRequest> {
           if (next == count) return std::nullopt;
           v1::PredictRequest request;
           request.add_targets(absl::StrCat(next++));
           request.set_model_version(std::string(request_bytes, 'x'));
           return request;
         },
         [this](int64_t index, absl::StatusOr<v1::PredictResponse> answer) {
           EXPECT_EQ(answers.count(index), 0u) << index << " is answered twice";
           answers[index] = answer.ok() ? answer->fingerprint() : std::string(answer.status().message());
           return index == stop_at ? absl::NotFoundError("stop") : absl::OkStatus();
         }});
  }
  void ExpectAllAnswered() const {
    EXPECT_EQ(answers.size(), static_cast<size_t>(count));
    for (const auto& [index, answer] : answers) EXPECT_EQ(answer, absl::StrCat(index));
  }

  ClientOptions options;
  int count = 0, next = 0;
  size_t request_bytes = 1;
  int64_t stop_at = -1;
  std::map<int64_t, std::string> answers;
};

TEST(PredictStreamTest, EachQuestionIsAnsweredOnceOverOneCall) {
  FakeServer server([](int, Stream* stream) { return AnswerAll(stream); });
  Asker asker(5000, server.address());
  asker.options.labels = {{"team", "search"}};
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  asker.ExpectAllAnswered();
  EXPECT_EQ(server.streams(), 1);
  EXPECT_EQ(server.labels(), 1);
}

TEST(PredictStreamTest, NoQuestionIsNoError) {
  FakeServer server([](int, Stream* stream) { return AnswerAll(stream); });
  Asker asker(0, server.address());
  EXPECT_EQ(asker.Run(), absl::OkStatus());
}

TEST(PredictStreamTest, WhatIsInFlightIsBounded) {
  std::atomic<size_t> asked{0};
  FakeServer server([&](int, Stream* stream) {
    std::vector<v1::PredictStreamRequest> taken;
    v1::PredictStreamRequest request;
    size_t most = 0;
    while (stream->Read(&request)) {  // in groups, the last one first
      taken.push_back(request);
      most = std::max(most, taken.size());
      if (taken.size() < 16 && request.request_id() < 999) continue;
      for (; !taken.empty(); taken.pop_back()) stream->Write(AnswerTo(taken.back()));
    }
    asked = most;
    return grpc::Status::OK;
  });
  Asker asker(1000, server.address());
  asker.request_bytes = 500'000;  // 32 of them are 16 MB
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  asker.ExpectAllAnswered();
}

TEST(PredictStreamTest, ACallThatBreaksIsOpenedAgainAndNothingIsAskedTwiceThatWasAnswered) {
  FakeServer server([](int number, Stream* stream) {
    if (number == 15) return AnswerAll(stream);
    v1::PredictStreamRequest request;
    for (int i = 0; i < 10; ++i) {  // answers half of what it has read
      if (!stream->Read(&request)) return grpc::Status::OK;
      if (i % 2 == 0) stream->Write(AnswerTo(request));
    }
    return grpc::Status(number % 2 == 0 ? grpc::StatusCode::UNAVAILABLE : grpc::StatusCode::OK, "restarting");
  });
  Asker asker(100, server.address());
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  asker.ExpectAllAnswered();
  EXPECT_EQ(server.streams(), 16);
}

TEST(PredictStreamTest, AServerThatNeverAnswersIsGivenUp) {
  FakeServer server([](int, Stream*) { return grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining"); });
  Asker asker(10, server.address());
  const absl::Status status = asker.Run();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_EQ(server.streams(), asker.options.retry.max_attempts);
  EXPECT_TRUE(asker.answers.empty());
}

TEST(PredictStreamTest, NobodyThere) {
  Asker asker(10, "127.0.0.1:1");
  EXPECT_THAT(std::string(asker.Run().message()), testing::HasSubstr("no server answers at 127.0.0.1:1: "));
}

TEST(PredictStreamTest, ABusyServerIsAskedAgainWhenItSays) {
  std::map<uint64_t, int> refused;
  FakeServer server([&](int, Stream* stream) {
    v1::PredictStreamRequest request;
    while (stream->Read(&request)) {
      const bool busy = request.request_id() % 3 == 0 && refused[request.request_id()]++ < 9;
      const absl::Status status = WithRetryDelay(absl::ResourceExhaustedError("busy"), absl::Milliseconds(3));
      stream->Write(busy ? ErrorTo(request, status) : AnswerTo(request));
    }
    return grpc::Status::OK;
  });
  Asker asker(300, server.address());
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  asker.ExpectAllAnswered();
  EXPECT_EQ(server.streams(), 1);
}

TEST(PredictStreamTest, AnErrorOfOneQuestionIsItsAnswer) {
  FakeServer server([](int, Stream* stream) {
    v1::PredictStreamRequest request;
    while (stream->Read(&request)) {
      const bool fails = request.request_id() == 5;
      stream->Write(fails ? ErrorTo(request, absl::UnimplementedError("no such operator")) : AnswerTo(request));
      v1::PredictStreamResponse stranger;
      stranger.set_request_id(1'000'000);
      stream->Write(stranger);  // to nobody's question
    }
    return grpc::Status::OK;
  });
  Asker asker(10, server.address());
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  EXPECT_EQ(asker.answers[5], "no such operator");
  EXPECT_EQ(asker.answers[6], "6");
}

TEST(PredictStreamTest, AnswersThatAServerIsStoppingAreAskedAgainAFewTimes) {
  FakeServer server([](int, Stream* stream) {
    v1::PredictStreamRequest request;
    while (stream->Read(&request)) stream->Write(ErrorTo(request, absl::UnavailableError("stopping")));
    return grpc::Status::OK;
  });
  Asker asker(3, server.address());
  EXPECT_EQ(asker.Run(), absl::OkStatus());
  EXPECT_EQ(asker.answers[2], "stopping");
}

TEST(PredictStreamTest, ASilentServerIsGivenUpAfterTheDeadline) {
  FakeServer server([](int, Stream* stream) {
    v1::PredictStreamRequest request;
    while (stream->Read(&request)) {
      if (request.request_id() == 0) stream->Write(AnswerTo(request));
    }
    return grpc::Status::OK;
  });
  Asker asker(10, server.address());
  asker.options.deadline = absl::Milliseconds(200);
  const absl::Time begin = absl::Now();
  const absl::Status status = asker.Run();
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("within 200ms; --deadline-s gives it more time"));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(30));
  EXPECT_EQ(asker.answers.size(), 1u);
}

TEST(PredictStreamTest, TheCallerMayStop) {
  FakeServer server([](int, Stream* stream) { return AnswerAll(stream); });
  Asker asker(100'000, server.address());
  asker.stop_at = 50;
  EXPECT_EQ(asker.Run(), absl::NotFoundError("stop"));
  EXPECT_LT(asker.next, 1000);
}

TEST(PredictStreamTest, OtherErrorsOfTheCallEndIt) {
  FakeServer server([](int, Stream*) { return grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "no"); });
  Asker asker(10, server.address());
  EXPECT_TRUE(absl::IsPermissionDenied(asker.Run()));
  EXPECT_EQ(server.streams(), 1);
}

}  // namespace
}  // namespace cobra::client
