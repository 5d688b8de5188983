#include "proto/parsed_size.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "cobra/v1/cobra.pb.h"
#include "gtest/gtest.h"

namespace cobra::proto {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 40;

v1::PredictRequest ARequest(int nodes) {
  v1::PredictRequest request;
  v1::Graph* graph = request.mutable_graph();
  for (int i = 0; i < nodes; ++i) {
    v1::Node* node = graph->add_nodes();
    node->set_op("conv2d");
    for (int a = 0; a < 5; ++a) {
      v1::Attribute* attribute = node->add_attributes();
      attribute->set_name(absl::StrCat("attribute_of_the_call_", a));
      for (int v = 0; v < 4; ++v) attribute->mutable_ints()->add_values(v + i);
    }
    node->add_inputs()->set_index(i);
    for (int64_t size : {1, 64, 56, 56}) node->add_outputs()->add_shape(size);
  }
  request.add_targets("cpu");
  return request;
}

ParsedSize SizeOf(const std::string& bytes, int64_t most = kNoLimit) {
  return ParsedSizeOf(bytes, *v1::PredictRequest::descriptor(), most);
}

TEST(ParsedSizeTest, IsAboutWhatTheMessageTakes) {
  for (int nodes : {1, 100, 5000}) {
    const v1::PredictRequest request = ARequest(nodes);
    const ParsedSize size = SizeOf(request.SerializeAsString());
    EXPECT_TRUE(size.well_formed);
    const auto taken = static_cast<int64_t>(request.SpaceUsedLong());
    EXPECT_GT(size.bytes, taken / 2) << nodes;
    EXPECT_LT(size.bytes, taken * 3) << nodes;
  }
}

// Two bytes a message: field 6 of a graph (a call), empty.
TEST(ParsedSizeTest, CountsEmptyMessages) {
  std::string graph;
  for (int i = 0; i < 100000; ++i) graph += std::string("\x32\x00", 2);
  v1::PredictRequest request;
  ASSERT_TRUE(request.mutable_graph()->ParseFromString(graph));
  const std::string bytes = request.SerializeAsString();
  EXPECT_GT(SizeOf(bytes).bytes, static_cast<int64_t>(100000 * sizeof(v1::Node)));
  const ParsedSize stopped = SizeOf(bytes, 1 << 20);
  EXPECT_GT(stopped.bytes, 1 << 20);
  EXPECT_LT(stopped.bytes, (1 << 20) + 10000);
}

TEST(ParsedSizeTest, CountsEmptyTextsAndUnknownFields) {
  std::string targets, unknown;
  for (int i = 0; i < 100000; ++i) {
    targets += std::string("\x32\x00", 2);      // field 6 of a request: a target
    unknown += std::string("\xfa\x01\x00", 3);  // field 31, which it does not have: empty bytes
  }
  EXPECT_GT(SizeOf(targets).bytes, static_cast<int64_t>(100000 * sizeof(std::string)));
  EXPECT_GT(SizeOf(unknown).bytes, static_cast<int64_t>(100000 * sizeof(std::string)));
}

// Whatever the parser takes, the scan takes; it reads nothing that is not there.
TEST(ParsedSizeTest, CountsFieldsOfAnotherKindAsUnknownOnes) {
  for (const char* field : {"\x20\x01", "\x1d\x01\x01\x01\x01"}) {  // a message as a number: protobuf keeps it
    std::string bytes;
    for (int i = 0; i < 10'000; ++i) bytes += field;
    v1::PredictRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    EXPECT_EQ(request.GetReflection()->GetUnknownFields(request).field_count(), 10'000);
    EXPECT_GE(SizeOf(bytes).bytes, 160'000);
  }
}

TEST(ParsedSizeTest, DamagedBytes) {
  const std::string bytes = ARequest(3).SerializeAsString();
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    const std::string part = bytes.substr(0, cut);
    v1::PredictRequest request;
    if (request.ParseFromString(part)) EXPECT_TRUE(SizeOf(part).well_formed) << cut;
    std::string changed = bytes;
    changed[cut] = static_cast<char>(changed[cut] ^ 0x15);
    EXPECT_GE(SizeOf(changed).bytes, 0) << cut;
  }
  EXPECT_FALSE(SizeOf("\x0a\x05").well_formed);
  EXPECT_TRUE(SizeOf("").well_formed);
}

}  // namespace
}  // namespace cobra::proto
