#include "store/record.h"

#include "gtest/gtest.h"

namespace cobra::store {
namespace {

Record ARecord() {
  Record record;
  record.session = "s";
  record.space = "real-layers";
  record.seed = 20261120;
  record.index = 17;
  record.repeat = 1;
  record.label = "relu";
  record.fingerprint = "00ff";
  record.graph_json = R"({"inputs":[],"ops":[]})";
  record.latency.median_us = 12.5;
  record.latency.p10_us = 12;
  record.latency.ci_high_us = 13;
  record.latency.runs = 10;
  record.latency.batch = 2;
  record.latency.cold_us = 400;
  record.peak_memory_bytes = 4096;
  record.node_latency_us = {1.5, 2.25};
  record.canary_ratio = 1.02;
  record.canary_copy_ratio = 0.9;
  record.suspect = true;
  record.load = 0.5;
  record.time_utc = "2026-11-20T08:40:00Z";
  record.target = "gpu-x-tf32";
  record.cache = "cold";
  record.latency.device_us = 11.5;
  record.energy_j = 0.000125;
  record.clock_before_mhz = 1980;
  record.temperature_c = 41;
  return record;
}

TEST(RecordTest, SurvivesTheRoundTrip) {
  const Record before = ARecord();
  const std::string line = RecordToJson(before);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const absl::StatusOr<Record> after = RecordFromJson(line);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(RecordToJson(*after), line);
  EXPECT_EQ(after->Key(), "real-layers@20261120/17/1");
  EXPECT_EQ(after->node_latency_us, before.node_latency_us);
  EXPECT_EQ(after->graph_json, before.graph_json);
  EXPECT_EQ(after->peak_memory_bytes, 4096);
  EXPECT_EQ(after->latency.device_us, 11.5);
  EXPECT_EQ(after->energy_j, 0.000125);
  EXPECT_EQ(after->clock_before_mhz, 1980);
  EXPECT_EQ(after->temperature_c, 41);
  EXPECT_FALSE(after->clock_after_mhz.has_value());
  EXPECT_EQ(after->target, "gpu-x-tf32");
  EXPECT_EQ(after->cache, "cold");
}

TEST(RecordTest, WhatTheMachineDoesNotSayIsAbsent) {
  Record record = ARecord();
  record.latency.device_us = 0;
  record.peak_memory_bytes = 0;
  record.energy_j = record.temperature_c = std::nullopt;
  const std::string line = RecordToJson(record);
  for (const char* name : {"device_us", "peak_memory_bytes", "energy_j", "temperature_c", "power_w"}) {
    EXPECT_EQ(line.find(name), std::string::npos) << name;
  }
}

TEST(RecordTest, AFailureHasNoLatency) {
  Record record = ARecord();
  record.outcome = Outcome::out_of_memory;
  record.message = "conv2d: out of memory";
  const std::string line = RecordToJson(record);
  EXPECT_EQ(line.find("latency_us"), std::string::npos);
  const absl::StatusOr<Record> after = RecordFromJson(line);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->outcome, Outcome::out_of_memory);
  EXPECT_EQ(after->message, record.message);
}

TEST(RecordTest, RefusesWhatIsNoRecord) {
  EXPECT_FALSE(RecordFromJson("").ok());
  EXPECT_FALSE(RecordFromJson("[1]").ok());
  EXPECT_FALSE(RecordFromJson(R"({"kind":"session"})").ok());
  EXPECT_FALSE(RecordFromJson(R"({"kind":"record","outcome":"well"})").ok());
  EXPECT_FALSE(RecordFromJson(R"({"kind":"record","outcome":"ok","runs":"ten"})").ok());
  EXPECT_FALSE(RecordFromJson(RecordToJson(ARecord()).substr(0, 100)).ok());  // cut short by a full disk
}

TEST(RecordTest, OutcomesHaveTheNamesOfTheFormat) {
  EXPECT_EQ(OutcomeName(Outcome::ok), "ok");
  EXPECT_EQ(OutcomeName(Outcome::out_of_memory), "out_of_memory");
  EXPECT_EQ(OutcomeName(Outcome::timeout), "timeout");
  EXPECT_EQ(OutcomeName(Outcome::unsupported), "unsupported");
  EXPECT_EQ(OutcomeName(Outcome::crashed), "crashed");
}

}  // namespace
}  // namespace cobra::store
