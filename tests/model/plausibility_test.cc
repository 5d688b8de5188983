#include "model/predict/target/plausibility.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "store/record_file.h"

namespace cobra::predict {
namespace {

using testing::HasSubstr;

graph::Graph Relu(int64_t width) {
  graph::NetBuilder builder;
  const graph::ValueRef y = builder.Relu(builder.Input({1, width}));
  return *std::move(builder).Finish({y});
}

graph::Graph Linear(int64_t width) {
  graph::NetBuilder builder;
  const graph::ValueRef y = builder.Linear(builder.Input({64, width}), width);
  return *std::move(builder).Finish({y});
}

TargetSpec Machine() {
  TargetSpec machine;
  machine.name = "this-machine";
  machine.peak_gflops = 100;
  machine.memory_gb_per_s = 20;
  return machine;
}

void Add(const graph::Graph& graph, double latency_us, ProbeResult* probe) {
  store::Measurement record;
  record.latency.median_us = latency_us;
  store::SetGraph(graph, &record.subject);
  probe->records.push_back(std::move(record));
}

// Eight relus of 1 us, and eight products at half the machine's peak; times `factor`.
ProbeResult Probe(double factor) {
  ProbeResult probe;
  probe.machine = Machine();
  for (int64_t i = 1; i <= 8; ++i) {
    Add(Relu(64 * i), 1 * factor, &probe);
    Add(Linear(128 * i), factor * 2e-3 * 64 * static_cast<double>(128 * i * 128 * i) / 50, &probe);
  }
  return probe;
}

std::string Refused(const absl::Status& status) {
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

TEST(PlausibilityTest, WhatNoDeviceDoesIsRefused) {
  const TargetSpec machine = Machine();
  EXPECT_TRUE(CheckPlausible(Linear(1024), 3000, &machine).ok());
  EXPECT_TRUE(CheckPlausible(Linear(1024), 3000, nullptr).ok());
  for (const double us : {1e-320, 0.001, 20.0, 1e9, 1e308, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THAT(Refused(CheckPlausible(Linear(1024), us, &machine)), HasSubstr("this-machine")) << us;
  EXPECT_THAT(Refused(CheckPlausible(Relu(4), 1e6, nullptr)), HasSubstr("any device"));
  EXPECT_THAT(Refused(CheckPlausible(graph::Graph(), 5, &machine)), HasSubstr("no calls"));
}

TEST(PlausibilityTest, ShippedMeasurementsArePlausible) {
  const std::string folder = absl::StrCat(COBRA_SOURCE_DIR, "/data/measurements/");
  for (const char* file : {"cpu-epyc-turin-1t/networks", "cpu-xeon-sapphirerapids-1t/layers"}) {
    const std::string path = absl::StrCat(folder, file);
    const auto spec = TargetSpecFromJson(*ReadFile(absl::StrCat(path.substr(0, path.rfind('/')), "/target.json")));
    ASSERT_TRUE(spec.ok()) << spec.status();
    const auto text = store::ReadRecordFile(absl::StrCat(path, ".jsonl.xz"));
    ASSERT_TRUE(text.ok()) << text.status();
    int checked = 0;
    for (absl::string_view line : absl::StrSplit(*text, '\n')) {
      const auto row = store::MeasurementFromJson(line);
      if (!row.ok() || row->outcome != store::Outcome::ok) continue;
      const absl::Status status = CheckPlausible(row->subject.graph, row->latency.median_us, &*spec);
      EXPECT_TRUE(status.ok()) << row->subject.Key() << " " << row->subject.label << ": " << status;
      ++checked;
    }
    EXPECT_GT(checked, 300) << file;
  }
}

TEST(PlausibilityTest, ShippedProbesArePlausible) {
  for (const char* target : {"cpu-epyc-genoa-1t", "cpu-epyc-turin-1t", "cpu-xeon-cascadelake-1t",
                             "cpu-xeon-emeraldrapids-1t", "cpu-xeon-sapphirerapids-1t"}) {
    const auto text = ReadFile(absl::StrCat(COBRA_SOURCE_DIR, "/data/measurements/", target, "/probe.json"));
    ASSERT_TRUE(text.ok()) << text.status();
    const auto probe = ProbeResultFromJson(*text);
    ASSERT_TRUE(probe.ok()) << probe.status();
    const absl::Status status = CheckProbe(*probe);
    EXPECT_TRUE(status.ok()) << target << ": " << status;
  }
}

TEST(PlausibilityTest, AProbeChecksItself) {
  EXPECT_TRUE(CheckProbe(Probe(1)).ok()) << CheckProbe(Probe(1));
  // Milliseconds and nanoseconds for microseconds.
  EXPECT_THAT(Refused(CheckProbe(Probe(1e-3))), HasSubstr("latency_us"));
  EXPECT_THAT(Refused(CheckProbe(Probe(1e3))), HasSubstr("latency_us"));
  EXPECT_THAT(Refused(CheckProbe(Probe(100))), HasSubstr("latency_us is in microseconds"));
  ProbeResult probe = Probe(1);
  Add(Relu(64), 3, &probe);
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("one layer took 1 us and 3 us"));
  // Ten times the same layer is one layer.
  probe = {Machine(), {}};
  for (int i = 0; i < 10; ++i) Add(Relu(64), 1, &probe);
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("1 different layers"));
}

TEST(PlausibilityTest, AMachineIsDescribedByPossibleNumbers) {
  ProbeResult probe = Probe(1);
  probe.machine.peak_gflops = -5;
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("peak_gflops -5"));
  probe = Probe(1);
  probe.machine.cores = 1e308;
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("cores"));
  probe = Probe(1);
  probe.machine.device = "a\x1b[31m";
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("control character"));
  probe = Probe(1);
  probe.machine.precision = "float7";
  EXPECT_THAT(Refused(CheckProbe(probe)), HasSubstr("precision \"float7\""));
}

TEST(PlausibilityTest, DoubtDependsOnWhatTheModelKnows) {
  EXPECT_EQ(DoubtAbout(11, 10, false), "");
  EXPECT_EQ(DoubtAbout(50, 10, false), "50 us is 5 times more than the predicted 10 us");
  EXPECT_EQ(DoubtAbout(2, 10, false), "2 us is 5 times less than the predicted 10 us");
  EXPECT_EQ(DoubtAbout(50, 10, true), "");
  EXPECT_NE(DoubtAbout(150, 10, true), "");
}

}  // namespace
}  // namespace cobra::predict
