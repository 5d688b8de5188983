#include "store/measurement.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "store/json_cut.h"
#include "store/measurement_json.h"
#include "tests/store/a_graph.h"

namespace cobra::store {
namespace {

using testing::HasSubstr;

Measurement AMeasurement() {
  Measurement m;
  m.subject.space = "real-layers";
  m.subject.seed = 20261120;
  m.subject.index = 17;
  m.subject.repeat = 1;
  m.subject.label = "relu";
  SetGraph(AGraph(), &m.subject);
  m.conditions.session = "s";
  m.conditions.target = "gpu-x-tf32";
  m.conditions.cache = "cold";
  m.conditions.canary_ratio = 1.02;
  m.conditions.canary_copy_ratio = 0.9;
  m.conditions.suspect = true;
  m.conditions.load = 0.5;
  m.conditions.time_utc = "2026-11-20T08:40:00Z";
  m.conditions.clock_before_mhz = 1980;
  m.conditions.temperature_c = 41.00049;
  m.latency.median_us = 12.5;
  m.latency.p10_us = 12;
  m.latency.ci_high_us = 13;
  m.latency.runs = 10;
  m.latency.batch = 2;
  m.latency.cold_us = 400;
  m.latency.device_us = 11.50049;
  m.peak_memory_bytes = 4096;
  m.energy_j = 0.000125;
  m.node_latency_us = {1.50049, 2.25};
  return m;
}

// Other tools read these lines: names, order and digits stay what they are.
TEST(MeasurementTest, AJsonLineIsWrittenByteForByte) {
  const Subject subject = AMeasurement().subject;
  EXPECT_EQ(
      MeasurementToJson(AMeasurement()),
      absl::StrCat(
          R"({"kind":"record","session":"s","target":"gpu-x-tf32","cache":"cold","space":"real-layers","seed":20261120,)"
          R"("index":17,"repeat":1,"is_network":false,"label":"relu","fingerprint":")",
          subject.fingerprint,
          R"(","outcome":"ok",)"
          R"("latency_us":12.5,"p10_us":12.0,"p90_us":0.0,"min_us":0.0,"mean_us":0.0,"ci_low_us":0.0,"ci_high_us":13.0,)"
          R"("runs":10,"batch":2,"cold_us":400.0,"device_us":11.5,"peak_memory_bytes":4096,"energy_j":0.000125,)"
          R"("node_latency_us":[1.5,2.25],"canary_ratio":1.02,"canary_copy_ratio":0.9,"suspect":true,"load":0.5,)"
          R"("time_utc":"2026-11-20T08:40:00Z","clock_before_mhz":1980.0,"temperature_c":41.0,)"
          R"("graph":)",
          graph::GraphToJson(subject.graph, {/*origins=*/false}), "}"));
  EXPECT_EQ(MeasurementToJson(Measurement()),
            R"({"kind":"record","session":"","space":"","index":0,"repeat":0,"is_network":false,"label":"",)"
            R"("fingerprint":"","outcome":"ok","latency_us":0.0,"p10_us":0.0,"p90_us":0.0,"min_us":0.0,"mean_us":0.0,)"
            R"("ci_low_us":0.0,"ci_high_us":0.0,"runs":0,"batch":1,"cold_us":0.0,"canary_ratio":1.0,)"
            R"("canary_copy_ratio":1.0,"load":0.0,"time_utc":""})");
}

TEST(MeasurementTest, SurvivesTheRoundTrip) {
  const std::string line = MeasurementToJson(AMeasurement());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const absl::StatusOr<Measurement> after = MeasurementFromJson(line);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(MeasurementToJson(*after), line);
  EXPECT_EQ(after->subject.Key(), "real-layers@20261120/17/1");
  EXPECT_EQ(after->subject.Name(), "real-layers@20261120/17");
  EXPECT_EQ(graph::GraphToJson(after->subject.graph), graph::GraphToJson(AMeasurement().subject.graph));
  EXPECT_EQ(after->node_latency_us, (std::vector<double>{1.5, 2.25}));
  EXPECT_EQ(after->peak_memory_bytes, 4096);
  EXPECT_EQ(after->energy_j, 0.000125);
  EXPECT_EQ(after->conditions.clock_before_mhz, 1980);
  EXPECT_FALSE(after->conditions.clock_after_mhz.has_value());
}

TEST(MeasurementTest, TheLargestNumbersSurviveTheRoundTrip) {
  Measurement m = AMeasurement();
  m.latency.median_us = 1e308;
  m.node_latency_us = {-1e306, 1e15};
  const absl::StatusOr<Measurement> after = MeasurementFromJson(MeasurementToJson(m));
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->latency.median_us, 1e308);
  EXPECT_EQ(after->node_latency_us, m.node_latency_us);
}

TEST(MeasurementTest, WhatTheMachineDoesNotReportIsAbsent) {
  Measurement m = AMeasurement();
  m.latency.device_us = 0;
  m.peak_memory_bytes = 0;
  m.energy_j = m.conditions.temperature_c = std::nullopt;
  const std::string line = MeasurementToJson(m, {.graph = false});  // a graph has a "peak_memory_bytes", too
  for (const char* name : {"device_us", "peak_memory_bytes", "energy_j", "temperature_c", "power_w"}) {
    EXPECT_EQ(line.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(MeasurementToJson(m, {.graph = false}).find("\"graph\""), std::string::npos);
}

TEST(MeasurementTest, AFailureHasNoLatency) {
  Measurement m = AMeasurement();
  m.outcome = Outcome::out_of_memory;
  m.message = "conv2d: out of memory";
  const std::string line = MeasurementToJson(m);
  EXPECT_EQ(line.find("latency_us"), std::string::npos);
  const absl::StatusOr<Measurement> after = MeasurementFromJson(line);
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->outcome, Outcome::out_of_memory);
  EXPECT_EQ(after->message, m.message);
}

TEST(MeasurementTest, RefusesWhatIsNone) {
  EXPECT_FALSE(MeasurementFromJson("").ok());
  EXPECT_FALSE(MeasurementFromJson("[1]").ok());
  EXPECT_TRUE(absl::IsNotFound(MeasurementFromJson(R"({"kind":"session"})").status()));
  EXPECT_FALSE(MeasurementFromJson(R"({"kind":"record"})").ok());
  EXPECT_FALSE(MeasurementFromJson(R"({"kind":"record","outcome":"well"})").ok());
  const absl::Status status = MeasurementFromJson(R"({"kind":"record","outcome":"ok","runs":"ten"})").status();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("\"runs\""));
  const std::string cut = MeasurementToJson(AMeasurement()).substr(0, 100);  // by a full disk
  EXPECT_FALSE(MeasurementFromJson(cut).ok());
}

TEST(MeasurementTest, FieldsThatAreAbsentKeepWhatTheyHave) {
  Measurement m = AMeasurement();
  ASSERT_TRUE(MergeFields(nlohmann::ordered_json::parse(R"({"label":"conv2d","power_w":null,"more":1})"), &m).ok());
  EXPECT_EQ(m.subject.label, "conv2d");
  EXPECT_EQ(m.subject.space, "real-layers");
  EXPECT_EQ(FieldsToJson(m, {"label", "seed", "latency_us"}),
            R"({"label":"conv2d","seed":20261120,"latency_us":12.5})");
}

// Two reads of one text give one graph, and another text another one.
TEST(MeasurementTest, AGraphIsParsedOncePerText) {
  GraphReader graphs;
  const std::string line = MeasurementToJson(AMeasurement());
  const auto first = MeasurementFromJson(line, &graphs), second = MeasurementFromJson(line, &graphs);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status();
  EXPECT_EQ(first->subject.graph.nodes().data(), second->subject.graph.nodes().data());
  EXPECT_EQ(second->subject.fingerprint, AMeasurement().subject.fingerprint);
  Measurement other = AMeasurement();
  SetGraph(AGraph(9), &other.subject);
  const auto third = MeasurementFromJson(MeasurementToJson(other), &graphs);
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(third->subject.fingerprint, other.subject.fingerprint);
}

TEST(MeasurementTest, AGraphThatOurRulesRefuseIsNamed) {
  std::string line = MeasurementToJson(AMeasurement());
  line = absl::StrReplaceAll(line, {{R"("op":"relu")", R"("op":"no_such_operator")"}});
  const absl::Status status = MeasurementFromJson(line).status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), testing::AllOf(HasSubstr("graph: "), HasSubstr("no_such_operator")));
}

// However the line is written, its graph is found, and everything else is read.
TEST(SplitRecordTest, FindsTheGraphInAnyText) {
  for (const char* text :
       {R"({"graph":{"a":["]","\"}"]},"label":"l"})", R"( { "label" : "l" , "graph" : {"a":["]","\"}"]} } )",
        R"({"label":"l","gr\u0061ph":{"a":["]","\"}"]}})"}) {
    const RecordParts parts = SplitRecord(text);
    ASSERT_TRUE(parts.fields.is_object()) << text;
    EXPECT_EQ(parts.fields["label"], "l");
    EXPECT_EQ(parts.graph_json, R"({"a":["]","\"}"]})") << text;
  }
  EXPECT_EQ(SplitRecord(R"({"label":"graph","more":{"graph":1}})").graph_json, "");
  EXPECT_EQ(SplitRecord(R"({"graph":null})").graph_json, "");
  for (const char* text : {"", "[", R"({"graph":{)", R"({"graph":"a)", R"({"graph":1,"graph":2)", R"({"graph":1]})"})
    EXPECT_FALSE(SplitRecord(text).fields.is_object()) << text;
}

TEST(MemberTextTest, OnlyOfWhatIsThereOnce) {
  EXPECT_EQ(MemberText(R"({"a":1,"b":"x,}\"","c":[{}]})", "a"), "1");
  EXPECT_EQ(MemberText(R"({"a":1,"b":"x,}\"","c":[{}]})", "b"), R"("x,}\"")");
  EXPECT_EQ(MemberText(R"({"a":1,"b":"x,}\"","c":[{}]})", "c"), "[{}]");
  for (const char* text : {R"({"a":1,"a":2})", R"([{"a":1}])", R"({"a")", R"({"a":)", R"({"a":1)", R"({"a":1,})"})
    EXPECT_EQ(MemberText(text, "a"), "") << text;
}

// The table of fields is complete: a value set to something else shows in every form.
TEST(MeasurementTest, EveryFieldHasANameAndAColumn) {
  const nlohmann::ordered_json all = nlohmann::ordered_json::parse(MeasurementToJson(AMeasurement()));
  std::vector<std::string> names, columns;
  for (const MeasurementField& field : MeasurementFields()) names.emplace_back(field.name);
  for (const MeasurementField& field : MeasurementCsvFields()) columns.emplace_back(field.name);
  for (const auto& [name, value] : all.items()) {
    if (name == "kind") continue;
    EXPECT_EQ(std::count(names.begin(), names.end(), name), 1) << name;
  }
  EXPECT_THAT(columns, testing::UnorderedElementsAreArray(names));
}

// Fields that a document does not name in the first column of a table.
std::vector<std::string> FieldsMissingFrom(absl::string_view document) {
  std::string names;
  for (absl::string_view line : absl::StrSplit(document, '\n')) {
    const std::vector<absl::string_view> cells = absl::StrSplit(line, absl::MaxSplits('|', 2));
    if (cells.size() == 3) absl::StrAppend(&names, cells[1]);
  }
  std::vector<std::string> missing;
  for (const MeasurementField& field : MeasurementFields()) {
    if (!absl::StrContains(names, absl::StrCat("`", field.name, "`"))) missing.emplace_back(field.name);
  }
  return missing;
}

TEST(MeasurementTest, EveryFieldIsDocumented) {
  const auto document = ReadFile(COBRA_SOURCE_DIR "/docs/measurements.md");
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_THAT(FieldsMissingFrom(*document), testing::IsEmpty());
  const std::string without = absl::StrReplaceAll(*document, {{"`cold_us` |", "|"}});
  EXPECT_THAT(FieldsMissingFrom(without), testing::ElementsAre("cold_us"));
}

TEST(MeasurementTest, LatenciesAreTimesAndInOrder) {
  Measurement m;
  EXPECT_FALSE(CheckLatency(m).ok());
  m.latency.median_us = 5;
  EXPECT_TRUE(CheckLatencies(m).ok());
  m.latency.p90_us = 4;
  EXPECT_TRUE(CheckLatency(m).ok());
  EXPECT_THAT(std::string(CheckLatencies(m).message()), HasSubstr("not in order"));
  m.outcome = Outcome::timeout;
  m.latency.median_us = 0;
  EXPECT_TRUE(CheckLatencies(m).ok());
}

TEST(MeasurementTest, OutcomesHaveTheNamesOfTheFormat) {
  EXPECT_EQ(OutcomeName(Outcome::ok), "ok");
  EXPECT_EQ(OutcomeName(Outcome::out_of_memory), "out_of_memory");
  EXPECT_EQ(OutcomeName(Outcome::timeout), "timeout");
  EXPECT_EQ(OutcomeName(Outcome::unsupported), "unsupported");
  EXPECT_EQ(OutcomeName(Outcome::crashed), "crashed");
}

}  // namespace
}  // namespace cobra::store
