#include "server/rpc/message_bytes.h"

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "cobra/v1/cobra.pb.h"
#include "gtest/gtest.h"
#include "server/predict/predict_message.h"

namespace cobra::server {
namespace {

TEST(MessageBytesTest, AReplyBeyondTheLimitIsAnError) {
  v1::GetModelInfoResponse reply;
  reply.set_version(std::string(1000, 'v'));
  const auto size = static_cast<int64_t>(reply.ByteSizeLong());
  grpc::ByteBuffer bytes;
  EXPECT_TRUE(SerializeMessage(reply, &bytes, size).ok());
  EXPECT_EQ(bytes.Length(), static_cast<size_t>(size));
  const absl::Status status = SerializeMessage(reply, &bytes, size - 1);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  ASSERT_TRUE(diagnostic.has_value());
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kLimit);
}

grpc::ByteBuffer BytesOf(const std::string& text, size_t pieces) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < pieces; ++i) {
    const size_t begin = text.size() * i / pieces, end = text.size() * (i + 1) / pieces;
    slices.emplace_back(text.data() + begin, end - begin);
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// Whatever the order of fields and models: what protobuf makes of the whole.
TEST(PredictMessageTest, IsTheMessageThatProtobufParses) {
  v1::PredictRequest graph, other_graph, source;
  graph.mutable_graph()->add_nodes()->set_op("relu");
  other_graph.mutable_graph()->add_nodes()->set_op("tanh");
  source.mutable_source()->set_entry("Net()");
  v1::PredictRequest rest;
  rest.add_targets("cpu");
  rest.set_keep_private(true);
  const std::string parts[] = {graph.SerializeAsString(), other_graph.SerializeAsString(), source.SerializeAsString(),
                               rest.SerializeAsString()};
  for (const std::vector<int>& order : std::vector<std::vector<int>>{
           {0, 3}, {3, 0}, {3, 0, 3}, {0, 1, 3}, {0, 2, 3}, {2, 0, 3}, {2, 3}, {3}, {0}, {}, {1, 3, 0, 2, 1}}) {
    std::string text;
    for (int part : order) text += parts[part];
    v1::PredictRequest expected;
    ASSERT_TRUE(expected.ParseFromString(text));
    PredictMessage message;
    ASSERT_TRUE(message.Parse(BytesOf(text, 3), 1 << 20).ok());
    EXPECT_EQ(message.graph().has_value(), expected.has_graph());
    if (message.graph().has_value()) EXPECT_EQ(*message.graph(), expected.graph().SerializeAsString());
    EXPECT_FALSE(message.request()->has_graph());
    expected.clear_graph();
    EXPECT_EQ(message.request()->SerializeAsString(), expected.SerializeAsString());
  }
}

TEST(PredictMessageTest, RefusesWhatIsNoMessageOrTooLarge) {
  v1::PredictRequest request;
  request.mutable_graph()->add_nodes()->set_op("relu");
  for (int i = 0; i < 1000; ++i) request.add_targets("");
  const std::string text = request.SerializeAsString();
  PredictMessage too_large, cut, wrong;
  EXPECT_EQ(DiagnosticFromStatus(too_large.Parse(BytesOf(text, 1), 10000))->kind, Diagnostic::Kind::kLimit);
  EXPECT_EQ(DiagnosticFromStatus(cut.Parse(BytesOf(text.substr(0, 5), 1), 1 << 20))->kind, Diagnostic::Kind::kUsage);
  EXPECT_EQ(DiagnosticFromStatus(wrong.Parse(BytesOf("\xff\xff", 1), 1 << 20))->kind, Diagnostic::Kind::kUsage);
}

}  // namespace
}  // namespace cobra::server
