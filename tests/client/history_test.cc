#include "client/series/history.h"

#include <limits>
#include <string>

#include "absl/time/time.h"
#include "base/text/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As the server sends them: the newest first.
class HistoryTest : public testing::Test {
 protected:
  v1::StoredPrediction* Add(const std::string& commit, double ms, const std::string& network = "n",
                            const std::string& target = "cpu") {
    v1::ListPredictionsResponse older = response_;
    response_.Clear();
    v1::StoredPrediction* p = response_.add_predictions();
    p->set_time("2026-11-25T08:00:00.000Z");
    if (!commit.empty()) (*p->mutable_labels())["commit"] = commit;
    (*p->mutable_labels())["model"] = "net.py";
    p->set_target(target);
    p->set_fingerprint(network);
    p->set_model_version("w1");
    p->set_latency_us(1000 * ms);
    p->set_low_us(900 * ms);
    p->set_high_us(1100 * ms);
    response_.mutable_predictions()->MergeFrom(older.predictions());
    return response_.mutable_predictions(0);
  }
  History Make() const { return MakeHistory(response_, "commit"); }

  v1::ListPredictionsResponse response_;
};

TEST_F(HistoryTest, ASeriesOfEachTargetInTheOrderOfCommits) {
  Add("a", 10);
  Add("a", 20, "n", "gpu");
  Add("b", 10);
  Add("c", 12, "m");
  const History history = Make();
  EXPECT_THAT(history.order, ElementsAre("a", "b", "c"));
  ASSERT_EQ(history.series.size(), 2u);
  ASSERT_EQ(history.series[0].points.size(), 3u);
  EXPECT_FALSE(history.series[0].points[0].change.has_value());
  EXPECT_TRUE(history.series[0].points[1].same_network);
  EXPECT_FALSE(history.series[0].points[2].same_network);
  EXPECT_NEAR(*history.series[0].points[2].change, 0.2, 1e-9);
  const std::string table = HistoryTable(history);
  EXPECT_THAT(table, HasSubstr("net.py on cpu\n"));
  EXPECT_THAT(table, HasSubstr("+20.0 %"));
  EXPECT_THAT(table, HasSubstr("="));
}

TEST_F(HistoryTest, TheNewestOfACommitCountsAtTheCommitsPlace) {
  Add("a", 10);
  Add("b", 11);
  Add("a", 15);  // predicted again
  const History history = Make();
  EXPECT_THAT(history.order, ElementsAre("a", "b"));
  EXPECT_EQ(history.series[0].points[0].prediction.latency_us(), 15000);
}

TEST_F(HistoryTest, OtherWeightsAreMarked) {
  Add("a", 10);
  Add("b", 12)->set_model_version("w2");
  const History history = Make();
  EXPECT_TRUE(history.series[0].points[1].other_weights);
  EXPECT_THAT(HistoryTable(history), HasSubstr("other weights: w2, the same network"));
  EXPECT_THAT(HistorySvg(history), HasSubstr("class=\"end axis\""));
}

TEST_F(HistoryTest, PredictionsWithoutTheLabelAreCounted) {
  Add("", 10);
  Add("a", 10);
  response_.set_has_more(true);
  const History history = Make();
  EXPECT_EQ(history.without, 1);
  EXPECT_THAT(HistoryTable(history), HasSubstr("1 prediction without a label commit left out"));
  EXPECT_THAT(HistoryTable(history), HasSubstr("there are older ones"));
  EXPECT_THAT(HistoryTable(MakeHistory({}, "commit")), HasSubstr("no stored prediction matches (label `commit`)"));
}

TEST_F(HistoryTest, JsonHasEveryPoint) {
  Add("a\"b", 10);
  Add("c", 12);
  const auto j = ParseJson<nlohmann::json>(HistoryJson(Make()));
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["series"][0]["points"][0]["commit"], "a\"b");
  EXPECT_NEAR(j["series"][0]["points"][1]["change"].get<double>(), 0.2, 1e-9);
  EXPECT_EQ(j["series"][0]["points"][1]["labels"]["model"], "net.py");
}

TEST_F(HistoryTest, ThePictureEscapesAndStaysFinite) {
  Add("<b>&\"", 10)->set_high_us(std::numeric_limits<double>::infinity());
  const std::string one = HistorySvg(Make());
  EXPECT_THAT(one, Not(HasSubstr("<b>")));
  EXPECT_THAT(one, HasSubstr("&lt;b&gt;"));
  for (int i = 0; i < 300; ++i) Add(std::to_string(i), 10 + i % 7, "n", "target" + std::to_string(i % 12));
  const std::string many = HistorySvg(Make());
  for (const std::string& picture : {one, many, HistorySvg(MakeHistory({}, "commit"))}) {
    EXPECT_THAT(picture, Not(HasSubstr("nan")));
    EXPECT_THAT(picture, Not(HasSubstr("inf,")));
  }
  EXPECT_THAT(many, HasSubstr("more are not shown"));
}

TEST(ParseSinceTest, AgesDaysAndTimes) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  EXPECT_EQ(*ParseSince("", now), "");
  EXPECT_EQ(*ParseSince("1d", now), "2027-01-14T08:00:00Z");
  EXPECT_EQ(*ParseSince("2h", now), "2027-01-15T06:00:00Z");
  EXPECT_EQ(*ParseSince("2026-11-25", now), "2026-11-25T00:00:00Z");
  EXPECT_EQ(*ParseSince("2026-11-25T08:00:00+01:00", now), "2026-11-25T07:00:00Z");
  for (const char* wrong : {"d", "-1d", "yesterday", "1e99d", "2026-13-01"})
    EXPECT_FALSE(ParseSince(wrong, now).ok()) << wrong;
}

}  // namespace
}  // namespace cobra::client
