#include "model/predict/target.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

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

}  // namespace
}  // namespace cobra::predict
