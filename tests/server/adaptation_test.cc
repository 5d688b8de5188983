// What requests of many networks, and replies of many rows, may take of the server.
#include "server/targets/adaptation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "graph/form/graph_bytes.h"
#include "grpcpp/grpcpp.h"
#include "proto/grpc_status.h"
#include "tests/server/server_testing.h"

namespace cobra::server {
namespace {

graph::Graph Unbound(int64_t results) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{results, 2}});
  EXPECT_TRUE(builder.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x}).ok());
  const int32_t relu = builder.Add(graph::Op::relu, {}, {graph::ValueRef::Node(0)}).value();
  return std::move(builder).Build({graph::ValueRef::Node(relu)});
}

v1::TimedNetwork Timed(const std::string& row, int64_t results) {
  v1::TimedNetwork network;
  network.set_row(row);
  network.set_latency_ms(1);
  proto::GraphToProto(Unbound(results), network.mutable_graph());
  return network;
}

v1::TargetSpec Sheet() {
  v1::TargetSpec spec;
  spec.set_device("Test CPU 9000");
  spec.set_kind("cpu");
  spec.set_runtime("torch-2.5");
  spec.set_threads(1);
  return spec;
}

Diagnostic LimitOf(const absl::Status& status) {
  EXPECT_FALSE(status.ok());
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  EXPECT_TRUE(diagnostic.has_value()) << status;
  EXPECT_EQ(diagnostic.value_or(Diagnostic()).kind, Diagnostic::Kind::kLimit) << status;
  return diagnostic.value_or(Diagnostic());
}

class AdaptationTest : public ServerTest {
 protected:
  static v1::AdaptRequest Adapting(const std::vector<std::pair<std::string, int64_t>>& rows) {
    v1::AdaptRequest request;
    request.set_name("board");
    *request.mutable_spec() = Sheet();
    for (const auto& [row, results] : rows) *request.add_samples() = Timed(row, results);
    return request;
  }
};

TEST_F(AdaptationTest, TheNetworksOfARequestAreBoundedTogether) {
  limits_.max_networks_bytes = graph::GraphBytes(Unbound(1000)) * 5 / 2;
  Start();
  const auto client = Connect();
  const Diagnostic limit = LimitOf(client->Adapt(Adapting({{"a", 1000}, {"b", 999}, {"c", 998}})).status());
  EXPECT_EQ(limit.message.substr(0, 33), "row c: the networks up to this on") << limit.message;
  const auto adapted = client->Adapt(Adapting({{"a", 1000}, {"b", 999}}));
  EXPECT_TRUE(adapted.ok()) << adapted.status();
  v1::ObserveRequest observed;
  observed.set_target("board");
  for (const int64_t results : {997, 996, 995}) *observed.add_samples() = Timed(absl::StrCat("r", results), results);
  EXPECT_EQ(LimitOf(client->Observe(observed).status()).message.substr(0, 8), "row r995");
}

TEST_F(AdaptationTest, RowsOfOneNetworkCountOnce) {
  limits_.max_networks_bytes = graph::GraphBytes(Unbound(1000)) * 3 / 2;
  Start();
  const auto adapted = Connect()->Adapt(Adapting({{"a", 1000}, {"b", 1000}, {"c", 1000}}));
  EXPECT_TRUE(adapted.ok()) << adapted.status();
}

// What it was timed with is taken again when something else has come meanwhile, not when a row of
// it is left out.
TEST_F(AdaptationTest, ACorrectionLeavesOutWhatItsFitRefuses) {
  Start();
  const auto client = Connect();
  ASSERT_TRUE(client->Adapt(Adapting({{"a", 20}, {"b", 30}, {"c", 40}})).ok());
  predictor_->refused_sample = "row b";
  v1::AdaptRequest correction = Adapting({});
  const absl::Status refused = client->Adapt(correction).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "row b")) << refused;
  correction.set_skip_refused(true);
  const int fits = predictor_->fits;
  const auto corrected = Connect(absl::Seconds(10))->Adapt(correction);
  ASSERT_TRUE(corrected.ok()) << corrected.status();
  EXPECT_EQ(predictor_->fits - fits, 2);
  ASSERT_EQ(corrected->refused_size(), 1);
  EXPECT_EQ(corrected->refused(0).row(), "b");
  EXPECT_EQ(corrected->target().samples(), 2);
}

// As a client that has lost the reply repeats it.
class RepeatedTest : public AdaptationTest {
 protected:
  template <typename Request, typename Response>
  absl::Status Call(Server* server, const std::string& id, const Request& request, Response* response,
                    grpc::Status (v1::Cobra::Stub::*method)(grpc::ClientContext*, const Request&, Response*)) {
    const auto stub =
        v1::Cobra::NewStub(grpc::CreateChannel(server->listen_address(), grpc::InsecureChannelCredentials()));
    grpc::ClientContext context;
    context.set_deadline(absl::ToChronoTime(absl::Now() + absl::Seconds(30)));
    if (!id.empty()) context.AddMetadata("cobra-request-id", id);
    return proto::FromGrpcStatus((stub.get()->*method)(&context, request, response));
  }
  absl::StatusOr<v1::AdaptResponse> Adapt(const std::string& id, const v1::AdaptRequest& request,
                                          Server* server = nullptr) {
    v1::AdaptResponse response;
    const absl::Status status =
        Call(server == nullptr ? server_.get() : server, id, request, &response, &v1::Cobra::Stub::Adapt);
    return status.ok() ? absl::StatusOr<v1::AdaptResponse>(response) : status;
  }
  absl::StatusOr<v1::AdaptResponse> Observe(const std::string& id, const v1::ObserveRequest& request) {
    v1::AdaptResponse response;
    const absl::Status status = Call(server_.get(), id, request, &response, &v1::Cobra::Stub::Observe);
    return status.ok() ? absl::StatusOr<v1::AdaptResponse>(response) : status;
  }
  absl::StatusOr<v1::CalibrateResponse> Calibrate(const std::string& id, const v1::CalibrateRequest& request) {
    v1::CalibrateResponse response;
    const absl::Status status = Call(server_.get(), id, request, &response, &v1::Cobra::Stub::Calibrate);
    return status.ok() ? absl::StatusOr<v1::CalibrateResponse>(response) : status;
  }
  static v1::ObserveRequest Observed(const std::string& row) {
    v1::ObserveRequest request;
    request.set_target("board");
    *request.add_samples() = Timed(row, 50);
    return request;
  }
};

TEST_F(RepeatedTest, ACallWithAnIdIsDoneOnce) {
  Start();
  v1::AdaptRequest request = Adapting({{"a", 20}, {"b", 30}});
  *request.add_samples() = Timed("bad", 40);
  request.mutable_samples(2)->set_latency_ms(-1);
  request.set_skip_refused(true);
  const auto first = Adapt("id-1", request), again = Adapt("id-1", request);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(first->refused_size(), 1);
  EXPECT_EQ(again->SerializeAsString(), first->SerializeAsString());
  EXPECT_EQ(again->target().calibrations_size(), 1);
  for (int i = 1; i <= 3; ++i) {
    const auto observed = Observe("id-2", Observed("x"));  // an id belongs to a target's call
    ASSERT_TRUE(observed.ok()) << observed.status();
    EXPECT_EQ(observed->target().calibrations_size(), 2);
  }
  v1::CalibrateRequest probe;
  probe.set_probe_json(SmallProbeJson());
  for (int i = 1; i <= 2; ++i) {
    const auto calibrated = Calibrate("id-1", probe);  // of another target
    ASSERT_TRUE(calibrated.ok()) << calibrated.status();
    EXPECT_EQ(calibrated->layers_used(), 1);
    EXPECT_EQ(calibrated->networks_used(), 0);
    EXPECT_EQ(calibrated->target().calibrations_size(), 1);
  }
  EXPECT_EQ(Observe("", Observed("x"))->target().calibrations_size(), 3);  // without one it is another call
  EXPECT_EQ(Observe("id-3", Observed("x"))->target().calibrations_size(), 4);
}

TEST_F(RepeatedTest, AnIdOfAnotherRequestAndWhatIsNoIdAreRefused) {
  Start();
  ASSERT_TRUE(Adapt("id-1", Adapting({{"a", 20}})).ok());
  for (const absl::Status& refused :
       {Adapt("id-1", Adapting({{"a", 21}})).status(), Observe("id-1", Observed("x")).status()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
    EXPECT_TRUE(absl::StrContains(refused.message(), "cobra-request-id id-1: was already used for another request"))
        << refused;
  }
  for (const std::string& id : {std::string("a b"), std::string("a/b"), std::string(65, 'a')})
    EXPECT_TRUE(absl::IsInvalidArgument(Adapt(id, Adapting({{"a", 20}})).status())) << id;
  EXPECT_TRUE(Adapt(std::string(64, 'a'), Adapting({{"a", 20}})).ok());
}

// The first server has stored it and died.
TEST_F(RepeatedTest, AnotherServerOfTheStoreDoesNotDoItAgain) {
  Start();
  const std::unique_ptr<Server> first = std::move(server_);
  Start();  // of the same store
  v1::AdaptRequest request = Adapting({{"a", 20}});
  *request.add_samples() = Timed("bad", 40);
  request.mutable_samples(1)->set_latency_ms(-1);
  request.set_skip_refused(true);
  ASSERT_TRUE(Adapt("id-1", request, first.get()).ok());
  const auto again = Adapt("id-1", request);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->target().calibrations_size(), 1);
  ASSERT_EQ(again->refused_size(), 1);
  EXPECT_EQ(again->refused(0).row(), "bad");
}

// The client has given the first attempt up while the server is about to store it.
TEST_F(RepeatedTest, AttemptsAtTheSameTimeAreOne) {
  Start();
  ASSERT_TRUE(Adapt("id-1", Adapting({{"a", 20}})).ok());
  std::vector<std::thread> attempts;
  for (int i = 0; i < 8; ++i) {
    attempts.emplace_back([this] {
      const auto observed = Observe("id-2", Observed("x"));
      EXPECT_TRUE(observed.ok()) << observed.status();
    });
  }
  for (std::thread& attempt : attempts) attempt.join();
  EXPECT_EQ(Adapt("id-1", Adapting({{"a", 20}}))->target().calibrations_size(), 2);
}

TEST_F(AdaptationTest, SuggestingHoldsOneNetworkAtATime) {
  limits_.max_networks_bytes = limits_.max_graph_bytes_per_caller = limits_.max_graph_bytes =
      graph::GraphBytes(Unbound(1000)) * 3 / 2;
  Start();
  v1::SuggestSamplesRequest request;
  *request.mutable_spec() = Sheet();
  for (int64_t results = 1000; results > 980; --results)
    *request.add_networks() = Timed(absl::StrCat("r", results), results);
  request.set_count(3);
  const auto suggested = Connect()->SuggestSamples(request);
  ASSERT_TRUE(suggested.ok()) << suggested.status();
  EXPECT_EQ(suggested->rows_size(), 3);
}

TEST_F(AdaptationTest, RefusedRowsAreBoundedAsReplies) {
  limits_.max_reply_bytes = 2000;
  Start();
  v1::SuggestSamplesRequest request;
  *request.mutable_spec() = Sheet();
  *request.add_networks() = Timed("good", 10);
  for (int i = 0; i < 50; ++i) request.add_networks()->set_row(absl::StrCat("has no model ", i));
  EXPECT_TRUE(absl::StrContains(LimitOf(Connect()->SuggestSamples(request).status()).message, "the refused rows"));
}

// A network may take a thousand times the bytes of its request.
TEST_F(AdaptationTest, NetworksThatACallerIsAnsweredAboutAreBounded) {
  limits_.max_graph_bytes_per_caller = 1000;
  Start();
  BlockPredictions();
  std::thread first([&] { EXPECT_TRUE(Connect()->Predict(MakeLongRequest(/*rows=*/10)).ok()); });
  WaitForStarted(1);
  const absl::Status refused = Connect()->Predict(MakeLongRequest(/*rows=*/11)).status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_TRUE(absl::StrContains(refused.message(), "networks that are worked on")) << refused;
  release_.Notify();
  first.join();
  EXPECT_TRUE(Connect()->Predict(MakeLongRequest(/*rows=*/11)).ok());
}

TEST_F(AdaptationTest, AFilterOfTargetsIsNoLongerThanAName) {
  Start();
  v1::ListTargetsRequest request;
  request.set_device(std::string(200, 'x'));
  EXPECT_TRUE(Connect()->ListTargets(request).ok());
  request.set_device(std::string(201, 'x'));
  EXPECT_EQ(LimitOf(Connect()->ListTargets(request).status()).message, "device: 201 bytes, more than the limit of 200");
}

TEST_F(AdaptationTest, StoredPredictionsAreListedUpToTheBytesOfAReply) {
  limits_.max_reply_bytes = 2000;
  labels_ = {{"team", std::string(250, 'x')}};
  Start();
  const auto client = Connect();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(client->Predict(MakeRequest()).ok());
  v1::ListPredictionsRequest request;
  absl::StatusOr<v1::ListPredictionsResponse> listed = client->ListPredictions(request);
  for (int i = 0; i < 500 && listed.ok() && !listed->has_more(); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
    listed = client->ListPredictions(request);
  }
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_TRUE(listed->has_more());
  EXPECT_GT(listed->predictions_size(), 0);
  EXPECT_LT(listed->ByteSizeLong(), 2000u);
}

}  // namespace
}  // namespace cobra::server
