#include "proto/target_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace cobra::proto {
namespace {

TEST(TargetJson, ReadsWhatADataSheetSays) {
  std::vector<std::string> ignored;
  const auto spec =
      TargetSpecFromJson(R"({"device": "Board", "kind": "cpu", "threads": 4, "peak_gflops": 50.5, "cores": null,
                             "powersave": 0, "memory_gb_per_s": 12})",
                         &ignored);
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(spec->device(), "Board");
  EXPECT_EQ(spec->threads(), 4);
  EXPECT_EQ(spec->peak_gflops(), 50.5);
  EXPECT_EQ(spec->memory_gb_per_s(), 12);
  EXPECT_EQ(spec->precision(), "float32");  // as a target's
  EXPECT_EQ(ignored, std::vector<std::string>{"powersave"});
  EXPECT_EQ(TargetSpecFromJson(TargetSpecToJson(*spec), nullptr)->SerializeAsString(), spec->SerializeAsString());
  EXPECT_EQ(TargetSpecFromJson(R"({"seen": {"cores": 2}, "cores": 4})", nullptr)->cores(), 4);
}

TEST(TargetJson, WrongTypesBeginWithTheirName) {
  for (const auto& [text, begin] :
       {std::pair(R"({"threads": "two"})", "threads \"two\""), std::pair(R"({"threads": 1.5})", "threads 1.5"),
        std::pair(R"({"threads": 1e300})", "threads 1e+300"), std::pair(R"({"device": 3})", "device 3"),
        std::pair(R"({"cores": [1]})", "cores [1]"), std::pair(R"({"cores": 4, "cores" : 8})", "cores: is given twice"),
        std::pair("[]", "is not"), std::pair("", "is not")}) {
    const absl::Status status = TargetSpecFromJson(text, nullptr).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(std::string(status.message()).find(begin), 0U) << status;
  }
}

TEST(TargetJson, NoNumberIsNoUnknownNumber) {
  v1::TargetSpec spec;
  spec.set_peak_gflops(std::nan(""));
  EXPECT_NE(TargetSpecToJson(spec).find("\"peak_gflops\":-1"), std::string::npos);
}

}  // namespace
}  // namespace cobra::proto
