#include "worker/queue/exchange.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "store/record_file.h"

namespace cobra::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSession[] =
    R"({"kind":"session","session":"s1","machine":{"name":"cpu-x-1t","device":"A \"fast\", big one","kind":"cpu","threads":1,"peak_gflops":106.1},"environment":{"torch":"1.13","load":0.5}})";
constexpr char kRecord[] =
    R"({"kind":"record","session":"s1","space":"asked","index":3,"repeat":0,"is_network":false,"label":"relu","fingerprint":"00","outcome":"ok","latency_us":5.25,"p10_us":5.0,"p90_us":6.0,"min_us":4.5,"mean_us":5.3,"runs":10,"batch":4,"target":"gpu-x","cache":"cold","device_us":4.75,"energy_j":0.5,"clock_before_mhz":1980.0,"temperature_c":41.0,"graph":{"inputs":[{"name":"x","shape":[1,4],"dtype":"float32"}],"ops":[{"op":"relu","inputs":["in:0"],"out":[[1,4]],"attrs":{}}],"output":[0]}})";

std::string Lines() { return absl::StrCat(kSession, "\n", kRecord, "\n"); }

TEST(ExchangeTest, ThereAndBackIsTheSame) {
  const auto csv = RecordsToCsv(Lines());
  ASSERT_TRUE(csv.ok()) << csv.status();
  const auto back = CsvToRecords(*csv);
  ASSERT_TRUE(back.ok()) << back.status();
  const CheckedRecords before = CheckRecords(Lines()), after = CheckRecords(*back);
  EXPECT_THAT(before.problems, ElementsAre());
  EXPECT_THAT(after.problems, ElementsAre());
  EXPECT_EQ(before.records, 1);
  const auto record_of = [](const CheckedRecords& c) { return c.json_lines.substr(c.json_lines.find('\n') + 1); };
  EXPECT_EQ(record_of(before), record_of(after));
  EXPECT_THAT(after.json_lines, HasSubstr(R"("device":"A \"fast\", big one")"));
  EXPECT_THAT(after.json_lines, HasSubstr(R"("peak_gflops":106.1)"));
  for (const char* field : {R"("target":"gpu-x")", R"("cache":"cold")", R"("device_us":4.75)", R"("energy_j":0.5)",
                            R"("clock_before_mhz":1980.0)"}) {
    EXPECT_THAT(after.json_lines, HasSubstr(field));
  }
}

TEST(ExchangeTest, WhatIsWrongIsNamedByLineAndLeftOut) {
  const auto changed = [](absl::string_view from, absl::string_view to) {
    return CheckRecords(absl::StrCat(kSession, "\n", absl::StrReplaceAll(kRecord, {{from, to}}), "\n"));
  };
  const auto expect = [](const CheckedRecords& checked, const std::string& words) {
    EXPECT_EQ(checked.records, 0) << words;
    ASSERT_EQ(checked.problems.size(), 1u) << words;
    EXPECT_THAT(checked.problems[0], HasSubstr("line 2: "));
    EXPECT_THAT(checked.problems[0], HasSubstr(words));
  };
  expect(changed("\"latency_us\":5.25", "\"latency_us\":-3"), "is not a time");
  expect(changed("\"p90_us\":6.0", "\"p90_us\":5.1"), "not in order");
  expect(changed("\"outcome\":\"ok\"", "\"outcome\":\"fine\""), "outcome");
  expect(changed("\"relu\",\"inputs\"", "\"no_op_of_ours\",\"inputs\""), "no_op_of_ours");
  expect(changed("\"session\":\"s1\"", "\"session\":\"s2\""), "s2");
  expect(changed("\"graph\":{", "\"node_latency_us\":[1,2],\"graph\":{"), "2 numbers for 1 call");
  EXPECT_EQ(CheckRecords(absl::StrCat(Lines(), kRecord, "\n")).problems.size(), 1u);
}

// Index 3 of another seed is another sample; a session that goes on with the same seed must not
// have it again.
TEST(ExchangeTest, SeriesOfSeveralSeedsStandInOneFile) {
  const auto with = [](absl::string_view session, int seed) {
    const std::string name = absl::StrCat("\"session\":\"", session, "\"");
    return absl::StrCat(absl::StrReplaceAll(kSession, {{"\"session\":\"s1\"", name}}), "\n",
                        absl::StrReplaceAll(kRecord, {{"\"session\":\"s1\"", absl::StrCat(name, ",\"seed\":", seed)}}),
                        "\n");
  };
  EXPECT_THAT(CheckRecords(with("s1", 1) + with("s2", 2)).problems, ElementsAre());
  EXPECT_THAT(CheckRecords(with("s1", 1) + with("s2", 1)).problems, ElementsAre("line 4: asked@1/3/0: occurs twice"));
}

TEST(ExchangeTest, ACsvOfOthersNeedsLittle) {
  const std::string graph =
      absl::StrReplaceAll(std::string(kRecord).substr(std::string(kRecord).find("{\"inputs\"")), {{"\"", "\"\""}});
  const auto lines =
      CsvToRecords(absl::StrCat("outcome,latency_us,graph\nok,12.5,\"", graph.substr(0, graph.size() - 1), "\"\n"));
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_THAT(CheckRecords(*lines).problems, ElementsAre());
  EXPECT_THAT(std::string(CsvToRecords("outcome,graph\n").status().message()), HasSubstr("latency_us"));
  EXPECT_THAT(std::string(CsvToRecords("outcome,latency_us,graph\nok,fast,\n").status().message()),
              HasSubstr("line 2: latency_us \"fast\""));
}

TEST(ExchangeTest, OurOwnMeasurementsAreInOrder) {
  const auto text = store::ReadRecordFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/networks.jsonl.xz");
  ASSERT_TRUE(text.ok());
  const auto about = ReadFile(COBRA_SOURCE_DIR "/data/measurements/cpu-epyc-genoa-1t/session.json");
  ASSERT_TRUE(about.ok());
  const nlohmann::json written = nlohmann::json::parse(*about);
  std::string sessions;
  for (const auto& session : written["sessions"]) absl::StrAppend(&sessions, session.dump(), "\n");
  const CheckedRecords checked = CheckRecords(sessions + *text);
  EXPECT_THAT(checked.problems, ElementsAre());
  EXPECT_GT(checked.records, 700);
}

}  // namespace
}  // namespace cobra::worker
