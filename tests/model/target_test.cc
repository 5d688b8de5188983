#include "model/predict/target/target.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"

namespace cobra::predict {
namespace {

TEST(TargetSpec, SurvivesJson) {
  TargetSpec s;
  s.name = "gpu";
  s.kind = "gpu";
  s.threads = 4;
  s.peak_gflops = 67000;
  const auto back = TargetSpecFromJson(TargetSpecToJson(s));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->name, "gpu");
  EXPECT_EQ(back->threads, 4);
  EXPECT_EQ(back->peak_gflops, 67000);
}

TEST(TargetSpec, ARuntimeHasAFamilyAndAVersion) {
  using Parts = std::pair<std::string, std::string>;
  const auto parts = [](const char* runtime) {
    TargetSpec spec;
    spec.runtime = runtime;
    return Parts(RuntimeFamily(spec), RuntimeVersion(spec));
  };
  EXPECT_EQ(parts("torch-2.5.0"), Parts("torch", "2.5"));
  EXPECT_EQ(parts("libtorch-1.13.0+openblas-Haswell"), Parts("libtorch", "1.13"));
  EXPECT_EQ(parts("torch-2.13+cpu"), Parts("torch", "2.13"));
  EXPECT_EQ(parts("onnxruntime-2"), Parts("onnxruntime", "2"));
  EXPECT_EQ(parts("ncnn"), Parts("ncnn", ""));
}

TEST(TargetSpec, AWrongTypeNamesTheField) {
  const auto bad = TargetSpecFromJson("{\"peak_gflops\":\"fast\"}");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("peak_gflops"), absl::string_view::npos);
}

TEST(TargetSpec, ANumberThatDoesNotFitNamesTheField) {
  for (const char* text : {"{\"threads\":1e300}", "{\"threads\":-1e300}"}) {
    const auto bad = TargetSpecFromJson(text);
    ASSERT_FALSE(bad.ok());
    EXPECT_NE(bad.status().message().find("threads"), absl::string_view::npos);
  }
}

TEST(ProbeResult, RefusesWhatIsNone) {
  for (const char* text : {"", "{}", "{\"machine\":{},\"records\":[]}", "{\"machine\":{},\"records\":[{}]}", "[1]"}) {
    EXPECT_FALSE(ProbeResultFromJson(text).ok()) << text;
  }
}

std::string ProbeOfOneRecord(const std::string& fields) {
  return absl::StrCat(R"({"machine":{},"records":[{)", fields, R"(,"graph":{"inputs":[{"name":"x","shape":[1,8],)",
                      R"("dtype":"float32"}],"ops":[{"op":"relu","inputs":["in:0"],"out":[[1,8]],"attrs":{}}],)",
                      R"("output":[0]}}]})");
}

TEST(ProbeResult, RefusesTimesThatAreNone) {
  for (const std::string us : {"-3", "0"}) {
    const auto probe = ProbeResultFromJson(ProbeOfOneRecord(absl::StrCat(R"("latency_us":)", us)));
    ASSERT_FALSE(probe.ok());
    EXPECT_NE(probe.status().message().find("latency_us " + us), absl::string_view::npos) << probe.status();
  }
  const auto failed = ProbeResultFromJson(ProbeOfOneRecord(R"("latency_us":0,"outcome":"crashed")"), false);
  ASSERT_TRUE(failed.ok()) << failed.status();
  EXPECT_TRUE(failed->records.empty());
}

std::string LargeRecord() {
  std::string shape = "30000";
  for (int d = 1; d < 60; ++d) absl::StrAppend(&shape, ",1");
  return absl::StrCat(R"({"latency_us":10,"graph":{"inputs":[{"name":"x","shape":[)", shape,
                      R"(],"dtype":"float32"}],)",
                      R"("ops":[{"op":"unbind","inputs":["in:0"],"attrs":{"dim":0}}],"output":[0]}})");
}

// Each record has 300 bytes, and its graph some 16 MiB.
TEST(ProbeResult, ItsGraphsAreBoundedTogether) {
  const auto probe = [](int records) {
    std::string text = R"({"machine":{},"records":[)";
    for (int i = 0; i < records; ++i) absl::StrAppend(&text, i == 0 ? "" : ",", LargeRecord());
    return ProbeResultFromJson(absl::StrCat(text, "]}"));
  };
  EXPECT_TRUE(probe(2).ok()) << probe(2).status();
  const absl::Status refused = probe(40).status();
  const std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(refused);
  ASSERT_TRUE(diagnostic.has_value()) << refused;
  EXPECT_EQ(diagnostic->kind, Diagnostic::Kind::kLimit);
  EXPECT_EQ(diagnostic->message.substr(0, 14), "probe: record ");
}

std::string WithDisturbance(const std::string& disturbance) {
  std::string text = ProbeOfOneRecord(R"("latency_us":3)");
  text.insert(1, absl::StrCat(R"("disturbance":)", disturbance, ","));
  return text;
}

TEST(ProbeResult, KeepsWhatElseRanOnTheMachine) {
  const auto probe = ProbeResultFromJson(WithDisturbance(R"({"ratios":[1.02,1.3]})"));
  ASSERT_TRUE(probe.ok()) << probe.status();
  EXPECT_EQ(probe->disturbance, (std::vector<double>{1.02, 1.3}));
  const auto again = ProbeResultFromJson(ProbeResultToJson(*probe));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->disturbance, probe->disturbance);
  EXPECT_TRUE(ProbeResultFromJson(ProbeOfOneRecord(R"("latency_us":3)"))->disturbance.empty());
}

TEST(ProbeResult, RefusesRatiosThatAreNone) {
  for (const char* bad : {"3", "[]", "{}", R"({"ratios":3})", R"({"ratios":["1.2"]})", R"({"ratios":[0]})",
                          R"({"ratios":[1.1,-1]})", R"({"ratios":[1e300]})"}) {
    const auto probe = ProbeResultFromJson(WithDisturbance(bad));
    EXPECT_EQ(probe.status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
}

TEST(ProbeResult, ATextIsWrittenUpToALimit) {
  const auto probe = ProbeResultFromJson(ProbeOfOneRecord(R"("latency_us":3)"));
  ASSERT_TRUE(probe.ok()) << probe.status();
  const std::string text = ProbeResultToJson(*probe);
  const auto same = ProbeResultToJson(*probe, static_cast<int64_t>(text.size()));
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(*same, text);
  EXPECT_EQ(ProbeResultToJson(*ProbeResultFromJson(text)), text);
  EXPECT_EQ(DiagnosticFromStatus(ProbeResultToJson(*probe, 100).status())->kind, Diagnostic::Kind::kLimit);
}

}  // namespace
}  // namespace cobra::predict
