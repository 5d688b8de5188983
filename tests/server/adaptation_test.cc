// What requests of many networks, and replies of many rows, may take of the server.
#include "server/adaptation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "graph/graph_bytes.h"
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
