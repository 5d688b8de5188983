// Calls that make a version of a target, when their reply is lost: every attempt has the id of the
// first one.
#include "proto/request_id.h"

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/client.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Does what it is asked, and loses the first replies.
class LosingServer final : public v1::Cobra::Service {
 public:
  LosingServer() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~LosingServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  // Of the calls since the last time.
  std::vector<std::string> TakeIds() {
    absl::MutexLock lock(&mutex_);
    left_to_lose_ = 2;
    return std::move(ids_);
  }

  grpc::Status Calibrate(grpc::ServerContext* context, const v1::CalibrateRequest*, v1::CalibrateResponse*) override {
    return Lose(*context);
  }
  grpc::Status Adapt(grpc::ServerContext* context, const v1::AdaptRequest*, v1::AdaptResponse*) override {
    return Lose(*context);
  }
  grpc::Status Observe(grpc::ServerContext* context, const v1::ObserveRequest*, v1::AdaptResponse*) override {
    return Lose(*context);
  }
  grpc::Status ListTargets(grpc::ServerContext* context, const v1::ListTargetsRequest*,
                           v1::ListTargetsResponse*) override {
    return Lose(*context);
  }

 private:
  grpc::Status Lose(const grpc::ServerContext& context) {
    absl::MutexLock lock(&mutex_);
    const auto [begin, end] = context.client_metadata().equal_range(proto::kRequestIdName);
    for (auto id = begin; id != end; ++id) ids_.emplace_back(id->second.data(), id->second.size());
    return --left_to_lose_ < 0 ? grpc::Status::OK : grpc::Status(grpc::StatusCode::UNAVAILABLE, "lost on the way");
  }

  int port_ = 0;
  absl::Mutex mutex_;
  int left_to_lose_ ABSL_GUARDED_BY(mutex_) = 2;
  std::vector<std::string> ids_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<grpc::Server> server_;
};

TEST(RequestIdTest, EveryAttemptOfACallHasItsIdAndNoOtherCallHasIt) {
  LosingServer server;
  ClientOptions options;
  options.address = server.address();
  options.retry.initial_backoff = absl::Milliseconds(5);
  const std::unique_ptr<Client> client = Client::Connect(options);
  std::set<std::string> different;
  for (int i = 0; i < 2; ++i) {
    const auto expect_one = [&](const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      const std::vector<std::string> ids = server.TakeIds();
      EXPECT_THAT(ids, SizeIs(3));  // two were lost
      const std::set<std::string> of_call(ids.begin(), ids.end());
      EXPECT_THAT(of_call, SizeIs(1));
      for (const std::string& id : of_call) EXPECT_TRUE(proto::CheckRequestId(id).ok()) << id;
      different.insert(of_call.begin(), of_call.end());
    };
    expect_one(client->Calibrate({}).status());
    expect_one(client->Adapt({}).status());
    expect_one(client->Observe({}).status());
  }
  EXPECT_THAT(different, SizeIs(6));
  EXPECT_TRUE(client->ListTargets({}).ok());
  EXPECT_THAT(server.TakeIds(), IsEmpty());  // of what may be asked twice
}

}  // namespace
}  // namespace cobra::client
