#include "model/predict/target/timings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "graph/form/graph_bytes.h"
#include "model/predict/adapt/adapt_samples.h"
#include "model/predict/target/sheet_check.h"
#include "model/predict/target/timing_level.h"

namespace cobra::predict {
namespace {

graph::Graph Perceptron(int64_t width) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({64, width});
  for (int i = 0; i < 3; ++i) x = b.ReluInPlace(b.Linear(x, width));
  return std::move(b).Finish({x}).value();
}

TargetSpec Machine() {
  TargetSpec spec;
  spec.kind = "cpu";
  spec.peak_gflops = 100;
  return spec;
}

TargetSpec SheetOf(const char* kind, const char* device, const char* runtime) {
  TargetSpec sheet;
  sheet.kind = kind;
  sheet.device = device;
  sheet.runtime = runtime;
  return sheet;
}

std::vector<store::TimedNetwork> Rows(const std::vector<std::pair<int64_t, double>>& widths_and_us) {
  std::vector<store::TimedNetwork> rows;
  for (const auto& [width, us] : widths_and_us)
    rows.push_back({std::to_string(rows.size() + 1), Perceptron(width), us, 1});
  return rows;
}

TEST(Timings, WhatIsNoTimeIsRefusedWithItsRow) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  for (const double us : {0.0, -1.0, nan, infinite, 3.6e9, 1e-3, 1e8}) {
    const CheckedTimings checked = CheckTimings(Rows({{64, 500}, {96, us}}), Machine(), {});
    ASSERT_EQ(checked.refused.size(), 1U) << us;
    EXPECT_EQ(checked.refused[0].row, "2");
    EXPECT_EQ(checked.refused[0].why.message().substr(0, 10), "latency_ms");
    EXPECT_EQ(checked.records.size(), 1U);
  }
}

TEST(Timings, OneNetworkHasOneMedian) {
  const CheckedTimings checked = CheckTimings(Rows({{64, 500}, {96, 800}, {64, 700}, {64, 520}}), Machine(), {});
  EXPECT_TRUE(checked.refused.empty());
  ASSERT_EQ(checked.records.size(), 2U);
  EXPECT_EQ(checked.records[0].latency.median_us, 520);
  EXPECT_EQ(checked.records[0].latency.runs, 3);
}

// So that a target that is exported and imported is the same.
TEST(Timings, AMedianIsWhatIsStored) {
  const CheckedTimings checked = CheckTimings(Rows({{64, 500.0004}, {64, 501.0007}, {96, 800.00049}}), Machine(), {});
  ASSERT_EQ(checked.records.size(), 2U);
  EXPECT_EQ(checked.records[0].latency.median_us, 500.501);
  EXPECT_EQ(checked.records[1].latency.median_us, 800);
}

TEST(CheckUnits, AHalfInAnotherUnitIsNoticed) {
  for (const size_t count : {4U, 6U, 10U}) {
    std::vector<store::TimedNetwork> samples;
    std::vector<double> errors;  // of the data sheet
    for (size_t i = 0; i < count; ++i) {
      samples.push_back({"row " + std::to_string(i + 1), {}, 1000});
      errors.push_back(0.1 * static_cast<double>(i) - (i % 2 == 1 ? std::log(1000) : 0));
    }
    const absl::Status status = CheckUnits(samples, errors);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()).substr(0, 4), "row ");
    EXPECT_NE(status.message().find("too long beside row"), absl::string_view::npos) << status;
    for (size_t i = 1; i < count; i += 2) errors[i] += std::log(1000);
    EXPECT_TRUE(CheckUnits(samples, errors).ok());
  }
}

TEST(Timings, MediansMoreThanTwofoldApartAreRefused) {
  CheckedTimings checked = CheckTimings(Rows({{64, 500}, {64, 1100}, {64, 200}}), Machine(), {});
  ASSERT_EQ(checked.refused.size(), 2U);
  EXPECT_NE(checked.refused[0].why.message().find("the median of its rows"), std::string::npos);
  checked = CheckTimings(Rows({{64, 1100}}), Machine(), checked.records);  // and from what is known
  EXPECT_EQ(checked.refused.size(), 1U);
}

TEST(Timings, OneBadRowDoesNotSpeakAgainstTheOthers) {
  const CheckedTimings of_many = CheckTimings(Rows({{64, 4500}, {64, 500}, {64, 510}, {64, 490}}), Machine(), {});
  ASSERT_EQ(of_many.refused.size(), 1U);
  EXPECT_EQ(of_many.refused[0].row, "1");
  EXPECT_EQ(of_many.records[0].latency.median_us, 500);
  const CheckedTimings of_two = CheckTimings(Rows({{64, 500}, {64, 1100}}), Machine(), {});
  ASSERT_EQ(of_two.refused.size(), 1U);
  EXPECT_NE(of_two.refused[0].why.message().find("of row 1"), std::string::npos);
  // Each near the middle, and not near each other.
  EXPECT_FALSE(CheckTimings(Rows({{64, 500}, {64, 950}, {64, 255}}), Machine(), {}).refused.empty());
}

// Timings of six networks, and what they take at another level.
class TimingLevelTest : public testing::Test {
 protected:
  static std::vector<std::pair<int64_t, double>> Timed(size_t networks, double factor) {
    std::vector<std::pair<int64_t, double>> rows;
    for (size_t i = 0; i < networks; ++i)
      rows.push_back({static_cast<int64_t>(64 + 32 * i), factor * (500 + 300 * static_cast<double>(i))});
    return rows;
  }
  static std::vector<store::Measurement> Earlier(size_t networks) {
    return CheckTimings(Rows(Timed(networks, 1)), Machine(), {}).records;
  }
};

TEST_F(TimingLevelTest, NetworksThatAgreeAreAnotherLevel) {
  for (const double factor : {2.6, 1.6, 0.4}) {
    const auto level = FindNewLevel(Rows(Timed(6, factor)), Earlier(6));
    ASSERT_TRUE(level.has_value()) << factor;
    EXPECT_NEAR(level->factor, factor, 0.01 * factor);
    EXPECT_EQ(level->networks, 6U);
  }
  EXPECT_FALSE(FindNewLevel(Rows(Timed(6, 1.4)), Earlier(6)).has_value());  // joined by their medians
  EXPECT_FALSE(FindNewLevel(Rows(Timed(6, 100)), Earlier(6)).has_value());  // a unit
  EXPECT_FALSE(FindNewLevel(Rows({{512, 9000}}), Earlier(6)).has_value());  // says nothing of the others
}

TEST_F(TimingLevelTest, FewNetworksDoNotOverruleMany) {
  EXPECT_TRUE(FindNewLevel(Rows(Timed(2, 3)), Earlier(6)).has_value());
  EXPECT_FALSE(FindNewLevel(Rows(Timed(1, 3)), Earlier(6)).has_value());
  EXPECT_FALSE(FindNewLevel(Rows(Timed(2, 3)), Earlier(7)).has_value());
  EXPECT_TRUE(FindNewLevel(Rows(Timed(1, 3)), Earlier(1)).has_value());
  EXPECT_FALSE(FindNewLevel(Rows(Timed(1, 1.9)), Earlier(1)).has_value());
  EXPECT_FALSE(FindNewLevel(Rows(Timed(1, 3)), Earlier(2)).has_value());
}

TEST_F(TimingLevelTest, NetworksThatDisagreeAreNone) {
  std::vector<std::pair<int64_t, double>> rows = Timed(4, 3);
  rows[3].second /= 3;
  EXPECT_TRUE(FindNewLevel(Rows(rows), Earlier(4)).has_value());  // one of four may be wrong
  rows[2].second /= 3;
  EXPECT_FALSE(FindNewLevel(Rows(rows), Earlier(4)).has_value());
}

TEST_F(TimingLevelTest, WhatIsScaledIsNotRefused) {
  std::vector<store::Measurement> earlier = Earlier(4);
  std::vector<std::pair<int64_t, double>> rows = Timed(4, 3);
  rows[3].second = 1400;  // as before: the others say that it should take three times as long
  ScaleTimings(FindNewLevel(Rows(rows), earlier)->factor, &earlier);
  const CheckedTimings checked = CheckTimings(Rows(rows), Machine(), earlier);
  EXPECT_EQ(checked.records.size(), 3U);
  ASSERT_EQ(checked.refused.size(), 1U);
  EXPECT_EQ(checked.refused[0].row, "4");
}

TEST(Timings, FurtherOnesCountByTheirNumbers) {
  ProbeResult probe{Machine(), CheckTimings(Rows({{64, 500}, {96, 900}}), Machine(), {}).records};
  std::vector<store::TimedNetwork> more = Rows({{64, 600}, {128, 1500}});
  more[0].timings = 5;
  AddTimings(CheckTimings(std::move(more), Machine(), probe.records).records, &probe);
  ASSERT_EQ(probe.records.size(), 3U);
  EXPECT_EQ(probe.records[0].latency.median_us, 600);
  EXPECT_EQ(probe.records[0].latency.runs, 6);
  EXPECT_FALSE(HasLayers(probe));
  const auto read = ProbeResultFromJson(ProbeResultToJson(probe));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->records[0].latency.runs, 6);
  EXPECT_EQ(ProbeResultToJson(*read), ProbeResultToJson(probe));
}

TEST(Timings, FurtherOnesOfADisturbedMachineBecomeUndisturbed) {
  ProbeResult probe{Machine(), CheckTimings(Rows({{64, 500}}), Machine(), {}).records, std::vector<double>(20, 1.25)};
  AddTimings(CheckTimings(Rows({{128, 1500}}), Machine(), {}).records, &probe);
  ASSERT_EQ(probe.records.size(), 2U);
  EXPECT_EQ(probe.records[0].latency.median_us, 500);
  EXPECT_EQ(probe.records[1].latency.median_us, 1200);
}

TEST(Timings, TheLatestNetworksStay) {
  ProbeResult probe{Machine(), {}};
  std::vector<store::Measurement> records;
  for (size_t i = 0; i < kMaxTimedNetworks + 5; ++i) {
    store::Measurement& record = records.emplace_back();
    record.subject.is_network = i != 0;
    record.subject.fingerprint = std::to_string(i);
    record.latency.median_us = 10;
  }
  AddTimings(std::move(records), &probe);
  ASSERT_EQ(probe.records.size(), kMaxTimedNetworks + 1);
  EXPECT_EQ(probe.records[0].subject.fingerprint, "0");  // a layer
  EXPECT_EQ(probe.records[1].subject.fingerprint, "5");
}

// A kilobyte of a request may become a network of 30 MiB.
TEST(Timings, LargeNetworksStayUpToTheirBytes) {
  ProbeResult probe{Machine(), {}};
  std::vector<store::Measurement> records;
  for (int i = 0; i < 12; ++i) {
    store::Measurement& record = records.emplace_back();
    graph::GraphBuilder builder;
    graph::Shape shape(60, 1);
    shape[0] = 30'000;
    ASSERT_TRUE(builder.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {builder.AddInput("x", {shape})}).ok());
    record.subject.graph = std::move(builder).Build({graph::ValueRef::Node(0)});
    record.subject.is_network = true;
    record.subject.fingerprint = std::to_string(i);
    record.latency.median_us = 10;
  }
  AddTimings(std::move(records), &probe);
  ASSERT_LT(probe.records.size(), 12u);
  int64_t bytes = 0;
  for (const store::Measurement& record : probe.records) bytes += graph::GraphBytes(record.subject.graph);
  EXPECT_LE(bytes, kMaxProbeGraphBytes);
  EXPECT_GT(bytes, kMaxProbeGraphBytes / 2);
  EXPECT_EQ(probe.records.back().subject.fingerprint, "11");  // the latest
}

TEST(Timings, NothingIsCheckedForNobody) {
  int asked = 0;
  const CheckedTimings checked =
      CheckTimings(Rows({{64, 500}, {96, 0}, {128, 0}}), Machine(), {}, [&asked] { return ++asked == 2; });
  EXPECT_EQ(asked, 2);
  EXPECT_TRUE(checked.records.empty() && checked.refused.empty());
}

TEST(SheetCheck, OfAGpu) {
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.substr(0, with.size()) == with ? std::string() : text;
  };
  const auto gpu = [](auto change) {
    TargetSpec sheet = SheetOf("gpu", "Voodoo 3", "torch-2.4");
    change(&sheet);
    return std::string(CheckSheet(sheet).message());
  };
  EXPECT_EQ(begins(gpu([](TargetSpec* s) { s->vector_bits = 128; }), "vector_bits 128: is a number of proc"), "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) { s->process_nm = 5000; }), "process_nm 5000: no gpu has that"), "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) {
                     s->peak_gflops = 2e7;
                     s->clock_mhz = 1000;
                     s->cores = 8;
                   }),
                   "peak_gflops 2e+07: more than 8 cores"),
            "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) {
                     s->peak_gflops = 20000;  // of tensor units, in another precision
                     s->clock_mhz = 1000;
                     s->cores = 10;
                   }),
                   "peak_gflops 20000: more than 10 cores of 1000 MHz can have in float32"),
            "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) {
                     s->peak_gflops = 900000;
                     s->memory_gb_per_s = 5;
                   }),
                   "memory_gb_per_s 5: with peak_gflops 900000"),
            "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) {
                     s->device = "NVIDIA L4";
                     s->memory_gb_per_s = 9000;
                   }),
                   "memory_gb_per_s 9000: NVIDIA L4 in float32 has 300"),
            "");
  EXPECT_EQ(gpu([](TargetSpec* s) {
              s->device = "NVIDIA L4";
              s->memory_gb_per_s = 290;
              s->cores = 58;
            }),
            "");
  EXPECT_EQ(begins(gpu([](TargetSpec* s) {
                     s->last_level_cache_mb = 9000;
                     s->memory_gb = 0.002;
                   }),
                   "last_level_cache_mb 9000: more than memory_gb"),
            "");
}

TEST(SheetCheck, PowerOfAGpuIsLikeItsPeak) {
  const auto check = [](double watts) {
    TargetSpec sheet = SheetOf("gpu", "Voodoo 3", "torch-2.4");
    sheet.peak_gflops = 1300;
    sheet.board_power_w = watts;
    const std::string message(CheckSheet(sheet).message());
    return message.substr(0, message.find(" that is"));
  };
  EXPECT_EQ(check(15), "");
  EXPECT_EQ(check(1500), "board_power_w 1500: with peak_gflops 1300");
  EXPECT_EQ(check(15000), "board_power_w 15000: with peak_gflops 1300");
  EXPECT_EQ(check(0.12), "board_power_w 0.12: with peak_gflops 1300");
}

TEST(SheetCheck, TakesSheetsOfRealDevicesAndNothingBeyond) {
  const auto check = [](auto change) {
    TargetSpec sheet = SheetOf("cpu", "Z80", "ncnn");
    change(&sheet);
    return std::string(CheckSheet(sheet).message());
  };
  EXPECT_EQ(check([](TargetSpec*) {}), "");
  EXPECT_EQ(check([](TargetSpec* s) {
              s->peak_gflops = 270.1;  // a Turin
              s->clock_mhz = 2596;
              s->vector_bits = 512;
              s->convolution_gflops = 254.5;
            }),
            "");
  EXPECT_EQ(check([](TargetSpec* s) {
              s->kind = "gpu";
              s->peak_gflops = 1.8e6;
              s->memory_gb_per_s = 8000;
              s->threads = 8;
              s->cores = 4;
            }),
            "");
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.substr(0, with.size()) == with ? std::string() : text;
  };
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->kind = ""; }), "kind is missing"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->precision = "float7"; }), "precision \"float7\""), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->process_nm = 7; }), "process_nm 7: is a number of GPUs"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->kind = "phone"; }), "kind \"phone\""), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->threads = 0; }), "threads 0"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->memory_gb_per_s = std::nan(""); }), "memory_gb_per_s nan"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->memory_gb_per_s = 2e4; }), "memory_gb_per_s 20000"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->vector_bits = 100; }), "vector_bits 100"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->vector_bits = 4096; }), "vector_bits 4096"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->threads = 40, s->cores = 4; }), "threads 40: more than 4 cores"), "");
  EXPECT_EQ(check([](TargetSpec* s) { s->threads = 8, s->cores = 4; }), "");  // two a core, as many have
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->peak_gflops = 900000; }), "peak_gflops 900000: more than"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) {
                     s->clock_mhz = 1000;
                     s->vector_bits = 128;
                     s->peak_gflops = 5000;
                   }),
                   "peak_gflops 5000: more than"),
            "");
  EXPECT_EQ(begins(check([](TargetSpec* s) {
                     s->clock_mhz = 2000;
                     s->threads = 4;
                     s->peak_gflops = 0.03;  // in TFLOP a second
                   }),
                   "peak_gflops 0.03: less than 4 threads of 2000 MHz have"),
            "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->device = "a\nb"; }), "device"), "");
}

TEST(SheetCheck, NamesAreGivenAndSpelledRightAndUnitsAreThoseOfDevices) {
  const auto check = [](auto change) {
    TargetSpec sheet = SheetOf("cpu", "Z80", "ncnn");
    change(&sheet);
    return std::string(CheckSheet(sheet).message());
  };
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.substr(0, with.size()) == with ? std::string() : text;
  };
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->device = ""; }), "device is missing"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->device = "NVIDIA L4"; }), "device \"NVIDIA L4\": is a GPU"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->runtime = ""; }), "runtime is missing"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->runtime = std::string(300, 'x'); }), "runtime"), "");
  EXPECT_EQ(begins(check([](TargetSpec* s) {
                     s->threads = 4;
                     s->peak_gflops = 48000;
                   }),
                   "peak_gflops 48000: more than 4 threads"),
            "");
  EXPECT_EQ(begins(check([](TargetSpec* s) { s->compile = "Eager"; }), "compile \"Eager\": did you mean eager?"), "");
  EXPECT_EQ(check([](TargetSpec* s) { s->runtime = "PyTorch-2.4+Cu121"; }),
            "runtime \"PyTorch-2.4+Cu121\": did you mean torch-2.4+Cu121?");
  for (const char* wrong : {"torch 2.4", "torch2.4", "torch_2.4", "PyTorch 2.4", "torch--2.4"}) {
    EXPECT_EQ(check([=](TargetSpec* s) { s->runtime = wrong; }),
              absl::StrCat("runtime \"", wrong, "\": did you mean torch-2.4?"));
  }
  for (const char* right : {"torch", "ncnn-1.0.20260526", "libtorch-1.13.1+openblas-SkylakeX", "onnxruntime-1.18-qnn"})
    EXPECT_EQ(check([=](TargetSpec* s) { s->runtime = right; }), "");
  // A thousandfold: GB/s for MB/s, and the other way.
  for (const double gb_per_s : {0.04, 4000.0, 40000.0}) {
    EXPECT_EQ(begins(check([=](TargetSpec* s) {
                       s->threads = 8;
                       s->peak_gflops = 300;
                       s->memory_gb_per_s = gb_per_s;
                     }),
                     "memory_gb_per_s "),
              "");
  }
}

// PyTorch takes float32 for TF32 there, and nobody measured how it makes up for bfloat16.
TEST(SheetCheck, OlderGpusHaveFewerPrecisions) {
  const auto check = [](const char* device, const char* precision) {
    TargetSpec sheet = SheetOf("gpu", device, "torch-2.4");
    sheet.precision = precision;
    return std::string(CheckSheet(sheet).message());
  };
  for (const char* precision : {"float32", "float16", "amp-float16"}) EXPECT_EQ(check("Tesla T4", precision), "");
  EXPECT_EQ(check("Tesla T4", "tf32"),
            "precision \"tf32\": Tesla T4 has no units for it; PyTorch computes in float32 there");
  EXPECT_EQ(check("Tesla T4", "bfloat16"), "precision \"bfloat16\": Tesla T4 has no units for it; float16 or float32");
  for (const char* precision : {"tf32-convolutions", "bfloat16"}) {
    EXPECT_EQ(check("NVIDIA L4", precision), "");
    EXPECT_EQ(check("Jetson AGX Orin GPU", precision), "");
    EXPECT_EQ(check("A GPU of our own", precision), "");
  }
}

// It would be answered for as an unknown device is, by whatever GPU.
TEST(SheetCheck, AnotherGpuOfAKnownModelNeedsNumbers) {
  TargetSpec sheet = SheetOf("gpu", "RTX 4060 Laptop GPU", "torch-2.4");
  EXPECT_EQ(
      CheckSheet(sheet).message(),
      "device \"RTX 4060 Laptop GPU\": has no data sheet here, and NVIDIA GeForce RTX 4060 Ti, NVIDIA GeForce RTX "
      "4060 have one; name one of them, or give peak_gflops and memory_gb_per_s");
  sheet.peak_gflops = 11600;
  EXPECT_TRUE(CheckSheet(sheet).ok());
  EXPECT_TRUE(CheckSheet(SheetOf("gpu", "H100 SXM5", "torch-2.4")).ok());
  EXPECT_TRUE(CheckSheet(SheetOf("gpu", "Apple M2", "torch-2.4")).ok());
}

// Of a GPU that data/devices has.
TEST(SheetCheck, NumbersOfAKnownGpuAreNearTheTables) {
  const auto l4 = [](double TargetSpec::*number, double value) {
    TargetSpec sheet = SheetOf("gpu", "NVIDIA L4", "torch-2.4");
    sheet.*number = value;
    const std::string message(CheckSheet(sheet).message());
    return message.substr(0, message.find(';'));
  };
  EXPECT_EQ(l4(&TargetSpec::board_power_w, 40), "");  // a lower limit
  EXPECT_EQ(l4(&TargetSpec::board_power_w, 720), "board_power_w 720: NVIDIA L4 in float32 has 72");
  EXPECT_EQ(l4(&TargetSpec::process_nm, 16), "process_nm 16: NVIDIA L4 in float32 has 5");
  EXPECT_EQ(l4(&TargetSpec::memory_gb, 1000), "memory_gb 1000: NVIDIA L4 in float32 has 24");
}

}  // namespace
}  // namespace cobra::predict
