#include "model/predict/target/target_hint.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::predict {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string>& Known() {
  static const auto* const known = [] {
    auto* names = new std::vector<std::string>{"gpu-a100-80gb-pcie-torch-2.1", "gpu-a100-sxm4-40gb-torch-2.5-train",
                                               "gpu-nvidia-h200"};
    for (int i = 0; i < 50; ++i) names->push_back("cpu-board-" + std::to_string(i) + "-ncnn");
    return names;
  }();
  return *known;
}

TEST(TargetHint, AGpuOfTheTableIsMadeFromItsName) {
  for (const char* name : {"H100", "gpu-h100", "NVIDIA H100", "h100-torch-2.5"}) {
    const std::string hint = UnknownTargetHint(name, Known());
    EXPECT_THAT(hint, StartsWith("nobody measured it; an estimate from its data sheet: cobra-client adapt --name "))
        << name;
    EXPECT_THAT(hint, HasSubstr(R"('{"device": "NVIDIA H100 80GB HBM3", "kind": "gpu", "runtime": "torch-2.9", )"));
    EXPECT_THAT(hint, HasSubstr("(or NVIDIA H100 PCIe, NVIDIA H100 NVL)"));
    EXPECT_THAT(hint, Not(HasSubstr("h200")));
  }
  EXPECT_THAT(UnknownTargetHint("NVIDIA H100 PCIe", Known()), HasSubstr("adapt --name h100-pcie --spec"));
}

TEST(TargetHint, TheTargetsOfThatDeviceComeFirst) {
  EXPECT_THAT(UnknownTargetHint("a100", Known()),
              StartsWith("targets: gpu-a100-80gb-pcie-torch-2.1, gpu-a100-sxm4-40gb-torch-2.5-train; an estimate "));
}

TEST(TargetHint, ThePrecisionIsTheOneThatTheNameSays) {
  EXPECT_THAT(UnknownTargetHint("rtx4090-bf16", Known()), HasSubstr(R"("precision": "bfloat16"})"));
  EXPECT_THAT(UnknownTargetHint("rtx4090-amp-fp16", Known()), HasSubstr(R"("precision": "amp-float16"})"));
  EXPECT_THAT(UnknownTargetHint("RTX 4090", Known()), HasSubstr(R"("precision": "amp-float16"})"));
  EXPECT_THAT(UnknownTargetHint("GTX 1080", Known()), HasSubstr(R"("precision": "float32"})"));  // no tensor cores
}

TEST(TargetHint, OtherNamesHaveTheNearest) {
  for (const char* name : {"abacus", "board-7", "pi-4", "", "gpu", "nvidia", "torch-2.5", "x'; rm -rf /"}) {
    const std::string hint = UnknownTargetHint(name, Known());
    EXPECT_THAT(hint, StartsWith("targets: ")) << name;
    EXPECT_THAT(hint, Not(HasSubstr("--spec"))) << name;
  }
  EXPECT_THAT(UnknownTargetHint(std::string(1 << 20, '4'), Known()), HasSubstr("(the nearest of 53)"));
}

}  // namespace
}  // namespace cobra::predict
