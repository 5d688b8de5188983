#include "proto/request_parts.h"

#include "absl/strings/str_cat.h"
#include "base/bytes/wire_format.h"
#include "cobra/v1/cobra.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::proto {
namespace {

using testing::ElementsAre;

std::string Request(std::initializer_list<const char*> targets) {
  v1::PredictRequest request;
  for (const char* target : targets) request.add_targets(target);
  return request.SerializeAsString();
}

std::string BatchOf(int count) {
  v1::PredictBatchRequest batch;
  for (int i = 0; i < count; ++i) batch.add_requests()->add_targets("t");
  return batch.SerializeAsString();
}

TEST(RequestPartsTest, SplitsABatchUpToALimit) {
  v1::PredictBatchRequest batch;
  batch.add_requests()->add_targets("a");
  batch.add_requests();
  batch.add_requests()->add_targets("b");
  std::vector<absl::string_view> parts;
  const std::string bytes = batch.SerializeAsString();
  ASSERT_TRUE(SplitBatch(bytes, 3, &parts));
  EXPECT_THAT(parts, ElementsAre(Request({"a"}), "", Request({"b"})));
  for (const int count : {3, 4, 5}) {
    parts.clear();
    const std::string larger = BatchOf(count);
    ASSERT_TRUE(SplitBatch(larger, 3, &parts));
    EXPECT_EQ(parts.size(), static_cast<size_t>(std::min(count, 4)));
  }
  parts.clear();
  EXPECT_FALSE(SplitBatch(absl::string_view(bytes).substr(0, bytes.size() - 1), 3, &parts));
}

TEST(RequestPartsTest, CountsTargets) {
  EXPECT_EQ(NumTargets(Request({})), 0);
  EXPECT_EQ(NumTargets(Request({"a", "b", "a"})), 3);
  WireWriter number(16);  // in the place of a target's name: protobuf does not know the field
  number.Number(v1::PredictRequest::kTargetsFieldNumber, 1);
  EXPECT_EQ(NumTargets(number.bytes()), 0);
}

// Of several timed networks, the graphs of those that have no other model.
TEST(RequestPartsTest, KeepsTheBytesOfTheGraphsOfTimedNetworks) {
  v1::AdaptRequest request;
  request.set_name("mine");
  request.add_samples()->mutable_graph()->add_inputs()->set_name("x");
  request.add_samples()->mutable_architecture()->set_text("darts");
  request.add_samples()->set_row("without a model");
  request.add_samples()->mutable_graph();
  for (v1::TimedNetwork& network : *request.mutable_samples()) network.set_latency_ms(3);
  std::string bytes = request.SerializeAsString();
  // A graph in two fields, which protobuf merges, and one after another model, which replaces it.
  v1::AdaptRequest merged;
  merged.add_samples()->mutable_graph()->add_inputs()->set_name("y");
  const std::string network = merged.samples(0).SerializeAsString();
  WireWriter twice(64), replaced(64);
  twice.Text(v1::AdaptRequest::kSamplesFieldNumber, network + network);
  replaced.Text(v1::AdaptRequest::kSamplesFieldNumber, request.samples(1).SerializeAsString() + network);
  absl::StrAppend(&bytes, twice.bytes(), replaced.bytes());

  KeepGraphBytes(v1::AdaptRequest::kSamplesFieldNumber, &bytes);
  v1::AdaptRequest parsed;
  ASSERT_TRUE(parsed.ParseFromString(bytes));
  ASSERT_EQ(parsed.samples_size(), 6);
  EXPECT_EQ(parsed.name(), "mine");
  EXPECT_EQ(parsed.samples(0).model_case(), v1::TimedNetwork::MODEL_NOT_SET);
  EXPECT_EQ(TakeGraphBytes(parsed.mutable_samples(0)), request.samples(0).graph().SerializeAsString());
  EXPECT_EQ(parsed.samples(0).latency_ms(), 3);
  EXPECT_EQ(parsed.samples(1).architecture().text(), "darts");
  for (const int without : {1, 2, 4, 5}) EXPECT_EQ(TakeGraphBytes(parsed.mutable_samples(without)), std::nullopt);
  EXPECT_EQ(TakeGraphBytes(parsed.mutable_samples(3)), "");
  EXPECT_EQ(parsed.samples(4).graph().inputs_size(), 2);
  EXPECT_EQ(parsed.samples(5).graph().inputs_size(), 1);
  // The field that keeps them is no field of the API.
  EXPECT_EQ(v1::TimedNetwork::descriptor()->FindFieldByNumber(15), nullptr);
}

// Of damaged bytes nothing is changed from the damage on, and nothing outside them is.
TEST(RequestPartsTest, KeepsGraphsOfDamagedBytes) {
  v1::ObserveRequest request;
  for (int i = 0; i < 3; ++i) request.add_samples()->mutable_graph()->add_inputs()->set_name("x");
  const std::string whole = request.SerializeAsString();
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string bytes = whole.substr(0, size);
    KeepGraphBytes(v1::ObserveRequest::kSamplesFieldNumber, &bytes);
    ASSERT_EQ(bytes.size(), size);
    v1::ObserveRequest before, after;
    EXPECT_EQ(before.ParseFromString(whole.substr(0, size)), after.ParseFromString(bytes)) << size;
  }
}

// protobuf merges a message that comes in several fields.
TEST(RequestPartsTest, JoinsTheFieldsOfAStreamsRequest) {
  v1::PredictStreamRequest first, second, merged;
  first.set_request_id(7);
  first.mutable_request()->add_targets("a");
  second.set_request_id(8);
  second.mutable_request()->add_targets("b");
  for (const std::string& bytes :
       {std::string(), first.SerializeAsString(), first.SerializeAsString() + second.SerializeAsString()}) {
    StreamRequest request;
    std::string joined;
    ASSERT_TRUE(ParseStreamRequest(bytes, &request, &joined));
    ASSERT_TRUE(merged.ParseFromString(bytes));
    EXPECT_EQ(request.id, merged.request_id());
    EXPECT_EQ(request.bytes, merged.request().SerializeAsString());
  }
}

// Neither half is a message, though both together are.
TEST(RequestPartsTest, RefusesAFieldThatBeginsInOnePartAndEndsInTheNext) {
  const std::string whole = Request({"target"});
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    WireWriter writer(64);
    writer.Text(v1::PredictStreamRequest::kRequestFieldNumber, whole.substr(cut));
    writer.Text(v1::PredictStreamRequest::kRequestFieldNumber, whole.substr(0, cut));
    StreamRequest request;
    std::string joined;
    EXPECT_FALSE(ParseStreamRequest(writer.bytes(), &request, &joined)) << cut;
    EXPECT_FALSE(v1::PredictStreamRequest().ParseFromString(std::string(writer.bytes()))) << cut;
  }
}

// protobuf takes no tag and no size that has more than five bytes, whatever their value.
TEST(RequestPartsTest, RefusesTagsAndSizesThatAreTooLong) {
  const std::string zeros = "\x80\x80\x80";
  for (const std::string& more : {zeros, zeros + "\x80"}) {
    std::string tag = "\x8a" + more, size = "\x0a\x80" + more;
    tag.append(2, '\0');
    size.append(1, '\0');
    for (const std::string& bytes : {tag, size}) {
      std::vector<absl::string_view> parts;
      EXPECT_EQ(SplitBatch(bytes, 3, &parts), v1::PredictBatchRequest().ParseFromString(bytes)) << bytes.size();
      EXPECT_EQ(SplitBatch(bytes, 3, &parts), more == zeros) << bytes.size();
    }
  }
}

TEST(RequestPartsTest, SplitsAGraphThatStandsAlone) {
  v1::PredictRequest request;
  request.add_targets("a");
  request.mutable_graph()->add_inputs()->set_name("x");
  request.set_breakdown(true);
  absl::string_view graph;
  std::string rest;
  const std::string bytes = request.SerializeAsString();
  ASSERT_TRUE(SplitGraph(bytes, &graph, &rest));
  EXPECT_EQ(graph, request.graph().SerializeAsString());
  request.clear_graph();
  EXPECT_EQ(rest, request.SerializeAsString());
  WireWriter unknown(16);
  unknown.Number(1000, 1);
  std::string unused;
  EXPECT_TRUE(SplitGraph(bytes + std::string(unknown.bytes()), &graph, &unused));
  EXPECT_FALSE(SplitGraph(rest, &graph, &unused));
  EXPECT_FALSE(SplitGraph(bytes + bytes, &graph, &unused));
  request.mutable_architecture()->set_text("x");
  EXPECT_FALSE(SplitGraph(bytes + request.SerializeAsString(), &graph, &unused));
}

}  // namespace
}  // namespace cobra::proto
