#include "server/access/forwarded.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/label.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

constexpr char kTrace[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
// What gRPC takes, and what it adds itself to each call: path, authority, agent, encodings, time.
constexpr int64_t kGrpcLimit = 8 << 10, kGrpcsOwn = 1000;

class ForwardedTest : public testing::Test {
 protected:
  absl::StatusOr<MetadataList> Forward() const { return ForwardedMetadata(head_, peer_, options_, limits_); }

  // The values under a name of what goes on.
  std::vector<std::string> Values(const std::string& name) const {
    const absl::StatusOr<MetadataList> metadata = Forward();
    EXPECT_TRUE(metadata.ok()) << metadata.status();
    std::vector<std::string> values;
    if (!metadata.ok()) return values;
    for (const auto& [key, value] : *metadata) {
      if (key == name) values.push_back(value);
    }
    return values;
  }
  void Give(const std::string& name, const std::string& value) { head_.headers.emplace_back(name, value); }
  std::string Refusal() const { return std::string(Forward().status().message()); }

  http::Head head_;
  HttpPeer peer_{"ipv6:[2001:0db8:0000:0000:0000:0000:0000:0001]:40000", {}};
  ForwardOptions options_{/*with_credentials=*/true, /*as_report=*/true};
  const ServerLimits limits_;
};

TEST_F(ForwardedTest, ATraceIsReadAndWrittenAgain) {
  Give("traceparent", kTrace);
  EXPECT_THAT(Values("traceparent"), testing::ElementsAre("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));
}

TEST_F(ForwardedTest, AnIdOfTheRequestGoesOn) {
  Give("cobra-request-id", "id-1");
  EXPECT_THAT(Values("cobra-request-id"), testing::ElementsAre("id-1"));
  Give("cobra-request-id", "id-2");
  EXPECT_THAT(Refusal(), HasSubstr("cobra-request-id: is given twice"));
  head_.headers.clear();
  Give("cobra-request-id", std::string(10'000, 'a'));
  EXPECT_THAT(Refusal(), HasSubstr("more than the limit of 64"));
}

TEST_F(ForwardedTest, ATraceThatIsNoneIsLeftOut) {
  for (const std::string& value : {std::string(15'000, 'a'), std::string("00-0-0-00"), std::string(),
                                   absl::StrCat("cc", std::string(kTrace).substr(2), "-", std::string(10'000, 'x'))}) {
    head_.headers.clear();
    Give("traceparent", value);
    EXPECT_THAT(Values("traceparent"), testing::IsEmpty());
  }
  head_.headers.clear();
  Give("traceparent", kTrace);
  Give("traceparent", kTrace);
  EXPECT_THAT(Values("traceparent"), testing::IsEmpty());
  Give("traceparent", "\xC3\xA9");
  EXPECT_THAT(Refusal(), HasSubstr("not printable"));
}

TEST_F(ForwardedTest, OtherHeadersDoNotGoOn) {
  Give("x-large", std::string(10'000, 'x'));
  Give("cobra-http-key", "forged");
  Give("cobra-http-peer", "ipv4:127.0.0.1:1");
  EXPECT_THAT(Values("x-large"), testing::IsEmpty());
  EXPECT_EQ(Values("cobra-http-key").size(), 1u);
  EXPECT_THAT(Values("cobra-http-peer"), testing::ElementsAre(peer_.address));
}

TEST_F(ForwardedTest, LabelsAreThoseThatACallMayHave) {
  for (int i = 0; i < proto::kMaxLabels; ++i) Give(absl::StrCat("cobra-label-", i), "x");
  EXPECT_TRUE(Forward().ok());
  Give("cobra-label-8", "x");
  EXPECT_THAT(Refusal(), HasSubstr("more than the limit of 8 labels"));
  head_.headers.clear();
  Give("cobra-label-a", "x");
  Give("cobra-label-a", "y");
  EXPECT_THAT(Refusal(), HasSubstr("is given twice"));
  head_.headers.clear();
  Give("cobra-label-a", std::string(257, 'x'));
  EXPECT_THAT(Refusal(), HasSubstr("more than the limit of 256"));
}

TEST_F(ForwardedTest, ATokenIsBoundedAndGoesOnOnlyIfItIsLookedAt) {
  Give("authorization", std::string(limits_.max_authorization_bytes, 'a'));
  EXPECT_EQ(Values("authorization").size(), 1u);
  Give("authorization", "Bearer b");
  EXPECT_TRUE(absl::IsUnauthenticated(Forward().status()));
  head_.headers.clear();
  Give("authorization", std::string(limits_.max_authorization_bytes + 1, 'a'));
  EXPECT_TRUE(absl::IsUnauthenticated(Forward().status()));
  EXPECT_THAT(Refusal(), HasSubstr("more than the limit of 512"));
  options_.with_credentials = false;
  EXPECT_THAT(Values("authorization"), testing::IsEmpty());
}

TEST_F(ForwardedTest, NamesOfACertificateAreBounded) {
  peer_.certificate_names.assign(limits_.max_certificate_names, "pi-4.example.org");
  EXPECT_EQ(Values("cobra-http-certificate-bin").size(), peer_.certificate_names.size());
  peer_.certificate_names.emplace_back("pi-4.example.org");
  EXPECT_TRUE(absl::IsUnauthenticated(Forward().status()));
  EXPECT_THAT(Refusal(), HasSubstr("17 names, more than the limit of 16"));
  options_.with_credentials = false;
  EXPECT_THAT(Values("cobra-http-certificate-bin"), testing::IsEmpty());
  options_.with_credentials = true;
  peer_.certificate_names = {std::string(10'000, 'x')};
  EXPECT_THAT(Refusal(), HasSubstr("more than the limit of 6"));
}

// All of it at its limit goes on, and is well below what gRPC ends a connection over.
TEST_F(ForwardedTest, TheWholeIsBelowWhatGrpcTakes) {
  static_assert(ServerLimits().max_forwarded_bytes + kGrpcsOwn < kGrpcLimit);
  Give("traceparent", kTrace);
  Give("authorization", std::string(limits_.max_authorization_bytes, 'a'));
  Give("cobra-request-id", std::string(64, 'a'));
  for (int i = 0; i < proto::kMaxLabels; ++i) {
    std::string value;
    while (value.size() < proto::kMaxLabelBytes) value += "\xC3\xA9";
    Give(absl::StrCat("cobra-label-", i, std::string(63, 'n')), value);
  }
  const absl::StatusOr<MetadataList> metadata = Forward();
  ASSERT_TRUE(metadata.ok()) << metadata.status();
  EXPECT_LE(MetadataBytes(*metadata), limits_.max_forwarded_bytes);
  EXPECT_GT(MetadataBytes(*metadata), limits_.max_forwarded_bytes / 2);
}

}  // namespace
}  // namespace cobra::server
